package graph_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// badOp is an operator with one parameter wrong, and what its error must say.
type badOp[O graph.Op] struct {
	change func(o *O)
	kind   error
	text   []string
}

// rejectsOps changes the operator of a good graph's only node in each way and expects its error there.
func rejectsOps[O graph.Op](t *testing.T, good func() *graph.Graph, faults map[string]badOp[O]) {
	require.NoError(t, good().Check())
	for name, f := range faults {
		g := good()
		op := g.Nodes[0].Op.(O)
		f.change(&op)
		g.Nodes[0].Op = op
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

// convolved is a convolution of 2 images of 9x8 pixels with 6 channels in 3 groups, 4 output channels each, to 5x4 pixels.
func convolved() *graph.Graph {
	g := graph.New()
	x := g.Input(graph.Float32, 2, 9, 8, 6)
	filter, bias := operandOf(g, false, graph.Float32, nil, 12, 3, 2, 2), operandOf(g, false, graph.Float32, nil, 12)
	g.Output(g.Conv2D(x, filter, bias, graph.Conv2D{
		Padding: graph.Padding{Top: 1, Right: 1, Bottom: 2, Left: 0}, Stride: [2]int{2, 2}, Dilation: [2]int{1, 2}, Groups: 3,
	}, graph.Limits(0, 6)))
	return g
}

func TestConv2DDefaults(t *testing.T) {
	g := convolved()
	require.Equal(t, graph.Conv2D{
		Padding: graph.Padding{Top: 1, Right: 1, Bottom: 2}, Stride: [2]int{2, 2}, Dilation: [2]int{1, 2}, Groups: 3,
		Kernel: [2]int{3, 2}, GroupInputs: 2, GroupOutputs: 4, Range: graph.Range{Min: 0, Max: 6},
	}, g.Nodes[0].Op)
	require.Equal(t, graph.Shape{2, 5, 4, 12}, g.Values[g.Outputs[0]].Shape)

	x := g.Input(graph.Float32, 1, 5, 5, 1)
	y := g.Conv2D(x, operandOf(g, false, graph.Float32, nil, 1, 1, 1, 1), graph.None, graph.Conv2D{})
	require.Equal(t, graph.Conv2D{Stride: [2]int{1, 1}, Dilation: [2]int{1, 1}, Groups: 1, Kernel: [2]int{1, 1}, GroupInputs: 1,
		GroupOutputs: 1},
		g.Nodes[1].Op)
	require.Len(t, g.Nodes[1].Inputs, 2)
	require.Equal(t, graph.Shape{1, 5, 5, 1}, g.Values[y].Shape)
	g.Output(y)
	require.NoError(t, g.Check())
}

func TestConv2DRejectsParameters(t *testing.T) {
	type bad = badOp[graph.Conv2D]
	rejectsOps(t, convolved, map[string]bad{
		"kernel": {func(o *graph.Conv2D) { o.Kernel[0] = 5 }, schema.ErrShape,
			[]string{"[12,3,2,2]", "[12,5,2,2]"}},
		"kernel of 0":        {func(o *graph.Conv2D) { o.Kernel[1] = 0 }, schema.ErrGraph, []string{"kernel", "3x0"}},
		"kernel huge":        {func(o *graph.Conv2D) { o.Kernel = [2]int{1 << 12, 1 << 12} }, schema.ErrUnsupported, []string{"2^24"}},
		"stride of 0":        {func(o *graph.Conv2D) { o.Stride[0] = 0 }, schema.ErrGraph, []string{"stride", "0x2"}},
		"stride huge":        {func(o *graph.Conv2D) { o.Stride[1] = 1<<30 + 1 }, schema.ErrGraph, []string{"stride"}},
		"dilation of 0":      {func(o *graph.Conv2D) { o.Dilation[1] = 0 }, schema.ErrGraph, []string{"dilation", "1x0"}},
		"dilation too large": {func(o *graph.Conv2D) { o.Dilation[0] = 6 }, schema.ErrShape, []string{"height 9", "1 and 2", "13"}},
		"padding negative":   {func(o *graph.Conv2D) { o.Padding.Top = -1 }, schema.ErrGraph, []string{"padding", "-1x0"}},
		"padding huge":       {func(o *graph.Conv2D) { o.Padding.Right = 1 << 31 }, schema.ErrGraph, []string{"padding"}},
		"padding and SAME":   {func(o *graph.Conv2D) { o.SamePadding = true }, schema.ErrGraph, []string{"SAME"}},
		"no groups":          {func(o *graph.Conv2D) { o.Groups = 0 }, schema.ErrGraph, []string{"groups", "0"}},
		"groups":             {func(o *graph.Conv2D) { o.Groups = 2 }, schema.ErrShape, []string{"[2,9,8,6]", "6", "4"}},
		"no inputs":          {func(o *graph.Conv2D) { o.GroupInputs = 0 }, schema.ErrGraph, []string{"input channels", "0"}},
		"inputs":             {func(o *graph.Conv2D) { o.GroupInputs = 1 }, schema.ErrShape, []string{"6 channels", "3"}},
		"no outputs":         {func(o *graph.Conv2D) { o.GroupOutputs = 0 }, schema.ErrGraph, []string{"output channels", "0"}},
		"outputs":            {func(o *graph.Conv2D) { o.GroupOutputs = 3 }, schema.ErrShape, []string{"[12,3,2,2]", "[9,3,2,2]"}},
		"outputs huge":       {func(o *graph.Conv2D) { o.GroupOutputs = 1 << 40 }, schema.ErrGraph, []string{"output channels"}},
		"limits": {func(o *graph.Conv2D) { o.Range = graph.Range{Min: 6, Max: 6} }, schema.ErrGraph,
			[]string{"limits", "6"}},
	})
}

// filterOf is a convolution of x with a filter and a bias of these types and shapes.
type filterOf struct {
	x, filter, bias graph.Type
	out             []graph.Option
	dynamic         bool // filter and bias are inputs
}

func (f filterOf) build(apply func(g *graph.Graph, x, filter, bias graph.ID,
	opts ...graph.Option) graph.ID) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		operand := func(t graph.Type) graph.ID {
			if t.DType == graph.InvalidDType {
				return graph.None
			}
			return operandOf(g, f.dynamic, t.DType, t.Quant, t.Shape...)
		}
		x := g.InputOf(graph.Type{DType: graph.Float32, Shape: f.x.Shape})
		switch {
		case f.x.DType == graph.QDInt8:
			x = g.Convert(x, graph.Dynamic(f.x.Quant.Inner))
		case f.x.DType != graph.Float32:
			x = g.InputOf(f.x)
		}
		g.Output(apply(g, x, operand(f.filter), operand(f.bias), f.out...))
	}
}

