// Package tfbuild writes small TensorFlow Lite files for tests, right or wrong.
package tfbuild

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	wire "github.com/xnngo/xnngo/schema/tflite"
)

// File is a model with one subgraph.
type File struct {
	Version   uint32 // 0: 3
	Tensors   []Tensor
	Ops       []Op
	Inputs    []int
	Outputs   []int
	Subgraphs int  // more of them, empty
	Behind    bool // the data of tensors lies behind the FlatBuffer
}

// Tensor is one tensor of a file.
type Tensor struct {
	Name      string
	Type      wire.TensorType
	Shape     []int
	Data      any // a slice of numbers of the tensor's type; nil: it is computed
	Scale     []float32
	Zero      []int64
	Axis      int
	Signature []int
	Variable  bool
	Scalar    bool // has_rank
	Sparsity  *Sparsity
}

// Sparsity says how the data of a tensor are only some of its elements.
type Sparsity struct {
	Order  []int
	Blocks []int
	Dims   []Dim
}

// Dim is one dimension of a sparse tensor: of this size where there are no segments.
type Dim struct {
	Size              int
	Segments, Indices any // []int32, []uint16 or []uint8
}

// Op is one operator of a file.
type Op struct {
	Code    wire.BuiltinOperator
	Custom  string
	In, Out []int
	Kind    wire.BuiltinOptions // NONE: no options, whatever Fields says
	Fields  Fields
	Blob    []byte // custom_options
	// OnlyTag leaves the options' table out.
	OnlyTag bool
	// Other sets one more field of the operator, by its place: int8 values only.
	Other map[int]int8
}

// Fields are the fields of an options' table by their place: int8 (enums, too), bool, int32, float32 or []int32.
type Fields map[int]any

// Bytes is the file.
func (f File) Bytes() []byte {
	b := flatbuffers.NewBuilder(1024)
	datas := [][]byte{nil}
	var tensors []flatbuffers.UOffsetT
	for _, t := range f.Tensors {
		buffer := 0
		if t.Data != nil {
			buffer = len(datas)
			datas = append(datas, Raw(t.Data))
		}
		tensors = append(tensors, t.write(b, buffer))
	}
	buffers, places := f.buffers(b, datas)
	codes, indexes := f.codes(b)
	var ops []flatbuffers.UOffsetT
	for i, o := range f.Ops {
		ops = append(ops, o.write(b, indexes[i]))
	}
	inputs, outputs := ints(b, f.Inputs), ints(b, f.Outputs)
	tv, ov := offsets(b, tensors), offsets(b, ops)
	wire.SubGraphStart(b)
	wire.SubGraphAddTensors(b, tv)
	wire.SubGraphAddInputs(b, inputs)
	wire.SubGraphAddOutputs(b, outputs)
	wire.SubGraphAddOperators(b, ov)
	subs := []flatbuffers.UOffsetT{wire.SubGraphEnd(b)}
	for range f.Subgraphs {
		wire.SubGraphStart(b)
		subs = append(subs, wire.SubGraphEnd(b))
	}
	sv, cv, bv := offsets(b, subs), offsets(b, codes), offsets(b, buffers)
	description := b.CreateString("tfbuild")
	wire.ModelStart(b)
	version := f.Version
	if version == 0 {
		version = 3
	}
	wire.ModelAddVersion(b, version)
	wire.ModelAddOperatorCodes(b, cv)
	wire.ModelAddSubgraphs(b, sv)
	wire.ModelAddDescription(b, description)
	wire.ModelAddBuffers(b, bv)
	b.FinishWithFileIdentifier(wire.ModelEnd(b), []byte("TFL3"))
	return places.fill(b.FinishedBytes(), datas)
}

// placeholder is where a buffer lies until it is known: 8 bytes that no file has by chance, and its number.
type placeholder struct{ behind bool }

const mark = 0x5a5a_a5a5_0000_0000

func (f File) buffers(b *flatbuffers.Builder, datas [][]byte) ([]flatbuffers.UOffsetT, placeholder) {
	var list []flatbuffers.UOffsetT
	for i, d := range datas {
		if f.Behind && d != nil {
			wire.BufferStart(b)
			wire.BufferAddOffset(b, mark+uint64(i))
			wire.BufferAddSize(b, uint64(len(d)))
		} else {
			var data flatbuffers.UOffsetT
			if d != nil {
				b.StartVector(1, len(d), 16)
				for _, v := range slices.Backward(d) {
					b.PlaceByte(v)
				}
				data = b.EndVector(len(d))
			}
			wire.BufferStart(b)
			if d != nil {
				wire.BufferAddData(b, data)
			}
		}
		list = append(list, wire.BufferEnd(b))
	}
	return list, placeholder{f.Behind}
}

