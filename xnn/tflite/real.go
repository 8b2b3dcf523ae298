package tflite

import (
	"encoding/binary"
	"math"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Operators for which XNNPACK has no kernel of integers compute with the real numbers that the integers stand for.

// isInteger tells a type of integers that stand for real numbers.
func isInteger(t graph.Type) bool { return t.DType == graph.QInt8 || t.DType == graph.QUInt8 }

// real gives a value as Float32 where it is of integers, with its type.
func (n *node) real(x graph.ID) (graph.ID, graph.Type) {
	t := n.typeOf(x)
	if !isInteger(t) {
		return x, t
	}
	t = graph.Type{DType: graph.Float32}
	return n.step(graph.Unary{Func: graph.Convert}, t, x), t
}

// emitReal appends the node that the operator is, which computes with real numbers; the result becomes integers where it is
// declared so.
func (n *node) emitReal(op graph.Op, in ...graph.ID) error {
	t, err := n.result(0)
	if err != nil {
		return err
	}
	if t.typ != wire.TensorTypeINT8 && t.typ != wire.TensorTypeUINT8 {
		return n.emit(op, wire.ActivationFunctionTypeNONE, in...)
	}
	x := n.step(op, graph.Type{DType: graph.Float32}, in...)
	return n.emit(graph.Unary{Func: graph.Convert}, wire.ActivationFunctionTypeNONE, x)
}

// number is a constant of one element that no tensor of the file is.
func (n *node) number(f float32) graph.ID {
	im, key := n.im, sharedKey{"number", int(math.Float32bits(f))}
	if id, ok := im.shared[key]; ok || n.err != nil {
		return id
	}
	var id graph.ID
	data := binary.LittleEndian.AppendUint32(nil, math.Float32bits(f))
	n.keep(im.build(n, n.out[0], func() { id = im.g.ConstantOf(graph.Type{DType: graph.Float32}, data) }))
	if n.err == nil {
		im.label(id, "")
		im.shared[key] = id
	}
	return id
}
