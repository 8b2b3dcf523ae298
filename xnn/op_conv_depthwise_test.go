package xnn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/xnngo/xnngo/xnn/graph"
)

// The groups of a depthwise convolution are its channels, the outputs of a group its multiplier.
var depthwiseCases = []convCase{
	{n: 1, h: 6, w: 7, groups: 1, out: 1, kernel: [2]int{3, 3}, bias: true},
	{n: 2, h: 6, w: 7, groups: 3, out: 1, kernel: [2]int{3, 3}, same: true, bias: true, lo: 0, hi: 2},
	{n: 1, h: 9, w: 8, groups: 17, out: 1, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, same: true},
	{n: 1, h: 9, w: 8, groups: 33, out: 1, kernel: [2]int{5, 5}, stride: [2]int{2, 1},
		padding: graph.Padding{Top: 1, Right: 2, Bottom: 3}, bias: true},
	{n: 1, h: 5, w: 5, groups: 16, out: 1, kernel: [2]int{1, 1}, bias: true, lo: -1, hi: 1},
	{n: 2, h: 5, w: 5, groups: 7, out: 1, kernel: [2]int{1, 1}, stride: [2]int{2, 2}, bias: true},
	{n: 1, h: 7, w: 8, groups: 9, out: 1, kernel: [2]int{2, 2}, bias: true},
	{n: 1, h: 7, w: 8, groups: 9, out: 1, kernel: [2]int{2, 3}, same: true, bias: true},
	{n: 1, h: 8, w: 9, groups: 5, out: 1, kernel: [2]int{3, 1}, dilation: [2]int{2, 1}, bias: true},
	{n: 1, h: 9, w: 9, groups: 5, out: 1, kernel: [2]int{3, 3}, dilation: [2]int{2, 2}, same: true, bias: true},
	{n: 2, h: 9, w: 10, groups: 35, out: 1, kernel: [2]int{7, 7}, same: true, bias: true},
	{n: 1, h: 9, w: 10, groups: 4, out: 1, kernel: [2]int{4, 8}, padding: graph.Padding{Top: 2, Left: 3}, bias: true},
	{n: 1, h: 6, w: 6, groups: 3, out: 2, kernel: [2]int{3, 3}, same: true, bias: true},
	{n: 2, h: 6, w: 6, groups: 5, out: 3, kernel: [2]int{2, 2}, stride: [2]int{2, 2}, bias: true, lo: 0, hi: 2},
	{n: 1, h: 5, w: 6, groups: 4, out: 9, kernel: [2]int{1, 1}},
	{n: 1, h: 10, w: 9, groups: 6, out: 1, kernel: [2]int{3, 3}, stride: [2]int{4, 5}, same: true, bias: true},
	{n: 1, h: 8, w: 7, groups: 4, out: 1, kernel: [2]int{2, 1}, stride: [2]int{3, 2}, same: true, bias: true},
}

func TestDepthwiseConv2D(t *testing.T) {
	nothingHeld(t)
	for i, c := range depthwiseCases {
		c.in = 1
		outputs := c.groups * c.out
		for j, f := range convTypes {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			x, w, b, out := f.operands(r, Shape{c.n, c.h, c.w, c.groups}, Shape{1, c.kernel[0], c.kernel[1], outputs}, 3)
			g := graph.New()
			bias, biases := graph.None, []float64(nil)
			if c.bias {
				bias, biases = b.constant(g), b.real
			}
			g.Output(g.DepthwiseConv2D(g.InputOf(x.typ), w.constant(g), bias, graph.DepthwiseConv2D{
				Padding: c.padding, SamePadding: c.same, Stride: c.stride, Dilation: c.dilation,
			}, c.opts(out)...))
			shape, want := c.convolve(x.real, biases, func(o, y, x, _ int) float64 {
				return w.real[(y*c.kernel[1]+x)*outputs+o]
			})
			out.Shape = shape
			checkOutput(t, g, out, want, fmt.Sprint(f, " ", c), x)
		}
	}
}
