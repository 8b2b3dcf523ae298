package tflite

import (
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorSOFTMAX] = &handler{
		options: wire.BuiltinOptionsSoftmaxOptions, fields: 1, in: arity{1, 1}, out: arity{1, 1},
		build: func(n *node) error {
			var o wire.SoftmaxOptions
			n.options(&o)
			return n.softmax(o.Beta())
		},
	}
	// Only as a part of a softmax that is spelled out.
	handlers[wire.BuiltinOperatorREDUCE_MAX] = &handler{options: wire.BuiltinOptionsReducerOptions, fields: 1, in: arity{2, 2},
		out: arity{1, 1}}
}

// spelledSoftmax is what a softmax that is spelled out becomes.
var spelledSoftmax = &handler{
	options: wire.BuiltinOptionsDivOptions, fields: 2, in: arity{1, 1}, out: arity{1, 1},
	build: func(n *node) error { return n.softmax(1) },
}

// softmax appends a softmax of beta times the operand.
func (n *node) softmax(beta float32) error {
	x, t := n.real(n.value(0))
	if beta != 1 {
		x = n.step(graph.Binary{Func: graph.Multiply}, t, x, n.number(beta))
	}
	return n.emitReal(graph.Softmax{}, x)
}

// recognise finds softmaxes that exporters spell out, exp(x) / sum(exp(x)) or exp(x - max(x)) / sum(exp(x - max(x))), over the
// last dimension, and puts one operator in their place. Besides being faster, that knows no overflow, and XNNPACK has no maximum
// of a row.
func (im *importer) recognise() error {
	for i := range im.nodes {
		n := &im.nodes[i]
		if n.code != wire.BuiltinOperatorDIV || n.check() != nil || n.activation(2) != wire.ActivationFunctionTypeNONE {
			continue
		}
		exp, sum := im.maker(n.in[0], wire.BuiltinOperatorEXP), im.maker(n.in[1], wire.BuiltinOperatorSUM)
		if exp == nil || sum == nil || sum.in[0] != n.in[0] || !sum.overRows() || !im.isReal(exp.in[0]) {
			continue
		}
		x := exp.in[0]
		if less := im.maker(x, wire.BuiltinOperatorSUB); less != nil && less.activation(2) == wire.ActivationFunctionTypeNONE {
			if most := im.maker(less.in[1], wire.BuiltinOperatorREDUCE_MAX); most != nil && most.in[0] == less.in[0] && most.overRows() {
				x = less.in[0]
			}
		}
		n.handler, n.in = spelledSoftmax, []int{x}
	}
	return nil
}

// maker is the operator with this code that writes a tensor, with as many operands as it takes; nil if another does.
func (im *importer) maker(t int, code wire.BuiltinOperator) *node {
	at, ok := im.written[t]
	if !ok || im.nodes[at].code != code {
		return nil
	}
	n := &im.nodes[at]
	if len(n.in) < n.handler.in.least || len(n.in) > n.handler.in.most || slices.Contains(n.in, -1) || n.check() != nil {
		return nil
	}
	return n
}

// isReal tells a tensor of FLOAT32 with dimensions.
func (im *importer) isReal(at int) bool {
	if at < 0 {
		return false
	}
	t, err := im.tensor(at)
	return err == nil && t.typ == wire.TensorTypeFLOAT32 && len(t.shape) > 0
}

// overRows tells whether a reduction goes over the last dimension alone, which the result keeps.
func (n *node) overRows() bool {
	t, err := n.operand(0)
	if err != nil || len(t.shape) == 0 {
		return false
	}
	axes, keep, err := n.reduction(len(t.shape))
	return err == nil && keep && len(axes) == 1 && axes[0] == len(t.shape)-1
}
