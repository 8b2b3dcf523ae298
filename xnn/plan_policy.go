package xnn

import "github.com/xnngo/xnngo/xnn/graph"

// live is the bytes a segment's values take while it runs: each that lies outside it, and one intermediate result, since
// XNNPACK lets the nodes of a chain write over their operands.
func (b *planner) live(nodes []int, segment int) (bytes int) {
	seen := map[graph.ID]bool{}
	inner := 0
	for _, n := range nodes {
		for _, ids := range [][]graph.ID{b.g.Nodes[n].Inputs, b.g.Nodes[n].Outputs} {
			for _, id := range ids {
				switch size := b.typ(id).Bytes(); {
				case seen[id]:
				case b.inside(id, segment):
					inner = max(inner, size)
				default:
					bytes += size
				}
				seen[id] = true
			}
		}
	}
	return bytes + inner
}

// pays tells whether segment i is worth tiling: several nodes on values that do not stay in the cache by themselves, or enough
// work for several threads, which tiles keep busier than XNNPACK's own cutting of each node into small pieces.
//
// One thread gains from the cache only where memory is what it waits for. Half-precision sums are converted back and forth
// on most processors and take longer than their memory: measured, their tiles gain nothing. Chains of two or three among other
// nodes, as networks have them, lose a little where the second-level cache holds them, since what cuts them off takes time, too.
func (b *planner) pays(i int) bool {
	s := &b.segments[i]
	result := b.typ(b.g.Nodes[s.nodes[0]].Outputs[0])
	if result.Shape.Elements() <= 1 {
		return false
	}
	bytes := b.live(s.nodes, i)
	if b.cfg.threads > 1 && bytes >= b.cfg.parallelBytes {
		return true
	}
	if len(s.nodes) == 1 || result.DType != graph.Float32 {
		return false
	}
	if len(s.nodes) == len(b.nodes) {
		return bytes/3 > b.cfg.l1Bytes/2
	}
	return bytes > b.cfg.l2Bytes
}

// tileBytes is what one tile of a region that takes so many bytes in all may touch. What the caches further out hold comes back
// fast, and short tiles keep their intermediate values in the first level. What comes from memory comes faster in long stretches:
// measured, from some 16 times the second level on.
func (b *planner) tileBytes(live int) int {
	if live/16 <= b.cfg.l2Bytes {
		return b.cfg.l1Bytes
	}
	return b.cfg.l2Bytes / 2
}

// threads decides between the calling thread and the pool. XNNPACK wakes the pool for each node, a tiled segment once: what the
// threads save must be more than what waking them takes, half of what sharing one node among two pays from.
func (b *planner) threads(i int, tiled bool) int {
	s, n := &b.segments[i], max(1, b.cfg.threads)
	if tiled {
		if b.live(s.nodes, i) < b.cfg.parallelBytes {
			return 1
		}
		return n
	}
	saved, woken := 0.0, 0.0
	for k, node := range s.nodes {
		if lowerings[b.g.Nodes[node].Op.Kind()].joins {
			continue
		}
		takes := float64(b.live(s.nodes[k:k+1], i)) + bytesAMultiplication*float64(b.work(node))
		saved += takes * float64(n-1) / float64(n)
		woken += float64(b.cfg.parallelBytes) / 2
	}
	if saved < woken {
		return 1
	}
	return n
}

// work is the number of multiplications of a node, 0 where they do not matter.
func (b *planner) work(node int) int {
	if work := lowerings[b.g.Nodes[node].Op.Kind()].work; work != nil {
		return work(b.definition(node))
	}
	return 0
}

// definition is a node with its shapes, before XNNPACK knows of it.
func (b *planner) definition(node int) *definition {
	n := &b.g.Nodes[node]
	values := func(ids []graph.ID) []graph.Value {
		list := make([]graph.Value, len(ids))
		for i, id := range ids {
			list[i] = b.g.Values[id]
			list[i].Shape = b.shapes[id]
		}
		return list
	}
	return &definition{op: n.Op, in: values(n.Inputs), out: values(n.Outputs)}
}

// tile cuts segment i so that what one tile touches stays in a cache, and each thread gets several tiles.
func (b *planner) tile(i int) *tiling {
	s := &b.segments[i]
	shape := b.shapes[b.g.Nodes[s.nodes[0]].Outputs[0]]
	var ids []graph.ID
	var types []Type
	perElement := 0
	for _, e := range s.externals {
		t := b.typ(e.id)
		ids, types = append(ids, e.id), append(types, t)
		if t.Shape.Equal(shape) {
			perElement += t.DType.Size()
		}
	}
	size := b.g.Values[b.g.Nodes[s.nodes[0]].Outputs[0]].DType.Size()
	perElement += 2 * size // intermediate values: one for a chain, and room for graphs that branch
	elements := max(1, b.tileBytes(b.live(s.nodes, i))/perElement)
	if s.threads > 1 {
		elements = max(1, min(elements, shape.Elements()/(4*s.threads)))
	}
	return newTiling(shape, ids, types, elements)
}
