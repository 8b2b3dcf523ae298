package graph

import (
	"math"

	"github.com/xnngo/xnngo/schema"
)

// The functions of this file turn real numbers into integers that stand for them: they divide by a scale, round to nearest with
// ties to even, add the zero point and clamp to what the type holds. NaN and infinities are ErrArgument. What they give fits
// Graph.ConstantOf. Scales are at least the smallest normal number, and 1 where there are only zeros.

// smallestScale is the least that XNNPACK takes.
const smallestScale = 0x1p-126

// ChooseQuant gives the scale and zero point with which a QInt8 or QUInt8 spreads over [lo, hi], widened to contain zero, which
// it represents exactly:
//
//	scale = (hi-lo)/255, zero point = least - lo/scale
//
// where least is -128 or 0.
func ChooseQuant(t DType, lo, hi float32) (*Quant, error) {
	least, most, err := byteRange(t)
	if err != nil {
		return nil, err
	}
	l, h := min(0, float64(lo)), max(0, float64(hi))
	if !(lo <= hi) || math.IsInf(h-l, 0) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "no scale is found for [%g, %g]", lo, hi)
	}
	scale := scaleFor(h-l, most-least)
	zero := clamp(math.RoundToEven(least-l/float64(scale)), least, most)
	return &Quant{Scale: scale, ZeroPoint: int(zero)}, nil
}

// QuantizeTensor gives data, the elements of a tensor of this shape, as a QInt8 or QUInt8 with the scale and zero point that
// ChooseQuant finds for its least and largest element.
func QuantizeTensor(data []float32, shape Shape, t DType) (Type, []byte, error) {
	if err := checkElements(data, Type{DType: t, Shape: shape}); err != nil {
		return Type{}, nil, err
	}
	lo, hi := float32(0), float32(0)
	for _, f := range data {
		lo, hi = min(lo, f), max(hi, f)
	}
	q, err := ChooseQuant(t, lo, hi)
	if err != nil {
		return Type{}, nil, err
	}
	return quantizeWhole(data, Type{t, shape, q})
}

// QuantizeSymmetric is QuantizeTensor with the zero point in the middle, as XNNPACK needs for weights of QInt8: scale =
// max|x|/127, zero point 0, or 128 for QUInt8. The least integer is not used.
func QuantizeSymmetric(data []float32, shape Shape, t DType) (Type, []byte, error) {
	least, _, err := byteRange(t)
	if err != nil {
		return Type{}, nil, err
	}
	if err := checkElements(data, Type{DType: t, Shape: shape}); err != nil {
		return Type{}, nil, err
	}
	return quantizeWhole(data, Type{t, shape, &Quant{Scale: scaleFor(largest(data), 127), ZeroPoint: int(least) + 128}})
}

func quantizeWhole(data []float32, t Type) (Type, []byte, error) {
	least, most, _ := byteRange(t.DType)
	raw := make([]byte, len(data))
	for i, f := range data {
		code := math.RoundToEven(float64(f)/float64(t.Quant.Scale)) + float64(t.Quant.ZeroPoint)
		raw[i] = byte(int(clamp(code, least, most)))
	}
	return t, raw, nil
}

// QuantizeChannels gives data, the elements of a tensor of this shape, as weights with a scale for each index along axis: QCInt8
// with scale = max|x|/127, or QCInt4 with scale = max|x|/7. The least integer is not used.
func QuantizeChannels(data []float32, shape Shape, axis int, t DType) (Type, []byte, error) {
	most := map[DType]float64{QCInt8: 127, QCInt4: 7}[t]
	if most == 0 {
		return Type{}, nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "QuantizeChannels gives qcint8 or qcint4, not %v", t)
	}
	if axis < 0 || axis >= len(shape) {
		return Type{}, nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "dimension %d of %v holds no channels", axis, shape)
	}
	typ := Type{t, shape, &Quant{Axis: axis}}
	if err := checkElements(data, typ); err != nil {
		return Type{}, nil, err
	}
	channel := channelOf(shape, axis)
	peak := make([]float64, shape[axis])
	for i, f := range data {
		peak[channel(i)] = max(peak[channel(i)], math.Abs(float64(f)))
	}
	for _, p := range peak {
		typ.Quant.Scales = append(typ.Quant.Scales, scaleFor(p, most))
	}
	codes := make([]int, len(data))
	for i, f := range data {
		codes[i] = int(clamp(math.RoundToEven(float64(f)/float64(typ.Quant.Scales[channel(i)])), -most, most))
	}
	return typ, typ.pack(codes), nil
}

