package graph_test

import (
	"bytes"
	"math"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
	"github.com/xnngo/xnngo/xnn/graph"
)

// TestSmallestDialect: Marshal writes what most readers know.
func TestSmallestDialect(t *testing.T) {
	f32 := func(g *graph.Graph) graph.ID { return g.Input(graph.Float32, 3) }
	seed, executorch, ours := "seed", "ExecuTorch", "xnngo"
	for name, c := range map[string]struct {
		dialect string
		build   func(g *graph.Graph)
	}{
		"nothing": {seed, func(*graph.Graph) {}},
		"Add":     {seed, func(g *graph.Graph) { outs(g, g.Add(f32(g), g.Constant([]float32{1}))) }},
		"Add of halves, an output that is an input, one listed twice": {seed, func(g *graph.Graph) {
			x := g.Input(graph.Float16, 3)
			y := g.Add(x, x)
			outs(g, y, x, y)
		}},
		"Add limited":            {executorch, func(g *graph.Graph) { outs(g, g.Add(f32(g), f32(g), graph.Limits(0, 6))) }},
		"Add limited at one end": {executorch, func(g *graph.Graph) { outs(g, g.Add(f32(g), f32(g), graph.Limits(0, inf))) }},
		"Add of int32":           {executorch, func(g *graph.Graph) { x := g.Input(graph.Int32, 3); outs(g, g.Add(x, x)) }},
		"int32 in and out":       {ours, func(g *graph.Graph) { outs(g, g.Input(graph.Int32, 3)) }},
		"bf16":                   {executorch, func(g *graph.Graph) { outs(g, g.Abs(g.Input(graph.BFloat16, 3))) }},
		"a quantised input":      {executorch, func(g *graph.Graph) { g.InputOf(scaled(graph.QInt8, 1, 0, 3)) }},
		"Abs":                    {executorch, func(g *graph.Graph) { outs(g, g.Abs(f32(g))) }},
		"Abs of an output":       {executorch, func(g *graph.Graph) { y := g.Abs(f32(g)); outs(g, y, g.Abs(y)) }},
		"Abs, an output twice":   {ours, func(g *graph.Graph) { y := g.Abs(f32(g)); outs(g, y, y) }},
		"Abs, an input as well":  {ours, func(g *graph.Graph) { x := f32(g); outs(g, g.Abs(x), x) }},
		"Sign":                   {ours, func(g *graph.Graph) { outs(g, g.Sign(f32(g))) }},
		"Maximum":                {executorch, func(g *graph.Graph) { outs(g, g.Maximum(f32(g), f32(g))) }},
		"Maximum limited":        {ours, func(g *graph.Graph) { outs(g, g.Maximum(f32(g), f32(g), graph.Limits(0, 6))) }},
		"Concat of 5":            {executorch, func(g *graph.Graph) { x := f32(g); outs(g, g.Concat(0, x, x, x, x, x)) }},
		"Concat of 6":            {ours, func(g *graph.Graph) { x := f32(g); outs(g, g.Concat(0, x, x, x, x, x, x)) }},
		"mean of height, width":  {executorch, mean(1, 2)},
		"mean of height":         {ours, mean(1)},
		"attention":              {executorch, attention(0)},
		"attention with a cap":   {ours, attention(20)},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New()
			c.build(g)
			g.Version = "a version"
			require.NoError(t, g.Check())
			require.Equal(t, c.dialect, g.Dialect())
			if identifier := map[string]string{executorch: "XN01", ours: "XNNG"}[c.dialect]; identifier != "" {
				require.Equal(t, identifier, string(marshalled(t, g)[4:8]))
			}
			roundTrip(t, g, name)
		})
	}
}

var inf = float32(math.Inf(1))

func mean(axes ...int) func(g *graph.Graph) {
	return func(g *graph.Graph) { outs(g, g.ReduceMean(g.Input(graph.Float32, 1, 2, 3, 4), axes, true)) }
}

func attention(limit float32) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		in := func(dims ...int) graph.ID { return g.Input(graph.Float32, dims...) }
		outs(g, g.Attention(in(2, 3, 4), in(2, 5, 4), in(2, 5, 4), in(4), in(3, 5), limit))
	}
}

// TestTagsOfExecuTorch: numbers 1 to 47 are those of its nodes, and limits count on these.
func TestTagsOfExecuTorch(t *testing.T) {
	tags := graph.Tags()
	for tag := range 256 {
		switch dialect := tags[xnngraph.XNodeUnion(tag)]; {
		case tag == 1:
			require.Equal(t, "seed", dialect)
		case tag > 1 && tag <= 47:
			require.Equal(t, "ExecuTorch", dialect, tag)
		case tag >= 128 && tag <= 155:
			require.Equal(t, "xnngo", dialect, tag)
		default:
			require.Empty(t, dialect, tag)
		}
	}
	require.Equal(t, []int{1, 2, 6, 7, 8, 11, 13, 14, 15, 16, 19, 39}, graph.Limited())
}

