package xnn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// softmaxRow is a reference.
func softmaxRow(row []float64) []float64 {
	top, sum := math.Inf(-1), 0.
	for _, f := range row {
		top = max(top, f)
	}
	out := make([]float64, len(row))
	for i, f := range row {
		out[i] = math.Exp(f - top)
		sum += out[i]
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}

func widened(list []float32) []float64 {
	out := make([]float64, len(list))
	for i, f := range list {
		out[i] = float64(f)
	}
	return out
}

func TestSoftmax(t *testing.T) {
	r, half := rand.New(rand.NewPCG(17, 18)), halfRuns(t)
	for _, n := range append(layerSizes, 3, 15, 16, 64, 65, 1000) {
		for _, shape := range []Shape{{n}, {5, n}, {2, 3, n}} {
			x := numbers(r, shape.Elements())
			for i := range x {
				x[i] *= 10
			}
			hx, rounded := halves(x)
			var want, wantHalf []float64
			for i := 0; i < len(x); i += n {
				want = append(want, softmaxRow(widened(x[i:i+n]))...)
				wantHalf = append(wantHalf, softmaxRow(widened(rounded[i:i+n]))...)
			}
			g := graph.New()
			g.Output(g.Softmax(g.Input(Float32, shape...)))
			tolerance := make([]float64, len(x))
			for i, w := range want {
				tolerance[i] = 1e-6 + 1e-5*w
			}
			withinEach(t, want, evaluate(t, g, x)[0], tolerance, shape)

			if !half {
				continue
			}
			g = graph.New()
			g.Output(g.Softmax(g.Input(Float16, shape...)))
			for i, w := range wantHalf {
				tolerance[i] = 1e-4 + 2e-3*w
			}
			withinEach(t, wantHalf, evaluate(t, g, hx)[0], tolerance, shape, "fp16")
		}
	}
}

// TestSoftmaxSpecialNumbers: minus infinity takes no part, which is how masks are made; a row of nothing else has no softmax.
func TestSoftmaxSpecialNumbers(t *testing.T) {
	const n = 21 // a whole vector and a rest
	x := slices.Repeat([]float32{-inf}, 4*n)
	x[3], x[20] = 1, 1             // halves
	x[n+7] = -3e38                 // one
	for i := 2 * n; i < 3*n; i++ { // all alike
		x[i] = 3e38
	}
	build := func(dtype DType) *graph.Graph {
		g := graph.New()
		g.Output(g.Softmax(g.Input(dtype, 4, n)))
		return g
	}
	results := [][]float64{evaluate(t, build(Float32), x)[0]}
	if hx, _ := halves(x); halfRuns(t) {
		results = append(results, evaluate(t, build(Float16), hx)[0])
	}
	for _, got := range results {
		for i := range n {
			half := 0.
			if i == 3 || i == 20 {
				half = 0.5
			}
			require.Equal(t, half, got[i])
			require.True(t, math.IsNaN(got[3*n+i]))
		}
	}
	got := evaluate(t, build(Float32), x)[0]
	require.Equal(t, 1., got[n+7])
	require.Equal(t, 0., got[n+8])
	require.InDelta(t, 1./n, got[2*n], 1e-7)
}

// heads is an attention to be tested.
type heads struct {
	batch                  Shape
	h, t, u, c, d          int
	shared                 bool // key and value are those of all heads
	cap                    float32
	q, k, v, scale, mask   []float32
	half                   bool
	relative, absolute     float64
	hq, hk, hv, hsc, hmask []Half
}

func newHeads(r *rand.Rand, batch Shape, h, t, u, c, d int, shared bool, cap float32, half bool) heads {
	a := heads{batch: batch, h: h, t: t, u: u, c: c, d: d, shared: shared, cap: cap, half: half, relative: 1e-5, absolute: 1e-6}
	n, kv := batch.Elements(), h
	if shared {
		kv = 1
	}
	a.q, a.k, a.v = numbers(r, n*h*t*c), numbers(r, n*kv*u*c), numbers(r, n*kv*u*d)
	a.scale, a.mask = numbers(r, c), numbers(r, t*u)
	if half {
		a.relative, a.absolute = 4e-3, 1e-3
		a.hq, a.q = halves(a.q)
		a.hk, a.k = halves(a.k)
		a.hv, a.v = halves(a.v)
		a.hsc, a.scale = halves(a.scale)
		a.hmask, a.mask = halves(a.mask)
	}
	return a
}

func (a heads) shapes() (q, k, v, scale, mask Shape) {
	lead := a.batch[:len(a.batch):len(a.batch)]
	q = append(lead, a.h, a.t, a.c)
	if !a.shared {
		lead = append(lead, a.h)
	}
	lead = lead[:len(lead):len(lead)]
	return q, append(lead, a.u, a.c), append(lead, a.u, a.d), Shape{a.c}, Shape{a.t, a.u}
}

func (a heads) graph() *graph.Graph {
	g := graph.New()
	dtype := Float32
	if a.half {
		dtype = Float16
	}
	in := func(s Shape) graph.ID { return g.Input(dtype, s...) }
	q, k, v, scale, mask := a.shapes()
	g.Output(g.Attention(in(q), in(k), in(v), in(scale), in(mask), a.cap))
	return g
}

func (a heads) inputs() []any {
	if a.half {
		return []any{a.hq, a.hk, a.hv, a.hsc, a.hmask}
	}
	return []any{a.q, a.k, a.v, a.scale, a.mask}
}

// want is the reference, in double precision.
func (a heads) want() (want, tolerance []float64) {
	for n := range a.batch.Elements() * a.h {
		kv := n
		if a.shared {
			kv = n / a.h
		}
		for t := range a.t {
			logits := make([]float64, a.u)
			for u := range logits {
				for c := range a.c {
					logits[u] += float64(a.q[(n*a.t+t)*a.c+c]) * float64(a.scale[c]) * float64(a.k[(kv*a.u+u)*a.c+c])
				}
				if a.cap != 0 {
					logits[u] = float64(a.cap) * math.Tanh(logits[u]/float64(a.cap))
				}
				logits[u] += float64(a.mask[t*a.u+u])
			}
			p := softmaxRow(logits)
			for d := range a.d {
				sum := 0.
				for u := range p {
					sum += p[u] * float64(a.v[(kv*a.u+u)*a.d+d])
				}
				want = append(want, sum)
				tolerance = append(tolerance, a.absolute+a.relative) // values are up to 1
			}
		}
	}
	return want, tolerance
}

func (a heads) check(t *testing.T, s *Session) {
	t.Helper()
	want, tolerance := a.want()
	q, k, v, _, _ := a.shapes()
	withinEach(t, want, runOnce(t, s, a.inputs()...)[0], tolerance, q, k, v, a.cap, a.half)
}

// precisions are single and, where the processor has it, half.
func precisions(t *testing.T) []bool {
	if halfRuns(t) {
		return []bool{false, true}
	}
	return []bool{false}
}

func TestAttention(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, half := range precisions(t) {
		for _, shared := range []bool{false, true} {
			for _, cap := range []float32{0, 0.5, 30} {
				for _, c := range []struct {
					batch         Shape
					h, t, u, c, d int
				}{
					{Shape{}, 1, 1, 1, 1, 1}, {Shape{}, 2, 3, 5, 4, 6}, {Shape{1}, 4, 17, 17, 16, 16}, {Shape{2}, 3, 7, 33, 8, 5}, {Shape{3}, 2,
						100, 1, 7, 33},
					{Shape{2, 2}, 1, 1, 100, 33, 1}, {Shape{1, 2, 2}, 2, 9, 65, 3, 40},
				} {
					a := newHeads(r, c.batch, c.h, c.t, c.u, c.c, c.d, shared, cap, half)
					m := compiled(t, a.graph())
					for _, threads := range []int{1, 2, 3} {
						a.check(t, opened(t, m, WithThreads(threads)))
					}
				}
			}
		}
	}
}

// TestAttentionReshape: XNNPACK holds the node to the shape of its result when it was defined, the session must not.
func TestAttentionReshape(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	first := newHeads(r, Shape{1}, 2, 4, 4, 8, 8, false, 0, false)
	s := opened(t, compiled(t, first.graph()))
	first.check(t, s)
	for _, c := range []struct{ n, h, t, u, d int }{{1, 2, 9, 4, 8}, {1, 2, 9, 50, 8}, {3, 2, 1, 1, 8}, {1, 5, 33, 33, 20}, {2, 2, 4,
		4, 8}, {1, 2, 4, 4, 8}} {
		a := newHeads(r, Shape{c.n}, c.h, c.t, c.u, 8, c.d, false, 0, false)
		q, k, v, scale, mask := a.shapes()
		require.NoError(t, s.Reshape(q, k, v, scale, mask))
		require.Equal(t, Shape{c.n, c.h, c.t, c.d}, s.Output(0).Shape())
		a.check(t, s)
	}
	q, k, v, scale, mask := first.shapes()
	q[2], mask[0] = 0, 0
	failed(t, s.Reshape(q, k, v, scale, mask), ErrUnsupported, "no elements")
	first.check(t, s)
}

// TestAttentionMask: minus infinity hides a token, as causal masks do; the first token then sees itself alone.
func TestAttentionMask(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, half := range precisions(t) {
		a := newHeads(r, Shape{2}, 3, 20, 20, 8, 8, false, 0, half)
		for i := range a.t {
			for j := range a.u {
				a.mask[i*a.u+j] = 0
				if j > i {
					a.mask[i*a.u+j] = -inf
				}
			}
		}
		if half {
			a.hmask, a.mask = halves(a.mask)
		}
		a.check(t, opened(t, compiled(t, a.graph())))
	}
}

func TestRotaryEmbedding(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	const most = 50
	for _, channels := range []int{2, 4, 6, 30, 32, 34, 64, 130} {
		weights := make([]float32, most*channels)
		for i := range most {
			for c := range channels / 2 {
				angle := float64(i) * math.Pow(10000, -2*float64(c)/float64(channels))
				weights[i*channels+c] = float32(math.Cos(angle))
				weights[i*channels+channels/2+c] = float32(math.Sin(angle))
			}
		}
		g := graph.New()
		g.Output(g.RotaryEmbedding(g.Input(Float32, 1, 2, 3, channels), g.Constant(weights, most, channels), most))
		s := opened(t, compiled(t, g))
		for _, c := range []struct{ n, tokens, heads int }{{1, 2, 3}, {2, 50, 1}, {3, 7, 4}, {0, 7, 4}, {1, 1, 1}} {
			require.NoError(t, s.Reshape(Shape{c.n, c.tokens, c.heads, channels}))
			x := numbers(r, c.n*c.tokens*c.heads*channels)
			want := make([]float64, len(x))
			for i := 0; i < len(x); i += channels {
				token := i / channels / c.heads % c.tokens
				for j := range channels / 2 {
					re, im := float64(x[i+j]), float64(x[i+channels/2+j])
					cos, sin := float64(weights[token*channels+j]), float64(weights[token*channels+channels/2+j])
					want[i+j], want[i+channels/2+j] = re*cos-im*sin, re*sin+im*cos
				}
			}
			withinEach(t, want, runOnce(t, s, x)[0], slices.Repeat([]float64{1e-6}, len(x)), channels, c)
		}
		failed(t, s.Reshape(Shape{1, most + 1, 1, channels}), ErrShape, "51 tokens", "50")
	}

	// Several batch dimensions, and weights that are an input.
	g := graph.New()
	x := g.Input(Float32, 2, 1, 2, 1, 2)
	g.Output(g.RotaryEmbedding(x, g.Input(Float32, 3, 2), 3))
	got := evaluate(t, g, []float32{1, 2, 3, 4, 5, 6, 7, 8}, []float32{1, 0, 0, 1, 9, 9})
	require.Equal(t, [][]float64{{1, 2, -4, 3, 5, 6, -8, 7}}, got)
}