// rejects expects an error at the last node of a graph.
func rejects(t *testing.T, name string, build func(g *graph.Graph), kind error, text ...string) {
	g := graph.New()
	build(g)
	err := g.Check()
	require.ErrorIs(t, err, kind, name)
	for _, part := range text {
		require.ErrorContains(t, err, part, name)
	}
	var e *schema.Error
	require.True(t, errors.As(err, &e), name)
	require.EqualValues(t, len(g.Nodes), e.Node, "%s: %v", name, err)
}

func conv(g *graph.Graph, x, filter, bias graph.ID, opts ...graph.Option) graph.ID {
	return g.Conv2D(x, filter, bias, graph.Conv2D{}, opts...)
}

func depthwise(g *graph.Graph, x, filter, bias graph.ID, opts ...graph.Option) graph.ID {
	return g.DepthwiseConv2D(x, filter, bias, graph.DepthwiseConv2D{}, opts...)
}

func transposed(g *graph.Graph, x, filter, bias graph.ID, opts ...graph.Option) graph.ID {
	return g.ConvTranspose2D(x, filter, bias, graph.ConvTranspose2D{}, opts...)
}

func TestConvolutionsRejectOperands(t *testing.T) {
	typ := func(dtype graph.DType, q *graph.Quant, dims ...int) graph.Type {
		return graph.Type{DType: dtype, Quant: q, Shape: dims}
	}
	q := func(scale float32, zero int) *graph.Quant { return &graph.Quant{Scale: scale, ZeroPoint: zero} }
	f32 := func(dims ...int) graph.Type { return typ(graph.Float32, nil, dims...) }
	image, filter, bias := f32(1, 9, 9, 4), f32(6, 3, 3, 4), f32(6)
	s8, w8 := typ(graph.QInt8, q(0.5, 3), 1, 9, 9, 4), typ(graph.QInt8, q(0.25, 0), 6, 3, 3, 4)
	b32, c8 := typ(graph.QInt32, q(0.125, 0), 6), typ(graph.QCInt8, sameScales(6, 0, 0.25), 6, 3, 3, 4)
	none := graph.Type{}
	for name, c := range map[string]struct {
		filterOf
		kind error
		text []string
	}{
		"image of rank 3": {filterOf{f32(9, 9, 4), filter, bias, nil, false}, schema.ErrShape,
			[]string{"[9,9,4]", "[batch, height, width, channels]"}},
		"no rows":            {filterOf{f32(1, 0, 9, 4), filter, bias, nil, false}, schema.ErrShape, []string{"[1,0,9,4]", "no rows"}},
		"no columns":         {filterOf{f32(0, 9, 0, 4), filter, bias, nil, false}, schema.ErrShape, []string{"[0,9,0,4]"}},
		"channels":           {filterOf{f32(1, 9, 9, 5), filter, bias, nil, false}, schema.ErrShape, []string{"5 channels", "4"}},
		"filter of rank 2":   {filterOf{image, f32(6, 36), bias, nil, false}, schema.ErrGraph, nil},
		"filter dynamic":     {filterOf{image, filter, bias, nil, true}, schema.ErrUnsupported, []string{"constant", "operand 1"}},
		"filter larger":      {filterOf{f32(1, 2, 9, 4), filter, bias, nil, false}, schema.ErrShape, []string{"height 2", "3"}},
		"no output channels": {filterOf{image, f32(0, 3, 3, 4), none, nil, false}, schema.ErrGraph, []string{"output channels", "0"}},
		"bias shape":         {filterOf{image, filter, f32(1, 6), nil, false}, schema.ErrShape, []string{"[1,6]", "[6]"}},
		"bias short":         {filterOf{image, filter, f32(5), nil, false}, schema.ErrShape, []string{"[5]", "[6]"}},
		"mixed types": {filterOf{image, w8, none, nil, false}, schema.ErrUnsupported,
			[]string{"fp32, qint8", "fp16, fp32, fp32 -> fp16"}},
		"fp16 filter": {filterOf{typ(graph.Float16, nil, 1, 9, 9, 4), typ(graph.Float16, nil, 6, 3, 3, 4), none, nil, false},
			schema.ErrUnsupported,
			[]string{"fp16, fp16"}},
		"qcint8 with qint32 bias": {filterOf{s8, c8, b32, nil, false}, schema.ErrUnsupported, []string{"qcint32"}},
		"bias scale": {filterOf{s8, w8, typ(graph.QInt32, q(0.25, 0), 6), nil, false}, schema.ErrGraph,
			[]string{"bias", "0.25", "0.125"}},
		"bias scales": {filterOf{s8, c8, typ(graph.QCInt32, sameScales(6, 0, 0.5), 6), nil, false}, schema.ErrGraph,
			[]string{"bias", "0.5", "0.125"}},
		"filter zero point": {filterOf{s8, typ(graph.QInt8, q(0.25, 1), 6, 3, 3, 4), b32, nil, false}, schema.ErrUnsupported,
			[]string{"zero point", "1"}},
		"scales along inputs": {filterOf{s8, typ(graph.QCInt8, sameScales(4, 3, 0.25), 6, 3, 3, 4), none, nil, false}, schema.ErrGraph,
			[]string{"dimension 3", "dimension 0"}},
		"result scale": {filterOf{s8, w8, b32, []graph.Option{graph.Quantized(graph.QInt8, 0.125/256, 0)}, false},
			schema.ErrUnsupported,
			[]string{"256"}},
		"one scale a row": {filterOf{typ(graph.QDInt8, &graph.Quant{Inner: 1}, 1, 9, 9, 4), c8, bias, nil, false},
			schema.ErrUnsupported,
			[]string{"3 inner dimensions"}},
	} {
		rejects(t, "Conv2D "+name, c.build(conv), c.kind, c.text...)
		if name != "filter larger" {
			rejects(t, "ConvTranspose2D "+name, c.build(transposed), c.kind, c.text...)
		}
	}
	d32 := f32(1, 3, 3, 8)
	for name, c := range map[string]struct {
		filterOf
		kind error
		text []string
	}{
		"filter":      {filterOf{image, f32(2, 3, 3, 8), none, nil, false}, schema.ErrShape, []string{"[2,3,3,8]", "[1,3,3,8]"}},
		"indivisible": {filterOf{image, f32(1, 3, 3, 6), none, nil, false}, schema.ErrShape, []string{"[1,3,3,6]", "[1,3,3,4]"}},
		"too few":     {filterOf{image, f32(1, 3, 3, 3), none, nil, false}, schema.ErrGraph, []string{"multiplier", "0"}},
		"no channels": {filterOf{f32(1, 9, 9, 0), f32(1, 3, 3, 0), none, nil, false}, schema.ErrGraph, []string{"channels", "0"}},
		"bias":        {filterOf{image, d32, f32(4), nil, false}, schema.ErrShape, []string{"[4]", "[8]"}},
		"scales": {filterOf{s8, typ(graph.QCInt8, sameScales(1, 0, 0.25), 1, 3, 3, 4), none, nil, false}, schema.ErrGraph,
			[]string{"dimension 0", "dimension 3"}},
		"dynamic": {filterOf{typ(graph.QDInt8, &graph.Quant{Inner: 3}, 1, 9, 9, 4),
			typ(graph.QCInt8, sameScales(4, 3, 0.25), 1, 3, 3, 4), none, nil, false},
			schema.ErrUnsupported, []string{"qdint8"}},
	} {
		rejects(t, "DepthwiseConv2D "+name, c.build(depthwise), c.kind, c.text...)
	}
}

