package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// pooled is one kind of pooling of 2 images of 9x8 pixels with 3 channels.
func pooled(build func(g *graph.Graph) func(x graph.ID, o graph.Pool2D, opts ...graph.Option) graph.ID) func() *graph.Graph {
	return func() *graph.Graph {
		g := graph.New()
		g.Output(build(g)(g.Input(graph.Float32, 2, 9, 8, 3), graph.Pool2D{
			Kernel: [2]int{3, 2}, Stride: [2]int{2, 0}, Padding: graph.Padding{Top: 2, Right: 1},
		}, graph.Limits(0, 6)))
		return g
	}
}

func avgPooled() *graph.Graph {
	return pooled(func(g *graph.Graph) func(graph.ID, graph.Pool2D, ...graph.Option) graph.ID { return g.AvgPool2D })()
}

func maxPooled() *graph.Graph {
	return pooled(func(g *graph.Graph) func(graph.ID, graph.Pool2D, ...graph.Option) graph.ID { return g.MaxPool2D })()
}

func TestPool2DRejectsParameters(t *testing.T) {
	g := maxPooled()
	require.Equal(t, graph.Pool2D{
		Func: graph.MaxPool2D, Kernel: [2]int{3, 2}, Stride: [2]int{2, 2}, Dilation: [2]int{1, 1}, Padding: graph.Padding{Top: 2,
			Right: 1},
		Range: graph.Range{Min: 0, Max: 6},
	}, g.Nodes[0].Op)
	require.Equal(t, graph.Shape{2, 5, 4, 3}, g.Values[g.Outputs[0]].Shape)
	type bad = badOp[graph.Pool2D]
	for _, good := range []func() *graph.Graph{avgPooled, maxPooled} {
		rejectsOps(t, good, map[string]bad{
			"function":         {func(o *graph.Pool2D) { o.Func = "MedianPool2D" }, schema.ErrUnsupported, []string{"MedianPool2D"}},
			"kernel of 0":      {func(o *graph.Pool2D) { o.Kernel[0] = 0 }, schema.ErrGraph, []string{"kernel", "0x2"}},
			"kernel negative":  {func(o *graph.Pool2D) { o.Kernel[0] = -2 }, schema.ErrGraph, []string{"kernel", "-2x2"}},
			"kernel huge":      {func(o *graph.Pool2D) { o.Kernel = [2]int{1 << 20, 1 << 20} }, schema.ErrUnsupported, []string{"2^24"}},
			"kernel too large": {func(o *graph.Pool2D) { o.Kernel[0] = 12 }, schema.ErrShape, []string{"height 9", "2 and 0", "12"}},
			"stride of 0":      {func(o *graph.Pool2D) { o.Stride[1] = 0 }, schema.ErrGraph, []string{"stride", "2x0"}},
			"dilation of 0":    {func(o *graph.Pool2D) { o.Dilation[1] = 0 }, schema.ErrGraph, []string{"dilation", "1x0"}},
			"padding negative": {func(o *graph.Pool2D) { o.Padding.Left = -1 }, schema.ErrGraph, []string{"padding"}},
			"padding too far":  {func(o *graph.Pool2D) { o.Padding.Top = 3 }, schema.ErrUnsupported, []string{"3 and 0", "height", "3"}},
			"padding too wide": {func(o *graph.Pool2D) { o.Padding.Right = 2 }, schema.ErrUnsupported, []string{"0 and 2", "width"}},
			"padding and SAME": {func(o *graph.Pool2D) { o.SamePadding = true }, schema.ErrGraph, []string{"SAME"}},
			"limits":           {func(o *graph.Pool2D) { o.Range = graph.Range{Min: 1, Max: 0} }, schema.ErrGraph, []string{"limits"}},
		})
	}
	rejectsOps(t, avgPooled, map[string]bad{
		"dilation": {func(o *graph.Pool2D) { o.Dilation[0] = 2 }, schema.ErrUnsupported, []string{"dilation", "2x1"}},
	})
	// The last place down is row 10 of the padding: in its stead XNNPACK would read row 10 of the image.
	rejectsOps(t, maxPooled, map[string]bad{
		"gaps": {func(o *graph.Pool2D) {
			o.Kernel, o.Dilation, o.Stride = [2]int{2, 2}, [2]int{4, 1}, [2]int{1, 2}
			o.Padding = graph.Padding{Top: 4, Bottom: 4}
		}, schema.ErrUnsupported, []string{"dilated by 4x1", "[2,9,8,3]"}},
	})
	rejectsGraphs(t, map[string]badGraph{
		"rank": {func(g *graph.Graph) { g.MaxPool2D(g.Input(graph.Float32, 9, 8, 3), graph.Pool2D{Kernel: [2]int{2, 2}}) },
			schema.ErrShape, []string{"[9,8,3]"}},
		"no rows": {func(g *graph.Graph) {
			g.AvgPool2D(g.Input(graph.Float32, 1, 0, 8, 3), graph.Pool2D{Kernel: [2]int{2, 2}})
		}, schema.ErrShape, []string{"[1,0,8,3]"}},
		"type": {func(g *graph.Graph) {
			g.MaxPool2D(g.Input(graph.Int32, 1, 4, 8, 3), graph.Pool2D{Kernel: [2]int{2, 2}})
		}, schema.ErrUnsupported, []string{"int32"}},
		"no kernel": {func(g *graph.Graph) { g.MaxPool2D(g.Input(graph.Float32, 1, 4, 8, 3), graph.Pool2D{}) }, schema.ErrGraph,
			[]string{"kernel", "0x0"}},
		"other quantisation": {func(g *graph.Graph) {
			g.MaxPool2D(g.InputOf(scaled(graph.QInt8, 0.5, 1, 1, 4, 8, 3)), graph.Pool2D{Kernel: [2]int{2, 2}},
				graph.Quantized(graph.QInt8, 0.25, 1))
		}, schema.ErrGraph, []string{"keeps the quantisation"}},
	})
}

