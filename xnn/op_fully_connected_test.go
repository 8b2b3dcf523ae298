package xnn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// layer is a FullyConnected to be tested: x [m, k], weights [n, k], bias [n] and limits where there are any.
type layer struct {
	m, n, k    int
	x, w       []float32
	bias       []float32 // nil: none
	limited    bool
	transposed bool
	out        graph.DType // of a QDInt8 operand
}

func newLayer(r *rand.Rand, m, n, k int) layer {
	return layer{m: m, n: n, k: k, x: numbers(r, m*k), w: numbers(r, n*k), bias: numbers(r, n)}
}

// apply adds the node and returns its result as an output.
func (l layer) apply(g *graph.Graph, x, filter, bias graph.ID, opts ...graph.Option) {
	if l.limited {
		opts = append(opts, graph.Limits(l.bounds()))
	}
	if l.out != graph.InvalidDType {
		opts = append(opts, graph.As(l.out))
	}
	call := g.FullyConnected
	if l.transposed {
		call = g.FullyConnectedTransposed
	}
	g.Output(call(x, filter, bias, opts...))
}

func (l layer) bounds() (lo, hi float32) { return -0.25, 0.5 }

// filter is the weights as the operator takes them, with their shape and the axis of their output channels.
func (l layer) filter() (w []float32, shape []int, axis int) {
	if l.transposed {
		return flipped(l.w, l.n, l.k), []int{l.k, l.n}, 1
	}
	return l.w, []int{l.n, l.k}, 0
}

func (l layer) biasOf(g *graph.Graph) graph.ID {
	if l.bias == nil {
		return graph.None
	}
	return g.Constant(l.bias, l.n)
}

// want is the result for operands that are what XNNPACK makes of them, and how far it may be off.
func (l layer) want(x, w, bias []float32, relative, absolute float64) (want, tolerance []float64) {
	want, tolerance = dotRows(x, w, l.m, l.n, l.k)
	for i := range want {
		if bias != nil {
			want[i] += float64(bias[i%l.n])
			tolerance[i] += math.Abs(float64(bias[i%l.n]))
		}
		want[i] = l.limit(want[i])
		tolerance[i] = absolute + relative*tolerance[i]
	}
	return want, tolerance
}

func (l layer) limit(f float64) float64 {
	if !l.limited {
		return f
	}
	lo, hi := l.bounds()
	return max(float64(lo), min(float64(hi), f))
}

