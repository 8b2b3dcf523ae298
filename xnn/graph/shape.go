package graph

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/xnngo/xnngo/schema"
)

// MaxRank is the largest number of dimensions of a tensor; XNNPACK's limit.
const MaxRank = 6

// unsetDim is what an exporter's "unknown" -1 becomes in an unsigned field.
const unsetDim = math.MaxUint32

// maxBytes bounds a tensor. No machine addresses more, and sums of such sizes, or XNNPACK's count of their bits, stay far from
// wrapping around.
const maxBytes = 1 << 48

// Shape is the size of a tensor along each dimension, outermost first; a scalar has none.
type Shape []int

// String gives the shape as [2,3].
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(d))
	}
	b.WriteByte(']')
	return b.String()
}

// Elements is the number of elements of a shape that Check has accepted.
func (s Shape) Elements() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Equal reports whether both shapes have the same dimensions.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// Type is what the graph knows of a tensor besides its contents.
type Type struct {
	DType DType
	Shape Shape
	Quant *Quant // of the types that begin with Q, nil for the others
}

// String gives the type as fp32[2,3], a quantised one as qint8(0.5,-3)[2,3].
func (t Type) String() string { return t.DType.String() + t.Quant.describe(t.DType) + t.Shape.String() }

// Bytes is the size in bytes of a tensor whose type Check has accepted. Rows of 4-bit elements begin at a byte.
func (t Type) Bytes() int {
	if bits := t.DType.bits(); bits < 8 && len(t.Shape) > 0 {
		last := len(t.Shape) - 1
		return t.Shape[:last].Elements() * ((t.Shape[last]*bits + 7) / 8)
	}
	return t.Shape.Elements() * t.DType.Size()
}

// check reports what makes t impossible to hold. Dimensions of zero are legal and make an empty tensor, but the others
// must still fit, since strides are made of them.
func (t Type) check() *schema.Error {
	if len(t.Shape) > MaxRank {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"%d dimensions, at most %d are supported", len(t.Shape), MaxRank)
	}
	size := uint64(max(t.DType.Size(), 1))
	for i, d := range t.Shape {
		switch {
		case d < 0 || uint64(d) == unsetDim:
			return schema.Errorf(schema.StageCheck, schema.ErrShape,
				"dimension %d is %d: it looks unset or dynamic; give the model a concrete shape", i, d)
		case uint64(d) > unsetDim:
			return schema.Errorf(schema.StageCheck, schema.ErrShape, "dimension %d is %d, more than 32 bits", i, d)
		}
		hi, lo := bits.Mul64(size, uint64(max(d, 1)))
		if hi != 0 || lo > maxBytes {
			return schema.Errorf(schema.StageCheck, schema.ErrShape, "size of %v overflows %d bytes", t, uint64(maxBytes))
		}
		size = lo
	}
	return nil
}

// Count is the number of elements, or the reason why no tensor can have this type.
func (t Type) Count() (int, error) {
	if err := t.check(); err != nil {
		return 0, err
	}
	return t.Shape.Elements(), nil
}

// Broadcast is the shape of an element-wise operation on a and b: aligned at the last dimension, equal or one of them 1.
func Broadcast(a, b Shape) (Shape, error) {
	if len(a) < len(b) {
		a, b = b, a
	}
	out := slices.Clone(a)
	lead := len(a) - len(b)
	for i, d := range b {
		switch o := &out[lead+i]; {
		case *o == d || d == 1:
		case *o == 1:
			*o = d
		default:
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape,
				"%v and %v do not broadcast: %d against %d", a, b, *o, d)
		}
	}
	return out, nil
}

// typeList words operands for a message: 0 fp32[3], 1 fp16[3].
func (g *Graph) typeList(ids []ID) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		v := &g.Values[id]
		parts[i] = fmt.Sprintf("%d %v", v.Ref, v.Type)
	}
	return strings.Join(parts, ", ")
}
