package xnn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// converted is a graph that converts one type to another.
func converted(from, to Type) *graph.Graph {
	g := graph.New()
	option := graph.As(to.DType)
	if to.Quant != nil {
		option = graph.Quantized(to.DType, to.Quant.Scale, to.Quant.ZeroPoint)
	}
	g.Output(g.Convert(g.InputOf(from), option))
	return g
}

// TestConvert turns every type into every other, and quantised ones with scales from far below to far above each other.
func TestConvert(t *testing.T) {
	nothingHeld(t)
	const n = 300
	for _, s := range graph.Signatures("Convert") {
		from, to := Type{DType: s.In[0], Shape: Shape{n}}, Type{DType: s.Out[0]}
		scalesFrom, scalesTo := []float32{0}, []float32{0}
		all := []float32{0.4, 1.25, 1e-6, 3e-8, 0.002, 300, 1e6, 1 << 20, 1.5 / 256}
		if s.In[0] == QInt8 || s.In[0] == QUInt8 {
			scalesFrom = all
		}
		if s.Out[0] == QInt8 || s.Out[0] == QUInt8 {
			scalesTo = all
		} else if s.Out[0] == graph.QDInt8 {
			continue // TestConvertDynamic
		}
		for _, a := range scalesFrom {
			for _, b := range scalesTo {
				lo, hi := -70.0, 70.0
				if a != 0 {
					from = quantized(s.In[0], a, 7, n)
					lo, hi = float64(a)*-135, float64(a)*248
				} else if b != 0 && from.DType != Int32 {
					lo, hi = float64(b)*-200, float64(b)*300 // some are too large
				}
				if b != 0 {
					to = quantized(s.Out[0], b, 11)
				}
				if s.In[0] == Float16 || s.Out[0] == Float16 {
					lo, hi = max(lo, -60000), min(hi, 60000)
				}
				r := rand.New(rand.NewPCG(uint64(a*1e6), uint64(b*1e6)))
				x := uniform(r, from, lo, hi)
				want := make([]float64, n)
				for i, f := range x.data {
					want[i] = f
					if to.DType == Int32 {
						want[i] = math.Round(min(max(math.Float64frombits(math.Float64bits(f)), math.MinInt32), 2147483520))
					}
				}
				got := runReals(t, compiled(t, converted(from, to)), []reals{x})[0]
				if to.DType == Float16 {
					for i, f := range want { // what is subnormal there
						if math.Abs(f) < 0x1p-14 && math.Abs(got.data[i]) <= 0x1p-14 {
							want[i] = got.data[i]
						}
					}
				}
				if to.DType == Int32 && from.Quant != nil { // halves, seen through a scale in single precision
					for i := range want {
						if math.Abs(got.data[i]-x.data[i]) < 0.50001 || math.Abs(got.data[i]-x.data[i]) < 1e-6*math.Abs(x.data[i]) {
							want[i] = got.data[i]
						}
					}
				}
				requireNear(t, want, got, "%v to %v", from, to)
			}
		}
	}
}

// TestConvertExact: numbers that both types have stay what they are, and rounding is to the nearest.
func TestConvertExact(t *testing.T) {
	nothingHeld(t)
	single := Type{DType: Float32, Shape: Shape{6}}
	for _, c := range []struct {
		to       Type
		in, want []float64
	}{
		{Type{DType: Float16}, []float64{0.1, 65504, 65520, -1e9, 1.5, 2049},
			[]float64{0.0999755859375, 65504, math.Inf(1), math.Inf(-1), 1.5, 2048}},
		{Type{DType: BFloat16}, []float64{1.00390625, 1.015625, -3, 0, 1e39, 257}, []float64{1, 1.015625, -3, 0, math.Inf(1), 256}},
		{Type{DType: Int32}, []float64{0.4, 0.6, -1.6, 1e12, -1e12, 16777216},
			[]float64{0, 1, -2, 2147483520, math.MinInt32, 16777216}},
		{quantized(QInt8, 0.5, 3), []float64{0, 1.2, -1.3, 1000, -1000, math.Inf(1)}, []float64{0, 1, -1.5, 62, -65.5, 62}},
		{quantized(QUInt8, 0.5, 3), []float64{0, 1.2, -1.3, 1000, -1000, math.Inf(-1)}, []float64{0, 1, -1.5, 126, -1.5, -1.5}},
	} {
		got := runReals(t, compiled(t, converted(single, c.to)), []reals{{single, c.in}})[0]
		for i := range c.want {
			require.Equal(t, c.want[i], got.data[i], "%g to %v", c.in[i], got.typ)
		}
	}
}

// TestConvertDynamic quantises rows at run time, each with a scale of its own: with a filter that picks, what comes out is what
// went in, to a step of the row's own scale.
func TestConvertDynamic(t *testing.T) {
	nothingHeld(t)
	const rows, n = 5, 32
	for _, dtype := range []DType{Float32, Float16} {
		g := graph.New()
		x := g.Input(dtype, rows, n)
		identity := make([]byte, n*n)
		scales := make([]float32, n)
		for i := range n {
			identity[i*n+i], scales[i] = 1, 1
		}
		filter := g.ConstantOf(Type{DType: graph.QCInt8, Shape: Shape{n, n}, Quant: &Quant{Scales: scales}}, identity)
		g.Output(g.FullyConnected(g.Convert(x, graph.Dynamic(1)), filter, graph.None))
		m := compiled(t, g)
		for _, batch := range []int{rows, 1, 0, 9} {
			typ := Type{DType: dtype, Shape: Shape{batch, n}}
			in := reals{typ, make([]float64, batch*n)}
			for i := range in.data {
				in.data[i] = math.Sin(float64(i)) * math.Pow(10, float64(i/n%5)-2)
			}
			in = realsOf(typ, in.data)
			got := runReals(t, m, []reals{in})[0]
			for i, want := range in.data {
				step := math.Pow(10, float64(i/n%5)-2) * 2 / 255
				require.InDelta(t, want, got.data[i], step+2e-3*math.Abs(want), fmt.Sprint(dtype, batch, i))
			}
		}
	}
}
