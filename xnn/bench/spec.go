package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// subject is a graph to measure, in the forms that its columns need.
type subject interface {
	name() string                // what --filter matches
	graph() *graph.Graph         // for xnn
	describe(*cSpec) error       // for C
	onnx() []byte                // for ONNX Runtime; nil where there is no such file
	nchw() bool                  // ONNX Runtime has channels before height and width
	fill(*xnn.Session)           // writes its inputs
	want() []byte                // the memory of the results, one after the other
	agree(got, want []byte) bool // on results, of any column
}

// spec is a chain of Adds: ((a+b)+b)+b..., of one operand.
type spec struct {
	form  string // what b is to a: same, row, column, scalar
	dtype xnn.DType
	a, b  xnn.Shape
	adds  int
}

func (s spec) floats() int { return s.a.Elements() }

// name is what --filter matches, such as chain=4/n=16M/fp32 or row/chain=4/fp16.
func (s spec) name() string {
	var parts []string
	if s.form != same {
		parts = append(parts, s.form)
	}
	parts = append(parts, fmt.Sprintf("chain=%d", s.adds))
	if s.form == same {
		parts = append(parts, "n="+count(s.floats()))
	}
	return strings.Join(append(parts, s.dtype.String()), "/")
}

// count writes round numbers the way people say them.
func count(n int) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%dM", n>>20)
	}
	return fmt.Sprint(n)
}

// graph is the spec for xnn.
func (s spec) graph() *graph.Graph {
	g := graph.New()
	sum, b := g.Input(s.dtype, s.a...), g.Input(s.dtype, s.b...)
	for range s.adds {
		sum = g.Add(sum, b)
	}
	g.Output(sum)
	return g
}

// The elements are small integers, so that every sum is exact in every type and in any order, and columns can be compared
// bit by bit with arithmetic done here.
func (s spec) valueA(i int) int { return i * 7 % 13 }
func (s spec) valueB(i int) int { return (i*5 + 3) % 11 }

func (s spec) fill(session *xnn.Session) {
	fill(session.Input(0), s.valueA)
	fill(session.Input(1), s.valueB)
}

func (spec) agree(got, want []byte) bool { return bytes.Equal(got, want) }

func (spec) nchw() bool { return false }

// sum is the i-th element of the result.
func (s spec) sum(i int) int {
	j := i
	switch width := s.a[len(s.a)-1]; s.form {
	case row:
		j = i % width
	case columnwise:
		j = i / width
	case scalar:
		j = 0
	}
	return s.valueA(i) + s.adds*s.valueB(j)
}

// want is the result's memory.
func (s spec) want() []byte {
	if s.dtype == xnn.Float16 {
		t := xnn.NewTensor(make([]xnn.Half, s.floats()), s.a...)
		fill(t, s.sum)
		return t.Bytes()
	}
	return floats(s.a, s.sum).Bytes()
}

// floats is a tensor of these elements.
func floats(shape xnn.Shape, value func(i int) int) *xnn.Tensor {
	t := xnn.NewTensor(make([]float32, shape.Elements()), shape...)
	fill(t, value)
	return t
}

// fill writes a tensor's elements.
func fill(t *xnn.Tensor, value func(i int) int) {
	for i, data := 0, xnn.Data[float32](ofType(t, xnn.Float32)); i < len(data); i++ {
		data[i] = float32(value(i))
	}
	for i, data := 0, xnn.Data[xnn.Half](ofType(t, xnn.Float16)); i < len(data); i++ {
		data[i] = graph.HalfOf(float32(value(i)))
	}
}

// ofType is t where it has that type, else nil: a session takes a wrong Data for a mistake.
func ofType(t *xnn.Tensor, dtype xnn.DType) *xnn.Tensor {
	if t.DType() != dtype {
		return nil
	}
	return t
}

// The forms of operand b.
const (
	same       = "same"
	row        = "row"
	columnwise = "column"
	scalar     = "scalar"
)

// specs are the graphs of the table.
func specs() []spec {
	var all []spec
	add := func(dtype xnn.DType, adds int, sizes ...int) {
		for _, n := range sizes {
			all = append(all, spec{same, dtype, xnn.Shape{n}, xnn.Shape{n}, adds})
		}
	}
	add(xnn.Float32, 1, 1, 16, 256, 4096, 65536, 1<<20, 16<<20)
	add(xnn.Float32, 2, 65536, 1<<20, 16<<20)
	add(xnn.Float32, 4, 16, 256, 4096, 65536, 1<<20, 16<<20)
	add(xnn.Float32, 8, 65536, 1<<20, 16<<20)
	add(xnn.Float32, 16, 65536, 1<<20, 16<<20)
	add(xnn.Float16, 1, 16, 65536, 1<<20, 16<<20)
	add(xnn.Float16, 4, 65536, 1<<20, 16<<20)
	const rows, columns = 4096, 1024
	for _, dtype := range []xnn.DType{xnn.Float32, xnn.Float16} {
		for _, adds := range []int{1, 4} {
			for _, b := range []struct {
				form  string
				shape xnn.Shape
			}{{row, xnn.Shape{columns}}, {columnwise, xnn.Shape{rows, 1}}, {scalar, xnn.Shape{1}}} {
				all = append(all, spec{b.form, dtype, xnn.Shape{rows, columns}, b.shape, adds})
			}
		}
	}
	return all
}
