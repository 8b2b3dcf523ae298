package graph

import (
	"math"

	"github.com/xnngo/xnngo/schema"
)

// Range limits the results of an operator to [Min, Max]; an end may be infinite. The zero value does not limit them.
type Range struct{ Min, Max float32 }

// Limited reports whether the range takes anything away.
func (r Range) Limited() bool {
	return r != Range{} && (r.Min > float32(math.Inf(-1)) || r.Max < float32(math.Inf(1)))
}

// Bounds are the ends, infinite where the range does not limit.
func (r Range) Bounds() (lo, hi float32) {
	if !r.Limited() {
		return float32(math.Inf(-1)), float32(math.Inf(1))
	}
	return r.Min, r.Max
}

// check accepts what XNNPACK does: an interval that is not empty.
func (r Range) check() *schema.Error {
	if r == (Range{}) || r.Min < r.Max {
		return nil
	}
	return schema.Errorf(schema.StageCheck, schema.ErrGraph, "limits [%g, %g]: the lower must be below the upper", r.Min, r.Max)
}