// fill puts the data behind a FlatBuffer and says where they are.
func (p placeholder) fill(flat []byte, datas [][]byte) []byte {
	flat = bytes.Clone(flat)
	if !p.behind {
		return flat
	}
	for i, d := range datas {
		at := bytes.Index(flat, binary.LittleEndian.AppendUint64(nil, mark+uint64(i)))
		if at < 0 {
			continue
		}
		binary.LittleEndian.PutUint64(flat[at:], uint64(len(flat)))
		flat = append(flat, d...)
	}
	return flat
}

func (f File) codes(b *flatbuffers.Builder) (codes []flatbuffers.UOffsetT, indexes []int) {
	for i, o := range f.Ops {
		var custom flatbuffers.UOffsetT
		if o.Custom != "" {
			custom = b.CreateString(o.Custom)
		}
		wire.OperatorCodeStart(b)
		wire.OperatorCodeAddDeprecatedBuiltinCode(b, int8(min(o.Code, 127)))
		wire.OperatorCodeAddBuiltinCode(b, o.Code)
		wire.OperatorCodeAddVersion(b, 1)
		if custom != 0 {
			wire.OperatorCodeAddCustomCode(b, custom)
		}
		codes, indexes = append(codes, wire.OperatorCodeEnd(b)), append(indexes, i)
	}
	return codes, indexes
}

func (t Tensor) write(b *flatbuffers.Builder, buffer int) flatbuffers.UOffsetT {
	name, shape := b.CreateString(t.Name), ints(b, t.Shape)
	var quant, signature, sparsity flatbuffers.UOffsetT
	if t.Scale != nil {
		scale := vector(b, t.Scale, 4, b.PrependFloat32)
		zeros := t.Zero
		if zeros == nil {
			zeros = make([]int64, len(t.Scale))
		}
		zero := vector(b, zeros, 8, b.PrependInt64)
		wire.QuantizationParametersStart(b)
		wire.QuantizationParametersAddScale(b, scale)
		wire.QuantizationParametersAddZeroPoint(b, zero)
		wire.QuantizationParametersAddQuantizedDimension(b, int32(t.Axis))
		quant = wire.QuantizationParametersEnd(b)
	}
	if t.Signature != nil {
		signature = ints(b, t.Signature)
	}
	if t.Sparsity != nil {
		sparsity = t.Sparsity.write(b)
	}
	wire.TensorStart(b)
	wire.TensorAddShape(b, shape)
	wire.TensorAddType(b, t.Type)
	wire.TensorAddBuffer(b, uint32(buffer))
	wire.TensorAddName(b, name)
	wire.TensorAddIsVariable(b, t.Variable)
	wire.TensorAddHasRank(b, t.Scalar)
	for _, f := range []struct {
		at  flatbuffers.UOffsetT
		add func(*flatbuffers.Builder, flatbuffers.UOffsetT)
	}{
		{quant, wire.TensorAddQuantization}, {signature, wire.TensorAddShapeSignature}, {sparsity, wire.TensorAddSparsity},
	} {
		if f.at != 0 {
			f.add(b, f.at)
		}
	}
	return wire.TensorEnd(b)
}

func (s *Sparsity) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	var dims []flatbuffers.UOffsetT
	for _, d := range s.Dims {
		var segments, indices flatbuffers.UOffsetT
		var segmentsKind, indicesKind wire.SparseIndexVector
		if d.Segments != nil {
			segmentsKind, segments = indexVector(b, d.Segments)
			indicesKind, indices = indexVector(b, d.Indices)
		}
		wire.DimensionMetadataStart(b)
		if segments != 0 {
			wire.DimensionMetadataAddFormat(b, wire.DimensionTypeSPARSE_CSR)
			wire.DimensionMetadataAddArraySegmentsType(b, segmentsKind)
			wire.DimensionMetadataAddArraySegments(b, segments)
			wire.DimensionMetadataAddArrayIndicesType(b, indicesKind)
			wire.DimensionMetadataAddArrayIndices(b, indices)
		}
		wire.DimensionMetadataAddDenseSize(b, int32(d.Size))
		dims = append(dims, wire.DimensionMetadataEnd(b))
	}
	order, blocks, list := ints(b, s.Order), ints(b, s.Blocks), offsets(b, dims)
	wire.SparsityParametersStart(b)
	wire.SparsityParametersAddTraversalOrder(b, order)
	wire.SparsityParametersAddBlockMap(b, blocks)
	wire.SparsityParametersAddDimMetadata(b, list)
	return wire.SparsityParametersEnd(b)
}

