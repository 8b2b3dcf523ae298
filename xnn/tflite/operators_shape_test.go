package tflite_test

import (
	wire "github.com/xnngo/xnngo/schema/tflite"
)

// rowOperators are those of rows.
func rowOperators() []operatorCase {
	x := real("x", 2, 3, 4)
	return []operatorCase{
		{
			"FULLY_CONNECTED", op{Code: wire.BuiltinOperatorFULLY_CONNECTED, Kind: wire.BuiltinOptionsFullyConnectedOptions},
			[]tensor{x, filled(real("w", 5, 4)), filled(real("b", 5))}, []tensor{real("y", 6, 5)},
			[]bad{
				{name: "format", options: fields{1: int8(1)}, says: "weights_format is SHUFFLED4x16INT8"},
				{name: "kept", options: fields{2: true}, says: "the result is declared [6,5], computed [2,3,5]", kind: shape},
				{name: "bias type", options: fields{4: int8(wire.TensorTypeINT64)}, says: "quantized_bias_type is INT64"},
				{name: "weights", tensors: map[int]tensor{1: filled(real("w", 5, 7))}, says: "not rows of the filter's 7 input channels",
					kind: shape},
				{name: "no matrix", tensors: map[int]tensor{1: filled(real("w", 5, 2, 2))}, says: "a matrix is needed", kind: wrong},
			},
		},
		{
			"BATCH_MATMUL", op{Code: wire.BuiltinOperatorBATCH_MATMUL, Kind: wire.BuiltinOptionsBatchMatMulOptions},
			[]tensor{x, real("b", 2, 4, 5)}, []tensor{real("y", 2, 3, 5)},
			[]bad{
				{name: "sizes", tensors: map[int]tensor{1: real("b", 2, 3, 5)}, says: "do not multiply", kind: shape},
				{name: "vector", tensors: map[int]tensor{0: real("x", 4)}, options: fields{0: true}, says: "is no matrix", kind: wrong},
			},
		},
		{
			"SOFTMAX", op{Code: wire.BuiltinOperatorSOFTMAX, Kind: wire.BuiltinOptionsSoftmaxOptions, Fields: fields{0: float32(1)}},
			[]tensor{x}, []tensor{real("y", 2, 3, 4)},
			[]bad{{name: "scalar", tensors: map[int]tensor{0: {Type: wire.TensorTypeFLOAT32, Scalar: true}},
				says: "a scalar has no rows", kind: shape}},
		},
		{
			"MEAN", op{Code: wire.BuiltinOperatorMEAN, Kind: wire.BuiltinOptionsReducerOptions},
			[]tensor{x, whole("a", 1, -1)}, []tensor{real("y", 2)},
			[]bad{
				{name: "axis", tensors: map[int]tensor{1: whole("a", 3)}, says: "axis 3 of 3 dimensions", kind: wrong},
				{name: "computed axes", tensors: map[int]tensor{1: {Type: wire.TensorTypeINT32, Shape: []int{2}}},
					says: "operand 1 must be a constant"},
				{name: "real axes", tensors: map[int]tensor{1: numbers("a", 1, 2)}, says: "whole numbers of 32 or 64 bits are needed"},
				{name: "kept", options: fields{0: true}, says: "computed [2,1,1]", kind: shape},
			},
		},
		{
			"CONCATENATION", op{Code: wire.BuiltinOperatorCONCATENATION, Kind: wire.BuiltinOptionsConcatenationOptions,
				Fields: fields{0: 1}},
			[]tensor{x, x}, []tensor{real("y", 2, 6, 4)},
			[]bad{
				{name: "axis", options: fields{0: 3}, says: "axis 3 of 3 dimensions", kind: wrong},
				{name: "shapes", tensors: map[int]tensor{1: real("x", 3, 3, 4)}, says: "does not continue", kind: shape},
			},
		},
	}
}

