package graph_test

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// all makes every node pay.
var all = graph.WeightOptions{MinWeights: 1, MaxLoss: 1}

// weightRamp are so many different numbers, some negative.
func weightRamp(n int) []float32 {
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i%17) - 8 + float32(i%5)/8
	}
	return data
}

func TestQuantizeWeights(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 3, 2)
	bias := g.Constant([]float32{1, 2}, 2)
	y := g.FullyConnected(x, g.Constant([]float32{254, -127, 1, 0.5}, 2, 2), bias, graph.Limits(0, 6))
	z := g.FullyConnected(x, g.Constant([]float32{0, 0, 127, 3}, 2, 2), graph.None)
	g.Output(g.Add(y, z))
	g.Nodes[0].DebugHandle, g.ArenaBytes = 7, 4096
	before := g.Clone()

	q, changes, err := graph.QuantizeWeights(g, all)
	require.NoError(t, err)
	require.Equal(t, before, g)

	// Row by row: 254 is 127 of 2, and -127 half of it to the even -64; 0.5 of 1/127 is 63.5, to the even 64; a row of zeros
	// has scale 1.
	require.Len(t, q.Nodes, 4)
	require.Equal(t, graph.Node{Op: graph.Unary{Func: graph.Convert}, Inputs: []graph.ID{0}, Outputs: q.Nodes[0].Outputs, DebugHandle: 7},
		q.Nodes[0])
	dynamic := q.Values[q.Nodes[0].Outputs[0]].Type
	require.Equal(t, graph.Type{DType: graph.QDInt8, Shape: graph.Shape{3, 2}, Quant: &graph.Quant{Inner: 1}}, dynamic)
	first, second := q.Nodes[1], q.Nodes[2]
	require.Equal(t, graph.FullyConnected{Range: graph.Range{Min: 0, Max: 6}}, first.Op)
	require.Equal(t, first.Inputs[0], second.Inputs[0], "both read the same integers")
	require.EqualValues(t, 7, first.DebugHandle)
	filter := q.Values[first.Inputs[1]]
	require.Equal(t, graph.Type{DType: graph.QCInt8, Shape: graph.Shape{2, 2}, Quant: &graph.Quant{Scales: []float32{2, 1. / 127}}},
		filter.Type)
	require.Equal(t, []byte{127, 0xc0, 127, 64}, q.Constants[filter.Constant].Data)
	filter = q.Values[second.Inputs[1]]
	require.Equal(t, []float32{1, 1}, filter.Quant.Scales)
	require.Equal(t, []byte{0, 0, 127, 3}, q.Constants[filter.Constant].Data)
	require.Equal(t, graph.Float32, q.Values[first.Inputs[2]].DType)
	require.Len(t, second.Inputs, 2)

	// What changed: -127 became -128, 0.5 became 64/127.
	require.Zero(t, q.ArenaBytes)
	lost := math.Sqrt((1 + math.Pow(64./127-0.5, 2)) / (254*254 + 127*127 + 1 + 0.25))
	require.InDelta(t, lost, changes[0].Loss, 1e-9)
	changes[0].Loss = 0
	whole := graph.Type{DType: graph.Float32, Shape: graph.Shape{2, 2}}
	require.Equal(t, []graph.WeightChange{
		{Node: 0, Kind: "FullyConnected", Filter: whole, Before: 16, After: 12},
		{Node: 1, Kind: "FullyConnected", Filter: whole, Before: 16, After: 12},
	}, changes)

	// The weights of before are gone, all is numbered by its place, and the file says the same.
	require.Len(t, q.Constants, 4)
	require.Len(t, q.Values, 8)
	for i, v := range q.Values {
		require.EqualValues(t, i, v.Ref)
	}
	for i, n := range q.Nodes {
		require.EqualValues(t, i, n.Ref)
	}
	file, err := q.Marshal()
	require.NoError(t, err)
	read, err := graph.Unmarshal(file)
	require.NoError(t, err)
	require.Len(t, read.Nodes, 4)
}

func TestQuantizeWeightsOfImages(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 1, 4, 4, 4)
	y := g.Conv2D(x, g.Constant(weightRamp(2*9*4), 2, 3, 3, 4), graph.None, graph.Conv2D{SamePadding: true})
	z := g.Conv2D(x, g.Constant(weightRamp(4*2), 4, 1, 1, 2), graph.None, graph.Conv2D{Groups: 2})
	g.Output(g.ConvTranspose2D(g.Concat(3, y, z), g.Constant(weightRamp(3*4*6), 3, 2, 2, 6), graph.None,
		graph.ConvTranspose2D{Stride: [2]int{2, 2}}))
	q, changes, err := graph.QuantizeWeights(g, all)
	require.NoError(t, err)
	require.Equal(t, []string{"Convert", "Conv2D", "Conv2D", "Concat", "Convert", "ConvTranspose2D"}, kindsOf(q))
	require.Len(t, changes, 3)
	for _, c := range changes {
		require.Empty(t, c.Kept)
	}
	for i, channels := range map[int]int{1: 2, 2: 4, 5: 3} {
		filter, x := q.Values[q.Nodes[i].Inputs[1]], q.Values[q.Nodes[i].Inputs[0]]
		require.Equal(t, graph.QCInt8, filter.DType)
		require.Len(t, filter.Quant.Scales, channels)
		require.Equal(t, 3, x.Quant.Inner)
	}
}

