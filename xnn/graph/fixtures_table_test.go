package graph_test

import (
	"encoding/binary"
	"math"

	"github.com/xnngo/xnngo/xnn/graph"
)

// numbers are n numbers, 0.5 1 2 -1 over and over.
func numbers(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = []float32{0.5, 1, 2, -1}[i%4]
	}
	return v
}

// count is n bytes, 1 to 100 over and over.
func count(n int) []byte {
	v := make([]byte, n)
	for i := range v {
		v[i] = byte(i%100 + 1)
	}
	return v
}

// little are numbers as bytes.
func little(v ...float32) []byte {
	var b []byte
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

func scaled(t graph.DType, scale float32, zeroPoint int, dims ...int) graph.Type {
	return graph.Type{DType: t, Shape: dims, Quant: &graph.Quant{Scale: scale, ZeroPoint: zeroPoint}}
}

var scales = []float32{0.5, 0.25, 0.125, 0.0625}

// handle sets the debug handle of the last node.
func handle(g *graph.Graph, n uint32) { g.Nodes[len(g.Nodes)-1].DebugHandle = n }

func init() {
	limits := graph.Limits(-1, 6)
	two := func(name string, dtype graph.DType, op func(g *graph.Graph) func(x, y graph.ID, opts ...graph.Option) graph.ID,
		opts ...graph.Option) {
		fixtureTable = append(fixtureTable, fixture{name: name, build: func(g *graph.Graph) {
			outs(g, op(g)(g.Input(dtype, 2, 3), g.Input(dtype, 3), opts...))
			handle(g, 7)
		}})
	}
	type binary = func(x, y graph.ID, opts ...graph.Option) graph.ID
	two("executorch/add", graph.Float32, func(g *graph.Graph) binary { return g.Add }, limits)
	two("executorch/div", graph.Float32, func(g *graph.Graph) binary { return g.Divide }, limits)
	two("executorch/multiply", graph.Float32, func(g *graph.Graph) binary { return g.Multiply }, limits)
	two("executorch/subtract", graph.Float32, func(g *graph.Graph) binary { return g.Subtract }, limits)
	two("executorch/minimum", graph.Float32, func(g *graph.Graph) binary { return g.Minimum })
	two("executorch/maximum", graph.Float32, func(g *graph.Graph) binary { return g.Maximum })
	two("ours/atan2", graph.Float32, func(g *graph.Graph) binary { return g.Atan2 })
	two("ours/bitwise_and", graph.Int32, func(g *graph.Graph) binary { return g.BitwiseAnd })
	two("ours/bitwise_or", graph.Int32, func(g *graph.Graph) binary { return g.BitwiseOr })
	two("ours/bitwise_xor", graph.Int32, func(g *graph.Graph) binary { return g.BitwiseXor })
	two("ours/copysign", graph.Float32, func(g *graph.Graph) binary { return g.Copysign })
	two("ours/modulus", graph.Float32, func(g *graph.Graph) binary { return g.Modulus })
	two("ours/pow", graph.Float32, func(g *graph.Graph) binary { return g.Pow })
	two("ours/shift_left", graph.Int32, func(g *graph.Graph) binary { return g.ShiftLeft })
	two("ours/shift_right_arithmetic", graph.Int32, func(g *graph.Graph) binary { return g.ShiftRightArithmetic })
	two("ours/shift_right_logical", graph.Int32, func(g *graph.Graph) binary { return g.ShiftRightLogical })
	two("ours/squared_difference", graph.Float32, func(g *graph.Graph) binary { return g.SquaredDifference })

	one := func(name string, dtype graph.DType, op func(g *graph.Graph) func(x graph.ID, opts ...graph.Option) graph.ID) {
		fixtureTable = append(fixtureTable, fixture{name: name, build: func(g *graph.Graph) {
			outs(g, op(g)(g.Input(dtype, 2, 3)))
			handle(g, 9)
		}})
	}
	type unary = func(x graph.ID, opts ...graph.Option) graph.ID
	one("executorch/sigmoid", graph.Float32, func(g *graph.Graph) unary { return g.Sigmoid })
	one("executorch/floor", graph.Float32, func(g *graph.Graph) unary { return g.Floor })
	one("executorch/square_root", graph.Float32, func(g *graph.Graph) unary { return g.SquareRoot })
	one("executorch/reciprocal_square_root", graph.Float32, func(g *graph.Graph) unary { return g.ReciprocalSquareRoot })
	one("executorch/ceiling", graph.Float32, func(g *graph.Graph) unary { return g.Ceiling })
	one("executorch/gelu", graph.Float32, func(g *graph.Graph) unary { return g.GELU })
	one("executorch/hardswish", graph.Float32, func(g *graph.Graph) unary { return g.HardSwish })
	one("executorch/log", graph.Float32, func(g *graph.Graph) unary { return g.Log })
	one("executorch/negate", graph.Float32, func(g *graph.Graph) unary { return g.Negate })
	one("executorch/square", graph.Float32, func(g *graph.Graph) unary { return g.Square })
	one("executorch/abs", graph.Float32, func(g *graph.Graph) unary { return g.Abs })
	one("executorch/exp", graph.Float32, func(g *graph.Graph) unary { return g.Exp })
	one("executorch/tanh", graph.Float32, func(g *graph.Graph) unary { return g.Tanh })
	one("executorch/sin", graph.Float32, func(g *graph.Graph) unary { return g.Sine })
	one("executorch/cos", graph.Float32, func(g *graph.Graph) unary { return g.Cosine })
	one("executorch/softmax", graph.Float32, func(g *graph.Graph) unary { return g.Softmax })
	one("ours/bankers_rounding", graph.Float32, func(g *graph.Graph) unary { return g.BankersRounding })
	one("ours/bitwise_not", graph.Int32, func(g *graph.Graph) unary { return g.BitwiseNot })
	one("ours/count_leading_zeros", graph.Int32, func(g *graph.Graph) unary { return g.CountLeadingZeros })
	one("ours/cube_root", graph.Float32, func(g *graph.Graph) unary { return g.CubeRoot })
	one("ours/pop_count", graph.Int32, func(g *graph.Graph) unary { return g.PopCount })
	one("ours/sign", graph.Float32, func(g *graph.Graph) unary { return g.Sign })

	input := func(g *graph.Graph) graph.ID { return g.Input(graph.Float32, 2, 3) }
	fixtureTable = append(fixtureTable, []fixture{
		{name: "executorch/prelu", build: func(g *graph.Graph) {
			outs(g, g.PReLU(input(g), g.Constant(numbers(3), 3)))
		}},
		{name: "executorch/batch_matrix_multiply", build: func(g *graph.Graph) {
			outs(g, g.BatchMatMul(g.Input(graph.Float32, 2, 3, 4), g.Input(graph.Float32, 2, 4, 5)))
		}},
		{name: "executorch/batch_matrix_multiply_transposed", build: func(g *graph.Graph) {
			outs(g, g.BatchMatMulTransposed(g.Input(graph.Float32, 2, 3, 4), g.Input(graph.Float32, 1, 5, 4)))
		}},
		{name: "executorch/clamp", build: func(g *graph.Graph) {
			outs(g, g.Clamp(input(g), -1, 2))
			handle(g, 9)
		}},
		{name: "executorch/leaky_relu", build: func(g *graph.Graph) {
			outs(g, g.LeakyReLU(input(g), 0.25))
			handle(g, 9)
		}},
		{name: "executorch/elu", build: func(g *graph.Graph) {
			outs(g, g.ELU(input(g), 0.5))
			handle(g, 9)
		}},
		{name: "executorch/convert", build: func(g *graph.Graph) { outs(g, g.Convert(input(g), graph.As(graph.Float16))) }},
		{name: "executorch/convert_qint8", build: func(g *graph.Graph) {
			outs(g, g.Convert(input(g), graph.Quantized(graph.QInt8, 0.5, -3)))
		}},
		{name: "executorch/add_qint8", build: func(g *graph.Graph) {
			outs(g, g.Add(g.InputOf(scaled(graph.QInt8, 0.5, -3, 3)), g.InputOf(scaled(graph.QInt8, 0.25, 5, 3)),
				graph.Quantized(graph.QInt8, 0.125, 1)))
		}},
		{name: "executorch/add_quint8", build: func(g *graph.Graph) {
			outs(g, g.Add(g.InputOf(scaled(graph.QUInt8, 0.5, 200, 3)), g.InputOf(scaled(graph.QUInt8, 0.25, 255, 3)),
				graph.Quantized(graph.QUInt8, 0.125, 0)))
		}},
		{name: "executorch/add_int32", build: func(g *graph.Graph) {
			outs(g, g.Add(g.Input(graph.Int32, 3), g.Input(graph.Int32, 3)))
		}},
		{name: "executorch/foreign_order", foreign: true, build: func(g *graph.Graph) {
			g.Values = []graph.Value{{Type: graph.Type{DType: graph.Float32, Shape: graph.Shape{2, 3}}},
				{Type: graph.Type{DType: graph.Float32, Shape: graph.Shape{3}}},
				{Type: graph.Type{DType: graph.Float32, Shape: graph.Shape{2, 3}}}}
			g.Inputs, g.Outputs = []graph.ID{2, 1}, []graph.ID{0}
			g.Nodes = []graph.Node{{Op: graph.Binary{Func: graph.Subtract}, Inputs: []graph.ID{2, 1}, Outputs: []graph.ID{0}}}
		}},
		{name: "executorch/foreign_unlimited", foreign: true, build: func(g *graph.Graph) {
			outs(g, g.Abs(input(g)))
			handle(g, 9)
		}},
		{name: "ours/limits", build: func(g *graph.Graph) {
			outs(g, g.Maximum(input(g), g.Input(graph.Float32, 3), limits))
		}},
		{name: "ours/twice", build: func(g *graph.Graph) {
			x := input(g)
			y := g.Abs(x)
			outs(g, y, x, y)
			handle(g, 9)
		}},
	}...)
}
