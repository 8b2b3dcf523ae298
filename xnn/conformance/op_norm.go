package conformance

import (
	"math"
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

var normMappings = map[string]func(im *importer){
	"Softmax":                   softmax,
	"LogSoftmax":                logSoftmax,
	"BatchNormalization":        batchNorm,
	"InstanceNormalization":     instanceNorm,
	"LayerNormalization":        layerNorm,
	"MeanVarianceNormalization": meanVarianceNorm,
}

// alongLast is f along the axis of a softmax, which it finds at the end. Before version 13 all axes from that one on were one.
func (im *importer) alongLast(f func(x graph.ID) graph.ID) graph.ID {
	x := im.in(0)
	dims := graph.Shape(im.shape(x))
	if im.opset < 13 {
		a := axis(im.int("axis", 1), len(dims))
		return im.reshape(f(im.reshape(x, []int{dims[:a].Elements(), dims[a:].Elements()})), dims)
	}
	perm := count(len(dims))
	a := axis(im.int("axis", -1), len(dims))
	perm[a], perm[len(perm)-1] = perm[len(perm)-1], perm[a]
	return im.transpose(f(im.transpose(x, perm)), perm)
}

func softmax(im *importer) {
	im.out(0, im.alongLast(func(x graph.ID) graph.ID { return im.g.Softmax(x) }))
}

// logSoftmax is x - max - log(sum(exp(x - max))).
func logSoftmax(im *importer) {
	im.out(0, im.alongLast(func(x graph.ID) graph.ID {
		last := []int{len(im.shape(x)) - 1}
		x = im.g.Subtract(x, im.maximum(x, last, true))
		return im.g.Subtract(x, im.g.Log(im.g.ReduceSum(im.g.Exp(x), last, true)))
	}))
}

// batchNorm of inference multiplies and adds constants.
func batchNorm(im *importer) {
	x, eps := im.in(0), im.float("epsilon", 1e-5)
	im.ignore("momentum", "is_test", "consumed_inputs")
	im.only("training_mode", 0)
	im.only("spatial", 1)
	scale, bias, mean, variance := im.known(1).floats(), im.known(2).floats(), im.known(3).floats(), im.known(4).floats()
	for i := range scale {
		scale[i] = float32(float64(scale[i]) / math.Sqrt(float64(variance[i])+float64(eps)))
		bias[i] -= scale[i] * mean[i]
	}
	dims := im.channels(x)
	im.out(0, im.g.Add(im.g.Multiply(x, im.reals(scale, dims...)), im.reals(bias, dims...)))
}

// channels are the dimensions of a tensor with one element for each channel of x, in NCHW.
func (im *importer) channels(x graph.ID) []int {
	d := im.shape(x)
	dims := slices.Repeat([]int{1}, len(d)-1)
	dims[0] = d[1]
	return dims
}

// normalise gives x less its mean, the mean, and 1 over the square root of the variance plus eps, over axes.
func (im *importer) normalise(x graph.ID, axes []int, eps float32) (y, mean, inverse graph.ID) {
	mean = im.g.ReduceMean(x, axes, true)
	y = im.g.Subtract(x, mean)
	variance := im.g.ReduceMean(im.g.Square(y), axes, true)
	inverse = im.g.ReciprocalSquareRoot(im.g.Add(variance, im.scalar(x, eps)))
	return im.g.Multiply(y, inverse), mean, inverse
}

func instanceNorm(im *importer) {
	x := im.in(0)
	im.ignore("consumed_inputs")
	y, _, _ := im.normalise(x, count(len(im.shape(x)))[2:], im.float("epsilon", 1e-5))
	dims := im.channels(x)
	im.out(0, im.g.Add(im.g.Multiply(y, im.reshape(im.in(1), dims)), im.reshape(im.in(2), dims)))
}

func layerNorm(im *importer) {
	x := im.in(0)
	im.only("stash_type", int(elemFloat))
	rank := len(im.shape(x))
	y, mean, inverse := im.normalise(x, count(rank)[axis(im.int("axis", -1), rank):], im.float("epsilon", 1e-5))
	y = im.g.Multiply(y, im.in(1))
	if im.has(2) {
		y = im.g.Add(y, im.in(2))
	}
	im.out(0, y)
	im.out(1, mean)
	im.out(2, inverse)
}

func meanVarianceNorm(im *importer) {
	x, axes := im.in(0), im.ints("axes")
	if axes == nil {
		axes = []int{0, 2, 3}
	}
	y := im.g.Subtract(x, im.g.ReduceMean(x, axes, true))
	deviation := im.g.SquareRoot(im.g.ReduceMean(im.g.Square(y), axes, true))
	im.out(0, im.g.Divide(y, im.g.Add(deviation, im.scalar(x, 1e-9))))
}
