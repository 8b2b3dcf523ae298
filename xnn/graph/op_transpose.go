package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Transpose puts the dimensions of a tensor into another order.
type Transpose struct {
	// Perm tells for each dimension of the result which of the operand's it is.
	Perm []int
}

// Kind is Transpose.
func (Transpose) Kind() string { return "Transpose" }

func (o Transpose) infer(in, _ []Value) ([]Shape, error) {
	x := in[0].Shape
	if err := checkLength("Transpose", "perm", o.Perm, x); err != nil {
		return nil, err
	}
	if err := checkAxes("Transpose", o.Perm, len(x)); err != nil {
		return nil, err
	}
	shape := make(Shape, len(x))
	for i, axis := range o.Perm {
		shape[i] = x[axis]
	}
	return []Shape{shape}, nil
}

// Transpose appends a node that puts the dimensions of x into another order: dimension i of the result is dimension perm[i] of x,
// from the end where it is negative.
func (g *Graph) Transpose(x ID, perm ...int) ID {
	return g.apply1(Transpose{Perm: fromEnd(perm, g.rank(x))}, []ID{x}, nil)
}

func init() {
	register(operator{
		op:        Transpose{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, movedDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNStaticTranspose,
			dialect: dialectExecuTorch,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNStaticTranspose
				n.Init(t.Bytes, t.Pos)
				perm, err := readList("Transpose", "perm", n.PermLength(), n.Perm, int64(n.NumDims()))
				if err == nil {
					err = onlyFlags("Transpose", n.Flags(), 0)
				}
				return Transpose{Perm: perm}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, err
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				perm := op.(Transpose).Perm
				list := writeList(b, perm)
				xnngraph.XNNStaticTransposeStart(b)
				xnngraph.XNNStaticTransposeAddNumDims(b, uint32(len(perm)))
				xnngraph.XNNStaticTransposeAddPerm(b, list)
				xnngraph.XNNStaticTransposeAddInputId(b, in[0])
				xnngraph.XNNStaticTransposeAddOutputId(b, out[0])
				return xnngraph.XNNStaticTransposeEnd(b)
			},
		}},
	})
}
