package graph_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// badGraph is a graph with one thing wrong, and what its error must say.
type badGraph struct {
	build func(g *graph.Graph)
	kind  error
	text  []string
}

// rejectsGraphs builds each graph and expects its error, at the only node.
func rejectsGraphs(t *testing.T, faults map[string]badGraph) {
	for name, f := range faults {
		g := graph.New()
		f.build(g)
		err := g.Check()
		require.ErrorIs(t, err, f.kind, name)
		for _, text := range f.text {
			require.ErrorContains(t, err, text, name)
		}
		var e *schema.Error
		require.True(t, errors.As(err, &e), name)
		require.Zero(t, e.Node, "%s: %v", name, err)
	}
}

// operandOf is a constant or, with dynamic, an input of this type with zeros in it.
func operandOf(g *graph.Graph, dynamic bool, dtype graph.DType, quant *graph.Quant, dims ...int) graph.ID {
	t := graph.Type{DType: dtype, Shape: dims, Quant: quant}
	if dynamic {
		return g.InputOf(t)
	}
	data := make([]byte, t.Bytes())
	if dtype == graph.QCInt4 || dtype == graph.QBInt4 {
		for i := range data {
			data[i] = 0x88
		}
	}
	return g.ConstantOf(t, data)
}

func sameScales(n, axis int, scale float32) *graph.Quant {
	q := &graph.Quant{Axis: axis}
	for range n {
		q.Scales = append(q.Scales, scale)
	}
	return q
}

// fcTypes are the operands of a FullyConnected: filters of 4 output channels.
type fcTypes struct {
	x, filter, bias         graph.DType
	xQuant, filterQuant, bq *graph.Quant
	channels                int // of x
	filterShape, biasShape  graph.Shape
	dynamicFilter           bool
	dynamicBias             bool
}

func (c fcTypes) build(apply func(g *graph.Graph, x, filter, bias graph.ID)) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		if c.biasShape == nil {
			c.biasShape = graph.Shape{4}
		}
		x := operandOf(g, c.x != graph.QDInt8, c.x, c.xQuant, 2, c.channels)
		filter := operandOf(g, c.dynamicFilter, c.filter, c.filterQuant, c.filterShape...)
		bias := operandOf(g, c.dynamicBias, c.bias, c.bq, c.biasShape...)
		apply(g, x, filter, bias)
	}
}

