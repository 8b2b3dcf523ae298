package graph

import (
	"math"

	"github.com/xnngo/xnngo/schema"
)

// An operator that multiplies integers adds up products in units of the scale of x times the scale of the filter, and then
// multiplies the sum with the ratio of that to the scale of its result. XNNPACK looks at none of these but for the upper limit.
const (
	leastRatio = 0x1p-32
	mostRatio  = 0x1p8 // exclusive
	// biasTolerance is how far the bias's own scale may be from the scale of the sums: less than what a sum is rounded by.
	biasTolerance = 1e-4
)

// checkRequantization checks the scales of an operator that multiplies integers with a filter and gives integers: the ratio of
// each channel, and that the bias, which may be nil, has the scale of the sums.
func checkRequantization(x, filter, bias, out *Value) error {
	if out.DType != QInt8 && out.DType != QUInt8 {
		return nil
	}
	scales := filterScales(filter)
	for i, s := range scales {
		sum := x.Quant.Scale * s
		ratio := float64(x.Quant.Scale) * float64(s) / float64(out.Quant.Scale)
		if ratio < leastRatio || ratio >= mostRatio || !normal(sum) {
			return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
				"channel %d: scales %g of the operand, %g of the filter and %g of the result make a ratio of %g, not in [2^-32, 2^8)",
				i, x.Quant.Scale, s, out.Quant.Scale, ratio).AtValue(out.Ref)
		}
		if bias == nil {
			continue
		}
		got := biasScale(bias, i)
		if math.Abs(float64(got)-float64(sum)) > biasTolerance*float64(sum) {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph,
				"the bias of channel %d has scale %g, the scales of operand and filter make %g", i, got, sum).AtValue(bias.Ref)
		}
	}
	return nil
}

// filterScales are the scales of a filter's output channels: one where they share it.
func filterScales(filter *Value) []float32 {
	if filter.DType.quant() == quantChannel {
		return filter.Quant.Scales
	}
	return []float32{filter.Quant.Scale}
}

func biasScale(bias *Value, channel int) float32 {
	if bias.DType == QCInt32 {
		return bias.Quant.Scales[channel]
	}
	return bias.Quant.Scale
}

// normal tells a positive number that is neither subnormal nor infinite.
func normal(f float32) bool { return f >= 0x1p-126 && f <= math.MaxFloat32 }
