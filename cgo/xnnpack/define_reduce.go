package xnnpack

// #include "define_reduce.h"
// #cgo noescape xg_define_reduce
// #cgo nocallback xg_define_reduce
import "C"

import "unsafe"

// ReduceOp is what a reduction computes of the elements it takes together.
type ReduceOp int32

// The reductions.
const (
	ReduceMean ReduceOp = C.xnn_reduce_mean
	ReduceSum  ReduceOp = C.xnn_reduce_sum
)

// Reduce adds a node that reduces in over the axes, which out keeps with size 1 or loses. The axes must be of in, each once.
func (s *Subgraph) Reduce(op ReduceOp, axes []int, keepDims bool, in, out uint32) error {
	list := make([]C.int64_t, len(axes), len(axes)+1)
	for i, axis := range axes {
		list[i] = C.int64_t(axis)
	}
	var m C.struct_xg_message
	return result(C.xg_define_reduce(s.c, C.enum_xnn_reduce_operator(op), C.size_t(len(list)), unsafe.SliceData(list),
		C.bool(keepDims), C.uint32_t(in), C.uint32_t(out), &m), &m)
}
