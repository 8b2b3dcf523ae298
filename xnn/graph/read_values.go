package graph

import (
	"errors"
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

func (r *reader) values() error {
	if n := r.file.NumExterns(); n > maxExterns {
		return r.errorf("num_externs is %d, at most %d are supported", n, maxExterns)
	}
	for i := range r.file.XvaluesLength() {
		var x xnngraph.XValue
		r.file.Xvalues(&x, i)
		v, quant, err := r.tensor(&x)
		if err != nil {
			return schema.Errorf(schema.StageCheck, schema.ErrFormat, "xvalues[%d]: %v", i, err)
		}
		if err := r.value(v, quant); err != nil {
			return err.AtValue(v.IdOut())
		}
	}
	return nil
}

// tensor opens the two kinds of value.
func (r *reader) tensor(x *xnngraph.XValue) (*xnngraph.XNNTensorValue, *xnngraph.XNNQuantizedTensorValue, error) {
	var t flatbuffers.Table
	var v xnngraph.XNNTensorValue
	kind := x.XvalueType()
	switch ok := x.Xvalue(&t); {
	case ok && kind == xnngraph.XValueUnionXNNTensorValue:
		v.Init(t.Bytes, t.Pos)
		return &v, nil, nil
	case ok && kind == xnngraph.XValueUnionXNNQuantizedTensorValue && r.dialect != dialectSeed:
		var q xnngraph.XNNQuantizedTensorValue
		q.Init(t.Bytes, t.Pos)
		if q.TensorValue(&v) == nil {
			return nil, nil, errors.New("has no tensor_value")
		}
		return &v, &q, nil
	}
	return nil, nil, fmt.Errorf("is of the unknown kind %v", kind)
}

func (r *reader) value(v *xnngraph.XNNTensorValue, quantized *xnngraph.XNNQuantizedTensorValue) *schema.Error {
	ref, ext, flags := v.IdOut(), v.ExternalId(), v.Flags()
	if ref == invalidID {
		return r.errorf("id_out %d means no value", ref)
	}
	if _, twice := r.ids[ref]; twice {
		return r.errorf("id_out %d is defined twice", ref)
	}
	dtype, err := r.dtype(v.Datatype())
	if err != nil {
		return err
	}
	quant, err := r.quant(dtype, quantized)
	if err != nil {
		return err
	}
	shape, err := r.shape(v)
	if err != nil {
		return err
	}
	constant, err := r.constant("constant_buffer_idx", v.ConstantBufferIdx())
	if err != nil {
		return err
	}
	switch {
	case flags&^(flagInput|flagOutput) != 0:
		return r.errorf("flags %#x, only 1 (input) and 2 (output) are known", flags)
	case ext == invalidID && flags != 0:
		return r.errorf("flags %d make it external, but external_id is %d", flags, ext)
	case ext != invalidID && flags == 0:
		return r.errorf("external_id %d, but flags 0 make it internal", ext)
	case ext != invalidID && ext >= r.file.NumExterns():
		return r.errorf("external_id %d is not below num_externs %d", ext, r.file.NumExterns())
	case ext != invalidID && constant != 0:
		return r.errorf("external_id %d, but constant_buffer_idx %d makes it a constant", ext, constant)
	}
	id := r.add(Type{dtype, shape, quant}, constant, ref)
	r.ids[ref] = id
	if ext != invalidID {
		r.exts = append(r.exts, external{id, ext, flags})
	}
	return r.quantizeInput(v, id)
}

func (r *reader) add(t Type, constant int, ref uint32) ID {
	r.g.Values = append(r.g.Values, Value{Type: t, Constant: constant, Ref: ref})
	return ID(len(r.g.Values) - 1)
}

func (r *reader) dtype(n xnngraph.XNNDatatype) (DType, *schema.Error) {
	if t, ok := r.dialect.dtype(n); ok {
		return t, nil
	}
	switch {
	case r.dialect == dialectSeed:
	case n == xnngraph.XNNDatatypexnn_datatype_qpint8, n == xnngraph.XNNDatatypexnn_datatype_pfp32:
		return 0, r.unsupported("datatype %d (%v) is a layout packed for one kernel, not a tensor to read", int16(n), n)
	}
	return 0, r.errorf("datatype %d is not known", int16(n))
}

func (r *reader) shape(v *xnngraph.XNNTensorValue) (Shape, *schema.Error) {
	n := v.DimsLength()
	if int64(v.NumDims()) != int64(n) {
		return nil, r.errorf("num_dims is %d, dims has %d entries", v.NumDims(), n)
	}
	if n > MaxRank {
		return nil, r.unsupported("num_dims is %d, at most %d are supported", n, MaxRank)
	}
	var shape Shape
	for i := range n {
		shape = append(shape, int(v.Dims(i)))
	}
	return shape, nil
}

// insertedHandle is what ExecuTorch gives nodes that stand for nothing in the exported program.
const insertedHandle = 65535

// quantizeInput puts a node behind an input that an older writer marked with dq_datatype: nodes that read the input read it
// quantised, each row of the last dimension with a scale and zero point of its own.
func (r *reader) quantizeInput(v *xnngraph.XNNTensorValue, id ID) *schema.Error {
	if r.dialect == dialectSeed {
		return nil
	}
	mark, input := v.DqDatatype(), &r.g.Values[id]
	switch {
	case mark == xnngraph.XNNDatatypexnn_datatype_invalid:
		return nil
	case mark != xnngraph.XNNDatatypexnn_datatype_qint8:
		return r.unsupported("dq_datatype %d, only %d (qint8) is known", int16(mark), int16(xnngraph.XNNDatatypexnn_datatype_qint8))
	case v.Flags()&flagInput == 0:
		return r.errorf("dq_datatype %d has it quantised at run time, but it is no input", int16(mark))
	case input.DType != Float32 && input.DType != Float16:
		return r.errorf("dq_datatype %d has it quantised at run time, but it is %v", int16(mark), input.DType)
	}
	convert := operators["Convert"]
	if convert == nil {
		return r.unsupported("dq_datatype %d needs the operator Convert", int16(mark))
	}
	quantised := r.add(Type{QDInt8, input.Shape, &Quant{Inner: 1}}, 0, input.Ref)
	r.dynamic[input.Ref] = quantised
	r.g.Nodes = append(r.g.Nodes, Node{Op: convert.op, Inputs: []ID{id}, Outputs: []ID{quantised},
		DebugHandle: insertedHandle, Ref: uint32(r.file.XnodesLength() + len(r.g.Nodes))})
	return nil
}
