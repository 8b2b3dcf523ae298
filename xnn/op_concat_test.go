package xnn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// joined is the concatenation of xs along an axis.
func joined(xs []reals, axis int, shape Shape) []float64 {
	want := make([]float64, shape.Elements())
	eachIndex(shape, func(n int, index []int) {
		at := slices.Clone(index)
		for _, x := range xs {
			if at[axis] < x.typ.Shape[axis] {
				want[n] = x.data[offsetOf(x.typ.Shape, at)]
				return
			}
			at[axis] -= x.typ.Shape[axis]
		}
	})
	return want
}

// TestConcat puts 2 to 40 tensors together along every axis, some of them empty, on every type.
func TestConcat(t *testing.T) {
	nothingHeld(t)
	r := rand.New(rand.NewPCG(12, 12))
	counts := []int{2, 3, 4, 5, 6, 7, 10, 11, 25, 26, 40}
	if instrumented {
		counts = []int{2, 5, 6, 26}
	}
	for _, n := range counts {
		for rank := 1; rank <= 6; rank++ {
			for axis := range rank {
				for _, typ := range typesOf("Concat") {
					base := make(Shape, rank)
					for i := range base {
						base[i] = 1 + r.IntN(3)
					}
					g := graph.New()
					var ids []graph.ID
					var xs []reals
					for k := range n {
						typ.Shape = slices.Clone(base)
						typ.Shape[axis] = r.IntN(4)
						x := numbered(typ)
						for i := range x.data { // tells the operands apart
							x.data[i] = numbered(Type{DType: typ.DType, Shape: Shape{251}, Quant: typ.Quant}).data[(i*7+k*31)%251]
						}
						ids, xs = append(ids, g.InputOf(typ)), append(xs, x)
					}
					g.Output(g.Concat(axis-rank, ids...))
					shape := g.Values[len(g.Values)-1].Shape
					m := compiled(t, g)
					for _, threads := range []int{1, 3} {
						got := runReals(t, m, xs, WithThreads(threads), withCache(1))[0]
						require.True(t, shape.Equal(got.typ.Shape))
						require.Equal(t, joined(xs, axis, shape), append([]float64{}, got.data...), "%d of %v along %d", n, typ, axis)
					}
					require.NoError(t, m.Close())
				}
			}
		}
	}
}

// TestConcatScales brings operands to the result's scale.
func TestConcatScales(t *testing.T) {
	nothingHeld(t)
	for _, dtype := range []DType{QInt8, QUInt8} {
		for _, out := range []Quant{{Scale: 0.5, ZeroPoint: 3}, {Scale: 0.1, ZeroPoint: 100}, {Scale: 400, ZeroPoint: 1}} {
			g := graph.New()
			var ids []graph.ID
			var xs []reals
			for k, q := range []Quant{{Scale: 0.5, ZeroPoint: 3}, {Scale: 0.25, ZeroPoint: 9}, {Scale: 0.5, ZeroPoint: 4},
				{Scale: 100, ZeroPoint: 3},
				{Scale: 0.001, ZeroPoint: 3}, {Scale: 0.5, ZeroPoint: 3}} {
				x := numbered(quantized(dtype, q.Scale, q.ZeroPoint, 2, 20+k))
				if k == 5 {
					ids = append(ids, g.ConstantOf(x.typ, x.bytes()))
				} else {
					ids = append(ids, g.InputOf(x.typ))
				}
				xs = append(xs, x)
			}
			g.Output(g.Concat(1, ids...))
			g.Values[len(g.Values)-1].Quant = &out
			y := runReals(t, compiled(t, g), xs[:5])[0]
			requireNear(t, joined(xs, 1, y.typ.Shape), y, "%v", y.typ)
		}
	}
}

// TestConcatOne value many times, and constants alone.
func TestConcatOne(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	x, c := g.Input(Float32, 2), g.Constant([]float32{7}, 1)
	g.Output(g.Concat(0, x, x, c, x))
	g.Output(g.Concat(0, c, c, c, c, c, c, c))
	s := opened(t, compiled(t, g))
	require.Equal(t, [][]float32{{1, 2, 1, 2, 7, 1, 2}, same(7, 7)}, run(t, s, []float32{1, 2}))
	require.NoError(t, s.Reshape(Shape{3}))
	require.Equal(t, [][]float32{{1, 2, 3, 1, 2, 3, 7, 1, 2, 3}, same(7, 7)}, run(t, s, []float32{1, 2, 3}))
}

// TestEvenSplit cuts tensors along every axis into 1 to 9 parts, on every type, and follows their shapes.
func TestEvenSplit(t *testing.T) {
	nothingHeld(t)
	for _, parts := range []int{1, 2, 3, 4, 5, 9} {
		for _, shape := range []Shape{{1}, {2, 3}, {2, 2, 5}, {1, 2, 3, 2, 1, 2}, {0, 2}} {
			for axis := range shape {
				for _, typ := range typesOf("EvenSplit", shape...) {
					typ.Shape = slices.Clone(shape)
					typ.Shape[axis] *= parts
					g := graph.New()
					for _, id := range g.EvenSplit(g.InputOf(typ), axis-len(shape), parts) {
						g.Output(id)
					}
					s := opened(t, compiled(t, g))
					for _, stretch := range []int{1, 3, 0, 2} {
						in := typ
						in.Shape = slices.Clone(typ.Shape)
						in.Shape[axis] *= stretch
						x := numbered(in)
						what := fmt.Sprintf("%d parts of %v along %d", parts, in, axis)
						for k, got := range runSession(t, s, []reals{x}) {
							part := slices.Clone(in.Shape)
							part[axis] /= parts
							require.True(t, part.Equal(got.typ.Shape), what)
							eachIndex(part, func(n int, index []int) {
								at := slices.Clone(index)
								at[axis] += k * part[axis]
								require.Equal(t, x.data[offsetOf(in.Shape, at)], got.data[n], what)
							})
						}
					}
					require.NoError(t, s.Close())
				}
			}
		}
	}
}

// TestEvenSplitPart: parts that nobody reads are left out.
func TestEvenSplitPart(t *testing.T) {
	nothingHeld(t)
	for _, parts := range []int{2, 3, 4, 6} {
		for k := range parts {
			g := graph.New()
			p := g.EvenSplit(g.Input(Float32, 1, 2*parts), 1, parts)[k]
			g.Output(g.Add(p, p))
			want := []float32{float32(4 * k), float32(4*k + 2)}
			require.Equal(t, [][]float32{want}, run(t, opened(t, compiled(t, g)), ramp(2*parts)))
		}
	}
}
