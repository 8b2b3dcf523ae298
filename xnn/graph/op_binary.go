package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Binary is an element-wise operator of two tensors, broadcast against each other.
type Binary struct {
	Func  BinaryFunc
	Range Range
}

// BinaryFunc is what a Binary computes of two elements a and b.
type BinaryFunc string

// The binary functions. Of quantised tensors they take the real numbers, and round the result to the result's scale. Where one
// element is NaN the larger and the smaller of two are either.
const (
	Add                  BinaryFunc = "Add"                  // a + b
	Atan2                BinaryFunc = "Atan2"                // the angle of the point (b, a) from the x axis, in radians
	BitwiseAnd           BinaryFunc = "BitwiseAnd"           // the bits that both have
	BitwiseOr            BinaryFunc = "BitwiseOr"            // the bits that one has
	BitwiseXor           BinaryFunc = "BitwiseXor"           // the bits that only one has
	Copysign             BinaryFunc = "Copysign"             // |a| with the sign of b
	Divide               BinaryFunc = "Divide"               // a / b; of integers so that the rest is not negative, 0 for b = 0
	Maximum              BinaryFunc = "Maximum"              // the larger
	Minimum              BinaryFunc = "Minimum"              // the smaller
	Modulus              BinaryFunc = "Modulus"              // the rest of a / b, with a's sign, of integers not negative; 0 for b = 0
	Multiply             BinaryFunc = "Multiply"             // a b
	Pow                  BinaryFunc = "Pow"                  // a to the power of b; of integers 0 for b < 0
	PReLU                BinaryFunc = "PReLU"                // a, for negative a b a
	ShiftLeft            BinaryFunc = "ShiftLeft"            // the bits of a moved up by b modulo 32
	ShiftRightArithmetic BinaryFunc = "ShiftRightArithmetic" // the bits of a moved down by b modulo 32, the sign kept
	ShiftRightLogical    BinaryFunc = "ShiftRightLogical"    // the bits of a moved down by b modulo 32, zeros above
	SquaredDifference    BinaryFunc = "SquaredDifference"    // (a - b)^2
	Subtract             BinaryFunc = "Subtract"             // a - b
)

// Kind is the function's name.
func (o Binary) Kind() string { return string(o.Func) }

func (o Binary) limits() Range { return o.Range }

func (o Binary) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o Binary) infer(in, out []Value) ([]Shape, error) {
	if err := checkLimits(o.Range, in[0].DType); err != nil {
		return nil, err
	}
	if err := checkScales(in, out); err != nil {
		return nil, err
	}
	if err := o.checkRatios(&in[0], &in[1], &out[0]); err != nil {
		return nil, err
	}
	shape, err := Broadcast(in[0].Shape, in[1].Shape)
	return []Shape{shape}, err
}

// checkRatios accepts the scales that XNNPACK's integer kernels have the bits for. They do not look, and give zeros for others.
func (o Binary) checkRatios(a, b, out *Value) *schema.Error {
	if out.DType.quant() != quantTensor || a.Quant == nil || b.Quant == nil || out.Quant == nil {
		return nil
	}
	fail := func(ratio float32, least string) *schema.Error {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"%s: scales %g and %g of the operands against %g of the result make a ratio of %g, not in [%s, 2^8)",
			o.Func, a.Quant.Scale, b.Quant.Scale, out.Quant.Scale, ratio, least).AtValue(out.Ref)
	}
	switch o.Func {
	case Add, Subtract:
		for _, v := range []*Value{a, b} {
			if ratio := v.Quant.Scale / out.Quant.Scale; !(ratio >= 0x1p-10 && ratio < 0x1p+8) {
				return fail(ratio, "2^-10")
			}
		}
	case Multiply:
		if ratio := a.Quant.Scale * b.Quant.Scale / out.Quant.Scale; !(ratio >= 0x1p-16 && ratio < 0x1p+8) {
			return fail(ratio, "2^-16")
		}
	}
	return nil
}

var binaries = []struct {
	op      BinaryFunc
	tag     xnngraph.XNodeUnion
	dialect dialect
	limits  bool
	types   []DType // of both operands and the result
}{
	{Add, xnngraph.XNodeUnionXNNAdd, dialectSeed, true, allDTypes},
	{Atan2, xnngraph.XNodeUnionAtan2, dialectOurs, false, realDTypes},
	{BitwiseAnd, xnngraph.XNodeUnionBitwiseAnd, dialectOurs, false, bitDTypes},
	{BitwiseOr, xnngraph.XNodeUnionBitwiseOr, dialectOurs, false, bitDTypes},
	{BitwiseXor, xnngraph.XNodeUnionBitwiseXor, dialectOurs, false, bitDTypes},
	{Copysign, xnngraph.XNodeUnionCopysign, dialectOurs, false, allDTypes},
	{Divide, xnngraph.XNodeUnionXNNDiv, dialectExecuTorch, true, allDTypes},
	{Maximum, xnngraph.XNodeUnionXNNMaximum, dialectExecuTorch, false, allDTypes},
	{Minimum, xnngraph.XNodeUnionXNNMinimum, dialectExecuTorch, false, allDTypes},
	{Modulus, xnngraph.XNodeUnionModulus, dialectOurs, false, allDTypes},
	{Multiply, xnngraph.XNodeUnionXNNMultiply, dialectExecuTorch, true, allDTypes},
	{Pow, xnngraph.XNodeUnionPow, dialectOurs, false, allDTypes},
	{PReLU, xnngraph.XNodeUnionXNNPReLU, dialectExecuTorch, false, realDTypes},
	{ShiftLeft, xnngraph.XNodeUnionShiftLeft, dialectOurs, false, bitDTypes},
	{ShiftRightArithmetic, xnngraph.XNodeUnionShiftRightArithmetic, dialectOurs, false, bitDTypes},
	{ShiftRightLogical, xnngraph.XNodeUnionShiftRightLogical, dialectOurs, false, bitDTypes},
	{SquaredDifference, xnngraph.XNodeUnionSquaredDifference, dialectOurs, false, realDTypes},
	{Subtract, xnngraph.XNodeUnionXNNSubtract, dialectExecuTorch, true, allDTypes},
}

func init() {
	for _, b := range binaries {
		register(operator{
			op:      Binary{Func: b.op},
			inputs:  exactly(2),
			outputs: exactly(1),
			types:   sameType(2, b.types),
			forms: []form{{
				tag:     b.tag,
				dialect: b.dialect,
				limits:  b.limits,
				decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
					var n xnngraph.XNNNode2x1
					n.Init(t.Bytes, t.Pos)
					return Binary{Func: b.op}, []operand{{"input1_id", n.Input1Id()}, {"input2_id", n.Input2Id()}},
						[]operand{{"output_id", n.OutputId()}}, onlyFlags(string(b.op), n.Flags(), 0)
				},
				encode: encodeNode2x1,
			}},
		})
	}
}

func encodeNode2x1(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
	xnngraph.XNNNode2x1Start(b)
	xnngraph.XNNNode2x1AddInput1Id(b, in[0])
	xnngraph.XNNNode2x1AddInput2Id(b, in[1])
	xnngraph.XNNNode2x1AddOutputId(b, out[0])
	return xnngraph.XNNNode2x1End(b)
}
