package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Binary is an element-wise operator of two tensors, broadcast against each other.
type Binary struct {
	Func  BinaryFunc
	Range Range
}

// BinaryFunc is what a Binary computes of two elements a and b.
type BinaryFunc string

// The binary functions.
const (
	Add BinaryFunc = "Add" // a + b
)

// Kind is the function's name.
func (o Binary) Kind() string { return string(o.Func) }

func (o Binary) limits() Range { return o.Range }

func (o Binary) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o Binary) infer(in, _ []Value) ([]Shape, error) {
	shape, err := Broadcast(in[0].Shape, in[1].Shape)
	return []Shape{shape}, err
}

// Add appends a node that sums x and y, with broadcasting, and returns the sum.
func (g *Graph) Add(x, y ID, opts ...Option) ID { return g.apply1(Binary{Func: Add}, []ID{x, y}, opts) }

var binaries = []struct {
	op      BinaryFunc
	tag     xnngraph.XNodeUnion
	dialect dialect
	limits  bool
	types   []DType // of both operands and the result
}{
	{Add, xnngraph.XNodeUnionXNNAdd, dialectSeed, true, []DType{Float32, Float16, QInt8, QUInt8, Int32}},
}

func init() {
	for _, b := range binaries {
		var types []Signature
		for _, t := range b.types {
			types = append(types, Signature{[]DType{t, t}, []DType{t}})
		}
		register(operator{
			op:      Binary{Func: b.op},
			inputs:  exactly(2),
			outputs: exactly(1),
			types:   types,
			forms: []form{{
				tag:     b.tag,
				dialect: b.dialect,
				limits:  b.limits,
				decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
					var n xnngraph.XNNNode2x1
					n.Init(t.Bytes, t.Pos)
					return Binary{Func: b.op}, []operand{{"input1_id", n.Input1Id()}, {"input2_id", n.Input2Id()}},
						[]operand{{"output_id", n.OutputId()}}, onlyFlags(string(b.op), n.Flags(), 0)
				},
				encode: encodeNode2x1,
			}},
		})
	}
}

func encodeNode2x1(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
	xnngraph.XNNNode2x1Start(b)
	xnngraph.XNNNode2x1AddInput1Id(b, in[0])
	xnngraph.XNNNode2x1AddInput2Id(b, in[1])
	xnngraph.XNNNode2x1AddOutputId(b, out[0])
	return xnngraph.XNNNode2x1End(b)
}