// layerKinds are the combinations of element types: each builds the graph, runs it, and compares. Of integers, weights are what
// the helpers of package graph make of l.w; what they stand for is read here.
var layerKinds = map[string]struct {
	run      func(t *testing.T, l layer, r *rand.Rand)
	straight bool // there is no transposed form
	even     bool // transposed, n and k are even
	blocks   bool // k is a multiple of 32
}{
	"fp32": {run: func(t *testing.T, l layer, _ *rand.Rand) {
		g := graph.New()
		w, shape, _ := l.filter()
		l.apply(g, g.Input(Float32, l.m, l.k), g.Constant(w, shape...), l.biasOf(g))
		want, tolerance := l.want(l.x, l.w, l.bias, 1e-5, 1e-6)
		withinEach(t, want, evaluate(t, g, l.x)[0], tolerance, l.name())
	}},
	"fp32, filter and bias computed": {run: func(t *testing.T, l layer, _ *rand.Rand) {
		g := graph.New()
		w, shape, _ := l.filter()
		in := []any{l.x, w}
		x, filter, bias := g.Input(Float32, l.m, l.k), g.Input(Float32, shape...), graph.None
		if l.bias != nil {
			bias, in = g.Input(Float32, l.n), append(in, l.bias)
		}
		l.apply(g, x, filter, bias)
		want, tolerance := l.want(l.x, l.w, l.bias, 1e-5, 1e-6)
		withinEach(t, want, evaluate(t, g, in...)[0], tolerance, l.name())
	}},
	"fp32, filter computed": {run: func(t *testing.T, l layer, _ *rand.Rand) {
		g := graph.New()
		w, shape, _ := l.filter()
		l.apply(g, g.Input(Float32, l.m, l.k), g.Input(Float32, shape...), l.biasOf(g))
		want, tolerance := l.want(l.x, l.w, l.bias, 1e-5, 1e-6)
		withinEach(t, want, evaluate(t, g, l.x, w)[0], tolerance, l.name())
	}},
	"fp32, bias computed": {run: func(t *testing.T, l layer, _ *rand.Rand) {
		if l.bias == nil {
			l.bias = l.w[:l.n]
		}
		g := graph.New()
		w, shape, _ := l.filter()
		l.apply(g, g.Input(Float32, l.m, l.k), g.Constant(w, shape...), g.Input(Float32, l.n))
		want, tolerance := l.want(l.x, l.w, l.bias, 1e-5, 1e-6)
		withinEach(t, want, evaluate(t, g, l.x, l.bias)[0], tolerance, l.name())
	}},
	"fp16": {run: func(t *testing.T, l layer, _ *rand.Rand) {
		g := graph.New()
		w, shape, _ := l.filter()
		bits, x := halves(l.x)
		filter, _ := halves(w)
		_, weights := halves(l.w)
		bias := graph.None
		var b []float32
		if l.bias != nil {
			var raw []Half
			raw, b = halves(l.bias)
			bias = g.Constant(raw, l.n)
		}
		l.apply(g, g.Input(Float16, l.m, l.k), g.Constant(filter, shape...), bias)
		want, tolerance := l.want(x, weights, b, 2e-3, tinyHalf)
		withinEach(t, want, evaluate(t, g, bits)[0], tolerance, l.name())
	}},
	"fp16 with fp32 weights": {run: func(t *testing.T, l layer, _ *rand.Rand) {
		g := graph.New()
		w, shape, _ := l.filter()
		bits, x := halves(l.x)
		l.apply(g, g.Input(Float16, l.m, l.k), g.Constant(w, shape...), l.biasOf(g))
		_, weights := halves(l.w)
		_, b := halves(l.bias)
		if l.bias == nil {
			b = nil
		}
		want, tolerance := l.want(x, weights, b, 2e-3, tinyHalf)
		withinEach(t, want, evaluate(t, g, bits)[0], tolerance, l.name())
	}},
	"fp32, qcint8":           {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runWeights(t, graph.QCInt8) }},
	"fp32, qcint4":           {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runWeights(t, graph.QCInt4) }, straight: true},
	"qdint8, qcint8 -> fp32": {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runDynamic(t, graph.QCInt8, Float32) }},
	"qdint8, qcint8 -> fp16": {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runDynamic(t, graph.QCInt8, Float16) }},
	"qdint8, qcint4 -> fp32": {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runDynamic(t, graph.QCInt4, Float32) },
		even: true},
	"qdint8, qcint4 -> fp16": {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runDynamic(t, graph.QCInt4, Float16) },
		even: true},
	"qdint8, qbint4 -> fp32": {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runDynamic(t, graph.QBInt4, Float32) },
		straight: true, blocks: true},
	"qdint8, qbint4 -> fp16": {run: func(t *testing.T, l layer, _ *rand.Rand) { l.runDynamic(t, graph.QBInt4, Float16) },
		straight: true, blocks: true},
	"qint8, qint8":   {run: func(t *testing.T, l layer, r *rand.Rand) { l.runIntegers(t, r, QInt8, QInt8) }},
	"qint8, qcint8":  {run: func(t *testing.T, l layer, r *rand.Rand) { l.runIntegers(t, r, QInt8, graph.QCInt8) }},
	"quint8, quint8": {run: func(t *testing.T, l layer, r *rand.Rand) { l.runIntegers(t, r, QUInt8, QUInt8) }},
}

func (l layer) name() string {
	return fmt.Sprintf("%dx%dx%d bias %v limits %v transposed %v", l.m, l.n, l.k, l.bias != nil, l.limited, l.transposed)
}