func TestDepthwiseConv2DRejectsParameters(t *testing.T) {
	good := func() *graph.Graph {
		g := graph.New()
		x := g.Input(graph.Float32, 2, 9, 8, 3)
		filter, bias := operandOf(g, false, graph.Float32, nil, 1, 3, 2, 6), operandOf(g, false, graph.Float32, nil, 6)
		g.Output(g.DepthwiseConv2D(x, filter, bias, graph.DepthwiseConv2D{SamePadding: true, Stride: [2]int{2, 1}}))
		return g
	}
	g := good()
	require.Equal(t, graph.DepthwiseConv2D{
		SamePadding: true, Stride: [2]int{2, 1}, Dilation: [2]int{1, 1}, Kernel: [2]int{3, 2}, Channels: 3, Multiplier: 2,
	}, g.Nodes[0].Op)
	require.Equal(t, graph.Shape{2, 5, 8, 6}, g.Values[g.Outputs[0]].Shape)
	type bad = badOp[graph.DepthwiseConv2D]
	rejectsOps(t, good, map[string]bad{
		"kernel":           {func(o *graph.DepthwiseConv2D) { o.Kernel[1] = 3 }, schema.ErrShape, []string{"[1,3,2,6]", "[1,3,3,6]"}},
		"kernel of 0":      {func(o *graph.DepthwiseConv2D) { o.Kernel[0] = 0 }, schema.ErrGraph, []string{"kernel"}},
		"stride of 0":      {func(o *graph.DepthwiseConv2D) { o.Stride[0] = 0 }, schema.ErrGraph, []string{"stride"}},
		"dilation of 0":    {func(o *graph.DepthwiseConv2D) { o.Dilation[0] = 0 }, schema.ErrGraph, []string{"dilation"}},
		"padding and SAME": {func(o *graph.DepthwiseConv2D) { o.Padding.Left = 1 }, schema.ErrGraph, []string{"SAME"}},
		"no channels":      {func(o *graph.DepthwiseConv2D) { o.Channels = 0 }, schema.ErrGraph, []string{"channels", "0"}},
		"channels": {func(o *graph.DepthwiseConv2D) { o.Channels, o.Multiplier = 6, 1 }, schema.ErrShape,
			[]string{"3 channels", "6"}},
		"multiplier":      {func(o *graph.DepthwiseConv2D) { o.Multiplier = 1 }, schema.ErrShape, []string{"[1,3,2,6]", "[1,3,2,3]"}},
		"multiplier of 0": {func(o *graph.DepthwiseConv2D) { o.Multiplier = 0 }, schema.ErrGraph, []string{"multiplier", "0"}},
		"limits":          {func(o *graph.DepthwiseConv2D) { o.Range.Min = 1 }, schema.ErrGraph, []string{"limits"}},
	})
}

