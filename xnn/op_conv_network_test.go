package xnn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// network is a small convolutional network with random weights, and the same by the definitions.
//
//	x [n, h, w, 3] - conv 3x3 SAME stride 2, to 8 - depthwise 3x3 SAME - max pool 2x2 - transposed conv 2x2 stride 2, to 4 -
//
// average of 2x2
type network struct {
	graph  *graph.Graph
	layers [3]struct{ filter, bias numeric }
}

var networkLayers = [3]convCase{
	{groups: 1, in: 3, out: 8, kernel: [2]int{3, 3}, same: true, stride: [2]int{2, 2}, lo: 0, hi: 6},
	{groups: 8, in: 1, out: 1, kernel: [2]int{3, 3}, same: true},
	{groups: 1, in: 8, out: 4, kernel: [2]int{2, 2}, stride: [2]int{2, 2}},
}

func newNetwork(n, h, w int) *network {
	r := rand.New(rand.NewPCG(11, 12))
	net := &network{graph: graph.New()}
	for i, shape := range []Shape{{8, 3, 3, 3}, {1, 3, 3, 8}, {4, 2, 2, 8}} {
		outputs := max(shape[0], shape[3]*(2-shape[0]))
		net.layers[i].filter = randomNumeric(r, plain(graph.Float32, shape...), 1)
		net.layers[i].bias = randomNumeric(r, plain(graph.Float32, outputs), 4)
	}
	g := net.graph
	filter := func(i int) graph.ID { return net.layers[i].filter.constant(g) }
	bias := func(i int) graph.ID { return net.layers[i].bias.constant(g) }
	y := g.Conv2D(g.Input(graph.Float32, n, h, w, 3), filter(0), bias(0), graph.Conv2D{SamePadding: true, Stride: [2]int{2, 2}},
		graph.Limits(0, 6))
	y = g.DepthwiseConv2D(y, filter(1), bias(1), graph.DepthwiseConv2D{SamePadding: true})
	y = g.MaxPool2D(y, graph.Pool2D{Kernel: [2]int{2, 2}})
	y = g.ConvTranspose2D(y, filter(2), bias(2), graph.ConvTranspose2D{Stride: [2]int{2, 2}})
	g.Output(g.AvgPool2D(y, graph.Pool2D{Kernel: [2]int{2, 2}, Stride: [2]int{1, 1}}))
	return net
}

func (net *network) compute(x numeric) (Shape, []float64) {
	shape, y := x.typ.Shape, x.real
	for i, c := range networkLayers {
		c.n, c.h, c.w = shape[0], shape[1], shape[2]
		f, b := net.layers[i].filter.real, net.layers[i].bias.real
		weight := func(o, y, x, i int) float64 { return f[((o*c.kernel[0]+y)*c.kernel[1]+x)*c.in+i] }
		switch i {
		case 0:
			shape, y = c.convolve(y, b, weight)
		case 1:
			shape, y = c.convolve(y, b, func(o, y, x, _ int) float64 { return f[(y*c.kernel[1]+x)*c.groups+o] })
			p := poolCase{n: shape[0], h: shape[1], w: shape[2], channels: shape[3], kernel: [2]int{2, 2}}
			shape, y = p.pool(y, maximumOf)
		case 2:
			shape, y = transposeCase{c, [2]int{}}.spread(y, b, weight)
		}
	}
	p := poolCase{n: shape[0], h: shape[1], w: shape[2], channels: shape[3], kernel: [2]int{2, 2}, stride: [2]int{1, 1}}
	return p.pool(y, averageOf)
}

