package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// RotaryEmbedding rotates pairs of channels of each token by angles that depend on its place. Operands are a tensor [..., tokens,
// heads, channels] and the weights [MaxTokens, channels]; of a row of the weights the first half are the cosines and the second
// half the sines, and channel c of the first half pairs with channel c of the second:
//
//	y[c] = x[c]*cos[c] - x[c+channels/2]*sin[c]
//	y[c+channels/2] = x[c]*sin[c] + x[c+channels/2]*cos[c]
type RotaryEmbedding struct {
	// MaxTokens is how many tokens the weights are for.
	MaxTokens int
}

// Kind is RotaryEmbedding.
func (RotaryEmbedding) Kind() string { return "RotaryEmbedding" }

func (o RotaryEmbedding) infer(in, _ []Value) ([]Shape, error) {
	x, weights := &in[0], &in[1]
	rank := len(x.Shape)
	if rank < 3 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "the operand is %v, [..., tokens, heads, channels] is needed",
			x.Shape).
			AtValue(x.Ref)
	}
	tokens, heads, channels := x.Shape[rank-3], x.Shape[rank-2], x.Shape[rank-1]
	switch {
	case o.MaxTokens < 1 || uint64(o.MaxTokens) > math.MaxUint32:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "max_tokens is %d", o.MaxTokens)
	case tokens == 0 || heads == 0 || channels == 0:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%v has nothing to rotate", x.Shape).AtValue(x.Ref)
	case channels%2 != 0:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "%v has %d channels, an even number is needed", x.Shape,
			channels).
			AtValue(x.Ref)
	case tokens > o.MaxTokens:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "%v has %d tokens, max_tokens is %d", x.Shape, tokens,
			o.MaxTokens).
			AtValue(x.Ref)
	}
	if want := (Shape{o.MaxTokens, channels}); !weights.Shape.Equal(want) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "the weights are %v, %v with max_tokens %d needs %v",
			weights.Shape, x.Shape, o.MaxTokens, want).AtValue(weights.Ref)
	}
	return []Shape{x.Shape}, nil
}

// RotaryEmbedding appends a node that rotates the channels of x [..., tokens, heads, channels] by the weights [maxTokens,
// channels], cosines in the first half of a row and sines in the second.
func (g *Graph) RotaryEmbedding(x, weights ID, maxTokens int, opts ...Option) ID {
	return g.apply1(RotaryEmbedding{MaxTokens: maxTokens}, []ID{x, weights}, opts)
}

func init() {
	register(operator{
		op:      RotaryEmbedding{},
		inputs:  exactly(2),
		outputs: exactly(1),
		types:   []Signature{{[]DType{Float32, Float32}, []DType{Float32}}},
		forms: []form{{
			tag:     xnngraph.XNodeUnionRotaryEmbedding,
			dialect: dialectOurs,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.RotaryEmbedding
				n.Init(t.Bytes, t.Pos)
				return RotaryEmbedding{MaxTokens: int(n.MaxTokens())},
					[]operand{{"input_id", n.InputId()}, {"weights_id", n.WeightsId()}}, []operand{{"output_id", n.OutputId()}}, nil
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				xnngraph.RotaryEmbeddingStart(b)
				xnngraph.RotaryEmbeddingAddMaxTokens(b, uint32(op.(RotaryEmbedding).MaxTokens))
				xnngraph.RotaryEmbeddingAddInputId(b, in[0])
				xnngraph.RotaryEmbeddingAddWeightsId(b, in[1])
				xnngraph.RotaryEmbeddingAddOutputId(b, out[0])
				return xnngraph.RotaryEmbeddingEnd(b)
			},
		}},
	})
}
