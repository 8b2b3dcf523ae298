package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// FullyConnectedSparse is FullyConnected for a filter that is mostly zeros. Graphs can have it, but XNNPACK does not run it on
// the processors of this library: use FullyConnected.
type FullyConnectedSparse struct{ Range Range }

// Kind is FullyConnectedSparse.
func (FullyConnectedSparse) Kind() string { return "FullyConnectedSparse" }

func (o FullyConnectedSparse) limits() Range { return o.Range }

func (o FullyConnectedSparse) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o FullyConnectedSparse) infer(in, out []Value) ([]Shape, error) {
	return FullyConnected{}.infer(in, out)
}

// FullyConnectedSparse appends a node like FullyConnected of x, a constant filter and a constant bias, which may be None.
func (g *Graph) FullyConnectedSparse(x, filter, bias ID, opts ...Option) ID {
	return g.apply1(FullyConnectedSparse{}, withoutNone(x, filter, bias), opts)
}

func init() {
	register(operator{
		op:      FullyConnectedSparse{},
		inputs:  arity{2, 3},
		outputs: exactly(1),
		types: []Signature{
			{[]DType{Float32, Float32, Float32}, []DType{Float32}},
			{[]DType{Float16, Float32, Float32}, []DType{Float16}},
		},
		static: []int{1, 2},
		forms: []form{{
			tag:     xnngraph.XNodeUnionFullyConnectedSparse,
			dialect: dialectOurs,
			limits:  true,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				in, out, flags := decodeFullyConnected(t)
				return FullyConnectedSparse{}, in, out, onlyFlags("FullyConnectedSparse", flags, 0)
			},
			encode: func(b *flatbuffers.Builder, _ Op, in, out []uint32) flatbuffers.UOffsetT {
				return encodeFullyConnected(b, in, out, 0)
			},
		}},
	})
}
