package tflite

import (
	"encoding/binary"
	"math"
	"sort"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Constants are folded here, not by running them: this package needs no C. What moves elements is done for all types, arithmetic
// for FLOAT32, INT32 and INT64.

// pick makes a constant whose element i is element from(i) of c.
func (im *importer) pick(c *constant, shape graph.Shape, from func(i int) int) (*constant, error) {
	return im.pickOf([]*constant{c}, shape, func(i int) (int, int) { return 0, from(i) })
}

// pickOf makes a constant whose element i is an element of one of the list, all of one type.
func (im *importer) pickOf(list []*constant, shape graph.Shape, from func(i int) (which, at int)) (*constant, error) {
	size := elementSize(list[0].typ)
	n, err := count(shape, size)
	if err != nil {
		return nil, err
	}
	if err := im.take(n * size); err != nil {
		return nil, err
	}
	out := &constant{typ: list[0].typ, shape: shape, data: make([]byte, n*size)}
	for _, c := range list {
		if c.loose != nil {
			out.loose = make([]bool, n)
		}
	}
	for i := range n {
		which, at := from(i)
		c := list[which]
		copy(out.data[i*size:(i+1)*size], c.bytes()[at*size:])
		if c.isLoose(at) {
			out.loose[i] = true
		}
	}
	return out, nil
}

// count is the number of elements of a shape that may be anything.
func count(shape graph.Shape, size int) (int, error) {
	t := graph.Type{DType: graph.QInt8, Shape: shape}
	n, err := t.Count()
	if err == nil && n > math.MaxInt/16/max(1, size) {
		err = errorf(schema.ErrShape, "%v is too large", shape)
	}
	return n, err
}

// like is c with another shape of as many elements.
func (c *constant) like(shape graph.Shape) *constant {
	k := *c
	k.shape = shape
	return &k
}

// box takes size[k] elements, from begin[k] on, each step[k] from the one before, along each dimension.
func (im *importer) box(c *constant, begin, step []int, size graph.Shape) (*constant, error) {
	return im.pick(c, size, func(i int) int {
		at, scale := 0, 1
		for k := len(size) - 1; k >= 0; k-- {
			at += (begin[k] + i%size[k]*step[k]) * scale
			i /= size[k]
			scale *= c.shape[k]
		}
		return at
	})
}

// permuted makes dimension k of the result dimension perm[k] of c.
func (im *importer) permuted(c *constant, perm []int) (*constant, error) {
	shape, stride := make(graph.Shape, len(perm)), make([]int, len(perm))
	for k, p := range perm {
		shape[k] = c.shape[p]
		stride[k] = graph.Shape(c.shape[p+1:]).Elements()
	}
	return im.pick(c, shape, func(i int) int {
		at := 0
		for k := len(shape) - 1; k >= 0; k-- {
			at += i % shape[k] * stride[k]
			i /= shape[k]
		}
		return at
	})
}

// joined puts constants one behind the other along an axis.
func (im *importer) joined(list []*constant, axis int) (*constant, error) {
	shape := append(graph.Shape{}, list[0].shape...)
	ends := []int{shape[axis]} // along the axis
	for _, c := range list[1:] {
		for k := range shape {
			if len(c.shape) != len(shape) || k != axis && c.shape[k] != shape[k] {
				return nil, errorf(schema.ErrShape, "%v does not continue %v along axis %d", c.shape, shape, axis)
			}
		}
		if c.typ != list[0].typ {
			return nil, invalid("operands are %v and %v", list[0].typ, c.typ)
		}
		shape[axis] += c.shape[axis]
		ends = append(ends, shape[axis])
	}
	inner := max(1, graph.Shape(shape[axis+1:]).Elements())
	return im.pickOf(list, shape, func(i int) (int, int) {
		along := i / inner % shape[axis]
		which := sort.SearchInts(ends, along+1)
		own := list[which].shape[axis]
		outer := i / inner / shape[axis]
		return which, (outer*own+along-(ends[which]-own))*inner + i%inner
	})
}

// numbers are elements to compute with.
type numbers struct {
	real []float64
	int  []int64
}

// numbers gives the elements of the types that are computed with, nil of others.
func (im *importer) numbers(c *constant) (*numbers, error) {
	n := c.shape.Elements()
	switch c.typ {
	case wire.TensorTypeFLOAT32, wire.TensorTypeINT32, wire.TensorTypeINT64:
	default:
		return nil, nil
	}
	if err := im.take(16 * n); err != nil { // and what is made of them
		return nil, err
	}
	if c.typ == wire.TensorTypeFLOAT32 {
		x := &numbers{real: make([]float64, n)}
		for i := range x.real {
			x.real[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(c.bytes()[4*i:])))
		}
		return x, nil
	}
	x := &numbers{int: make([]int64, n)}
	for i := range x.int {
		if c.typ == wire.TensorTypeINT64 {
			x.int[i] = int64(binary.LittleEndian.Uint64(c.bytes()[8*i:]))
		} else {
			x.int[i] = int64(int32(binary.LittleEndian.Uint32(c.bytes()[4*i:])))
		}
	}
	return x, nil
}