// quantized adds the weights as a constant of this type and gives their integers, less the zero point, and their scale, for
// output channel j and input channel i at j*k+i.
func (l layer) quantized(t *testing.T, g *graph.Graph, dtype graph.DType) (filter graph.ID, codes, scales []float64) {
	w, shape, axis := l.filter()
	var typ Type
	var data []byte
	var err error
	if dtype == graph.QBInt4 {
		typ, data, err = graph.QuantizeBlocks(w, shape, 32)
	} else {
		typ, data, err = graph.QuantizeChannels(w, shape, axis, dtype)
	}
	require.NoError(t, err)
	if dtype == graph.QCInt8 {
		codes = codes8(data)
	} else {
		codes = codes4(data, shape[0], shape[1])
	}
	if l.transposed {
		codes = flipped(codes, l.k, l.n)
	}
	scales = make([]float64, len(codes))
	for i := range scales {
		at := i / l.k
		if dtype == graph.QBInt4 {
			at = i / 32
		}
		scales[i] = float64(typ.Quant.Scales[at])
	}
	return g.ConstantOf(typ, data), codes, scales
}

// runWeights multiplies fp32 with integer weights.
func (l layer) runWeights(t *testing.T, dtype graph.DType) {
	g := graph.New()
	filter, codes, scales := l.quantized(t, g, dtype)
	w := make([]float32, len(codes))
	for i := range w {
		w[i] = float32(codes[i] * scales[i])
	}
	l.apply(g, g.Input(Float32, l.m, l.k), filter, l.biasOf(g))
	want, tolerance := l.want(l.x, w, l.bias, 1e-5, 1e-6)
	withinEach(t, want, evaluate(t, g, l.x)[0], tolerance, l.name())
}

// runDynamic quantises x row by row at run time. Both sides round x the same way but where a number is all but halfway between
// two integers: such an element may be off by one of its scale, times the largest weight.
func (l layer) runDynamic(t *testing.T, dtype, out graph.DType) {
	g := graph.New()
	filter, codes, scales := l.quantized(t, g, dtype)
	l.out = out
	x := g.Convert(g.Input(Float32, l.m, l.k), graph.Dynamic(1))
	l.apply(g, x, filter, l.biasOf(g))
	relative, absolute := 1e-5, 1e-6
	if out == Float16 {
		relative, absolute = 1e-3, tinyHalf
	}
	want, tolerance := make([]float64, l.m*l.n), make([]float64, l.m*l.n)
	for i := range l.m {
		q := quantizeRow(l.x[i*l.k : (i+1)*l.k])
		for j := range l.n {
			sum, size, largest := 0., 0., 0.
			for k := range l.k {
				w := codes[j*l.k+k] * scales[j*l.k+k]
				sum += q.codes[k] * q.scale * w
				size += math.Abs(q.codes[k] * q.scale * w)
				largest = max(largest, math.Abs(w))
			}
			if l.bias != nil {
				sum += float64(l.bias[j])
				size += math.Abs(float64(l.bias[j]))
			}
			want[i*l.n+j] = l.limit(sum)
			tolerance[i*l.n+j] = relative*size + absolute + float64(q.unsure)*q.scale*largest
		}
	}
	withinEach(t, want, evaluate(t, g, l.x)[0], tolerance, l.name())
}