func TestArgMaxPool2DRejectsParameters(t *testing.T) {
	good := func() *graph.Graph {
		g := graph.New()
		values, indices := g.ArgMaxPool2D(g.Input(graph.Float32, 2, 9, 8, 3), graph.ArgMaxPool2D{
			Kernel: [2]int{3, 2}, Padding: graph.Padding{Top: 1, Bottom: 2},
		})
		g.Output(values)
		g.Output(indices)
		return g
	}
	g := good()
	require.Equal(t, graph.Type{DType: graph.Float32, Shape: graph.Shape{2, 4, 4, 3}}, g.Values[g.Outputs[0]].Type)
	require.Equal(t, graph.Type{DType: graph.Int32, Shape: graph.Shape{2, 4, 4, 3}}, g.Values[g.Outputs[1]].Type)
	type bad = badOp[graph.ArgMaxPool2D]
	rejectsOps(t, good, map[string]bad{
		"kernel of 0": {func(o *graph.ArgMaxPool2D) { o.Kernel[1] = 0 }, schema.ErrGraph, []string{"kernel", "3x0"}},
		"kernel of 1": {func(o *graph.ArgMaxPool2D) { o.Kernel, o.Padding = [2]int{1, 1}, graph.Padding{} }, schema.ErrUnsupported,
			[]string{"1x1"}},
		"kernel too large": {func(o *graph.ArgMaxPool2D) { o.Kernel[1] = 9 }, schema.ErrShape, []string{"width 8", "9"}},
		"padding too far":  {func(o *graph.ArgMaxPool2D) { o.Padding.Bottom = 3 }, schema.ErrUnsupported, []string{"1 and 3"}},
		"padding and SAME": {func(o *graph.ArgMaxPool2D) { o.SamePadding = true }, schema.ErrGraph, []string{"SAME"}},
	})
	rejectsGraphs(t, map[string]badGraph{
		"type": {func(g *graph.Graph) {
			g.ArgMaxPool2D(g.Input(graph.Float16, 2, 9, 8, 3), graph.ArgMaxPool2D{Kernel: [2]int{2, 2}})
		}, schema.ErrUnsupported, []string{"fp16"}},
		"rank": {func(g *graph.Graph) {
			g.ArgMaxPool2D(g.Input(graph.Float32, 2, 9, 8), graph.ArgMaxPool2D{Kernel: [2]int{2, 2}})
		}, schema.ErrShape, nil},
	})
}

