package xnn

import (
	"math/rand/v2"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
)

// The tensors of cases: f for real numbers, q for INT8, u for UINT8, each computed or given unless with data.

type tfTensor = tfbuild.Tensor

func tfF(shape ...int) tfTensor { return tfTensor{Type: wire.TensorTypeFLOAT32, Shape: shape} }

func tfQ(scale float32, zero int64, shape ...int) tfTensor {
	return tfTensor{Type: wire.TensorTypeINT8, Shape: shape, Scale: []float32{scale}, Zero: []int64{zero}}
}

func tfU(scale float32, zero int64, shape ...int) tfTensor {
	return tfTensor{Type: wire.TensorTypeUINT8, Shape: shape, Scale: []float32{scale}, Zero: []int64{zero}}
}

func tfI(shape ...int) tfTensor { return tfTensor{Type: wire.TensorTypeINT32, Shape: shape} }

// tfInts is a constant of whole numbers.
func tfInts(values ...int32) tfTensor {
	return tfTensor{Type: wire.TensorTypeINT32, Shape: []int{len(values)}, Data: values}
}

func tfInt(value int32) tfTensor {
	return tfTensor{Type: wire.TensorTypeINT32, Data: []int32{value}, Scalar: true}
}

// tfFilled makes a tensor a constant of random elements.
func tfFilled(t tfTensor) tfTensor {
	r, n := rand.New(rand.NewPCG(uint64(len(t.Shape)), 77)), 1
	for _, d := range t.Shape {
		n *= d
	}
	switch t.Type {
	case wire.TensorTypeFLOAT32:
		data := make([]float32, n)
		for i := range data {
			data[i] = r.Float32()*2 - 1
		}
		t.Data = data
	case wire.TensorTypeINT32:
		data := make([]int32, n)
		for i := range data {
			data[i] = int32(r.IntN(2000) - 1000)
		}
		t.Data = data
	default:
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(max(1, r.IntN(256))) // weights have no -128
			if t.Type == wire.TensorTypeINT8 && data[i] == 128 {
				data[i] = 0
			}
		}
		t.Data = data
	}
	return t
}

// tfByChannel gives a tensor a scale for each index along an axis.
func tfByChannel(t tfTensor, axis int) tfTensor {
	t.Axis, t.Scale, t.Zero = axis, nil, nil
	for i := range t.Shape[axis] {
		t.Scale = append(t.Scale, 0.01+0.003*float32(i))
		t.Zero = append(t.Zero, 0)
	}
	return t
}

// tfBias is the bias that goes with an operand's and a filter's scales.
func tfBias(x, filter tfTensor, channels int) tfTensor {
	b := tfFilled(tfI(channels))
	for _, s := range filter.Scale {
		b.Scale, b.Zero = append(b.Scale, s*x.Scale[0]), append(b.Zero, 0)
	}
	return b
}

type tfFields = tfbuild.Fields

// tfOne is a file of one operator.
func tfOne(name string, code wire.BuiltinOperator, kind wire.BuiltinOptions, fields tfFields, in []tfTensor,
	out ...tfTensor) tfCase {
	f := tfbuild.File{}
	op := tfbuild.Op{Code: code, Kind: kind, Fields: fields}
	for i, t := range in {
		t.Name = "in" + string(rune('0'+i%10))
		op.In = append(op.In, len(f.Tensors))
		if t.Data == nil {
			f.Inputs = append(f.Inputs, len(f.Tensors))
		}
		f.Tensors = append(f.Tensors, t)
	}
	for _, t := range out {
		t.Name = "out"
		op.Out = append(op.Out, len(f.Tensors))
		f.Outputs = append(f.Outputs, len(f.Tensors))
		f.Tensors = append(f.Tensors, t)
	}
	f.Ops = []tfbuild.Op{op}
	return tfCase{name: name, file: f}
}

func (c tfCase) within(steps int) tfCase {
	c.steps = steps
	return c
}

func (c tfCase) near(tolerance float64) tfCase {
	c.tolerance = tolerance
	return c
}

const (
	tfSame, tfValid = wire.PaddingSAME, wire.PaddingVALID
	tfRelu6         = wire.ActivationFunctionTypeRELU6
	tfRelu          = wire.ActivationFunctionTypeRELU
	tfRelu1         = wire.ActivationFunctionTypeRELU_N1_TO_1
)

// conv are a convolution's options: padding, strides and dilations of height and width.
func tfConv(p wire.Padding, sh, sw, dh, dw int, a wire.ActivationFunctionType) tfFields {
	return tfFields{0: p, 1: sw, 2: sh, 3: a, 4: dw, 5: dh}
}

func tfCases() []tfCase {
	var all []tfCase
	for _, list := range [][]tfCase{tfConvCases(), tfPoolCases(), tfElementwiseCases(), tfMatmulCases(), tfShapeCases(),
		tfMoreCases()} {
		all = append(all, list...)
	}
	return all
}

