package tflite

import (
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorRESHAPE] = reshaping(wire.BuiltinOptionsReshapeOptions, arity{1, 2}, reshapeTarget)
	handlers[wire.BuiltinOperatorSQUEEZE] = reshaping(wire.BuiltinOptionsSqueezeOptions, arity{1, 1}, squeezeTarget)
	handlers[wire.BuiltinOperatorEXPAND_DIMS] = reshaping(wire.BuiltinOptionsExpandDimsOptions, arity{2, 2}, expandTarget)
	handlers[wire.BuiltinOperatorEXPAND_DIMS].fields = 0
	handlers[wire.BuiltinOperatorSHAPE] = &handler{
		options: wire.BuiltinOptionsShapeOptions, fields: 1, in: arity{1, 1}, out: arity{1, 1}, ofShapes: true,
		fold: func(n *node, _ []*constant) ([]*constant, error) {
			size, err := n.sizesOf(0)
			if err != nil {
				return nil, err
			}
			t, err := n.result(0)
			if err != nil {
				return nil, err
			}
			x := &numbers{}
			for _, d := range size.shape {
				x.int = append(x.int, int64(d))
			}
			c := x.constantOf(t.typ, graph.Shape{len(size.shape)})
			if slices.Contains(size.loose, true) {
				c.loose = size.loose
			}
			return []*constant{c}, wholeNumbers(n, t)
		},
	}
	handlers[wire.BuiltinOperatorRANK] = &handler{
		options: wire.BuiltinOptionsRankOptions, in: arity{1, 1}, out: arity{1, 1}, ofShapes: true,
		fold: func(n *node, _ []*constant) ([]*constant, error) {
			size, err := n.sizesOf(0)
			if err != nil {
				return nil, err
			}
			t, err := n.result(0)
			if err != nil {
				return nil, err
			}
			x := &numbers{int: []int64{int64(len(size.shape))}}
			return []*constant{x.constantOf(t.typ, graph.Shape{})}, wholeNumbers(n, t)
		},
	}
}

// wholeNumbers holds a result to types that sizes can have.
func wholeNumbers(n *node, t *tensor) error {
	if t.typ != wire.TensorTypeINT32 && t.typ != wire.TensorTypeINT64 {
		return n.unsupported("the result is of %v", t.typ).AtValue(t.ref())
	}
	return nil
}

// sizes are the sizes of a tensor, and which of them the file leaves open.
type sizes struct {
	shape graph.Shape
	loose []bool
}

// sizesOf are those of operand i.
func (n *node) sizesOf(i int) (sizes, error) {
	t, err := n.operand(i)
	if err != nil {
		return sizes{}, err
	}
	s := sizes{shape: t.shape, loose: make([]bool, len(t.shape))}
	switch {
	case t.has:
		s.shape = n.im.g.Values[t.id].Shape
		s.loose = make([]bool, len(s.shape))
	case t.constant == nil:
		_, err := n.im.value(t) // which says what is wrong
		return s, err
	}
	for k := range s.loose {
		s.loose[k] = t.loose != nil && k < len(t.loose) && t.loose[k]
	}
	return s, nil
}

// reshaping reads an operator that gives a tensor other dimensions. Target says which; -1 stands for what the others leave.
func reshaping(options wire.BuiltinOptions, in arity, target func(n *node, x sizes) (sizes, error)) *handler {
	find := func(n *node) (x, to sizes, err error) {
		if x, err = n.sizesOf(0); err != nil {
			return x, to, err
		}
		if to, err = target(n, x); err != nil {
			return x, to, err
		}
		to, err = n.complete(x.shape, to)
		return x, to, err
	}
	return &handler{
		options: options, fields: 1, in: in, out: arity{1, 1},
		fold: func(n *node, in []*constant) ([]*constant, error) {
			if in[0] == nil {
				return nil, nil
			}
			_, to, err := find(n)
			if err != nil {
				return nil, err
			}
			return []*constant{in[0].like(to.shape)}, nil
		},
		build: func(n *node) error {
			_, to, err := find(n)
			if err != nil {
				return err
			}
			return n.emit(to.reshape(), wire.ActivationFunctionTypeNONE, n.value(0))
		},
	}
}

