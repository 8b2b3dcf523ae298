package xnn

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// finite are the largest and the smallest normal number of the types of real numbers, and the bits behind the point.
var finite = map[DType]struct {
	most, least float64
	bits        int
}{
	Float32:  {math.MaxFloat32, 0x1p-126, 23},
	Float16:  {65504, 0x1p-14, 10},
	BFloat16: {0x1.fep127, 0x1p-126, 7},
}

// extremes are the numbers at which functions go wrong: the ends of the range, what is next to 0 and 1, halves, NaN.
func extremes(t DType) []float64 {
	f := finite[t]
	step := math.Ldexp(1, -f.bits)
	list := []float64{0, f.least, f.least * (1 + step), math.Sqrt(f.least), step, 0.25, 0.5, 1 - step, 1, 1 + step, 1.5, 2, 2.5, 3,
		10, 17, 88, 100, math.Sqrt(f.most), f.most / 2, f.most * 0.7072, f.most, math.Inf(1)}
	for _, x := range list {
		list = append(list, -x)
	}
	return append(list, math.NaN())
}

// ulps is how far a result is from the right number, in units of the last place of its type, of what is subnormal those of the
// smallest normal number.
func ulps(t DType, want, got float64) float64 {
	f := finite[t]
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		if math.IsNaN(want) && math.IsNaN(got) {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(got, 0):
		// What rounds to infinity may be one.
		if want == got || math.Abs(want) >= f.most*(1+math.Ldexp(1, -f.bits-2)) && math.Signbit(want) == math.Signbit(got) {
			return 0
		}
		return math.Inf(1)
	case math.IsInf(want, 0) || math.Abs(want) > f.most:
		if math.Abs(want) < f.most*(1+math.Ldexp(1, -f.bits)) && math.Abs(got) == f.most {
			return 1
		}
		return math.Inf(1)
	}
	_, e := math.Frexp(max(math.Abs(want), f.least))
	off := math.Abs(want-got) / math.Ldexp(1, e-1-f.bits)
	if math.Abs(want) < f.least && got == 0 {
		return min(off, 1)
	}
	return off
}

// fromZero are functions whose result for a zero may be of either sign.
var fromZero = map[string]bool{"Negate": true, "Clamp": true, "ELU": true, "LeakyReLU": true, "Tanh": true}

// TestUnaryExtremes holds every function at the ends of its domain against its mathematics.
func TestUnaryExtremes(t *testing.T) {
	nothingHeld(t)
	for _, c := range unaryCases {
		for _, dtype := range []DType{Float32, Float16, BFloat16} {
			if !slices.ContainsFunc(graph.Signatures(c.operator()), func(s graph.Signature) bool { return s.In[0] == dtype }) {
				continue
			}
			x := realsOf(Type{DType: dtype, Shape: Shape{len(extremes(dtype))}}, extremes(dtype))
			g := graph.New()
			g.Output(c.apply(g, g.InputOf(x.typ)))
			m := compiled(t, g)
			got := runReals(t, m, []reals{x})[0]
			for i, a := range x.data {
				want := c.want(a)
				if c.kind == "GELU" && math.Abs(want-got.data[i]) < 2e-7 {
					continue // far below 0 the kernel's approximation has a small error, but not small beside the result
				}
				u := ulps(dtype, want, got.data[i])
				require.LessOrEqual(t, u, 4.0, "%s of %v %g is %g, want %g", c.kind, dtype, a, got.data[i], want)
				if a == 0 && want == 0 && !fromZero[c.operator()] {
					require.Equal(t, math.Signbit(want), math.Signbit(got.data[i]), "%s of %v %g is %g", c.kind, dtype, a, got.data[i])
				}
			}
			require.NoError(t, m.Close())
		}
	}
}

