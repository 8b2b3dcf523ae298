package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

func TestBinaryRejects(t *testing.T) {
	rejectsGraphs(t, map[string]badGraph{
		"shapes": {func(g *graph.Graph) { g.Multiply(g.InputOf(fp32(2, 3)), g.InputOf(fp32(4))) },
			schema.ErrShape, []string{"3", "4"}},
		"types": {func(g *graph.Graph) { g.Multiply(g.InputOf(fp32(3)), g.Input(graph.Float16, 3)) }, schema.ErrUnsupported,
			[]string{"Multiply", "fp32, fp16"}},
		"signed and not": {func(g *graph.Graph) {
			g.Add(g.InputOf(of8(graph.QInt8, 1, 0, 3)), g.InputOf(of8(graph.QUInt8, 1, 0, 3)))
		},
			schema.ErrUnsupported, []string{"Add", "qint8, quint8"}},
		"real numbers": {func(g *graph.Graph) { g.BitwiseAnd(g.InputOf(fp32(3)), g.InputOf(fp32(3))) }, schema.ErrUnsupported,
			[]string{"BitwiseAnd", "int32"}},
		"integers": {func(g *graph.Graph) { g.Atan2(g.Input(graph.Int32, 3), g.Input(graph.Int32, 3)) }, schema.ErrUnsupported,
			[]string{"Atan2", "int32"}},
		"limits": {func(g *graph.Graph) { g.Add(g.InputOf(fp32(3)), g.InputOf(fp32(3)), graph.Limits(2, 1)) }, schema.ErrGraph,
			[]string{"[2, 1]"}},
		"limits of integers": {func(g *graph.Graph) { g.Add(g.Input(graph.Int32, 3), g.Input(graph.Int32, 3), graph.Limits(0, 0.5)) },
			schema.ErrUnsupported, []string{"0.5"}},
		"one operand": {func(g *graph.Graph) { withOp(graph.Binary{Func: graph.Pow}, fp32(3), fp32(3))(g) }, schema.ErrGraph,
			[]string{"2", "1"}},
		"scale": {func(g *graph.Graph) {
			g.Maximum(g.InputOf(of8(graph.QInt8, 1e-20, 0, 3)), g.InputOf(of8(graph.QInt8, 1, 0, 3)))
		}, schema.ErrUnsupported, []string{"1e-20"}},
	})
}

// TestBinaryRatios: XNNPACK's integer sums and products have so many bits, and it looks at none of this.
func TestBinaryRatios(t *testing.T) {
	for _, c := range []struct {
		kind      graph.BinaryFunc
		a, b, out float32
		ok        bool
	}{
		{graph.Add, 1, 1, 1, true}, {graph.Add, 255.9, 1, 1, true}, {graph.Add, 256, 1, 1, false}, {graph.Add, 1, 256, 1, false},
		{graph.Add, 0x1p-10, 1, 1, true}, {graph.Add, 0x1p-11, 1, 1, false}, {graph.Add, 1, 0x1p-11, 1, false},
		{graph.Add, 1e9, 1e9, 1, false},
		{graph.Subtract, 256, 1, 1, false}, {graph.Subtract, 0.5, 0.25, 0.125, true},
		{graph.Multiply, 16, 15.9, 1, true}, {graph.Multiply, 16, 16, 1, false}, {graph.Multiply, 0x1p-8, 0x1p-8, 1, true},
		{graph.Multiply, 0x1p-8, 0x1p-9, 1, false}, {graph.Multiply, 1e18, 1e18, 1e18, false},
		{graph.Maximum, 1e9, 1e-9, 1, true}, {graph.SquaredDifference, 1e9, 1e-9, 1, true}, {graph.Divide, 1e9, 1e-9, 1, true},
	} {
		for _, dtype := range []graph.DType{graph.QInt8, graph.QUInt8} {
			g := &graph.Graph{
				Values: []graph.Value{{Type: of8(dtype, c.a, 1, 3)}, {Type: of8(dtype, c.b, 2, 3)}, {Type: of8(dtype, c.out, 3, 3)}},
				Nodes:  []graph.Node{{Op: graph.Binary{Func: c.kind}, Inputs: []graph.ID{0, 1}, Outputs: []graph.ID{2}}},
				Inputs: []graph.ID{0, 1}, Outputs: []graph.ID{2},
			}
			if err := g.Check(); c.ok {
				require.NoError(t, err, "%v", c)
			} else {
				require.ErrorIs(t, err, schema.ErrUnsupported, "%v", c)
				require.ErrorContains(t, err, "ratio", "%v", c)
			}
		}
	}
}

func TestReduceRejects(t *testing.T) {
	x := fp32(2, 3, 4)
	sum := func(axes ...int) func(g *graph.Graph) {
		return func(g *graph.Graph) { g.ReduceSum(g.InputOf(x), axes, false) }
	}
	rejectsGraphs(t, map[string]badGraph{
		"no axes":    {sum(), schema.ErrGraph, []string{"no axes"}},
		"axis 3":     {sum(3), schema.ErrGraph, []string{"axis 3", "3 dimensions"}},
		"axis -4":    {sum(-4), schema.ErrGraph, []string{"axis -4"}},
		"axis twice": {sum(1, 0, -2), schema.ErrGraph, []string{"axis 1", "twice"}},
		"many axes":  {sum(0, 1, 2, 0, 1, 2, 0), schema.ErrGraph, []string{"twice"}},
		"of a scalar": {func(g *graph.Graph) { g.ReduceMean(g.InputOf(fp32()), []int{0}, true) },
			schema.ErrGraph, []string{"axis 0"}},
		"negative": {withOp(graph.Reduce{Func: graph.ReduceSum, Axes: []int{-1}}, x, fp32(2, 3)),
			schema.ErrGraph, []string{"axis -1"}},
		"of nothing": {func(g *graph.Graph) { g.ReduceMean(g.InputOf(fp32(2, 0)), []int{1}, true) },
			schema.ErrUnsupported, []string{"no elements"}},
		"integers": {func(g *graph.Graph) { g.ReduceSum(g.Input(graph.Int32, 3), []int{0}, true) },
			schema.ErrUnsupported, []string{"int32"}},
		"bfloat16": {func(g *graph.Graph) { g.ReduceSum(g.Input(graph.BFloat16, 3), []int{0}, true) },
			schema.ErrUnsupported, []string{"bf16"}},
		"many of 8": {func(g *graph.Graph) { g.ReduceSum(g.InputOf(of8(graph.QInt8, 1, 0, 1<<12, 1<<12)), []int{0, 1}, true) },
			schema.ErrUnsupported, []string{"8388608"}},
		"limits": {func(g *graph.Graph) { g.ReduceSum(g.InputOf(x), []int{0}, true, graph.Limits(1, 0)) },
			schema.ErrGraph, []string{"[1, 0]"}},
		"other shape": {withOp(graph.Reduce{Func: graph.ReduceMean, Axes: []int{1}, KeepDims: true}, x, fp32(2, 4)),
			schema.ErrShape, []string{"[2,1,4]", "[2,4]"}},
		"of no values": {func(g *graph.Graph) {
			g.Nodes = []graph.Node{{Op: graph.Reduce{Func: graph.ReduceSum, Axes: []int{0}}}}
		}, schema.ErrGraph, []string{"1", "0"}},
	})
}
