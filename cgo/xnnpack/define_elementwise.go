package xnnpack

// #include "define_elementwise.h"
// #cgo noescape xg_define_unary
// #cgo nocallback xg_define_unary
// #cgo noescape xg_define_binary
// #cgo nocallback xg_define_binary
// #cgo noescape xg_one
// #cgo nocallback xg_one
import "C"

import "unsafe"

// UnaryOp is an element-wise operator of one operand.
type UnaryOp int32

// The unary operators.
const (
	Abs                  UnaryOp = C.xnn_unary_abs
	BankersRounding      UnaryOp = C.xnn_unary_bankers_rounding
	BitwiseNot           UnaryOp = C.xnn_unary_bitwise_not
	Ceiling              UnaryOp = C.xnn_unary_ceiling
	Clamp                UnaryOp = C.xnn_unary_clamp
	Convert              UnaryOp = C.xnn_unary_convert
	Cosine               UnaryOp = C.xnn_unary_cosine
	CountLeadingZeros    UnaryOp = C.xnn_unary_count_leading_zeros
	CubeRoot             UnaryOp = C.xnn_unary_cube_root
	ELU                  UnaryOp = C.xnn_unary_elu
	Exp                  UnaryOp = C.xnn_unary_exp
	Floor                UnaryOp = C.xnn_unary_floor
	GELU                 UnaryOp = C.xnn_unary_gelu
	HardSwish            UnaryOp = C.xnn_unary_hardswish
	LeakyReLU            UnaryOp = C.xnn_unary_leaky_relu
	Log                  UnaryOp = C.xnn_unary_log
	Negate               UnaryOp = C.xnn_unary_negate
	PopCount             UnaryOp = C.xnn_unary_popcount
	ReciprocalSquareRoot UnaryOp = C.xnn_unary_reciprocal_square_root
	Sigmoid              UnaryOp = C.xnn_unary_sigmoid
	Sign                 UnaryOp = C.xnn_unary_sign
	Sine                 UnaryOp = C.xnn_unary_sine
	Square               UnaryOp = C.xnn_unary_square
	SquareRoot           UnaryOp = C.xnn_unary_square_root
	Tanh                 UnaryOp = C.xnn_unary_tanh
)

// BinaryOp is an element-wise operator of two operands.
type BinaryOp int32

// The binary operators.
const (
	Add                  BinaryOp = C.xnn_binary_add
	Atan2                BinaryOp = C.xnn_binary_atan2
	BitwiseAnd           BinaryOp = C.xnn_binary_bitwise_and
	BitwiseOr            BinaryOp = C.xnn_binary_bitwise_or
	BitwiseXor           BinaryOp = C.xnn_binary_bitwise_xor
	Copysign             BinaryOp = C.xnn_binary_copysign
	Divide               BinaryOp = C.xnn_binary_divide
	Maximum              BinaryOp = C.xnn_binary_maximum
	Minimum              BinaryOp = C.xnn_binary_minimum
	Modulus              BinaryOp = C.xnn_binary_modulus
	Multiply             BinaryOp = C.xnn_binary_multiply
	Pow                  BinaryOp = C.xnn_binary_pow
	PReLU                BinaryOp = C.xnn_binary_prelu
	ShiftLeft            BinaryOp = C.xnn_binary_shift_left
	ShiftRightArithmetic BinaryOp = C.xnn_binary_shift_right_arithmetic
	ShiftRightLogical    BinaryOp = C.xnn_binary_shift_right_logical
	SquaredDifference    BinaryOp = C.xnn_binary_squared_difference
	Subtract             BinaryOp = C.xnn_binary_subtract
)

// Unary adds a node that computes out from in, element by element. Clamp limits to [a, b], a is ELU's alpha and LeakyReLU's
// slope; the other operators have no parameters.
func (s *Subgraph) Unary(op UnaryOp, a, b float32, in, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_unary(s.c, C.enum_xnn_unary_operator(op), C.float(a), C.float(b), C.uint32_t(in), C.uint32_t(out), &m),
		&m)
}

// Binary adds a node that computes out from a and b, broadcast against each other.
func (s *Subgraph) Binary(op BinaryOp, a, b, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_binary(s.c, C.enum_xnn_binary_operator(op), C.uint32_t(a), C.uint32_t(b), C.uint32_t(out), &m), &m)
}

// One is the Data of the scalar constant 1, an fp32 tensor.
func One() unsafe.Pointer { return unsafe.Pointer(C.xg_one()) }
