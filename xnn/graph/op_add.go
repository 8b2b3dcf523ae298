package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Add is the element-wise sum of two tensors of one floating-point type, broadcast against each other.
type Add struct{}

// Kind is Add.
func (Add) Kind() string { return "Add" }

// Infer gives the broadcast shape.
func (a Add) Infer(in []Type, out []DType) ([]Shape, error) {
	if err := arity(a, in, out, 2, 1); err != nil {
		return nil, err
	}
	if in[0].DType != in[1].DType || in[0].DType != out[0] {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "operands differ in dtype: %v, %v -> %v",
			in[0].DType, in[1].DType, out[0])
	}
	shape, err := Broadcast(in[0].Shape, in[1].Shape)
	return []Shape{shape}, err
}

// Add appends a node that sums x and y, with broadcasting, and returns the sum.
func (g *Graph) Add(x, y ID) ID { return g.apply1(Add{}, x, y) }

func init() {
	register(codec{
		tag:  xnngraph.XNodeUnionXNNAdd,
		kind: Add{}.Kind(),
		decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
			var n xnngraph.XNNAdd
			n.Init(t.Bytes, t.Pos)
			return Add{}, []operand{{"input1_id", n.Input1Id()}, {"input2_id", n.Input2Id()}},
				[]operand{{"output_id", n.OutputId()}}, noFlags("Add", n.Flags())
		},
		encode: func(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
			xnngraph.XNNAddStart(b)
			xnngraph.XNNAddAddInput1Id(b, in[0])
			xnngraph.XNNAddAddInput2Id(b, in[1])
			xnngraph.XNNAddAddOutputId(b, out[0])
			return xnngraph.XNNAddEnd(b)
		},
	})
}
