package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/xnngo/xnngo/xnn"
)

// The ONNX messages and fields that the subjects need. Field numbers are those of onnx.proto (IR version 8).
const (
	modelIRVersion = 1
	modelGraph     = 7
	modelOpset     = 8

	opsetVersion = 2

	graphNode        = 1
	graphName        = 2
	graphInitializer = 5
	graphInput       = 11
	graphOutput      = 12

	nodeInput     = 1
	nodeOutput    = 2
	nodeOpType    = 4
	nodeAttribute = 5

	attributeName = 1
	attributeInt  = 3
	attributeInts = 8
	attributeType = 20
	typeInt       = 2
	typeInts      = 7

	constantDims = 1
	constantType = 2
	constantName = 8
	constantRaw  = 9

	valueName = 1
	valueType = 2

	typeTensor = 1

	tensorElemType = 1
	tensorShape    = 2

	shapeDim = 1
	dimValue = 1

	irVersion = 8
	opset     = 13
)

// onnxTypes are the numbers of TensorProto.DataType.
var onnxTypes = map[xnn.DType]uint64{xnn.Float32: 1, xnn.Float16: 10}

// onnx is the spec as an ONNX model with inputs a and b and output y.
func (s spec) onnx() []byte {
	var g []byte
	last := "a"
	for i := range s.adds {
		sum := fmt.Sprint("s", i)
		if i == s.adds-1 {
			sum = "y"
		}
		g = message(g, graphNode, onnxNode("Add", sum, last, "b"))
		last = sum
	}
	g = text(g, graphName, "chain")
	g = message(g, graphInput, onnxValue("a", s.dtype, s.a))
	g = message(g, graphInput, onnxValue("b", s.dtype, s.b))
	g = message(g, graphOutput, onnxValue("y", s.dtype, s.a))

	return onnxModel(g)
}

func onnxModel(g []byte) []byte {
	m := number(nil, modelIRVersion, irVersion)
	m = message(m, modelGraph, g)
	return message(m, modelOpset, number(nil, opsetVersion, opset)) // no domain: ONNX's own operators
}

func onnxNode(op, output string, inputs ...string) []byte {
	var node []byte
	for _, name := range inputs {
		node = text(node, nodeInput, name)
	}
	return text(text(node, nodeOutput, output), nodeOpType, op)
}

// onnxAttribute appends integers to a node's attributes, or a single one.
func onnxAttribute(node []byte, name string, kind uint64, values ...int) []byte {
	field := protowire.Number(attributeInt)
	if kind == typeInts {
		field = attributeInts
	}
	a := text(nil, attributeName, name)
	for _, n := range values {
		a = number(a, field, uint64(n))
	}
	return message(node, nodeAttribute, number(a, attributeType, kind))
}

func onnxConstant(name string, t *xnn.Tensor) []byte {
	var c []byte
	for _, n := range t.Shape() {
		c = number(c, constantDims, uint64(n))
	}
	c = number(c, constantType, onnxTypes[t.DType()])
	return message(text(c, constantName, name), constantRaw, t.Bytes())
}

func onnxValue(name string, dtype xnn.DType, shape xnn.Shape) []byte {
	var dims []byte
	for _, n := range shape {
		dims = message(dims, shapeDim, number(nil, dimValue, uint64(n)))
	}
	var tensor []byte
	tensor = number(tensor, tensorElemType, onnxTypes[dtype])
	tensor = message(tensor, tensorShape, dims)
	return message(text(nil, valueName, name), valueType, message(nil, typeTensor, tensor))
}

func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func text(b []byte, field protowire.Number, s string) []byte { return message(b, field, []byte(s)) }

func number(b []byte, field protowire.Number, n uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), n)
}
