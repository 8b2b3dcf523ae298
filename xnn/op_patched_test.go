package xnn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestClampsFuse: XNNPACK makes a clamp part of what is before it, and may neither lose limits nor touch other parameters.
func TestClampsFuse(t *testing.T) {
	nothingHeld(t)
	for _, c := range []struct {
		first, second graph.Range
		want          []float32
	}{
		{graph.Range{Min: 0, Max: 1}, graph.Range{Min: 2, Max: 3}, []float32{2, 2, 2, 2}},
		{graph.Range{Min: 2, Max: 3}, graph.Range{Min: 0, Max: 1}, []float32{1, 1, 1, 1}},
		{graph.Range{Min: -1, Max: 5}, graph.Range{Min: 0, Max: 9}, []float32{0, 0.5, 2.5, 5}},
	} {
		g := graph.New()
		y := g.Clamp(g.Input(Float32, 4), c.first.Min, c.first.Max)
		g.Output(g.Clamp(y, c.second.Min, c.second.Max))
		require.Equal(t, c.want, run(t, opened(t, compiled(t, g)), []float32{-5, 0.5, 2.5, 9})[0])
	}
	// Sums of 3 x 3 pixels, zeros around.
	sums := []float32{-6, -9, -6, -3, -3, -1, -6, -9, -6}
	for _, r := range []graph.Range{{Min: 1, Max: 100}, {Min: -100, Max: 0}, {Min: -100, Max: -1}, {Min: -2, Max: 6}} {
		g := graph.New()
		y := g.Conv2D(g.Input(Float32, 1, 3, 3, 1), g.Constant(same(9, 1), 1, 3, 3, 1), graph.None,
			graph.Conv2D{Padding: graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}})
		g.Output(g.Clamp(y, r.Min, r.Max))
		got := run(t, opened(t, compiled(t, g)), []float32{1, 2, 3, -4, -5, -6, 1, 2, 3})[0]
		for i, sum := range sums {
			require.Equal(t, min(max(sum, r.Min), r.Max), got[i], "%v, element %d", r, i)
		}
	}
}

// TestDivideIntegers: the rest is never negative, nothing divided by zero is zero, and the quotient that is no integer wraps.
func TestDivideIntegers(t *testing.T) {
	nothingHeld(t)
	some := []int32{0, 1, -1, 2, -3, 7, -7, math.MaxInt32, math.MinInt32}
	g := graph.New()
	x, y := g.Input(Int32, len(some), 1), g.Input(Int32, len(some))
	g.Output(g.Divide(x, y))
	g.Output(g.Modulus(x, y))
	out, err := compiled(t, g).Run(t.Context(), NewTensor(some, len(some), 1), NewTensor(some, len(some)))
	require.NoError(t, err)
	for i, a := range some {
		for j, b := range some {
			var quotient, rest int64
			if b != 0 {
				rest = int64(a) % int64(b)
				if rest < 0 {
					rest += max(int64(b), -int64(b))
				}
				quotient = (int64(a) - rest) / int64(b)
			}
			require.Equal(t, int32(quotient), Data[int32](out[0])[i*len(some)+j], "%d / %d", a, b)
			require.Equal(t, int32(rest), Data[int32](out[1])[i*len(some)+j], "%d mod %d", a, b)
		}
	}
}

// TestFewElementsManyThreads: XNNPACK shares even a few bytes among threads, and may not cut through an element.
func TestFewElementsManyThreads(t *testing.T) {
	nothingHeld(t)
	for _, dtype := range []DType{Float32, Float16, BFloat16, Int32} {
		for n := range 6 {
			typ := Type{DType: dtype, Shape: Shape{n}}
			g := graph.New()
			x := g.InputOf(typ)
			for _, method := range []func(*graph.Graph, graph.ID, graph.ID, ...graph.Option) graph.ID{
				(*graph.Graph).Add, (*graph.Graph).Maximum, (*graph.Graph).Copysign, (*graph.Graph).Pow} {
				g.Output(method(g, x, x))
			}
			// Something large beside them, for which threads pay.
			large := Type{DType: Float32, Shape: Shape{1000}}
			g.Output(g.ReduceSum(g.InputOf(large), []int{0}, false))
			m := compiled(t, g)
			in := []reals{{typ, []float64{1, 2, 3, 2, 1}[:n]}, {large, make([]float64, 1000)}}
			for threads := range 20 {
				for i, got := range runReals(t, m, in, WithThreads(threads+1), withCache(1000))[:4] {
					for j, v := range in[0].data {
						require.Equal(t, []float64{v + v, v, v, math.Pow(v, v)}[i], got.data[j], "%v, %d threads", typ, threads+1)
					}
				}
			}
		}
	}
}
