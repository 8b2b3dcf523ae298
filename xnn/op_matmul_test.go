package xnn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// matmul is a reference: [..., m, k] times [..., k, n], or [..., n, k] transposed, with the sizes of the terms.
func matmul(a, b []float32, sa, sb Shape, transposed bool) (out Shape, sums, sizes []float64) {
	ra, rb := len(sa)-2, len(sb)-2
	m, k := sa[ra], sa[ra+1]
	n := sb[rb+1]
	if transposed {
		n = sb[rb]
	}
	batch := make(Shape, max(ra, rb))
	at := func(s Shape, i int) int {
		if i += len(s) - len(batch); i >= 0 {
			return s[i]
		}
		return 1
	}
	for i := range batch {
		batch[i] = max(at(sa[:ra], i), at(sb[:rb], i))
	}
	for c := range batch.Elements() {
		// The index along each dimension, and with it the matrix of either side.
		ia, ib, rest := 0, 0, c
		strideA, strideB := 1, 1
		for i := len(batch) - 1; i >= 0; i-- {
			index := rest % batch[i]
			rest /= batch[i]
			da, db := at(sa[:ra], i), at(sb[:rb], i)
			ia += index % da * strideA
			ib += index % db * strideB
			strideA, strideB = strideA*da, strideB*db
		}
		w := b[ib*k*n : (ib+1)*k*n]
		if !transposed {
			w = flipped(w, k, n)
		}
		p, size := dotRows(a[ia*m*k:(ia+1)*m*k], w, m, n, k)
		sums, sizes = append(sums, p...), append(sizes, size...)
	}
	return append(batch, m, n), sums, sizes
}

// batchMatMul adds the node.
func batchMatMul(g *graph.Graph, a, b graph.ID, transposed bool) {
	if transposed {
		g.Output(g.BatchMatMulTransposed(a, b))
	} else {
		g.Output(g.BatchMatMul(a, b))
	}
}

func TestBatchMatMul(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	half := halfRuns(t)
	scaled := func(sizes []float64, relative, absolute float64) []float64 {
		for i := range sizes {
			sizes[i] = absolute + relative*sizes[i]
		}
		return sizes
	}
	check := func(sa, sb Shape, transposed bool) {
		a, b := numbers(r, sa.Elements()), numbers(r, sb.Elements())
		shape, want, sizes := matmul(a, b, sa, sb, transposed)
		tolerance := scaled(sizes, 1e-5, 1e-6)

		g := graph.New()
		batchMatMul(g, g.Input(Float32, sa...), g.Input(Float32, sb...), transposed)
		require.Equal(t, shape, g.Values[g.Outputs[0]].Shape)
		withinEach(t, want, evaluate(t, g, a, b)[0], tolerance, sa, sb, transposed)

		g = graph.New()
		batchMatMul(g, g.Input(Float32, sa...), g.Constant(b, sb...), transposed)
		withinEach(t, want, evaluate(t, g, a)[0], tolerance, sa, sb, transposed, "constant")

		if !half {
			return
		}
		g = graph.New()
		ha, a := halves(a)
		hb, b := halves(b)
		_, want, sizes = matmul(a, b, sa, sb, transposed)
		batchMatMul(g, g.Input(Float16, sa...), g.Input(Float16, sb...), transposed)
		withinEach(t, want, evaluate(t, g, ha, hb)[0], scaled(sizes, 2e-3, tinyHalf), sa, sb, transposed, "fp16")

		g = graph.New()
		batchMatMul(g, g.Input(Float16, sa...), g.Constant(hb, sb...), transposed)
		withinEach(t, want, evaluate(t, g, ha)[0], sizes, sa, sb, transposed, "fp16 constant")
	}
	for _, m := range layerSizes {
		for _, n := range layerSizes {
			for _, k := range layerSizes {
				check(Shape{m, k}, Shape{k, n}, false)
				check(Shape{2, m, k}, Shape{2, n, k}, true)
			}
		}
	}
	for _, c := range []struct{ a, b Shape }{
		{Shape{3}, Shape{}}, {Shape{}, Shape{3}}, {Shape{3}, Shape{1}}, {Shape{1}, Shape{3}}, {Shape{2, 3}, Shape{3}}, {Shape{2, 1},
			Shape{1, 3}},
		{Shape{5, 1, 2}, Shape{4, 1}}, {Shape{4, 1}, Shape{5, 1, 2}}, {Shape{1, 2, 3, 2}, Shape{2, 2, 1, 2}}, {Shape{2, 3}, Shape{2,
			3}},
	} {
		for _, transposed := range []bool{false, true} {
			b := Shape{5, 35}
			if transposed {
				b = Shape{35, 5}
			}
			check(append(c.a[:len(c.a):len(c.a)], 9, 5), append(c.b[:len(c.b):len(c.b)], b...), transposed)
		}
	}
}

