package xnn

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// binaryCase is a binary function with its mathematics.
type binaryCase struct {
	kind   graph.BinaryFunc
	lo, hi float64 // of the first operand
	from   float64 // of the second
	to     float64
	want   func(a, b float64) float64
}

var binaryCases = []binaryCase{
	{graph.Add, -10, 10, -10, 10, func(a, b float64) float64 { return a + b }},
	{graph.Subtract, -10, 10, -10, 10, func(a, b float64) float64 { return a - b }},
	{graph.Multiply, -10, 10, -5, 10, func(a, b float64) float64 { return a * b }},
	{graph.Divide, -10, 10, 0.5, 5, func(a, b float64) float64 { return a / b }},
	{graph.Maximum, -10, 10, -10, 10, math.Max},
	{graph.Minimum, -10, 10, -10, 10, math.Min},
	{graph.Copysign, -10, 10, -10, 10, math.Copysign},
	{graph.Modulus, -10, 10, 0.5, 5, math.Mod},
	{graph.Pow, 0.1, 4, -2, 2, math.Pow},
	{graph.Atan2, -10, 10, -10, 10, math.Atan2},
	{graph.PReLU, -10, 10, -0.5, 1, func(a, b float64) float64 {
		if a < 0 {
			return a * b
		}
		return a
	}},
	{graph.SquaredDifference, -5, 5, -5, 5, func(a, b float64) float64 { return (a - b) * (a - b) }},
}

// node appends the function to a graph.
func (c binaryCase) node(g *graph.Graph, a, b graph.ID, opts ...graph.Option) graph.ID {
	return binaryMethods[c.kind](g, a, b, opts...)
}

var binaryMethods = map[graph.BinaryFunc]func(g *graph.Graph, a, b graph.ID, opts ...graph.Option) graph.ID{
	graph.Add:                  (*graph.Graph).Add,
	graph.Subtract:             (*graph.Graph).Subtract,
	graph.Multiply:             (*graph.Graph).Multiply,
	graph.Divide:               (*graph.Graph).Divide,
	graph.Maximum:              (*graph.Graph).Maximum,
	graph.Minimum:              (*graph.Graph).Minimum,
	graph.Copysign:             (*graph.Graph).Copysign,
	graph.Modulus:              (*graph.Graph).Modulus,
	graph.Pow:                  (*graph.Graph).Pow,
	graph.Atan2:                (*graph.Graph).Atan2,
	graph.PReLU:                (*graph.Graph).PReLU,
	graph.SquaredDifference:    (*graph.Graph).SquaredDifference,
	graph.BitwiseAnd:           (*graph.Graph).BitwiseAnd,
	graph.BitwiseOr:            (*graph.Graph).BitwiseOr,
	graph.BitwiseXor:           (*graph.Graph).BitwiseXor,
	graph.ShiftLeft:            (*graph.Graph).ShiftLeft,
	graph.ShiftRightArithmetic: (*graph.Graph).ShiftRightArithmetic,
	graph.ShiftRightLogical:    (*graph.Graph).ShiftRightLogical,
}

// broadcasts are pairs of shapes of all ranks.
var broadcasts = [][2]Shape{
	{{}, {}}, {{7}, {}}, {{}, {7}}, {{257}, {257}}, {{1}, {65}}, {{3, 1}, {1, 9}}, {{2, 3, 5}, {3, 1}}, {{2, 3, 5}, {5}},
	{{2, 1, 3, 1, 5}, {4, 1, 2, 1}}, {{2, 1, 2, 1, 2, 1}, {1, 2, 1, 2, 1, 2}}, {{2, 3, 1, 2, 1, 7}, {3, 4, 1, 3, 7}},
	{{0, 3}, {1, 3}},
	{{5, 1}, {300}}, {{3000}, {3000}},
}

// TestBinary runs every binary function on every type of real numbers, broadcast in all ways, against its mathematics.
func TestBinary(t *testing.T) {
	nothingHeld(t)
	for _, c := range binaryCases {
		for _, s := range graph.Signatures(string(c.kind)) {
			dtype := s.In[0]
			if dtype == Int32 {
				continue // TestBinaryIntegers
			}
			for i, shapes := range broadcasts {
				r := rand.New(rand.NewPCG(uint64(i), 11))
				ta, tb := Type{DType: dtype, Shape: shapes[0]}, Type{DType: dtype, Shape: shapes[1]}
				var opts []graph.Option
				if dtype == QInt8 || dtype == QUInt8 {
					ta, tb = span(dtype, c.lo, c.hi, shapes[0]...), span(dtype, c.from, c.to, shapes[1]...)
					q := c.range2(dtype).Quant
					opts = []graph.Option{graph.Quantized(dtype, q.Scale, q.ZeroPoint)}
				}
				a, b := uniform(r, ta, c.lo, c.hi), uniform(r, tb, c.from, c.to)
				what := fmt.Sprintf("%s of %v and %v", c.kind, ta, tb)
				g := graph.New()
				g.Output(c.node(g, g.InputOf(ta), g.InputOf(tb), opts...))
				m := compiled(t, g)
				shape := g.Values[2].Shape
				want := make([]float64, shape.Elements())
				eachIndex(shape, func(n int, index []int) { want[n] = c.want(a.at(index), b.at(index)) })
				whole := runReals(t, m, []reals{a, b}, WithThreads(1))[0]
				require.True(t, shape.Equal(whole.typ.Shape), what)
				if c.kind == graph.Modulus {
					wrapped(want, whole, b, shape)
				}
				requireNear(t, want, whole, "%s", what)
				if shape.Elements() > 1 {
					require.Equal(t, whole, runReals(t, m, []reals{a, b}, WithThreads(3), withCache(100))[0], "%s: in pieces and whole", what)
				}
				require.NoError(t, m.Close())
			}
		}
	}
}