func indexVector(b *flatbuffers.Builder, list any) (wire.SparseIndexVector, flatbuffers.UOffsetT) {
	kind, at := wire.SparseIndexVectorInt32Vector, flatbuffers.UOffsetT(0)
	switch l := list.(type) {
	case []int32:
		at = vector(b, l, 4, b.PrependInt32)
	case []uint16:
		kind, at = wire.SparseIndexVectorUint16Vector, vector(b, l, 2, b.PrependUint16)
	case []uint8:
		kind, at = wire.SparseIndexVectorUint8Vector, vector(b, l, 1, b.PrependUint8)
	}
	b.StartObject(1)
	b.PrependUOffsetTSlot(0, at, 0)
	return kind, b.EndObject()
}

func (o Op) write(b *flatbuffers.Builder, code int) flatbuffers.UOffsetT {
	in, out := ints(b, o.In), ints(b, o.Out)
	var options, blob flatbuffers.UOffsetT
	if o.Kind != wire.BuiltinOptionsNONE && !o.OnlyTag {
		options = o.Fields.write(b)
	}
	if o.Blob != nil {
		blob = b.CreateByteVector(o.Blob)
	}
	wire.OperatorStart(b)
	wire.OperatorAddOpcodeIndex(b, uint32(code))
	wire.OperatorAddInputs(b, in)
	wire.OperatorAddOutputs(b, out)
	wire.OperatorAddBuiltinOptionsType(b, o.Kind)
	if options != 0 {
		wire.OperatorAddBuiltinOptions(b, options)
	}
	if blob != 0 {
		wire.OperatorAddCustomOptions(b, blob)
	}
	for slot, v := range o.Other {
		b.PrependInt8Slot(slot, v, 0)
	}
	return wire.OperatorEnd(b)
}

func (f Fields) write(b *flatbuffers.Builder) flatbuffers.UOffsetT {
	lists := map[int]flatbuffers.UOffsetT{}
	slots := slices.Sorted(maps.Keys(f))
	for _, slot := range slots {
		if l, ok := f[slot].([]int32); ok {
			lists[slot] = vector(b, l, 4, b.PrependInt32)
		}
	}
	fields := 0
	if len(slots) > 0 {
		fields = slots[len(slots)-1] + 1
	}
	b.StartObject(fields)
	for _, slot := range slots {
		switch v := f[slot].(type) {
		case int8:
			b.PrependInt8(v)
		case wire.Padding:
			b.PrependInt8(int8(v))
		case wire.ActivationFunctionType:
			b.PrependInt8(int8(v))
		case wire.TensorType:
			b.PrependInt8(int8(v))
		case bool:
			b.PrependBool(v)
		case int:
			b.PrependInt32(int32(v))
		case float32:
			b.PrependFloat32(v)
		case []int32:
			b.PrependUOffsetT(lists[slot])
		default:
			panic(fmt.Sprintf("field %d of type %T", slot, v))
		}
		b.Slot(slot)
	}
	return b.EndObject()
}

func ints(b *flatbuffers.Builder, list []int) flatbuffers.UOffsetT {
	return vector(b, list, 4, func(v int) { b.PrependInt32(int32(v)) })
}

func offsets(b *flatbuffers.Builder, list []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	return vector(b, list, 4, b.PrependUOffsetT)
}

func vector[T any](b *flatbuffers.Builder, list []T, size int, prepend func(T)) flatbuffers.UOffsetT {
	b.StartVector(size, len(list), size)
	for _, v := range slices.Backward(list) {
		prepend(v)
	}
	return b.EndVector(len(list))
}

// Raw are the bytes of a slice of numbers, little-endian.
func Raw(list any) []byte {
	var w bytes.Buffer
	if err := binary.Write(&w, binary.LittleEndian, list); err != nil {
		panic(err)
	}
	return w.Bytes()
}