func TestFullyConnectedRejects(t *testing.T) {
	straight := func(g *graph.Graph, x, filter, bias graph.ID) { g.Output(g.FullyConnected(x, filter, bias)) }
	transposed := func(g *graph.Graph, x, filter, bias graph.ID) { g.Output(g.FullyConnectedTransposed(x, filter, bias)) }
	to := func(scale float32) func(g *graph.Graph, x, filter, bias graph.ID) {
		return func(g *graph.Graph, x, filter, bias graph.ID) {
			g.Output(g.FullyConnected(x, filter, bias, graph.Quantized(graph.QInt8, scale, 0)))
		}
	}
	fp32 := fcTypes{x: graph.Float32, filter: graph.Float32, bias: graph.Float32, channels: 3, filterShape: graph.Shape{4, 3}}
	fp16 := fcTypes{x: graph.Float16, filter: graph.Float16, bias: graph.Float16, channels: 3, filterShape: graph.Shape{4, 3}}
	one := &graph.Quant{Scale: 1}
	qint8 := fcTypes{x: graph.QInt8, filter: graph.QInt8, bias: graph.QInt32, xQuant: one, filterQuant: one, bq: one, channels: 3,
		filterShape: graph.Shape{4, 3}}
	qcint8 := qint8
	qcint8.filter, qcint8.bias, qcint8.filterQuant, qcint8.bq = graph.QCInt8, graph.QCInt32, sameScales(4, 0, 1), sameScales(4, 0, 1)
	qcint4 := fp32
	qcint4.filter, qcint4.filterQuant = graph.QCInt4, sameScales(4, 0, 1)

	with := func(c fcTypes, change func(c *fcTypes)) fcTypes { change(&c); return c }
	rejectsGraphs(t, map[string]badGraph{
		"channels": {with(fp32, func(c *fcTypes) { c.channels = 4 }).build(straight), schema.ErrShape, []string{"4 channels", "[4,3]"}},
		"channels, transposed": {with(fp32, func(c *fcTypes) { c.filterShape = graph.Shape{4, 3} }).build(transposed), schema.ErrShape,
			[]string{"3 channels", "takes 4"}},
		"filter is a vector": {with(fp32, func(c *fcTypes) { c.filterShape = graph.Shape{12} }).build(straight),
			schema.ErrShape, []string{"matrix"}},
		"filter of rank 3": {with(fp32, func(c *fcTypes) { c.filterShape = graph.Shape{1, 4, 3} }).build(straight),
			schema.ErrShape, []string{"matrix"}},
		"no input channels": {with(fp32, func(c *fcTypes) { c.filterShape, c.channels = graph.Shape{4, 0}, 0 }).build(straight),
			schema.ErrUnsupported,
			[]string{"no channels"}},
		"no output channels": {with(fp32, func(c *fcTypes) {
			c.filterShape, c.biasShape = graph.Shape{0, 3},
				graph.Shape{0}
		}).build(straight),
			schema.ErrUnsupported, []string{"no channels"}},
		"bias too long": {with(fp32, func(c *fcTypes) { c.biasShape = graph.Shape{5} }).build(straight),
			schema.ErrShape, []string{"[5]", "[4]"}},
		"bias of rank 2": {with(fp32, func(c *fcTypes) { c.biasShape = graph.Shape{1, 4} }).build(straight),
			schema.ErrShape, []string{"[1,4]"}},
		"bias is a scalar": {with(fp32, func(c *fcTypes) { c.biasShape = graph.Shape{} }).build(straight),
			schema.ErrShape, []string{"[]"}},
		"scalar": {func(g *graph.Graph) {
			g.FullyConnected(g.Input(graph.Float32), operandOf(g, false, graph.Float32, nil, 4, 1), graph.None)
		}, schema.ErrShape, []string{"scalar"}},
		"types": {with(fp32, func(c *fcTypes) { c.filter = graph.Float16 }).build(straight),
			schema.ErrUnsupported, []string{"fp32, fp16, fp32"}},
		"type of the bias": {with(fp16, func(c *fcTypes) { c.bias = graph.Float32 }).build(straight), schema.ErrUnsupported,
			[]string{"fp16, fp16, fp32"}},
		"no filter": {func(g *graph.Graph) { g.FullyConnected(g.Input(graph.Float32, 1), graph.None, graph.None) },
			schema.ErrGraph, nil},
		"computed fp16 filter": {with(fp16, func(c *fcTypes) { c.dynamicFilter = true }).build(straight), schema.ErrUnsupported,
			[]string{"constant", "filter"}},
		"computed fp32 filter of fp16": {with(fp16, func(c *fcTypes) {
			c.filter, c.bias, c.dynamicFilter = graph.Float32, graph.Float32,
				true
		}).
			build(straight), schema.ErrUnsupported, []string{"constant", "filter"}},
		"computed fp16 bias": {with(fp16, func(c *fcTypes) { c.dynamicBias = true }).build(straight), schema.ErrUnsupported,
			[]string{"constant", "bias"}},
		"computed bias of 4 bits": {with(qcint4, func(c *fcTypes) { c.dynamicBias = true }).build(straight), schema.ErrUnsupported,
			[]string{"constant", "bias"}},
		"scales of input channels": {with(qcint8, func(c *fcTypes) { c.filterQuant = sameScales(3, 1, 1) }).build(straight),
			schema.ErrGraph,
			[]string{"dimension 1", "dimension 0"}},
		"scales, transposed": {with(qcint8, func(c *fcTypes) {
			c.filterShape = graph.Shape{3, 4}
			c.filterQuant = sameScales(3, 0,
				1)
		}).build(transposed),
			schema.ErrGraph, []string{"dimension 0", "dimension 1"}},
		"filter's zero point": {with(qint8, func(c *fcTypes) { c.filterQuant = &graph.Quant{Scale: 1, ZeroPoint: 1} }).build(straight),
			schema.ErrUnsupported, []string{"zero point"}},
		"transposed 4 bits": {with(qcint4, func(c *fcTypes) {
			c.filterShape, c.filterQuant = graph.Shape{3, 4}, sameScales(4, 1,
				1)
		}).build(transposed),
			schema.ErrUnsupported, []string{"fp32, qcint4"}},
		"ratio of 256":      {qint8.build(to(1. / 256)), schema.ErrUnsupported, []string{"256", "2^8"}},
		"ratio below 2^-32": {qint8.build(to(0x1.8p32)), schema.ErrUnsupported, []string{"2^-32"}},
		"channel's ratio": {with(qcint8, func(c *fcTypes) { c.filterQuant = sameScales(4, 0, 300) }).build(to(1)),
			schema.ErrUnsupported, []string{"channel 0"}},
		"subnormal product": {with(qint8, func(c *fcTypes) {
			c.xQuant, c.filterQuant = &graph.Quant{Scale: 0x1p-70}, &graph.Quant{Scale: 0x1p-70}
		}).build(to(0x1p-120)), schema.ErrUnsupported, []string{"ratio"}},
		"scale of the bias": {with(qint8, func(c *fcTypes) { c.bq = &graph.Quant{Scale: 1.001} }).build(to(1)), schema.ErrGraph,
			[]string{"1.001", "make 1"}},
		"scales of the bias": {with(qcint8, func(c *fcTypes) { c.bq = sameScales(4, 0, 2) }).build(to(1)),
			schema.ErrGraph, []string{"channel 0"}},
		"limits": {func(g *graph.Graph) {
			g.FullyConnected(g.Input(graph.Float32, 3), operandOf(g, false, graph.Float32, nil, 4, 3), graph.None, graph.Limits(6, 6))
		}, schema.ErrGraph, []string{"limits"}},
		"sparse and computed": {func(g *graph.Graph) {
			g.FullyConnectedSparse(g.Input(graph.Float32, 3), g.Input(graph.Float32, 4, 3), graph.None)
		}, schema.ErrUnsupported, []string{"constant"}},
		"sparse channels": {func(g *graph.Graph) {
			g.FullyConnectedSparse(g.Input(graph.Float32, 2), operandOf(g, false, graph.Float32, nil, 4, 3), graph.None)
		}, schema.ErrShape, []string{"takes 3"}},
	})
}

