package tflite

import (
	"encoding/binary"
	"math"
	"runtime"
	"sync"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// constant is a tensor whose elements are known: from the file, or computed of others that are.
type constant struct {
	typ   wire.TensorType
	shape graph.Shape
	data  []byte // little-endian, as many bytes as the shape needs; nil where fill makes them: see bytes
	quant *scales
	// loose are the elements that tell a size that the file leaves open; nil: none. Their value is that of the shape in the file.
	loose []bool
	// normal: none of the elements is subnormal, as of those made of half-precision numbers.
	normal bool
	fill   func(dst []byte)
}

// bytes gives the elements, and keeps what had to be made.
func (c *constant) bytes() []byte {
	if c.data == nil && c.fill != nil {
		c.data = make([]byte, c.shape.Elements()*elementSize(c.typ))
		c.fill(c.data)
	}
	return c.data
}

// constantOf gives the elements of a tensor that the file holds, nil where it holds none.
func (im *importer) constantOf(t *tensor, w *wire.Tensor) (*constant, *schema.Error) {
	data, err := im.buffer(int64(w.Buffer()))
	if err != nil {
		return nil, err
	}
	if _, computed := im.written[t.index]; computed || im.input[t.index] {
		if data == nil {
			return nil, nil
		}
		if computed {
			return nil, invalid("operator %d writes it, but it has data", im.written[t.index])
		}
	}
	c := &constant{typ: t.typ, shape: t.shape, data: data, quant: t.quant}
	n := t.shape.Elements()
	if data == nil && n > 0 {
		return nil, nil
	}
	if s := w.Sparsity(nil); s != nil {
		return im.densify(c, s)
	}
	need := n * elementSize(t.typ)
	switch {
	case t.typ == wire.TensorTypeINT4:
		need = (n + 1) / 2
	case elementSize(t.typ) == 0:
		return nil, unsupported("elements of %v are not supported", t.typ)
	}
	if len(data) < need {
		return nil, invalid("%v%v needs %d bytes, buffer %d has %d", t.typ, t.shape, need, w.Buffer(), len(data))
	}
	c.data = data[:need:need]
	if t.typ == wire.TensorTypeINT4 {
		return im.unpack(c)
	}
	return c, nil
}

// buffer gives the bytes of a buffer, nil for one without.
func (im *importer) buffer(at int64) ([]byte, *schema.Error) {
	switch n := im.model.BuffersLength(); {
	case at == 0:
		return nil, nil
	case at >= int64(n):
		return nil, invalid("buffer %d of %d", at, n)
	}
	var b wire.Buffer
	im.model.Buffers(&b, int(at))
	if offset, size := b.Offset(), b.Size(); offset > 1 && size > 0 {
		if whole := uint64(len(im.data)); offset > whole || size > whole-offset {
			return nil, errorf(schema.ErrFormat, "buffer %d, %d bytes at byte %d, leaves the file of %d bytes", at, size, offset, whole)
		}
		return im.data[offset : offset+size], nil
	}
	if b.DataLength() == 0 {
		return nil, nil
	}
	return b.DataBytes(), nil
}

// unpack gives weights of four bits, the first of two in the lower half of a byte, a byte each.
func (im *importer) unpack(c *constant) (*constant, *schema.Error) {
	n := c.shape.Elements()
	if err := im.take(n); err != nil {
		return nil, err
	}
	wide := make([]byte, n)
	for i := range wide {
		wide[i] = byte(int8(c.bytes()[i/2]<<(4*(1-i%2))) >> 4)
	}
	return &constant{typ: wire.TensorTypeINT8, shape: c.shape, data: wide, quant: c.quant}, nil
}

// ints gives the elements of a constant of whole numbers.
func (c *constant) ints() ([]int, *schema.Error) {
	list := make([]int, c.shape.Elements())
	for i := range list {
		switch c.typ {
		case wire.TensorTypeINT32:
			list[i] = int(int32(binary.LittleEndian.Uint32(c.bytes()[4*i:])))
		case wire.TensorTypeINT64:
			list[i] = int(int64(binary.LittleEndian.Uint64(c.bytes()[8*i:])))
		case wire.TensorTypeINT8:
			list[i] = int(int8(c.bytes()[i]))
		default:
			return nil, unsupported("whole numbers of 32 or 64 bits are needed, found %v", c.typ)
		}
	}
	return list, nil
}

// isLoose tells whether element i is a size that the file leaves open.
func (c *constant) isLoose(i int) bool { return c.loose != nil && c.loose[i] }

// single computes the elements of real numbers as FLOAT32, for those that have a type for real numbers.
func (im *importer) single(c *constant) (*constant, *schema.Error) {
	if c.typ == wire.TensorTypeFLOAT32 {
		return c, nil
	}
	n := c.shape.Elements()
	if err := im.take(4 * n); err != nil {
		return nil, err
	}
	out := &constant{typ: wire.TensorTypeFLOAT32, shape: c.shape}
	if c.typ == wire.TensorTypeFLOAT16 {
		half := c.bytes()
		out.normal, out.fill = true, func(dst []byte) { widen(dst, half) }
		return out, nil
	}
	out.data = make([]byte, 4*n)
	put := func(i int, f float32) { binary.LittleEndian.PutUint32(out.data[4*i:], math.Float32bits(f)) }
	switch c.typ {
	case wire.TensorTypeBFLOAT16:
		for i := range n {
			put(i, graph.BFloat(binary.LittleEndian.Uint16(c.bytes()[2*i:])).Float32())
		}
	case wire.TensorTypeFLOAT64:
		for i := range n {
			put(i, float32(math.Float64frombits(binary.LittleEndian.Uint64(c.bytes()[8*i:]))))
		}
	case wire.TensorTypeINT8, wire.TensorTypeUINT8:
		return out, c.dequantize(put)
	default:
		return nil, unsupported("%v does not stand for real numbers", c.typ)
	}
	return out, nil
}

// widen makes single-precision numbers of half-precision ones, on all processors where there are many.
func widen(single, half []byte) {
	const least = 1 << 16 // elements for a goroutine
	n, workers := len(half)/2, runtime.GOMAXPROCS(0)
	share := max(least, (n+workers-1)/workers)
	var wait sync.WaitGroup
	for from := 0; from < n; from += share {
		to := min(n, from+share)
		wait.Add(1)
		go func() {
			defer wait.Done()
			widenSome(single[4*from:4*to], half[2*from:2*to])
		}()
	}
	wait.Wait()
}

// widenSome is widen for one goroutine. Four numbers are looked at, and two computed, at a time.
func widenSome(single, half []byte) {
	const (
		exponents = 0x7c00_7c00_7c00_7c00
		one       = 0x0400_0400_0400_0400
		top       = 0x8000_8000_8000_8000
		bias      = (127 - 15) << 23
	)
	pair := func(two uint64) uint64 { // of half-precision numbers in the lower 32 bits
		two = two&0xffff | two<<16&0xffff_0000_0000
		return two&0x8000_0000_8000<<16 | (two&0x7fff_0000_7fff<<13 + (bias<<32 | bias))
	}
	for len(half) >= 8 && len(single) >= 16 {
		four := binary.LittleEndian.Uint64(half)
		// Sums reach the top bit where an exponent is not 0, and where it is that of infinities and what is no number.
		if e := four & exponents; (e+exponents)&top == top && (e+one)&top == 0 {
			binary.LittleEndian.PutUint64(single, pair(four&math.MaxUint32))
			binary.LittleEndian.PutUint64(single[8:], pair(four>>32))
		} else {
			widenEach(single[:16], half[:8])
		}
		half, single = half[8:], single[16:]
	}
	widenEach(single, half)
}

func widenEach(single, half []byte) {
	for i := range len(half) / 2 {
		f := graph.Half(binary.LittleEndian.Uint16(half[2*i:])).Float32()
		binary.LittleEndian.PutUint32(single[4*i:], math.Float32bits(f))
	}
}

// dequantize gives the real numbers that integers stand for: scale * (stored - zero point).
func (c *constant) dequantize(put func(i int, f float32)) *schema.Error {
	q := c.quant
	if q == nil {
		q = &scales{scale: []float32{1}, zero: []int64{0}}
	}
	channel := func(int) int { return 0 }
	if len(q.scale) > 1 {
		if err := q.fits(c.shape); err != nil {
			return err
		}
		inner := max(1, c.shape[q.axis+1:].Elements())
		channel = func(i int) int { return i / inner % len(q.scale) }
	}
	for i, b := range c.bytes() {
		stored := int64(b)
		if c.typ == wire.TensorTypeINT8 {
			stored = int64(int8(b))
		}
		k := channel(i)
		put(i, float32(float64(q.scale[k])*float64(stored-q.zero[min(k, len(q.zero)-1)])))
	}
	return nil
}

// fits checks scales along a dimension of a shape.
func (q *scales) fits(s graph.Shape) *schema.Error {
	if q.axis < 0 || q.axis >= len(s) || len(q.scale) != s[q.axis] {
		return invalid("%d scales along dimension %d of %v", len(q.scale), q.axis, s)
	}
	return nil
}

// symmetric reports zero points that weights cannot have.
func (q *scales) symmetric() *schema.Error {
	for i, z := range q.zero {
		if z != 0 {
			return unsupported("zero point %d of the weights is %d, XNNPACK takes 0 only", i, z)
		}
	}
	return nil
}