// constantOf makes a constant of numbers.
func (x *numbers) constantOf(typ wire.TensorType, shape graph.Shape) *constant {
	c := &constant{typ: typ, shape: shape}
	switch typ {
	case wire.TensorTypeFLOAT32:
		for _, f := range x.real {
			c.data = binary.LittleEndian.AppendUint32(c.data, math.Float32bits(float32(f)))
		}
	case wire.TensorTypeINT64:
		for _, v := range x.int {
			c.data = binary.LittleEndian.AppendUint64(c.data, uint64(v))
		}
	default:
		for _, v := range x.int {
			c.data = binary.LittleEndian.AppendUint32(c.data, uint32(v))
		}
	}
	return c
}

// mapped applies a function to each element; nil where elements are of another type than FLOAT32.
func (im *importer) mapped(c *constant, f func(float64) float64) (*constant, error) {
	x, err := im.numbers(c)
	if err != nil || x == nil || x.real == nil && x.int != nil || f == nil {
		return nil, err
	}
	for i, v := range x.real {
		x.real[i] = f(v)
	}
	return x.constantOf(c.typ, c.shape), nil
}

// combined applies a function to the elements of two constants, broadcast; nil where there is none for their type.
func (im *importer) combined(a, b *constant, real func(a, b float64) float64, whole func(a, b int64) int64) (*constant, error) {
	isReal := a.typ == wire.TensorTypeFLOAT32
	if a.typ != b.typ || isReal && real == nil || !isReal && whole == nil {
		return nil, nil
	}
	shape, err := graph.Broadcast(a.shape, b.shape)
	if err != nil {
		return nil, err
	}
	n, err := count(shape, 8)
	if err != nil {
		return nil, err
	}
	x, err := im.numbers(a)
	if err != nil || x == nil {
		return nil, err
	}
	y, err := im.numbers(b)
	if err != nil {
		return nil, err
	}
	if err := im.take(16 * n); err != nil {
		return nil, err
	}
	out, loose := &numbers{}, make([]bool, n)
	fromA, fromB := broadcastFrom(a.shape, shape), broadcastFrom(b.shape, shape)
	for i := range n {
		at, bt := fromA(i), fromB(i)
		if isReal {
			out.real = append(out.real, real(x.real[at], y.real[bt]))
		} else {
			out.int = append(out.int, whole(x.int[at], y.int[bt]))
		}
		loose[i] = a.isLoose(at) || b.isLoose(bt)
	}
	c := out.constantOf(a.typ, shape)
	if a.loose != nil || b.loose != nil {
		c.loose = loose
	}
	return c, nil
}

// broadcastFrom gives the element of a tensor of shape s that is at a place of a shape it is broadcast to.
func broadcastFrom(s, to graph.Shape) func(i int) int {
	if s.Equal(to) {
		return func(i int) int { return i }
	}
	lead := len(to) - len(s)
	return func(i int) int {
		at, scale := 0, 1
		for k := len(to) - 1; k >= lead; k-- {
			if d := s[k-lead]; d != 1 {
				at += i % to[k] * scale
				scale *= d
			}
			i /= to[k]
		}
		return at
	}
}