// rowsOf makes a graph of a FullyConnected whose operand was quantised with this many inner dimensions.
func rowsOf(op graph.FullyConnected, inner int, filter graph.Type, out graph.DType, shape ...int) *graph.Graph {
	data := make([]byte, filter.Bytes())
	for i := range data {
		data[i] = 0x88
	}
	result := append(append(graph.Shape{}, shape[:len(shape)-1]...), 4)
	if op.Flatten {
		result = graph.Shape{graph.Shape(shape).Elements() / 6, 4}
	}
	return &graph.Graph{
		Values: []graph.Value{
			{Type: graph.Type{DType: graph.Float32, Shape: shape}},
			{Type: graph.Type{DType: graph.QDInt8, Shape: shape, Quant: &graph.Quant{Inner: inner}}, Ref: 1},
			{Type: filter, Constant: 1, Ref: 2},
			{Type: graph.Type{DType: out, Shape: result}, Ref: 3},
		},
		Nodes: []graph.Node{
			{Op: graph.Unary{Func: graph.Convert}, Inputs: []graph.ID{0}, Outputs: []graph.ID{1}, Ref: 1},
			{Op: op, Inputs: []graph.ID{1, 2}, Outputs: []graph.ID{3}},
		},
		Inputs:    []graph.ID{0},
		Outputs:   []graph.ID{3},
		Constants: []graph.Constant{{}, {Data: data}},
	}
}

