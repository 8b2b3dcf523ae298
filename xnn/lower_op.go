package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// lowering is how XNNPACK runs one operator.
type lowering struct {
	// define describes a node to XNNPACK.
	define func(d *definition) error
	// elementwise: the one result has the broadcast shape of the operands, and each element of it depends on theirs at its
	// place alone.
	elementwise bool
	// work is the number of multiplications of a node; nil where it is about the number of elements. It decides about threads.
	work func(d *definition) int
}

// lowerings holds the operators XNNPACK can run, by kind; each op_*.go adds its own at start-up.
var lowerings = map[string]lowering{}

// definition is one node on its way to XNNPACK.
type definition struct {
	sub     *xnnpack.Subgraph
	op      graph.Op
	in, out []graph.Value // with the shapes of this plan
	// ins and outs are XNNPACK's ids of in and out.
	ins, outs []uint32
}

// internal adds a value that only this node's definition knows, for an operator that takes XNNPACK several nodes.
func (d *definition) internal(t graph.Type) (uint32, error) {
	return d.sub.Define(xnnpack.Tensor{Type: dataTypes[t.DType], Dims: t.Shape, Quant: quantOf(t)})
}
