package graph

import (
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Unary is an element-wise operator of one tensor.
type Unary struct {
	Func UnaryFunc
	// Alpha is ELU's factor and LeakyReLU's slope; 0 for the others.
	Alpha float32
	// Range is what Clamp limits to; the others have none.
	Range Range
}

// UnaryFunc is what a Unary computes of an element x.
type UnaryFunc string

// The unary functions. Of quantised tensors they take the real numbers, and round the result to the result's scale.
const (
	Abs                  UnaryFunc = "Abs"                  // |x|
	BankersRounding      UnaryFunc = "BankersRounding"      // the nearest whole number, the even one of two
	BitwiseNot           UnaryFunc = "BitwiseNot"           // every bit turned over
	Ceiling              UnaryFunc = "Ceiling"              // the least whole number that is not below x
	Clamp                UnaryFunc = "Clamp"                // x limited to a range; NaN stays
	Convert              UnaryFunc = "Convert"              // x in another element type or scale; see Graph.Convert
	Cosine               UnaryFunc = "Cosine"               // cos x, x in radians
	CountLeadingZeros    UnaryFunc = "CountLeadingZeros"    // zero bits above the highest one, 32 for 0
	CubeRoot             UnaryFunc = "CubeRoot"             // the cube root, negative for negative x
	ELU                  UnaryFunc = "ELU"                  // x, for negative x alpha (e^x - 1)
	Exp                  UnaryFunc = "Exp"                  // e^x
	Floor                UnaryFunc = "Floor"                // the largest whole number that is not above x
	GELU                 UnaryFunc = "GELU"                 // x/2 (1 + erf(x / sqrt 2))
	HardSwish            UnaryFunc = "HardSwish"            // x/6 min(max(x+3, 0), 6)
	LeakyReLU            UnaryFunc = "LeakyReLU"            // x, for negative x slope x
	Log                  UnaryFunc = "Log"                  // the natural logarithm
	Negate               UnaryFunc = "Negate"               // -x
	PopCount             UnaryFunc = "PopCount"             // the number of one bits
	ReciprocalSquareRoot UnaryFunc = "ReciprocalSquareRoot" // 1 / sqrt x
	Sigmoid              UnaryFunc = "Sigmoid"              // 1 / (1 + e^-x)
	Sign                 UnaryFunc = "Sign"                 // -1, 0 or 1
	Sine                 UnaryFunc = "Sine"                 // sin x, x in radians
	Square               UnaryFunc = "Square"               // x^2
	SquareRoot           UnaryFunc = "SquareRoot"           // sqrt x
	Tanh                 UnaryFunc = "Tanh"                 // the hyperbolic tangent
)

// Kind is the function's name.
func (o Unary) Kind() string { return string(o.Func) }

func (o Unary) limits() Range { return o.Range }

func (o Unary) scalar() float32 { return o.Alpha }

func (o Unary) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o Unary) infer(in, out []Value) ([]Shape, error) {
	if o.Func != Clamp && o.Range != (Range{}) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s cannot limit its result", o.Func)
	}
	alpha := float64(o.Alpha)
	switch {
	case o.Func == ELU && !normal(o.Alpha):
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "ELU: alpha is %g, not a normal positive number", o.Alpha)
	case o.Func == LeakyReLU && (math.IsNaN(alpha) || math.IsInf(alpha, 0)):
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "LeakyReLU: negative_slope is %g, not a finite number", o.Alpha)
	case o.Func != ELU && o.Func != LeakyReLU && o.Alpha != 0:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s has no alpha, found %g", o.Func, o.Alpha)
	}
	if err := checkLimits(o.Range, in[0].DType); err != nil {
		return nil, err
	}
	if err := checkScales(in, out); err != nil {
		return nil, err
	}
	if o.Func == LeakyReLU {
		if err := o.checkSlopes(&in[0], &out[0]); err != nil {
			return nil, err
		}
	}
	return []Shape{slices.Clone(in[0].Shape)}, nil
}

// checkSlopes: XNNPACK multiplies quantised elements by whole numbers of 256ths, up to 16 bits, of which it checks nothing.
func (o Unary) checkSlopes(in, out *Value) error {
	if in.Quant == nil || out.Quant == nil {
		return nil
	}
	positive := in.Quant.Scale / out.Quant.Scale
	negative := positive * o.Alpha
	const least, most = 0x1p-8, 0x1p+7
	if !(positive >= least && positive <= most) {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"LeakyReLU: the ratio of the scales %g of the operand and %g of the result is %g, not in [2^-8, 2^7]",
			in.Quant.Scale, out.Quant.Scale, positive).AtValue(out.Ref)
	}
	if !(negative >= least && negative <= most || -negative >= least && -negative <= 0x1.fffcp+6) {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"LeakyReLU: the ratio %g of the scales times negative_slope %g is %g; its size is not in [2^-8, 2^7]",
			positive, o.Alpha, negative).AtValue(out.Ref)
	}
	return nil
}

var (
	realDTypes = []DType{Float32, Float16, BFloat16, QInt8, QUInt8}
	allDTypes  = []DType{Float32, Float16, BFloat16, QInt8, QUInt8, Int32}
	bitDTypes  = []DType{Int32}
)

