package conformance

import (
	"math"

	"github.com/xnngo/xnngo/xnn/graph"
)

var unaryMappings = map[string]func(im *importer){
	"Abs":        unary((*graph.Graph).Abs),
	"Ceil":       unary((*graph.Graph).Ceiling),
	"Cos":        unary((*graph.Graph).Cosine),
	"Exp":        unary((*graph.Graph).Exp),
	"Floor":      unary((*graph.Graph).Floor),
	"HardSwish":  unary((*graph.Graph).HardSwish),
	"Log":        unary((*graph.Graph).Log),
	"Neg":        unary((*graph.Graph).Negate),
	"Relu":       unary((*graph.Graph).ReLU),
	"Round":      unary((*graph.Graph).BankersRounding),
	"Sigmoid":    unary((*graph.Graph).Sigmoid),
	"Sign":       unary((*graph.Graph).Sign),
	"Sin":        unary((*graph.Graph).Sine),
	"Sqrt":       unary((*graph.Graph).SquareRoot),
	"Tanh":       unary((*graph.Graph).Tanh),
	"Identity":   unary((*graph.Graph).Copy),
	"Reciprocal": func(im *importer) { x := im.in(0); im.out(0, im.g.Divide(im.scalar(x, 1), x)) },

	"Clip":            clip,
	"Elu":             func(im *importer) { im.out(0, im.g.ELU(im.in(0), im.float("alpha", 1))) },
	"LeakyRelu":       func(im *importer) { im.out(0, im.g.LeakyReLU(im.in(0), im.float("alpha", 0.01))) },
	"Selu":            selu,
	"Celu":            celu,
	"HardSigmoid":     hardSigmoid,
	"Softplus":        softplus,
	"Softsign":        softsign,
	"ThresholdedRelu": thresholdedReLU,
	"Shrink":          shrink,
	"Dropout":         dropout,

	"Tan":   func(im *importer) { x := im.in(0); im.out(0, im.g.Divide(im.g.Sine(x), im.g.Cosine(x))) },
	"Atan":  func(im *importer) { x := im.in(0); im.out(0, im.g.Atan2(x, im.scalar(x, 1))) },
	"Asin":  func(im *importer) { x := im.in(0); im.out(0, im.g.Atan2(x, im.otherLeg(x))) },
	"Acos":  func(im *importer) { x := im.in(0); im.out(0, im.g.Atan2(im.otherLeg(x), x)) },
	"Sinh":  func(im *importer) { im.hyperbolic((*graph.Graph).Subtract) },
	"Cosh":  func(im *importer) { im.hyperbolic((*graph.Graph).Add) },
	"Asinh": func(im *importer) { im.areaHyperbolic(1) },
	"Acosh": func(im *importer) { im.areaHyperbolic(-1) },
	"Atanh": atanh,

	"Cast":     func(im *importer) { im.cast(elem(im.int("to", 0))) },
	"CastLike": func(im *importer) { im.cast(im.elem(1)) },
}

// unary maps an operator that XNNPACK has as it is.
func unary(f func(g *graph.Graph, x graph.ID, opts ...graph.Option) graph.ID) func(im *importer) {
	return func(im *importer) {
		im.ignore("consumed_inputs") // a hint of the first version
		im.out(0, f(im.g, im.in(0)))
	}
}

func clip(im *importer) {
	lo, hi := float32(math.Inf(-1)), float32(math.Inf(1))
	if im.opset < 11 {
		lo, hi = im.float("min", lo), im.float("max", hi)
	}
	if im.has(1) {
		lo = float32(im.known(1).at(0))
	}
	if im.has(2) {
		hi = float32(im.known(2).at(0))
	}
	if math.IsInf(float64(lo), -1) && math.IsInf(float64(hi), 1) {
		im.out(0, im.g.Copy(im.in(0)))
		return
	}
	im.out(0, im.g.Clamp(im.in(0), lo, hi))
}

func selu(im *importer) {
	x := im.in(0)
	alpha, gamma := im.float("alpha", 1.67326319217681884765625), im.float("gamma", 1.05070102214813232421875)
	im.ignore("consumed_inputs")
	im.out(0, im.g.Multiply(im.g.ELU(x, alpha), im.scalar(x, gamma)))
}

func celu(im *importer) {
	x, alpha := im.in(0), im.float("alpha", 1)
	im.out(0, im.g.Multiply(im.g.ELU(im.g.Divide(x, im.scalar(x, alpha)), 1), im.scalar(x, alpha)))
}

