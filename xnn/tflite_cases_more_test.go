package xnn

import (
	wire "github.com/xnngo/xnngo/schema/tflite"
)

func tfElementwiseCases() []tfCase {
	const none = wire.BuiltinOptionsNONE
	x, y := tfF(2, 3, 4), tfF(3, 1)
	binary := func(name string, code wire.BuiltinOperator, kind wire.BuiltinOptions, fields tfFields) []tfCase {
		return []tfCase{
			tfOne(name, code, kind, fields, []tfTensor{x, y}, x),
			tfOne(name+" constant", code, kind, fields, []tfTensor{x, tfFilled(tfF(4))}, x),
		}
	}
	fused := func(a wire.ActivationFunctionType) tfFields { return tfFields{0: a} }
	q, u := tfQ(0.05, 3, 1, 3, 4), tfU(0.05, 100, 1, 3, 4)
	var cases []tfCase
	for _, list := range [][]tfCase{
		binary("add", wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, fused(0)),
		binary("add relu", wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, fused(tfRelu)),
		binary("sub relu6", wire.BuiltinOperatorSUB, wire.BuiltinOptionsSubOptions, fused(tfRelu6)),
		binary("mul", wire.BuiltinOperatorMUL, wire.BuiltinOptionsMulOptions, fused(tfRelu1)),
		binary("div", wire.BuiltinOperatorDIV, wire.BuiltinOptionsDivOptions, fused(0)),
		binary("maximum", wire.BuiltinOperatorMAXIMUM, wire.BuiltinOptionsMaximumMinimumOptions, nil),
		binary("minimum", wire.BuiltinOperatorMINIMUM, none, nil),
		binary("squared difference", wire.BuiltinOperatorSQUARED_DIFFERENCE, wire.BuiltinOptionsSquaredDifferenceOptions, nil),
	} {
		cases = append(cases, list...)
	}
	unary := func(name string, code wire.BuiltinOperator, kind wire.BuiltinOptions, fields tfFields) {
		cases = append(cases, tfOne(name, code, kind, fields, []tfTensor{x}, x))
	}
	unary("abs", wire.BuiltinOperatorABS, wire.BuiltinOptionsAbsOptions, nil)
	unary("ceil", wire.BuiltinOperatorCEIL, none, nil)
	unary("cos", wire.BuiltinOperatorCOS, wire.BuiltinOptionsCosOptions, nil)
	unary("elu", wire.BuiltinOperatorELU, none, nil)
	unary("exp", wire.BuiltinOperatorEXP, wire.BuiltinOptionsExpOptions, nil)
	unary("floor", wire.BuiltinOperatorFLOOR, none, nil)
	unary("gelu", wire.BuiltinOperatorGELU, wire.BuiltinOptionsGeluOptions, tfFields{0: false})
	unary("gelu by tanh", wire.BuiltinOperatorGELU, wire.BuiltinOptionsGeluOptions, tfFields{0: true})
	unary("hard swish", wire.BuiltinOperatorHARD_SWISH, wire.BuiltinOptionsHardSwishOptions, nil)
	unary("leaky relu", wire.BuiltinOperatorLEAKY_RELU, wire.BuiltinOptionsLeakyReluOptions, tfFields{0: float32(0.3)})
	unary("logistic", wire.BuiltinOperatorLOGISTIC, none, nil)
	unary("neg", wire.BuiltinOperatorNEG, wire.BuiltinOptionsNegOptions, nil)
	unary("round", wire.BuiltinOperatorROUND, none, nil)
	unary("sin", wire.BuiltinOperatorSIN, none, nil)
	unary("square", wire.BuiltinOperatorSQUARE, wire.BuiltinOptionsSquareOptions, nil)
	unary("tanh", wire.BuiltinOperatorTANH, none, nil)
	unary("relu", wire.BuiltinOperatorRELU, none, nil)
	unary("relu6", wire.BuiltinOperatorRELU6, none, nil)
	unary("relu n1 to 1", wire.BuiltinOperatorRELU_N1_TO_1, none, nil)
	qunary := func(name string, code wire.BuiltinOperator, kind wire.BuiltinOptions, fields tfFields, out tfTensor) {
		cases = append(cases, tfOne(name+" int8", code, kind, fields, []tfTensor{q}, out))
	}
	qunary("logistic", wire.BuiltinOperatorLOGISTIC, none, nil, tfQ(1./256, -128, 1, 3, 4))
	qunary("tanh", wire.BuiltinOperatorTANH, none, nil, tfQ(1./128, 0, 1, 3, 4))
	qunary("relu6", wire.BuiltinOperatorRELU6, none, nil, tfQ(6./255, -128, 1, 3, 4))
	qunary("relu", wire.BuiltinOperatorRELU, none, nil, tfQ(0.025, -128, 1, 3, 4))
	qunary("leaky relu", wire.BuiltinOperatorLEAKY_RELU, wire.BuiltinOptionsLeakyReluOptions, tfFields{0: float32(0.3)},
		tfQ(0.05, 2, 1, 3, 4))
	qunary("elu", wire.BuiltinOperatorELU, none, nil, tfQ(0.05, -100, 1, 3, 4))
	qunary("hard swish", wire.BuiltinOperatorHARD_SWISH, wire.BuiltinOptionsHardSwishOptions, nil, tfQ(0.04, -110, 1, 3, 4))
	q2, wide := tfQ(0.03, -5, 3, 1), tfQ(0.09, 1, 1, 3, 4)
	return append(cases,
		tfOne("add int8", wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, fused(0), []tfTensor{q, q2}, wide),
		tfOne("add int8 relu", wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, fused(tfRelu), []tfTensor{q, q2}, wide),
		tfOne("sub int8", wire.BuiltinOperatorSUB, wire.BuiltinOptionsSubOptions, fused(0), []tfTensor{q, q2}, wide),
		tfOne("mul int8", wire.BuiltinOperatorMUL, wire.BuiltinOptionsMulOptions, fused(0), []tfTensor{q, q2}, tfQ(0.2, 1, 1, 3, 4)),
		tfOne("mul uint8", wire.BuiltinOperatorMUL, wire.BuiltinOptionsMulOptions, fused(0), []tfTensor{u, u}, tfU(0.2, 10, 1, 3, 4)),
		tfOne("add uint8 relu6", wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, fused(tfRelu6), []tfTensor{u, u},
			tfU(0.1, 20, 1, 3, 4)),
		tfOne("maximum int8", wire.BuiltinOperatorMAXIMUM, none, nil, []tfTensor{q, q}, q),
		tfOne("prelu", wire.BuiltinOperatorPRELU, none, nil, []tfTensor{tfF(1, 3, 4, 5), tfFilled(tfF(1, 1, 5))}, tfF(1, 3, 4, 5)),
		tfOne("prelu int8", wire.BuiltinOperatorPRELU, none, nil,
			[]tfTensor{tfQ(0.05, 3, 1, 3, 4, 5), tfFilled(tfQ(0.01, 4, 1, 1, 5))}, tfQ(0.06, 3, 1, 3, 4, 5)),
		tfOne("add int32", wire.BuiltinOperatorADD, wire.BuiltinOptionsAddOptions, fused(0), []tfTensor{tfI(2, 3), tfI(3)}, tfI(2, 3)),
		tfOne("mul int32", wire.BuiltinOperatorMUL, wire.BuiltinOptionsMulOptions, fused(0), []tfTensor{tfI(2, 3), tfI(3)}, tfI(2, 3)),
	)
}

