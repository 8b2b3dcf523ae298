package graph

import (
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Concat puts two or more tensors one behind the other. Quantised ones may have other scales than the result.
type Concat struct {
	// Axis is the dimension along which; the others are the same for all.
	Axis int
}

// Kind is Concat.
func (Concat) Kind() string { return "Concat" }

func (o Concat) infer(in, out []Value) ([]Shape, error) {
	first := in[0].Shape
	if err := checkAxis("Concat", o.Axis, len(first)); err != nil {
		return nil, err
	}
	if err := checkScales(in, out); err != nil {
		return nil, err
	}
	shape := slices.Clone(first)
	for i, v := range in[1:] {
		like := slices.Clone(v.Shape)
		if len(like) == len(first) {
			like[o.Axis] = first[o.Axis]
		}
		if !like.Equal(first) {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape,
				"Concat: operand %d is %v, which does not continue %v along axis %d", i+1, v.Shape, first, o.Axis).AtValue(v.Ref)
		}
		shape[o.Axis] += v.Shape[o.Axis]
	}
	return []Shape{shape}, nil
}

// Concat appends a node that puts xs, two or more, one behind the other along an axis, from the end where it is negative.
// Quantised ones are brought to the scale of the first.
func (g *Graph) Concat(axis int, xs ...ID) ID {
	rank := 0
	if len(xs) > 0 {
		rank = g.rank(xs[0])
	}
	return g.apply1(Concat{Axis: fromEnd([]int{axis}, rank)[0]}, xs, nil)
}

// concatTable is ExecuTorch's table for one number of operands.
func concatTable(tag xnngraph.XNodeUnion, operands int) form {
	return form{
		tag:     tag,
		dialect: dialectExecuTorch,
		fits:    func(_ Op, in, _ []Value) bool { return len(in) == operands },
		decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
			var n xnngraph.XNNCat
			n.Init(t.Bytes, t.Pos)
			in := []operand{{"input1_id", n.Input1Id()}, {"input2_id", n.Input2Id()}, {"input3_id", n.Input3Id()},
				{"input4_id", n.Input4Id()}, {"input5_id", n.Input5Id()}}
			return Concat{Axis: int(n.Axis())}, in[:operands], []operand{{"output_id", n.OutputId()}}, onlyFlags("Concat", n.Flags(), 0)
		},
		encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
			add := []func(*flatbuffers.Builder, uint32){xnngraph.XNNCatAddInput1Id, xnngraph.XNNCatAddInput2Id,
				xnngraph.XNNCatAddInput3Id, xnngraph.XNNCatAddInput4Id, xnngraph.XNNCatAddInput5Id}
			xnngraph.XNNCatStart(b)
			xnngraph.XNNCatAddAxis(b, uint32(op.(Concat).Axis))
			for i, id := range in {
				add[i](b, id)
			}
			xnngraph.XNNCatAddOutputId(b, out[0])
			return xnngraph.XNNCatEnd(b)
		},
	}
}

func init() {
	register(operator{
		op:      Concat{},
		inputs:  arity{2, math.MaxInt},
		outputs: exactly(1),
		types:   sameType(1, movedDTypes),
		forms: []form{
			concatTable(xnngraph.XNodeUnionXNNConcatenate2, 2),
			concatTable(xnngraph.XNodeUnionXNNConcatenate3, 3),
			concatTable(xnngraph.XNodeUnionXNNConcatenate4, 4),
			concatTable(xnngraph.XNodeUnionXNNConcatenate5, 5),
			{
				tag:     xnngraph.XNodeUnionConcatenate,
				dialect: dialectOurs,
				decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
					var n xnngraph.Concatenate
					n.Init(t.Bytes, t.Pos)
					return Concat{Axis: int(n.Axis())}, operandList("input_ids", n.InputIdsLength(), n.InputIds),
						[]operand{{"output_id", n.OutputId()}}, nil
				},
				encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
					ids := writeIDs(b, in)
					xnngraph.ConcatenateStart(b)
					xnngraph.ConcatenateAddAxis(b, uint32(op.(Concat).Axis))
					xnngraph.ConcatenateAddInputIds(b, ids)
					xnngraph.ConcatenateAddOutputId(b, out[0])
					return xnngraph.ConcatenateEnd(b)
				},
			},
		},
	})
}
