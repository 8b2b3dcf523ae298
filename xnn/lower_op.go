package xnn

import (
	"slices"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// lowering is how XNNPACK runs one operator.
type lowering struct {
	// api is what runs it in xnnpack.h: a function, and its enumerator where it has many.
	api string
	// define describes a node to XNNPACK.
	define func(d *definition) error
	// elementwise: the one result has the broadcast shape of the operands, and each element of it depends on theirs at its
	// place alone.
	elementwise bool
	// joins: XNNPACK makes it part of the node before it, where that is the only one to need its result.
	joins bool
	// packs are the places of operands that XNNPACK packs into a layout of its own where they are constants.
	packs []int
	// fixed is what XNNPACK does not follow where shapes change: with another answer a runtime is made anew. Nil: it follows.
	fixed func(d *definition) []int
	// tables is the bytes of the tables in which XNNPACK keeps where the pixels of each window are, in memory of its own and
	// anew for each shape. Nil: none.
	tables func(d *definition) int
	// work is the number of multiplications of a node; nil where it is about the number of elements. It decides about threads.
	work func(d *definition) int
}

// lowerings holds the operators XNNPACK can run, by kind; each op_*.go adds its own at start-up.
var lowerings = map[string]lowering{}

// packsOperand tells whether XNNPACK packs the operand in this place.
func (l lowering) packsOperand(at int) bool { return slices.Contains(l.packs, at) }

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
