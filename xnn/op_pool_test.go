package xnn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// poolCase is pooling of n images of h by w pixels.
type poolCase struct {
	n, h, w, channels int
	kernel            [2]int
	padding           graph.Padding
	same              bool
	stride, dilation  [2]int
	lo, hi            float32 // limits; 0, 0 for none
}

func (c poolCase) String() string {
	return fmt.Sprintf("%dx%dx%dx%d, kernel %v, padding %v, SAME %t, stride %v, dilation %v, limits %g %g",
		c.n, c.h, c.w, c.channels, c.kernel, c.padding, c.same, c.stride, c.dilation, c.lo, c.hi)
}

func (c poolCase) op() graph.Pool2D {
	return graph.Pool2D{Kernel: c.kernel, Stride: c.stride, Dilation: c.dilation, Padding: c.padding, SamePadding: c.same,
		Range: graph.Range{Min: c.lo, Max: c.hi}}
}

// pool gives reduce the elements of each window that are in the image.
func (c poolCase) pool(image []float64, reduce func([]float64) float64) (Shape, []float64) {
	s, d := c.stride, orOne(c.dilation)
	for i := range s {
		if s[i] == 0 {
			s[i] = c.kernel[i]
		}
	}
	top, bottom := padAlong(c.same, c.padding.Top, c.padding.Bottom, c.h, c.kernel[0], s[0], d[0])
	left, right := padAlong(c.same, c.padding.Left, c.padding.Right, c.w, c.kernel[1], s[1], d[1])
	oh := (c.h+top+bottom-(c.kernel[0]-1)*d[0]-1)/s[0] + 1
	ow := (c.w+left+right-(c.kernel[1]-1)*d[1]-1)/s[1] + 1
	var result []float64
	for n := range c.n {
		for y := range oh {
			for x := range ow {
				for ch := range c.channels {
					var in []float64
					for ky := range c.kernel[0] {
						for kx := range c.kernel[1] {
							iy, ix := y*s[0]-top+ky*d[0], x*s[1]-left+kx*d[1]
							if iy >= 0 && iy < c.h && ix >= 0 && ix < c.w {
								in = append(in, image[((n*c.h+iy)*c.w+ix)*c.channels+ch])
							}
						}
					}
					result = append(result, reduce(in))
				}
			}
		}
	}
	return Shape{c.n, oh, ow, c.channels}, clampAll(result, graph.Range{Min: c.lo, Max: c.hi})
}

func averageOf(v []float64) float64 {
	sum := 0.0
	for _, f := range v {
		sum += f
	}
	return sum / float64(len(v))
}

func maximumOf(v []float64) float64 {
	most := math.Inf(-1)
	for _, f := range v {
		most = max(most, f)
	}
	return most
}

