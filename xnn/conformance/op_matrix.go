package conformance

import (
	"github.com/xnngo/xnngo/xnn/graph"
)

var matrixMappings = map[string]func(im *importer){
	"Gemm":          gemm,
	"MatMul":        func(im *importer) { im.out(0, im.g.BatchMatMul(im.in(0), im.in(1))) },
	"MatMulInteger": matMulInteger,
	"ConvInteger":   convInteger,
}

// gemm is fully connected where the second matrix can be a constant. Its third operand is the bias where it is a vector that
// counts as it is, else it is added.
func gemm(im *importer) {
	x, w := im.in(0), im.known(1)
	im.ignore("broadcast")
	alpha, beta := im.float("alpha", 1), im.float("beta", 1)
	if im.int("transA", 0) != 0 {
		x = im.g.Transpose(x, 1, 0)
	}
	connect, columns := (*graph.Graph).FullyConnectedTransposed, w.dims[1]
	if im.int("transB", 0) != 0 {
		connect, columns = (*graph.Graph).FullyConnected, w.dims[0]
	}
	vector := im.has(2) && im.isKnown(2) && im.known(2).isRow(columns)
	if alpha != 1 || beta != 1 || !vector {
		y := connect(im.g, x, im.bind(w, plain[w.elem]), graph.None)
		if alpha != 1 {
			y = im.g.Multiply(y, im.scalar(y, alpha))
		}
		if im.has(2) {
			c := im.in(2)
			if beta != 1 {
				c = im.g.Multiply(c, im.scalar(c, beta))
			}
			y = im.g.Add(y, c)
		}
		im.out(0, y)
		return
	}
	im.out(0, connect(im.g, x, im.bind(w, plain[w.elem]), im.bias(2)))
}

// isRow tells whether the tensor has n elements, all in its last dimension.
func (t *tensor) isRow(n int) bool {
	return t.count() == n && len(t.dims) > 0 && t.dims[len(t.dims)-1] == n
}

// real is operand i, integers less the zero point that operand zero is, as real numbers.
func (im *importer) real(i, zero int) graph.ID {
	at := 0
	if im.has(zero) {
		z := im.known(zero)
		if z.count() != 1 {
			leaveOut(lacksAttribute, "%s with a zero point for each channel", im.node.op)
		}
		at = z.int(0)
	}
	return im.convert(im.quantised(i, 1, at), elemFloat)
}

// matMulInteger and convInteger are computed with real numbers, which are exact up to 2^24.
func matMulInteger(im *importer) {
	y := im.g.BatchMatMul(im.real(0, 2), im.real(1, 3))
	im.outAs(0, im.convert(y, elemInt32), elemInt32)
}

func convInteger(im *importer) {
	x, w := im.toNHWC(im.real(0, 2)), im.known(1)
	win := im.window(w.dims[2:])
	win.settle(im.shape(x), false)
	data := w.floats()
	if im.has(3) {
		z := im.known(3)
		for i := range data {
			data[i] -= float32(z.int(i / (len(data) / z.count())))
		}
	}
	y := im.convolve(x, floatTensor(data, w.dims), plain[elemFloat], win, graph.None)
	im.outAs(0, im.convert(im.back(y), elemInt32), elemInt32)
}
