package xnn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestPad puts elements around tensors of all ranks, on every type; of a quantised one the value is rounded to its scale.
func TestPad(t *testing.T) {
	nothingHeld(t)
	r := rand.New(rand.NewPCG(10, 10))
	boxes := 40
	if instrumented {
		boxes = 5
	}
	for rank := range 7 {
		for k := range boxes {
			shape, pre, post := make(Shape, rank), make([]int, rank), make([]int, rank)
			for i := range rank {
				shape[i], pre[i], post[i] = 1+r.IntN(4), r.IntN(3), r.IntN(3)
			}
			value := []float32{0, -2.5, 3, inf, -1000}[k%5]
			for _, typ := range typesOf("Pad", shape...) {
				want := float64(value)
				if typ.Quant != nil {
					lo, hi := bounds(typ.DType)
					want = min(max(want, 0.5*(lo-7)), 0.5*(hi-7))
				}
				g := graph.New()
				g.Output(g.Pad(g.InputOf(typ), pre, post, value))
				moved(t, g, want, func(index []int) int {
					from := make([]int, rank)
					for i := range rank {
						from[i] = index[i] - pre[i]
					}
					return offsetOf(shape, from)
				})
			}
		}
	}
}

// TestPadRows: where channels alone are padded, the kernel takes many rows at once, on each of several threads.
func TestPadRows(t *testing.T) {
	nothingHeld(t)
	const images, height, width, channels, pre, post = 2, 211, 307, 5, 2, 1 // rows that no number of threads divides
	x := make([]float32, images*height*width*channels)
	var want []float32
	for i := range x {
		if x[i] = float32(i%8191) + 1; i%channels == 0 {
			want = append(want, 0, 0)
		}
		if want = append(want, x[i]); i%channels == channels-1 {
			want = append(want, 0)
		}
	}
	for _, threads := range []int{1, 2, 3} {
		g := graph.New()
		in := g.Input(Float32, images, height, width, channels)
		g.Output(g.Pad(in, []int{0, 0, 0, pre}, []int{0, 0, 0, post}, 0))
		s := opened(t, compiled(t, g), WithThreads(threads))
		require.Equal(t, threads, s.Threads())
		require.Equal(t, want, run(t, s, x)[0])
	}
}

// TestPadRounds to the scale of a quantised tensor, whose zero point a padding of 0 becomes.
func TestPadRounds(t *testing.T) {
	nothingHeld(t)
	for value, want := range map[float32]int8{0: -5, 0.25: -4, 1e9: 127, -0.6: -7} {
		g := graph.New()
		g.Output(g.Pad(g.InputOf(quantized(QInt8, 0.25, -5, 1)), []int{1}, []int{2}, value))
		y, err := compiled(t, g).Run(t.Context(), NewTensor([]int8{99}, 1))
		require.NoError(t, err)
		require.Equal(t, []int8{want, 99, want, want}, Data[int8](y[0]))
	}
}

// TestPadIntoConvolution: XNNPACK makes a padding with zeros part of the convolution after it, and no other.
func TestPadIntoConvolution(t *testing.T) {
	nothingHeld(t)
	for _, value := range []float32{0, negativeZero, 1} {
		g := graph.New()
		x := g.Pad(g.Input(Float32, 1, 2, 2, 1), []int{0, 1, 1, 0}, []int{0, 0, 1, 0}, value)
		g.Output(g.Conv2D(x, g.Constant([]float32{1, 10, 100, 1000}, 1, 2, 2, 1), graph.None, graph.Conv2D{}))
		//  p p p p
		//  p 1 2 p
		//  p 3 4 p
		p := value + 0
		require.Equal(t, [][]float32{{p + 10*p + 100*p + 1000, p + 10*p + 100 + 2000, p + 10*p + 200 + 1000*p,
			p + 10 + 100*p + 3000, 1 + 20 + 300 + 4000, 2 + 10*p + 400 + 1000*p}},
			run(t, opened(t, compiled(t, g)), []float32{1, 2, 3, 4}))
	}
}
