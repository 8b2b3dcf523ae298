package xnn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// convCase is a convolution of n images of h by w pixels.
type convCase struct {
	n, h, w          int
	groups           int
	in, out          int // channels of a group
	kernel           [2]int
	padding          graph.Padding
	same             bool
	stride, dilation [2]int
	bias             bool
	lo, hi           float32 // limits; 0, 0 for none
}

func (c convCase) String() string {
	s := fmt.Sprintf("%dx%dx%dx%d*%d to %d, kernel %dx%d", c.n, c.h, c.w, c.groups, c.in, c.out, c.kernel[0], c.kernel[1])
	if c.padding != (graph.Padding{}) {
		s += fmt.Sprintf(", padding %v", c.padding)
	}
	if c.same {
		s += ", SAME"
	}
	return s + fmt.Sprintf(", stride %v, dilation %v, bias %t, limits %g %g", c.stride, c.dilation, c.bias, c.lo, c.hi)
}

// orOne is v, or 1 where it is 0.
func orOne(v [2]int) [2]int { return [2]int{max(1, v[0]), max(1, v[1])} }

// padAlong is the padding along one dimension; TensorFlow's own formula where it is SAME.
func padAlong(same bool, before, behind, n, kernel, stride, dilation int) (int, int) {
	if !same {
		return before, behind
	}
	extent := (kernel-1)*dilation + 1
	total := max(extent-stride, 0)
	if n%stride != 0 {
		total = max(extent-n%stride, 0)
	}
	return total / 2, total - total/2
}

// convolve is a convolution by its definition. The weight of output channel o at row y, column x of the kernel for the i-th
// input channel of its group is weight(o, y, x, i).
func (c convCase) convolve(image, bias []float64, weight func(o, y, x, i int) float64) (Shape, []float64) {
	s, d := orOne(c.stride), orOne(c.dilation)
	top, bottom := padAlong(c.same, c.padding.Top, c.padding.Bottom, c.h, c.kernel[0], s[0], d[0])
	left, right := padAlong(c.same, c.padding.Left, c.padding.Right, c.w, c.kernel[1], s[1], d[1])
	oh := (c.h+top+bottom-(c.kernel[0]-1)*d[0]-1)/s[0] + 1
	ow := (c.w+left+right-(c.kernel[1]-1)*d[1]-1)/s[1] + 1
	channels, outputs := c.groups*c.in, c.groups*c.out
	var result []float64
	for n := range c.n {
		for y := range oh {
			for x := range ow {
				for o := range outputs {
					sum := 0.0
					if bias != nil {
						sum = bias[o]
					}
					for ky := range c.kernel[0] {
						for kx := range c.kernel[1] {
							iy, ix := y*s[0]-top+ky*d[0], x*s[1]-left+kx*d[1]
							if iy < 0 || iy >= c.h || ix < 0 || ix >= c.w {
								continue
							}
							for i := range c.in {
								sum += image[((n*c.h+iy)*c.w+ix)*channels+o/c.out*c.in+i] * weight(o, ky, kx, i)
							}
						}
					}
					result = append(result, sum)
				}
			}
		}
	}
	return Shape{c.n, oh, ow, outputs}, clampAll(result, c.limits())
}

func (c convCase) limits() graph.Range { return graph.Range{Min: c.lo, Max: c.hi} }

// opts are the limits, and the type of a quantised result.
func (c convCase) opts(out graph.Type) []graph.Option {
	var opts []graph.Option
	switch {
	case out.Quant != nil:
		opts = append(opts, graph.Quantized(out.DType, out.Quant.Scale, out.Quant.ZeroPoint))
	default:
		opts = append(opts, graph.As(out.DType))
	}
	if c.lo != 0 || c.hi != 0 {
		opts = append(opts, graph.Limits(c.lo, c.hi))
	}
	return opts
}

// filterTypes are the element types of image, filter, bias and result.
type filterTypes struct{ x, filter, bias, out graph.DType }

