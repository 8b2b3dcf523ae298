package tflite

import (
	"math"
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorTRANSPOSE] = &handler{
		options: wire.BuiltinOptionsTransposeOptions, in: arity{2, 2}, out: arity{1, 1}, build: buildTranspose,
		fold: func(n *node, in []*constant) ([]*constant, error) {
			perm, err := n.perm(len(in[0].shape))
			if err != nil {
				return nil, err
			}
			return one(n.im.permuted(in[0], perm))
		},
	}
	handlers[wire.BuiltinOperatorCONCATENATION] = &handler{
		options: wire.BuiltinOptionsConcatenationOptions, fields: 2, in: arity{1, many}, out: arity{1, 1}, build: buildConcat,
		fold: func(n *node, in []*constant) ([]*constant, error) {
			var o wire.ConcatenationOptions
			n.options(&o)
			if slices.Contains(in, nil) || o.FusedActivationFunction() != wire.ActivationFunctionTypeNONE || !moved(in) {
				return nil, nil
			}
			axis, err := n.axis(int(o.Axis()), len(in[0].shape))
			if err != nil {
				return nil, err
			}
			return one(n.im.joined(in, axis))
		},
	}
	handlers[wire.BuiltinOperatorPACK] = &handler{
		options: wire.BuiltinOptionsPackOptions, fields: 2, in: arity{1, many}, out: arity{1, 1}, build: buildPack,
		fold: func(n *node, in []*constant) ([]*constant, error) {
			axis, err := n.packAxis(len(n.in), in[0].shape)
			if err != nil || slices.Contains(in, nil) || !moved(in) {
				return nil, err
			}
			list := make([]*constant, len(in))
			for i, c := range in {
				if len(c.shape) != len(in[0].shape) {
					return nil, n.invalid("operands are %v and %v", in[0].shape, c.shape)
				}
				list[i] = c.like(slices.Insert(slices.Clone(c.shape), axis, 1))
			}
			return one(n.im.joined(list, axis))
		},
	}
	handlers[wire.BuiltinOperatorGATHER] = &handler{
		options: wire.BuiltinOptionsGatherOptions, fields: 2, in: arity{2, 2}, out: arity{1, 1}, fold: foldGather,
	}
	handlers[wire.BuiltinOperatorFILL] = &handler{
		options: wire.BuiltinOptionsFillOptions, in: arity{2, 2}, out: arity{1, 1},
		fold: func(n *node, in []*constant) ([]*constant, error) {
			dims, err := n.ints(0, graph.MaxRank)
			if err != nil || in[1].shape.Elements() == 0 {
				return nil, err
			}
			return one(n.im.pick(in[1], dims, func(int) int { return 0 }))
		},
	}
	handlers[wire.BuiltinOperatorBROADCAST_TO] = &handler{
		options: wire.BuiltinOptionsBroadcastToOptions, in: arity{2, 2}, out: arity{1, 1},
		fold: func(n *node, in []*constant) ([]*constant, error) {
			dims, err := n.ints(1, graph.MaxRank)
			if err != nil {
				return nil, err
			}
			if _, err := count(dims, 1); err != nil {
				return nil, err
			}
			if to, err := graph.Broadcast(in[0].shape, dims); err != nil || !to.Equal(dims) {
				return nil, n.invalid("%v is not broadcast to %v", in[0].shape, graph.Shape(dims))
			}
			return one(n.im.pick(in[0], dims, broadcastFrom(in[0].shape, dims)))
		},
	}
	handlers[wire.BuiltinOperatorRANGE] = &handler{
		options: wire.BuiltinOptionsRangeOptions, in: arity{3, 3}, out: arity{1, 1}, fold: foldRange,
	}
}

// moved tells whether elements of constants may be put together: their integers stand for the same numbers.
func moved(list []*constant) bool {
	for _, c := range list {
		if c.quant != nil && elementSize(c.typ) == 1 {
			return false
		}
	}
	return true
}

// axis checks the number of a dimension, from the end where it is negative.
func (n *node) axis(axis, rank int) (int, error) {
	if axis < -rank || axis >= rank {
		return 0, n.invalid("axis %d of %d dimensions", axis, rank)
	}
	if axis < 0 {
		axis += rank
	}
	return axis, nil
}

// rank is the number of dimensions of a value.
func (n *node) rank(id graph.ID) int { return len(n.typeOf(id).Shape) }

// perm is the order of dimensions that a TRANSPOSE asks for.
func (n *node) perm(rank int) ([]int, error) {
	perm, err := n.ints(1, graph.MaxRank)
	if err != nil {
		return nil, err
	}
	if len(perm) != rank {
		return nil, n.about(1, invalid("%d entries for %d dimensions", len(perm), rank))
	}
	seen := make([]bool, rank)
	for i, p := range perm {
		if perm[i], err = n.axis(p, rank); err != nil {
			return nil, err
		}
		if seen[perm[i]] {
			return nil, n.about(1, invalid("dimension %d is named twice", p))
		}
		seen[perm[i]] = true
	}
	return perm, nil
}

