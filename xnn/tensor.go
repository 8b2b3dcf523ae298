package xnn

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// The words of package graph that users of this one need.
type (
	// DType is the type of a tensor's elements.
	DType = graph.DType
	// Shape is a tensor's size along each dimension, outermost first.
	Shape = graph.Shape
	// Type is a DType and a Shape.
	Type = graph.Type
	// Quant says how the integers of a quantised tensor stand for real numbers.
	Quant = graph.Quant
	// Half holds the bits of a half-precision number.
	Half = graph.Half
	// BFloat holds the upper half of the bits of a single-precision number.
	BFloat = graph.BFloat
)

// The element types.
const (
	Float32  = graph.Float32
	Float16  = graph.Float16
	BFloat16 = graph.BFloat16
	Int32    = graph.Int32
	QInt8    = graph.QInt8
	QUInt8   = graph.QUInt8
)

// Element is a Go type that tensor elements have: float32 of Float32, Half of Float16, BFloat of BFloat16, int32 of Int32,
// int8 of QInt8, uint8 of QUInt8.
type Element interface {
	float32 | Half | BFloat | int32 | int8 | uint8
}

// Tensor is a typed block of elements, packed, outermost dimension first. Those of a session are views of its memory;
// those of NewTensor hold the caller's slice. The zero value and nil are no tensor.
type Tensor struct {
	typ Type
	mem []byte

	err     error    // what was wrong with the arguments of NewTensor
	session *session // owner of mem, which hears of misuse; nil for the caller's own
}

// NewTensor makes a tensor of data's elements and shares the slice. Where data and shape do not agree in size, the call
// the tensor is given to reports it.
func NewTensor[T Element](data []T, dims ...int) *Tensor {
	t := &Tensor{typ: Type{DType: dtypeOf[T](), Shape: slices.Clone(Shape(dims))}}
	if n, err := t.typ.Count(); err != nil {
		t.err = err
	} else if n != len(data) {
		t.err = schema.Errorf(schema.StageSetup, ErrShape, "NewTensor got %d elements for %v", len(data), t.typ)
	}
	t.mem = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)*t.typ.DType.Size())
	return t
}

// DType is the type of the elements.
func (t *Tensor) DType() DType {
	if t == nil {
		return graph.InvalidDType
	}
	return t.typ.DType
}

// Quant says how the elements of a quantised tensor of a model stand for real numbers; nil for other tensors.
func (t *Tensor) Quant() *Quant {
	if t == nil {
		return nil
	}
	return t.typ.Quant
}

// Shape is the size along each dimension. The caller must not change it.
func (t *Tensor) Shape() Shape {
	if t == nil {
		return nil
	}
	return t.typ.Shape
}

// Bytes is the tensor's memory, with the lifetime of Data.
func (t *Tensor) Bytes() []byte {
	if t == nil {
		return nil
	}
	return t.mem
}

// String gives type and shape.
func (t *Tensor) String() string {
	if t == nil {
		return "no tensor"
	}
	return t.typ.String()
}

// Data is the tensor's elements, without copying. For a session's tensor it is valid until the session's next Reshape or
// Close, and does not keep the session alive. Where T is not the tensor's element type it returns nil, and the session's
// next Run reports the mistake.
func Data[T Element](t *Tensor) []T {
	if t == nil || len(t.mem) == 0 {
		return nil
	}
	if dt := dtypeOf[T](); dt != t.typ.DType {
		if t.session != nil {
			t.session.note(schema.Errorf(schema.StageSetup, ErrArgument, "Data[%T] was asked of a %v tensor", *new(T), t.typ))
		}
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(t.mem))), len(t.mem)/t.typ.DType.Size())
}

func dtypeOf[T Element]() DType {
	switch any(*new(T)).(type) {
	case float32:
		return Float32
	case Half:
		return Float16
	case BFloat:
		return BFloat16
	case int32:
		return Int32
	case int8:
		return QInt8
	case uint8:
		return QUInt8
	}
	panic(fmt.Sprintf("xnn: no dtype for %T", *new(T))) // Element lists the cases above
}
