package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

var (
	infinite = float32(math.Inf(1))
	noNumber = float32(math.NaN())
)

// of8 is a quantised type of 8 bits.
func of8(t graph.DType, scale float32, zeroPoint int, dims ...int) graph.Type {
	return graph.Type{DType: t, Shape: dims, Quant: &graph.Quant{Scale: scale, ZeroPoint: zeroPoint}}
}

// withOp is a graph of one node of one operand, of which a file or an importer said this.
func withOp(op graph.Op, x graph.Type, out graph.Type) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		g.Values = []graph.Value{{Type: x}, {Type: out}}
		g.Nodes = []graph.Node{{Op: op, Inputs: []graph.ID{0}, Outputs: []graph.ID{1}}}
		g.Inputs, g.Outputs = []graph.ID{0}, []graph.ID{1}
	}
}

// fp32 is a type of single-precision numbers.
func fp32(dims ...int) graph.Type { return graph.Type{DType: graph.Float32, Shape: dims} }

func TestUnaryRejects(t *testing.T) {
	x := fp32(3)
	rejectsGraphs(t, map[string]badGraph{
		"alpha 0":         {func(g *graph.Graph) { g.ELU(g.InputOf(x), 0) }, schema.ErrGraph, []string{"alpha", "0"}},
		"alpha < 0":       {func(g *graph.Graph) { g.ELU(g.InputOf(x), -1) }, schema.ErrGraph, []string{"alpha", "-1"}},
		"alpha NaN":       {func(g *graph.Graph) { g.ELU(g.InputOf(x), noNumber) }, schema.ErrGraph, []string{"alpha", "NaN"}},
		"alpha infinite":  {func(g *graph.Graph) { g.ELU(g.InputOf(x), infinite) }, schema.ErrGraph, []string{"alpha", "Inf"}},
		"alpha subnormal": {func(g *graph.Graph) { g.ELU(g.InputOf(x), 1e-40) }, schema.ErrGraph, []string{"alpha"}},
		"slope NaN": {func(g *graph.Graph) { g.LeakyReLU(g.InputOf(x), noNumber) },
			schema.ErrGraph, []string{"negative_slope", "NaN"}},
		"slope infinite": {func(g *graph.Graph) { g.LeakyReLU(g.InputOf(x), -infinite) },
			schema.ErrGraph, []string{"negative_slope", "Inf"}},
		"limits empty":   {func(g *graph.Graph) { g.Clamp(g.InputOf(x), 1, 1) }, schema.ErrGraph, []string{"[1, 1]"}},
		"limits 0":       {func(g *graph.Graph) { g.Clamp(g.InputOf(x), 0, 0) }, schema.ErrGraph, []string{"[0, 0]"}},
		"limits crossed": {func(g *graph.Graph) { g.Clamp(g.InputOf(x), 2, 1) }, schema.ErrGraph, []string{"[2, 1]"}},
		"limits NaN":     {func(g *graph.Graph) { g.Clamp(g.InputOf(x), noNumber, 1) }, schema.ErrGraph, []string{"NaN"}},
		"limits of integers": {func(g *graph.Graph) { g.Clamp(g.Input(graph.Int32, 3), 0.5, 3) }, schema.ErrUnsupported,
			[]string{"0.5", "whole numbers"}},
		"limits of large integers": {func(g *graph.Graph) { g.Clamp(g.Input(graph.Int32, 3), 0, 1<<25) }, schema.ErrUnsupported,
			[]string{"2^24"}},
		"limits of others": {func(g *graph.Graph) { g.Exp(g.InputOf(x), graph.Limits(0, 1)) }, schema.ErrUnsupported,
			[]string{"Exp", "limit"}},
		"alpha of others": {withOp(graph.Unary{Func: graph.Abs, Alpha: 1}, x, x), schema.ErrGraph, []string{"Abs", "alpha", "1"}},
		"limits crossed in fields": {withOp(graph.Unary{Func: graph.Clamp, Range: graph.Range{Min: 2, Max: 1}}, x, x), schema.ErrGraph,
			[]string{"[2, 1]"}},
		"unknown": {withOp(graph.Unary{Func: "Cube"}, x, x), schema.ErrUnsupported, []string{"Cube"}},
		"integers": {func(g *graph.Graph) { g.Exp(g.Input(graph.Int32, 3)) }, schema.ErrUnsupported,
			[]string{"Exp", "int32", "fp32"}},
		"real numbers": {func(g *graph.Graph) { g.PopCount(g.InputOf(x)) },
			schema.ErrUnsupported, []string{"PopCount", "fp32", "int32"}},
		"other result": {func(g *graph.Graph) { g.Exp(g.InputOf(x), graph.As(graph.Float16)) }, schema.ErrUnsupported,
			[]string{"Exp", "fp16"}},
		"two operands": {func(g *graph.Graph) {
			withOp(graph.Unary{Func: graph.Exp}, x, x)(g)
			g.Nodes[0].Inputs = []graph.ID{0, 0}
		}, schema.ErrGraph, []string{"1", "2"}},
		"other shape": {withOp(graph.Unary{Func: graph.Exp}, x, fp32(4)), schema.ErrShape, []string{"[4]", "[3]"}},
		"scale": {func(g *graph.Graph) { g.Abs(g.InputOf(of8(graph.QInt8, 1e19, 0, 3))) },
			schema.ErrUnsupported, []string{"1e+19", "2^60"}},
		"result's scale": {func(g *graph.Graph) {
			g.Abs(g.InputOf(of8(graph.QInt8, 1, 0, 3)), graph.Quantized(graph.QInt8, 1e-19, 0))
		},
			schema.ErrUnsupported, []string{"1e-19", "2^-60"}},
		"result without scale": {func(g *graph.Graph) { g.Convert(g.InputOf(x), graph.As(graph.QInt8)) },
			schema.ErrGraph, []string{"scale"}},
		"rows of more dimensions": {func(g *graph.Graph) { g.Convert(g.InputOf(x), graph.Dynamic(2)) }, schema.ErrGraph,
			[]string{"2 inner"}},
		"rows of no dimension": {func(g *graph.Graph) { g.Convert(g.InputOf(x), graph.Dynamic(0)) },
			schema.ErrGraph, []string{"0 inner"}},
		"integers at run time": {func(g *graph.Graph) { g.Convert(g.InputOf(of8(graph.QInt8, 1, 0, 3)), graph.Dynamic(1)) },
			schema.ErrUnsupported, []string{"Convert", "qdint8"}},
	})
}

