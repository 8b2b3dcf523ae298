// Transformer builds an encoder block with random weights and times it on sequences of several lengths.
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"time"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

const width, heads = 256, 4

// block is a graph with random weights. Its values are [tokens, width].
type block struct {
	*graph.Graph
	rand *rand.Rand
}

// linear is x times random weights.
func (b *block) linear(x graph.ID, in, out int) graph.ID {
	data := make([]float32, in*out)
	for i := range data {
		data[i] = float32(b.rand.NormFloat64() / math.Sqrt(float64(in)))
	}
	return b.FullyConnected(x, b.Constant(data, out, in), graph.None)
}

// norm gives each token mean 0 and variance 1.
func (b *block) norm(x graph.ID) graph.ID {
	x = b.Subtract(x, b.ReduceMean(x, []int{1}, true))
	variance := b.Add(b.ReduceMean(b.Square(x), []int{1}, true), b.Constant([]float32{1e-5}))
	return b.Multiply(x, b.ReciprocalSquareRoot(variance))
}

// attention mixes the tokens.
func (b *block) attention(x graph.ID) graph.ID {
	split := func(x graph.ID) graph.ID { return b.Transpose(b.Reshape(x, 0, heads, width/heads), 1, 0, 2) }
	q, k, v := split(b.linear(x, width, width)), split(b.linear(x, width, width)), split(b.linear(x, width, width))
	weights := b.Softmax(b.Multiply(b.BatchMatMulTransposed(q, k), b.Constant([]float32{1 / float32(math.Sqrt(width/heads))})))
	return b.linear(b.Reshape(b.Transpose(b.BatchMatMul(weights, v), 1, 0, 2), 0, width), width, width)
}

func main() {
	b := block{graph.New(), rand.New(rand.NewPCG(1, 2))}
	x := b.Input(xnn.Float32, 1, width)
	x = b.Add(x, b.attention(b.norm(x)))
	x = b.Add(x, b.linear(b.GELU(b.linear(b.norm(x), width, 4*width)), 4*width, width))
	b.Output(b.norm(x))
	m, err := xnn.Compile(b.Graph)
	check(err)
	for _, tokens := range []int{1, 16, 128} {
		data := make([]float32, tokens*width)
		for i := range data {
			data[i] = float32(b.rand.NormFloat64())
		}
		x := xnn.NewTensor(data, tokens, width)
		y, err := m.Run(context.Background(), x) // makes a session
		start := time.Now()
		for range 20 {
			y, err = m.Run(context.Background(), x)
			check(err)
		}
		fmt.Printf("%3d tokens: %v a token, %.3f...\n", tokens, time.Since(start)/time.Duration(20*tokens), xnn.Data[float32](y[0])[:3])
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
