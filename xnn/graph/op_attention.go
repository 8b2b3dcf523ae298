package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Attention is scaled dot-product attention: softmax((query*scale)·keyᵀ + mask)·value for each head. Operands are the query
// [..., heads, T, C], the key [..., heads, U, C], the value [..., heads, U, D], the scale [C] and the mask [T, U], which is
// added; the result is [..., heads, T, D]. Key and value may lack the dimension of the heads, which then share them.
type Attention struct {
	// Cap limits the logits to cap*tanh(logits/cap) before the mask is added. 0 does not.
	Cap float32
}

// Kind is Attention.
func (Attention) Kind() string { return "Attention" }

func (o Attention) infer(in, _ []Value) ([]Shape, error) {
	q, k, v, scale, mask := &in[0], &in[1], &in[2], &in[3], &in[4]
	if err := o.checkCap(q.DType); err != nil {
		return nil, err
	}
	rank := len(q.Shape)
	if rank < 3 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "the query is %v, [..., heads, tokens, channels] is needed",
			q.Shape).
			AtValue(q.Ref)
	}
	lead, t, c := q.Shape[:rank-2], q.Shape[rank-2], q.Shape[rank-1]
	if len(k.Shape) == rank-1 {
		lead = lead[:rank-3] // one key and value for all heads
	}
	// fit compares an operand with what the query makes it; -1 stands for any size.
	fit := func(name string, x *Value, want Shape) error {
		ok := len(x.Shape) == len(want)
		for i := 0; ok && i < len(want); i++ {
			ok = want[i] < 0 || x.Shape[i] == want[i]
		}
		if !ok {
			return schema.Errorf(schema.StageCheck, schema.ErrShape, "the %s is %v, the query %v needs %v", name, x.Shape, q.Shape, want).
				AtValue(x.Ref)
		}
		return nil
	}
	if err := fit("key", k, append(lead[:len(lead):len(lead)], -1, c)); err != nil {
		return nil, err
	}
	u := k.Shape[len(k.Shape)-2]
	if err := fit("value", v, append(lead[:len(lead):len(lead)], u, -1)); err != nil {
		return nil, err
	}
	if err := fit("scale", scale, Shape{c}); err != nil {
		return nil, err
	}
	if err := fit("mask", mask, Shape{t, u}); err != nil {
		return nil, err
	}
	for _, x := range []*Value{q, k, v} {
		if x.Shape.Elements() == 0 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%v has no elements to attend to", x.Shape).AtValue(x.Ref)
		}
	}
	if err := checkRowSum(k, u); err != nil {
		return nil, err
	}
	return []Shape{append(q.Shape[:rank-1:rank-1], v.Shape[len(v.Shape)-1])}, nil
}

// checkCap accepts a cap that is a normal number of the type and whose reciprocal, which XNNPACK multiplies with, is one of
// float32 or at least known to a few digits in half precision.
func (o Attention) checkCap(t DType) *schema.Error {
	least, most := float32(0x1p-126), float32(0x1p126)
	if t == Float16 {
		least, most = 0x1p-14, 65504
	}
	if o.Cap == 0 || o.Cap >= least && o.Cap <= most {
		return nil
	}
	return schema.Errorf(schema.StageCheck, schema.ErrGraph, "cap %g of %v logits is not in [%g, %g], nor 0 for none", o.Cap, t,
		least, most)
}

// Attention appends a node of scaled dot-product attention: softmax((q*scale)·kᵀ + mask)·v for each head, the logits limited to
// cap*tanh(logits/cap) unless cap is 0. Shapes: q [..., heads, T, C], k [..., heads, U, C], v [..., heads, U, D], scale [C], mask
// [T, U]; k and v may lack the heads, which then share them. A row that the mask fills with minus infinity gives NaN.
func (g *Graph) Attention(q, k, v, scale, mask ID, cap float32, opts ...Option) ID {
	return g.apply1(Attention{Cap: cap}, []ID{q, k, v, scale, mask}, opts)
}

func init() {
	all := func(t DType) Signature { return Signature{[]DType{t, t, t, t, t}, []DType{t}} }
	register(operator{
		op:      Attention{},
		inputs:  exactly(5),
		outputs: exactly(1),
		types:   []Signature{all(Float32), all(Float16)},
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNScaledDotProductAttention,
			dialect: dialectExecuTorch,
			fits:    func(op Op, _, _ []Value) bool { return op.(Attention).Cap == 0 },
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNScaledDotProductAttention
				n.Init(t.Bytes, t.Pos)
				return Attention{}, attentionOperands(n.QueryId(), n.KeyId(), n.ValueId(), n.ScaleId(), n.MaskId()),
					[]operand{{"output_id", n.OutputId()}}, onlyFlags("Attention", n.Flags(), 0)
			},
			encode: func(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
				xnngraph.XNNScaledDotProductAttentionStart(b)
				xnngraph.XNNScaledDotProductAttentionAddQueryId(b, in[0])
				xnngraph.XNNScaledDotProductAttentionAddKeyId(b, in[1])
				xnngraph.XNNScaledDotProductAttentionAddValueId(b, in[2])
				xnngraph.XNNScaledDotProductAttentionAddScaleId(b, in[3])
				xnngraph.XNNScaledDotProductAttentionAddMaskId(b, in[4])
				xnngraph.XNNScaledDotProductAttentionAddOutputId(b, out[0])
				return xnngraph.XNNScaledDotProductAttentionEnd(b)
			},
		}, {
			tag:     xnngraph.XNodeUnionAttention,
			dialect: dialectOurs,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.Attention
				n.Init(t.Bytes, t.Pos)
				return Attention{Cap: n.Cap()}, attentionOperands(n.QueryId(), n.KeyId(), n.ValueId(), n.ScaleId(), n.MaskId()),
					[]operand{{"output_id", n.OutputId()}}, nil
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				xnngraph.AttentionStart(b)
				xnngraph.AttentionAddCap(b, op.(Attention).Cap)
				xnngraph.AttentionAddQueryId(b, in[0])
				xnngraph.AttentionAddKeyId(b, in[1])
				xnngraph.AttentionAddValueId(b, in[2])
				xnngraph.AttentionAddScaleId(b, in[3])
				xnngraph.AttentionAddMaskId(b, in[4])
				xnngraph.AttentionAddOutputId(b, out[0])
				return xnngraph.AttentionEnd(b)
			},
		}},
	})
}

func attentionOperands(q, k, v, scale, mask uint32) []operand {
	return []operand{{"query_id", q}, {"key_id", k}, {"value_id", v}, {"scale_id", scale}, {"mask_id", mask}}
}