// range2 is a type of 8 bits that holds what a function gives of its whole domain.
func (c binaryCase) range2(dtype DType) Type {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range 65 {
		for j := range 65 {
			y := c.want(c.lo+(c.hi-c.lo)*float64(i)/64, c.from+(c.to-c.from)*float64(j)/64)
			lo, hi = min(lo, y), max(hi, y)
		}
	}
	return span(dtype, lo, hi)
}

// wrapped takes the rest b for 0 and the reverse, which are the same but for how a quotient was rounded.
func wrapped(want []float64, got reals, b reals, shape Shape) {
	eachIndex(shape, func(n int, index []int) {
		for _, w := range []float64{want[n] - b.at(index), want[n] + b.at(index)} {
			if !near(got.typ, want[n], got.data[n]) && near(got.typ, w, got.data[n]) {
				want[n] = w
			}
		}
	})
}

// TestBinaryIntegers: Int32, to the bit.
func TestBinaryIntegers(t *testing.T) {
	nothingHeld(t)
	some := []int32{0, 1, -1, 2, 3, -7, 31, 32, 33, 1 << 30, math.MinInt32, math.MaxInt32, 123456789, -46341}
	for kind, want := range map[graph.BinaryFunc]func(a, b int32) int32{
		graph.Add:                  func(a, b int32) int32 { return a + b },
		graph.Subtract:             func(a, b int32) int32 { return a - b },
		graph.Multiply:             func(a, b int32) int32 { return a * b },
		graph.Maximum:              func(a, b int32) int32 { return max(a, b) },
		graph.Minimum:              func(a, b int32) int32 { return min(a, b) },
		graph.BitwiseAnd:           func(a, b int32) int32 { return a & b },
		graph.BitwiseOr:            func(a, b int32) int32 { return a | b },
		graph.BitwiseXor:           func(a, b int32) int32 { return a ^ b },
		graph.ShiftLeft:            func(a, b int32) int32 { return a << (b & 31) },
		graph.ShiftRightArithmetic: func(a, b int32) int32 { return a >> (b & 31) },
		graph.ShiftRightLogical:    func(a, b int32) int32 { return int32(uint32(a) >> (b & 31)) },
		graph.Copysign: func(a, b int32) int32 {
			if (a < 0) != (b < 0) {
				return -a
			}
			return a
		},
		graph.Pow: func(a, b int32) int32 {
			if b < 0 {
				return 0
			}
			y := new(big.Int).Exp(big.NewInt(int64(a)), big.NewInt(int64(b)), new(big.Int).Lsh(big.NewInt(1), 32))
			return int32(uint32(y.Uint64()))
		},
	} {
		require.Contains(t, graph.Signatures(string(kind)), graph.Signature{In: []DType{Int32, Int32}, Out: []DType{Int32}})
		g := graph.New()
		g.Output(binaryMethods[kind](g, g.Input(Int32, len(some), 1), g.Input(Int32, len(some))))
		m := compiled(t, g)
		y, err := m.Run(t.Context(), NewTensor(some, len(some), 1), NewTensor(some, len(some)))
		require.NoError(t, err)
		for i, a := range some {
			for j, b := range some {
				require.Equal(t, want(a, b), Data[int32](y[0])[i*len(some)+j], "%s of %d and %d", kind, a, b)
			}
		}
	}
	for _, kind := range graph.Operators() {
		if lowerings[kind].api == "" || len(lowerings[kind].api) < 17 || lowerings[kind].api[:17] != "xnn_define_binary" {
			continue
		}
		require.Contains(t, binaryMethods, graph.BinaryFunc(kind))
	}
}

// TestBinaryLimits: limits after an operator, on every type.
func TestBinaryLimits(t *testing.T) {
	nothingHeld(t)
	for _, typ := range []Type{
		{DType: Float32}, {DType: Float16}, {DType: BFloat16}, {DType: Int32}, quantized(QInt8, 0.25, 3), quantized(QUInt8, 0.25, 100),
	} {
		for _, r := range []graph.Range{{Min: -3, Max: 5}, {Min: -inf, Max: 2}, {Min: -2, Max: inf}} {
			typ.Shape = Shape{2, 21}
			a := uniform(rand.New(rand.NewPCG(1, 1)), typ, -6, 6)
			b := uniform(rand.New(rand.NewPCG(2, 2)), typ, -6, 6)
			g := graph.New()
			g.Output(g.Add(g.InputOf(typ), g.InputOf(typ), graph.Limits(r.Min, r.Max)))
			m := compiled(t, g)
			want := make([]float64, len(a.data))
			for i := range want {
				want[i] = min(max(a.data[i]+b.data[i], float64(r.Min)), float64(r.Max))
			}
			requireNear(t, want, runReals(t, m, []reals{a, b})[0], "%v limited to %v", typ, r)
			requireNear(t, want, runReals(t, m, []reals{a, b}, withCache(50), WithThreads(2))[0], "%v limited to %v, in tiles", typ, r)
		}
	}
}

