package xnn

import (
	"slices"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// plan is how a session runs a model for certain shapes: segments, one after the other.
//
// XNNPACK runs node by node over whole tensors, so a chain of element-wise nodes streams every intermediate value through
// memory. Where the nodes of a chain have results of one shape that the cache cannot hold, they become a segment that runs
// tile by tile instead, with the same kernels and the same results to the bit.
type plan struct {
	segments []segment
	carried  []graph.ID // values one segment writes and another reads, without a tensor of the caller's to lie in
}

// segment is a part of the graph that runs as one step.
type segment struct {
	nodes     []int      // in order
	externals []external // values that lie outside it; the place is XNNPACK's id
	internals []graph.ID // values XNNPACK places
	tiling    *tiling    // nil: whole tensors, node by node
	threads   int
}

// runtimes is how many runtimes run the segment: one for whole tensors; for tiles one a thread, or two where the last tile is
// smaller.
func (s *segment) runtimes() int {
	switch {
	case s.tiling == nil:
		return 1
	case s.tiling.whole():
		return s.threads
	}
	return 2 * s.threads
}

// external is a value whose memory is given to XNNPACK.
type external struct {
	id    graph.ID
	flags uint32
}

// wholeTensors is a segment's key where its nodes run over whole tensors; the others' is the shape of their results.
const wholeTensors = ""

// newPlan cuts the live nodes into segments for these shapes.
func newPlan(g *graph.Graph, l *layout, shapes []Shape, cfg sessionConfig) *plan {
	keys := make([]string, len(l.nodes))
	for i, n := range l.nodes {
		node := &g.Nodes[n]
		if lowerings[node.Op.Kind()].elementwise {
			keys[i] = shapes[node.Outputs[0]].String()
		}
	}
	// Regions where tiles do not pay go back to whole tensors, and join what lies around them.
	b := planner{g: g, l: l, shapes: shapes, cfg: cfg, seen: make([]bool, len(g.Values))}
	for id := range l.slots {
		b.seen[id] = true
	}
	b.cut(keys)
	pays := make([]bool, len(b.segments))
	for i := range pays {
		pays[i] = b.key[i] != wholeTensors && b.pays(i)
	}
	for i := range keys {
		if !pays[b.of[i]] {
			keys[i] = wholeTensors
		}
	}
	b.cut(keys)
	return b.finish()
}

// planner is the work on one plan.
type planner struct {
	g      *graph.Graph
	l      *layout
	shapes []Shape
	cfg    sessionConfig

	segments []segment
	key      []string // by segment
	of       []int    // segment of each live node
	writer   []int    // segment that writes each value, -1 for none
	seen     []bool   // values the caller has a tensor of
	crosses  []bool   // values that another segment reads than the one that writes them
}

// cut puts each node into the first segment with its key that does not come before a segment it needs.
func (b *planner) cut(keys []string) {
	b.segments, b.key, b.of = nil, nil, make([]int, len(keys))
	b.writer = make([]int, len(b.g.Values))
	for i := range b.writer {
		b.writer[i] = -1
	}
	withKey := map[string][]int{} // segments, ascending
	for i, n := range b.l.nodes {
		node := &b.g.Nodes[n]
		needs := 0
		for _, id := range node.Inputs {
			needs = max(needs, b.writer[id])
		}
		at := len(b.segments)
		same := withKey[keys[i]]
		if k, _ := slices.BinarySearch(same, needs); k < len(same) {
			at = same[k]
		} else {
			withKey[keys[i]] = append(same, at)
			b.segments = append(b.segments, segment{})
			b.key = append(b.key, keys[i])
		}
		b.segments[at].nodes = append(b.segments[at].nodes, n)
		b.of[i] = at
		for _, id := range node.Outputs {
			b.writer[id] = at
		}
	}
	b.crosses = make([]bool, len(b.g.Values))
	for i, n := range b.l.nodes {
		for _, id := range b.g.Nodes[n].Inputs {
			if w := b.writer[id]; w >= 0 && w != b.of[i] {
				b.crosses[id] = true
			}
		}
	}
}

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

// inside tells whether only nodes of this segment see a value.
func (b *planner) inside(id graph.ID, segment int) bool {
	return b.writer[id] == segment && !b.seen[id] && !b.crosses[id]
}

func (b *planner) typ(id graph.ID) Type {
	return Type{DType: b.g.Values[id].DType, Shape: b.shapes[id]}
}

// pays tells whether segment i is worth tiling: several nodes on values that do not stay in the cache by themselves, or enough
// work for several threads, which tiles keep busier than XNNPACK's own cutting of each node into small pieces.
//
// One thread gains from the cache only where memory is what it waits for. Half-precision sums are converted back and forth
// on most processors and take longer than their memory: measured, their tiles gain nothing.
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
	return len(s.nodes) > 1 && result.DType == graph.Float32 && bytes > b.cfg.cacheBytes
}

// finish tells apart which values each segment sees from outside, and cuts the tiles.
func (b *planner) finish() *plan {
	p := &plan{segments: b.segments}
	for id, crosses := range b.crosses {
		if crosses && !b.seen[id] {
			p.carried = append(p.carried, graph.ID(id))
		}
	}
	for i := range p.segments {
		s := &p.segments[i]
		tiled := b.key[i] != wholeTensors
		listed := map[graph.ID]bool{}
		list := func(id graph.ID, flags uint32) {
			switch v := &b.g.Values[id]; {
			case listed[id]:
				return
			case v.Constant != 0 && !tiled, b.inside(id, i):
				s.internals = append(s.internals, id)
			default:
				s.externals = append(s.externals, external{id, flags})
			}
			listed[id] = true
		}
		for _, n := range s.nodes {
			for _, id := range b.g.Nodes[n].Inputs {
				list(id, xnnpack.ExternalInput)
			}
			for _, id := range b.g.Nodes[n].Outputs {
				list(id, xnnpack.ExternalOutput)
			}
		}
		s.threads = b.threads(i, tiled)
		if tiled {
			s.tiling = b.tile(s)
		}
	}
	return p
}

// threads decides between the calling thread and the pool. XNNPACK wakes the pool for each node, a tiled segment once.
func (b *planner) threads(i int, tiled bool) int {
	s, most := &b.segments[i], 0
	if tiled {
		most = b.live(s.nodes, i)
	} else {
		for k := range s.nodes {
			most = max(most, b.live(s.nodes[k:k+1], i))
		}
	}
	if most < b.cfg.parallelBytes {
		return 1
	}
	return max(1, b.cfg.threads)
}

// tile cuts a segment so that what one tile touches takes half the cache, and each thread gets several tiles.
func (b *planner) tile(s *segment) *tiling {
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
	elements := max(1, b.cfg.cacheBytes/2/perElement)
	if s.threads > 1 {
		elements = max(1, min(elements, shape.Elements()/(4*s.threads)))
	}
	return newTiling(shape, ids, types, elements)
}

// same reports whether the runtimes made for q can be reshaped to run p.
func (p *plan) same(q *plan) bool {
	return p != nil && q != nil && slices.EqualFunc(p.segments, q.segments, func(a, b segment) bool {
		return slices.Equal(a.nodes, b.nodes) && slices.Equal(a.externals, b.externals) && a.threads == b.threads &&
			(a.tiling == nil) == (b.tiling == nil) && (a.tiling == nil || a.tiling.whole() == b.tiling.whole())
	})
}