// TestConvolutionalBatches runs a convolutional network for other batches and sizes than it was made for, in a session and by
// Model.Run, whose earlier results stay as they were.
func TestConvolutionalBatches(t *testing.T) {
	nothingHeld(t)
	net := newNetwork(1, 9, 8)
	m := compiled(t, net.graph)
	s := opened(t, m)
	r := rand.New(rand.NewPCG(1, 1))
	type answer struct {
		y    *Tensor
		want []float64
	}
	var answers []answer
	for _, shape := range []Shape{{1, 9, 8, 3}, {4, 9, 8, 3}, {2, 9, 8, 3}, {100, 9, 8, 3}, {0, 9, 8, 3}, {3, 9, 8, 3},
		{3, 8, 11, 3}, {1, 9, 8, 3}} {
		require.NoError(t, s.Reshape(shape))
		x := randomNumeric(r, plain(graph.Float32, shape...), 8)
		out, want := net.compute(x)
		require.Equal(t, out, s.Output(0).Shape(), "before the run")
		requireNumeric(t, plain(graph.Float32, out...), runNumeric(t, s, x)[0], want, fmt.Sprint(shape))

		in := make([]float32, len(x.real))
		for i, v := range x.real {
			in[i] = float32(v)
		}
		y, err := m.Run(t.Context(), NewTensor(in, shape...))
		require.NoError(t, err)
		require.Equal(t, out, y[0].Shape())
		answers = append(answers, answer{y[0], want})
	}
	for _, a := range answers {
		requireNumeric(t, plain(graph.Float32, a.y.Shape()...), a.y.Bytes(), a.want, "an earlier answer")
	}
	for _, bad := range []Shape{{1, 9, 8, 4}, {1, 0, 8, 3}, {1, 2, 8, 3}, {1, 9, 8}} {
		failed(t, s.Reshape(bad), ErrShape)
		require.Equal(t, Shape{1, 3, 3, 4}, s.Output(0).Shape(), "as it was")
	}
}

// TestEmptyImages: what has no elements is not computed, and what is made of it is.
func TestEmptyImages(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	x, rest := g.Input(graph.Float32, 2, 4, 4, 3), g.Input(graph.Float32, 1, 2, 2, 3)
	pooled := g.AvgPool2D(x, graph.Pool2D{Kernel: [2]int{2, 2}})
	doubled := g.Add(pooled, pooled)
	g.Output(g.Concat(0, doubled, rest))
	g.Output(doubled)
	s := opened(t, compiled(t, g))
	for _, n := range []int{2, 0, 1} {
		require.NoError(t, s.Reshape(Shape{n, 4, 4, 3}, Shape{1, 2, 2, 3}))
		y := run(t, s, same(n*48, 2), same(12, 7))
		require.Equal(t, append(same(n*12, 4), same(12, 7)...), y[0])
		require.Equal(t, same(n*12, 4), y[1])
	}
}

// TestPadAndClampAroundConv: XNNPACK makes padding and limits a part of the convolution, which must not change the numbers.
func TestPadAndClampAroundConv(t *testing.T) {
	nothingHeld(t)
	c := convCase{n: 2, h: 5, w: 6, groups: 1, in: 3, out: 4, kernel: [2]int{3, 3}, bias: true,
		padding: graph.Padding{Top: 1, Right: 2, Bottom: 3, Left: 0}}
	one, all := graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}, c.padding
	for _, limits := range [][2]float32{{0, 6}, {-0.5, 0.5}, {0.25, 1}, {-1, -0.25}, {-2, 0}, {0, 0}} {
		for j, f := range convTypes {
			for _, own := range []graph.Padding{{}, one} { // that of the convolution itself
				r := rand.New(rand.NewPCG(uint64(j), 8))
				x, w, b, out := f.operands(r, Shape{c.n, c.h, c.w, c.in}, Shape{c.out, 3, 3, c.in}, 0)
				c.lo, c.hi = limits[0], limits[1]
				c.padding = graph.Padding{Top: all.Top + own.Top, Right: all.Right + own.Right, Bottom: all.Bottom + own.Bottom,
					Left: all.Left + own.Left}
				shape, want := c.convolve(x.real, b.real, func(o, y, x, i int) float64 { return w.real[((o*3+y)*3+x)*c.in+i] })
				out.Shape = shape
				g := graph.New()
				y := g.Pad(g.InputOf(x.typ), []int{0, all.Top, all.Left, 0}, []int{0, all.Bottom, all.Right, 0}, 0)
				y = g.Conv2D(y, w.constant(g), b.constant(g), graph.Conv2D{Padding: own}, convCase{}.opts(out)...)
				if limits != [2]float32{} {
					y = g.Clamp(y, c.lo, c.hi)
				}
				g.Output(y)
				checkOutput(t, g, out, want, fmt.Sprint(f, limits, own), x)
			}
		}
	}
}