var convTypes = []filterTypes{
	{graph.Float32, graph.Float32, graph.Float32, graph.Float32},
	{graph.Float16, graph.Float32, graph.Float32, graph.Float16},
	{graph.QInt8, graph.QInt8, graph.QInt32, graph.QInt8},
	{graph.QInt8, graph.QCInt8, graph.QCInt32, graph.QInt8},
	{graph.QUInt8, graph.QUInt8, graph.QInt32, graph.QUInt8},
}

// operands are random ones of a convolution whose filter has this shape, its output channels along axis.
func (f filterTypes) operands(r *rand.Rand, image, filter Shape, axis int) (x, w, bias numeric, out graph.Type) {
	outputs := filter[axis]
	var xt, wt, bt graph.Type
	switch f.x {
	case graph.QInt8:
		xt, out = quantized(f.x, 1.0/32, -5, image...), quantized(f.out, 1.0/16, 7)
	case graph.QUInt8:
		xt, out = quantized(f.x, 1.0/32, 121, image...), quantized(f.out, 1.0/16, 130)
	default:
		xt, out = plain(f.x, image...), plain(f.out)
	}
	switch f.filter {
	case graph.QInt8:
		wt, bt = quantized(f.filter, 1.0/512, 0, filter...), quantized(f.bias, 1.0/512/32, 0, outputs)
	case graph.QUInt8:
		wt, bt = quantized(f.filter, 1.0/512, 119, filter...), quantized(f.bias, 1.0/512/32, 0, outputs)
	case graph.QCInt8:
		wt = graph.Type{DType: f.filter, Shape: filter, Quant: channelScales(outputs, axis, 1.0/512)}
		bt = graph.Type{DType: f.bias, Shape: Shape{outputs}, Quant: channelScales(outputs, 0, 1.0/512/32)}
	default:
		wt, bt = plain(f.filter, filter...), plain(f.bias, outputs)
	}
	return randomNumeric(r, xt, 8), randomNumeric(r, wt, 2), randomNumeric(r, bt, 8), out
}

