package xnn

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// TestFullyConnectedSignatures: TestFullyConnected runs every combination of types.
func TestFullyConnectedSignatures(t *testing.T) {
	computed := 3 // of fp32, with an operand that is no constant
	require.Len(t, graph.Signatures("FullyConnected"), len(layerKinds)-computed)
	transposed := 0
	for _, k := range layerKinds {
		if !k.straight {
			transposed++
		}
	}
	require.Len(t, graph.Signatures("FullyConnectedTransposed"), transposed-computed)
}

// TestFullyConnectedByHand: x = [1 2 3], the filter's rows count the sum, the difference of the ends, and nothing.
func TestFullyConnectedByHand(t *testing.T) {
	g := graph.New()
	x, bias := g.Input(Float32, 2, 3), g.Constant([]float32{10, 20, 30}, 3)
	straight := g.Constant([]float32{1, 1, 1, -1, 0, 1, 0, 0, 0}, 3, 3)
	turned := g.Constant([]float32{1, -1, 0, 1, 0, 0, 1, 1, 0}, 3, 3)
	g.Output(g.FullyConnected(x, straight, bias))
	g.Output(g.FullyConnectedTransposed(x, turned, bias))
	g.Output(g.FullyConnected(x, straight, graph.None, graph.Limits(1, 5)))
	got := evaluate(t, g, []float32{1, 2, 3, 4, 5, 6})
	require.Equal(t, []float64{16, 22, 30, 25, 22, 30}, got[0])
	require.Equal(t, got[0], got[1])
	require.Equal(t, []float64{5, 2, 1, 5, 2, 1}, got[2])

	// Integers with scales: ((x+3)*0.5) times (w*0.25), plus a bias of units of 0.125, in steps of 0.5 from 1 on.
	g = graph.New()
	in := g.InputOf(Type{DType: QInt8, Shape: Shape{1, 2}, Quant: &Quant{Scale: 0.5, ZeroPoint: -3}})
	w := g.ConstantOf(Type{DType: QInt8, Shape: Shape{3, 2}, Quant: &Quant{Scale: 0.25}}, []byte{4, 8, 0xfc, 0, 127, 127})
	b := g.ConstantOf(Type{DType: graph.QInt32, Shape: Shape{3}, Quant: &Quant{Scale: 0.125}}, []byte{8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0})
	g.Output(g.FullyConnected(in, w, b, graph.Quantized(QInt8, 0.5, 1)))
	// x = [0.5 1]: 0.5*1+1*2+1 = 3.5 -> 8, -0.5 -> 0, 0.5*31.75+31.75 = 47.625 -> 95.25+1 -> 96.
	require.Equal(t, [][]float64{{8, 0, 96}}, evaluate(t, g, []int8{-2, -1}))
}

// TestFullyConnectedFlatten cuts rows out of what is there, quantised at run time or not.
func TestFullyConnectedFlatten(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	l := newLayer(r, 6, 5, 12)
	flat := func(g *graph.Graph, x, w, bias graph.ID, rows int) {
		y := graph.ID(len(g.Values))
		g.Values = append(g.Values, graph.Value{Type: Type{DType: Float32, Shape: Shape{rows, l.n}}, Ref: uint32(y)})
		g.Nodes = append(g.Nodes, graph.Node{Op: graph.FullyConnected{Flatten: true}, Inputs: []graph.ID{x, w, bias},
			Outputs: []graph.ID{y}})
		g.Output(y)
	}
	want, tolerance := l.want(l.x, l.w, l.bias, 1e-5, 1e-6)
	for _, shape := range []Shape{{6, 12}, {72}, {2, 3, 4, 3}, {3, 2, 3, 1, 4}, {4, 18}} {
		g := graph.New()
		flat(g, g.Input(Float32, shape...), g.Constant(l.w, l.n, l.k), g.Constant(l.bias, l.n), l.m)
		m := compiled(t, g)
		require.Equal(t, Shape{6, 5}, m.Outputs()[0].Shape)
		withinEach(t, want, evaluate(t, g, l.x)[0], tolerance, shape)
	}

	// A scale for each 12 elements, whatever dimensions they are of.
	g := graph.New()
	filter, codes, scales := l.quantized(t, g, graph.QCInt8)
	x := g.Convert(g.Input(Float32, 6, 4, 3), graph.Dynamic(2))
	flat(g, x, filter, g.Constant(l.bias, l.n), l.m)
	got := evaluate(t, g, l.x)[0]
	for i := range l.m {
		q := quantizeRow(l.x[i*l.k : (i+1)*l.k])
		for j := range l.n {
			sum, largest := float64(l.bias[j]), 0.
			for k := range l.k {
				w := codes[j*l.k+k] * scales[j*l.k+k]
				sum += q.codes[k] * q.scale * w
				largest = max(largest, math.Abs(w))
			}
			require.InDelta(t, sum, got[i*l.n+j], 1e-4+float64(q.unsure)*q.scale*largest)
		}
	}
}