func buildTranspose(n *node) error {
	x := n.value(0)
	perm, err := n.perm(n.rank(x))
	if err != nil {
		return err
	}
	return n.emit(graph.Transpose{Perm: perm}, wire.ActivationFunctionTypeNONE, x)
}

func buildConcat(n *node) error {
	var o wire.ConcatenationOptions
	n.options(&o)
	xs := make([]graph.ID, len(n.in))
	for i := range xs {
		xs[i] = n.value(i)
	}
	if n.err != nil {
		return n.err
	}
	axis, err := n.axis(int(o.Axis()), n.rank(xs[0]))
	if err != nil {
		return err
	}
	if len(xs) == 1 {
		return n.same(xs[0], o.FusedActivationFunction())
	}
	return n.emit(graph.Concat{Axis: axis}, o.FusedActivationFunction(), xs...)
}

// same gives the result the elements of x, in its own scale.
func (n *node) same(x graph.ID, activation wire.ActivationFunctionType) error {
	if isInteger(n.typeOf(x)) {
		return n.emit(graph.Unary{Func: graph.Convert}, activation, x)
	}
	return n.emit(graph.Copy{}, activation, x)
}

// packAxis is the dimension along which a PACK puts its operands.
func (n *node) packAxis(operands int, x graph.Shape) (int, error) {
	var o wire.PackOptions
	n.options(&o)
	if int(o.ValuesCount()) != operands {
		return 0, n.invalid("values_count is %d, there are %d operands", o.ValuesCount(), operands)
	}
	if len(x) == graph.MaxRank {
		return 0, n.unsupported("%v has %d dimensions already", x, graph.MaxRank)
	}
	return n.axis(int(o.Axis()), len(x)+1)
}

func buildPack(n *node) error {
	xs := make([]graph.ID, len(n.in))
	for i := range xs {
		xs[i] = n.value(i)
	}
	if n.err != nil {
		return n.err
	}
	axis, err := n.packAxis(len(xs), n.typeOf(xs[0]).Shape)
	if err != nil {
		return err
	}
	for i, x := range xs {
		if axis > n.rank(x) {
			return n.invalid("operands are %v and %v", n.typeOf(xs[0]).Shape, n.typeOf(x).Shape)
		}
		if len(xs) > 1 {
			xs[i] = n.step(graph.ExpandDims{Axes: []int{axis}}, n.typeOf(x), x)
		}
	}
	if len(xs) == 1 {
		return n.emit(graph.ExpandDims{Axes: []int{axis}}, wire.ActivationFunctionTypeNONE, xs[0])
	}
	return n.emit(graph.Concat{Axis: axis}, wire.ActivationFunctionTypeNONE, xs...)
}

func foldGather(n *node, in []*constant) ([]*constant, error) {
	var o wire.GatherOptions
	n.options(&o)
	if o.BatchDims() != 0 {
		return nil, n.unsupported("batch_dims is %d", o.BatchDims())
	}
	x, places := in[0], in[1]
	axis, err := n.axis(int(o.Axis()), len(x.shape))
	if err != nil {
		return nil, err
	}
	list, err := n.ints(1, 1<<20)
	if err != nil {
		return nil, err
	}
	for _, k := range list {
		if k < 0 || k >= x.shape[axis] {
			return nil, n.about(1, invalid("element %d along axis %d of %v", k, axis, x.shape))
		}
	}
	shape := slices.Concat(x.shape[:axis], places.shape, x.shape[axis+1:])
	if len(shape) > graph.MaxRank {
		return nil, n.unsupported("the result has %d dimensions, at most %d are supported", len(shape), graph.MaxRank)
	}
	inner := max(1, graph.Shape(x.shape[axis+1:]).Elements())
	return one(n.im.pick(x, shape, func(i int) int {
		outer := i / inner / len(list)
		return (outer*x.shape[axis]+list[i/inner%len(list)])*inner + i%inner
	}))
}

func foldRange(n *node, _ []*constant) ([]*constant, error) {
	var at [3]int // first, limit, step
	for i := range at {
		list, err := n.ints(i, 1)
		if err != nil {
			return nil, err
		}
		if len(list) != 1 {
			return nil, n.about(i, invalid("one number is needed"))
		}
		at[i] = list[0]
	}
	if at[2] == 0 {
		return nil, n.invalid("a step of 0")
	}
	size := max(0, int(math.Ceil(float64(at[1]-at[0])/float64(at[2]))))
	if err := n.im.take(16 * size); err != nil {
		return nil, err
	}
	x := &numbers{}
	for k := range size {
		x.int = append(x.int, int64(at[0]+k*at[2]))
	}
	t, err := n.result(0)
	if err != nil {
		return nil, err
	}
	return []*constant{x.constantOf(t.typ, graph.Shape{size})}, wholeNumbers(n, t)
}