func tfMatmulCases() []tfCase {
	fc, fk := wire.BuiltinOperatorFULLY_CONNECTED, wire.BuiltinOptionsFullyConnectedOptions
	bmm, bk := wire.BuiltinOperatorBATCH_MATMUL, wire.BuiltinOptionsBatchMatMulOptions
	w, b := tfFilled(tfF(5, 8)), tfFilled(tfF(5))
	q, qw := tfQ(0.02, 3, 3, 8), tfFilled(tfQ(0.01, 0, 5, 8))
	u, uw := tfU(0.02, 120, 3, 8), tfFilled(tfU(0.01, 125, 5, 8))
	adj := func(x, y bool) tfFields { return tfFields{0: x, 1: y} }
	soft, sk := wire.BuiltinOperatorSOFTMAX, wire.BuiltinOptionsSoftmaxOptions
	return []tfCase{
		tfOne("fully connected", fc, fk, tfFields{0: tfRelu}, []tfTensor{tfF(3, 8), w, b}, tfF(3, 5)),
		tfOne("fully connected flattened", fc, fk, tfFields{}, []tfTensor{tfF(2, 3, 4), w, b}, tfF(3, 5)),
		tfOne("fully connected by columns", fc, fk, tfFields{}, []tfTensor{tfF(4, 4), w, b}, tfF(2, 5)),
		tfOne("fully connected kept", fc, fk, tfFields{2: true}, []tfTensor{tfF(2, 3, 8), w, b}, tfF(2, 3, 5)),
		tfOne("fully connected computed weights", fc, fk, tfFields{}, []tfTensor{tfF(3, 8), tfF(5, 8)}, tfF(3, 5)),
		tfOne("fully connected int8", fc, fk, tfFields{0: tfRelu6}, []tfTensor{q, qw, tfBias(q, qw, 5)}, tfQ(0.05, -10, 3, 5)),
		tfOne("fully connected uint8", fc, fk, tfFields{}, []tfTensor{u, uw, tfBias(u, uw, 5)}, tfU(0.05, 110, 3, 5)),
		tfOne("fully connected hybrid", fc, fk, tfFields{}, []tfTensor{tfF(3, 8), qw, b}, tfF(3, 5)).near(0.02),
		tfOne("batch matmul", bmm, bk, adj(false, false), []tfTensor{tfF(2, 3, 4), tfF(2, 4, 5)}, tfF(2, 3, 5)),
		tfOne("batch matmul adj y", bmm, bk, adj(false, true), []tfTensor{tfF(2, 3, 4), tfF(2, 5, 4)}, tfF(2, 3, 5)),
		tfOne("batch matmul adj x", bmm, bk, adj(true, false), []tfTensor{tfF(2, 4, 3), tfF(2, 4, 5)}, tfF(2, 3, 5)),
		tfOne("batch matmul broadcast", bmm, bk, adj(false, false), []tfTensor{tfF(2, 3, 4), tfF(4, 5)}, tfF(2, 3, 5)),
		tfOne("batch matmul constant", bmm, bk, adj(false, true), []tfTensor{tfF(2, 3, 4), tfFilled(tfF(1, 5, 4))}, tfF(2, 3, 5)),
		tfOne("batch matmul int8", bmm, bk, adj(false, false), []tfTensor{tfQ(0.02, 3, 2, 3, 4), tfQ(0.03, -2, 2, 4, 5)},
			tfQ(0.05, 1, 2, 3, 5)),
		tfOne("softmax", soft, sk, tfFields{0: float32(1)}, []tfTensor{tfF(2, 3, 7)}, tfF(2, 3, 7)),
		tfOne("softmax beta", soft, sk, tfFields{0: float32(2.5)}, []tfTensor{tfF(3, 7)}, tfF(3, 7)),
		tfOne("softmax int8", soft, sk, tfFields{0: float32(1)}, []tfTensor{tfQ(0.03, 3, 3, 7)}, tfQ(1./256, -128, 3, 7)),
		tfOne("mean", wire.BuiltinOperatorMEAN, wire.BuiltinOptionsReducerOptions, tfFields{0: true},
			[]tfTensor{tfF(1, 5, 6, 4), tfInts(1, 2)}, tfF(1, 1, 1, 4)),
		tfOne("mean last", wire.BuiltinOperatorMEAN, wire.BuiltinOptionsReducerOptions, tfFields{},
			[]tfTensor{tfF(2, 5, 6), tfInt(-1)}, tfF(2, 5)),
		tfOne("mean int8", wire.BuiltinOperatorMEAN, wire.BuiltinOptionsReducerOptions, tfFields{},
			[]tfTensor{tfQ(0.05, 3, 1, 5, 6, 4), tfInts(1, 2)}, tfQ(0.03, 1, 1, 4)),
		tfOne("sum", wire.BuiltinOperatorSUM, wire.BuiltinOptionsReducerOptions, tfFields{0: true},
			[]tfTensor{tfF(2, 5, 6), tfInts(0, 2)}, tfF(1, 5, 1)),
	}
}