// QuantizeBlocks gives data, the elements of a matrix [output channels, input channels], as QBInt4 weights with a scale for each
// block of so many input channels, a multiple of 32 that divides them: scale = max|x|/7, rounded to a BFloat.
func QuantizeBlocks(data []float32, shape Shape, block int) (Type, []byte, error) {
	const least = 0x1p-122 // XNNPACK multiplies with a sixteenth of it
	typ := Type{QBInt4, shape, &Quant{Block: block}}
	if len(shape) != 2 || block < 1 || block%32 != 0 || shape[1]%block != 0 {
		return Type{}, nil, schema.Errorf(schema.StageCheck, schema.ErrArgument,
			"blocks of %d in %v: a matrix is needed, and a multiple of 32 that divides its rows", block, shape)
	}
	if err := checkElements(data, typ); err != nil {
		return Type{}, nil, err
	}
	codes := make([]int, len(data))
	for i := 0; i < len(data); i += block {
		scale := max(least, BFloatOf(scaleFor(largest(data[i:i+block]), 7)).Float32())
		typ.Quant.Scales = append(typ.Quant.Scales, scale)
		for j := i; j < i+block; j++ {
			codes[j] = int(clamp(math.RoundToEven(float64(data[j])/float64(scale)), -7, 7))
		}
	}
	return typ, typ.pack(codes), nil
}

// QuantizeBias gives the bias of an operator whose operand x and filter have these types: QCInt32 where the filter has a scale
// for each channel, else QInt32, with the scale of the operand times that of the filter. A number that does not fit is
// ErrArgument.
func QuantizeBias(bias []float32, x, filter Type) (Type, []byte, error) {
	if x.Quant == nil || filter.Quant == nil || x.DType.quant() != quantTensor {
		return Type{}, nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "%v and %v do not tell the scale of a bias", x, filter)
	}
	typ := Type{QInt32, Shape{len(bias)}, &Quant{Scale: x.Quant.Scale * filter.Quant.Scale}}
	switch filter.DType.quant() {
	case quantTensor:
	case quantChannel:
		typ.DType, typ.Quant = QCInt32, &Quant{}
		for _, s := range filter.Quant.Scales {
			typ.Quant.Scales = append(typ.Quant.Scales, x.Quant.Scale*s)
		}
	default:
		return Type{}, nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "a filter of %v takes its bias as fp32", filter.DType)
	}
	if err := checkElements(bias, typ); err != nil {
		return Type{}, nil, err
	}
	if err := typ.checkQuant(); err != nil {
		return Type{}, nil, asArgument(err)
	}
	codes, scale := make([]int, len(bias)), typ.scales()
	for i, f := range bias {
		code := math.RoundToEven(float64(f) / float64(scale(i)))
		if code < math.MinInt32 || code > math.MaxInt32 {
			return Type{}, nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "bias %d is %g, which is not 32 bits of scale %g",
				i, f, scale(i))
		}
		codes[i] = int(code)
	}
	return typ, typ.pack(codes), nil
}

// scaleFor is the scale of integers up to most that stand for numbers up to peak.
func scaleFor(peak, most float64) float32 {
	if peak == 0 {
		return 1
	}
	return max(smallestScale, float32(peak/most))
}

func largest(data []float32) (peak float64) {
	for _, f := range data {
		peak = max(peak, math.Abs(float64(f)))
	}
	return peak
}

func clamp(f, least, most float64) float64 { return max(least, min(most, f)) }

// byteRange are the ends of a type of one byte with one scale.
func byteRange(t DType) (least, most float64, err error) {
	switch t {
	case QInt8:
		return math.MinInt8, math.MaxInt8, nil
	case QUInt8:
		return 0, math.MaxUint8, nil
	}
	return 0, 0, schema.Errorf(schema.StageCheck, schema.ErrArgument, "qint8 or quint8 is needed, not %v", t)
}

// checkElements tells whether data are finite elements of a tensor of this type.
func checkElements(data []float32, t Type) error {
	if err := t.check(); err != nil {
		return asArgument(err)
	}
	if n := t.Shape.Elements(); n != len(data) {
		return schema.Errorf(schema.StageCheck, schema.ErrArgument, "%d elements for shape %v", len(data), t.Shape)
	}
	for i, f := range data {
		if f-f != 0 {
			return schema.Errorf(schema.StageCheck, schema.ErrArgument, "element %d is %g, integers stand for no such number", i, f)
		}
	}
	return nil
}

// asArgument makes a fault of a type one of the call that gave it.
func asArgument(e *schema.Error) error {
	e.Kind = schema.ErrArgument
	return e
}