// TestBatchMatMulDynamic: rows quantised at run time against one matrix of integers.
func TestBatchMatMulDynamic(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for _, lead := range []Shape{{}, {3}, {2, 3}, {1, 1, 4}} {
		for _, m := range layerSizes {
			for _, n := range layerSizes {
				k := layerSizes[r.IntN(len(layerSizes))]
				for _, transposed := range []bool{false, true} {
					l := newLayer(r, m*lead.Elements(), n, k)
					l.transposed = !transposed // a filter [n, k] is one that BatchMatMul calls transposed
					g := graph.New()
					w, codes, scales := l.quantized(t, g, graph.QCInt8)
					x := g.Convert(g.Input(Float32, append(lead[:len(lead):len(lead)], m, k)...), graph.Dynamic(1))
					batchMatMul(g, x, w, transposed)
					got := evaluate(t, g, l.x)[0]
					for i := range l.m {
						q := quantizeRow(l.x[i*k : (i+1)*k])
						for j := range n {
							sum, size, largest := 0., 0., 0.
							for c := range k {
								p := q.codes[c] * q.scale * codes[j*k+c] * scales[j*k+c]
								sum, size = sum+p, size+math.Abs(p)
								largest = max(largest, math.Abs(codes[j*k+c]*scales[j*k+c]))
							}
							require.InDelta(t, sum, got[i*n+j], 1e-6+1e-5*size+float64(q.unsure)*q.scale*largest, "%v %dx%dx%d", lead, m, n, k)
						}
					}
				}
			}
		}
	}
}

// TestBatchMatMulReshape changes every size of a product of two inputs, and the rows of one with a constant.
func TestBatchMatMulReshape(t *testing.T) {
	r := rand.New(rand.NewPCG(15, 16))
	g := graph.New()
	batchMatMul(g, g.Input(Float32, 1, 2, 3), g.Input(Float32, 1, 3, 4), false)
	two := opened(t, compiled(t, g))
	b := numbers(r, 2*5*7)
	g = graph.New()
	batchMatMul(g, g.Input(Float32, 2, 1, 5), g.Constant(b, 2, 5, 7), false)
	one := opened(t, compiled(t, g))
	check := func(s *Session, a, b []float32, sa, sb Shape, in ...any) {
		shape, want, sizes := matmul(a, b, sa, sb, false)
		require.Equal(t, shape, s.Output(0).Shape())
		for i := range sizes {
			sizes[i] = 1e-6 + 1e-5*sizes[i]
		}
		withinEach(t, want, runOnce(t, s, in...)[0], sizes, sa, sb)
	}
	for _, c := range []struct{ a, b Shape }{
		{Shape{1, 2, 3}, Shape{1, 3, 4}}, {Shape{5, 40, 3}, Shape{1, 3, 4}}, {Shape{1, 40, 30}, Shape{6, 30, 50}}, {Shape{1, 1, 1},
			Shape{1, 1, 1}},
		{Shape{3, 2, 3}, Shape{3, 3, 4}},
	} {
		a, b := numbers(r, c.a.Elements()), numbers(r, c.b.Elements())
		require.NoError(t, two.Reshape(c.a, c.b))
		check(two, a, b, c.a, c.b, a, b)
	}
	for _, rows := range []int{1, 4, 2, 100, 3} {
		a := numbers(r, 2*rows*5)
		require.NoError(t, one.Reshape(Shape{2, rows, 5}))
		check(one, a, b, Shape{2, rows, 5}, Shape{2, 5, 7}, a)
	}
	failed(t, one.Reshape(Shape{2, 0, 5}), ErrUnsupported, "no elements")
	failed(t, one.Reshape(Shape{3, 1, 5}), ErrShape, "3 against 2")
	a := numbers(r, 2*3*5)
	check(one, a, b, Shape{2, 3, 5}, Shape{2, 5, 7}, a)
}

// TestProduct: what does not fit is much.
func TestProduct(t *testing.T) {
	require.Equal(t, 24, product(2, 3, 4))
	require.Equal(t, 1, product())
	require.Equal(t, 0, product(0, 1<<40))
	require.Equal(t, math.MaxInt, product(1<<40, 1<<40))
	require.Equal(t, math.MaxInt, product(1<<32, 1<<31))
}