var poolCases = []poolCase{
	{n: 1, h: 4, w: 6, channels: 3, kernel: [2]int{2, 2}},
	{n: 2, h: 9, w: 8, channels: 17, kernel: [2]int{3, 3}, stride: [2]int{2, 2}, padding: graph.Padding{Top: 1, Right: 2, Left: 1},
		lo: -1, hi: 1},
	{n: 1, h: 7, w: 6, channels: 8, kernel: [2]int{3, 3}, stride: [2]int{1, 1}, same: true},
	{n: 1, h: 8, w: 7, channels: 5, kernel: [2]int{3, 2}, stride: [2]int{2, 2}, same: true},
	{n: 2, h: 5, w: 6, channels: 4, kernel: [2]int{1, 1}, stride: [2]int{1, 1}},
	{n: 2, h: 5, w: 6, channels: 35, kernel: [2]int{1, 1}, stride: [2]int{2, 3}, lo: 0, hi: 1},
	{n: 1, h: 6, w: 7, channels: 1, kernel: [2]int{1, 3}, stride: [2]int{1, 1}},
	{n: 1, h: 9, w: 10, channels: 9, kernel: [2]int{5, 5}, stride: [2]int{2, 1},
		padding: graph.Padding{Top: 2, Right: 2, Bottom: 2, Left: 2}},
	{n: 3, h: 7, w: 7, channels: 33, kernel: [2]int{7, 7}},
	{n: 1, h: 12, w: 11, channels: 3, kernel: [2]int{4, 5}, stride: [2]int{1, 2}, lo: 0, hi: 2},
	// Strides larger than the kernel.
	{n: 1, h: 9, w: 11, channels: 3, kernel: [2]int{1, 2}, stride: [2]int{3, 5}},
	{n: 2, h: 9, w: 10, channels: 6, kernel: [2]int{2, 2}, stride: [2]int{3, 4}, padding: graph.Padding{Top: 1, Left: 1, Right: 1},
		lo: -1, hi: 1},
	{n: 1, h: 10, w: 11, channels: 5, kernel: [2]int{2, 1}, stride: [2]int{4, 3}, same: true},
	{n: 1, h: 3, w: 2, channels: 2, kernel: [2]int{2, 2}, stride: [2]int{7, 9}},
	// Kernels larger than the image, with more padding below than rows in the result.
	{n: 1, h: 2, w: 5, channels: 3, kernel: [2]int{4, 3}, stride: [2]int{1, 1}, padding: graph.Padding{Bottom: 3}},
	{n: 2, h: 3, w: 2, channels: 4, kernel: [2]int{6, 5}, stride: [2]int{1, 1}, padding: graph.Padding{Top: 1, Right: 4, Bottom: 5}},
	{n: 1, h: 2, w: 3, channels: 4, kernel: [2]int{3, 5}, stride: [2]int{1, 2}, padding: graph.Padding{Bottom: 2, Left: 4}},
	{n: 1, h: 2, w: 2, channels: 2, kernel: [2]int{5, 5}, stride: [2]int{1, 1}, same: true},
	{n: 1, h: 9, w: 4, channels: 4, kernel: [2]int{101, 3}, stride: [2]int{2, 2}, same: true},
	{n: 1, h: 4, w: 7, channels: 3, kernel: [2]int{2, 40}, stride: [2]int{1, 3}, padding: graph.Padding{Top: 1, Left: 39, Right: 7}},
}

var dilatedCases = []poolCase{
	{n: 2, h: 9, w: 8, channels: 5, kernel: [2]int{2, 2}, stride: [2]int{1, 1}, dilation: [2]int{2, 3}},
	{n: 1, h: 9, w: 8, channels: 3, kernel: [2]int{3, 3}, stride: [2]int{1, 2}, dilation: [2]int{2, 1},
		padding: graph.Padding{Top: 1, Bottom: 1, Left: 1}},
	{n: 1, h: 10, w: 9, channels: 3, kernel: [2]int{3, 3}, stride: [2]int{1, 1}, dilation: [2]int{2, 2}, same: true},
	{n: 1, h: 7, w: 7, channels: 3, kernel: [2]int{3, 2}, stride: [2]int{5, 3}, dilation: [2]int{2, 2},
		padding: graph.Padding{Top: 3, Right: 1}},
}

var poolTypes = []struct{ in, out graph.Type }{
	{plain(graph.Float32), plain(graph.Float32)},
	{plain(graph.Float16), plain(graph.Float16)},
	{quantized(graph.QInt8, 1.0/32, -5), quantized(graph.QInt8, 1.0/50, 11)},
	{quantized(graph.QUInt8, 1.0/32, 121), quantized(graph.QUInt8, 1.0/50, 140)},
}

func TestAvgPool2D(t *testing.T) {
	nothingHeld(t)
	for i, c := range poolCases {
		for j, typ := range poolTypes {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			typ.in.Shape = Shape{c.n, c.h, c.w, c.channels}
			x := randomNumeric(r, typ.in, 8)
			g := graph.New()
			g.Output(g.AvgPool2D(g.InputOf(typ.in), c.op(), convCase{}.opts(typ.out)...))
			var want []float64
			typ.out.Shape, want = c.pool(x.real, averageOf)
			checkOutput(t, g, typ.out, want, fmt.Sprint(typ.in.DType, " ", c), x)
		}
	}
}

func TestMaxPool2D(t *testing.T) {
	nothingHeld(t)
	for i, c := range append(append([]poolCase{}, poolCases...), dilatedCases...) {
		for j, typ := range poolTypes {
			r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
			typ.in.Shape = Shape{c.n, c.h, c.w, c.channels}
			x := randomNumeric(r, typ.in, 8)
			g := graph.New()
			g.Output(g.MaxPool2D(g.InputOf(typ.in), c.op()))
			out := typ.in
			var want []float64
			out.Shape, want = c.pool(x.real, maximumOf)
			checkOutput(t, g, out, want, fmt.Sprint(out.DType, " ", c), x)
		}
	}
}

