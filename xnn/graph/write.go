package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// constantAlign is the alignment of a constant's bytes in a written file, enough to use them in place.
const constantAlign = 16

// Marshal checks the graph and writes it as an XNNGraph file: inputs and outputs numbered first, in call order, nodes in
// an order in which they can run. Constants lie at 16-byte alignment. A graph whose file would pass 2 GiB, the format's
// limit, is ErrUnsupported.
func (g *Graph) Marshal() ([]byte, error) {
	g = g.Clone()
	if err := g.Check(); err != nil {
		return nil, err
	}
	if err := g.checkFileSize(); err != nil {
		return nil, err
	}
	w := writer{g: g, dialect: g.dialect(), b: flatbuffers.NewBuilder(1024), ids: make([]uint32, len(g.Values))}
	w.number()
	return w.file(), nil
}

// checkFileSize bounds the file before it is built, since the FlatBuffers builder has no error to give.
func (g *Graph) checkFileSize() error {
	// Generous bounds for a value with its shape, a node with its operands, a list entry, a constant's frame.
	size := 256 + len(g.Version) + 128*len(g.Values) + 8*(len(g.Inputs)+len(g.Outputs)+len(g.SpareBuffers))
	for i := range g.Nodes {
		size += 128 + 16*(len(g.Nodes[i].Inputs)+len(g.Nodes[i].Outputs))
	}
	for _, c := range g.Constants {
		if size += 64 + len(c.Data); size > math.MaxInt32 {
			break
		}
	}
	if size > math.MaxInt32 {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "the file would be larger than 2 GiB")
	}
	return nil
}

// writer turns one checked graph into a file.
type writer struct {
	g       *Graph
	dialect dialect
	b       *flatbuffers.Builder
	ids     []uint32 // id in the file by value

	externs uint32
	flags   []uint32
}

// number gives every value its id in the file: externals from 0 in call order, then the rest.
func (w *writer) number() {
	w.flags = make([]uint32, len(w.ids))
	for i := range w.ids {
		w.ids[i] = invalidID
	}
	next := uint32(0)
	give := func(id ID) {
		if w.ids[id] == invalidID {
			w.ids[id] = next
			next++
		}
	}
	for _, id := range w.g.Inputs {
		w.flags[id] |= flagInput
		give(id)
	}
	for _, id := range w.g.Outputs {
		w.flags[id] |= flagOutput
		give(id)
	}
	w.externs = next
	for id := range w.ids {
		give(ID(id))
	}
}

func (w *writer) file() []byte {
	b := w.b
	constants := w.constants()
	sizes := w.sizes()
	values := make([]flatbuffers.UOffsetT, len(w.g.Values))
	for i := range values {
		values[i] = w.value(ID(i))
	}
	nodes := make([]flatbuffers.UOffsetT, len(w.g.Nodes))
	for i := range nodes {
		nodes[i] = w.node(&w.g.Nodes[i])
	}
	xvalues, xnodes := w.tables(values), w.tables(nodes)
	inputs, outputs := w.uints(w.fileIDs(w.g.Inputs)), w.uints(w.fileIDs(w.g.Outputs))
	version := b.CreateString(w.g.Version)

	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddVersion(b, version)
	xnngraph.XNNGraphAddXnodes(b, xnodes)
	xnngraph.XNNGraphAddXvalues(b, xvalues)
	xnngraph.XNNGraphAddNumExterns(b, w.externs)
	xnngraph.XNNGraphAddInputIds(b, inputs)
	xnngraph.XNNGraphAddOutputIds(b, outputs)
	xnngraph.XNNGraphAddConstantBuffer(b, constants)
	xnngraph.XNNGraphAddMemBufferSizes(b, sizes)
	root := xnngraph.XNNGraphEnd(b)
	if ids := identifiers[w.dialect]; ids != nil {
		b.FinishWithFileIdentifier(root, []byte(ids[0]))
	} else {
		b.Finish(root)
	}
	return b.FinishedBytes()
}

// constants writes the constant table. Its entry 0 has no storage.
func (w *writer) constants() flatbuffers.UOffsetT {
	offsets := make([]flatbuffers.UOffsetT, max(1, len(w.g.Constants)))
	for i := range offsets {
		var data []byte
		if i > 0 {
			data = w.g.Constants[i].Data
		}
		var storage flatbuffers.UOffsetT
		if data != nil {
			w.b.Prep(constantAlign, len(data))
			storage = w.b.CreateByteVector(data)
		}
		xnngraph.BufferStart(w.b)
		if data != nil {
			xnngraph.BufferAddStorage(w.b, storage)
		}
		offsets[i] = xnngraph.BufferEnd(w.b)
	}
	return w.tables(offsets)
}