// TestBinaryExtremes holds every function of two numbers at the ends of its domain against its mathematics.
func TestBinaryExtremes(t *testing.T) {
	nothingHeld(t)
	for _, c := range binaryCases {
		for _, dtype := range []DType{Float32, Float16, BFloat16} {
			if !slices.ContainsFunc(graph.Signatures(string(c.kind)), func(s graph.Signature) bool { return s.In[0] == dtype }) {
				continue
			}
			list := extremes(dtype)
			n := len(list)
			a := realsOf(Type{DType: dtype, Shape: Shape{n, 1}}, list)
			b := realsOf(Type{DType: dtype, Shape: Shape{n}}, list)
			g := graph.New()
			g.Output(c.node(g, g.InputOf(a.typ), g.InputOf(b.typ)))
			m := compiled(t, g)
			got := runReals(t, m, []reals{a, b})[0]
			for i, y := range got.data {
				p, q := a.data[i/n], b.data[i%n]
				want := c.want(p, q)
				switch {
				case (c.kind == graph.Maximum || c.kind == graph.Minimum) && (math.IsNaN(p) || math.IsNaN(q)):
					require.True(t, math.IsNaN(y) || y == p || y == q, "%s of %v %g and %g is %g", c.kind, dtype, p, q, y)
					continue
				case c.kind == graph.Modulus && q == 0:
					want = 0 // as documented
				case c.kind == graph.PReLU && p == 0 && math.IsNaN(p*q):
					continue // a negative zero is negative to some kernels
				}
				require.LessOrEqual(t, ulps(dtype, want, y), 4.0, "%s of %v %g and %g is %g, want %g", c.kind, dtype, p, q, y, want)
			}
			require.NoError(t, m.Close())
		}
	}
}

// TestLimitsKeepNaN: limits do not make a number of what is none, wherever they are applied.
func TestLimitsKeepNaN(t *testing.T) {
	nothingHeld(t)
	limits := graph.Limits(-1, 6)
	weights := func(g *graph.Graph, dims ...int) graph.ID {
		return g.Constant(same(Shape(dims).Elements(), 0.5), dims...)
	}
	filter := func(g *graph.Graph, x graph.ID, kernel, channels int, opts ...graph.Option) graph.ID {
		return g.Conv2D(x, weights(g, channels, kernel, kernel, 16), graph.None, graph.Conv2D{}, opts...)
	}
	depthwise := func(g *graph.Graph, x graph.ID, kernel int, opts ...graph.Option) graph.ID {
		return g.DepthwiseConv2D(x, weights(g, 1, kernel, kernel, 16), graph.None, graph.DepthwiseConv2D{}, opts...)
	}
	for name, build := range map[string]func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID{
		"Clamp":    func(g *graph.Graph, x graph.ID, _ ...graph.Option) graph.ID { return g.Clamp(x, -1, 6) },
		"Add":      func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.Add(x, x, o...) },
		"Multiply": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.Multiply(x, x, o...) },
		"1x1": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID {
			return filter(g, x, 1, 24, o...)
		},
		"3x3": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID {
			return filter(g, x, 3, 24, o...)
		},
		"one pixel":     func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return filter(g, x, 9, 3, o...) },
		"depthwise 3x3": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return depthwise(g, x, 3, o...) },
		"depthwise 5x5": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return depthwise(g, x, 5, o...) },
		"transposed": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID {
			return g.ConvTranspose2D(x, weights(g, 8, 2, 2, 16), graph.None, graph.ConvTranspose2D{}, o...)
		},
		"FullyConnected": func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID {
			return g.FullyConnected(x, weights(g, 24, 16), graph.None, o...)
		},
	} {
		for _, dtype := range []DType{Float32, Float16} {
			for _, opts := range [][]graph.Option{nil, {limits}} {
				x := realsOf(Type{DType: dtype, Shape: Shape{1, 9, 9, 16}}, slices.Repeat([]float64{math.NaN()}, 9*9*16))
				g := graph.New()
				g.Output(build(g, g.InputOf(x.typ), opts...))
				m := compiled(t, g)
				for i, y := range runReals(t, m, []reals{x})[0].data {
					require.True(t, math.IsNaN(y), "%s of %v: element %d is %g", name, dtype, i, y)
				}
				require.NoError(t, m.Close())
			}
		}
	}
}
