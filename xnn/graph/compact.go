package graph

import "slices"

// compact drops values and constants that nothing refers to, and numbers the others, and the nodes, anew.
func (g *Graph) compact() {
	used := make([]bool, len(g.Values))
	mark := func(ids []ID) {
		for _, id := range ids {
			used[id] = true
		}
	}
	mark(g.Inputs)
	mark(g.Outputs)
	for i := range g.Nodes {
		mark(g.Nodes[i].Inputs)
		mark(g.Nodes[i].Outputs)
	}
	ids, places := make([]ID, len(g.Values)), make([]int, len(g.Constants))
	var values []Value
	constants := make([]Constant, min(1, len(g.Constants)))
	for i, v := range g.Values {
		if !used[i] {
			continue
		}
		if c := v.Constant; c != 0 {
			if places[c] == 0 {
				places[c] = len(constants)
				constants = append(constants, g.Constants[c])
			}
			v.Constant = places[c]
		}
		ids[i], v.Ref = ID(len(values)), uint32(len(values))
		values = append(values, v)
	}
	g.Values, g.Constants = values, constants
	renumber := func(list []ID) {
		for i, id := range list {
			list[i] = ids[id]
		}
	}
	renumber(g.Inputs)
	renumber(g.Outputs)
	for i := range g.Nodes {
		n := &g.Nodes[i]
		n.Inputs, n.Outputs, n.Ref = slices.Clone(n.Inputs), slices.Clone(n.Outputs), uint32(i)
		renumber(n.Inputs)
		renumber(n.Outputs)
	}
}