// TestHalfAverages: the sum of a window may be more than half precision holds, or can tell apart.
func TestHalfAverages(t *testing.T) {
	const n = 64
	stored := make([]int, n*n)
	for i := range stored {
		stored[i] = 4 * (60000 + i%32)
	}
	x := numericOf(plain(graph.Float16, 1, n, n, 1), stored)
	g := graph.New()
	g.Output(g.AvgPool2D(g.InputOf(x.typ), graph.Pool2D{Kernel: [2]int{n, n}}))
	checkOutput(t, g, plain(graph.Float16, 1, 1, 1, 1), []float64{averageOf(x.real)}, "average", x)
}

// TestPoolReshape: XNNPACK alone goes on reading pixels where they were when the number of channels changes.
func TestPoolReshape(t *testing.T) {
	nothingHeld(t)
	c := poolCase{kernel: [2]int{3, 2}, stride: [2]int{2, 2}, same: true}
	for name, reduce := range map[string]func([]float64) float64{"average": averageOf, "maximum": maximumOf} {
		g := graph.New()
		x := g.Input(graph.Float32, 1, 4, 5, 3)
		if name == "average" {
			g.Output(g.AvgPool2D(x, c.op()))
		} else {
			g.Output(g.MaxPool2D(x, c.op()))
		}
		s := opened(t, compiled(t, g))
		r := rand.New(rand.NewPCG(3, 4))
		for _, shape := range []Shape{{1, 4, 5, 3}, {1, 4, 5, 7}, {2, 4, 5, 7}, {2, 5, 5, 7}, {0, 5, 5, 7}, {2, 5, 5, 0},
			{1, 5, 6, 1}} {
			require.NoError(t, s.Reshape(shape))
			in := randomNumeric(r, plain(graph.Float32, shape...), 8)
			c.n, c.h, c.w, c.channels = shape[0], shape[1], shape[2], shape[3]
			out, want := c.pool(in.real, reduce)
			require.Equal(t, out, s.Output(0).Shape())
			requireNumeric(t, plain(graph.Float32, out...), runNumeric(t, s, in)[0], want, fmt.Sprint(name, shape))
		}
	}
}

// TestTablesOfPixels: what XNNPACK keeps of each window counts before it is made. Terabytes are asked for with a few numbers.
func TestTablesOfPixels(t *testing.T) {
	nothingHeld(t)
	const n = 4000
	kernel, around := [2]int{n, n}, graph.Padding{Top: n - 1, Right: n - 1, Bottom: n - 1, Left: n - 1}
	op := graph.Pool2D{Kernel: kernel, Stride: [2]int{1, 1}, Padding: around}
	for name, build := range map[string]func(g *graph.Graph, x graph.ID) graph.ID{
		"average": func(g *graph.Graph, x graph.ID) graph.ID { return g.AvgPool2D(x, op) },
		"maximum": func(g *graph.Graph, x graph.ID) graph.ID { return g.MaxPool2D(x, op) },
		"conv": func(g *graph.Graph, x graph.ID) graph.ID {
			w := g.ConstantOf(plain(graph.Float32, 2, 500, 500, 1), make([]byte, 2*500*500*4))
			return g.Conv2D(x, w, graph.None, graph.Conv2D{Padding: around, Stride: [2]int{4, 4}})
		},
		"transposed": func(g *graph.Graph, x graph.ID) graph.ID {
			w := g.ConstantOf(plain(graph.Float32, 1, 2000, 2000, 1), make([]byte, 2000*2000*4))
			return g.ConvTranspose2D(x, w, graph.None, graph.ConvTranspose2D{})
		},
		"resize": func(g *graph.Graph, x graph.ID) graph.ID { return g.ResizeBilinear2D(x, n, 3*n, graph.HalfPixel) },
	} {
		g := graph.New()
		g.Output(build(g, g.Input(graph.Float32, 1, 1, 1, 1)))
		m, err := Compile(g, WithMemoryLimit(400<<20))
		require.NoError(t, err, name)
		resetPeakRSS()
		before := rss()
		_, err = m.NewSession()
		failed(t, err, ErrMemoryLimit, "tables of pixels")
		require.Less(t, peakRSS()-before, int64(200<<20), name)
		require.NoError(t, m.Close())
	}
}
