package xnn

import (
	"encoding/binary"
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// file is an XNNGraph file field by field, so that any field can be wrong. It shares no code with the module's own writer.
type file struct {
	version string // "" leaves it out
	nodes   []node
	values  []value
	externs uint32
	inputs  []uint32 // nil leaves it out
	outputs []uint32 // nil leaves it out
	buffers [][]byte // nil leaves the table out; a nil entry has no storage
	sizes   []uint32 // nil leaves it out
}

// node is one Add, or whatever its tag says.
type node struct {
	a, b, out uint32
	flags     uint32
	debug     uint32
	tag       int // 0 means Add; -1 means NONE
}

// value is one tensor.
type value struct {
	id       uint32
	dims     []uint32 // nil leaves it out
	numDims  *uint32  // nil means len(dims)
	dtype    int16    // as it stands in the file: fp32 is 1
	constant uint32
	external uint32
	flags    uint32
	tag      int // 0 means XNNTensorValue; -1 means NONE
}

const internal = math.MaxUint32 // external_id of a value that callers do not see

func ptr[T any](v T) *T { return &v }

func input(id uint32, dims ...uint32) value {
	return value{id: id, dims: dims, dtype: 1, external: id, flags: 1}
}

func output(id uint32, dims ...uint32) value {
	return value{id: id, dims: dims, dtype: 1, external: id, flags: 2}
}

func inner(id uint32, dims ...uint32) value {
	return value{id: id, dims: dims, dtype: 1, external: internal}
}

func constant(id, buffer uint32, dims ...uint32) value {
	return value{id: id, dims: dims, dtype: 1, external: internal, constant: buffer}
}

// floats are the bytes of float32 elements.
func floats(v ...float32) []byte {
	b := []byte{} // empty, not absent
	for _, f := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// bytes writes the file.
func (f file) bytes() []byte {
	b := flatbuffers.NewBuilder(1024)
	var buffers, sizes, inputs, outputs, version flatbuffers.UOffsetT
	if f.buffers != nil {
		storages := make([]flatbuffers.UOffsetT, len(f.buffers))
		for i, data := range f.buffers {
			if data != nil {
				storages[i] = b.CreateByteVector(data)
			}
		}
		var at []flatbuffers.UOffsetT
		for _, storage := range storages {
			xnngraph.BufferStart(b)
			xnngraph.BufferAddStorage(b, storage) // an offset of 0 is left out
			at = append(at, xnngraph.BufferEnd(b))
		}
		buffers = tables(b, at)
	}
	if f.sizes != nil {
		sizes = uints(b, f.sizes)
	}
	if f.inputs != nil {
		inputs = uints(b, f.inputs)
	}
	if f.outputs != nil {
		outputs = uints(b, f.outputs)
	}
	if f.version != "" {
		version = b.CreateString(f.version)
	}
	var values, nodes []flatbuffers.UOffsetT
	for _, v := range f.values {
		values = append(values, v.write(b))
	}
	for _, n := range f.nodes {
		nodes = append(nodes, n.write(b))
	}
	xvalues, xnodes := tables(b, values), tables(b, nodes)

	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddXnodes(b, xnodes)
	xnngraph.XNNGraphAddXvalues(b, xvalues)
	xnngraph.XNNGraphAddNumExterns(b, f.externs)
	xnngraph.XNNGraphAddVersion(b, version)
	xnngraph.XNNGraphAddInputIds(b, inputs)
	xnngraph.XNNGraphAddOutputIds(b, outputs)
	xnngraph.XNNGraphAddConstantBuffer(b, buffers)
	xnngraph.XNNGraphAddMemBufferSizes(b, sizes)
	b.Finish(xnngraph.XNNGraphEnd(b))
	return b.FinishedBytes()
}

func (v value) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var dims flatbuffers.UOffsetT
	if v.dims != nil {
		dims = uints(b, v.dims)
	}
	n := uint32(len(v.dims))
	if v.numDims != nil {
		n = *v.numDims
	}
	xnngraph.XNNTensorValueStart(b)
	xnngraph.XNNTensorValueAddDatatype(b, xnngraph.XNNDatatype(v.dtype))
	xnngraph.XNNTensorValueAddNumDims(b, n)
	xnngraph.XNNTensorValueAddDims(b, dims)
	xnngraph.XNNTensorValueAddConstantBufferIdx(b, v.constant)
	xnngraph.XNNTensorValueAddExternalId(b, v.external)
	xnngraph.XNNTensorValueAddFlags(b, v.flags)
	xnngraph.XNNTensorValueAddIdOut(b, v.id)
	tensor := xnngraph.XNNTensorValueEnd(b)
	xnngraph.XValueStart(b)
	if v.tag >= 0 {
		xnngraph.XValueAddXvalueType(b, xnngraph.XValueUnion(max(v.tag, 1)))
		xnngraph.XValueAddXvalue(b, tensor)
	}
	return xnngraph.XValueEnd(b)
}

func (n node) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	xnngraph.XNNNode2x1Start(b)
	xnngraph.XNNNode2x1AddInput1Id(b, n.a)
	xnngraph.XNNNode2x1AddInput2Id(b, n.b)
	xnngraph.XNNNode2x1AddOutputId(b, n.out)
	xnngraph.XNNNode2x1AddFlags(b, n.flags)
	add := xnngraph.XNNNode2x1End(b)
	xnngraph.XNodeStart(b)
	if n.tag >= 0 {
		xnngraph.XNodeAddXnodeType(b, xnngraph.XNodeUnion(max(n.tag, 1)))
		xnngraph.XNodeAddXnode(b, add)
	}
	xnngraph.XNodeAddDebugHandle(b, n.debug)
	return xnngraph.XNodeEnd(b)
}

func tables(b *flatbuffers.Builder, at []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	b.StartVector(4, len(at), 4)
	for i := len(at) - 1; i >= 0; i-- {
		b.PrependUOffsetT(at[i])
	}
	return b.EndVector(len(at))
}

func uints(b *flatbuffers.Builder, v []uint32) flatbuffers.UOffsetT {
	b.StartVector(4, len(v), 4)
	for i := len(v) - 1; i >= 0; i-- {
		b.PrependUint32(v[i])
	}
	return b.EndVector(len(v))
}
