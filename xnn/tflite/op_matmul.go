package tflite

import (
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorFULLY_CONNECTED] = &handler{
		options: wire.BuiltinOptionsFullyConnectedOptions, fields: 5, in: arity{2, 3}, out: arity{1, 1}, build: buildFullyConnected,
	}
	handlers[wire.BuiltinOperatorBATCH_MATMUL] = &handler{
		options: wire.BuiltinOptionsBatchMatMulOptions, fields: 3, in: arity{2, 2}, out: arity{1, 1}, build: buildBatchMatMul,
	}
}

func buildFullyConnected(n *node) error {
	var o wire.FullyConnectedOptions
	n.options(&o)
	n.biasType(o.QuantizedBiasType())
	if o.WeightsFormat() != wire.FullyConnectedOptionsWeightsFormatDEFAULT {
		return n.unsupported("weights_format is %v", o.WeightsFormat())
	}
	x := n.value(0)
	filter := n.filter(1, n.typeOf(x), 0, true)
	if n.err != nil {
		return n.err
	}
	xt, ft := n.typeOf(x), n.typeOf(filter)
	if len(ft.Shape) != 2 {
		return n.invalid("the weights are %v, a matrix is needed", ft.Shape)
	}
	bias := n.bias(2, xt, ft, ft.Shape[0])
	// Unless dimensions are kept, the operand is a matrix of as many columns as the weights have, whatever its shape is.
	flatten := !o.KeepNumDims() && len(xt.Shape) != 2
	if xt.DType == graph.Float32 && ft.DType == graph.QCInt8 {
		if !o.KeepNumDims() && (len(xt.Shape) != 2 || xt.Shape[1] != ft.Shape[1]) {
			x = n.step(graph.Reshape{Dims: []int{0, ft.Shape[1]}}, xt, x)
			flatten = false
		}
		x = n.quantisedAtRunTime(x, 1)
	} else if !o.KeepNumDims() && len(xt.Shape) == 2 && xt.Shape[1] != ft.Shape[1] {
		flatten = true
	}
	return n.emit(graph.FullyConnected{Flatten: flatten}, o.FusedActivationFunction(), x, filter, bias)
}

func buildBatchMatMul(n *node) error {
	var o wire.BatchMatMulOptions
	n.options(&o)
	a, b := n.value(0), graph.None
	t, err := n.operand(1)
	if err != nil {
		return err
	}
	// Weights are one matrix, with a scale for each column of the result.
	columns := len(t.shape) - 1
	if o.AdjY() {
		columns--
	}
	if c := t.constant; c != nil && n.typeOf(a).DType == graph.Float32 && !o.AdjX() && len(t.shape) >= 2 &&
		t.shape[:len(t.shape)-2].Elements() == 1 && (len(c.scalesOrOne()) == 1 || c.quant.axis == columns) {
		if b = n.filter(1, n.typeOf(a), columns, true); n.typeOf(b).DType == graph.QCInt8 {
			a = n.quantisedAtRunTime(a, 1)
			return n.emit(graph.BatchMatMul{Transposed: o.AdjY()}, wire.ActivationFunctionTypeNONE, a, b)
		}
	} else {
		b = n.value(1)
	}
	a, at := n.real(a)
	b, _ = n.real(b)
	if n.err != nil {
		return n.err
	}
	if o.AdjX() {
		perm := make([]int, n.rank(a))
		for i := range perm {
			perm[i] = i
		}
		if len(perm) < 2 {
			return n.invalid("%v is no matrix", n.typeOf(a).Shape)
		}
		slices.Reverse(perm[len(perm)-2:])
		a = n.step(graph.Transpose{Perm: perm}, at, a)
	}
	return n.emitReal(graph.BatchMatMul{Transposed: o.AdjY()}, a, b)
}
