package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

var binaries = []struct {
	kind graph.BinaryFunc
	op   xnnpack.BinaryOp
	name string // XNNPACK's
}{
	{graph.Add, xnnpack.Add, "xnn_binary_add"},
	{graph.Atan2, xnnpack.Atan2, "xnn_binary_atan2"},
	{graph.BitwiseAnd, xnnpack.BitwiseAnd, "xnn_binary_bitwise_and"},
	{graph.BitwiseOr, xnnpack.BitwiseOr, "xnn_binary_bitwise_or"},
	{graph.BitwiseXor, xnnpack.BitwiseXor, "xnn_binary_bitwise_xor"},
	{graph.Copysign, xnnpack.Copysign, "xnn_binary_copysign"},
	{graph.Divide, xnnpack.Divide, "xnn_binary_divide"},
	{graph.Maximum, xnnpack.Maximum, "xnn_binary_maximum"},
	{graph.Minimum, xnnpack.Minimum, "xnn_binary_minimum"},
	{graph.Modulus, xnnpack.Modulus, "xnn_binary_modulus"},
	{graph.Multiply, xnnpack.Multiply, "xnn_binary_multiply"},
	{graph.Pow, xnnpack.Pow, "xnn_binary_pow"},
	{graph.PReLU, xnnpack.PReLU, "xnn_binary_prelu"},
	{graph.ShiftLeft, xnnpack.ShiftLeft, "xnn_binary_shift_left"},
	{graph.ShiftRightArithmetic, xnnpack.ShiftRightArithmetic, "xnn_binary_shift_right_arithmetic"},
	{graph.ShiftRightLogical, xnnpack.ShiftRightLogical, "xnn_binary_shift_right_logical"},
	{graph.SquaredDifference, xnnpack.SquaredDifference, "xnn_binary_squared_difference"},
	{graph.Subtract, xnnpack.Subtract, "xnn_binary_subtract"},
}

func init() {
	for _, b := range binaries {
		lowerings[string(b.kind)] = lowering{
			api:         "xnn_define_binary " + b.name,
			elementwise: true,
			define: func(d *definition) error {
				return d.limited(d.op.(graph.Binary).Range, func(out uint32) error {
					return d.sub.Binary(b.op, d.ins[0], d.ins[1], out)
				})
			},
		}
	}
}
