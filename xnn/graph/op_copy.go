package graph

import "github.com/xnngo/xnngo/schema/xnngraph"

// movedDTypes are the types that XNNPACK moves and adds up.
var movedDTypes = []DType{Float32, Float16, QInt8, QUInt8}

// Copy gives a tensor once more.
type Copy struct{}

// Kind is Copy.
func (Copy) Kind() string { return "Copy" }

func (Copy) infer(in, _ []Value) ([]Shape, error) { return []Shape{in[0].Shape}, nil }

// Copy appends a node that copies x.
func (g *Graph) Copy(x ID, opts ...Option) ID { return g.apply1(Copy{}, []ID{x}, opts) }

func init() {
	register(operator{
		op:        Copy{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, allDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNCopy,
			dialect: dialectExecuTorch,
			decode:  decode1x1(Copy{}),
			encode:  encode1x1,
		}},
	})
}
