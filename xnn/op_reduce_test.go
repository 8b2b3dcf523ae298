package xnn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// reduced sums x over the axes, and tells how many elements make one.
func reduced(x reals, axes []int) (sums []float64, count int) {
	kept := slices.Clone(x.typ.Shape)
	count = 1
	for _, axis := range axes {
		count *= kept[axis]
		kept[axis] = 1
	}
	sums = make([]float64, kept.Elements())
	eachIndex(x.typ.Shape, func(n int, index []int) {
		at := 0
		for i, d := range kept {
			at *= d
			if d > 1 {
				at += index[i]
			}
		}
		sums[at] += x.data[n]
	})
	return sums, count
}

// subsets are all choices of some of n axes, but for none.
func subsets(n int) [][]int {
	var list [][]int
	for bits := 1; bits < 1<<n; bits++ {
		var axes []int
		for i := range n {
			if bits>>i&1 == 1 {
				axes = append(axes, i)
			}
		}
		list = append(list, axes)
	}
	return list
}

// TestReduce sums up and averages over all choices of axes, on every type.
func TestReduce(t *testing.T) {
	nothingHeld(t)
	shapes := []Shape{{1}, {7}, {300}, {3, 5}, {65, 3}, {4, 1, 9}, {2, 3, 4, 5}, {1, 8, 8, 33}, {2, 3, 2, 1, 7}, {2, 3, 2, 3, 2, 5}}
	for _, kind := range []string{"ReduceSum", "ReduceMean"} {
		for _, s := range graph.Signatures(kind) {
			for i, shape := range shapes {
				for j, axes := range subsets(len(shape)) {
					r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
					typ, opts := Type{DType: s.In[0], Shape: shape}, []graph.Option(nil)
					quant := typ.DType == QInt8 || typ.DType == QUInt8
					if quant {
						typ = span(typ.DType, 0.5, 2, shape...)
					}
					x := uniform(r, typ, 0.5, 2)
					want, n := reduced(x, axes)
					most := 2.0
					if kind == "ReduceSum" {
						most *= float64(n)
					} else {
						for k := range want {
							want[k] /= float64(n)
						}
					}
					if quant {
						q := span(typ.DType, 0, most).Quant
						opts = append(opts, graph.Quantized(typ.DType, q.Scale, q.ZeroPoint))
					}
					keep := j%2 == 0
					g := graph.New()
					method := g.ReduceSum
					if kind == "ReduceMean" {
						method = g.ReduceMean
					}
					// In another order, and one counted from the end.
					given := slices.Clone(axes)
					slices.Reverse(given)
					given[0] -= len(shape)
					g.Output(method(g.InputOf(typ), given, keep, opts...))
					m := compiled(t, g)
					what := fmt.Sprintf("%s of %v over %v, keep %t", kind, typ, axes, keep)
					for _, threads := range []int{1, 3} {
						got := runReals(t, m, []reals{x}, WithThreads(threads), withCache(1))[0]
						require.True(t, g.Values[1].Shape.Equal(got.typ.Shape), what)
						require.Equal(t, keep, len(got.typ.Shape) == len(shape), what)
						requireNear(t, want, got, "%s, %d threads", what, threads)
					}
					require.NoError(t, m.Close())
				}
			}
		}
	}
}

// TestReduceLimits: limits after a reduction, and numbers of both signs.
func TestReduceLimits(t *testing.T) {
	nothingHeld(t)
	for _, typ := range []Type{{DType: Float32}, {DType: Float16}, quantized(QInt8, 0.125, 3), quantized(QUInt8, 0.125, 100)} {
		typ.Shape = Shape{9, 4, 4, 2}
		x := uniform(rand.New(rand.NewPCG(3, 3)), typ, -8, 8)
		want, n := reduced(x, []int{1, 2})
		for i := range want {
			want[i] = min(max(want[i]/float64(n), -0.5), 1)
		}
		g := graph.New()
		g.Output(g.ReduceMean(g.InputOf(typ), []int{1, 2}, false, graph.Limits(-0.5, 1)))
		requireNear(t, want, runReals(t, compiled(t, g), []reals{x})[0], "mean of %v", typ)
	}
}

// TestReduceMany adds up so many quantised elements that 24 bits do not hold the sum.
func TestReduceMany(t *testing.T) {
	nothingHeld(t)
	const n = 1 << 23
	for _, typ := range []Type{quantized(QInt8, 1, -128, n), quantized(QUInt8, 1, 0, n)} {
		g := graph.New()
		x := g.InputOf(typ)
		g.Output(g.ReduceMean(x, []int{0}, false))
		g.Output(g.ReduceSum(x, []int{0}, false, graph.Quantized(typ.DType, 1<<24, 0)))
		s := opened(t, compiled(t, g))
		for i := range s.Input(0).Bytes() {
			s.Input(0).Bytes()[i] = stored(typ, 255)[0]
		}
		require.NoError(t, s.Run())
		require.Equal(t, 255.0, meaning(typ, s.Output(0).Bytes()))
		require.Equal(t, byte(127), min(s.Output(1).Bytes()[0], 127), "2^31 in units of 2^24 is 128")
	}
}

// TestReduceShapes: a session follows its inputs' shapes, down to none.
func TestReduceShapes(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	g.Output(g.ReduceMean(g.Input(Float32, 2, 3, 3, 4), []int{1, 2}, true))
	s := opened(t, compiled(t, g))
	for _, shape := range []Shape{{2, 3, 3, 4}, {1, 5, 2, 4}, {0, 3, 3, 4}, {7, 1, 1, 70}, {3, 2, 9, 0}} {
		x := uniform(rand.New(rand.NewPCG(5, 5)), Type{DType: Float32, Shape: shape}, 1, 2)
		want, n := reduced(x, []int{1, 2})
		for i := range want {
			want[i] /= float64(n)
		}
		got := runSession(t, s, []reals{x})[0]
		require.Equal(t, Shape{shape[0], 1, 1, shape[3]}, got.typ.Shape)
		requireNear(t, want, got, "%v", shape)
	}
	failed(t, s.Reshape(Shape{1, 0, 3, 4}), ErrUnsupported, "no elements")
}