// withIdentifier is a file with another identifier, of no constants behind it.
func withIdentifier(file []byte, identifier string) []byte {
	b := bytes.Clone(file)
	copy(b[4:8], identifier)
	return b
}

// TestIdentifiers: what a file says of its dialect decides what it can hold.
func TestIdentifiers(t *testing.T) {
	tags := graph.Tags()
	for _, f := range fixtureTable {
		file := f.file(t)
		var x xnngraph.XNode
		require.True(t, xnngraph.GetRootAsXNNGraph(file, 0).Xnodes(&x, 0))
		theirs, ours, none := withIdentifier(file, "XN00"), withIdentifier(file, "XNNG"), withIdentifier(file, "\x00\x00\x00\x00")
		if tags[x.XnodeType()] == "xnngo" {
			_, err := graph.Unmarshal(theirs)
			require.ErrorIs(t, err, schema.ErrFormat, f.name)
			require.ErrorContains(t, err, "node 0: operator tag "+x.XnodeType().String()+" is not one of the ExecuTorch dialect")
		} else {
			_, err := graph.Unmarshal(theirs)
			if f.name != "ours/limits" {
				require.NoError(t, err, f.name)
			}
			_, err = graph.Unmarshal(ours)
			if f.name != "executorch/foreign_order" { // there the lists are the order, and name every external value
				require.NoError(t, err, f.name)
			}
		}
		if tags[x.XnodeType()] != "seed" {
			_, err := graph.Unmarshal(none)
			require.Error(t, err, f.name)
		}
	}
}

// seedTable writes a file without an identifier, of one value that is input and output at once and of such a root table.
func seedTable(tensor, root func(b *flatbuffers.Builder)) []byte {
	b := flatbuffers.NewBuilder(256)
	b.StartObject(10)
	b.PrependInt16Slot(0, 1, 0)
	b.PrependUint32Slot(5, 3, 0)
	tensor(b)
	v := b.EndObject()
	b.StartObject(2)
	b.PrependByteSlot(0, 1, 0)
	b.PrependUOffsetTSlot(1, v, 0)
	x := b.EndObject()
	b.StartVector(4, 1, 4)
	b.PrependUOffsetT(x)
	values := b.EndVector(1)
	b.StartObject(12)
	b.PrependUOffsetTSlot(2, values, 0)
	b.PrependUint32Slot(3, 1, 0)
	root(b)
	b.Finish(b.EndObject())
	return b.FinishedBytes()
}

// TestSeedTrailingFields: what follows the fields of the seed dialect is of a writer that we know nothing of, even if ours have
// fields there.
func TestSeedTrailingFields(t *testing.T) {
	none := func(*flatbuffers.Builder) {}
	_, err := graph.Unmarshal(seedTable(none, none))
	require.NoError(t, err)
	number := func(slot int) func(*flatbuffers.Builder) {
		return func(b *flatbuffers.Builder) { b.PrependUint32Slot(slot, 0x7fffffff, 0) }
	}
	_, err = graph.Unmarshal(seedTable(number(7), none)) // where dq_datatype is
	require.NoError(t, err)
	_, err = graph.Unmarshal(seedTable(none, number(8))) // where constant_data is
	require.NoError(t, err)
	_, err = graph.Unmarshal(seedTable(number(9), number(11)))
	require.NoError(t, err)
}