// runIntegers multiplies integers with integers; the result may be off by one step.
func (l layer) runIntegers(t *testing.T, r *rand.Rand, x, weights graph.DType) {
	g := graph.New()
	const xScale, wScale = 0.03, 0.02
	xZero, wZero, outZero := 5, 0, -7
	offset := 0 // of the integers of a type to those of int8
	if x == QUInt8 {
		xZero, wZero, outZero, offset = 133, 120, 121, 128
	}
	xs, ws := make([]float64, l.m*l.k), make([]float64, l.n*l.k)
	xRaw, wRaw := make([]byte, len(xs)), make([]byte, len(ws))
	for i := range xs {
		v := r.IntN(256) - 128 + offset
		xs[i], xRaw[i] = float64(v-xZero), byte(v)
	}
	for i := range ws {
		v := r.IntN(256) - 128 + offset
		ws[i], wRaw[i] = float64(v-wZero), byte(v)
	}
	scaleOf := func(j int) float64 { return float64(float32(wScale)) }
	shape, axis := []int{l.n, l.k}, 0
	if l.transposed {
		wRaw, shape, axis = flipped(wRaw, l.n, l.k), []int{l.k, l.n}, 1
	}
	typ := Type{DType: weights, Shape: shape, Quant: &Quant{Scale: wScale, ZeroPoint: wZero}}
	if weights == graph.QCInt8 {
		typ.Quant = &Quant{Axis: axis}
		for j := range l.n {
			typ.Quant.Scales = append(typ.Quant.Scales, wScale*(1+float32(j%5)))
		}
		scaleOf = func(j int) float64 { return float64(typ.Quant.Scales[j]) }
	}
	in := g.InputOf(Type{DType: x, Shape: Shape{l.m, l.k}, Quant: &Quant{Scale: xScale, ZeroPoint: xZero}})
	bias := graph.None
	var biases []float64
	if l.bias != nil {
		list := make([]float32, l.n)
		for j := range list {
			list[j] = 3 * l.bias[j]
		}
		biasType, raw, err := graph.QuantizeBias(list, g.Values[in].Type, typ)
		require.NoError(t, err)
		bias, biases = g.ConstantOf(biasType, raw), codes32(raw)
	}
	// A step so large that some results are past the ends of what there is, and most are not.
	outScale := float32(0.03 * 0.02 * 74 * 74 * math.Sqrt(float64(l.k)) / 60)
	l.apply(g, in, g.ConstantOf(typ, wRaw), bias, graph.Quantized(x, outScale, outZero))

	want, tolerance := make([]float64, l.m*l.n), make([]float64, l.m*l.n)
	for i := range l.m {
		for j := range l.n {
			sum := 0.
			for k := range l.k {
				sum += xs[i*l.k+k] * ws[j*l.k+k]
			}
			if biases != nil {
				sum += biases[j]
			}
			real := l.limit(sum * float64(float32(xScale)) * scaleOf(j))
			step := math.RoundToEven(real/float64(outScale)) + float64(outZero)
			want[i*l.n+j] = max(-128+float64(offset), min(127+float64(offset), step))
			tolerance[i*l.n+j] = 1
		}
	}
	var data any = xRaw
	if x == QInt8 {
		signed := make([]int8, len(xRaw))
		for i, b := range xRaw {
			signed[i] = int8(b)
		}
		data = signed
	}
	withinEach(t, want, evaluate(t, g, data)[0], tolerance, l.name())
}

// layerSizes are around the sizes of kernels' tiles and vectors.
var layerSizes = []int{1, 2, 7, 17, 33, 100}

func TestFullyConnected(t *testing.T) {
	for name, kind := range layerKinds {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(name, "fp16") && !halfRuns(t) || kind.blocks && !weightsRun(graph.QDInt8, graph.QBInt4, 32) ||
				strings.HasPrefix(name, "fp32, qc") && !weightsRun(Float32, graph.QCInt8, 1) {
				t.Skip("no kernels on this processor")
			}
			r := rand.New(rand.NewPCG(1, 2))
			turn := 0
			for _, m := range layerSizes {
				for _, n := range layerSizes {
					for _, k := range layerSizes {
						if kind.blocks {
							k = (k%4 + 1) * 32
						} else if name == "fp32, qcint4" && !weightsRun(Float32, graph.QCInt4, k) {
							k++
						}
						l := newLayer(r, m, n, k)
						turn++
						if turn%2 == 0 {
							l.bias = nil
						}
						l.limited = turn/2%2 == 0
						l.transposed = !kind.straight && turn/4%2 == 0 && (!kind.even || n%2 == 0 && k%2 == 0)
						kind.run(t, l, r)
					}
				}
			}
		})
	}
}
