package xnn

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// unaryCase is a unary function with its mathematics.
type unaryCase struct {
	kind   string // with what parameters
	lo, hi float64
	apply  func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID
	want   func(x float64) float64
}

var unaryCases = []unaryCase{
	{"Abs", -10, 10, (*graph.Graph).Abs, math.Abs},
	{"BankersRounding", -10, 10, (*graph.Graph).BankersRounding, math.RoundToEven},
	{"Ceiling", -10, 10, (*graph.Graph).Ceiling, math.Ceil},
	{"Clamp", -10, 10, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.Clamp(x, -3, 5, o...) },
		func(x float64) float64 { return min(max(x, -3), 5) }},
	{"Clamp above", -10, 10, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.Clamp(x, -inf, 2, o...) },
		func(x float64) float64 { return min(x, 2) }},
	{"Clamp not", -10, 10, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.Clamp(x, -inf, inf, o...) },
		func(x float64) float64 { return x }},
	{"ReLU", -10, 10, (*graph.Graph).ReLU, func(x float64) float64 { return max(x, 0) }},
	{"Cosine", -7, 7, (*graph.Graph).Cosine, math.Cos},
	{"CubeRoot", -100, 100, (*graph.Graph).CubeRoot, math.Cbrt},
	{"ELU", -20, 5, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.ELU(x, 1, o...) }, elu(1)},
	{"ELU 0.3", -20, 5, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.ELU(x, 0.3, o...) }, elu(0.3)},
	{"Exp", -10, 5, (*graph.Graph).Exp, math.Exp},
	{"Floor", -10, 10, (*graph.Graph).Floor, math.Floor},
	{"GELU", -5, 5, (*graph.Graph).GELU, func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }},
	{"HardSwish", -5, 5, (*graph.Graph).HardSwish, func(x float64) float64 { return x * min(max(x+3, 0), 6) / 6 }},
	{"LeakyReLU", -10, 10, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.LeakyReLU(x, 0.1, o...) },
		leaky(0.1)},
	{"LeakyReLU < 0", -10, 10, func(g *graph.Graph, x graph.ID, o ...graph.Option) graph.ID { return g.LeakyReLU(x, -1.5, o...) },
		leaky(-1.5)},
	{"Log", 0.01, 100, (*graph.Graph).Log, math.Log},
	{"Negate", -10, 10, (*graph.Graph).Negate, func(x float64) float64 { return -x }},
	{"ReciprocalSquareRoot", 0.01, 100, (*graph.Graph).ReciprocalSquareRoot, func(x float64) float64 { return 1 / math.Sqrt(x) }},
	{"Sigmoid", -20, 20, (*graph.Graph).Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }},
	{"Sign", -10, 10, (*graph.Graph).Sign, sign},
	{"Sine", -7, 7, (*graph.Graph).Sine, math.Sin},
	{"Square", -10, 10, (*graph.Graph).Square, func(x float64) float64 { return x * x }},
	{"SquareRoot", 0, 100, (*graph.Graph).SquareRoot, math.Sqrt},
	{"Tanh", -10, 10, (*graph.Graph).Tanh, math.Tanh},
}

func elu(alpha float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return alpha * math.Expm1(x)
		}
		return x
	}
}

func leaky(slope float64) func(float64) float64 {
	return func(x float64) float64 {
		if x < 0 {
			return slope * x
		}
		return x
	}
}

func sign(x float64) float64 {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	}
	return 0
}

// kind is the operator of a case.
func (c unaryCase) operator() string {
	g := graph.New()
	c.apply(g, g.Input(graph.Float32, 1))
	return g.Nodes[0].Op.Kind()
}

// span gives the scale and zero point with which a type of 8 bits holds [lo, hi].
func span(t DType, lo, hi float64, dims ...int) Type {
	least, most := bounds(t)
	scale := float32((hi - lo) / (most - least))
	zero := min(max(math.Round(least-lo/float64(scale)), least), most)
	return quantized(t, scale, int(zero), dims...)
}

// shapesOfAllRanks are shapes small and large, in whole vectors and not.
var shapesOfAllRanks = []Shape{{}, {1}, {7}, {64}, {257}, {3, 5}, {2, 1, 9}, {2, 3, 4, 5}, {1, 2, 3, 1, 7}, {2, 1, 2, 3, 1, 5},
	{0, 3}, {5000}}

