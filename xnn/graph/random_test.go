package graph_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// random builds graphs of any operators.
type random struct {
	*rand.Rand
	g      *graph.Graph
	values []graph.ID // that nodes can read
	plain  bool       // only what ExecuTorch's dialect has a word for
}

// randomGraph is one with some inputs, nodes, outputs and whatever else a file can hold.
func randomGraph(seed uint64) *graph.Graph {
	r := random{Rand: rand.New(rand.NewPCG(seed, 9)), g: graph.New(), plain: seed%2 == 0}
	for range 1 + r.IntN(3) {
		r.values = append(r.values, r.g.Input(graph.Float32, r.dims(r.IntN(5))...))
	}
	for range r.IntN(12) {
		r.node()
	}
	if r.plain {
		r.g.Output(r.g.Softmax(r.real(1, 6)))
	}
	for range r.IntN(3) {
		if !r.plain {
			r.g.Output(r.values[len(r.values)-1-r.IntN(min(4, len(r.values)))])
		}
	}
	for i := range r.g.Nodes {
		r.g.Nodes[i].DebugHandle = r.Uint32() >> r.IntN(32)
	}
	for i := 1; i < len(r.g.Constants); i++ {
		if r.IntN(3) == 0 {
			r.g.Constants[i].Reserve = uint32(len(r.g.Constants[i].Data) + 1 + r.IntN(100))
		}
	}
	if r.IntN(3) == 0 {
		r.g.ArenaBytes = r.Uint32()
		r.g.Version = "random"
		r.g.SpareBuffers = []uint32{0, r.Uint32()}
	}
	return r.g
}

func (r *random) dims(rank int) []int {
	dims := make([]int, rank)
	for i := range dims {
		dims[i] = 1 + r.IntN(6)
	}
	return dims
}

func (r *random) shape(id graph.ID) graph.Shape { return r.g.Values[id].Shape }

// real gives a value that is fp32, of a rank from least to most, made with Reshape where there is none.
func (r *random) real(least, most int) graph.ID {
	for range 20 {
		id := r.values[r.IntN(len(r.values))]
		if n := len(r.shape(id)); n >= least && n <= most && r.g.Values[id].DType == graph.Float32 {
			return id
		}
	}
	id := r.g.Input(graph.Float32, r.dims(least+r.IntN(most-least+1))...)
	r.values = append(r.values, id)
	return id
}

func (r *random) weights(dims ...int) graph.ID {
	n := graph.Shape(dims).Elements()
	return r.g.Constant(numbers(n), dims...)
}

func (r *random) bias(n int) graph.ID {
	if r.IntN(3) == 0 {
		return graph.None
	}
	return r.weights(n)
}

func (r *random) limits() []graph.Option {
	if r.IntN(2) == 0 {
		return nil
	}
	return []graph.Option{graph.Limits(-r.Float32(), r.Float32()+0.1)}
}

