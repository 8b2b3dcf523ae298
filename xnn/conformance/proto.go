package conformance

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of onnx.proto, as far as the cases need them. Field numbers are those of ONNX 1.12.

// model is a ModelProto.
type model struct {
	opset int // of ONNX's own operators
	graph onnxGraph
}

// onnxGraph is a GraphProto.
type onnxGraph struct {
	nodes        []onnxNode
	initializers []*tensor
	inputs       []valueInfo
	outputs      []valueInfo
}

// valueInfo is a ValueInfoProto.
type valueInfo struct {
	name string
	elem elem // 0 where it is no tensor but a sequence, a map or an optional
}

// onnxNode is a NodeProto.
type onnxNode struct {
	op, domain string
	inputs     []string // "" for an optional one that is not there
	outputs    []string
	attributes map[string]attribute
}

// attribute is an AttributeProto: the value is in the field of its type.
type attribute struct {
	name string
	kind uint64
	f    float32
	i    int
	s    string
	t    *tensor
	fs   []float32
	is   []int
}

// field is one field of a message.
type field struct {
	number protowire.Number
	wire   protowire.Type
	bytes  []byte // of a BytesType
	bits   uint64 // of the others
}

// fields calls each with the fields of a message in turn.
func fields(message []byte, each func(f field) error) error {
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeTag(message)
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		f := field{number: number, wire: wire}
		switch wire {
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(message)
		case protowire.VarintType:
			f.bits, n = protowire.ConsumeVarint(message)
		case protowire.Fixed32Type:
			var bits uint32
			bits, n = protowire.ConsumeFixed32(message)
			f.bits = uint64(bits)
		case protowire.Fixed64Type:
			f.bits, n = protowire.ConsumeFixed64(message)
		default:
			return fmt.Errorf("field %d has wire type %d", number, wire)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		message = message[n:]
		if err := each(f); err != nil {
			return err
		}
	}
	return nil
}

// ints are the elements of a repeated integer field, packed or one of many.
func (f field) ints() []int {
	if f.wire != protowire.BytesType {
		return []int{int(int64(f.bits))}
	}
	var list []int
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return nil
		}
		list, b = append(list, int(int64(v))), b[n:]
	}
	return list
}

// floats are the elements of a repeated float field, packed or one of many.
func (f field) floats() []float32 {
	if f.wire != protowire.BytesType {
		return []float32{math.Float32frombits(uint32(f.bits))}
	}
	var list []float32
	for b := f.bytes; len(b) > 0; {
		v, n := protowire.ConsumeFixed32(b)
		if n < 0 {
			return nil
		}
		list, b = append(list, math.Float32frombits(v)), b[n:]
	}
	return list
}

func parseModel(b []byte) (m model, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 7:
			var err error
			m.graph, err = parseGraph(f.bytes)
			return err
		case 8:
			domain, version := "", 0
			err := fields(f.bytes, func(f field) error {
				switch f.number {
				case 1:
					domain = string(f.bytes)
				case 2:
					version = int(f.bits)
				}
				return nil
			})
			if domain == "" || domain == "ai.onnx" {
				m.opset = version
			}
			return err
		}
		return nil
	})
	return m, err
}

func parseGraph(b []byte) (g onnxGraph, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			n, err := parseNode(f.bytes)
			g.nodes = append(g.nodes, n)
			return err
		case 5:
			t, err := parseTensor(f.bytes)
			g.initializers = append(g.initializers, t)
			return err
		case 11, 12:
			v, err := parseValueInfo(f.bytes)
			if f.number == 11 {
				g.inputs = append(g.inputs, v)
			} else {
				g.outputs = append(g.outputs, v)
			}
			return err
		case 15:
			return fmt.Errorf("a sparse initializer")
		}
		return nil
	})
	return g, err
}

func parseValueInfo(b []byte) (v valueInfo, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			v.name = string(f.bytes)
		case 2:
			return parseType(f.bytes, &v)
		}
		return nil
	})
	return v, err
}

// parseType reads the element type of a TypeProto that is a tensor's.
func parseType(b []byte, v *valueInfo) error {
	return fields(b, func(f field) error {
		if f.number != 1 {
			return nil
		}
		return fields(f.bytes, func(f field) error {
			if f.number == 1 {
				v.elem = elem(f.bits)
			}
			return nil
		})
	})
}

func parseNode(b []byte) (n onnxNode, err error) {
	n.attributes = map[string]attribute{}
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			n.inputs = append(n.inputs, string(f.bytes))
		case 2:
			n.outputs = append(n.outputs, string(f.bytes))
		case 4:
			n.op = string(f.bytes)
		case 5:
			a, err := parseAttribute(f.bytes)
			n.attributes[a.name] = a
			return err
		case 7:
			n.domain = string(f.bytes)
		}
		return nil
	})
	return n, err
}

func parseAttribute(b []byte) (a attribute, err error) {
	err = fields(b, func(f field) error {
		switch f.number {
		case 1:
			a.name = string(f.bytes)
		case 2:
			a.f = math.Float32frombits(uint32(f.bits))
		case 3:
			a.i = int(int64(f.bits))
		case 4:
			a.s = string(f.bytes)
		case 5:
			var err error
			a.t, err = parseTensor(f.bytes)
			return err
		case 7:
			a.fs = append(a.fs, f.floats()...)
		case 8:
			a.is = append(a.is, f.ints()...)
		case 20:
			a.kind = f.bits
		}
		return nil
	})
	return a, err
}
