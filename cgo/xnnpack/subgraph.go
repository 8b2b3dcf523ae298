package xnnpack

// #include "bridge.h"
// #cgo noescape xg_subgraph_create
// #cgo nocallback xg_subgraph_create
// #cgo noescape xg_define_tensor
// #cgo nocallback xg_define_tensor
// #cgo noescape xg_subgraph_nodes
// #cgo nocallback xg_subgraph_nodes
// #cgo noescape xnn_delete_subgraph
// #cgo nocallback xnn_delete_subgraph
import "C"

import "unsafe"

// DataType is XNNPACK's number of an element type.
type DataType uint32

// The element types in use.
const (
	Float32  DataType = C.xnn_datatype_fp32
	Float16  DataType = C.xnn_datatype_fp16
	BFloat16 DataType = C.xnn_datatype_bf16
	Int32    DataType = C.xnn_datatype_int32
	QInt8    DataType = C.xnn_datatype_qint8
	QUInt8   DataType = C.xnn_datatype_quint8
	QInt32   DataType = C.xnn_datatype_qint32
	QCInt8   DataType = C.xnn_datatype_qcint8
	QCInt32  DataType = C.xnn_datatype_qcint32
	QCInt4   DataType = C.xnn_datatype_qcint4
	QBInt4   DataType = C.xnn_datatype_qbint4
	QDInt8   DataType = C.xnn_datatype_qdint8
)

// What XNNPACK is told of a value that the caller sees.
const (
	ExternalInput  uint32 = C.XNN_VALUE_FLAG_EXTERNAL_INPUT
	ExternalOutput uint32 = C.XNN_VALUE_FLAG_EXTERNAL_OUTPUT
)

// Subgraph is a network being described to XNNPACK. Runtimes made from it do not need it afterwards.
type Subgraph struct {
	c C.xnn_subgraph_t
}

// NewSubgraph starts a subgraph whose external values have the ids 0 to externals-1.
func NewSubgraph(externals int) (*Subgraph, error) {
	var s Subgraph
	var m C.struct_xg_message
	if err := result(C.xg_subgraph_create(C.uint32_t(externals), &s.c, &m), &m); err != nil {
		return nil, err
	}
	return &s, nil
}

// Close frees the subgraph.
func (s *Subgraph) Close() {
	C.xnn_delete_subgraph(s.c)
	s.c = nil
}

// Pointer is the xnn_subgraph_t, for code that calls XNNPACK itself.
func (s *Subgraph) Pointer() unsafe.Pointer { return unsafe.Pointer(s.c) }

// Nodes is how many nodes have been added. An operator may take XNNPACK several.
func (s *Subgraph) Nodes() int { return int(C.xg_subgraph_nodes(s.c)) }

// Tensor describes one value to Define.
type Tensor struct {
	Type DataType
	Dims []int
	// Data are the elements of a constant: C memory at 16-byte alignment, with ExtraBytes behind it, that outlives every
	// runtime of the subgraph. Nil for any other value.
	Data unsafe.Pointer
	// Flags are those of an external value, whose id is then ExternalID; 0 for any other value.
	Flags      uint32
	ExternalID int
	Quant      Quant
}

// Quant says how the integers of a tensor stand for real numbers. What counts depends on the tensor's type.
type Quant struct {
	Scale     float32
	ZeroPoint int
	// Scales are fp32 for each index along Axis, or bf16 for each Block elements of one; memory like that of Data.
	Scales unsafe.Pointer
	Axis   int
	Block  int
	Inner  int // dimensions that share a scale found at run time
}

// Define adds a value and gives its id.
func (s *Subgraph) Define(t Tensor) (uint32, error) {
	c := C.struct_xg_tensor{
		datatype:    C.enum_xnn_datatype(t.Type),
		rank:        C.size_t(len(t.Dims)),
		data:        t.Data,
		external_id: C.XNN_INVALID_VALUE_ID,
		flags:       C.uint32_t(t.Flags),
		scale:       C.float(t.Quant.Scale),
		zero_point:  C.int32_t(t.Quant.ZeroPoint),
		scales:      t.Quant.Scales,
		axis:        C.size_t(t.Quant.Axis),
		block:       C.size_t(t.Quant.Block),
		inner:       C.size_t(t.Quant.Inner),
	}
	for i, d := range t.Dims[:min(len(t.Dims), len(c.dims))] { // more dimensions are XNNPACK's to refuse
		c.dims[i] = C.size_t(d)
	}
	if t.Flags != 0 {
		c.external_id = C.uint32_t(t.ExternalID)
	}
	var id C.uint32_t
	var m C.struct_xg_message
	status := C.xg_define_tensor(s.c, &c, &id, &m)
	return uint32(id), result(status, &m)
}
