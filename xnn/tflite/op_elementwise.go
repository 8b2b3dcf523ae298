package tflite

import (
	"math"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// unaries are the element-wise operators of one operand that have no parameters.
var unaries = []struct {
	code    wire.BuiltinOperator
	options wire.BuiltinOptions
	op      graph.UnaryFunc
	f       func(float64) float64
}{
	{wire.BuiltinOperatorABS, wire.BuiltinOptionsAbsOptions, graph.Abs, math.Abs},
	{wire.BuiltinOperatorCEIL, wire.BuiltinOptionsNONE, graph.Ceiling, math.Ceil},
	{wire.BuiltinOperatorCOS, wire.BuiltinOptionsCosOptions, graph.Cosine, math.Cos},
	{wire.BuiltinOperatorEXP, wire.BuiltinOptionsExpOptions, graph.Exp, math.Exp},
	{wire.BuiltinOperatorFLOOR, wire.BuiltinOptionsNONE, graph.Floor, math.Floor},
	{wire.BuiltinOperatorHARD_SWISH, wire.BuiltinOptionsHardSwishOptions, graph.HardSwish, nil},
	{wire.BuiltinOperatorLOG, wire.BuiltinOptionsNONE, graph.Log, math.Log},
	{wire.BuiltinOperatorLOGISTIC, wire.BuiltinOptionsNONE, graph.Sigmoid, nil},
	{wire.BuiltinOperatorNEG, wire.BuiltinOptionsNegOptions, graph.Negate, func(x float64) float64 { return -x }},
	{wire.BuiltinOperatorROUND, wire.BuiltinOptionsNONE, graph.BankersRounding, math.RoundToEven},
	{wire.BuiltinOperatorRSQRT, wire.BuiltinOptionsNONE, graph.ReciprocalSquareRoot,
		func(x float64) float64 { return 1 / math.Sqrt(x) }},
	{wire.BuiltinOperatorSIGN, wire.BuiltinOptionsSignOptions, graph.Sign, nil},
	{wire.BuiltinOperatorSIN, wire.BuiltinOptionsNONE, graph.Sine, math.Sin},
	{wire.BuiltinOperatorSQRT, wire.BuiltinOptionsNONE, graph.SquareRoot, math.Sqrt},
	{wire.BuiltinOperatorSQUARE, wire.BuiltinOptionsSquareOptions, graph.Square, func(x float64) float64 { return x * x }},
	{wire.BuiltinOperatorTANH, wire.BuiltinOptionsNONE, graph.Tanh, nil},
}

// binaries are the element-wise operators of two operands.
var binaries = []struct {
	code    wire.BuiltinOperator
	options wire.BuiltinOptions
	fields  int // of options that name an activation
	op      graph.BinaryFunc
	real    func(a, b float64) float64
	whole   func(a, b int64) int64
}{
	{wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, 2, graph.Add,
		func(a, b float64) float64 { return a + b }, func(a, b int64) int64 { return a + b }},
	{wire.BuiltinOperatorATAN2, wire.BuiltinOptionsATan2Options, 0, graph.Atan2, nil, nil},
	{wire.BuiltinOperatorDIV, wire.BuiltinOptionsDivOptions, 2, graph.Divide, func(a, b float64) float64 { return a / b }, nil},
	{wire.BuiltinOperatorMAXIMUM, wire.BuiltinOptionsMaximumMinimumOptions, 0, graph.Maximum, math.Max,
		func(a, b int64) int64 { return max(a, b) }},
	{wire.BuiltinOperatorMINIMUM, wire.BuiltinOptionsMaximumMinimumOptions, 0, graph.Minimum, math.Min,
		func(a, b int64) int64 { return min(a, b) }},
	{wire.BuiltinOperatorMUL, wire.BuiltinOptionsMulOptions, 2, graph.Multiply,
		func(a, b float64) float64 { return a * b }, func(a, b int64) int64 { return a * b }},
	{wire.BuiltinOperatorPOW, wire.BuiltinOptionsPowOptions, 0, graph.Pow, nil, nil},
	{wire.BuiltinOperatorPRELU, wire.BuiltinOptionsNONE, 0, graph.PReLU, nil, nil},
	{wire.BuiltinOperatorSQUARED_DIFFERENCE, wire.BuiltinOptionsSquaredDifferenceOptions, 0, graph.SquaredDifference, nil, nil},
	{wire.BuiltinOperatorSUB, wire.BuiltinOptionsSubOptions, 2, graph.Subtract,
		func(a, b float64) float64 { return a - b }, func(a, b int64) int64 { return a - b }},
}

func init() {
	for _, u := range unaries {
		handlers[u.code] = &handler{
			options: u.options, in: arity{1, 1}, out: arity{1, 1},
			build: func(n *node) error {
				return n.emit(graph.Unary{Func: u.op}, wire.ActivationFunctionTypeNONE, n.value(0))
			},
			fold: func(n *node, in []*constant) ([]*constant, error) {
				return one(n.im.mapped(in[0], u.f))
			},
		}
	}
	for _, b := range binaries {
		handlers[b.code] = &handler{
			options: b.options, fields: b.fields, in: arity{2, 2}, out: arity{1, 1},
			build: func(n *node) error {
				return n.emit(graph.Binary{Func: b.op}, n.activation(b.fields), n.value(0), n.value(1))
			},
			fold: func(n *node, in []*constant) ([]*constant, error) {
				if in[0] == nil || in[1] == nil || n.activation(b.fields) != wire.ActivationFunctionTypeNONE {
					return nil, nil
				}
				return one(n.im.combined(in[0], in[1], b.real, b.whole))
			},
		}
	}
	inf := float32(math.Inf(1))
	for code, r := range map[wire.BuiltinOperator]graph.Range{
		wire.BuiltinOperatorRELU:         {Min: 0, Max: inf},
		wire.BuiltinOperatorRELU6:        {Min: 0, Max: 6},
		wire.BuiltinOperatorRELU_N1_TO_1: {Min: -1, Max: 1},
		wire.BuiltinOperatorRELU_0_TO_1:  {Min: 0, Max: 1},
	} {
		handlers[code] = elementwise(wire.BuiltinOptionsNONE, 0,
			func(*node) graph.Op { return graph.Unary{Func: graph.Clamp, Range: r} })
	}
	handlers[wire.BuiltinOperatorELU] = elementwise(wire.BuiltinOptionsNONE, 0, func(*node) graph.Op {
		return graph.Unary{Func: graph.ELU, Alpha: 1}
	})
	handlers[wire.BuiltinOperatorLEAKY_RELU] = elementwise(wire.BuiltinOptionsLeakyReluOptions, 1, func(n *node) graph.Op {
		var o wire.LeakyReluOptions
		n.options(&o)
		return graph.Unary{Func: graph.LeakyReLU, Alpha: o.Alpha()}
	})
	handlers[wire.BuiltinOperatorGELU] = &handler{
		options: wire.BuiltinOptionsGeluOptions, fields: 1, in: arity{1, 1}, out: arity{1, 1}, build: buildGELU,
	}
}

// elementwise reads an operator of one operand.
func elementwise(options wire.BuiltinOptions, fields int, op func(n *node) graph.Op) *handler {
	return &handler{
		options: options, fields: fields, in: arity{1, 1}, out: arity{1, 1},
		build: func(n *node) error { return n.emit(op(n), wire.ActivationFunctionTypeNONE, n.value(0)) },
	}
}

// one is a list of the constant, if there is one.
func one(c *constant, err error) ([]*constant, error) {
	if c == nil || err != nil {
		return nil, err
	}
	return []*constant{c}, nil
}

// activation is the one in an operator's ArithmeticOptions, if it has such.
func (n *node) activation(fields int) wire.ActivationFunctionType {
	if fields == 0 {
		return wire.ActivationFunctionTypeNONE
	}
	var o wire.ArithmeticOptions
	n.options(&o)
	return o.FusedActivationFunction()
}

// buildGELU appends a GELU, or its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
func buildGELU(n *node) error {
	var o wire.GeluOptions
	n.options(&o)
	x := n.value(0)
	if !o.Approximate() {
		return n.emit(graph.Unary{Func: graph.GELU}, wire.ActivationFunctionTypeNONE, x)
	}
	x, t := n.real(x)
	number := func(f float64) graph.ID { return n.number(float32(f)) }
	times := func(a, b graph.ID) graph.ID { return n.step(graph.Binary{Func: graph.Multiply}, t, a, b) }
	plus := func(a, b graph.ID) graph.ID { return n.step(graph.Binary{Func: graph.Add}, t, a, b) }
	c := math.Sqrt(2 / math.Pi)
	inner := times(plus(times(n.step(graph.Unary{Func: graph.Square}, t, x), number(0.044715*c)), number(c)), x)
	half := times(x, number(0.5))
	return n.emitReal(graph.Binary{Func: graph.Multiply}, half, plus(n.step(graph.Unary{Func: graph.Tanh}, t, inner), number(1)))
}
