// Convnet builds a small network of inverted residual blocks, as in MobileNetV2, with random weights, and times it.
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

// net is a graph with random weights, the same in every run.
type net struct {
	*graph.Graph
	rand *rand.Rand
}

// weights is a constant of this shape for sums of fanIn products.
func (n *net) weights(fanIn int, dims ...int) graph.ID {
	data := make([]float32, xnn.Shape(dims).Elements())
	for i := range data {
		data[i] = float32(n.rand.NormFloat64() / math.Sqrt(float64(fanIn)))
	}
	return n.Constant(data, dims...)
}

// conv is a convolution of kernel by kernel pixels whose result is as large as x, or half of it with stride 2.
func (n *net) conv(x graph.ID, kernel, in, out, stride int, opts ...graph.Option) graph.ID {
	o := graph.Conv2D{SamePadding: true, Stride: [2]int{stride, stride}}
	return n.Conv2D(x, n.weights(kernel*kernel*in, out, kernel, kernel, in), n.weights(1, out), o, opts...)
}

// block widens x, mixes each channel's neighbours, and narrows the result again; where the shape stays, it adds to x.
func (n *net) block(x graph.ID, in, out, stride int) graph.ID {
	relu6, wide, spread := graph.Limits(0, 6), 6*in, graph.DepthwiseConv2D{SamePadding: true, Stride: [2]int{stride, stride}}
	y := n.conv(x, 1, in, wide, 1, relu6)
	y = n.DepthwiseConv2D(y, n.weights(9, 1, 3, 3, wide), n.weights(1, wide), spread, relu6)
	if y = n.conv(y, 1, wide, out, 1); in == out && stride == 1 {
		y = n.Add(x, y)
	}
	return y
}

func main() {
	n := net{graph.New(), rand.New(rand.NewPCG(1, 2))}
	x := n.conv(n.Input(xnn.Float32, 1, 96, 96, 3), 3, 3, 16, 2, graph.Limits(0, 6))
	for _, b := range [][3]int{{16, 16, 1}, {16, 24, 2}, {24, 24, 1}, {24, 32, 2}, {32, 32, 1}, {32, 64, 2}, {64, 64, 1}} {
		x = n.block(x, b[0], b[1], b[2])
	}
	x = n.ReduceMean(n.conv(x, 1, 64, 256, 1, graph.Limits(0, 6)), []int{1, 2}, false)
	n.Output(n.Softmax(n.FullyConnected(x, n.weights(256, 10, 256), n.weights(1, 10))))

	m, err := xnn.Compile(n.Graph)
	check(err)
	for _, batch := range []int{1, 8} {
		pictures := make([]float32, batch*96*96*3)
		for i := range pictures {
			pictures[i] = n.rand.Float32()
		}
		x := xnn.NewTensor(pictures, batch, 96, 96, 3)
		y, err := m.Run(context.Background(), x) // makes a session
		start := time.Now()
		for range 20 {
			y, err = m.Run(context.Background(), x)
			check(err)
		}
		fmt.Printf("batch of %d: %v a picture\n%.3f\n", batch, time.Since(start)/time.Duration(20*batch), xnn.Data[float32](y[0])[:10])
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