func TestUnpool2DRejectsParameters(t *testing.T) {
	good := func() *graph.Graph {
		g := graph.New()
		g.Output(g.Unpool2D(g.Input(graph.Float32, 2, 4, 4, 3), g.Input(graph.Int32, 2, 4, 4, 3), graph.Unpool2D{
			Kernel: [2]int{3, 2}, Padding: graph.Padding{Top: 1, Bottom: 2},
		}))
		return g
	}
	g := good()
	require.Equal(t, graph.Shape{2, 9, 8, 3}, g.Values[g.Outputs[0]].Shape)
	type bad = badOp[graph.Unpool2D]
	rejectsOps(t, good, map[string]bad{
		"kernel of 0": {func(o *graph.Unpool2D) { o.Kernel[1] = 0 }, schema.ErrGraph, []string{"kernel", "3x0"}},
		"kernel of 1": {func(o *graph.Unpool2D) { o.Kernel, o.Padding = [2]int{1, 1}, graph.Padding{} }, schema.ErrUnsupported,
			[]string{"1x1"}},
		"padding too far": {func(o *graph.Unpool2D) { o.Padding.Right = 2 }, schema.ErrUnsupported, []string{"0 and 2"}},
	})
	unpool := func(x, indices graph.Type, padding graph.Padding) func(g *graph.Graph) {
		return func(g *graph.Graph) {
			g.Unpool2D(g.InputOf(x), g.InputOf(indices), graph.Unpool2D{Kernel: [2]int{2, 2}, Padding: padding})
		}
	}
	f32 := graph.Type{DType: graph.Float32, Shape: graph.Shape{2, 1, 4, 3}}
	i32 := graph.Type{DType: graph.Int32, Shape: graph.Shape{2, 1, 4, 3}}
	rejectsGraphs(t, map[string]badGraph{
		"indices of another shape": {unpool(f32, graph.Type{DType: graph.Int32, Shape: graph.Shape{2, 1, 4, 1}}, graph.Padding{}),
			schema.ErrShape, []string{"[2,1,4,3]", "[2,1,4,1]"}},
		"indices of another type": {unpool(f32, f32, graph.Padding{}), schema.ErrUnsupported, []string{"fp32, int32"}},
		"values of another type":  {unpool(i32, i32, graph.Padding{}), schema.ErrUnsupported, nil},
		"nothing left": {unpool(f32, i32, graph.Padding{Top: 1, Bottom: 1}), schema.ErrShape,
			[]string{"1 and 1", "height 2"}},
	})
}

func TestResizeBilinear2DRejectsParameters(t *testing.T) {
	good := func() *graph.Graph {
		g := graph.New()
		g.Output(g.ResizeBilinear2D(g.Input(graph.Float32, 2, 9, 8, 3), 4, 5, graph.AlignCorners))
		return g
	}
	g := good()
	require.Equal(t, graph.Shape{2, 4, 5, 3}, g.Values[g.Outputs[0]].Shape)
	type bad = badOp[graph.ResizeBilinear2D]
	rejectsOps(t, good, map[string]bad{
		"height of 0":    {func(o *graph.ResizeBilinear2D) { o.Height = 0 }, schema.ErrGraph, []string{"height", "0"}},
		"width of 0":     {func(o *graph.ResizeBilinear2D) { o.Width = 0 }, schema.ErrGraph, []string{"width", "0"}},
		"width negative": {func(o *graph.ResizeBilinear2D) { o.Width = -1 }, schema.ErrGraph, []string{"width", "-1"}},
		"height huge":    {func(o *graph.ResizeBilinear2D) { o.Height = 1 << 24 }, schema.ErrGraph, []string{"height", "16777216"}},
		"mode":           {func(o *graph.ResizeBilinear2D) { o.Mode = 3 }, schema.ErrGraph, []string{"mode 3"}},
	})
	rejectsGraphs(t, map[string]badGraph{"type": {func(g *graph.Graph) {
		g.ResizeBilinear2D(g.Input(graph.Int32, 1, 2, 2, 1), 1, 1, graph.HalfPixel)
	}, schema.ErrUnsupported, []string{"int32"}}})
	for name, c := range map[string]struct {
		width, to int
		mode      graph.ResizeMode
		text      string
	}{
		"image too wide": {1 << 24, 5, graph.HalfPixel, "16777216"},
		// In fp32 the last pixel but a hair is the one after the last.
		"rounded out": {1<<24 - 1, 1<<24 - 2, graph.Legacy, "16777215"},
	} {
		rejectsGraphs(t, map[string]badGraph{name: {func(g *graph.Graph) {
			g.ResizeBilinear2D(g.Input(graph.Float32, 1, 2, c.width, 1), 1, c.to, c.mode)
		}, schema.ErrUnsupported, []string{"width", c.text}}})
	}
}
