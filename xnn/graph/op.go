package graph

import (
	"fmt"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Op is an operator with its parameters. Its operands belong to the Node that applies it.
type Op interface {
	// Kind is the operator's name, as in Add.
	Kind() string
	// Infer checks operands of these types against the operator and its parameters and gives the shapes of the outputs.
	// Errors are made with schema.Errorf; the caller adds the node.
	Infer(in []Type, out []DType) ([]Shape, error)
}

// operand is a value id as a node table of a file spells it.
type operand struct {
	field string
	id    uint32
}

// codec is an operator's wire form: how its table in the node union is read and written.
type codec struct {
	tag    xnngraph.XNodeUnion
	kind   string
	decode func(t flatbuffers.Table) (op Op, in, out []operand, err *schema.Error)
	encode func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT
}

var (
	codecByTag  = map[xnngraph.XNodeUnion]codec{}
	codecByKind = map[string]codec{}
)

// register adds an operator's wire form; each op_*.go calls it once at start-up.
func register(c codec) {
	codecByTag[c.tag] = c
	codecByKind[c.kind] = c
}

// arity reports operands that are too many or too few.
func arity(op Op, in []Type, out []DType, wantIn, wantOut int) *schema.Error {
	if len(in) != wantIn || len(out) != wantOut {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s takes %d inputs and %d outputs, found %d and %d",
			op.Kind(), wantIn, wantOut, len(in), len(out))
	}
	return nil
}

// noFlags rejects operator flags where none has a meaning.
func noFlags(kind string, flags uint32) *schema.Error {
	if flags != 0 {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s: flags %#x are not supported", kind, flags)
	}
	return nil
}

// describe words a node for a message: Add 0 fp32[3], 1 fp32[3] -> 2 fp32[3].
func (g *Graph) describe(n *Node) string {
	return fmt.Sprintf("%s %s -> %s", n.Op.Kind(), g.typeList(n.Inputs), g.typeList(n.Outputs))
}