// TestFullyConnectedRows: one session takes one number of rows after another, none among them.
func TestFullyConnectedRows(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	l := newLayer(r, 100, 33, 64)
	for name, build := range map[string]func(g *graph.Graph, x graph.ID) graph.ID{
		"fp32": func(g *graph.Graph, x graph.ID) graph.ID {
			return g.FullyConnected(x, g.Constant(l.w, l.n, l.k), g.Constant(l.bias, l.n))
		},
		"fp32 computed": func(g *graph.Graph, x graph.ID) graph.ID {
			w := g.Constant(l.w, l.n, l.k)
			return g.FullyConnected(x, g.Add(w, w), g.Constant(l.bias, l.n))
		},
		"fp32 and integers": func(g *graph.Graph, x graph.ID) graph.ID {
			w, _, _ := l.quantized(t, g, graph.QCInt8)
			return g.FullyConnected(x, w, g.Constant(l.bias, l.n), graph.Limits(-0.5, 0.5))
		},
		"quantised at run time": func(g *graph.Graph, x graph.ID) graph.ID {
			w, _, _ := l.quantized(t, g, graph.QCInt4)
			return g.FullyConnected(g.Convert(x, graph.Dynamic(1)), w, g.Constant(l.bias, l.n))
		},
		"blocks": func(g *graph.Graph, x graph.ID) graph.ID {
			w, _, _ := l.quantized(t, g, graph.QBInt4)
			return g.FullyConnected(g.Convert(x, graph.Dynamic(1)), w, g.Constant(l.bias, l.n))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "blocks" && !weightsRun(graph.QDInt8, graph.QBInt4, l.k) ||
				name == "fp32 and integers" && !weightsRun(Float32, graph.QCInt8, l.k) {
				t.Skip("not on this processor")
			}
			g := graph.New()
			g.Output(build(g, g.Input(Float32, 1, l.k)))
			m := compiled(t, g)
			// A row's result does not depend on how many there are: each alone is what all must be made of.
			alone := opened(t, m)
			var want []float64
			for i := range l.m {
				want = append(want, runOnce(t, alone, l.x[i*l.k:(i+1)*l.k])[0]...)
			}
			s := opened(t, m)
			for _, rows := range []int{1, 4, 2, 100, 0, 3, 15, 16} {
				require.NoError(t, s.Reshape(Shape{rows, l.k}))
				require.Equal(t, Shape{rows, l.n}, s.Output(0).Shape())
				withinEach(t, want[:rows*l.n], runOnce(t, s, l.x[:rows*l.k])[0], slices.Repeat([]float64{1e-5}, rows*l.n), rows)
			}
		})
	}
}

// TestFullyConnectedThreads: the same numbers from any number of threads.
func TestFullyConnectedThreads(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	l := newLayer(r, 65, 129, 256)
	for _, dtype := range []graph.DType{Float32, graph.QCInt8, graph.QBInt4} {
		if !weightsRun(graph.QDInt8, dtype, l.k) {
			continue
		}
		g := graph.New()
		x := g.Input(Float32, l.m, l.k)
		if dtype == Float32 {
			g.Output(g.FullyConnected(x, g.Constant(l.w, l.n, l.k), g.Constant(l.bias, l.n)))
		} else {
			w, _, _ := l.quantized(t, g, dtype)
			g.Output(g.FullyConnected(g.Convert(x, graph.Dynamic(1)), w, g.Constant(l.bias, l.n)))
		}
		m := compiled(t, g)
		want := runOnce(t, opened(t, m, WithThreads(1)), l.x)
		for _, threads := range []int{2, 3, 8} {
			require.Equal(t, want, runOnce(t, opened(t, m, WithThreads(threads)), l.x), "%v on %d threads", dtype, threads)
		}
	}
}

