package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// FullyConnected multiplies each row of a tensor, its last dimension, with a matrix: y = x·filterᵀ + bias. Operands are x,
// the filter [output channels, input channels], and optionally the bias [output channels].
//
// Quantised sums are kept in 32 bits: more than 65,000 input channels of extreme values may not fit. A row with a NaN gives NaN,
// or infinities where a kernel takes the upper limit for it.
type FullyConnected struct {
	// Transposed: the filter is [input channels, output channels].
	Transposed bool
	// Flatten: x is first cut into rows of input channels whatever its shape is, and the result has two dimensions.
	Flatten bool
	Range   Range
}

// Kind is FullyConnected or FullyConnectedTransposed.
func (o FullyConnected) Kind() string {
	if o.Transposed {
		return "FullyConnectedTransposed"
	}
	return "FullyConnected"
}

func (o FullyConnected) limits() Range { return o.Range }

func (o FullyConnected) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o FullyConnected) infer(in, out []Value) ([]Shape, error) {
	x, filter := &in[0], &in[1]
	axis := 0
	if o.Transposed {
		axis = 1
	}
	shape, err := rowsTimesFilter(x, filter, axis, o.Flatten)
	if err != nil {
		return nil, err
	}
	var bias *Value
	if len(in) > 2 {
		bias = &in[2]
		if oc := filter.Shape[axis]; !bias.Shape.Equal(Shape{oc}) {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "the bias is %v, %d output channels need [%d]",
				bias.Shape, oc, oc).AtValue(bias.Ref)
		}
	}
	if err := o.checkStatic(x, filter, bias); err != nil {
		return nil, err
	}
	if err := o.checkFilter(x, filter, axis); err != nil {
		return nil, err
	}
	return []Shape{shape}, checkRequantization(x, filter, bias, &out[0])
}

// rowsTimesFilter is the shape of a tensor whose rows are multiplied with a filter; axis is that of its output channels.
func rowsTimesFilter(x, filter *Value, axis int, flatten bool) (Shape, error) {
	if len(filter.Shape) != 2 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "the filter is %v, a matrix is needed", filter.Shape).
			AtValue(filter.Ref)
	}
	oc, ic := filter.Shape[axis], filter.Shape[1-axis]
	if oc == 0 || ic == 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "the filter %v has no channels", filter.Shape).
			AtValue(filter.Ref)
	}
	last := len(x.Shape) - 1
	switch {
	case flatten:
		n := x.Shape.Elements()
		if n%ic != 0 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "%v has %d elements, not rows of the filter's %d input channels",
				x.Shape, n, ic).AtValue(x.Ref)
		}
		return Shape{n / ic, oc}, nil
	case last < 0:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "a scalar has no channels").AtValue(x.Ref)
	case x.Shape[last] != ic:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "%v has %d channels, the filter %v takes %d",
			x.Shape, x.Shape[last], filter.Shape, ic).AtValue(x.Ref)
	}
	return append(x.Shape[:last:last], oc), nil
}

// checkStatic asks for constants wherever XNNPACK can only pack weights ahead. It computes fp32 with any; with fp16 it would take
// other weights for fp16, and it would leave out a bias that is not there yet.
func (o FullyConnected) checkStatic(x, filter, bias *Value) *schema.Error {
	if x.DType == Float32 && filter.DType == Float32 {
		return nil
	}
	if filter.Constant == 0 {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "the filter must be a constant, %v is computed", filter.Type).
			AtValue(filter.Ref)
	}
	if bias != nil && bias.Constant == 0 {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "the bias must be a constant, %v is computed", bias.Type).
			AtValue(bias.Ref)
	}
	return nil
}

// checkFilter checks a quantised filter, and that x is quantised row by row where that happens at run time.
func (o FullyConnected) checkFilter(x, filter *Value, axis int) *schema.Error {
	q, ic := filter.Quant, filter.Shape[1-axis]
	fault := func(kind error, format string, args ...any) *schema.Error {
		return schema.Errorf(schema.StageCheck, kind, format, args...).AtValue(filter.Ref)
	}
	switch filter.DType {
	case QCInt8, QCInt4:
		if q.Axis != axis {
			return fault(schema.ErrGraph, "the filter's scales are along dimension %d, output channels are dimension %d", q.Axis, axis)
		}
		// XNNPACK takes no notice of where rows end there.
		if filter.DType == QCInt4 && o.Transposed && (filter.Shape[0]%2 != 0 || filter.Shape[1]%2 != 0) {
			return fault(schema.ErrUnsupported, "a transposed filter of %v has even numbers of channels, found %v", filter.DType,
				filter.Shape)
		}
	case QBInt4:
		for i, s := range q.Scales {
			// XNNPACK multiplies with a sixteenth of the scale.
			if s < 0x1p-122 {
				return fault(schema.ErrUnsupported, "scale %d of the filter is %g, the least is %g", i, s, 0x1p-122)
			}
		}
	case QInt8:
		if q.ZeroPoint != 0 {
			return fault(schema.ErrUnsupported, "the filter's zero point is %d, XNNPACK takes 0 only", q.ZeroPoint)
		}
	}
	return checkRows(x, ic)
}

