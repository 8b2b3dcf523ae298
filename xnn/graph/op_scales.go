package graph

import (
	"math"

	"github.com/xnngo/xnngo/schema"
)

// Scales that kernels may multiply and divide without leaving the range of float32, even by one that is as far from 1.
const (
	leastScale = 0x1p-60
	mostScale  = 0x1p+60
)

// checkScales accepts the scales of quantised operands and results that XNNPACK's element-wise kernels can take. It does not
// look at them itself.
func checkScales(lists ...[]Value) *schema.Error {
	for _, values := range lists {
		for _, v := range values {
			if q := v.Quant; v.DType.quant() == quantTensor && q != nil && !(q.Scale >= leastScale && q.Scale <= mostScale) {
				return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "scale %g is not in [2^-60, 2^60]", q.Scale).AtValue(v.Ref)
			}
		}
	}
	return nil
}

// checkLimits accepts limits that an element type has.
func checkLimits(r Range, t DType) *schema.Error {
	if t != Int32 || !r.Limited() {
		return nil
	}
	// Up to here float32 has all whole numbers; XNNPACK would cut off the rest.
	const most = 1 << 24
	lo, hi := r.Bounds()
	for _, f := range []float32{lo, hi} {
		if x := float64(f); !math.IsInf(x, 0) && (x != math.Trunc(x) || math.Abs(x) > most) {
			return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
				"limits [%g, %g]: those of %v are infinite or whole numbers up to 2^24", lo, hi, t)
		}
	}
	return nil
}
