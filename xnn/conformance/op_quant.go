package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

var quantMappings = map[string]func(im *importer){
	"QuantizeLinear":        quantize,
	"DequantizeLinear":      dequantize,
	"DynamicQuantizeLinear": dynamicQuantize,
	"QLinearConv":           qlinearConv,
	"QLinearMatMul":         qlinearMatMul,
}

// quant is the scale and zero point that operands i and i+1 are, where they are known and one for all elements.
func (im *importer) quant(i int) (scale float32, zero int, ok bool) {
	if !im.isKnown(i) || im.known(i).count() != 1 || im.has(i+1) && !im.isKnown(i+1) {
		return 0, 0, false
	}
	if im.has(i + 1) {
		zero = im.known(i + 1).int(0)
	}
	return float32(im.known(i).at(0)), zero, true
}

// oneQuant is quant where there must be one.
func (im *importer) oneQuant(i int) (scale float32, zero int) {
	scale, zero, ok := im.quant(i)
	if !ok {
		leaveOut(lacksAttribute, "%s with a scale for each channel", im.node.op)
	}
	return scale, zero
}

// quantElem is the integer type that a zero point has, operand i; uint8 where there is none.
func (im *importer) quantElem(i int) elem {
	if !im.has(i) {
		return elemUint8
	}
	if e := im.elem(i); plain[e].Quant != nil {
		return e
	}
	leaveOut(lacksElement, "%v", im.elem(i))
	return 0
}

// alongAxis gives the parameters of a channel the dimensions with which they broadcast to x.
func (im *importer) alongAxis(p, x graph.ID) graph.ID {
	dims := im.shape(x)
	a := axis(im.int("axis", 1), len(dims))
	if len(im.shape(p)) == 0 {
		return p
	}
	shape := slices.Repeat([]int{1}, len(dims)-a)
	shape[0] = dims[a]
	return im.reshape(p, shape)
}

// quantize is a conversion. Where scales are computed, or there is one for each channel, it is what the conversion would do.
func quantize(im *importer) {
	x, e := im.in(0), im.quantElem(2)
	im.steps = 1
	if scale, zero, ok := im.quant(1); ok {
		im.ignore("axis")
		im.outAs(0, im.g.Convert(x, graph.Quantized(plain[e].DType, scale, zero)), e)
		return
	}
	y := im.g.BankersRounding(im.g.Divide(x, im.alongAxis(im.in(1), x)))
	if im.has(2) {
		y = im.g.Add(y, im.alongAxis(im.convert(im.in(2), elemFloat), x))
	}
	im.outAs(0, im.convert(y, e), e)
}

func dequantize(im *importer) {
	if scale, zero, ok := im.quant(1); ok {
		im.ignore("axis")
		im.outAs(0, im.convert(im.quantised(0, scale, zero), elemFloat), elemFloat)
		return
	}
	x := im.convert(im.in(0), elemFloat)
	if im.has(2) {
		x = im.g.Subtract(x, im.alongAxis(im.convert(im.in(2), elemFloat), x))
	}
	im.outAs(0, im.g.Multiply(x, im.alongAxis(im.in(1), x)), elemFloat)
}

// dynamicQuantize finds the range of its operand, zero included, and spreads it over 0 to 255.
func dynamicQuantize(im *importer) {
	x := im.in(0)
	im.steps = 1
	all := count(len(im.shape(x)))
	most := im.g.Maximum(im.maximum(x, all, false), im.scalar(x, 0))
	least := im.g.Minimum(im.g.Negate(im.maximum(im.g.Negate(x), all, false)), im.scalar(x, 0))
	scale := im.g.Divide(im.g.Subtract(most, least), im.scalar(x, 255))
	zero := im.g.BankersRounding(im.g.Clamp(im.g.Divide(im.g.Negate(least), scale), 0, 255))
	y := im.g.Add(im.g.BankersRounding(im.g.Divide(x, scale)), zero)
	im.outAs(0, im.convert(y, elemUint8), elemUint8)
	im.outAs(1, scale, elemFloat)
	im.outAs(2, im.convert(zero, elemUint8), elemUint8)
}

func qlinearConv(im *importer) {
	im.steps = 1
	scale, zero := im.oneQuant(1)
	x, w := im.toNHWC(im.quantised(0, scale, zero)), im.known(3)
	filter := plain[w.elem]
	if filter.Quant == nil {
		leaveOut(lacksElement, "%v", w.elem)
	}
	scale, zero = im.oneQuant(4)
	filter.Quant = &graph.Quant{Scale: scale, ZeroPoint: zero}
	win := im.window(w.dims[2:])
	win.settle(im.shape(x), false)
	if im.has(8) {
		leaveOut(lacksAttribute, "QLinearConv with a bias")
	}
	e := im.quantElem(7)
	scale, zero = im.oneQuant(6)
	result := graph.Quantized(plain[e].DType, scale, zero)
	im.outAs(0, im.back(im.convolve(x, w, filter, win, graph.None, result)), e)
}

// qlinearMatMul is fully connected for matrices. XNNPACK multiplies no batches of quantised ones: those are real in between.
func qlinearMatMul(im *importer) {
	im.steps = 1
	scale, zero := im.oneQuant(1)
	x := im.quantised(0, scale, zero)
	scale, zero = im.oneQuant(4)
	e := im.quantElem(7)
	resultScale, resultZero := im.oneQuant(6)
	result := graph.Quantized(plain[e].DType, resultScale, resultZero)
	if w := im.known(3); len(w.dims) == 2 {
		filter := plain[im.elem(3)]
		filter.Quant = &graph.Quant{Scale: scale, ZeroPoint: zero}
		im.outAs(0, im.g.FullyConnectedTransposed(x, im.bind(w, filter), graph.None, result), e)
		return
	}
	y := im.g.BatchMatMul(im.convert(x, elemFloat), im.convert(im.quantised(3, scale, zero), elemFloat))
	im.outAs(0, im.g.Convert(y, result), e)
}