func hardSigmoid(im *importer) {
	x := im.in(0)
	y := im.g.Multiply(x, im.scalar(x, im.float("alpha", 0.2)))
	im.out(0, im.g.Clamp(im.g.Add(y, im.scalar(x, im.float("beta", 0.5))), 0, 1))
}

func softplus(im *importer) {
	x := im.in(0)
	im.out(0, im.g.Log(im.g.Add(im.g.Exp(x), im.scalar(x, 1))))
}

func softsign(im *importer) {
	x := im.in(0)
	im.out(0, im.g.Divide(x, im.g.Add(im.g.Abs(x), im.scalar(x, 1))))
}

// above is 1 where x > limit, else 0.
func (im *importer) above(x graph.ID, limit float32) graph.ID {
	return im.g.ReLU(im.g.Sign(im.g.Subtract(x, im.scalar(x, limit))))
}

func thresholdedReLU(im *importer) {
	x := im.in(0)
	im.out(0, im.g.Multiply(x, im.above(x, im.float("alpha", 1))))
}

func shrink(im *importer) {
	x, bias, limit := im.in(0), im.float("bias", 0), im.float("lambd", 0.5)
	right := im.g.Multiply(im.above(x, limit), im.g.Subtract(x, im.scalar(x, bias)))
	left := im.g.Multiply(im.above(im.g.Negate(x), limit), im.g.Add(x, im.scalar(x, bias)))
	im.out(0, im.g.Add(left, right))
}

// dropout drops nothing in inference.
func dropout(im *importer) {
	im.ignore("seed", "ratio", "is_test", "consumed_inputs")
	if im.wants(1) {
		leaveOut(lacksAttribute, "Dropout with its mask")
	}
	if im.has(2) && im.known(2).int(0) != 0 && (!im.has(1) || im.known(1).at(0) != 0) {
		leaveOut(lacksAttribute, "Dropout while training")
	}
	im.out(0, im.g.Copy(im.in(0)))
}

// otherLeg is the other leg of a right-angled triangle with hypotenuse 1 and leg x.
func (im *importer) otherLeg(x graph.ID) graph.ID {
	one := im.scalar(x, 1)
	return im.g.SquareRoot(im.g.Multiply(im.g.Subtract(one, x), im.g.Add(one, x)))
}

// hyperbolic is (exp(x) op exp(-x)) / 2.
func (im *importer) hyperbolic(op func(g *graph.Graph, x, y graph.ID, opts ...graph.Option) graph.ID) {
	x := im.in(0)
	im.out(0, im.g.Divide(op(im.g, im.g.Exp(x), im.g.Exp(im.g.Negate(x))), im.scalar(x, 2)))
}

// areaHyperbolic is log(x + sqrt(x*x + c)).
func (im *importer) areaHyperbolic(c float32) {
	x := im.in(0)
	im.out(0, im.g.Log(im.g.Add(x, im.g.SquareRoot(im.g.Add(im.g.Square(x), im.scalar(x, c))))))
}

func atanh(im *importer) {
	x := im.in(0)
	one := im.scalar(x, 1)
	y := im.g.Log(im.g.Divide(im.g.Add(one, x), im.g.Subtract(one, x)))
	im.out(0, im.g.Divide(y, im.scalar(x, 2)))
}

// cast converts operand 0. What becomes an integer is cut off towards zero, which XNNPACK's conversion is not.
func (im *importer) cast(to elem) {
	from, x := im.elem(0), im.in(0)
	if from == to {
		im.outAs(0, im.g.Copy(x), to)
		return
	}
	if from.real() && !to.real() {
		x = im.whole(x)
	}
	im.outAs(0, im.convert(x, to), to)
}

// whole cuts x off towards zero.
func (im *importer) whole(x graph.ID) graph.ID {
	return im.g.Multiply(im.g.Sign(x), im.g.Floor(im.g.Abs(x)))
}

// convert makes x a tensor of this type.
func (im *importer) convert(x graph.ID, e elem) graph.ID {
	t := im.typeOf(e)
	if t.Quant != nil {
		return im.g.Convert(x, graph.Quantized(t.DType, t.Quant.Scale, t.Quant.ZeroPoint))
	}
	if im.g.Check() == nil && im.g.Values[x].DType == t.DType {
		return x
	}
	return im.g.Convert(x, graph.As(t.DType))
}
