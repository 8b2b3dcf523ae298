package xnn

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// stepped are images of fp32 that quantisation at run time loses nothing of: in each, all numbers are multiples of a power of
// two, 255 of which lie between the least and the largest. Zero is not in the middle, so padding shows.
func stepped(r *rand.Rand, shape Shape) numeric {
	t := numeric{typ: plain(graph.Float32, shape...)}
	each := shape[1:].Elements()
	for n := range shape[0] {
		step, least := math.Ldexp(1, -6-n%3), -28-17*n
		for i := range each {
			v := least + r.IntN(256)
			switch i {
			case 0:
				v = least
			case each - 1:
				v = least + 255
			}
			t.bytes = binary.LittleEndian.AppendUint32(t.bytes, math.Float32bits(float32(float64(v)*step)))
		}
	}
	t.real, _ = decodeNumeric(t.typ, t.bytes)
	return t
}

var dynamicCases = []transposeCase{
	{convCase{n: 1, h: 5, w: 6, groups: 1, in: 3, out: 4, kernel: [2]int{1, 1}, bias: true}, [2]int{}},
	{convCase{n: 3, h: 5, w: 6, groups: 1, in: 7, out: 17, kernel: [2]int{3, 3}, bias: true,
		padding: graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}, lo: -1, hi: 1}, [2]int{}},
	{convCase{n: 2, h: 7, w: 6, groups: 1, in: 4, out: 5, kernel: [2]int{3, 2}, stride: [2]int{2, 2}}, [2]int{}},
	{convCase{n: 2, h: 7, w: 8, groups: 1, in: 3, out: 5, kernel: [2]int{3, 3}, dilation: [2]int{2, 2}, bias: true}, [2]int{}},
	{convCase{n: 2, h: 6, w: 5, groups: 3, in: 2, out: 4, kernel: [2]int{2, 2}, padding: graph.Padding{Bottom: 1, Left: 1},
		bias: true}, [2]int{}},
	{convCase{n: 1, h: 6, w: 5, groups: 2, in: 3, out: 1, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, padding: graph.Padding{Top: 1},
		bias: true}, [2]int{1, 1}},
	{convCase{n: 2, h: 4, w: 4, groups: 6, in: 1, out: 1, kernel: [2]int{3, 3},
		padding: graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}, bias: true}, [2]int{}},
}

// TestConvDynamic: images are quantised at run time, each with a scale and zero point of its own.
func TestConvDynamic(t *testing.T) {
	nothingHeld(t)
	for i, c := range dynamicCases {
		r := rand.New(rand.NewPCG(uint64(i), 9))
		x := stepped(r, Shape{c.n, c.h, c.w, c.groups * c.in})
		outputs := c.groups * c.out
		filter := Shape{outputs, c.kernel[0], c.kernel[1], c.in}
		w := randomNumeric(r, graph.Type{DType: graph.QCInt8, Shape: filter, Quant: channelScales(outputs, 0, 1.0/512)}, 0)
		b := randomNumeric(r, plain(graph.Float32, outputs), 8)
		weight := func(o, y, x, i int) float64 { return w.real[((o*c.kernel[0]+y)*c.kernel[1]+x)*c.in+i] }
		for _, typ := range []graph.DType{graph.Float32, graph.Float16} {
			g := graph.New()
			bias, biases := graph.None, []float64(nil)
			if c.bias {
				bias, biases = b.constant(g), b.real
			}
			out := plain(typ)
			g.Output(g.Conv2D(g.Convert(g.InputOf(x.typ), graph.Dynamic(3)), w.constant(g), bias, graph.Conv2D{
				Padding: c.padding, Stride: c.stride, Dilation: c.dilation, Groups: c.groups,
			}, c.opts(out)...))
			var want []float64
			out.Shape, want = c.convolve(x.real, biases, weight)
			checkOutput(t, g, out, want, fmt.Sprint(typ, " ", c), x)
		}
		g := graph.New()
		bias, biases := graph.None, []float64(nil)
		if c.bias {
			bias, biases = b.constant(g), b.real
		}
		out := plain(graph.Float32)
		g.Output(g.ConvTranspose2D(g.Convert(g.InputOf(x.typ), graph.Dynamic(3)), w.constant(g), bias, graph.ConvTranspose2D{
			Padding: c.padding, Stride: c.stride, Dilation: c.dilation, Adjustment: c.adjustment, Groups: c.groups,
		}, c.opts(out)...))
		var want []float64
		out.Shape, want = c.spread(x.real, biases, weight)
		checkOutput(t, g, out, want, fmt.Sprint("transposed ", c), x)
	}
}

// TestConvDynamicReshape changes the number of images, and their size, of convolutions that pad each with its own zero.
func TestConvDynamicReshape(t *testing.T) {
	nothingHeld(t)
	c := dynamicCases[1]
	r := rand.New(rand.NewPCG(1, 2))
	outputs := c.groups * c.out
	w := randomNumeric(r, graph.Type{DType: graph.QCInt8, Shape: Shape{outputs, 3, 3, c.in},
		Quant: channelScales(outputs, 0, 1.0/512)}, 0)
	weight := func(o, y, x, i int) float64 { return w.real[((o*3+y)*3+x)*c.in+i] }
	c.lo, c.hi = 0, 0
	for _, transposed := range []bool{false, true} {
		g := graph.New()
		x := g.Convert(g.Input(graph.Float32, 1, 5, 6, 7), graph.Dynamic(3))
		if transposed {
			g.Output(g.ConvTranspose2D(x, w.constant(g), graph.None, graph.ConvTranspose2D{Padding: c.padding}))
		} else {
			g.Output(g.Conv2D(x, w.constant(g), graph.None, graph.Conv2D{Padding: c.padding}))
		}
		s := opened(t, compiled(t, g))
		for _, shape := range []Shape{{1, 5, 6, 7}, {4, 5, 6, 7}, {2, 5, 6, 7}, {9, 5, 6, 7}, {3, 4, 6, 7}, {1, 4, 6, 7}, {0, 4, 6, 7},
			{5, 4, 6, 7}} {
			require.NoError(t, s.Reshape(shape))
			in := stepped(r, shape)
			c.n, c.h, c.w = shape[0], shape[1], shape[2]
			out, want := c.convolve(in.real, nil, weight)
			if transposed {
				out, want = c.spread(in.real, nil, weight)
			}
			require.Equal(t, out, s.Output(0).Shape())
			requireNumeric(t, plain(graph.Float32, out...), runNumeric(t, s, in)[0], want, fmt.Sprint(transposed, shape))
		}
	}
}
