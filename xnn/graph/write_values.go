package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// constants writes the table of constants. Its entry 0 holds nothing.
func (w *writer) constants() flatbuffers.UOffsetT {
	if w.behind {
		return w.constantsBehind()
	}
	offsets := make([]flatbuffers.UOffsetT, max(1, len(w.g.Constants)))
	for i := range offsets {
		var data []byte
		if i > 0 {
			data = w.g.Constants[i].Bytes()
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

// constantsBehind writes where the constants lie behind the FlatBuffer.
func (w *writer) constantsBehind() flatbuffers.UOffsetT {
	w.g.Constants[0] = Constant{} // whatever it holds is no constant
	w.offsets = regionOffsets(w.g.Constants)
	offsets := make([]flatbuffers.UOffsetT, len(w.offsets))
	for i := range offsets {
		xnngraph.ConstantDataOffsetStart(w.b)
		xnngraph.ConstantDataOffsetAddOffset(w.b, w.offsets[i])
		xnngraph.ConstantDataOffsetAddSize(w.b, uint64(w.g.Constants[i].Len()))
		offsets[i] = xnngraph.ConstantDataOffsetEnd(w.b)
	}
	return w.tables(offsets)
}

// sizes writes the arena's size, the size of each constant, and the spare entries. A size that 32 bits cannot hold is left to the
// constant's length.
func (w *writer) sizes() flatbuffers.UOffsetT {
	sizes := []uint32{w.g.ArenaBytes}
	for i := 1; i < len(w.g.Constants); i++ {
		size := uint32(0)
		if n := w.g.Constants[i].Size(); uint64(n) <= math.MaxUint32 {
			size = uint32(n)
		}
		sizes = append(sizes, size)
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
