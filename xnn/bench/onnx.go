package main

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/xnngo/xnngo/xnn"
)

// The ONNX messages and fields that a chain of Adds needs. Field numbers are those of onnx.proto (IR version 8).
const (
	modelIRVersion = 1
	modelGraph     = 7
	modelOpset     = 8

	opsetVersion = 2

	graphNode   = 1
	graphName   = 2
	graphInput  = 11
	graphOutput = 12

	nodeInput  = 1
	nodeOutput = 2
	nodeOpType = 4

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
		var node []byte
		node = text(node, nodeInput, last)
		node = text(node, nodeInput, "b")
		node = text(node, nodeOutput, sum)
		node = text(node, nodeOpType, "Add")
		g = message(g, graphNode, node)
		last = sum
	}
	g = text(g, graphName, "chain")
	g = message(g, graphInput, onnxValue("a", s.dtype, s.a))
	g = message(g, graphInput, onnxValue("b", s.dtype, s.b))
	g = message(g, graphOutput, onnxValue("y", s.dtype, s.a))

	var m []byte
	m = number(m, modelIRVersion, irVersion)
	m = message(m, modelGraph, g)
	return message(m, modelOpset, number(nil, opsetVersion, opset)) // no domain: ONNX's own operators
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
