package xnn

import (
	"math"
	"slices"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

var unaries = []struct {
	kind graph.UnaryFunc
	op   xnnpack.UnaryOp
	name string // XNNPACK's
}{
	{graph.Abs, xnnpack.Abs, "xnn_unary_abs"},
	{graph.BankersRounding, xnnpack.BankersRounding, "xnn_unary_bankers_rounding"},
	{graph.BitwiseNot, xnnpack.BitwiseNot, "xnn_unary_bitwise_not"},
	{graph.Ceiling, xnnpack.Ceiling, "xnn_unary_ceiling"},
	{graph.Cosine, xnnpack.Cosine, "xnn_unary_cosine"},
	{graph.CountLeadingZeros, xnnpack.CountLeadingZeros, "xnn_unary_count_leading_zeros"},
	{graph.CubeRoot, xnnpack.CubeRoot, "xnn_unary_cube_root"},
	{graph.ELU, xnnpack.ELU, "xnn_unary_elu"},
	{graph.Exp, xnnpack.Exp, "xnn_unary_exp"},
	{graph.Floor, xnnpack.Floor, "xnn_unary_floor"},
	{graph.GELU, xnnpack.GELU, "xnn_unary_gelu"},
	{graph.HardSwish, xnnpack.HardSwish, "xnn_unary_hardswish"},
	{graph.LeakyReLU, xnnpack.LeakyReLU, "xnn_unary_leaky_relu"},
	{graph.Log, xnnpack.Log, "xnn_unary_log"},
	{graph.Negate, xnnpack.Negate, "xnn_unary_negate"},
	{graph.PopCount, xnnpack.PopCount, "xnn_unary_popcount"},
	{graph.ReciprocalSquareRoot, xnnpack.ReciprocalSquareRoot, "xnn_unary_reciprocal_square_root"},
	{graph.Sigmoid, xnnpack.Sigmoid, "xnn_unary_sigmoid"},
	{graph.Sign, xnnpack.Sign, "xnn_unary_sign"},
	{graph.Sine, xnnpack.Sine, "xnn_unary_sine"},
	{graph.Square, xnnpack.Square, "xnn_unary_square"},
	{graph.SquareRoot, xnnpack.SquareRoot, "xnn_unary_square_root"},
	{graph.Tanh, xnnpack.Tanh, "xnn_unary_tanh"},
}

// inSinglePrecision are the types for which XNNPACK's own kernels give wrong numbers: no NaN for the root of a negative one, and
// a sign to zero.
var inSinglePrecision = map[graph.UnaryFunc][]graph.DType{
	graph.SquareRoot: {graph.Float16},
	graph.Sign:       {graph.Float16, graph.BFloat16},
}

func init() {
	for _, u := range unaries {
		lowerings[string(u.kind)] = lowering{
			api:         "xnn_define_unary " + u.name,
			elementwise: true,
			define: func(d *definition) error {
				node := func(in, out uint32) error { return d.sub.Unary(u.op, d.op.(graph.Unary).Alpha, 0, in, out) }
				if u.kind == graph.ReciprocalSquareRoot && d.in[0].DType == graph.Float32 {
					return d.reciprocalSquareRoot()
				}
				if slices.Contains(inSinglePrecision[u.kind], d.in[0].DType) {
					return d.throughSingle(node)
				}
				return node(d.ins[0], d.outs[0])
			},
		}
	}
	lowerings[string(graph.Clamp)] = lowering{
		api:         "xnn_define_unary xnn_unary_clamp",
		elementwise: true,
		joins:       true,
		define: func(d *definition) error {
			r, in, out := d.op.(graph.Unary).Range, d.in[0].Type, d.out[0].Type
			switch {
			case !r.Limited() && in.Quant.Equal(out.Quant):
				return d.sub.Copy(d.ins[0], d.outs[0]) // a clamp to infinite limits swallows NaN
			case !r.Limited():
				return d.convert(in, out, d.ins[0], d.outs[0])
			case !in.Quant.Equal(out.Quant):
				// XNNPACK could do both at once, and makes it part of a convolution before it, whose result then has not been
				// limited to what the type between can hold.
				mid := graph.Type{DType: in.DType, Shape: out.Shape, Quant: in.Quant}
				return d.through(mid, func(id uint32) error { return d.clamp(r, mid, d.ins[0], id) },
					func(id uint32) error { return d.convert(mid, out, id, d.outs[0]) })
			}
			return d.clamp(r, out, d.ins[0], d.outs[0])
		},
	}
	lowerings[string(graph.Convert)] = lowering{
		api:         "xnn_define_unary xnn_unary_convert",
		elementwise: true,
		define:      func(d *definition) error { return d.convert(d.in[0].Type, d.out[0].Type, d.ins[0], d.outs[0]) },
	}
}

// reciprocalSquareRoot divides by the root: XNNPACK's own kernel gives NaN for zero and infinity.
func (d *definition) reciprocalSquareRoot() error {
	one, err := d.sub.Define(xnnpack.Tensor{Type: xnnpack.Float32, Data: xnnpack.One()})
	if err != nil {
		return err
	}
	return d.through(d.out[0].Type,
		func(root uint32) error { return d.sub.Unary(xnnpack.SquareRoot, 0, 0, d.ins[0], root) },
		func(root uint32) error { return d.sub.Binary(xnnpack.Divide, one, root, d.outs[0]) })
}

// through defines two nodes with a value of type t between them.
func (d *definition) through(t graph.Type, first, second func(mid uint32) error) error {
	mid, err := d.internal(t)
	if err != nil {
		return err
	}
	if err := first(mid); err != nil {
		return err
	}
	return second(mid)
}

// throughSingle defines a node of one operand on fp32 values.
func (d *definition) throughSingle(node func(in, out uint32) error) error {
	single := graph.Type{DType: graph.Float32, Shape: d.out[0].Shape}
	return d.through(single, func(x uint32) error { return d.convert(d.in[0].Type, single, d.ins[0], x) },
		func(x uint32) error {
			return d.through(single, func(y uint32) error { return node(x, y) },
				func(y uint32) error { return d.convert(single, d.out[0].Type, y, d.outs[0]) })
		})
}

// limited defines a node through define, and limits what it gives to r.
func (d *definition) limited(r graph.Range, define func(out uint32) error) error {
	if !r.Limited() {
		return define(d.outs[0])
	}
	t := d.out[0].Type
	return d.through(t, define, func(mid uint32) error { return d.clamp(r, t, mid, d.outs[0]) })
}

// clamp limits a value of type t to r.
func (d *definition) clamp(r graph.Range, t graph.Type, in, out uint32) error {
	lo, hi := r.Bounds()
	if t.DType != graph.Int32 {
		return d.sub.Unary(xnnpack.Clamp, lo, hi, in, out)
	}
	// XNNPACK converts the limits to integers as they are, and no float32 is the largest integer. The smallest is one, and
	// ^x, which is -1-x, turns the order round.
	lo = max(lo, math.MinInt32)
	if !math.IsInf(float64(hi), 1) {
		return d.sub.Unary(xnnpack.Clamp, lo, hi, in, out)
	}
	flip := func(in, out uint32) error { return d.sub.Unary(xnnpack.BitwiseNot, 0, 0, in, out) }
	return d.through(t, func(not uint32) error { return flip(in, not) }, func(not uint32) error {
		return d.through(t, func(least uint32) error { return d.sub.Unary(xnnpack.Clamp, math.MinInt32, -1-lo, not, least) },
			func(least uint32) error { return flip(least, out) })
	})
}

// convert turns a value of one type into another, by way of fp32 where XNNPACK's own kernel would get it wrong.
func (d *definition) convert(from, to graph.Type, in, out uint32) error {
	node := func(in, out uint32) error { return d.sub.Unary(xnnpack.Convert, 0, 0, in, out) }
	if convertsDirectly(from, to) {
		return node(in, out)
	}
	return d.through(graph.Type{DType: graph.Float32, Shape: to.Shape},
		func(mid uint32) error { return node(in, mid) }, func(mid uint32) error { return node(mid, out) })
}

// convertsDirectly tells whether XNNPACK's kernel for two types can take their scales: between values of one quantised type
// it multiplies by a 16-bit number of 256ths, between fp16 and QInt8 by a number that it rounds to fp16.
func convertsDirectly(from, to graph.Type) bool {
	const leastHalf, mostHalf = 0x1p-14, 65504 // of normal fp16 numbers
	switch {
	case from.DType == to.DType && from.Quant != nil:
		ratio := from.Quant.Scale / to.Quant.Scale
		return ratio >= 0x1p-8 && ratio <= 0x1p+7
	case from.DType == graph.Float16 && to.DType == graph.QInt8:
		return 1/to.Quant.Scale >= leastHalf && 1/to.Quant.Scale <= mostHalf
	case from.DType == graph.QInt8 && to.DType == graph.Float16:
		return from.Quant.Scale >= leastHalf && from.Quant.Scale <= mostHalf
	}
	return true
}
