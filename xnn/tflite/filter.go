package tflite

import (
	"fmt"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// filter gives operand i as the weights that operand x is multiplied with; axis is that of the output channels. Dynamic says that
// integers may stay what they are for an x of real numbers, which then must be quantised at run time.
func (n *node) filter(i int, x graph.Type, axis int, dynamic bool) graph.ID {
	t, err := n.operand(i)
	if err != nil {
		n.keep(err)
		return graph.None
	}
	c := t.constant
	if c == nil {
		return n.value(i)
	}
	integers := c.typ == wire.TensorTypeINT8 || c.typ == wire.TensorTypeUINT8
	switch {
	case isInteger(x) && c.typ == wire.TensorTypeINT8:
		return n.quantised(i, t, axis, len(c.scalesOrOne()) > 1)
	case isInteger(x), c.typ == wire.TensorTypeFLOAT32:
		return n.value(i)
	case integers && dynamic && c.typ == wire.TensorTypeINT8 && c.quant != nil && c.quant.symmetric() == nil:
		return n.quantised(i, t, axis, true)
	}
	return n.shared(i, t, "real", func() (graph.Type, *constant, *schema.Error) {
		f, err := n.im.single(c)
		if err != nil {
			return graph.Type{}, nil, err
		}
		return graph.Type{DType: graph.Float32, Shape: c.shape}, f, nil
	})
}

// scalesOrOne are the scales of a constant's integers.
func (c *constant) scalesOrOne() []float32 {
	if c.quant == nil {
		return []float32{1}
	}
	return c.quant.scale
}

// quantised gives weights of integers, by channel or with one scale.
func (n *node) quantised(i int, t *tensor, axis int, byChannel bool) graph.ID {
	c := t.constant
	return n.shared(i, t, fmt.Sprintf("weights %d %v", axis, byChannel), func() (graph.Type, *constant, *schema.Error) {
		typ := graph.Type{DType: graph.QInt8, Shape: c.shape, Quant: &graph.Quant{Scale: c.scalesOrOne()[0]}}
		if c.quant != nil {
			if err := c.quant.symmetric(); err != nil {
				return typ, nil, err
			}
		}
		if !byChannel {
			return typ, c, nil
		}
		s := c.scalesOrOne()
		typ.DType, typ.Quant = graph.QCInt8, &graph.Quant{Axis: axis}
		switch {
		case axis >= len(c.shape):
			return typ, nil, invalid("%v has no dimension %d", c.shape, axis)
		case len(s) > 1 && c.quant.axis != axis:
			return typ, nil, unsupported("the scales are along dimension %d, output channels are dimension %d", c.quant.axis, axis)
		case len(s) > 1:
			typ.Quant.Scales = s
		default:
			if err := n.im.take(4 * c.shape[axis]); err != nil {
				return typ, nil, err
			}
			typ.Quant.Scales = slices.Repeat(s, c.shape[axis])
		}
		return typ, c, nil
	})
}

// shared gives a form of a tensor's elements that several operators can read.
func (n *node) shared(i int, t *tensor, form string, make func() (graph.Type, *constant, *schema.Error)) graph.ID {
	key := sharedKey{form, t.index}
	if id, ok := n.im.shared[key]; ok || n.err != nil {
		return id
	}
	typ, c, e := make()
	if e != nil {
		n.keep(n.about(i, e))
		return graph.None
	}
	id, err := n.im.add(t, typ, c)
	if err != nil {
		n.keep(n.atNode(err))
		return graph.None
	}
	n.im.shared[key] = id
	return id
}

// bias gives operand i as what is added to the products of x and a filter, one for each of so many channels; None if there is
// none.
func (n *node) bias(i int, x, filter graph.Type, channels int) graph.ID {
	if !n.has(i) || n.err != nil {
		return graph.None
	}
	t, err := n.operand(i)
	if err != nil {
		n.keep(err)
		return graph.None
	}
	c := t.constant
	if c == nil {
		return n.value(i)
	}
	if count := c.shape.Elements(); count != channels {
		n.keep(n.about(i, errorf(schema.ErrShape, "the bias is %v, %d output channels need [%d]", c.shape, channels, channels)))
		return graph.None
	}
	if isInteger(x) {
		return n.wholeBias(i, t, x, filter, channels)
	}
	if c.typ == wire.TensorTypeFLOAT32 && len(c.shape) == 1 {
		return n.value(i)
	}
	return n.shared(i, t, "bias", func() (graph.Type, *constant, *schema.Error) {
		f, err := n.im.single(c)
		if err != nil {
			return graph.Type{}, nil, err
		}
		return graph.Type{DType: graph.Float32, Shape: graph.Shape{channels}}, f, nil
	})
}

// wholeBias gives a bias of integers, whose scales are those of x times those of the filter, whatever rounding the file shows.
func (n *node) wholeBias(i int, t *tensor, x, filter graph.Type, channels int) graph.ID {
	c := t.constant
	if c.typ != wire.TensorTypeINT32 || x.Quant == nil || filter.Quant == nil {
		n.keep(n.about(i, unsupported("a bias of %v, INT32 is needed", c.typ)))
		return graph.None
	}
	typ := graph.Type{DType: graph.QInt32, Shape: graph.Shape{channels},
		Quant: &graph.Quant{Scale: x.Quant.Scale * filter.Quant.Scale}}
	scale := func(int) float32 { return typ.Quant.Scale }
	if filter.DType == graph.QCInt8 {
		typ.DType, typ.Quant = graph.QCInt32, &graph.Quant{}
		for _, s := range filter.Quant.Scales {
			typ.Quant.Scales = append(typ.Quant.Scales, x.Quant.Scale*s)
		}
		if len(typ.Quant.Scales) != channels {
			n.keep(n.about(i, invalid("the filter has %d scales, there are %d channels", len(typ.Quant.Scales), channels)))
			return graph.None
		}
		scale = func(k int) float32 { return typ.Quant.Scales[k] }
	}
	if c.quant != nil {
		for k, s := range c.quant.scale {
			if k < channels && !near(s, scale(k)) {
				n.keep(n.about(i, invalid("scale %d of the bias is %g, those of operand and filter make %g", k, s, scale(k))))
				return graph.None
			}
		}
		if err := c.quant.symmetric(); err != nil {
			n.keep(n.about(i, err))
			return graph.None
		}
	}
	key := fmt.Sprintf("bias %v", scale(0))
	if typ.DType == graph.QCInt32 {
		key = fmt.Sprintf("bias %v of %d", x.Quant.Scale, n.in[1])
	}
	return n.shared(i, t, key, func() (graph.Type, *constant, *schema.Error) { return typ, c, nil })
}

// near tells scales that rounding, and not another meaning, sets apart.
func near(a, b float32) bool {
	return math.Abs(float64(a)-float64(b)) <= 1e-2*math.Abs(float64(b))
}

// quantisedAtRunTime is x, of real numbers, as integers with a scale for each row of so many inner dimensions.
func (n *node) quantisedAtRunTime(x graph.ID, inner int) graph.ID {
	key := sharedKey{fmt.Sprintf("rows %d", inner), int(x)}
	if id, ok := n.im.shared[key]; ok || n.err != nil {
		return id
	}
	id := n.step(graph.Unary{Func: graph.Convert}, graph.Type{DType: graph.QDInt8, Quant: &graph.Quant{Inner: inner}}, x)
	if n.err == nil {
		n.im.shared[key] = id
	}
	return id
}