func tfShapeCases() []tfCase {
	const none = wire.BuiltinOptionsNONE
	stride := func(begin, end, ellipsis, fresh, shrink int) tfFields {
		return tfFields{0: begin, 1: end, 2: ellipsis, 3: fresh, 4: shrink}
	}
	ss, sk := wire.BuiltinOperatorSTRIDED_SLICE, wire.BuiltinOptionsStridedSliceOptions
	x := tfF(3, 4, 5)
	resize := func(name string, h, w int32, align, half bool) tfCase {
		return tfOne(name, wire.BuiltinOperatorRESIZE_BILINEAR, wire.BuiltinOptionsResizeBilinearOptions, tfFields{2: align, 3: half},
			[]tfTensor{tfF(1, 4, 5, 3), tfInts(h, w)}, tfF(1, int(h), int(w), 3))
	}
	paddings := func(values ...int32) tfTensor {
		t := tfInts(values...)
		t.Shape = []int{len(values) / 2, 2}
		return t
	}
	cat, ck := wire.BuiltinOperatorCONCATENATION, wire.BuiltinOptionsConcatenationOptions
	value := tfTensor{Type: wire.TensorTypeFLOAT32, Shape: []int{1}, Data: []float32{-1.5}}
	return []tfCase{
		tfOne("reshape", wire.BuiltinOperatorRESHAPE, none, nil, []tfTensor{x, tfInts(-1, 10)}, tfF(6, 10)),
		tfOne("reshape by options", wire.BuiltinOperatorRESHAPE, wire.BuiltinOptionsReshapeOptions, tfFields{0: []int32{5, 12}},
			[]tfTensor{x}, tfF(5, 12)),
		tfOne("squeeze", wire.BuiltinOperatorSQUEEZE, wire.BuiltinOptionsSqueezeOptions, tfFields{0: []int32{-2}},
			[]tfTensor{tfF(1, 3, 1, 2)}, tfF(1, 3, 2)),
		tfOne("squeeze all", wire.BuiltinOperatorSQUEEZE, wire.BuiltinOptionsSqueezeOptions, nil, []tfTensor{tfF(1, 3, 1, 2)},
			tfF(3, 2)),
		tfOne("expand dims", wire.BuiltinOperatorEXPAND_DIMS, none, nil, []tfTensor{x, tfInt(-2)}, tfF(3, 4, 1, 5)),
		tfOne("transpose", wire.BuiltinOperatorTRANSPOSE, none, nil, []tfTensor{x, tfInts(2, 0, 1)}, tfF(5, 3, 4)),
		tfOne("transpose int8", wire.BuiltinOperatorTRANSPOSE, none, nil, []tfTensor{tfQ(0.1, 2, 3, 4, 5), tfInts(1, 2, 0)},
			tfQ(0.1, 2, 4, 5, 3)),
		tfOne("slice", wire.BuiltinOperatorSLICE, none, nil, []tfTensor{x, tfInts(1, 0, 2), tfInts(2, -1, 2)}, tfF(2, 4, 2)),
		tfOne("strided slice", ss, sk, stride(0, 0, 0, 0, 0), []tfTensor{x, tfInts(1, 0, -4), tfInts(3, 3, -1), tfInts(1, 1, 1)},
			tfF(2, 3, 3)),
		tfOne("strided slice masks", ss, sk, stride(1, 2, 0, 0, 4),
			[]tfTensor{x, tfInts(2, 1, -1), tfInts(2, 2, 0), tfInts(1, 1, 1)}, tfF(2, 3)),
		tfOne("strided slice ellipsis", ss, sk, stride(0, 0, 1, 0, 0), []tfTensor{x, tfInts(0, 1), tfInts(0, 3), tfInts(1, 1)},
			tfF(3, 4, 2)),
		tfOne("strided slice new axis", ss, sk, stride(0, 4, 0, 1, 0),
			[]tfTensor{x, tfInts(0, 1, 1), tfInts(0, 3, 9), tfInts(1, 1, 1)}, tfF(1, 2, 3, 5)),
		tfOne("pad", wire.BuiltinOperatorPAD, none, nil, []tfTensor{tfF(1, 3, 2, 2), paddings(0, 0, 1, 2, 0, 1, 2, 0)},
			tfF(1, 6, 3, 4)),
		tfOne("pad v2", wire.BuiltinOperatorPADV2, none, nil, []tfTensor{tfF(3, 2), paddings(1, 0, 2, 1), value}, tfF(4, 5)),
		tfOne("pad int8", wire.BuiltinOperatorPAD, none, nil, []tfTensor{tfQ(0.1, 7, 1, 3, 2, 2), paddings(0, 0, 1, 2, 0, 1, 0, 0)},
			tfQ(0.1, 7, 1, 6, 3, 2)),
		tfOne("concat", cat, ck, tfFields{0: -1}, []tfTensor{tfF(2, 3), tfF(2, 1), tfF(2, 2)}, tfF(2, 6)),
		tfOne("concat of seven", cat, ck, tfFields{0: 0},
			[]tfTensor{tfF(1, 2), tfF(2, 2), tfF(1, 2), tfFilled(tfF(1, 2)), tfF(3, 2), tfF(1, 2), tfF(2, 2)}, tfF(11, 2)),
		tfOne("split", wire.BuiltinOperatorSPLIT, wire.BuiltinOptionsSplitOptions, tfFields{0: 3},
			[]tfTensor{tfInt(1), tfF(2, 6)}, tfF(2, 2), tfF(2, 2), tfF(2, 2)),
		tfOne("split v", wire.BuiltinOperatorSPLIT_V, wire.BuiltinOptionsSplitVOptions, tfFields{0: 3},
			[]tfTensor{tfF(2, 6), tfInts(1, -1, 2), tfInt(-1)}, tfF(2, 1), tfF(2, 3), tfF(2, 2)),
		tfOne("pack", wire.BuiltinOperatorPACK, wire.BuiltinOptionsPackOptions, tfFields{0: 2, 1: 1},
			[]tfTensor{tfF(2, 3), tfF(2, 3)}, tfF(2, 2, 3)),
		tfOne("unpack", wire.BuiltinOperatorUNPACK, wire.BuiltinOptionsUnpackOptions, tfFields{0: 2, 1: -1}, []tfTensor{tfF(3, 2)},
			tfF(3), tfF(3)),
		resize("resize half pixel", 7, 9, false, true),
		resize("resize corners", 7, 9, true, false),
		resize("resize legacy", 8, 10, false, false),
		resize("resize smaller", 3, 2, false, true),
		tfOne("depth to space", wire.BuiltinOperatorDEPTH_TO_SPACE, wire.BuiltinOptionsDepthToSpaceOptions, tfFields{0: 2},
			[]tfTensor{tfF(1, 2, 3, 8)}, tfF(1, 4, 6, 2)),
		tfOne("space to depth", wire.BuiltinOperatorSPACE_TO_DEPTH, wire.BuiltinOptionsSpaceToDepthOptions, tfFields{0: 2},
			[]tfTensor{tfF(1, 4, 6, 2)}, tfF(1, 2, 3, 8)),
		tfOne("quantize", wire.BuiltinOperatorQUANTIZE, none, nil, []tfTensor{tfF(3, 5)}, tfQ(0.02, 3, 3, 5)),
		tfOne("dequantize", wire.BuiltinOperatorDEQUANTIZE, none, nil, []tfTensor{tfU(0.02, 3, 3, 5)}, tfF(3, 5)),
		tfOne("requantize", wire.BuiltinOperatorQUANTIZE, none, nil, []tfTensor{tfU(0.02, 130, 3, 5)}, tfQ(0.03, 3, 3, 5)),
		tfOne("cast", wire.BuiltinOperatorCAST, wire.BuiltinOptionsCastOptions,
			tfFields{0: wire.TensorTypeINT32, 1: wire.TensorTypeFLOAT32}, []tfTensor{tfI(3, 5)}, tfF(3, 5)),
		tfOne("cast uint8", wire.BuiltinOperatorCAST, none, nil, []tfTensor{{Type: wire.TensorTypeUINT8, Shape: []int{3, 5}}},
			tfF(3, 5)),
	}
}