// TestUnary runs every unary function on every type it takes against its mathematics.
func TestUnary(t *testing.T) {
	nothingHeld(t)
	seen := map[string]map[DType]bool{}
	for _, c := range unaryCases {
		kind := c.operator()
		if seen[kind] == nil {
			seen[kind] = map[DType]bool{}
		}
		for _, s := range graph.Signatures(kind) {
			dtype := s.In[0]
			seen[kind][dtype] = true
			for i, shape := range shapesOfAllRanks {
				r := rand.New(rand.NewPCG(uint64(i), 7))
				typ, result := Type{DType: dtype, Shape: shape}, []graph.Option(nil)
				if dtype == QInt8 || dtype == QUInt8 {
					typ = span(dtype, c.lo, c.hi, shape...)
					// The range of the results, found on the whole domain.
					lo, hi := math.Inf(1), math.Inf(-1)
					for k := range 256 {
						y := c.want(c.lo + (c.hi-c.lo)*float64(k)/255)
						lo, hi = min(lo, y), max(hi, y)
					}
					q := span(dtype, lo, hi).Quant
					result = append(result, graph.Quantized(dtype, q.Scale, q.ZeroPoint))
				}
				x := uniform(r, typ, c.lo, c.hi)
				what := fmt.Sprintf("%s of %v", c.kind, typ)
				g := graph.New()
				g.Output(c.apply(g, g.InputOf(typ), result...))
				m := compiled(t, g)
				want := make([]float64, len(x.data))
				for j := range want {
					want[j] = c.want(x.data[j])
				}
				whole := runReals(t, m, []reals{x}, WithThreads(1))[0]
				require.True(t, shape.Equal(whole.typ.Shape), what)
				if typ.Quant != nil {
					c.besideSteps(x, want, whole)
				}
				requireNear(t, want, whole, "%s", what)
				tiled := runReals(t, m, []reals{x}, WithThreads(3), withCache(100))[0]
				require.Equal(t, whole, tiled, "%s: tiles and whole tensors", what)
				require.NoError(t, m.Close())
			}
		}
	}
	for _, kind := range graph.Operators() {
		if _, unary := lowerings[kind]; !unary || lowerings[kind].api[:min(16, len(lowerings[kind].api))] != "xnn_define_unary" {
			continue
		}
		for _, s := range graph.Signatures(kind) {
			if kind != "Convert" && !(len(graph.Signatures(kind)) == 1 && s.In[0] == Int32) {
				require.True(t, seen[kind][s.In[0]], "%s of %v is not tested", kind, s)
			}
		}
	}
}

// besideSteps takes what a function gives just beside a number where it jumps there: XNNPACK multiplies with scales in single
// precision.
func (c unaryCase) besideSteps(x reals, want []float64, got reals) {
	for i := range want {
		for _, beside := range []float64{-1e-6, 1e-6} {
			if w := c.want(x.data[i] * (1 + beside)); !near(got.typ, want[i], got.data[i]) && near(got.typ, w, got.data[i]) {
				want[i] = w
			}
		}
	}
}

