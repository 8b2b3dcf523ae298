package graph

import (
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// EvenSplit cuts a tensor into equal parts, as many as the node has results.
type EvenSplit struct {
	// Axis is the dimension that is cut.
	Axis int
}

// Kind is EvenSplit.
func (EvenSplit) Kind() string { return "EvenSplit" }

func (o EvenSplit) infer(in, out []Value) ([]Shape, error) {
	x := &in[0]
	if err := checkAxis("EvenSplit", o.Axis, len(x.Shape)); err != nil {
		return nil, err
	}
	parts := len(out)
	if x.Shape[o.Axis]%parts != 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "EvenSplit: dimension %d of %v has no %d equal parts",
			o.Axis, x.Shape, parts).AtValue(x.Ref)
	}
	shapes := make([]Shape, parts)
	for i := range shapes {
		shapes[i] = slices.Clone(x.Shape)
		shapes[i][o.Axis] /= parts
	}
	return shapes, nil
}

// EvenSplit appends a node that cuts x into equal parts along an axis, from the end where it is negative, and returns them.
func (g *Graph) EvenSplit(x ID, axis, parts int) []ID {
	if parts < 1 || parts > maxExterns {
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "EvenSplit into %d parts, 1 to %d are supported",
			parts, maxExterns).AtNode(uint32(len(g.Nodes))))
		return make([]ID, min(max(parts, 0), maxExterns))
	}
	return g.apply(EvenSplit{Axis: fromEnd([]int{axis}, g.rank(x))[0]}, []ID{x}, parts, nil)
}

func init() {
	register(operator{
		op:        EvenSplit{},
		inputs:    exactly(1),
		outputs:   arity{1, math.MaxInt},
		types:     sameType(1, movedDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionEvenSplit,
			dialect: dialectOurs,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.EvenSplit
				n.Init(t.Bytes, t.Pos)
				return EvenSplit{Axis: int(n.Axis())}, []operand{{"input_id", n.InputId()}},
					operandList("output_ids", n.OutputIdsLength(), n.OutputIds), nil
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				ids := writeIDs(b, out)
				xnngraph.EvenSplitStart(b)
				xnngraph.EvenSplitAddAxis(b, uint32(op.(EvenSplit).Axis))
				xnngraph.EvenSplitAddInputId(b, in[0])
				xnngraph.EvenSplitAddOutputIds(b, ids)
				return xnngraph.EvenSplitEnd(b)
			},
		}},
	})
}