func tfConvCases() []tfCase {
	conv, dw, tc := wire.BuiltinOperatorCONV_2D, wire.BuiltinOperatorDEPTHWISE_CONV_2D, wire.BuiltinOperatorTRANSPOSE_CONV
	ck, dk := wire.BuiltinOptionsConv2DOptions, wire.BuiltinOptionsDepthwiseConv2DOptions
	tk := wire.BuiltinOptionsTransposeConvOptions
	depthwise := func(p wire.Padding, sh, sw, dh, dw int, a wire.ActivationFunctionType) tfFields {
		return tfFields{0: p, 1: sw, 2: sh, 3: 1, 4: a, 5: dw, 6: dh}
	}
	three := depthwise(tfValid, 1, 1, 1, 1, 0)
	three[3] = 3
	x, filter, bias := tfF(1, 9, 8, 4), tfFilled(tfF(5, 3, 2, 4)), tfFilled(tfF(5))
	cases := []tfCase{
		tfOne("conv same", conv, ck, tfConv(tfSame, 1, 1, 1, 1, 0), []tfTensor{x, filter, bias}, tfF(1, 9, 8, 5)),
		tfOne("conv same stride 2x3", conv, ck, tfConv(tfSame, 2, 3, 1, 1, 0), []tfTensor{x, filter, bias}, tfF(1, 5, 3, 5)),
		tfOne("conv same dilated", conv, ck, tfConv(tfSame, 1, 1, 2, 3, 0), []tfTensor{x, filter, bias}, tfF(1, 9, 8, 5)),
		tfOne("conv valid", conv, ck, tfConv(tfValid, 1, 2, 1, 1, 0), []tfTensor{x, filter, bias}, tfF(1, 7, 4, 5)),
		tfOne("conv relu6", conv, ck, tfConv(tfValid, 1, 2, 1, 1, tfRelu6), []tfTensor{x, filter, bias}, tfF(1, 7, 4, 5)),
		tfOne("conv batch", conv, ck, tfConv(tfSame, 2, 2, 1, 1, tfRelu1), []tfTensor{tfF(3, 9, 8, 4), filter, bias}, tfF(3, 5, 4, 5)),
		tfOne("conv 1x1 stride 2", conv, ck, tfConv(tfSame, 2, 2, 1, 1, tfRelu),
			[]tfTensor{x, tfFilled(tfF(5, 1, 1, 4)), bias}, tfF(1, 5, 4, 5)),
		tfOne("depthwise same", dw, dk, depthwise(tfSame, 1, 1, 1, 1, 0),
			[]tfTensor{x, tfFilled(tfF(1, 3, 3, 4)), tfFilled(tfF(4))}, tfF(1, 9, 8, 4)),
		tfOne("depthwise stride 2", dw, dk, depthwise(tfSame, 2, 2, 1, 1, tfRelu6),
			[]tfTensor{x, tfFilled(tfF(1, 3, 3, 4)), tfFilled(tfF(4))}, tfF(1, 5, 4, 4)),
		tfOne("depthwise multiplier 3", dw, dk, three,
			[]tfTensor{x, tfFilled(tfF(1, 2, 3, 12)), tfFilled(tfF(12))}, tfF(1, 8, 6, 12)),
		tfOne("depthwise dilated", dw, dk, depthwise(tfSame, 1, 1, 2, 2, 0),
			[]tfTensor{x, tfFilled(tfF(1, 3, 3, 4)), tfFilled(tfF(4))}, tfF(1, 9, 8, 4)),
	}
	transpose := func(name string, p wire.Padding, s, kh, kw, h, w int) tfCase {
		return tfOne(name, tc, tk, tfFields{0: p, 1: s, 2: s},
			[]tfTensor{tfInts(1, int32(h), int32(w), 3), tfFilled(tfF(3, kh, kw, 4)), tfF(1, 4, 5, 4)}, tfF(1, h, w, 3)).near(1e-5)
	}
	cases = append(cases,
		transpose("transpose conv same 2", tfSame, 2, 3, 3, 8, 10),
		transpose("transpose conv same odd", tfSame, 2, 3, 3, 7, 9),
		transpose("transpose conv same wide", tfSame, 3, 5, 4, 12, 15),
		transpose("transpose conv same small kernel", tfSame, 3, 2, 2, 12, 15),
		transpose("transpose conv valid", tfValid, 2, 3, 2, 9, 10),
		transpose("transpose conv valid wide", tfValid, 2, 3, 3, 9, 11),
		tfOne("transpose conv bias", tc, tk, tfFields{0: tfSame, 1: 2, 2: 2},
			[]tfTensor{tfInts(1, 8, 10, 3), tfFilled(tfF(3, 3, 3, 4)), tfF(1, 4, 5, 4), tfFilled(tfF(3))}, tfF(1, 8, 10, 3)).near(1e-5))

	// Integers: a scale for the tensor, then one for each channel.
	q, qf := tfQ(0.02, 5, 1, 6, 7, 4), tfFilled(tfByChannel(tfQ(0, 0, 5, 3, 3, 4), 0))
	one := tfFilled(tfQ(0.02, 0, 5, 3, 3, 4))
	qd := tfFilled(tfByChannel(tfQ(0, 0, 1, 3, 3, 4), 3))
	u, uf := tfU(0.02, 120, 1, 6, 7, 4), tfFilled(tfU(0.03, 131, 5, 3, 3, 4))
	qt := tfFilled(tfByChannel(tfQ(0, 0, 3, 3, 3, 4), 0))
	return append(cases,
		tfOne("conv int8 by channel", conv, ck, tfConv(tfSame, 1, 1, 1, 1, 0),
			[]tfTensor{q, qf, tfBias(q, qf, 5)}, tfQ(0.2, -3, 1, 6, 7, 5)),
		tfOne("conv int8 relu6", conv, ck, tfConv(tfSame, 2, 2, 1, 1, tfRelu6),
			[]tfTensor{q, one, tfBias(q, one, 5)}, tfQ(6./255, -128, 1, 3, 4, 5)),
		tfOne("depthwise int8 by channel", dw, dk, depthwise(tfSame, 1, 1, 1, 1, 0),
			[]tfTensor{q, qd, tfBias(q, qd, 4)}, tfQ(0.05, 4, 1, 6, 7, 4)),
		tfOne("conv uint8", conv, ck, tfConv(tfValid, 1, 1, 1, 1, tfRelu),
			[]tfTensor{u, uf, tfBias(u, uf, 5)}, tfU(0.2, 3, 1, 4, 5, 5)),
		tfOne("transpose conv int8", tc, tk, tfFields{0: tfSame, 1: 2, 2: 2},
			[]tfTensor{tfInts(1, 12, 14, 3), qt, q, tfBias(q, qt, 3)}, tfQ(0.2, 3, 1, 12, 14, 3)),
		tfOne("conv hybrid", conv, ck, tfConv(tfSame, 1, 1, 1, 1, tfRelu), []tfTensor{x, qf, bias}, tfF(1, 9, 8, 5)).near(0.02),
		tfOne("depthwise hybrid", dw, dk, depthwise(tfSame, 1, 1, 1, 1, 0), []tfTensor{x, qd, tfFilled(tfF(4))},
			tfF(1, 9, 8, 4)).near(0.02),
	)
}

