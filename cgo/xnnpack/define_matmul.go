package xnnpack

// #include "define_matmul.h"
// #cgo noescape xg_define_fully_connected
// #cgo nocallback xg_define_fully_connected
// #cgo noescape xg_define_batch_matrix_multiply
// #cgo nocallback xg_define_batch_matrix_multiply
import "C"

// NoValue stands for an operand that a node does without.
const NoValue uint32 = C.XNN_INVALID_VALUE_ID

// FullyConnected adds a node that multiplies rows of x with a filter, transposed where its output channels come last, and adds
// the bias, which may be NoValue. With flatten it cuts x into rows whatever its shape. The result is limited to [lo, hi].
func (s *Subgraph) FullyConnected(lo, hi float32, x, filter, bias, out uint32, transposed, flatten bool) error {
	var m C.struct_xg_message
	return result(C.xg_define_fully_connected(s.c, C.float(lo), C.float(hi), C.uint32_t(x), C.uint32_t(filter), C.uint32_t(bias),
		C.uint32_t(out), C.bool(transposed), C.bool(flatten), &m), &m)
}

// BatchMatMul adds a node that multiplies the matrices of a with those of b, or with those transposed.
func (s *Subgraph) BatchMatMul(a, b, out uint32, transposed bool) error {
	var m C.struct_xg_message
	return result(C.xg_define_batch_matrix_multiply(s.c, C.uint32_t(a), C.uint32_t(b), C.uint32_t(out), C.bool(transposed), &m), &m)
}
