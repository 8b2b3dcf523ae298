package tflite

import (
	"math"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// typeOf is the type of a value.
func (n *node) typeOf(id graph.ID) graph.Type {
	if uint64(id) >= uint64(len(n.im.g.Values)) {
		return graph.Type{} // there is an error already
	}
	return n.im.g.Values[id].Type
}

// step appends a node whose result no tensor of the file is. The type's shape is not looked at.
func (n *node) step(op graph.Op, t graph.Type, in ...graph.ID) graph.ID {
	ids := n.apply(op, 1, t, in)
	if n.err != nil {
		return graph.None
	}
	n.im.label(ids[0], "")
	return ids[0]
}

// apply appends a node whose first result has this type.
func (n *node) apply(op graph.Op, results int, t graph.Type, in []graph.ID, opts ...graph.Option) (ids []graph.ID) {
	if n.err != nil {
		return make([]graph.ID, results)
	}
	g := n.im.g
	if t.Quant != nil {
		opts = append(opts, graph.Quantized(t.DType, t.Quant.Scale, t.Quant.ZeroPoint))
	} else {
		opts = append(opts, graph.As(t.DType))
	}
	if t.DType == graph.QDInt8 {
		opts = append(opts, graph.Dynamic(t.Quant.Inner))
	}
	n.keep(n.im.build(n, n.out[0], func() { ids = g.Apply(op, in, results, opts...) }))
	if n.err == nil {
		g.Nodes[len(g.Nodes)-1].Ref = uint32(n.index)
	}
	return ids
}

// emit appends the node that the operator is, with the activation fused into it.
func (n *node) emit(op graph.Op, activation wire.ActivationFunctionType, in ...graph.ID) error {
	t, err := n.result(0)
	if err != nil {
		return err
	}
	typ, err := t.graphType()
	if err != nil {
		return n.atNode(err)
	}
	limits, after, e := activated(activation)
	if e != nil {
		return n.at(e)
	}
	last := len(in) - 1
	if in[last] == graph.None {
		in = in[:last]
	}
	var opts []graph.Option
	if limits != (graph.Range{}) {
		if limitsItself(op) {
			opts = append(opts, graph.Limits(limits.Min, limits.Max))
		} else {
			after = graph.Unary{Func: graph.Clamp, Range: limits}
		}
	}
	if after != nil {
		in, opts = []graph.ID{n.step(op, typ, in...)}, nil
		op = after
	}
	ids := n.apply(op, 1, typ, in, opts...)
	return n.set(0, ids[0])
}

// set says which value result i is.
func (n *node) set(i int, id graph.ID) error {
	if n.err != nil {
		return n.err
	}
	t, err := n.result(i)
	if err != nil {
		return err
	}
	if err := n.agrees(t, id); err != nil {
		return err
	}
	if t.has {
		return n.invalid("writes it twice").AtValue(t.ref())
	}
	n.im.define(t, id)
	return nil
}

// alias says that the result is the same as a value there is.
func (n *node) alias(id graph.ID) error {
	if n.err != nil {
		return n.err
	}
	t, err := n.result(0)
	if err != nil {
		return err
	}
	t.id, t.has = id, true
	return n.agrees(t, id)
}

// agrees holds what the file says of a tensor against the value that it is. Where the file leaves a size of an input open, sizes
// that follow from it are only guesses.
func (n *node) agrees(t *tensor, id graph.ID) error {
	want, err := t.graphType()
	if err != nil {
		return n.atNode(err)
	}
	got := n.typeOf(id)
	if got.DType != want.DType || !got.Quant.Equal(want.Quant) {
		return n.unsupported("the result is declared %v, computed %v", want, got).AtValue(t.ref())
	}
	if !t.known || n.im.flexible {
		return nil
	}
	same := len(got.Shape) == len(t.shape)
	for i := range got.Shape {
		same = same && (got.Shape[i] == t.shape[i] || t.loose != nil && t.loose[i])
	}
	if !same {
		return n.at(errorf(schema.ErrShape, "the result is declared %v, computed %v", t.shape, got.Shape)).AtValue(t.ref())
	}
	return nil
}

// limitsItself tells operators that can limit their result.
func limitsItself(op graph.Op) bool {
	switch op.(type) {
	case graph.Binary, graph.Conv2D, graph.DepthwiseConv2D, graph.ConvTranspose2D, graph.Pool2D, graph.FullyConnected, graph.Reduce:
		return true
	}
	return false
}

// activated is what an activation does to results: limits them, or something else.
func activated(a wire.ActivationFunctionType) (limits graph.Range, after graph.Op, err *schema.Error) {
	switch a {
	case wire.ActivationFunctionTypeNONE:
	case wire.ActivationFunctionTypeRELU:
		limits = graph.Range{Min: 0, Max: float32(math.Inf(1))}
	case wire.ActivationFunctionTypeRELU_N1_TO_1:
		limits = graph.Range{Min: -1, Max: 1}
	case wire.ActivationFunctionTypeRELU6:
		limits = graph.Range{Min: 0, Max: 6}
	case wire.ActivationFunctionTypeTANH:
		after = graph.Unary{Func: graph.Tanh}
	default:
		err = unsupported("fused_activation_function %v", a)
	}
	return limits, after, err
}