// shapeOperators are those that move elements, or change their types.
func shapeOperators() []operatorCase {
	x := real("x", 2, 3, 4)
	return []operatorCase{
		{
			"RESHAPE", op{Code: wire.BuiltinOperatorRESHAPE}, []tensor{x, whole("s", -1, 8)}, []tensor{real("y", 3, 8)},
			[]bad{
				{name: "size", tensors: map[int]tensor{1: whole("s", 5, 5)}, says: "the 24 elements of [2,3,4] do not make [5,5]",
					kind: wrong},
				{name: "rest", tensors: map[int]tensor{1: whole("s", -1, 7)}, says: "do not make", kind: wrong},
				{name: "two rests", tensors: map[int]tensor{1: whole("s", -1, -1)}, says: "dimension 1 of the new shape [-1,-1] is -1",
					kind: wrong},
				{name: "negative", tensors: map[int]tensor{1: whole("s", -2, 8)}, says: "dimension 0 of the new shape [-2,8] is -2",
					kind: wrong},
				{name: "rank", tensors: map[int]tensor{1: whole("s", 1, 1, 1, 1, 1, 1, 24)}, says: "a list of at most 6 sizes"},
				{name: "computed", tensors: map[int]tensor{1: {Type: wire.TensorTypeINT32, Shape: []int{2}}},
					says: "operand 1 must be a constant"},
			},
		},
		{
			"SQUEEZE", op{Code: wire.BuiltinOperatorSQUEEZE,
				Kind: wire.BuiltinOptionsSqueezeOptions}, []tensor{real("x", 1, 3, 1)}, []tensor{real("y", 3)},
			[]bad{
				{name: "size", options: fields{0: []int32{1}}, says: "dimension 1 of [1,3,1] is not 1", kind: wrong},
				{name: "axis", options: fields{0: []int32{3}}, says: "dimension 3 of [1,3,1] is not 1", kind: wrong},
			},
		},
		{
			"EXPAND_DIMS", op{Code: wire.BuiltinOperatorEXPAND_DIMS}, []tensor{x, scalar("a", -1)}, []tensor{real("y", 2, 3, 4, 1)},
			[]bad{
				{name: "axis", tensors: map[int]tensor{1: scalar("a", 4)}, says: "axis [4] of [2,3,4]", kind: wrong},
				{name: "axes", tensors: map[int]tensor{1: whole("a", 1, 2)}, says: "has 2 elements, at most 1"},
			},
		},
		{
			"TRANSPOSE", op{Code: wire.BuiltinOperatorTRANSPOSE}, []tensor{x, whole("p", 2, 0, 1)}, []tensor{real("y", 4, 2, 3)},
			[]bad{
				{name: "twice", tensors: map[int]tensor{1: whole("p", 2, 0, -1)}, says: "dimension -1 is named twice", kind: wrong},
				{name: "short", tensors: map[int]tensor{1: whole("p", 1, 0)}, says: "2 entries for 3 dimensions", kind: wrong},
			},
		},
		{
			"SLICE", op{Code: wire.BuiltinOperatorSLICE}, []tensor{x, whole("b", 0, 1, 0),
				whole("s", 2, -1, 2)}, []tensor{real("y", 2, 2, 2)},
			[]bad{
				{name: "begin", tensors: map[int]tensor{1: whole("b", 0, 4, 0)}, says: "of dimension 1 of [2,3,4]", kind: wrong},
				{name: "size", tensors: map[int]tensor{2: whole("s", 3, 1, 1)}, says: "3 elements from 0 on of dimension 0", kind: wrong},
				{name: "nothing", tensors: map[int]tensor{2: whole("s", 2, 0, 2)}, says: "nothing of dimension 1"},
				{name: "rank", tensors: map[int]tensor{2: whole("s", 2, 1)}, says: "3 begins and 2 sizes", kind: wrong},
			},
		},
		{
			"STRIDED_SLICE", op{Code: wire.BuiltinOperatorSTRIDED_SLICE, Kind: wire.BuiltinOptionsStridedSliceOptions},
			[]tensor{x, whole("b", 0, 0, 0), whole("e", 2, 3, 2), whole("s", 1, 1, 1)}, []tensor{real("y", 2, 3, 2)},
			[]bad{
				{name: "stride", tensors: map[int]tensor{3: whole("s", 1, 2, 1)}, says: "stride 2 along dimension 1, 1 is supported"},
				{name: "stride 0", tensors: map[int]tensor{3: whole("s", 1, 0, 1)}, says: "stride 0 along dimension 1", kind: wrong},
				{name: "entries", tensors: map[int]tensor{1: whole("b", 0, 0, 0, 0), 2: whole("e", 1, 1, 1, 1), 3: whole("s", 1, 1, 1, 1)},
					says: "4 entries and 0 ellipses", kind: wrong},
				{name: "ellipses", options: fields{2: 3}, says: "2 ellipses", kind: wrong},
				{name: "lengths", tensors: map[int]tensor{2: whole("e", 2, 3)}, says: "3 begins, 2 ends and 3 strides", kind: wrong},
				{name: "single", options: fields{4: 1}, tensors: map[int]tensor{1: whole("b", 2, 0, 0)}, says: "element 2 of dimension 0",
					kind: wrong},
				{name: "offset", options: fields{5: true}, tensors: map[int]tensor{1: whole("b", 1, 0, 0)}, says: "computed [1,3,2]",
					kind: shape},
			},
		},
		{
			"SPLIT", op{Code: wire.BuiltinOperatorSPLIT, Kind: wire.BuiltinOptionsSplitOptions, Fields: fields{0: 2}},
			[]tensor{scalar("a", 2), x}, []tensor{real("y", 2, 3, 2), real("z", 2, 3, 2)},
			[]bad{
				{name: "number", options: fields{0: 4}, says: "num_splits is 4, there are 2 results", kind: wrong},
				{name: "axis", tensors: map[int]tensor{0: scalar("a", 3)}, says: "axis 3 of 3 dimensions", kind: wrong},
				{name: "uneven", tensors: map[int]tensor{0: scalar("a", 1)}, says: "has no 2 equal parts", kind: shape},
			},
		},
		{
			"SPLIT_V", op{Code: wire.BuiltinOperatorSPLIT_V, Kind: wire.BuiltinOptionsSplitVOptions, Fields: fields{0: 2}},
			[]tensor{x, whole("s", 1, -1), scalar("a", 2)}, []tensor{real("y", 2, 3, 1), real("z", 2, 3, 3)},
			[]bad{
				{name: "sum", tensors: map[int]tensor{1: whole("s", 1, 1)}, says: "parts of [1 1] do not make 4", kind: wrong},
				{name: "too many", tensors: map[int]tensor{1: whole("s", 5, -1)}, says: "do not make 4", kind: wrong},
				{name: "empty", tensors: map[int]tensor{1: whole("s", 0, 4)}, says: "part 0 has the size 0"},
			},
		},
		{
			"UNPACK", op{Code: wire.BuiltinOperatorUNPACK, Kind: wire.BuiltinOptionsUnpackOptions, Fields: fields{0: 2}},
			[]tensor{x}, []tensor{real("y", 3, 4), real("z", 3, 4)},
			[]bad{{name: "number", options: fields{0: 3}, says: "num is 3, there are 2 results", kind: wrong}},
		},
		{
			"PACK", op{Code: wire.BuiltinOperatorPACK, Kind: wire.BuiltinOptionsPackOptions, Fields: fields{0: 2, 1: -1}},
			[]tensor{x, x}, []tensor{real("y", 2, 3, 4, 2)},
			[]bad{
				{name: "number", options: fields{0: 3}, says: "values_count is 3, there are 2 operands", kind: wrong},
				{name: "axis", options: fields{1: 4}, says: "axis 4 of 4 dimensions", kind: wrong},
				{name: "shapes", tensors: map[int]tensor{1: real("x", 2, 3, 5)}, says: "does not continue", kind: shape},
			},
		},
		{
			"CAST", op{Code: wire.BuiltinOperatorCAST, Kind: wire.BuiltinOptionsCastOptions}, []tensor{{Type: wire.TensorTypeINT32,
				Shape: []int{3}}}, []tensor{real("y", 3)},
			[]bad{
				{name: "rounding", tensors: map[int]tensor{0: real("x", 3), 1: {Type: wire.TensorTypeINT32, Shape: []int{3}}},
					says: "FLOAT32 to INT32"},
				{name: "scale", tensors: map[int]tensor{0: int8s(0.5, 0, 3)}, says: "integers that stand for other numbers"},
			},
		},
		{
			"QUANTIZE", op{Code: wire.BuiltinOperatorQUANTIZE}, []tensor{real("x", 3)}, []tensor{int8s(0.5, 3, 3)},
			[]bad{
				{name: "int16", tensors: map[int]tensor{1: {Type: wire.TensorTypeINT16, Shape: []int{3}}}, says: "elements of INT16"},
				{name: "scale", tensors: map[int]tensor{1: int8s(0, 3, 3)}, says: "value 1: QUANTIZE: scale 0 is not in [2^-60, 2^60]"},
				{name: "zero point", tensors: map[int]tensor{1: int8s(0.5, 200, 3)}, says: "zero point 200", kind: wrong},
				{name: "scales", tensors: map[int]tensor{1: {Type: wire.TensorTypeINT8, Shape: []int{3}, Scale: []float32{1, 2, 3}}},
					says: "it has 3 scales"},
				{name: "zero points", tensors: map[int]tensor{1: {Type: wire.TensorTypeINT8, Shape: []int{3}, Scale: []float32{1, 2, 3},
					Zero: []int64{1, 2}}},
					says: "3 scales and 2 zero points", kind: wrong},
			},
		},
		{
			"LEAKY_RELU", op{Code: wire.BuiltinOperatorLEAKY_RELU, Kind: wire.BuiltinOptionsLeakyReluOptions,
				Fields: fields{0: float32(0.1)}},
			[]tensor{x}, []tensor{real("y", 2, 3, 4)},
			[]bad{{name: "unknown option", options: fields{1: int8(1)}, says: "its options have a field 1"}},
		},
	}
}
