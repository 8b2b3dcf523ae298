package tflite

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Helpers that give a value keep the first error in node.err, which is looked at when the operator is done: the graph's builder
// takes what does not exist for another mistake, and does nothing after the first.

// keep notes an error that a helper has met.
func (n *node) keep(err error) {
	if n.err == nil {
		n.err = err
	}
}

// has tells whether operand i is there.
func (n *node) has(i int) bool { return i < len(n.in) && n.in[i] >= 0 }

// operand is the tensor of operand i.
func (n *node) operand(i int) (*tensor, error) {
	if !n.has(i) {
		return nil, n.invalid("operand %d is not there", i)
	}
	return n.im.tensor(n.in[i])
}

// result is the tensor of result i.
func (n *node) result(i int) (*tensor, error) { return n.im.tensor(n.out[i]) }

// constant is operand i, whose elements must be known.
func (n *node) constant(i int) (*constant, error) {
	t, err := n.operand(i)
	if err != nil {
		return nil, err
	}
	if t.constant == nil {
		return nil, n.about(i, unsupported("operand %d must be a constant", i))
	}
	return t.constant, nil
}

// ints are the elements of operand i, a constant of no more whole numbers than that.
func (n *node) ints(i, most int) ([]int, error) {
	c, err := n.constant(i)
	if err != nil {
		return nil, err
	}
	if count := c.shape.Elements(); count > most {
		return nil, n.about(i, unsupported("operand %d has %d elements, at most %d are supported", i, count, most))
	}
	if c.loose != nil {
		return nil, n.about(i, unsupported("operand %d follows from a size that the file leaves open", i))
	}
	list, e := c.ints()
	if e != nil {
		return nil, n.about(i, e)
	}
	for k, v := range list {
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, n.about(i, invalid("element %d of operand %d is %d, more than 32 bits", k, i, v))
		}
	}
	return list, nil
}

// value is the graph's value of operand i.
func (n *node) value(i int) graph.ID {
	t, err := n.operand(i)
	if err != nil {
		n.keep(err)
		return graph.None
	}
	id, err := n.im.value(t)
	if err != nil {
		n.keep(n.atNode(err))
	}
	return id
}

func (n *node) atNode(err error) error {
	if e, ok := err.(*schema.Error); ok {
		return n.at(e)
	}
	return err
}

// value is the graph's value of a tensor.
func (im *importer) value(t *tensor) (graph.ID, error) {
	switch {
	case t.has:
		return t.id, nil
	case t.constant != nil:
		typ, err := t.graphType()
		if err != nil {
			return graph.None, err
		}
		if t.constant.loose != nil {
			return graph.None, unsupported("it holds sizes that the file leaves open").AtValue(t.ref())
		}
		id, err := im.add(t, typ, t.constant)
		if err != nil {
			return graph.None, err
		}
		t.id, t.has = id, true
		return id, nil
	}
	if by, ok := im.written[t.index]; ok {
		return graph.None, invalid("it is read before operator %d writes it", by).AtValue(t.ref())
	}
	return graph.None, invalid("it is read, but has no data and no operator writes it").AtValue(t.ref())
}

// add appends a constant, of a tensor of the file, to the graph. Elements that are subnormal become zero.
func (im *importer) add(t *tensor, typ graph.Type, c *constant) (id graph.ID, err error) {
	if c.data == nil && c.fill != nil {
		err = im.build(nil, t.index, func() { id = im.g.ConstantFrom(typ, typ.Bytes(), c.fill) })
	} else {
		data := c.bytes()
		if typ.DType == graph.Float32 && !c.normal {
			var e *schema.Error
			if data, e = im.flush(data); e != nil {
				return graph.None, e.AtValue(t.ref())
			}
		}
		err = im.build(nil, t.index, func() { id = im.g.ConstantOf(typ, data) })
	}
	if err != nil {
		return graph.None, err
	}
	v := &im.g.Values[id]
	v.Ref, v.Name = t.ref(), t.name
	return id, nil
}

// flush gives numbers with zeros in place of those that are subnormal.
func (im *importer) flush(data []byte) ([]byte, *schema.Error) {
	const exponent, sign = 0x7f800000, 0x80000000
	own := false
	for i := 0; i+4 <= len(data); i += 4 {
		bits := binary.LittleEndian.Uint32(data[i:])
		if bits&exponent != 0 || bits&^sign == 0 {
			continue
		}
		if !own {
			if err := im.take(len(data)); err != nil {
				return nil, err
			}
			data, own = slices.Clone(data), true
		}
		binary.LittleEndian.PutUint32(data[i:], bits&sign)
		im.g.Flushed++
	}
	return data, nil
}

// sharedKey names a value that several operators can read: a form of a tensor other than its own.
type sharedKey struct {
	form string
	of   int
}