func kindsOf(g *graph.Graph) []string {
	var list []string
	for _, n := range g.Nodes {
		list = append(list, n.Op.Kind())
	}
	return list
}

// A transposed filter has its channels along the other dimension, and becomes a straight one for 4 bits.
func TestQuantizeWeightsTransposed(t *testing.T) {
	data := weightRamp(64 * 2)
	g := graph.New()
	g.Output(g.FullyConnectedTransposed(g.Input(graph.Float32, 1, 64), g.Constant(data, 64, 2), graph.None))
	q, _, err := graph.QuantizeWeights(g, all)
	require.NoError(t, err)
	require.Equal(t, []string{"Convert", "FullyConnectedTransposed"}, kindsOf(q))
	require.Equal(t, 1, q.Values[q.Nodes[1].Inputs[1]].Quant.Axis)

	o := all
	o.DType = graph.QBInt4
	q, changes, err := graph.QuantizeWeights(g, o)
	require.NoError(t, err)
	require.Equal(t, []string{"Convert", "FullyConnected"}, kindsOf(q))
	filter := q.Values[q.Nodes[1].Inputs[1]]
	require.Equal(t, graph.Shape{2, 64}, filter.Shape)
	require.Equal(t, 32, filter.Quant.Block)
	require.Equal(t, 64+2*4, changes[0].After)
	numbers, err := graph.Dequantize(filter.Type, q.Constants[filter.Constant].Data)
	require.NoError(t, err)
	for i, f := range numbers {
		require.InDelta(t, data[i%64*2+i/64], f, 0.65, "element %d: half of a scale of at most 8.5/7 and its rounding", i)
	}
}

// Rows of a flattened input are its inner dimensions, whose number is found; half precision takes a bias of fp32.
func TestQuantizeWeightsFlattened(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float16, 2, 3, 4)
	filter, bias := g.Constant(weightRamp(5*12), 5, 12), g.Constant([]graph.Half{0x3c00, 0, 0, 0, 0xc000}, 5)
	g.Values[filter].DType = graph.Float16
	g.Constants[g.Values[filter].Constant].Data = halves(weightRamp(5 * 12))
	g.Output(g.Apply(graph.FullyConnected{Flatten: true}, []graph.ID{x, filter, bias}, 1)[0])
	q, changes, err := graph.QuantizeWeights(g, all)
	require.NoError(t, err)
	require.Empty(t, changes[0].Kept)
	n := q.Nodes[1]
	require.Equal(t, 2, q.Values[n.Inputs[0]].Quant.Inner)
	require.Equal(t, graph.Float16, q.Values[n.Outputs[0]].DType)
	b := q.Values[n.Inputs[2]]
	require.Equal(t, graph.Float32, b.DType)
	require.Equal(t, []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xc0}, q.Constants[b.Constant].Data)
}

func halves(data []float32) []byte {
	var raw []byte
	for _, f := range data {
		raw = binary.LittleEndian.AppendUint16(raw, uint16(graph.HalfOf(f)))
	}
	return raw
}