// TestFullyConnectedDynamic: XNNPACK reads a scale for each row, whatever was made.
func TestFullyConnectedDynamic(t *testing.T) {
	filter := graph.Type{DType: graph.QCInt8, Shape: graph.Shape{4, 6}, Quant: sameScales(4, 0, 1)}
	even := graph.Type{DType: graph.QCInt4, Shape: graph.Shape{6, 4}, Quant: sameScales(4, 1, 1)}
	odd := graph.Type{DType: graph.QCInt4, Shape: graph.Shape{6, 5}, Quant: sameScales(5, 1, 1)}
	small := graph.Type{DType: graph.QBInt4, Shape: graph.Shape{4, 32}, Quant: &graph.Quant{Block: 32, Scales: []float32{1, 1,
		0x1p-123, 1}}}
	for name, c := range map[string]struct {
		g    *graph.Graph
		kind error
		text string
	}{
		"rows":        {rowsOf(graph.FullyConnected{}, 1, filter, graph.Float32, 5, 6), nil, ""},
		"to fp16":     {rowsOf(graph.FullyConnected{}, 1, filter, graph.Float16, 5, 6), nil, ""},
		"rows of one": {rowsOf(graph.FullyConnected{}, 2, filter, graph.Float32, 5, 1, 6), nil, ""},
		"rows shared": {rowsOf(graph.FullyConnected{}, 2, filter, graph.Float32, 5, 6), schema.ErrUnsupported, "30 elements"},
		"flattened":   {rowsOf(graph.FullyConnected{Flatten: true}, 2, filter, graph.Float32, 5, 2, 3), nil, ""},
		"flattened in part": {rowsOf(graph.FullyConnected{Flatten: true}, 1, filter, graph.Float32, 5, 2, 3),
			schema.ErrUnsupported, "3 elements"},
		"transposed 4 bits": {rowsOf(graph.FullyConnected{Transposed: true}, 1, even, graph.Float32, 5, 6), nil, ""},
		"odd 4 bits": {rowsOf(graph.FullyConnected{Transposed: true}, 1, odd, graph.Float32, 5, 6),
			schema.ErrUnsupported, "even"},
		"to qint8":          {rowsOf(graph.FullyConnected{}, 1, filter, graph.Int32, 5, 6), schema.ErrUnsupported, "int32"},
		"small block scale": {rowsOf(graph.FullyConnected{}, 1, small, graph.Float32, 5, 32), schema.ErrUnsupported, "scale 2"},
	} {
		err := c.g.Check()
		if c.kind == nil {
			require.NoError(t, err, name)
			continue
		}
		require.ErrorIs(t, err, c.kind, name)
		require.ErrorContains(t, err, c.text, name)
	}
}

// TestPadding: XNNPACK multiplies with the half byte that a row of odd length leaves.
func TestPadding(t *testing.T) {
	typ := graph.Type{DType: graph.QCInt4, Shape: graph.Shape{2, 3}, Quant: sameScales(2, 0, 1)}
	g := graph.New()
	g.ConstantOf(typ, []byte{0, 0x8f, 0xff, 0x80})
	require.NoError(t, g.Check())
	for _, data := range [][]byte{{0, 0x7f, 0xff, 0x80}, {0, 0x8f, 0xff, 0x98}} {
		g := graph.New()
		g.ConstantOf(typ, data)
		require.ErrorIs(t, g.Check(), schema.ErrGraph)
		require.ErrorContains(t, g.Check(), "half a byte")
	}
	short := graph.Graph{Values: []graph.Value{{Type: typ, Constant: 1}}, Constants: []graph.Constant{{}, {Data: []byte{0, 0x8f},
		Reserve: 4}}}
	require.ErrorContains(t, short.Check(), "row 1", "what is reserved is zeros")
}

