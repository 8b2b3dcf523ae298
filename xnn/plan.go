package xnn

import (
	"math"
	"slices"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// plan is how a session runs a model for certain shapes: segments, one after the other.
//
// XNNPACK runs node by node over whole tensors, so a chain of element-wise nodes streams every intermediate value through
// memory. Where the nodes of a chain have results of one shape that the nearest cache cannot hold, they become a segment that
// runs tile by tile instead, with the same kernels and the same results to the bit.
type plan struct {
	segments []segment
	carried  []carried
	idle     []int // nodes that have nothing to compute
	tables   int64 // bytes; see lowering
}

// segment is a part of the graph that runs as one step.
type segment struct {
	nodes     []int      // in order
	externals []external // values that lie outside it; the place is XNNPACK's id
	internals []graph.ID // values XNNPACK places
	tiling    *tiling    // nil: whole tensors, node by node
	fixed     []int      // of its nodes; see lowering
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

// newPlan cuts the live nodes into segments for these shapes. Nodes that have nothing to compute are left out: XNNPACK gives
// images no shape where there are none.
func newPlan(g *graph.Graph, l *layout, shapes []Shape, cfg sessionConfig) *plan {
	b := planner{g: g, shapes: shapes, cfg: cfg, seen: make([]bool, len(g.Values)), empty: make([]bool, len(g.Values))}
	for id := range l.slots {
		b.seen[id] = true
	}
	readers := make([]int, len(g.Values))
	for _, n := range l.nodes {
		for _, id := range g.Nodes[n].Inputs {
			readers[id]++
		}
	}
	var keys []string
	whole := make([]bool, len(g.Values)) // written by a node that runs over whole tensors
	for _, n := range l.nodes {
		node := &g.Nodes[n]
		if !slices.ContainsFunc(node.Outputs, func(id graph.ID) bool { return shapes[id].Elements() > 0 }) {
			for _, id := range node.Outputs {
				b.empty[id] = true
			}
			b.idle = append(b.idle, n)
			continue
		}
		key := wholeTensors
		how, result := lowerings[node.Op.Kind()], node.Outputs[0]
		joined := how.joins && whole[node.Inputs[0]] && readers[node.Inputs[0]] == 1 && !b.seen[node.Inputs[0]]
		if how.elementwise && !joined && g.Values[result].DType != graph.QDInt8 {
			key = shapes[result].String()
		}
		for _, id := range node.Outputs {
			whole[id] = key == wholeTensors
		}
		b.nodes, keys = append(b.nodes, n), append(keys, key)
	}
	// Regions where tiles do not pay go back to whole tensors, and join what lies around them.
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
	shapes []Shape
	cfg    sessionConfig

	nodes    []int // to run, in order
	idle     []int // the others
	segments []segment
	key      []string // by segment
	of       []int    // segment of each of nodes
	writer   []int    // segment that writes each value, -1 for none
	seen     []bool   // values the caller has a tensor of
	empty    []bool   // values that no segment writes, since they have no elements
	crosses  []bool   // values that another segment reads than the one that writes them, or nobody
}

// cut puts each node into the first segment with its key that does not come before a segment it needs.
func (b *planner) cut(keys []string) {
	b.segments, b.key, b.of = nil, nil, make([]int, len(keys))
	b.writer = make([]int, len(b.g.Values))
	for i := range b.writer {
		b.writer[i] = -1
	}
	withKey := map[string][]int{} // segments, ascending
	for i, n := range b.nodes {
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
	read := make([]bool, len(b.g.Values))
	for i, n := range b.nodes {
		for _, id := range b.g.Nodes[n].Inputs {
			read[id] = true
			if w := b.writer[id]; w >= 0 && w != b.of[i] || b.empty[id] {
				b.crosses[id] = true
			}
		}
	}
	for _, n := range b.nodes {
		// XNNPACK forgets a result that nobody reads, also where its node runs for the sake of another one.
		for _, id := range b.g.Nodes[n].Outputs {
			b.crosses[id] = b.crosses[id] || !read[id]
		}
	}
}

// inside tells whether only nodes of this segment see a value.
func (b *planner) inside(id graph.ID, segment int) bool {
	return b.writer[id] == segment && !b.seen[id] && !b.crosses[id]
}

func (b *planner) typ(id graph.ID) Type {
	return Type{DType: b.g.Values[id].DType, Shape: b.shapes[id]}
}

// finish tells apart which values each segment sees from outside, and cuts the tiles.
func (b *planner) finish() *plan {
	p := &plan{segments: b.segments, idle: b.idle}
	p.carried = b.carried()
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
			how := lowerings[b.g.Nodes[n].Op.Kind()]
			if how.fixed != nil {
				s.fixed = append(s.fixed, how.fixed(b.definition(n))...)
			}
			if how.tables != nil {
				p.tables += min(int64(how.tables(b.definition(n))), math.MaxInt64-p.tables)
			}
			for _, id := range b.g.Nodes[n].Inputs {
				list(id, xnnpack.ExternalInput)
			}
			for _, id := range b.g.Nodes[n].Outputs {
				list(id, xnnpack.ExternalOutput)
			}
		}
		s.threads = b.threads(i, tiled)
		if tiled {
			s.tiling = b.tile(i)
		}
	}
	return p
}

// carried finds the values that need a place outside the segments, in the order of the segments that write them. One that
// nobody writes, since it has no elements, or that nobody reads is there all the time.
func (b *planner) carried() []carried {
	last := make([]int, len(b.g.Values))
	for i, n := range b.nodes {
		for _, id := range b.g.Nodes[n].Inputs {
			last[id] = max(last[id], b.of[i])
		}
	}
	var list []carried
	for id, crosses := range b.crosses {
		if crosses && !b.seen[id] {
			first := max(b.writer[id], 0)
			list = append(list, carried{graph.ID(id), first, max(first, last[id])})
		}
	}
	slices.SortStableFunc(list, func(v, w carried) int { return v.first - w.first })
	return list
}

// same reports whether the runtimes made for q can be reshaped to run p.
func (p *plan) same(q *plan) bool {
	return p != nil && q != nil && slices.EqualFunc(p.segments, q.segments, func(a, b segment) bool {
		return slices.Equal(a.nodes, b.nodes) && slices.Equal(a.externals, b.externals) && a.threads == b.threads &&
			slices.Equal(a.fixed, b.fixed) &&
			(a.tiling == nil) == (b.tiling == nil) && (a.tiling == nil || a.tiling.whole() == b.tiling.whole())
	})
}