// sizes writes the arena's size, the size of each constant, and the spare entries.
func (w *writer) sizes() flatbuffers.UOffsetT {
	sizes := []uint32{w.g.ArenaBytes}
	for i := 1; i < len(w.g.Constants); i++ {
		sizes = append(sizes, uint32(w.g.Constants[i].Size()))
	}
	return w.uints(append(sizes, w.g.SpareBuffers...))
}

func (w *writer) value(id ID) flatbuffers.UOffsetT {
	b, v := w.b, &w.g.Values[id]
	dims := make([]uint32, len(v.Shape))
	for i, d := range v.Shape {
		dims[i] = uint32(d)
	}
	dimsAt := w.uints(dims)
	xnngraph.XNNTensorValueStart(b)
	xnngraph.XNNTensorValueAddDatatype(b, fileDTypeNumbers[v.DType])
	xnngraph.XNNTensorValueAddNumDims(b, uint32(len(dims)))
	xnngraph.XNNTensorValueAddDims(b, dimsAt)
	xnngraph.XNNTensorValueAddConstantBufferIdx(b, uint32(v.Constant))
	if w.flags[id] != 0 {
		xnngraph.XNNTensorValueAddExternalId(b, w.ids[id])
	} else {
		xnngraph.XNNTensorValueAddExternalId(b, invalidID)
	}
	xnngraph.XNNTensorValueAddFlags(b, w.flags[id])
	xnngraph.XNNTensorValueAddIdOut(b, w.ids[id])
	kind, value := xnngraph.XValueUnionXNNTensorValue, xnngraph.XNNTensorValueEnd(b)
	if v.Quant != nil {
		params, quant := w.quant(v.Type)
		xnngraph.XNNQuantizedTensorValueStart(b)
		xnngraph.XNNQuantizedTensorValueAddTensorValue(b, value)
		xnngraph.XNNQuantizedTensorValueAddQuantParamsType(b, params)
		xnngraph.XNNQuantizedTensorValueAddQuantParams(b, quant)
		kind, value = xnngraph.XValueUnionXNNQuantizedTensorValue, xnngraph.XNNQuantizedTensorValueEnd(b)
	}
	xnngraph.XValueStart(b)
	xnngraph.XValueAddXvalueType(b, kind)
	xnngraph.XValueAddXvalue(b, value)
	return xnngraph.XValueEnd(b)
}

func (w *writer) node(n *Node) flatbuffers.UOffsetT {
	f := n.form(w.g)
	op := f.encode(w.b, n.Op, w.fileIDs(n.Inputs), w.fileIDs(n.Outputs))
	var limits flatbuffers.UOffsetT
	if r, ok := n.Op.(ranged); ok && r.limits().Limited() {
		lo, hi := r.limits().Bounds()
		xnngraph.OutputMinMaxStart(w.b)
		xnngraph.OutputMinMaxAddOutputMin(w.b, lo)
		xnngraph.OutputMinMaxAddOutputMax(w.b, hi)
		limits = xnngraph.OutputMinMaxEnd(w.b)
	}
	xnngraph.XNodeStart(w.b)
	xnngraph.XNodeAddXnodeType(w.b, f.tag)
	xnngraph.XNodeAddXnode(w.b, op)
	xnngraph.XNodeAddDebugHandle(w.b, n.DebugHandle)
	if limits != 0 {
		xnngraph.XNodeAddOutputMinMax(w.b, limits)
	}
	return xnngraph.XNodeEnd(w.b)
}

func (w *writer) fileIDs(ids []ID) []uint32 {
	out := make([]uint32, len(ids))
	for i, id := range ids {
		out[i] = w.ids[id]
	}
	return out
}

func (w *writer) tables(offsets []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	w.b.StartVector(flatbuffers.SizeUOffsetT, len(offsets), flatbuffers.SizeUOffsetT)
	for i := len(offsets) - 1; i >= 0; i-- {
		w.b.PrependUOffsetT(offsets[i])
	}
	return w.b.EndVector(len(offsets))
}

func (w *writer) uints(v []uint32) flatbuffers.UOffsetT {
	w.b.StartVector(flatbuffers.SizeUint32, len(v), flatbuffers.SizeUint32)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependUint32(v[i])
	}
	return w.b.EndVector(len(v))
}
