package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

type binaryMethod = func(g *graph.Graph, x, y graph.ID, opts ...graph.Option) graph.ID

var binaryMappings = map[string]func(im *importer){
	"Add":      pairwise((*graph.Graph).Add),
	"Sub":      pairwise((*graph.Graph).Subtract),
	"Mul":      pairwise((*graph.Graph).Multiply),
	"Div":      divide,
	"Pow":      power,
	"PRelu":    prelu,
	"Mod":      modulo,
	"BitShift": bitShift,

	"Max":  nary((*graph.Graph).Maximum),
	"Min":  nary((*graph.Graph).Minimum),
	"Sum":  nary((*graph.Graph).Add),
	"Mean": mean,

	"And": pairwise((*graph.Graph).BitwiseAnd),
	"Or":  pairwise((*graph.Graph).BitwiseOr),
	"Xor": pairwise((*graph.Graph).BitwiseXor),
	"Not": func(im *importer) { x := im.in(0); im.out(0, im.g.BitwiseXor(x, im.scalar(x, 1))) },

	"BitwiseAnd": pairwise((*graph.Graph).BitwiseAnd),
	"BitwiseOr":  pairwise((*graph.Graph).BitwiseOr),
	"BitwiseXor": pairwise((*graph.Graph).BitwiseXor),
	"BitwiseNot": unary((*graph.Graph).BitwiseNot),
}

func pairwise(f binaryMethod) func(im *importer) {
	return func(im *importer) {
		x, y := im.operands()
		im.out(0, f(im.g, x, y))
	}
}

// operands are the two of an operator that broadcasts. Before version 7 an attribute said whether and at which axis.
func (im *importer) operands() (x, y graph.ID) {
	x, y = im.in(0), im.in(1)
	if im.opset >= 7 {
		return x, y
	}
	im.ignore("broadcast", "consumed_inputs")
	xs, ys := im.shape(x), im.shape(y)
	if a, ok := im.attribute("axis"); ok && len(ys) > 0 {
		dims := slices.Repeat([]int{1}, len(xs))
		copy(dims[axis(a.i, len(xs)):], ys)
		y = im.reshape(y, dims)
	}
	return x, y
}

// divide: the quotient of integers is cut off towards zero. Those of 8 bits are exact as real numbers.
func divide(im *importer) {
	x, y := im.operands()
	switch e := im.elem(0); e {
	case elemFloat, elemFloat16, elemBFloat16:
		im.out(0, im.g.Divide(x, y))
	case elemUint8, elemInt8:
		q := im.g.Divide(im.convert(x, elemFloat), im.convert(y, elemFloat))
		im.out(0, im.convert(im.whole(q), e))
	default:
		leaveOut(lacksMeaning, "Div of %v", e)
	}
}

// power takes an exponent of another type.
func power(im *importer) {
	if im.elem(0) != elemFloat && plain[im.elem(0)].DType != plain[im.elem(1)].DType {
		leaveOut(lacksMeaning, "Pow of %v to the power of %v", im.elem(0), im.elem(1))
	}
	x, y := im.operands()
	if im.elem(0) != im.elem(1) {
		y = im.convert(y, im.elem(0))
	}
	im.out(0, im.g.Pow(x, y))
}

func prelu(im *importer) {
	x, slope := im.in(0), im.in(1)
	if im.opset < 7 {
		// A slope for each channel, the second dimension.
		dims := slices.Repeat([]int{1}, len(im.shape(x))-1)
		dims[0] = graph.Shape(im.shape(slope)).Elements()
		slope = im.reshape(slope, dims)
	}
	im.ignore("consumed_inputs")
	im.out(0, im.g.PReLU(x, slope))
}

// modulo: the remainder of real numbers has the dividend's sign, as XNNPACK's has, and that of integers where fmod asks for it;
// else theirs has the divisor's. XNNPACK has it of real numbers alone, which are exact for integers up to 2^24.
func modulo(im *importer) {
	x, y := im.operands()
	fmod, e := im.int("fmod", 0) != 0, im.elem(0)
	if fmod && e.real() {
		im.out(0, im.g.Modulus(x, y))
		return
	}
	x, y = im.convert(x, elemFloat), im.convert(y, elemFloat)
	rest := im.g.Modulus(x, y)
	if !fmod {
		rest = im.g.Modulus(im.g.Add(rest, y), y)
	}
	im.out(0, im.convert(rest, e))
}

// bitShift takes unsigned integers of any size.
func bitShift(im *importer) {
	bits := func(i int) graph.ID {
		v := im.values[im.node.inputs[i]]
		if v.ready {
			return v.id
		}
		return im.place(v, graph.Type{DType: graph.Int32})
	}
	x, y := bits(0), bits(1)
	switch d := im.text("direction", ""); d {
	case "LEFT":
		im.out(0, im.g.ShiftLeft(x, y))
	case "RIGHT":
		im.out(0, im.g.ShiftRightLogical(x, y))
	default:
		leaveOut(lacksAttribute, "BitShift direction=%s", d)
	}
}

// nary chains an operator of two operands.
func nary(f binaryMethod) func(im *importer) {
	return func(im *importer) {
		im.ignore("consumed_inputs")
		im.out(0, im.chain(f))
	}
}

func (im *importer) chain(f binaryMethod) graph.ID {
	ids := im.ins()
	if len(ids) == 1 {
		return im.g.Copy(ids[0])
	}
	y := ids[0]
	for _, x := range ids[1:] {
		y = f(im.g, y, x)
	}
	return y
}

func mean(im *importer) {
	im.ignore("consumed_inputs")
	sum := im.chain((*graph.Graph).Add)
	im.out(0, im.g.Divide(sum, im.scalar(sum, float32(len(im.node.inputs)))))
}
