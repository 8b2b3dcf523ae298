package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Softmax makes each row of a tensor, its last dimension, positive numbers that add up to one: exp(x) over the sum of the row's.
type Softmax struct{}

// Kind is Softmax.
func (Softmax) Kind() string { return "Softmax" }

func (Softmax) infer(in, _ []Value) ([]Shape, error) {
	x := &in[0]
	if len(x.Shape) == 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "a scalar has no rows").AtValue(x.Ref)
	}
	if err := checkRowSum(x, x.Shape[len(x.Shape)-1]); err != nil {
		return nil, err
	}
	return []Shape{x.Shape}, nil
}

// checkRowSum refuses rows without elements, and those so long that the sum of their exponentials may not fit its type.
func checkRowSum(x *Value, n int) *schema.Error {
	const mostHalf = 65504
	if n == 0 || x.DType == Float16 && n > mostHalf {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "rows of %d elements cannot be summed up in %v", n, x.DType).
			AtValue(x.Ref)
	}
	return nil
}

// Softmax appends a node that takes the softmax of each row of x, its last dimension. A row of minus infinities gives NaN.
func (g *Graph) Softmax(x ID, opts ...Option) ID { return g.apply1(Softmax{}, []ID{x}, opts) }

func init() {
	register(operator{
		op:      Softmax{},
		inputs:  exactly(1),
		outputs: exactly(1),
		types:   []Signature{{[]DType{Float32}, []DType{Float32}}, {[]DType{Float16}, []DType{Float16}}},
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNSoftmax,
			dialect: dialectExecuTorch,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNNode1x1
				n.Init(t.Bytes, t.Pos)
				return Softmax{}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}},
					onlyFlags("Softmax", n.Flags(), 0)
			},
			encode: func(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
				xnngraph.XNNNode1x1Start(b)
				xnngraph.XNNNode1x1AddInputId(b, in[0])
				xnngraph.XNNNode1x1AddOutputId(b, out[0])
				return xnngraph.XNNNode1x1End(b)
			},
		}},
	})
}