// TestUnaryBits: integers, to the bit.
func TestUnaryBits(t *testing.T) {
	nothingHeld(t)
	x := []int32{0, 1, -1, 2, 255, -256, 1 << 30, math.MinInt32, math.MaxInt32, 12345678, -12345678, 46341}
	for name, c := range map[string]struct {
		apply func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID
		want  func(x int32) int32
	}{
		"BitwiseNot":        {(*graph.Graph).BitwiseNot, func(x int32) int32 { return ^x }},
		"CountLeadingZeros": {(*graph.Graph).CountLeadingZeros, func(x int32) int32 { return int32(bits.LeadingZeros32(uint32(x))) }},
		"PopCount":          {(*graph.Graph).PopCount, func(x int32) int32 { return int32(bits.OnesCount32(uint32(x))) }},
		"Negate":            {(*graph.Graph).Negate, func(x int32) int32 { return -x }},
		"Abs":               {(*graph.Graph).Abs, func(x int32) int32 { return max(x, -x) }},
		"Square":            {(*graph.Graph).Square, func(x int32) int32 { return x * x }},
		"Sign":              {(*graph.Graph).Sign, func(x int32) int32 { return int32(sign(float64(x))) }},
		"ReLU":              {(*graph.Graph).ReLU, func(x int32) int32 { return max(x, 0) }},
		"Copy": {func(g *graph.Graph, x graph.ID, _ ...graph.Option) graph.ID { return g.Copy(x) },
			func(x int32) int32 { return x }},
		"above": {func(g *graph.Graph, x graph.ID, _ ...graph.Option) graph.ID { return g.Clamp(x, -5, inf) },
			func(x int32) int32 { return max(x, -5) }},
		"below": {func(g *graph.Graph, x graph.ID, _ ...graph.Option) graph.ID { return g.Clamp(x, -inf, 1<<24) },
			func(x int32) int32 { return min(x, 1<<24) }},
		"between": {func(g *graph.Graph, x graph.ID, _ ...graph.Option) graph.ID { return g.Clamp(x, -100, 100) },
			func(x int32) int32 { return min(max(x, -100), 100) }},
	} {
		g := graph.New()
		g.Output(c.apply(g, g.Input(graph.Int32, len(x))))
		y, err := compiled(t, g).Run(t.Context(), NewTensor(x, len(x)))
		require.NoError(t, err, name)
		for i, v := range x {
			require.Equal(t, c.want(v), Data[int32](y[0])[i], "%s of %d", name, v)
		}
	}
}

// TestUnarySpecial: NaN and infinities, where nobody asked for limits.
func TestUnarySpecial(t *testing.T) {
	nothingHeld(t)
	x := []float32{nan, inf, -inf, 0, negativeZero, -4}
	for name, c := range map[string]struct {
		apply func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID
		want  []float32
	}{
		"Abs":     {(*graph.Graph).Abs, []float32{nan, inf, inf, 0, 0, 4}},
		"Negate":  {(*graph.Graph).Negate, []float32{nan, -inf, inf, 0, 0, 4}}, // the sign of zero depends on the processor
		"Floor":   {(*graph.Graph).Floor, []float32{nan, inf, -inf, 0, negativeZero, -4}},
		"Ceiling": {(*graph.Graph).Ceiling, []float32{nan, inf, -inf, 0, negativeZero, -4}},
		"Square":  {(*graph.Graph).Square, []float32{nan, inf, inf, 0, 0, 16}},
		"Clamp":   {unaryCases[5].apply, x},
		"Copy":    {func(g *graph.Graph, x graph.ID, _ ...graph.Option) graph.ID { return g.Copy(x) }, x},
		"Convert": {(*graph.Graph).Convert, x},
	} {
		for _, times := range []int{1, 20} {
			var xs []float32
			for range times {
				xs = append(xs, x...)
			}
			g := graph.New()
			g.Output(c.apply(g, g.Input(graph.Float32, len(xs))))
			for i, got := range run(t, opened(t, compiled(t, g)), xs)[0] {
				want := c.want[i%len(x)]
				switch {
				case want != want:
					require.True(t, got != got, "%s of %g is %g", name, xs[i], got)
				case name == "Negate" && want == 0:
					require.Zero(t, got)
				default:
					require.Equal(t, math.Float32bits(want), math.Float32bits(got), "%s of %g is %g", name, xs[i], got)
				}
			}
		}
	}
}

// TestUnaryEveryHalf runs the functions on all half-precision numbers but subnormal ones.
func TestUnaryEveryHalf(t *testing.T) {
	nothingHeld(t)
	var all []float64
	for b := range 1 << 16 {
		if f := float64(graph.Half(b).Float32()); f == 0 || math.Abs(f) >= 0x1p-14 || math.IsNaN(f) {
			all = append(all, f)
		}
	}
	x := realsOf(Type{DType: Float16, Shape: Shape{len(all)}}, all)
	for _, c := range unaryCases {
		g := graph.New()
		g.Output(c.apply(g, g.InputOf(x.typ)))
		got := runReals(t, compiled(t, g), []reals{x})[0]
		for i, f := range x.data {
			want := realsOf(Type{DType: Float16, Shape: Shape{1}}, []float64{c.want(f)}).data[0]
			switch {
			case math.IsNaN(f) && c.kind == "Sign": // asked for numbers
			case !near(x.typ, want, got.data[i]):
				t.Fatalf("%s of %g is %g, want %g", c.kind, f, got.data[i], want)
			}
		}
	}
}