// TestBinaryQuantized: sums and products to the bit, worked out by hand.
func TestBinaryQuantized(t *testing.T) {
	nothingHeld(t)
	run := func(node func(*graph.Graph, graph.ID, graph.ID, ...graph.Option) graph.ID, ta, tb Type, out graph.Option, a,
		b []int8) []int8 {
		g := graph.New()
		g.Output(node(g, g.InputOf(ta), g.InputOf(tb), out))
		y, err := compiled(t, g).Run(t.Context(), NewTensor(a, len(a)), NewTensor(b, len(b)))
		require.NoError(t, err)
		return Data[int8](y[0])
	}
	// (a+3)/2 + (b-5)/4 in eighths, plus 1, up to 127.
	require.Equal(t, []int8{-128, -117, -37, 43, 123, 127, 127, 127}, run((*graph.Graph).Add, quantized(QInt8, 0.5, -3, 8),
		quantized(QInt8, 0.25, 5, 8), graph.Quantized(QInt8, 0.125, 1), []int8{-100, -70, -40, -10, 20, 50, 80, 110},
		[]int8{100, 80, 60, 40, 20, 0, -20, -40}))
	// (a+1)/2 * b/2 in quarters.
	require.Equal(t, []int8{4, 6, 8, 10}, run((*graph.Graph).Multiply, quantized(QInt8, 0.5, -1, 4), quantized(QInt8, 0.5, 0, 4),
		graph.Quantized(QInt8, 0.25, 0), []int8{1, 2, 3, 4}, []int8{2, 2, 2, 2}))
}

// TestBinarySameOperand takes one value twice, directly and by way of a copy.
func TestBinarySameOperand(t *testing.T) {
	nothingHeld(t)
	x := []float32{0.5, 1.5, 2.5, 3.5, 4.5}
	g := graph.New()
	in := g.Input(Float32, 5)
	once := g.Copy(in)
	g.Output(g.Add(once, once))
	twice := g.Multiply(in, in)
	g.Output(g.Subtract(g.Copy(twice), twice))
	g.Output(g.Copy(g.Copy(in)))
	c := g.Constant([]float32{1, 2, 3}, 3)
	g.Output(g.Multiply(c, c))
	g.Output(g.Copy(c))
	s := opened(t, compiled(t, g))
	for range 2 {
		require.Equal(t, [][]float32{{1, 3, 5, 7, 9}, {0, 0, 0, 0, 0}, x, {1, 4, 9}, {1, 2, 3}}, run(t, s, x))
	}
}

// TestBinaryNaN: NaN and infinities, where nobody asked for limits.
func TestBinaryNaN(t *testing.T) {
	nothingHeld(t)
	a := []float32{nan, 1, inf, inf, 3e38, negativeZero}
	b := []float32{1, nan, -inf, inf, 3e38, negativeZero}
	for kind, want := range map[graph.BinaryFunc][]float32{
		graph.Subtract: {nan, nan, inf, nan, 0, 0},
		graph.Multiply: {nan, nan, -inf, inf, inf, 0},
		graph.Divide:   {nan, nan, nan, nan, 1, nan},
	} {
		for _, times := range []int{1, 20} {
			var as, bs []float32
			for range times {
				as, bs = append(as, a...), append(bs, b...)
			}
			g := graph.New()
			g.Output(binaryMethods[kind](g, g.Input(Float32, len(as)), g.Input(Float32, len(bs))))
			for i, got := range run(t, opened(t, compiled(t, g)), as, bs)[0] {
				w := want[i%len(want)]
				require.True(t, got == w || w != w && got != got, "%s of %g and %g is %g", kind, as[i], bs[i], got)
			}
		}
	}
}

// TestBinaryProfile: a node that takes XNNPACK two is one in a profile.
func TestBinaryProfile(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	x := g.Input(Int32, 1000)
	g.Output(g.Multiply(g.Add(x, x, graph.Limits(0, inf)), x, graph.Limits(-5, 5)))
	m := compiled(t, g)
	for _, cache := range []int{1 << 30, 512} {
		s := opened(t, m, WithProfile(), withCache(cache), WithThreads(2))
		require.NoError(t, s.Run())
		times, err := s.Profile()
		require.NoError(t, err)
		require.Len(t, times, 2)
		require.Equal(t, "Add", times[0].Kind)
		require.Equal(t, "Multiply", times[1].Kind)
		require.False(t, times[0].Fused || times[1].Fused)
		require.Positive(t, times[0].Time)
	}
}
