package xnn

import (
	"math"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/whole"
)

func init() { whole.Describe = describeWhole }

// describeWhole is a graph as XNNPACK alone would run it: every node, in one segment, over whole tensors.
func describeWhole(g *graph.Graph) (*whole.Graph, error) {
	l, err := newLayout(g)
	if err != nil {
		return nil, err
	}
	shapes := make([]Shape, len(g.Values))
	for i := range shapes {
		shapes[i] = g.Values[i].Shape
	}
	p := newPlan(g, l, shapes, sessionConfig{threads: 1, l1Bytes: math.MaxInt, l2Bytes: math.MaxInt, parallelBytes: math.MaxInt})
	if len(p.segments) != 1 || len(l.copies) > 0 {
		return nil, schema.Errorf(schema.StageDefine, ErrUnsupported, "%d segments and %d copies of outputs, one segment is needed",
			len(p.segments), len(l.copies))
	}
	var b budget
	b.left.Store(math.MaxInt64)
	c, err := newConstants(g, l.used, nil, nil, &b)
	if err != nil {
		return nil, err
	}
	seg := &p.segments[0]
	d, failed := seg.describe(g, shapes, c, false)
	if failed != nil {
		c.close()
		return nil, failed
	}
	w := &whole.Graph{Subgraph: d.sub, Free: func() {
		d.sub.Close()
		c.close()
	}}
	for _, e := range seg.externals {
		slot := l.slots[e.id]
		w.Externals = append(w.Externals, whole.External{Output: slot.output, Index: slot.index})
	}
	return w, nil
}