func tfPoolCases() []tfCase {
	avg, mx, k := wire.BuiltinOperatorAVERAGE_POOL_2D, wire.BuiltinOperatorMAX_POOL_2D, wire.BuiltinOptionsPool2DOptions
	pool := func(p wire.Padding, sh, sw, kh, kw int, a wire.ActivationFunctionType) tfFields {
		return tfFields{0: p, 1: sw, 2: sh, 3: kw, 4: kh, 5: a}
	}
	x := tfF(1, 9, 8, 4)
	return []tfCase{
		tfOne("average same", avg, k, pool(tfSame, 2, 2, 3, 3, 0), []tfTensor{x}, tfF(1, 5, 4, 4)),
		tfOne("average valid", avg, k, pool(tfValid, 1, 2, 2, 3, tfRelu1), []tfTensor{x}, tfF(1, 8, 3, 4)),
		tfOne("average of all", avg, k, pool(tfValid, 9, 8, 9, 8, 0), []tfTensor{x}, tfF(1, 1, 1, 4)),
		tfOne("max same", mx, k, pool(tfSame, 2, 2, 3, 3, 0), []tfTensor{x}, tfF(1, 5, 4, 4)),
		tfOne("max valid", mx, k, pool(tfValid, 3, 2, 2, 2, tfRelu), []tfTensor{x}, tfF(1, 3, 4, 4)),
		tfOne("max 1x1", mx, k, pool(tfSame, 2, 2, 1, 1, 0), []tfTensor{x}, tfF(1, 5, 4, 4)),
		tfOne("average int8", avg, k, pool(tfSame, 1, 1, 3, 3, 0), []tfTensor{tfQ(0.1, 3, 1, 5, 5, 4)}, tfQ(0.1, 3, 1, 5, 5, 4)),
		tfOne("average uint8", avg, k, pool(tfSame, 1, 1, 3, 3, tfRelu6), []tfTensor{tfU(0.1, 3, 1, 5, 5, 4)}, tfU(0.1, 3, 1, 5, 5, 4)),
		tfOne("max uint8", mx, k, pool(tfSame, 2, 2, 3, 3, tfRelu6), []tfTensor{tfU(0.1, 30, 1, 5, 5, 4)}, tfU(0.1, 30, 1, 3, 3, 4)),
		tfOne("max int8", mx, k, pool(tfValid, 2, 2, 2, 2, 0), []tfTensor{tfQ(0.1, 3, 1, 5, 5, 4)}, tfQ(0.1, 3, 1, 2, 2, 4)),
	}
}
