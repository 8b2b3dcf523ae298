package xnn

import (
	"time"
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// step is a segment of a plan made ready to run.
type step struct {
	seg *segment
	// runtimes are those of segment.runtimes, a thread's next to each other.
	runtimes []*xnnpack.Runtime
	tiles    *xnnpack.Tiles
	nodes    []int // the segment's node, by its place, that each of a runtime's nodes belongs to
}

// newStep makes the runtimes of a segment.
func (c *model) newStep(seg *segment, shapes []Shape, pool *xnnpack.Pool, profile bool) (step, *Error) {
	st := step{seg: seg}
	if seg.tiling != nil || seg.threads == 1 {
		pool = nil // tiles are shared among threads, what is in one is not
	}
	for i := range seg.runtimes() {
		if err := c.addRuntime(&st, shapes, st.isLast(i), pool, profile); err != nil {
			st.close()
			return step{}, err
		}
	}
	return st, nil
}

// addRuntime describes a step's segment to XNNPACK and makes a runtime of it.
func (c *model) addRuntime(st *step, shapes []Shape, last bool, pool *xnnpack.Pool, profile bool) *Error {
	d, err := st.seg.describe(c.graph, shapes, c.constants, last)
	if err != nil {
		return err
	}
	defer d.sub.Close()
	rt, xerr := xnnpack.NewRuntime(d.sub, c.weights, d.keys, pool, profile, len(st.seg.externals))
	if xerr != nil {
		if err := c.weightsRefused(); err != nil {
			return err
		}
		return fromXNNPACK(schema.StageCreate, xerr)
	}
	st.runtimes, st.nodes = append(st.runtimes, rt), d.of
	return nil
}

// weightsRefused is the error of packed weights that the memory limit has no room for.
func (c *model) weightsRefused() *Error {
	used, refused := c.weights.Size()
	if refused == 0 {
		return nil
	}
	return schema.Errorf(schema.StageCreate, ErrMemoryLimit, "packed weights need %d bytes after the first %d, more than the memory limit leaves",
		refused, used)
}

// isLast tells whether the i-th runtime is one for the last tile.
func (st *step) isLast(i int) bool { return st.seg.tiling != nil && !st.seg.tiling.whole() && i%2 == 1 }

// reshape gives each runtime its shapes and its piece of the arena.
func (st *step) reshape(arena *xnnpack.Arena, shapes []Shape) error {
	for i, rt := range st.runtimes {
		var ids []uint32
		var dims [][]int
		for j, e := range st.seg.externals {
			if e.flags == xnnpack.ExternalInput {
				ids = append(ids, uint32(j))
				dims = append(dims, st.seg.dims(e.id, shapes, st.isLast(i)))
			}
		}
		if err := rt.Reshape(arena, ids, dims); err != nil {
			return fromXNNPACK(schema.StageReshape, err)
		}
	}
	return nil
}

// check compares the shapes of package graph with what XNNPACK will write, since the memory is made for the former.
func (st *step) check(g *graph.Graph, shapes []Shape) error {
	for i, rt := range st.runtimes {
		for j, e := range st.seg.externals {
			got, err := rt.Shape(uint32(j))
			if err != nil {
				return fromXNNPACK(schema.StageReshape, err)
			}
			if want := st.seg.dims(e.id, shapes, st.isLast(i)); !want.Equal(got) {
				return schema.Errorf(schema.StageReshape, ErrShape, "computed %v, XNNPACK makes it %v", want, Shape(got)).
					AtValue(g.Values[e.id].Ref)
			}
		}
	}
	return nil
}

// bind tells the runtimes where values are.
func (st *step) bind(at func(graph.ID) unsafe.Pointer, pool *xnnpack.Pool, profile bool) error {
	seg := st.seg
	if seg.tiling == nil {
		for i, e := range seg.externals {
			st.runtimes[0].Bind(uint32(i), at(e.id))
		}
		return nil
	}
	lanes := make([]xnnpack.Lane, seg.threads)
	for i := range lanes {
		if seg.tiling.whole() {
			lanes[i] = xnnpack.Lane{Full: st.runtimes[i], Last: st.runtimes[i]}
		} else {
			lanes[i] = xnnpack.Lane{Full: st.runtimes[2*i], Last: st.runtimes[2*i+1]}
		}
	}
	nodes := 0
	if profile {
		nodes = len(st.nodes)
	}
	if len(lanes) == 1 {
		pool = nil
	}
	st.tiles.Close()
	var err error
	if st.tiles, err = xnnpack.NewTiles(seg.tiling.grid, lanes, len(seg.externals), nodes, pool); err != nil {
		return fromXNNPACK(schema.StageSetup, err)
	}
	for i, e := range seg.externals {
		st.tiles.Bind(i, at(e.id), seg.tiling.operands[e.id].strides)
	}
	return nil
}

// times are those of the segment's nodes in the last run.
func (st *step) times() []time.Duration {
	var parts []time.Duration
	if st.tiles != nil {
		parts = st.tiles.NodeTimes()
	} else {
		parts = st.runtimes[0].NodeTimes()
	}
	times := make([]time.Duration, len(st.seg.nodes))
	for i := range times {
		times[i] = xnnpack.Fused
	}
	for i, t := range parts {
		switch sum := &times[st.nodes[i]]; {
		case t == xnnpack.Fused:
		case *sum == xnnpack.Fused:
			*sum = t
		default:
			*sum += t
		}
	}
	return times
}

// program is the step as part of a program.
func (st *step) program() xnnpack.Step {
	if st.tiles != nil {
		return xnnpack.Step{Tiles: st.tiles}
	}
	return xnnpack.Step{Runtime: st.runtimes[0]}
}

func (st *step) close() {
	st.tiles.Close()
	for _, rt := range st.runtimes {
		rt.Close()
	}
}
