package tflite_test

import (
	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
)

// imageOperators are those of images.
func imageOperators() []operatorCase {
	const same = int8(wire.PaddingSAME)
	const valid = int8(wire.PaddingVALID)
	x := real("x", 2, 3, 4)
	image := real("x", 1, 9, 8, 4)
	paddings := matrix(whole("p", 0, 0, 1, 1, 0, 2), 3, 2)
	conv := fields{0: int8(wire.PaddingSAME), 1: 1, 2: 1}
	pool := fields{0: valid, 1: 2, 2: 2, 3: 2, 4: 2}
	return []operatorCase{
		{
			"CONV_2D", op{Code: wire.BuiltinOperatorCONV_2D, Kind: wire.BuiltinOptionsConv2DOptions, Fields: conv},
			[]tensor{image, filled(real("w", 6, 3, 3, 2)), filled(real("b", 6))}, []tensor{real("y", 1, 9, 8, 6)},
			[]bad{
				{name: "padding", options: fields{0: int8(7)}, says: "padding Padding(7) is not known"},
				{name: "stride", options: fields{1: 0}, says: "stride is 1x0", kind: wrong},
				{name: "dilation", options: fields{4: -1}, says: "dilation is 1x-1", kind: wrong},
				{name: "activation", options: fields{3: int8(8)}, says: "fused_activation_function"},
				{name: "bias type", options: fields{6: int8(wire.TensorTypeINT64)}, says: "quantized_bias_type is INT64"},
				{name: "groups", tensors: map[int]tensor{1: filled(real("w", 6, 3, 3, 3))}, says: "does not divide the channels",
					kind: wrong},
				{name: "bias", tensors: map[int]tensor{2: filled(real("b", 5))}, says: "the bias is [5], 6 output channels need [6]",
					kind: shape},
				{name: "filter", tensors: map[int]tensor{1: filled(real("w", 6, 9))}, says: "both need four dimensions", kind: wrong},
				{name: "computed filter", tensors: map[int]tensor{1: real("w", 6, 3, 3, 2)}, says: "needs a constant as operand 1"},
			},
		},
		{
			"CONV_2D int8", op{Code: wire.BuiltinOperatorCONV_2D, Kind: wire.BuiltinOptionsConv2DOptions, Fields: conv},
			[]tensor{int8s(0.5, 0, 1, 9, 8, 4), filled(int8s(0.1, 0, 6, 3, 3, 4)),
				filled(tensor{Type: wire.TensorTypeINT32, Shape: []int{6}})},
			[]tensor{int8s(1, 0, 1, 9, 8, 6)},
			[]bad{
				{name: "zero point", tensors: map[int]tensor{1: filled(int8s(0.1, 3, 6, 3, 3, 4))}, says: "zero point 0 of the weights is 3"},
				{name: "scales", tensors: map[int]tensor{1: scaled(6, 2)}, says: "the scales are along dimension 2"},
				{name: "bias scale", tensors: map[int]tensor{2: filled(tensor{Type: wire.TensorTypeINT32, Shape: []int{6},
					Scale: []float32{0.1}})},
					says: "scale 0 of the bias is 0.1, those of operand and filter make 0.05", kind: wrong},
				{name: "bias type", tensors: map[int]tensor{2: filled(real("b", 6))}, says: "a bias of FLOAT32, INT32 is needed"},
				{name: "scales of an image", tensors: map[int]tensor{0: perChannel(1, 9, 8, 4)}, says: "it has 4 scales along dimension 3",
					node: schema.None},
			},
		},
		{
			"DEPTHWISE_CONV_2D", op{Code: wire.BuiltinOperatorDEPTHWISE_CONV_2D, Kind: wire.BuiltinOptionsDepthwiseConv2DOptions,
				Fields: conv},
			[]tensor{image, filled(real("w", 1, 3, 3, 8)), filled(real("b", 8))}, []tensor{real("y", 1, 9, 8, 8)},
			[]bad{
				{name: "multiplier", options: fields{3: 3}, says: "depth_multiplier is 3, the filter [1,3,3,8] makes 2", kind: wrong},
				{name: "channels", tensors: map[int]tensor{1: filled(real("w", 1, 3, 3, 6))}, says: "is not several for each channel",
					kind: wrong},
				{name: "filter", tensors: map[int]tensor{1: filled(real("w", 2, 3, 3, 8))}, says: "needs [1,3,3,8]", kind: shape},
			},
		},
		{
			"TRANSPOSE_CONV", op{Code: wire.BuiltinOperatorTRANSPOSE_CONV, Kind: wire.BuiltinOptionsTransposeConvOptions,
				Fields: fields{0: same, 1: 2, 2: 2}},
			[]tensor{whole("s", 1, 8, 10, 3), filled(real("w", 3, 3, 3, 4)), real("x", 1, 4, 5, 4)}, []tensor{real("y", 1, 8, 10, 3)},
			[]bad{
				{name: "stride", options: fields{2: 0}, says: "stride is 0x2", kind: wrong},
				{name: "shape", tensors: map[int]tensor{0: whole("s", 8, 10, 3)}, says: "has 3 sizes, needed 4", kind: wrong},
				{name: "size", tensors: map[int]tensor{0: whole("s", 1, 0, 10, 3)}, says: "the shape of the result is [1 0 10 3]",
					kind: wrong},
				{name: "far size", tensors: map[int]tensor{0: whole("s", 1, 12, 10, 3)}, says: "adjustment of the height is 3", kind: wrong},
				{name: "computed shape", tensors: map[int]tensor{0: {Type: wire.TensorTypeINT32, Shape: []int{4}}},
					says: "operand 0 must be a constant"},
			},
		},
		{
			"CUSTOM Convolution2DTransposeBias", op{Code: wire.BuiltinOperatorCUSTOM, Custom: "Convolution2DTransposeBias",
				Blob: tfbuild.Raw([]int32{1, 2, 2})},
			[]tensor{real("x", 1, 4, 5, 4), filled(real("w", 3, 2, 2, 4)), filled(real("b", 3))}, []tensor{real("y", 1, 8, 9, 3)},
			[]bad{
				{name: "length", blob: make([]byte, 8), says: "its options have 8 bytes, needed 12", kind: wrong},
				{name: "padding", blob: tfbuild.Raw([]int32{0, 2, 2}), says: "padding 0 is not known"},
				{name: "stride", blob: tfbuild.Raw([]int32{1, 0, 2}), says: "stride is 2x0", kind: wrong},
			},
		},
		{
			"AVERAGE_POOL_2D", op{Code: wire.BuiltinOperatorAVERAGE_POOL_2D, Kind: wire.BuiltinOptionsPool2DOptions, Fields: pool},
			[]tensor{image}, []tensor{real("y", 1, 4, 4, 4)},
			[]bad{
				{name: "kernel", options: fields{3: 0}, says: "kernel is 2x0", kind: wrong},
				{name: "large kernel", options: fields{4: 10}, says: "is less than the 10 of the window", kind: shape},
				{name: "padding", options: fields{0: int8(2)}, says: "padding Padding(2) is not known"},
			},
		},
		{
			"PAD", op{Code: wire.BuiltinOperatorPAD}, []tensor{x, paddings}, []tensor{real("y", 2, 5, 6)},
			[]bad{
				{name: "negative", tensors: map[int]tensor{1: matrix(whole("p", 0, 0, -1, 1, 0, 2), 3, 2)},
					says: "dimension 1 gets -1 elements", kind: wrong},
				{name: "short", tensors: map[int]tensor{1: matrix(whole("p", 0, 0, 1, 1), 2, 2)}, says: "4 paddings for 3 dimensions",
					kind: wrong},
			},
		},
		{
			"RESIZE_BILINEAR", op{Code: wire.BuiltinOperatorRESIZE_BILINEAR, Kind: wire.BuiltinOptionsResizeBilinearOptions},
			[]tensor{image, whole("s", 4, 5)}, []tensor{real("y", 1, 4, 5, 4)},
			[]bad{
				{name: "modes", options: fields{2: true, 3: true}, says: "exclude each other", kind: wrong},
				{name: "size", tensors: map[int]tensor{1: whole("s", 0, 5)}, says: "the new height is 0", kind: wrong},
				{name: "sizes", tensors: map[int]tensor{1: whole("s", 4)}, says: "a height and a width are needed", kind: wrong},
			},
		},
		{
			"DEPTH_TO_SPACE", op{Code: wire.BuiltinOperatorDEPTH_TO_SPACE, Kind: wire.BuiltinOptionsDepthToSpaceOptions,
				Fields: fields{0: 2}},
			[]tensor{image}, []tensor{real("y", 1, 18, 16, 1)},
			[]bad{{name: "block", options: fields{0: 3}, says: "do not make blocks of 3 x 3", kind: shape}},
		},
		{
			"MAX_POOL_2D int8", op{Code: wire.BuiltinOperatorMAX_POOL_2D, Kind: wire.BuiltinOptionsPool2DOptions, Fields: pool},
			[]tensor{int8s(0.5, 1, 1, 4, 4, 2)}, []tensor{int8s(0.5, 1, 1, 2, 2, 2)},
			[]bad{{name: "other scale", tensors: map[int]tensor{1: int8s(0.25, 1, 1, 2, 2, 2)},
				says: "MaxPool2D keeps the quantisation of its operand", kind: wrong}},
		},
	}
}