var unaries = []struct {
	op      UnaryFunc
	tag     xnngraph.XNodeUnion
	dialect dialect
	types   []DType // of the operand and the result
}{
	{Abs, xnngraph.XNodeUnionXNNAbs, dialectExecuTorch, allDTypes},
	{BankersRounding, xnngraph.XNodeUnionBankersRounding, dialectOurs, realDTypes},
	{BitwiseNot, xnngraph.XNodeUnionBitwiseNot, dialectOurs, bitDTypes},
	{Ceiling, xnngraph.XNodeUnionXNNCeiling, dialectExecuTorch, realDTypes},
	{Clamp, xnngraph.XNodeUnionXNNClamp, dialectExecuTorch, allDTypes},
	{Cosine, xnngraph.XNodeUnionXNNCos, dialectExecuTorch, realDTypes},
	{CountLeadingZeros, xnngraph.XNodeUnionCountLeadingZeros, dialectOurs, bitDTypes},
	{CubeRoot, xnngraph.XNodeUnionCubeRoot, dialectOurs, realDTypes},
	{Exp, xnngraph.XNodeUnionXNNExp, dialectExecuTorch, realDTypes},
	{Floor, xnngraph.XNodeUnionXNNFloor, dialectExecuTorch, realDTypes},
	{GELU, xnngraph.XNodeUnionXNNGelu, dialectExecuTorch, realDTypes},
	{HardSwish, xnngraph.XNodeUnionXNNHardswish, dialectExecuTorch, realDTypes},
	{Log, xnngraph.XNodeUnionXNNLog, dialectExecuTorch, realDTypes},
	{Negate, xnngraph.XNodeUnionXNNNegate, dialectExecuTorch, allDTypes},
	{PopCount, xnngraph.XNodeUnionPopCount, dialectOurs, bitDTypes},
	{ReciprocalSquareRoot, xnngraph.XNodeUnionXNNReciprocalSquareRoot, dialectExecuTorch, realDTypes},
	{Sigmoid, xnngraph.XNodeUnionXNNSigmoid, dialectExecuTorch, realDTypes},
	{Sign, xnngraph.XNodeUnionSign, dialectOurs, allDTypes},
	{Sine, xnngraph.XNodeUnionXNNSin, dialectExecuTorch, realDTypes},
	{Square, xnngraph.XNodeUnionXNNSquare, dialectExecuTorch, allDTypes},
	{SquareRoot, xnngraph.XNodeUnionXNNSquareRoot, dialectExecuTorch, realDTypes},
	{Tanh, xnngraph.XNodeUnionXNNTanh, dialectExecuTorch, realDTypes},
}

func init() {
	for _, u := range unaries {
		registerUnary(u.op, sameType(1, u.types), form{
			tag:     u.tag,
			dialect: u.dialect,
			limits:  u.op == Clamp,
			decode:  decode1x1(Unary{Func: u.op}),
			encode:  encode1x1,
		})
	}
	registerUnary(LeakyReLU, sameType(1, realDTypes), form{
		tag:     xnngraph.XNodeUnionXNNLeakyReLU,
		dialect: dialectExecuTorch,
		decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
			var n xnngraph.XNNLeakyReLU
			n.Init(t.Bytes, t.Pos)
			return Unary{Func: LeakyReLU, Alpha: n.NegativeSlope()}, []operand{{"input_id", n.InputId()}},
				[]operand{{"output_id", n.OutputId()}}, onlyFlags(string(LeakyReLU), n.Flags(), 0)
		},
		encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
			xnngraph.XNNLeakyReLUStart(b)
			xnngraph.XNNLeakyReLUAddNegativeSlope(b, op.(Unary).Alpha)
			xnngraph.XNNLeakyReLUAddInputId(b, in[0])
			xnngraph.XNNLeakyReLUAddOutputId(b, out[0])
			return xnngraph.XNNLeakyReLUEnd(b)
		},
	})
	registerUnary(ELU, sameType(1, realDTypes), form{
		tag:     xnngraph.XNodeUnionXNNELU,
		dialect: dialectExecuTorch,
		decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
			var n xnngraph.XNNELU
			n.Init(t.Bytes, t.Pos)
			return Unary{Func: ELU, Alpha: n.Alpha()}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}},
				onlyFlags(string(ELU), n.Flags(), 0)
		},
		encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
			xnngraph.XNNELUStart(b)
			xnngraph.XNNELUAddAlpha(b, op.(Unary).Alpha)
			xnngraph.XNNELUAddInputId(b, in[0])
			xnngraph.XNNELUAddOutputId(b, out[0])
			return xnngraph.XNNELUEnd(b)
		},
	})
}

func registerUnary(f UnaryFunc, types []Signature, wire form) {
	register(operator{op: Unary{Func: f}, inputs: exactly(1), outputs: exactly(1), types: types, forms: []form{wire}})
}

// sameType are the signatures of so many operands and a result that all have one of these types.
func sameType(operands int, types []DType) []Signature {
	list := make([]Signature, len(types))
	for i, t := range types {
		list[i] = Signature{slices.Repeat([]DType{t}, operands), []DType{t}}
	}
	return list
}

// decode1x1 reads the table of an operator that has no parameters.
func decode1x1(op Op) func(flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
	return func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
		var n xnngraph.XNNNode1x1
		n.Init(t.Bytes, t.Pos)
		return op, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, onlyFlags(op.Kind(), n.Flags(), 0)
	}
}

func encode1x1(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
	xnngraph.XNNNode1x1Start(b)
	xnngraph.XNNNode1x1AddInputId(b, in[0])
	xnngraph.XNNNode1x1AddOutputId(b, out[0])
	return xnngraph.XNNNode1x1End(b)
}
