package conformance

import (
	"fmt"
	"math"
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

// bounds are how far a number may be from the expected one: relative to it, plus absolute.
type bounds struct{ relative, absolute float64 }

// boundsOf are those of results of a type. The steps are those of quantised results, 0 where integers are exact.
func boundsOf(e elem, half bool, steps float64) bounds {
	switch {
	case e == elemFloat && half:
		return bounds{1e-2, 1e-2} // of a result that single precision has worked out, from inputs that half precision rounds
	case e == elemFloat:
		return bounds{1e-5, 1e-6}
	case e == elemFloat16:
		return bounds{2e-3, 1e-6}
	case e == elemBFloat16:
		return bounds{0x1p-7, 0} // a step: ONNX rounds to nearest, but the data of this version was cut off
	case half && steps > 0:
		return bounds{absolute: steps + 1}
	}
	return bounds{absolute: steps}
}

// elemsOf are the types of ONNX that the library's types hold.
var elemsOf = map[graph.DType][]elem{
	graph.Float32: {elemFloat}, graph.Float16: {elemFloat16, elemFloat}, graph.BFloat16: {elemBFloat16},
	graph.Int32: {elemInt32, elemInt64, elemInt16, elemUint64, elemUint32, elemUint16, elemUint8, elemBool},
	graph.QInt8: {elemInt8}, graph.QUInt8: {elemUint8},
}

// as is the result as a tensor of ONNX, which must have the type and shape of the expected one.
func (r result) as(want *tensor, half bool) (*tensor, error) {
	if !slices.Contains(elemsOf[r.dtype], want.elem) || want.elem == elemFloat && half != (r.dtype == graph.Float16) {
		return nil, fmt.Errorf("a result of %v, expected %v", r.dtype, want.elem)
	}
	if !slices.Equal(r.shape, want.dims) {
		return nil, fmt.Errorf("shape %v, expected %v", r.shape, graph.Shape(want.dims))
	}
	return &tensor{elem: elemsOf[r.dtype][0], dims: want.dims, data: r.data}, nil
}

// compare gives the first element that is too far from what is wanted.
func compare(got, want *tensor, b bounds) error {
	for i := range want.count() {
		g, w := got.at(i), want.at(i)
		switch {
		case g == w || math.IsNaN(g) && math.IsNaN(w):
		case math.Abs(g-w) <= b.absolute+b.relative*math.Abs(w) && !math.IsInf(w, 0):
		default:
			return fmt.Errorf("element %d of %v %v is %v, expected %v (off by %.3g)", i, want.elem, graph.Shape(want.dims), g, w, g-w)
		}
	}
	return nil
}
