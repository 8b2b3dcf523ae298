package tflite

import (
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorSPLIT] = &handler{
		options: wire.BuiltinOptionsSplitOptions, fields: 1, in: arity{2, 2}, out: arity{1, many}, build: buildSplit,
	}
	handlers[wire.BuiltinOperatorSPLIT_V] = &handler{
		options: wire.BuiltinOptionsSplitVOptions, fields: 1, in: arity{3, 3}, out: arity{1, many}, build: buildSplitV,
	}
	handlers[wire.BuiltinOperatorUNPACK] = &handler{
		options: wire.BuiltinOptionsUnpackOptions, fields: 2, in: arity{1, 1}, out: arity{1, many}, build: buildUnpack,
	}
}

func buildSplit(n *node) error {
	axis, err := n.ints(0, 1)
	if err != nil {
		return err
	}
	x := n.value(1)
	return n.split(x, axis, func() error {
		var o wire.SplitOptions
		n.options(&o)
		if int(o.NumSplits()) != len(n.out) {
			return n.invalid("num_splits is %d, there are %d results", o.NumSplits(), len(n.out))
		}
		return nil
	}, nil)
}

// split cuts x into equal parts along an axis, each of which becomes a result, itself or made by a node of its own.
func (n *node) split(x graph.ID, axis []int, check func() error, of func() graph.Op) error {
	if n.err != nil {
		return n.err
	}
	if len(axis) != 1 {
		return n.invalid("%d axes, one is needed", len(axis))
	}
	at, err := n.axis(axis[0], n.rank(x))
	if err != nil {
		return err
	}
	if err := check(); err != nil {
		return err
	}
	parts := n.apply(graph.EvenSplit{Axis: at}, len(n.out), n.typeOf(x), []graph.ID{x})
	if n.err != nil {
		return n.err
	}
	for i, part := range parts {
		if of == nil {
			n.im.label(part, "")
		} else {
			part = n.step(of(), n.typeOf(x), part)
		}
		if err := n.set(i, part); err != nil {
			return err
		}
	}
	return nil
}

func buildSplitV(n *node) error {
	x := n.value(0)
	size, err := n.ints(1, many)
	if err != nil {
		return err
	}
	list, err := n.ints(2, 1)
	if err != nil {
		return err
	}
	if n.err != nil {
		return n.err
	}
	if len(list) != 1 || len(size) != len(n.out) {
		return n.invalid("%d sizes and %d axes for %d results", len(size), len(list), len(n.out))
	}
	shape := n.typeOf(x).Shape
	axis, err := n.axis(list[0], len(shape))
	if err != nil {
		return err
	}
	if size, err = n.parts(size, shape[axis]); err != nil {
		return err
	}
	at := 0
	for i, s := range size {
		op := graph.Slice{Offsets: make([]int, len(shape)), Sizes: make([]int, len(shape))}
		op.Offsets[axis], op.Sizes[axis] = at, s
		at += s
		if err := n.set(i, n.step(op, n.typeOf(x), x)); err != nil {
			return err
		}
	}
	return nil
}

// parts puts what is left in the place of -1, of sizes that make up a whole.
func (n *node) parts(size []int, whole int) ([]int, error) {
	sum, rest := 0, -1
	for i, s := range size {
		switch {
		case s == -1 && rest < 0:
			rest = i
		case s < 1:
			return nil, n.unsupported("part %d has the size %d", i, s)
		default:
			sum += s
		}
	}
	if rest >= 0 && sum < whole {
		size = slices.Clone(size)
		size[rest], sum = whole-sum, whole
	}
	if sum != whole || slices.Contains(size, -1) {
		return nil, n.invalid("parts of %v do not make %d", size, whole)
	}
	return size, nil
}

func buildUnpack(n *node) error {
	var o wire.UnpackOptions
	n.options(&o)
	x := n.value(0)
	if n.err != nil {
		return n.err
	}
	axis, err := n.axis(int(o.Axis()), n.rank(x))
	if err != nil {
		return err
	}
	size, err := n.sizesOf(0)
	if err != nil {
		return err
	}
	if len(n.out) != int(o.Num()) || size.shape[axis] != len(n.out) {
		return n.invalid("num is %d, there are %d results of axis %d of %v", o.Num(), len(n.out), axis, size.shape)
	}
	part := sizes{shape: slices.Delete(slices.Clone(size.shape), axis, axis+1),
		loose: slices.Delete(slices.Clone(size.loose), axis, axis+1)}
	if len(n.out) == 1 {
		return n.emit(part.reshape(), wire.ActivationFunctionTypeNONE, x)
	}
	return n.split(x, []int{axis}, func() error { return nil }, part.reshape)
}