// TestClampAfter: the same of the other operators that XNNPACK makes a clamp a part of.
func TestClampAfter(t *testing.T) {
	nothingHeld(t)
	r := rand.New(rand.NewPCG(4, 4))
	x := randomNumeric(r, plain(graph.Float32, 1, 5, 6, 3), 8)
	w := randomNumeric(r, plain(graph.Float32, 1, 3, 3, 3), 2)
	f := randomNumeric(r, plain(graph.Float32, 2, 3, 3, 3), 2)
	padding := graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}
	for name, apply := range map[string]func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID{
		"depthwise": func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID {
			return g.DepthwiseConv2D(x, w.constant(g), graph.None, graph.DepthwiseConv2D{Padding: padding}, opts...)
		},
		"transposed": func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID {
			return g.ConvTranspose2D(x, f.constant(g), graph.None, graph.ConvTranspose2D{Padding: padding}, opts...)
		},
		"average": func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID {
			return g.AvgPool2D(x, graph.Pool2D{Kernel: [2]int{3, 3}, Padding: padding}, opts...)
		},
		"maximum": func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID {
			return g.MaxPool2D(x, graph.Pool2D{Kernel: [2]int{3, 3}, Padding: padding}, opts...)
		},
	} {
		for _, limits := range [][2]float32{{0, 6}, {0.25, 1}, {-1, -0.25}, {-2, 0}} {
			var results [2][]byte
			for i := range results {
				g := graph.New()
				if y := g.InputOf(x.typ); i == 0 {
					g.Output(apply(g, y, graph.Limits(limits[0], limits[1])))
				} else {
					g.Output(g.Clamp(apply(g, y), limits[0], limits[1]))
				}
				results[i] = runNumeric(t, opened(t, compiled(t, g)), x)[0]
			}
			require.Equal(t, results[0], results[1], "%s %v", name, limits)
		}
	}
}

// TestClampTwice: limits that have nothing in common leave what the second pair makes of the first.
func TestClampTwice(t *testing.T) {
	nothingHeld(t)
	for _, second := range [][2]float32{{1, 2}, {-4, -3}, {0, 0.5}} {
		g := graph.New()
		x := g.Input(graph.Float32, 1, 1, 3, 1)
		one := g.Constant([]float32{1}, 1, 1, 1, 1)
		g.Output(g.Clamp(g.Clamp(x, -2, 0), second[0], second[1]))
		g.Output(g.Clamp(g.Conv2D(x, one, graph.None, graph.Conv2D{}, graph.Limits(-2, 0)), second[0], second[1]))
		var want []float32
		for _, v := range []float32{-2, -1, 0} {
			want = append(want, min(max(v, second[0]), second[1]))
		}
		for _, got := range run(t, opened(t, compiled(t, g)), []float32{-9, -1, 9}) {
			require.Equal(t, want, got, "%v", second)
		}
	}
	// Indices that unpooling limits, limited before: it must not write outside.
	g := graph.New()
	indices := g.Clamp(g.Input(graph.Int32, 1, 1, 1, 1), -9, -5)
	g.Output(g.Unpool2D(g.Constant([]float32{7}, 1, 1, 1, 1), indices, graph.Unpool2D{Kernel: [2]int{2, 1}}))
	got := runNumeric(t, opened(t, compiled(t, g)), numericOf(plain(graph.Int32, 1, 1, 1, 1), []int{1}))
	requireNumeric(t, plain(graph.Float32, 1, 2, 1, 1), got[0], []float64{7, 0}, "unpooled")
}