func (r *random) node() {
	g := r.g
	add := func(ids ...graph.ID) { r.values = append(r.values, ids...) }
	kind := r.IntN(16)
	if r.plain {
		kind = []int{0, 4, 6, 8, 9, 11, 12, 13, 14}[r.IntN(9)]
	}
	switch kind {
	case 0:
		x := r.real(0, 6)
		add(g.ELU(x, r.Float32()+0.5), g.LeakyReLU(x, r.Float32()), g.Clamp(x, -1, r.Float32()))
	case 1:
		x := r.real(0, 6)
		add([]func(graph.ID, ...graph.Option) graph.ID{g.Abs, g.Sign, g.Exp, g.CubeRoot, g.BankersRounding, g.Copy}[r.IntN(6)](x))
	case 2:
		x := r.real(0, 6)
		binary := []func(x, y graph.ID, opts ...graph.Option) graph.ID{g.Add, g.Multiply, g.Maximum, g.Pow, g.Copysign}[r.IntN(5)]
		add(binary(x, []graph.ID{x, r.weights()}[r.IntN(2)], r.limits()...))
	case 3:
		x := r.real(1, 6)
		axes := r.Perm(len(r.shape(x)))[:1+r.IntN(len(r.shape(x)))]
		add([]func(graph.ID, []int, bool, ...graph.Option) graph.ID{g.ReduceMean, g.ReduceSum}[r.IntN(2)](x, axes, r.IntN(2) == 0))
	case 4:
		x := r.real(1, 6)
		add(g.Transpose(x, r.Perm(len(r.shape(x)))...))
	case 5:
		x := r.real(0, 5)
		add(g.ExpandDims(x, r.IntN(len(r.shape(x))+1)), g.Reshape(x, 0))
	case 6:
		x := r.real(1, 6)
		offsets, sizes := make([]int, len(r.shape(x))), make([]int, len(r.shape(x)))
		for i, d := range r.shape(x) {
			offsets[i] = r.IntN(d)
			sizes[i] = 1 + r.IntN(d-offsets[i])
		}
		add(g.Slice(x, offsets, sizes), g.Pad(x, offsets, sizes, r.Float32()))
	case 7:
		x := r.real(1, 6)
		xs := []graph.ID{x}
		for range 1 + r.IntN(6) {
			xs = append(xs, x)
		}
		axis := r.IntN(len(r.shape(x)))
		y := g.Concat(axis, xs...)
		add(y)
		add(g.EvenSplit(y, axis, len(xs))...)
	case 8:
		x := r.real(1, 4)
		ic, oc := r.shape(x)[len(r.shape(x))-1], 1+r.IntN(5)
		add(g.FullyConnected(x, r.weights(oc, ic), r.bias(oc), r.limits()...),
			g.FullyConnectedTransposed(x, r.weights(ic, oc), r.bias(oc)))
	case 9:
		x := r.real(4, 4)
		c := r.shape(x)[3]
		p := graph.Padding{Top: 1 + r.IntN(3), Right: 1 + r.IntN(3), Bottom: 1 + r.IntN(3), Left: 1 + r.IntN(3)}
		o := graph.Conv2D{Padding: p, Stride: [2]int{1 + r.IntN(2), 1 + r.IntN(3)}}
		add(g.Conv2D(x, r.weights(4, 3, 2, c), r.bias(4), o, r.limits()...),
			g.DepthwiseConv2D(x, r.weights(1, 2, 3, 2*c), r.bias(2*c), graph.DepthwiseConv2D{SamePadding: true}),
			g.ConvTranspose2D(x, r.weights(4, 3, 3, c), r.bias(4), graph.ConvTranspose2D{Adjustment: [2]int{0, 1}, Stride: [2]int{1, 2}}))
	case 10:
		x := r.real(4, 4)
		p := graph.Padding{Top: 1, Right: 1, Bottom: 1, Left: 1}
		add(g.AvgPool2D(x, graph.Pool2D{Kernel: [2]int{2, 2}, Padding: p}, r.limits()...),
			g.MaxPool2D(x, graph.Pool2D{Kernel: [2]int{3, 2}, Padding: p}, r.limits()...))
		values, indices := g.ArgMaxPool2D(x, graph.ArgMaxPool2D{Kernel: [2]int{2, 2}, Padding: p})
		add(values, indices, g.Unpool2D(values, indices, graph.Unpool2D{Kernel: [2]int{2, 2}}))
	case 11:
		x := r.real(2, 6)
		add(g.Softmax(x), g.BatchMatMulTransposed(x, x))
	case 12:
		x := g.Convert(r.real(0, 6), graph.Quantized(graph.QInt8, r.Float32()+0.01, r.IntN(256)-128))
		add(x, g.Add(x, x, graph.Quantized(graph.QInt8, r.Float32()+0.01, r.IntN(256)-128)))
	case 13:
		x := r.real(1, 4)
		n, oc := r.shape(x)[len(r.shape(x))-1], 1+r.IntN(4)
		scales := make([]float32, oc)
		for i := range scales {
			scales[i] = r.Float32() + 0.01
		}
		w := g.ConstantOf(graph.Type{DType: graph.QCInt8, Shape: graph.Shape{oc, n}, Quant: &graph.Quant{Scales: scales}}, count(oc*n))
		add(g.FullyConnected(g.Convert(x, graph.Dynamic(1)), w, r.bias(oc)))
	case 14:
		x := g.Input(graph.Float32, 2, 64)
		w := g.ConstantOf(graph.Type{DType: graph.QBInt4, Shape: graph.Shape{2, 64}, Quant: &graph.Quant{
			Scales: []float32{0.5, 0.25, 1, 2}, Block: 32}}, count(64))
		add(x, g.FullyConnected(g.Convert(x, graph.Dynamic(1)), w, graph.None))
	case 15:
		x := r.real(4, 4)
		y := g.ResizeBilinear2D(x, 2*(1+r.IntN(5)), 2*(1+r.IntN(5)), graph.HalfPixel)
		add(y, g.SpaceToDepth2D(y, 2), g.Convert(x, graph.As(graph.BFloat16)))
	}
}

// TestRandomRoundTrips: whatever graph the builder makes, a file says it whole.
func TestRandomRoundTrips(t *testing.T) {
	count := map[string]int{}
	for seed := range uint64(3000) {
		g := randomGraph(seed)
		require.NoError(t, g.Check(), "seed %d", seed)
		roundTrip(t, g, "a random graph")
		count[g.Dialect()]++
	}
	t.Log(count)
	require.Len(t, count, 3)
}