// Nodes that do not pay, cannot change, lose much or are to be kept stay as they were, and are told with the reason.
func TestQuantizeWeightsKept(t *testing.T) {
	inf := float32(math.Inf(1))
	dense := func(data []float32, dims ...int) func(g *graph.Graph) {
		return func(g *graph.Graph) {
			g.Output(g.FullyConnected(g.Input(graph.Float32, 1, dims[1]), g.Constant(data, dims...), graph.None))
		}
	}
	for name, c := range map[string]struct {
		o     graph.WeightOptions
		build func(g *graph.Graph)
		want  string
	}{
		"few":       {graph.WeightOptions{}, dense(weightRamp(12), 3, 4), "12 weights, fewer than 16384"},
		"fewer":     {graph.WeightOptions{MinWeights: 13}, dense(weightRamp(12), 3, 4), "fewer than 13"},
		"kept":      {graph.WeightOptions{MinWeights: 1, Keep: func(n *graph.Node) bool { return n.Ref == 0 }}, dense(weightRamp(12), 3, 4), "to stay"},
		"not whole": {all, dense([]float32{1, inf}, 1, 2), "element 1 is +Inf"},
		"outlier":   {graph.WeightOptions{MinWeights: 1}, dense([]float32{1000, 3, 3, -3, 3000, 3, 3, 3}, 2, 4), ""},
		"outliers":  {graph.WeightOptions{MinWeights: 1, MaxLoss: 1e-4}, dense([]float32{1000, 3, 3, -3, 3000, 3, 3, 3}, 2, 4), "would lose"},
		"blocks":    {graph.WeightOptions{MinWeights: 1, DType: graph.QBInt4, Block: 64}, dense(weightRamp(96*2), 2, 96), "96 input channels are no blocks of 64"},
		"large":     {all, dense(make([]float32, 65537), 1, 65537), "65537 products"},
		"images": {graph.WeightOptions{MinWeights: 1, DType: graph.QBInt4}, func(g *graph.Graph) {
			g.Output(g.Conv2D(g.Input(graph.Float32, 1, 1, 1, 32), g.Constant(weightRamp(32), 1, 1, 1, 32), graph.None, graph.Conv2D{}))
		}, "only fully connected"},
		"depthwise": {all, func(g *graph.Graph) {
			g.Output(g.DepthwiseConv2D(g.Input(graph.Float32, 1, 3, 3, 2), g.Constant(weightRamp(18), 1, 3, 3, 2), graph.None,
				graph.DepthwiseConv2D{}))
		}, "depthwise"},
		"groups of one": {all, func(g *graph.Graph) {
			g.Output(g.Conv2D(g.Input(graph.Float32, 1, 3, 3, 2), g.Constant(weightRamp(18), 2, 3, 3, 1), graph.None, graph.Conv2D{Groups: 2}))
		}, "depthwise"},
		"half transposed": {all, func(g *graph.Graph) {
			g.Output(g.ConvTranspose2D(g.Input(graph.Float16, 1, 2, 2, 2), g.Constant(weightRamp(4), 2, 1, 1, 2), graph.None,
				graph.ConvTranspose2D{}))
		}, "does not take"},
		"integers": {all, func(g *graph.Graph) {
			typ, raw, err := graph.QuantizeChannels(weightRamp(4), graph.Shape{2, 2}, 0, graph.QCInt8)
			require.NoError(t, err)
			g.Output(g.FullyConnected(g.Input(graph.Float32, 1, 2), g.ConstantOf(typ, raw), graph.None))
		}, "its weights are qcint8"},
		"rows across": {all, func(g *graph.Graph) {
			x, filter := g.Input(graph.Float32, 2, 3, 2), g.Constant(weightRamp(4), 1, 4)
			g.Output(g.Apply(graph.FullyConnected{Flatten: true}, []graph.ID{x, filter}, 1)[0])
		}, "no inner dimensions"},
	} {
		g := graph.New()
		c.build(g)
		q, changes, err := graph.QuantizeWeights(g, c.o)
		require.NoError(t, err, name)
		require.Len(t, changes, 1, name)
		if c.want == "" {
			require.Empty(t, changes[0].Kept, name)
			continue
		}
		require.Contains(t, changes[0].Kept, c.want, name)
		require.Equal(t, changes[0].Before, changes[0].After, name)
		require.Equal(t, kindsOf(g), kindsOf(q), name)
		require.Equal(t, g.Values, q.Values, name)
		require.Equal(t, g.Constants, q.Constants, name)
	}
	// A filter that is computed is none of its business.
	g := graph.New()
	g.Output(g.FullyConnected(g.Input(graph.Float32, 1, 2), g.Input(graph.Float32, 2, 2), graph.None))
	q, changes, err := graph.QuantizeWeights(g, all)
	require.NoError(t, err)
	require.Empty(t, changes)
	require.Equal(t, g.Nodes, q.Nodes)
}

func TestQuantizeWeightsOptions(t *testing.T) {
	g := graph.New()
	g.Output(g.FullyConnected(g.Input(graph.Float32, 1, 2), g.Constant([]float32{1, 2}, 1, 2), graph.None))
	for _, o := range []graph.WeightOptions{
		{DType: graph.QCInt4}, {DType: graph.Float16}, {Block: 48}, {Block: -32}, {MinWeights: -1}, {MaxLoss: -1}, {MaxLoss: math.NaN()},
	} {
		_, _, err := graph.QuantizeWeights(g, o)
		require.ErrorIs(t, err, schema.ErrArgument, "%+v", o)
	}
	g.Outputs = append(g.Outputs, 99)
	_, _, err := graph.QuantizeWeights(g, graph.WeightOptions{})
	require.ErrorIs(t, err, schema.ErrGraph)
}

// A constant that two nodes read stays for the one that stays.
func TestQuantizeWeightsShared(t *testing.T) {
	g := graph.New()
	w := g.Constant(weightRamp(4), 2, 2)
	x := g.Input(graph.Float32, 1, 2)
	g.Output(g.FullyConnected(x, w, graph.None))
	g.Output(g.FullyConnected(x, w, graph.None))
	o := all
	o.Keep = func(n *graph.Node) bool { return n.Ref == 1 }
	q, changes, err := graph.QuantizeWeights(g, o)
	require.NoError(t, err)
	require.Empty(t, changes[0].Kept)
	require.NotEmpty(t, changes[1].Kept)
	require.Len(t, q.Constants, 3)
	at := slices.Index(kindsOf(q), "Convert")
	require.Equal(t, graph.QCInt8, q.Values[q.Nodes[at+1].Inputs[1]].DType)
	require.Equal(t, graph.Float32, q.Values[q.Nodes[2].Inputs[1]].DType)
	require.Equal(t, g.Constants[1].Data, q.Constants[q.Values[q.Nodes[2].Inputs[1]].Constant].Data)
}