// TestFullyConnectedShapes: any rank, no rows, and rows cut out of what is there.
func TestFullyConnectedShapes(t *testing.T) {
	for _, c := range []struct {
		op           graph.FullyConnected
		x, w, result graph.Shape
	}{
		{graph.FullyConnected{}, graph.Shape{3}, graph.Shape{4, 3}, graph.Shape{4}},
		{graph.FullyConnected{}, graph.Shape{2, 3}, graph.Shape{4, 3}, graph.Shape{2, 4}},
		{graph.FullyConnected{}, graph.Shape{0, 3}, graph.Shape{4, 3}, graph.Shape{0, 4}},
		{graph.FullyConnected{}, graph.Shape{1, 2, 3, 4, 5, 3}, graph.Shape{4, 3}, graph.Shape{1, 2, 3, 4, 5, 4}},
		{graph.FullyConnected{Transposed: true}, graph.Shape{2, 3}, graph.Shape{3, 4}, graph.Shape{2, 4}},
		{graph.FullyConnected{Flatten: true}, graph.Shape{2, 3}, graph.Shape{4, 2}, graph.Shape{3, 4}},
		{graph.FullyConnected{Flatten: true}, graph.Shape{2, 3, 5}, graph.Shape{4, 15}, graph.Shape{2, 4}},
		{graph.FullyConnected{Flatten: true}, graph.Shape{0, 3, 5}, graph.Shape{4, 15}, graph.Shape{0, 4}},
		{graph.FullyConnected{Flatten: true, Transposed: true}, graph.Shape{6}, graph.Shape{3, 4}, graph.Shape{2, 4}},
		{graph.FullyConnected{Flatten: true}, graph.Shape{2, 3}, graph.Shape{4, 4}, nil},
	} {
		f32 := func(s graph.Shape, constant int) graph.Value {
			return graph.Value{Type: graph.Type{DType: graph.Float32, Shape: s}, Constant: constant}
		}
		g := &graph.Graph{
			Values: []graph.Value{f32(c.x, 0), f32(c.w, 1), f32(c.result, 0)},
			Nodes:  []graph.Node{{Op: c.op, Inputs: []graph.ID{0, 1}, Outputs: []graph.ID{2}}},
			Inputs: []graph.ID{0}, Outputs: []graph.ID{2},
			Constants: []graph.Constant{{}, {Data: make([]byte, 4*c.w.Elements())}},
		}
		if c.result == nil {
			require.ErrorIs(t, g.Check(), schema.ErrShape)
			require.ErrorContains(t, g.Check(), "6 elements")
			continue
		}
		require.NoError(t, g.Check(), "%+v", c)
		readsBack(t, g, "XN01")
	}
}

// readsBack writes a graph, expects the dialect, and reads the same graph.
func readsBack(t *testing.T, g *graph.Graph, identifier string) {
	t.Helper()
	roundTrip(t, g, identifier)
	flat, _ := graph.Split(marshalled(t, g))
	require.Equal(t, identifier, string(flat[4:8]))
}

func TestFullyConnectedFiles(t *testing.T) {
	build := func(apply func(g *graph.Graph, x, filter, bias graph.ID) graph.ID, bias bool) *graph.Graph {
		g := graph.New()
		x, filter, b := g.Input(graph.Float32, 2, 3), g.Constant(make([]float32, 9), 3, 3), graph.None
		if bias {
			b = g.Constant(make([]float32, 3), 3)
		}
		g.Output(apply(g, x, filter, b))
		return g
	}
	for _, bias := range []bool{false, true} {
		readsBack(t, build(func(g *graph.Graph, x, f, b graph.ID) graph.ID { return g.FullyConnected(x, f, b) }, bias), "XN01")
		readsBack(t, build(func(g *graph.Graph, x, f, b graph.ID) graph.ID {
			return g.FullyConnected(x, f, b, graph.Limits(0, float32(math.Inf(1))))
		}, bias), "XN01")
		readsBack(t, build(func(g *graph.Graph, x, f, b graph.ID) graph.ID { return g.FullyConnectedTransposed(x, f, b) }, bias),
			"XN01")
		readsBack(t, build(func(g *graph.Graph, x, f, b graph.ID) graph.ID {
			return g.FullyConnectedSparse(x, f, b, graph.Limits(0, 6))
		}, bias), "XNNG")
	}
}
