package tflite

import (
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	for code, f := range map[wire.BuiltinOperator]graph.ReduceFunc{
		wire.BuiltinOperatorMEAN: graph.ReduceMean,
		wire.BuiltinOperatorSUM:  graph.ReduceSum,
	} {
		handlers[code] = &handler{
			options: wire.BuiltinOptionsReducerOptions, fields: 1, in: arity{2, 2}, out: arity{1, 1},
			build: func(n *node) error {
				x := n.value(0)
				if n.err != nil {
					return n.err
				}
				axes, keep, err := n.reduction(n.rank(x))
				if err != nil {
					return err
				}
				if len(axes) == 0 {
					return n.same(x, wire.ActivationFunctionTypeNONE)
				}
				return n.emit(graph.Reduce{Func: f, Axes: axes, KeepDims: keep}, wire.ActivationFunctionTypeNONE, x)
			},
		}
	}
}

// reduction reads over which dimensions an operator goes, in ascending order, and whether the result keeps them.
func (n *node) reduction(rank int) (axes []int, keep bool, err error) {
	var o wire.ReducerOptions
	n.options(&o)
	list, err := n.ints(1, 2*graph.MaxRank)
	if err != nil {
		return nil, false, err
	}
	for _, axis := range list {
		if axis, err = n.axis(axis, rank); err != nil {
			return nil, false, err
		}
		if !slices.Contains(axes, axis) {
			axes = append(axes, axis)
		}
	}
	slices.Sort(axes)
	return axes, o.KeepDims(), nil
}
