package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

func (r *reader) nodes() error {
	for i := range r.file.XnodesLength() {
		var x xnngraph.XNode
		r.file.Xnodes(&x, i)
		node, err := r.node(&x)
		if err != nil {
			return err.AtNode(uint32(i))
		}
		node.Ref = uint32(i)
		r.g.Nodes = append(r.g.Nodes, node)
	}
	return nil
}

func (r *reader) node(x *xnngraph.XNode) (Node, *schema.Error) {
	var t flatbuffers.Table
	f, ok := forms[x.XnodeType()]
	if !ok || f.dialect > r.dialect || !x.Xnode(&t) {
		return Node{}, schema.Errorf(schema.StageCheck, schema.ErrFormat, "operator tag %v is not one of the %v dialect",
			x.XnodeType(), r.dialect)
	}
	op, in, out, err := f.decode(t)
	if err != nil {
		return Node{}, err
	}
	if r.operandBudget -= len(in) + len(out); r.operandBudget < 0 {
		return Node{}, r.errorf("the nodes have more operands than the file can hold")
	}
	node := Node{DebugHandle: x.DebugHandle()}
	if node.Op, err = r.limit(op, f, x); err != nil {
		return Node{}, err
	}
	if node.Inputs, err = r.operands(in, r.dynamic); err != nil {
		return Node{}, err
	}
	node.Outputs, err = r.operands(out, nil)
	return node, err
}

// limit gives an operator the limits of its results.
func (r *reader) limit(op Op, f form, x *xnngraph.XNode) (Op, *schema.Error) {
	if r.dialect == dialectSeed {
		return op, nil
	}
	m := x.OutputMinMax(nil)
	if m == nil {
		return op, nil
	}
	limits := Range{m.OutputMin(), m.OutputMax()}
	if lo, hi := limits.Min, limits.Max; math.IsInf(float64(lo), -1) && math.IsInf(float64(hi), 1) {
		return op, nil
	}
	o, ok := op.(ranged)
	if !ok || !f.limits && r.dialect != dialectOurs {
		return nil, r.errorf("%s does not limit its results, output_min_max is [%g, %g]", op.Kind(), limits.Min, limits.Max)
	}
	if limits == (Range{}) { // an empty interval, but also how an operator without limits looks
		return nil, r.errorf("output_min_max is [0, 0]")
	}
	return o.withLimits(limits), nil
}

// operands maps a node's ids to values, those in instead to what is there.
func (r *reader) operands(ops []operand, instead map[uint32]ID) ([]ID, *schema.Error) {
	ids := make([]ID, len(ops))
	for i, o := range ops {
		id, ok := instead[o.id]
		if !ok {
			id, ok = r.ids[o.id]
		}
		if !ok {
			return nil, r.errorf("%s %d is not defined", o.field, o.id)
		}
		ids[i] = id
	}
	return ids, nil
}
