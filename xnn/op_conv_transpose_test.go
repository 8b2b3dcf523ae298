package xnn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/xnngo/xnngo/xnn/graph"
)

// transposeCase is a transposed convolution of images.
type transposeCase struct {
	convCase
	adjustment [2]int
}

// spread is a transposed convolution by its definition: each pixel adds its multiple of the kernel to the result.
func (c transposeCase) spread(image, bias []float64, weight func(o, y, x, i int) float64) (Shape, []float64) {
	s, d := orOne(c.stride), orOne(c.dilation)
	oh := s[0]*(c.h-1) + (c.kernel[0]-1)*d[0] + 1 + c.adjustment[0] - c.padding.Top - c.padding.Bottom
	ow := s[1]*(c.w-1) + (c.kernel[1]-1)*d[1] + 1 + c.adjustment[1] - c.padding.Left - c.padding.Right
	channels, outputs := c.groups*c.in, c.groups*c.out
	result := make([]float64, c.n*oh*ow*outputs)
	for i := range result {
		if bias != nil {
			result[i] = bias[i%outputs]
		}
	}
	for n := range c.n {
		for y := range c.h {
			for x := range c.w {
				for i := range channels {
					v := image[((n*c.h+y)*c.w+x)*channels+i]
					for ky := range c.kernel[0] {
						for kx := range c.kernel[1] {
							oy, ox := y*s[0]+ky*d[0]-c.padding.Top, x*s[1]+kx*d[1]-c.padding.Left
							if oy < 0 || oy >= oh || ox < 0 || ox >= ow {
								continue
							}
							for k := range c.out {
								o := i/c.in*c.out + k
								result[((n*oh+oy)*ow+ox)*outputs+o] += v * weight(o, ky, kx, i%c.in)
							}
						}
					}
				}
			}
		}
	}
	return Shape{c.n, oh, ow, outputs}, clampAll(result, c.limits())
}

var transposeCases = []transposeCase{
	{convCase{n: 1, h: 4, w: 5, groups: 1, in: 3, out: 4, kernel: [2]int{1, 1}, bias: true}, [2]int{}},
	{convCase{n: 2, h: 4, w: 5, groups: 1, in: 3, out: 5, kernel: [2]int{3, 3}, bias: true, lo: -1, hi: 1}, [2]int{}},
	{convCase{n: 1, h: 4, w: 5, groups: 1, in: 17, out: 33, kernel: [2]int{2, 2}, stride: [2]int{2, 2}, bias: true}, [2]int{}},
	{convCase{n: 2, h: 3, w: 4, groups: 1, in: 5, out: 6, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, bias: true}, [2]int{1, 1}},
	{convCase{n: 1, h: 3, w: 4, groups: 1, in: 5, out: 6, kernel: [2]int{4, 4}, stride: [2]int{2, 2},
		padding: graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}}, [2]int{}},
	{convCase{n: 1, h: 3, w: 4, groups: 1, in: 2, out: 3, kernel: [2]int{3, 5}, stride: [2]int{2, 3},
		padding: graph.Padding{Top: 1, Left: 2}, bias: true}, [2]int{1, 2}},
	{convCase{n: 1, h: 3, w: 3, groups: 1, in: 2, out: 3, kernel: [2]int{2, 2}, stride: [2]int{3, 4}, bias: true}, [2]int{2, 0}},
	{convCase{n: 1, h: 3, w: 3, groups: 1, in: 2, out: 3, kernel: [2]int{3, 3}, dilation: [2]int{2, 3}, bias: true}, [2]int{}},
	{convCase{n: 1, h: 3, w: 3, groups: 1, in: 2, out: 3, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, dilation: [2]int{2, 1},
		padding: graph.Padding{Top: 2, Right: 1}, bias: true}, [2]int{1, 0}},
	{convCase{n: 2, h: 3, w: 4, groups: 3, in: 2, out: 5, kernel: [2]int{3, 2}, stride: [2]int{2, 2}, bias: true}, [2]int{}},
	{convCase{n: 1, h: 3, w: 4, groups: 2, in: 3, out: 2, kernel: [2]int{3, 3}, bias: true}, [2]int{}},
	{convCase{n: 1, h: 3, w: 4, groups: 2, in: 3, out: 2, kernel: [2]int{2, 2}, stride: [2]int{2, 2}}, [2]int{}},
	{convCase{n: 3, h: 2, w: 3, groups: 4, in: 1, out: 1, kernel: [2]int{4, 4}, stride: [2]int{2, 2}, bias: true}, [2]int{}},
	{convCase{n: 1, h: 1, w: 1, groups: 1, in: 8, out: 4, kernel: [2]int{4, 4}, bias: true}, [2]int{}},
	// The fewest rows that XNNPACK can cut by the stride.
	{convCase{n: 1, h: 1, w: 2, groups: 1, in: 2, out: 3, kernel: [2]int{3, 3}, stride: [2]int{3, 3},
		padding: graph.Padding{Bottom: 1, Left: 4}, bias: true}, [2]int{}},
}

func TestConvTranspose2D(t *testing.T) {
	nothingHeld(t)
	for i, c := range transposeCases {
		for j, f := range convTypes {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			x, w, b, out := f.operands(r, Shape{c.n, c.h, c.w, c.groups * c.in},
				Shape{c.groups * c.out, c.kernel[0], c.kernel[1], c.in}, 0)
			g := graph.New()
			bias, biases := graph.None, []float64(nil)
			if c.bias {
				bias, biases = b.constant(g), b.real
			}
			g.Output(g.ConvTranspose2D(g.InputOf(x.typ), w.constant(g), bias, graph.ConvTranspose2D{
				Padding: c.padding, Stride: c.stride, Dilation: c.dilation, Adjustment: c.adjustment, Groups: c.groups,
			}, c.opts(out)...))
			shape, want := c.spread(x.real, biases, func(o, y, x, i int) float64 {
				return w.real[((o*c.kernel[0]+y)*c.kernel[1]+x)*c.in+i]
			})
			out.Shape = shape
			checkOutput(t, g, out, want, fmt.Sprint(f, " ", c), x)
		}
	}
}