func TestConvTranspose2DRejectsParameters(t *testing.T) {
	good := func() *graph.Graph {
		g := graph.New()
		x := g.Input(graph.Float32, 2, 3, 4, 6)
		filter, bias := operandOf(g, false, graph.Float32, nil, 12, 3, 3, 2), operandOf(g, false, graph.Float32, nil, 12)
		g.Output(g.ConvTranspose2D(x, filter, bias, graph.ConvTranspose2D{
			Padding: graph.Padding{Top: 1, Right: 1}, Stride: [2]int{2, 3}, Adjustment: [2]int{1, 2}, Groups: 3,
		}))
		return g
	}
	g := good()
	require.Equal(t, graph.ConvTranspose2D{
		Padding: graph.Padding{Top: 1, Right: 1}, Stride: [2]int{2, 3}, Dilation: [2]int{1, 1}, Adjustment: [2]int{1, 2}, Groups: 3,
		Kernel: [2]int{3, 3}, GroupInputs: 2, GroupOutputs: 4,
	}, g.Nodes[0].Op)
	require.Equal(t, graph.Shape{2, 2*2 + 3 + 1 - 1, 3*3 + 3 + 2 - 1, 12}, g.Values[g.Outputs[0]].Shape)
	type bad = badOp[graph.ConvTranspose2D]
	rejectsOps(t, good, map[string]bad{
		"kernel": {func(o *graph.ConvTranspose2D) { o.Kernel[1] = 2 }, schema.ErrShape,
			[]string{"[12,3,3,2]", "[12,3,2,2]"}},
		"stride of 0":      {func(o *graph.ConvTranspose2D) { o.Stride[1] = 0 }, schema.ErrGraph, []string{"stride"}},
		"dilation of 0":    {func(o *graph.ConvTranspose2D) { o.Dilation[1] = 0 }, schema.ErrGraph, []string{"dilation"}},
		"padding negative": {func(o *graph.ConvTranspose2D) { o.Padding.Bottom = -1 }, schema.ErrGraph, []string{"padding"}},
		"nothing left": {func(o *graph.ConvTranspose2D) { o.Padding.Bottom = 7 }, schema.ErrShape,
			[]string{"1 and 7", "height 8"}},
		"next to nothing": {func(o *graph.ConvTranspose2D) { o.Padding.Right = 13 }, schema.ErrUnsupported, []string{"7x1", "2x3"}},
		"adjustment": {func(o *graph.ConvTranspose2D) { o.Adjustment[0] = 2 }, schema.ErrGraph,
			[]string{"adjustment", "height", "2"}},
		"adjustment negative": {func(o *graph.ConvTranspose2D) { o.Adjustment[1] = -1 }, schema.ErrGraph,
			[]string{"adjustment", "width", "-1"}},
		"groups":    {func(o *graph.ConvTranspose2D) { o.Groups = 2 }, schema.ErrShape, []string{"6 channels"}},
		"no groups": {func(o *graph.ConvTranspose2D) { o.Groups = 0 }, schema.ErrGraph, []string{"groups"}},
		"outputs": {func(o *graph.ConvTranspose2D) { o.GroupOutputs = 12 }, schema.ErrShape,
			[]string{"[12,3,3,2]", "[36,3,3,2]"}},
		"limits": {func(o *graph.ConvTranspose2D) { o.Range.Max = -1 }, schema.ErrGraph, []string{"limits"}},
	})
}
