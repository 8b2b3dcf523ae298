// Package nets builds networks of realistic sizes, for tests and the benchmark.
package nets

import (
	"math"
	"math/rand/v2"

	"github.com/xnngo/xnngo/xnn/graph"
)

// Encoder is a transformer encoder of so many layers, from [tokens, width] to the same shape, with random weights, as they are
// when training begins: normally distributed, with the variance that keeps that of the values.
func Encoder(layers, tokens, width, heads int) *graph.Graph {
	g, r := graph.New(), rand.New(rand.NewPCG(1, 2))
	constant := func(scale float64, dims ...int) graph.ID {
		data := make([]float32, graph.Shape(dims).Elements())
		for i := range data {
			data[i] = float32(scale * r.NormFloat64())
		}
		return g.Constant(data, dims...)
	}
	dense := func(x graph.ID, in, out int) graph.ID {
		return g.FullyConnected(x, constant(1/math.Sqrt(float64(in)), out, in), constant(0.02, out))
	}
	norm := func(x graph.ID) graph.ID {
		x = g.Subtract(x, g.ReduceMean(x, []int{1}, true))
		variance := g.Add(g.ReduceMean(g.Square(x), []int{1}, true), g.Constant([]float32{1e-5}))
		return g.Multiply(x, g.ReciprocalSquareRoot(variance))
	}
	split := func(x graph.ID) graph.ID { return g.Transpose(g.Reshape(x, 0, heads, width/heads), 1, 0, 2) }
	x := g.Input(graph.Float32, tokens, width)
	for range layers {
		y := norm(x)
		q, k, v := split(dense(y, width, width)), split(dense(y, width, width)), split(dense(y, width, width))
		scale := g.Constant([]float32{1 / float32(math.Sqrt(float64(width/heads)))})
		weights := g.Softmax(g.Multiply(g.BatchMatMulTransposed(q, k), scale))
		x = g.Add(x, dense(g.Reshape(g.Transpose(g.BatchMatMul(weights, v), 1, 0, 2), 0, width), width, width))
		x = g.Add(x, dense(g.GELU(dense(norm(x), width, 4*width)), 4*width, width))
	}
	g.Output(norm(x))
	return g
}

// Normal are normally distributed numbers, the same in every run.
func Normal(n int) []float32 {
	data, r := make([]float32, n), rand.New(rand.NewPCG(3, 4))
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	return data
}
