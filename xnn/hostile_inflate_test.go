package xnn

import (
	"encoding/binary"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// tableShape is what inflated needs of a table: how many fields it has, of up to 32 bits, and which of them are vectors.
type tableShape struct {
	fields  int
	vectors []int
	halves  []int // fields of 16 bits
	left    []int // fields left out
}

// nodeShapes are those with parameters, or many operands, by tag.
var nodeShapes = map[xnngraph.XNodeUnion]tableShape{
	xnngraph.XNodeUnionXNNFullyConnected:            {fields: 5},
	xnngraph.XNodeUnionXNNStaticTranspose:           {fields: 5, vectors: []int{1}},
	xnngraph.XNodeUnionXNNConv2d:                    {fields: 20},
	xnngraph.XNodeUnionXNNStaticResizeBilinear2D:    {fields: 5},
	xnngraph.XNodeUnionXNNStaticConstantPad:         {fields: 6, vectors: []int{0, 1}},
	xnngraph.XNodeUnionXNNAvgPooling2d:              {fields: 13},
	xnngraph.XNodeUnionXNNDepthwiseConv2d:           {fields: 20},
	xnngraph.XNodeUnionXNNMaxPooling2d:              {fields: 13},
	xnngraph.XNodeUnionXNNStaticReshape:             {fields: 5, vectors: []int{1}},
	xnngraph.XNodeUnionXNNArgMaxPooling2d:           {fields: 10},
	xnngraph.XNodeUnionXNNConcatenate2:              {fields: 8},
	xnngraph.XNodeUnionXNNConcatenate3:              {fields: 8},
	xnngraph.XNodeUnionXNNConcatenate4:              {fields: 8},
	xnngraph.XNodeUnionXNNStaticSlice:               {fields: 6, vectors: []int{1, 2}},
	xnngraph.XNodeUnionXNNScaledDotProductAttention: {fields: 7},
	xnngraph.XNodeUnionXNNConcatenate5:              {fields: 8},
	xnngraph.XNodeUnionXNNConvTranspose2d:           {fields: 20},
	xnngraph.XNodeUnionReduceMean:                   {fields: 4, vectors: []int{0}},
	xnngraph.XNodeUnionReduceSum:                    {fields: 4, vectors: []int{0}},
	xnngraph.XNodeUnionConcatenate:                  {fields: 3, vectors: []int{1}},
	xnngraph.XNodeUnionEvenSplit:                    {fields: 3, vectors: []int{2}},
	xnngraph.XNodeUnionExpandDims:                   {fields: 3, vectors: []int{0}},
	xnngraph.XNodeUnionUnpooling2D:                  {fields: 9},
	xnngraph.XNodeUnionFullyConnectedSparse:         {fields: 5},
	xnngraph.XNodeUnionAttention:                    {fields: 7},
	xnngraph.XNodeUnionRotaryEmbedding:              {fields: 4},
}

var quantShapes = map[xnngraph.XNNQuantParams]tableShape{
	xnngraph.XNNQuantParamsPerChannelQuant:      {fields: 4, vectors: []int{0}},
	xnngraph.XNNQuantParamsPerTensorQuant:       {fields: 2},
	xnngraph.XNNQuantParamsPerTokenDynamicQuant: {fields: 1},
	xnngraph.XNNQuantParamsPerChannelGroupQuant: {fields: 6, vectors: []int{0}, left: []int{3}}, // scale_bf16 excludes scale
}

// inflated is a file whose tables of values and nodes have every field, those that writers leave out because they are 0 as well,
// each in a word of its own. The tables are new, behind the old file. It is nil where there are no nodes.
func inflated(file []byte) []byte {
	g := xnngraph.GetRootAsXNNGraph(file, 0)
	if g.XnodesLength() == 0 {
		return nil
	}
	f := inflater{append([]byte{}, file...)}
	for i := range g.XnodesLength() {
		var x xnngraph.XNode
		g.Xnodes(&x, i)
		shape, ok := nodeShapes[x.XnodeType()]
		if !ok {
			shape.fields = 4 // of two operands; the fourth of a table of one is beyond the schema
		}
		f.table(x.Table(), 6, shape)
	}
	for i := range g.XvaluesLength() {
		var x xnngraph.XValue
		g.Xvalues(&x, i)
		tensor := tableShape{fields: 8, vectors: []int{2}, halves: []int{0, 7}}
		if x.XvalueType() == xnngraph.XValueUnionXNNTensorValue {
			f.table(x.Table(), 6, tensor)
			continue
		}
		var t flatbuffers.Table
		x.Xvalue(&t)
		var q xnngraph.XNNQuantizedTensorValue
		q.Init(file, t.Pos)
		f.table(t, 4, tensor)
		var params flatbuffers.Table
		if q.QuantParams(&params) && (params.Offset(10) == 0 || q.QuantParamsType() != xnngraph.XNNQuantParamsPerChannelGroupQuant) {
			f.table(t, 8, quantShapes[q.QuantParamsType()])
		}
	}
	return f.b
}

type inflater struct{ b []byte }

// table puts a new table in the place of the one that a slot of parent points to. Vectors follow it, since offsets are positive.
func (f *inflater) table(parent flatbuffers.Table, slot flatbuffers.VOffsetT, shape tableShape) {
	le := binary.LittleEndian
	offset := parent.Pos + flatbuffers.UOffsetT(parent.Offset(slot))
	old := flatbuffers.Table{Bytes: parent.Bytes, Pos: parent.Indirect(offset)}
	vsize := 4 + 2*shape.fields
	for (len(f.b)+vsize)%4 != 0 {
		f.b = append(f.b, 0)
	}
	vtable := len(f.b)
	f.b = le.AppendUint16(f.b, uint16(vsize))
	f.b = le.AppendUint16(f.b, uint16(4+4*shape.fields))
	for i := range shape.fields {
		entry := uint16(4 + 4*i)
		if slices.Contains(shape.left, i) {
			entry = 0
		}
		f.b = le.AppendUint16(f.b, entry)
	}
	table := len(f.b)
	le.PutUint32(f.b[offset:], uint32(table)-uint32(offset))
	f.b = le.AppendUint32(f.b, uint32(table-vtable))
	for i := range shape.fields {
		word := func(slot flatbuffers.VOffsetT) uint32 { return old.GetUint32Slot(slot, 0) }
		if slices.Contains(shape.halves, i) {
			word = func(slot flatbuffers.VOffsetT) uint32 { return uint32(old.GetUint16Slot(slot, 0)) }
		}
		f.b = le.AppendUint32(f.b, word(flatbuffers.VOffsetT(4+2*i)))
	}
	for _, i := range shape.vectors {
		at := table + 4 + 4*i
		le.PutUint32(f.b[at:], uint32(len(f.b)-at))
		n := 0
		o := flatbuffers.UOffsetT(old.Offset(flatbuffers.VOffsetT(4 + 2*i)))
		if o != 0 {
			n = old.VectorLen(o)
		}
		f.b = le.AppendUint32(f.b, uint32(n))
		if n > 0 {
			first := int(old.Vector(o))
			f.b = append(f.b, old.Bytes[first:first+4*n]...)
		}
	}
}