// checkRows holds a tensor quantised at run time to one scale for each row of n elements: XNNPACK reads as many scales.
func checkRows(x *Value, n int) *schema.Error {
	if x.DType != QDInt8 {
		return nil
	}
	if share := x.Shape[max(0, len(x.Shape)-x.Quant.Inner):]; share.Elements() != n {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%v shares a scale among %d elements, rows of %d are needed",
			x.Type, share.Elements(), n).AtValue(x.Ref)
	}
	return nil
}

// FullyConnected appends a node that multiplies each row of x with a filter [output channels, input channels], which has the
// result of each output channel in one of its rows, and adds the bias, which may be None. The filter and the bias are constants
// unless all is Float32. With x of QDInt8 the result is Float32, or Float16 if asked for.
func (g *Graph) FullyConnected(x, filter, bias ID, opts ...Option) ID {
	return g.apply1(FullyConnected{}, withoutNone(x, filter, bias), opts)
}

// FullyConnectedTransposed is FullyConnected with a filter [input channels, output channels].
func (g *Graph) FullyConnectedTransposed(x, filter, bias ID, opts ...Option) ID {
	return g.apply1(FullyConnected{Transposed: true}, withoutNone(x, filter, bias), opts)
}

// withoutNone drops an optional last operand that is not there.
func withoutNone(ids ...ID) []ID {
	if n := len(ids) - 1; ids[n] == None {
		return ids[:n]
	}
	return ids
}

const (
	flagTransposed = 1 // XNN_FLAG_TRANSPOSE_WEIGHTS
	flagFlatten    = 4 // XNN_FLAG_TENSORFLOW_RESHAPE_2D
)

func init() {
	types := []Signature{
		{[]DType{Float32, Float32, Float32}, []DType{Float32}},
		{[]DType{Float16, Float16, Float16}, []DType{Float16}},
		{[]DType{Float16, Float32, Float32}, []DType{Float16}},
		{[]DType{Float32, QCInt8, Float32}, []DType{Float32}},
		{[]DType{QDInt8, QCInt8, Float32}, []DType{Float32}},
		{[]DType{QDInt8, QCInt8, Float32}, []DType{Float16}},
		{[]DType{QDInt8, QCInt4, Float32}, []DType{Float32}},
		{[]DType{QDInt8, QCInt4, Float32}, []DType{Float16}},
		{[]DType{QInt8, QInt8, QInt32}, []DType{QInt8}},
		{[]DType{QInt8, QCInt8, QCInt32}, []DType{QInt8}},
		{[]DType{QUInt8, QUInt8, QInt32}, []DType{QUInt8}},
	}
	straight := append(types[:len(types):len(types)],
		Signature{[]DType{Float32, QCInt4, Float32}, []DType{Float32}},
		Signature{[]DType{QDInt8, QBInt4, Float32}, []DType{Float32}},
		Signature{[]DType{QDInt8, QBInt4, Float32}, []DType{Float16}},
	)
	forms := []form{{
		tag:     xnngraph.XNodeUnionXNNFullyConnected,
		dialect: dialectExecuTorch,
		limits:  true,
		decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
			in, out, flags := decodeFullyConnected(t)
			op := FullyConnected{Transposed: flags&flagTransposed != 0, Flatten: flags&flagFlatten != 0}
			return op, in, out, onlyFlags(op.Kind(), flags, flagTransposed|flagFlatten)
		},
		encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
			o, flags := op.(FullyConnected), uint32(0)
			if o.Transposed {
				flags |= flagTransposed
			}
			if o.Flatten {
				flags |= flagFlatten
			}
			return encodeFullyConnected(b, in, out, flags)
		},
	}}
	register(operator{op: FullyConnected{}, inputs: arity{2, 3}, outputs: exactly(1), types: straight, forms: forms})
	register(operator{op: FullyConnected{Transposed: true}, inputs: arity{2, 3}, outputs: exactly(1), types: types, forms: forms})
}

func decodeFullyConnected(t flatbuffers.Table) (in, out []operand, flags uint32) {
	var n xnngraph.XNNFullyConnected
	n.Init(t.Bytes, t.Pos)
	in = []operand{{"input1_id", n.Input1Id()}, {"filter_id", n.FilterId()}}
	if n.BiasId() != math.MaxUint32 {
		in = append(in, operand{"bias_id", n.BiasId()})
	}
	return in, []operand{{"output_id", n.OutputId()}}, n.Flags()
}

func encodeFullyConnected(b *flatbuffers.Builder, in, out []uint32, flags uint32) flatbuffers.UOffsetT {
	bias := uint32(math.MaxUint32)
	if len(in) > 2 {
		bias = in[2]
	}
	xnngraph.XNNFullyConnectedStart(b)
	xnngraph.XNNFullyConnectedAddInput1Id(b, in[0])
	xnngraph.XNNFullyConnectedAddFilterId(b, in[1])
	xnngraph.XNNFullyConnectedAddBiasId(b, bias)
	xnngraph.XNNFullyConnectedAddOutputId(b, out[0])
	xnngraph.XNNFullyConnectedAddFlags(b, flags)
	return xnngraph.XNNFullyConnectedEnd(b)
}