// TestFullyConnectedSpecialNumbers: what is not finite stays in its row, also where an odd number of 4-bit weights makes a kernel
// look at the next row.
func TestFullyConnectedSpecialNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	l := newLayer(r, 9, 20, 7)
	for i := range l.k {
		l.x[4*l.k+i] = nan
		l.x[6*l.k+i] = inf
	}
	for _, dtype := range []graph.DType{Float32, graph.QCInt8, graph.QCInt4} {
		if !weightsRun(Float32, dtype, l.k) {
			continue
		}
		g := graph.New()
		w := g.Constant(l.w, l.n, l.k)
		if dtype != Float32 {
			w, _, _ = l.quantized(t, g, dtype)
		}
		g.Output(g.FullyConnected(g.Input(Float32, l.m, l.k), w, g.Constant(l.bias, l.n)))
		for i, y := range evaluate(t, g, l.x)[0] {
			row, finite := i/l.n, !math.IsNaN(y) && !math.IsInf(y, 0)
			require.Equal(t, row != 4 && row != 6, finite, "%v: row %d has %g", dtype, row, y)
		}
	}
}

// TestRequantizationEnds: the ratios of scales that are taken are right up to the ends.
func TestRequantizationEnds(t *testing.T) {
	for _, c := range []struct {
		dtype           DType
		x, w, out       float32
		in, weight, sum int // what is multiplied, and the result less its zero point
	}{
		{QInt8, 1, 255.5, 1, 1, 1, 127},
		{QInt8, 1, 255.5, 1, -1, 1, -128},
		{QInt8, 0x1p-62, 0x1p-62, 0x1p-92, 127, 127, 0},
		{QInt8, 0x1p-10, 0x1p-4, 1, 127, 127, 1},
		{QUInt8, 255.5, 1, 1, 1, 1, 255},
		{QUInt8, 0x1p-10, 0x1p-4, 1, 127, 127, 1},
		{QUInt8, 0x1p-62, 0x1p-62, 0x1p-92, 127, 127, 0},
	} {
		g := graph.New()
		x := g.InputOf(Type{DType: c.dtype, Shape: Shape{1, 1}, Quant: &Quant{Scale: c.x}})
		w := g.ConstantOf(Type{DType: c.dtype, Shape: Shape{1, 1}, Quant: &Quant{Scale: c.w}}, []byte{byte(c.weight)})
		g.Output(g.FullyConnected(x, w, graph.None, graph.Quantized(c.dtype, c.out, 0)))
		var in any = []int8{int8(c.in)}
		if c.dtype == QUInt8 {
			in = []uint8{uint8(c.in)}
		}
		require.Equal(t, [][]float64{{float64(c.sum)}}, evaluate(t, g, in), "%+v", c)
	}
}

// TestFullyConnectedSparse: a graph may have it, and is told where and why it does not run.
func TestFullyConnectedSparse(t *testing.T) {
	g := graph.New()
	x := g.Input(Float32, 2, 3)
	g.Output(g.FullyConnectedSparse(g.Add(x, x), g.Constant(make([]float32, 12), 4, 3), graph.None))
	_, err := Compile(g)
	failed(t, err, ErrUnsupported, "sparse filters", "use FullyConnected")
	var e *Error
	require.ErrorAs(t, err, &e)
	require.EqualValues(t, 1, e.Node)
	require.Equal(t, schema.StageDefine, e.Stage)
}

// TestFullyConnectedHalfLimits: limits that half precision cannot tell apart are an error.
func TestFullyConnectedHalfLimits(t *testing.T) {
	if !halfRuns(t) {
		t.Skip("no kernels on this processor")
	}
	g := graph.New()
	w := g.Constant([]Half{0}, 1, 1)
	g.Output(g.FullyConnected(g.Input(Float16, 1, 1), w, graph.None, graph.Limits(1, 1.0001)))
	_, err := Compile(g)
	failed(t, err, ErrGraph, "output range")
}