var convCases = []convCase{
	{n: 1, h: 5, w: 6, groups: 1, in: 3, out: 4, kernel: [2]int{1, 1}, bias: true},
	{n: 3, h: 5, w: 7, groups: 1, in: 17, out: 33, kernel: [2]int{1, 1}},
	{n: 2, h: 6, w: 7, groups: 1, in: 5, out: 6, kernel: [2]int{1, 1}, stride: [2]int{2, 2}, same: true, bias: true},
	{n: 1, h: 6, w: 7, groups: 1, in: 4, out: 6, kernel: [2]int{1, 1}, padding: graph.Padding{Top: 1, Right: 2}, bias: true, lo: -1,
		hi: 1},
	{n: 2, h: 7, w: 5, groups: 3, in: 2, out: 5, kernel: [2]int{1, 1}, bias: true},
	{n: 1, h: 1, w: 1, groups: 1, in: 1, out: 1, kernel: [2]int{1, 1}},
	{n: 1, h: 8, w: 9, groups: 1, in: 3, out: 8, kernel: [2]int{3, 3}, same: true, bias: true, lo: 0, hi: 6},
	{n: 2, h: 9, w: 8, groups: 1, in: 8, out: 16, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, bias: true},
	{n: 1, h: 9, w: 8, groups: 1, in: 3, out: 5, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, same: true},
	{n: 1, h: 8, w: 8, groups: 1, in: 3, out: 5, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, same: true, bias: true},
	{n: 1, h: 7, w: 11, groups: 1, in: 1, out: 2, kernel: [2]int{5, 5}, padding: graph.Padding{Top: 0, Right: 1, Bottom: 4, Left: 2},
		bias: true},
	{n: 2, h: 7, w: 6, groups: 1, in: 6, out: 7, kernel: [2]int{2, 3}, padding: graph.Padding{Bottom: 1, Left: 1},
		stride: [2]int{1, 3}, bias: true},
	{n: 1, h: 10, w: 12, groups: 1, in: 3, out: 4, kernel: [2]int{3, 2}, dilation: [2]int{2, 3}, bias: true},
	{n: 1, h: 9, w: 9, groups: 1, in: 3, out: 4, kernel: [2]int{3, 3}, dilation: [2]int{2, 2}, same: true, bias: true},
	{n: 1, h: 10, w: 9, groups: 1, in: 3, out: 4, kernel: [2]int{3, 3}, dilation: [2]int{2, 1}, stride: [2]int{2, 2}, same: true},
	{n: 2, h: 6, w: 6, groups: 2, in: 3, out: 5, kernel: [2]int{3, 3}, padding: graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1},
		bias: true},
	{n: 3, h: 5, w: 4, groups: 4, in: 2, out: 1, kernel: [2]int{2, 2}, stride: [2]int{2, 1}},
	{n: 1, h: 6, w: 6, groups: 5, in: 1, out: 1, kernel: [2]int{3, 3}, same: true, bias: true},
	{n: 1, h: 6, w: 6, groups: 5, in: 1, out: 3, kernel: [2]int{3, 3}, same: true, bias: true},
	{n: 2, h: 4, w: 5, groups: 19, in: 1, out: 1, kernel: [2]int{1, 1}, bias: true},
	{n: 1, h: 9, w: 9, groups: 3, in: 1, out: 1, kernel: [2]int{7, 7}, same: true, bias: true},
	{n: 1, h: 3, w: 3, groups: 1, in: 4, out: 9, kernel: [2]int{3, 3}, bias: true},
	// Strides that pass over pixels: padding that XNNPACK would make negative.
	{n: 1, h: 8, w: 7, groups: 1, in: 2, out: 3, kernel: [2]int{2, 2}, stride: [2]int{3, 3}, same: true, bias: true},
	{n: 1, h: 8, w: 8, groups: 1, in: 2, out: 3, kernel: [2]int{1, 3}, stride: [2]int{2, 2}, same: true, bias: true},
	{n: 1, h: 11, w: 9, groups: 1, in: 2, out: 3, kernel: [2]int{3, 2}, stride: [2]int{4, 5}, same: true},
	{n: 2, h: 13, w: 17, groups: 1, in: 16, out: 24, kernel: [2]int{3, 3}, same: true, bias: true, lo: 0, hi: 3},
}

func TestConv2D(t *testing.T) {
	nothingHeld(t)
	for i, c := range convCases {
		for j, f := range convTypes {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			x, w, b, out := f.operands(r, Shape{c.n, c.h, c.w, c.groups * c.in},
				Shape{c.groups * c.out, c.kernel[0], c.kernel[1], c.in}, 0)
			g := graph.New()
			bias, biases := graph.None, []float64(nil)
			if c.bias {
				bias, biases = b.constant(g), b.real
			}
			y := g.Conv2D(g.InputOf(x.typ), w.constant(g), bias, graph.Conv2D{
				Padding: c.padding, SamePadding: c.same, Stride: c.stride, Dilation: c.dilation, Groups: c.groups,
			}, c.opts(out)...)
			g.Output(y)
			shape, want := c.convolve(x.real, biases, func(o, y, x, i int) float64 {
				return w.real[((o*c.kernel[0]+y)*c.kernel[1]+x)*c.in+i]
			})
			out.Shape = shape
			checkOutput(t, g, out, want, fmt.Sprint(f, " ", c), x)
		}
	}
}

// checkOutput runs a graph with one output, whole and shared among threads, and compares what it gives.
func checkOutput(t *testing.T, g *graph.Graph, out graph.Type, want []float64, what string, inputs ...numeric) {
	t.Helper()
	m, err := Compile(g)
	require.NoError(t, err, what)
	defer m.Close()
	require.Equal(t, out, m.Outputs()[0], what)
	for _, threads := range []int{1, 2} {
		s, err := m.NewSession(WithThreads(threads), withCache(1))
		require.NoError(t, err, what)
		require.Equal(t, threads, s.Threads(), what)
		requireNumeric(t, out, runNumeric(t, s, inputs...)[0], want, what)
		require.NoError(t, s.Close())
	}
}
