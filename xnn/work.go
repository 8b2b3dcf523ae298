package xnn

import "github.com/xnngo/xnngo/xnn/graph"

// MultiplyAdds is how many multiplications, each with an addition, every node of a checked graph takes at the shapes in the
// graph: those of products with filters and matrices, 0 for other nodes. The list is by place in g.Nodes.
func MultiplyAdds(g *graph.Graph) []int {
	list := make([]int, len(g.Nodes))
	for i := range g.Nodes {
		n := &g.Nodes[i]
		work := lowerings[n.Op.Kind()].work
		if work == nil {
			continue
		}
		values := func(ids []graph.ID) []graph.Value {
			values := make([]graph.Value, len(ids))
			for j, id := range ids {
				values[j] = g.Values[id]
			}
			return values
		}
		list[i] = work(&definition{op: n.Op, in: values(n.Inputs), out: values(n.Outputs)})
	}
	return list
}
