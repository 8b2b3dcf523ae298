package graph

import (
	"fmt"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
)

// Quant says how the integers of a tensor stand for real numbers: real = scale * (stored - zero point). Which fields count
// depends on the DType. It is not changed once a Value has it, so values may share one.
type Quant struct {
	// Scale and ZeroPoint are those of all elements of a QInt8, QUInt8 or QInt32, whose zero point is 0.
	Scale     float32
	ZeroPoint int
	// Scales are those of each index along Axis for a QCInt8, QCInt32 (zero point 0) or QCInt4 (zero point 8), and for a
	// QBInt4 (zero point 8) those of each block of Block elements along the last dimension, channel after channel.
	Scales []float32
	Axis   int
	Block  int
	// Inner is how many inner dimensions of a QDInt8 share the scale and zero point that are found at run time.
	Inner int
}

// Equal reports whether both stand for the same numbers. Nil is that of a type that is not quantised.
func (q *Quant) Equal(p *Quant) bool {
	if q == nil || p == nil {
		return q == p
	}
	return q.Scale == p.Scale && q.ZeroPoint == p.ZeroPoint && q.Axis == p.Axis && q.Block == p.Block && q.Inner == p.Inner &&
		slices.Equal(q.Scales, p.Scales)
}

// describe words q as a part of a type: qint8(0.5,-3), qcint8(32 scales along 0).
func (q *Quant) describe(t DType) string {
	switch {
	case q == nil:
		return ""
	case t.quant() == quantTensor:
		return fmt.Sprintf("(%g,%d)", q.Scale, q.ZeroPoint)
	case t.quant() == quantChannel:
		return fmt.Sprintf("(%d scales along %d)", len(q.Scales), q.Axis)
	case t.quant() == quantBlock:
		return fmt.Sprintf("(%d scales, blocks of %d)", len(q.Scales), q.Block)
	case t.quant() == quantDynamic:
		return fmt.Sprintf("(%d inner)", q.Inner)
	}
	return ""
}

// checkQuant reports a quantisation that t cannot have. The shape is checked already.
func (t Type) checkQuant() *schema.Error {
	kind, q := t.DType.quant(), t.Quant
	switch {
	case kind == quantNone && q == nil:
		return nil
	case kind == quantNone:
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%v has a quantisation", t.DType)
	case q == nil:
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%v needs a quantisation: a scale and zero point", t.DType)
	}
	switch kind {
	case quantTensor:
		if err := checkScale(q.Scale, -1); err != nil {
			return err
		}
		least, most := 0, 0
		switch t.DType {
		case QInt8:
			least, most = math.MinInt8, math.MaxInt8
		case QUInt8:
			least, most = 0, math.MaxUint8
		}
		if q.ZeroPoint < least || q.ZeroPoint > most {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "zero point %d of %v is not in [%d, %d]",
				q.ZeroPoint, t.DType, least, most)
		}
	case quantChannel:
		if q.Axis < 0 || q.Axis >= len(t.Shape) {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "scales are along dimension %d, %v has %d",
				q.Axis, t.Shape, len(t.Shape))
		}
		return q.checkScales(t.Shape[q.Axis], fmt.Sprintf("dimension %d of %v has %d channels", q.Axis, t.Shape, t.Shape[q.Axis]))
	case quantBlock:
		if len(t.Shape) != 2 || q.Axis != 0 {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%v%v: blocks are those of a matrix, its channels along dimension 0",
				t.DType, t.Shape)
		}
		if q.Block <= 0 || q.Block%32 != 0 || t.Shape[1]%q.Block != 0 {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph,
				"blocks of %d elements, a multiple of 32 that divides the %d of a channel is needed", q.Block, t.Shape[1])
		}
		n := t.Shape[0] * (t.Shape[1] / q.Block)
		return q.checkScales(n, fmt.Sprintf("%v has %d blocks of %d", t.Shape, n, q.Block))
	case quantDynamic:
		if q.Inner <= 0 || q.Inner > len(t.Shape) {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%d inner dimensions share a scale, %v has %d",
				q.Inner, t.Shape, len(t.Shape))
		}
	}
	return nil
}

func (q *Quant) checkScales(want int, why string) *schema.Error {
	if len(q.Scales) != want {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%d scales, but %s", len(q.Scales), why)
	}
	for i, s := range q.Scales {
		if err := checkScale(s, i); err != nil {
			return err
		}
	}
	return nil
}

// checkScale accepts the numbers that XNNPACK does: positive, normal.
func checkScale(s float32, index int) *schema.Error {
	const smallestNormal = 0x1p-126
	if s >= smallestNormal && s <= math.MaxFloat32 {
		return nil
	}
	if index < 0 {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "scale %g is not a normal positive number", s)
	}
	return schema.Errorf(schema.StageCheck, schema.ErrGraph, "scale %d is %g, not a normal positive number", index, s)
}