// TestSharedScales: values can point at the same scales, so that a small file could ask for a lot of memory.
func TestSharedScales(t *testing.T) {
	const n, values = 1 << 14, 4096
	b := flatbuffers.NewBuilder(n * 8)
	b.StartVector(4, n, 4)
	for range n {
		b.PrependFloat32(1)
	}
	scales := b.EndVector(n)
	b.StartVector(4, 1, 4)
	b.PrependUint32(n)
	dims := b.EndVector(1)
	xnngraph.PerChannelQuantStart(b)
	xnngraph.PerChannelQuantAddScale(b, scales)
	quant := xnngraph.PerChannelQuantEnd(b)
	data := b.CreateByteVector(make([]byte, n))
	xnngraph.BufferStart(b)
	empty := xnngraph.BufferEnd(b)
	xnngraph.BufferStart(b)
	xnngraph.BufferAddStorage(b, data)
	buffer := xnngraph.BufferEnd(b)
	vector := func(at []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(4, len(at), 4)
		for i := len(at) - 1; i >= 0; i-- {
			b.PrependUOffsetT(at[i])
		}
		return b.EndVector(len(at))
	}
	buffers := vector([]flatbuffers.UOffsetT{empty, buffer})
	var list []flatbuffers.UOffsetT
	for i := range values {
		xnngraph.XNNTensorValueStart(b)
		xnngraph.XNNTensorValueAddDatatype(b, xnngraph.XNNDatatypexnn_datatype_qcint8)
		xnngraph.XNNTensorValueAddNumDims(b, 1)
		xnngraph.XNNTensorValueAddDims(b, dims)
		xnngraph.XNNTensorValueAddConstantBufferIdx(b, 1)
		xnngraph.XNNTensorValueAddExternalId(b, math.MaxUint32)
		xnngraph.XNNTensorValueAddIdOut(b, uint32(i))
		tensor := xnngraph.XNNTensorValueEnd(b)
		xnngraph.XNNQuantizedTensorValueStart(b)
		xnngraph.XNNQuantizedTensorValueAddTensorValue(b, tensor)
		xnngraph.XNNQuantizedTensorValueAddQuantParamsType(b, xnngraph.XNNQuantParamsPerChannelQuant)
		xnngraph.XNNQuantizedTensorValueAddQuantParams(b, quant)
		q := xnngraph.XNNQuantizedTensorValueEnd(b)
		xnngraph.XValueStart(b)
		xnngraph.XValueAddXvalueType(b, xnngraph.XValueUnionXNNQuantizedTensorValue)
		xnngraph.XValueAddXvalue(b, q)
		list = append(list, xnngraph.XValueEnd(b))
	}
	xvalues := vector(list)
	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddXvalues(b, xvalues)
	xnngraph.XNNGraphAddConstantBuffer(b, buffers)
	b.FinishWithFileIdentifier(xnngraph.XNNGraphEnd(b), []byte("XN01"))
	_, err := graph.Unmarshal(b.FinishedBytes())
	require.ErrorIs(t, err, schema.ErrGraph)
	require.ErrorContains(t, err, "more scales than the file")
}

// TestSharedOperands is the same with the operands of nodes.
func TestSharedOperands(t *testing.T) {
	const n, nodes = 1 << 16, 1 << 12
	b := flatbuffers.NewBuilder(n * 8)
	b.StartVector(4, n, 4)
	for range n {
		b.PrependUint32(0)
	}
	ids := b.EndVector(n)
	xnngraph.ConcatenateStart(b)
	xnngraph.ConcatenateAddInputIds(b, ids)
	xnngraph.ConcatenateAddOutputId(b, 1)
	concat := xnngraph.ConcatenateEnd(b)
	xnngraph.XNodeStart(b)
	xnngraph.XNodeAddXnodeType(b, xnngraph.XNodeUnionConcatenate)
	xnngraph.XNodeAddXnode(b, concat)
	node := xnngraph.XNodeEnd(b)
	b.StartVector(4, nodes, 4)
	for range nodes {
		b.PrependUOffsetT(node)
	}
	xnodes := b.EndVector(nodes)
	var values []flatbuffers.UOffsetT
	for i := range uint32(2) {
		xnngraph.XNNTensorValueStart(b)
		xnngraph.XNNTensorValueAddDatatype(b, 1)
		xnngraph.XNNTensorValueAddExternalId(b, i)
		xnngraph.XNNTensorValueAddFlags(b, 1+i)
		xnngraph.XNNTensorValueAddIdOut(b, i)
		v := xnngraph.XNNTensorValueEnd(b)
		xnngraph.XValueStart(b)
		xnngraph.XValueAddXvalueType(b, xnngraph.XValueUnionXNNTensorValue)
		xnngraph.XValueAddXvalue(b, v)
		values = append(values, xnngraph.XValueEnd(b))
	}
	b.StartVector(4, 2, 4)
	b.PrependUOffsetT(values[1])
	b.PrependUOffsetT(values[0])
	xvalues := b.EndVector(2)
	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddXnodes(b, xnodes)
	xnngraph.XNNGraphAddXvalues(b, xvalues)
	xnngraph.XNNGraphAddNumExterns(b, 2)
	b.FinishWithFileIdentifier(xnngraph.XNNGraphEnd(b), []byte("XNNG"))
	_, err := graph.Unmarshal(b.FinishedBytes())
	require.ErrorIs(t, err, schema.ErrGraph)
	require.ErrorContains(t, err, "more operands than the file")
}

// TestNotToBeSaid: a graph with an operator that is none of the package's, or a wrong one, is not written.
func TestNotToBeSaid(t *testing.T) {
	g := graph.New()
	outs(g, g.Abs(g.Input(graph.Float32, 3)))
	g.Nodes[0].Op = graph.Unary{Func: "Nothing"}
	_, err := g.Marshal()
	require.ErrorIs(t, err, schema.ErrUnsupported)
}
