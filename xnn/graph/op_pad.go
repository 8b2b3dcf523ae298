package graph

import (
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Pad puts elements of one value around a tensor.
type Pad struct {
	// Pre and Post are how many along each dimension, before and after the tensor's own.
	Pre, Post []int
	// Value is a real number, also where the tensor is quantised; there it is rounded to the tensor's scale.
	Value float32
}

// Kind is Pad.
func (Pad) Kind() string { return "Pad" }

func (o Pad) scalar() float32 { return o.Value }

func (o Pad) infer(in, _ []Value) ([]Shape, error) {
	x := &in[0]
	if err := checkLength("Pad", "pre_paddings", o.Pre, x.Shape); err != nil {
		return nil, err
	}
	if err := checkLength("Pad", "post_paddings", o.Post, x.Shape); err != nil {
		return nil, err
	}
	if x.Quant != nil && o.Value != o.Value {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "Pad: padding_value is NaN, which %v has not", x.DType)
	}
	shape := make(Shape, len(x.Shape))
	for i, d := range x.Shape {
		pre, post := o.Pre[i], o.Post[i]
		if pre < 0 || post < 0 || pre > math.MaxUint32 || post > math.MaxUint32 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph,
				"Pad: dimension %d gets %d elements before and %d after, not in [0, 2^32)", i, pre, post)
		}
		shape[i] = pre + d + post
	}
	if err := (Type{DType: x.DType, Shape: shape}).check(); err != nil {
		return nil, err
	}
	if x.Shape.Elements() == 0 && shape.Elements() != 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "Pad: %v has no elements to put others around", x.Shape).
			AtValue(x.Ref)
	}
	return []Shape{shape}, nil
}

// Pad appends a node that puts elements of this value around x, pre[i] before and post[i] after its own along dimension i. The
// value is a real number, also where x is quantised.
func (g *Graph) Pad(x ID, pre, post []int, value float32, opts ...Option) ID {
	return g.apply1(Pad{Pre: slices.Clone(pre), Post: slices.Clone(post), Value: value}, []ID{x}, opts)
}

func init() {
	register(operator{
		op:        Pad{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, movedDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNStaticConstantPad,
			dialect: dialectExecuTorch,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNStaticConstantPad
				n.Init(t.Bytes, t.Pos)
				pre, err := readList("Pad", "pre_paddings", n.PrePaddingsLength(), n.PrePaddings, noCount)
				var post []int
				if err == nil {
					post, err = readList("Pad", "post_paddings", n.PostPaddingsLength(), n.PostPaddings, noCount)
				}
				if err == nil {
					err = onlyFlags("Pad", n.Flags(), 0)
				}
				return Pad{pre, post, n.PaddingValue()}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, err
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				o := op.(Pad)
				pre, post := writeList(b, o.Pre), writeList(b, o.Post)
				xnngraph.XNNStaticConstantPadStart(b)
				xnngraph.XNNStaticConstantPadAddPrePaddings(b, pre)
				xnngraph.XNNStaticConstantPadAddPostPaddings(b, post)
				xnngraph.XNNStaticConstantPadAddPaddingValue(b, o.Value)
				xnngraph.XNNStaticConstantPadAddInputId(b, in[0])
				xnngraph.XNNStaticConstantPadAddOutputId(b, out[0])
				return xnngraph.XNNStaticConstantPadEnd(b)
			},
		}},
	})
}