// TestLeakyReLURatios: XNNPACK has 8 bits above and 7 below the point for the factors of quantised elements.
func TestLeakyReLURatios(t *testing.T) {
	for _, c := range []struct {
		in, out, slope float32
		ok             bool
	}{
		{1, 1, 0.01, true}, {1, 256, 1, true}, {1, 256.1, 1, false}, {128, 1, 1, true}, {128.1, 1, 0.5, false}, {1, 1, 0.0039, false},
		{1, 1, 0x1p-8, true}, {1, 1, -0x1p-8, true}, {1, 1, 128, true}, {1, 1, 128.1, false}, {1, 1, -127.99, true},
		{1, 1, -128, false},
		{1, 1, 0, false}, {2, 1, 0.0039, true}, {1, 2, 0.0039, false},
	} {
		g := graph.New()
		g.LeakyReLU(g.InputOf(of8(graph.QInt8, c.in, 0, 3)), c.slope, graph.Quantized(graph.QInt8, c.out, 0))
		if err := g.Check(); c.ok {
			require.NoError(t, err, c)
		} else {
			require.ErrorIs(t, err, schema.ErrUnsupported, c)
			require.ErrorContains(t, err, "LeakyReLU", c)
		}
	}
}

// TestUnaryDefaults: a result has its operand's type, scale and shape.
func TestUnaryDefaults(t *testing.T) {
	g := graph.New()
	x := of8(graph.QUInt8, 0.5, 3, 2, 3)
	y := g.Tanh(g.InputOf(x))
	require.Equal(t, x, g.Values[y].Type)
	z := g.Tanh(y, graph.Quantized(graph.QUInt8, 1.0/128, 128))
	require.Equal(t, of8(graph.QUInt8, 1.0/128, 128, 2, 3), g.Values[z].Type)
	require.Equal(t, graph.Type{DType: graph.QDInt8, Shape: graph.Shape{2, 3}, Quant: &graph.Quant{Inner: 1}},
		g.Values[g.Convert(g.Convert(z, graph.As(graph.Float32)), graph.Dynamic(1))].Type)
	require.NoError(t, g.Check())
	r := g.ReLU(g.Input(graph.Float32, 1))
	require.NotZero(t, r)
	require.Equal(t, graph.Unary{Func: graph.Clamp, Range: graph.Range{Max: infinite}}, g.Nodes[len(g.Nodes)-1].Op)
}