// complete puts a size in the place of -1.
func (n *node) complete(x graph.Shape, to sizes) (sizes, error) {
	rest := -1
	known := slices.Clone(to.shape)
	for k, d := range to.shape {
		switch {
		case d == -1 && rest < 0:
			rest, known[k] = k, 1
		case d < 0:
			return to, n.invalid("dimension %d of the new shape %v is %d", k, to.shape, d)
		}
	}
	have, err := count(x, 1)
	if err != nil {
		return to, err
	}
	each, err := count(known, 1)
	if err != nil {
		return to, err
	}
	if rest >= 0 && each > 0 {
		known[rest] = have / each
		each *= known[rest]
		if !slices.Contains(to.loose, true) {
			to.loose[rest] = true // not open, but the one that may follow the others
		}
	}
	if each != have {
		return to, n.invalid("the %d elements of %v do not make %v", have, x, to.shape)
	}
	to.shape = known
	return to, nil
}

// reshape is the node that gives a tensor these sizes. One that the file leaves open follows the operand's.
func (to sizes) reshape() graph.Op {
	dims := slices.Clone(to.shape)
	if k := slices.Index(to.loose, true); k >= 0 {
		dims[k] = 0
	}
	return graph.Reshape{Dims: dims}
}

func reshapeTarget(n *node, x sizes) (sizes, error) {
	var list []int
	var loose []bool
	if n.has(1) {
		c, err := n.constant(1)
		if err != nil {
			return x, err
		}
		if len(c.shape) > 1 || c.shape.Elements() > graph.MaxRank {
			return x, n.about(1, unsupported("the new shape is %v, a list of at most %d sizes is needed", c.shape, graph.MaxRank))
		}
		sizes, e := c.ints()
		if e != nil {
			return x, n.about(1, e)
		}
		list, loose = sizes, c.loose
	} else {
		var o wire.ReshapeOptions
		n.options(&o)
		if o.NewShapeLength() > graph.MaxRank {
			return x, n.unsupported("new_shape has %d entries, at most %d are supported", o.NewShapeLength(), graph.MaxRank)
		}
		for i := range o.NewShapeLength() {
			list = append(list, int(o.NewShape(i)))
		}
	}
	if len(list) == 1 && list[0] == 0 && x.shape.Elements() == 1 {
		list, loose = nil, nil // how older writers say a scalar
	}
	if loose == nil {
		loose = make([]bool, len(list))
	}
	return sizes{shape: list, loose: slices.Clone(loose)}, nil
}

func squeezeTarget(n *node, x sizes) (sizes, error) {
	var o wire.SqueezeOptions
	n.options(&o)
	drop := make([]bool, len(x.shape))
	for i := range o.SqueezeDimsLength() {
		k := int(o.SqueezeDims(i))
		if k < 0 {
			k += len(x.shape)
		}
		if k < 0 || k >= len(x.shape) || x.shape[k] != 1 {
			return x, n.invalid("dimension %d of %v is not 1", o.SqueezeDims(i), x.shape)
		}
		drop[k] = true
	}
	var to sizes
	for k, d := range x.shape {
		if drop[k] || d == 1 && o.SqueezeDimsLength() == 0 && !x.loose[k] {
			continue
		}
		to.shape, to.loose = append(to.shape, d), append(to.loose, x.loose[k])
	}
	return to, nil
}

func expandTarget(n *node, x sizes) (sizes, error) {
	list, err := n.ints(1, 1)
	if err != nil {
		return x, err
	}
	rank := len(x.shape)
	if len(list) != 1 || list[0] < -rank-1 || list[0] > rank {
		return x, n.about(1, invalid("axis %v of %v", list, x.shape))
	}
	axis := list[0]
	if axis < 0 {
		axis += rank + 1
	}
	if rank == graph.MaxRank {
		return x, n.unsupported("%v has %d dimensions already", x.shape, rank)
	}
	return sizes{shape: slices.Insert(slices.Clone(x.shape), axis, 1), loose: slices.Insert(slices.Clone(x.loose), axis, false)}, nil
}
