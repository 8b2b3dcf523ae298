package conformance

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/xnngo/xnngo/xnn/graph"
)

// elem is a TensorProto.DataType.
type elem int

const (
	elemFloat    elem = 1
	elemUint8    elem = 2
	elemInt8     elem = 3
	elemUint16   elem = 4
	elemInt16    elem = 5
	elemInt32    elem = 6
	elemInt64    elem = 7
	elemString   elem = 8
	elemBool     elem = 9
	elemFloat16  elem = 10
	elemDouble   elem = 11
	elemUint32   elem = 12
	elemUint64   elem = 13
	elemBFloat16 elem = 16
)

var elems = map[elem]struct {
	name string
	size int
}{
	elemFloat:    {"float", 4},
	elemUint8:    {"uint8", 1},
	elemInt8:     {"int8", 1},
	elemUint16:   {"uint16", 2},
	elemInt16:    {"int16", 2},
	elemInt32:    {"int32", 4},
	elemInt64:    {"int64", 8},
	elemString:   {"string", 0},
	elemBool:     {"bool", 1},
	elemFloat16:  {"float16", 2},
	elemDouble:   {"double", 8},
	elemUint32:   {"uint32", 4},
	elemUint64:   {"uint64", 8},
	elemBFloat16: {"bfloat16", 2},
}

func (e elem) String() string {
	if k, ok := elems[e]; ok {
		return k.name
	}
	return fmt.Sprintf("type %d", int(e))
}

// real tells the types of numbers that are not whole.
func (e elem) real() bool {
	return e == elemFloat || e == elemFloat16 || e == elemBFloat16 || e == elemDouble
}

// tensor is a TensorProto: its elements are little-endian bytes, whichever field they came in.
type tensor struct {
	name string
	elem elem
	dims []int
	data []byte
}

func parseTensor(b []byte) (*tensor, error) {
	t := &tensor{}
	var raw []byte
	var words []uint64 // elements of the typed fields, as bits
	err := fields(b, func(f field) error {
		switch f.number {
		case 1:
			t.dims = append(t.dims, f.ints()...)
		case 2:
			t.elem = elem(f.bits)
		case 4:
			for _, v := range f.floats() {
				words = append(words, uint64(math.Float32bits(v)))
			}
		case 5, 7, 11:
			for _, v := range f.ints() {
				words = append(words, uint64(v))
			}
		case 8:
			t.name = string(f.bytes)
		case 9:
			raw = f.bytes
		case 10:
			for b := f.bytes; len(b) > 0; {
				v, n := protowire.ConsumeFixed64(b)
				if n < 0 {
					return protowire.ParseError(n)
				}
				words, b = append(words, v), b[n:]
			}
		case 13:
			return fmt.Errorf("tensor %s has its data outside", t.name)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t.data = slices.Clone(raw)
	size := elems[t.elem].size
	for _, w := range words {
		t.data = append(t.data, binary.LittleEndian.AppendUint64(nil, w)[:size]...)
	}
	if want := t.count() * size; len(t.data) != want {
		return nil, fmt.Errorf("tensor %s: %d bytes, %v %v has %d", t.name, len(t.data), t.elem, t.dims, want)
	}
	return t, nil
}

// count is the number of elements.
func (t *tensor) count() int { return graph.Shape(t.dims).Elements() }

// at is element i as a number. It is exact, except for 64-bit integers past 2^53.
func (t *tensor) at(i int) float64 {
	if t.elem.real() {
		return t.float(i)
	}
	if t.elem == elemUint64 {
		return float64(binary.LittleEndian.Uint64(t.data[8*i:]))
	}
	return float64(t.int(i))
}

func (t *tensor) float(i int) float64 {
	switch t.elem {
	case elemFloat:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(t.data[4*i:])))
	case elemFloat16:
		return float64(graph.Half(binary.LittleEndian.Uint16(t.data[2*i:])).Float32())
	case elemBFloat16:
		return float64(graph.BFloat(binary.LittleEndian.Uint16(t.data[2*i:])).Float32())
	default:
		return math.Float64frombits(binary.LittleEndian.Uint64(t.data[8*i:]))
	}
}

func (t *tensor) int(i int) int {
	switch t.elem {
	case elemUint8, elemBool:
		return int(t.data[i])
	case elemInt8:
		return int(int8(t.data[i]))
	case elemUint16:
		return int(binary.LittleEndian.Uint16(t.data[2*i:]))
	case elemInt16:
		return int(int16(binary.LittleEndian.Uint16(t.data[2*i:])))
	case elemInt32:
		return int(int32(binary.LittleEndian.Uint32(t.data[4*i:])))
	case elemUint32:
		return int(binary.LittleEndian.Uint32(t.data[4*i:]))
	default:
		return int(int64(binary.LittleEndian.Uint64(t.data[8*i:])))
	}
}

// ints are the elements of an integer tensor.
func (t *tensor) ints() []int {
	list := make([]int, t.count())
	for i := range list {
		list[i] = t.int(i)
	}
	return list
}

// int32s is the tensor with elements of 32 bits, which they must fit.
func (t *tensor) int32s() *tensor {
	if t.elem == elemInt32 {
		return t
	}
	n := &tensor{name: t.name, elem: elemInt32, dims: t.dims}
	for i := range t.count() {
		v := t.int(i)
		if v != int(int32(v)) {
			leaveOut(lacksElement, "%v past 32 bits", t.elem)
		}
		n.data = binary.LittleEndian.AppendUint32(n.data, uint32(v))
	}
	return n
}

// halves is the tensor in half precision.
func (t *tensor) halves() *tensor {
	n := &tensor{name: t.name, elem: elemFloat16, dims: t.dims}
	for i := range t.count() {
		n.data = binary.LittleEndian.AppendUint16(n.data, uint16(graph.HalfOf(float32(t.at(i)))))
	}
	return n
}

// floats are the elements as float32.
func (t *tensor) floats() []float32 {
	list := make([]float32, t.count())
	for i := range list {
		list[i] = float32(t.at(i))
	}
	return list
}

// floatTensor is a tensor of these numbers.
func floatTensor(data []float32, dims []int) *tensor {
	t := &tensor{elem: elemFloat, dims: dims}
	for _, f := range data {
		t.data = binary.LittleEndian.AppendUint32(t.data, math.Float32bits(f))
	}
	return t
}

// intTensor is a tensor of 64-bit integers.
func intTensor(data []int, dims ...int) *tensor {
	t := &tensor{elem: elemInt64, dims: dims}
	for _, v := range data {
		t.data = binary.LittleEndian.AppendUint64(t.data, uint64(v))
	}
	return t
}
