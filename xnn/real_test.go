package xnn

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// reals is a tensor of any type by the numbers it stands for.
type reals struct {
	typ  Type
	data []float64
}

// bounds are the least and the largest integer of a type of 8 bits.
func bounds(t DType) (lo, hi float64) {
	if t == QInt8 {
		return math.MinInt8, math.MaxInt8
	}
	return 0, math.MaxUint8
}

// stored rounds a number to what the type can hold, and gives it as it lies in memory.
func stored(t Type, x float64) []byte {
	switch t.DType {
	case Float32:
		return binary.NativeEndian.AppendUint32(nil, math.Float32bits(float32(x)))
	case Float16:
		return binary.NativeEndian.AppendUint16(nil, uint16(graph.HalfOf(float32(x))))
	case BFloat16:
		return binary.NativeEndian.AppendUint16(nil, uint16(graph.BFloatOf(float32(x))))
	case Int32:
		return binary.NativeEndian.AppendUint32(nil, uint32(int32(x)))
	}
	lo, hi := bounds(t.DType)
	return []byte{byte(int(min(max(math.RoundToEven(x/float64(t.Quant.Scale)+float64(t.Quant.ZeroPoint)), lo), hi)))}
}

// meaning is the number that an element in memory stands for.
func meaning(t Type, b []byte) float64 {
	switch t.DType {
	case Float32:
		return float64(math.Float32frombits(binary.NativeEndian.Uint32(b)))
	case Float16:
		return float64(graph.Half(binary.NativeEndian.Uint16(b)).Float32())
	case BFloat16:
		return float64(graph.BFloat(binary.NativeEndian.Uint16(b)).Float32())
	case Int32:
		return float64(int32(binary.NativeEndian.Uint32(b)))
	}
	n := int(b[0])
	if t.DType == QInt8 {
		n = int(int8(b[0]))
	}
	return float64(t.Quant.Scale) * float64(n-t.Quant.ZeroPoint)
}

// realsOf makes a tensor of the nearest numbers that the type has.
func realsOf(t Type, data []float64) reals {
	x := reals{t, make([]float64, len(data))}
	for i, f := range data {
		x.data[i] = meaning(t, stored(t, f))
	}
	return x
}

// uniform makes a tensor of random numbers in [lo, hi].
func uniform(r *rand.Rand, t Type, lo, hi float64) reals {
	data := make([]float64, t.Shape.Elements())
	for i := range data {
		data[i] = lo + (hi-lo)*r.Float64()
		if t.DType == Int32 {
			data[i] = math.Floor(data[i])
		}
	}
	return realsOf(t, data)
}

func (x reals) bytes() []byte {
	var b []byte
	for _, f := range x.data {
		b = append(b, stored(x.typ, f)...)
	}
	return b
}

// at is the element that a broadcast to the rank of index shows.
func (x reals) at(index []int) float64 {
	at := 0
	for i, d := range x.typ.Shape {
		at *= d
		if d > 1 {
			at += index[len(index)-len(x.typ.Shape)+i]
		}
	}
	return x.data[at]
}

// eachIndex calls f for every element of a shape, in order.
func eachIndex(s Shape, f func(n int, index []int)) {
	index := make([]int, len(s))
	for n := range s.Elements() {
		for i, rest := len(s)-1, n; i >= 0; i-- {
			index[i], rest = rest%s[i], rest/s[i]
		}
		f(n, index)
	}
}

// runReals runs a model on these inputs in a new session, its outputs filled with nonsense before.
func runReals(t testing.TB, m *Model, inputs []reals, opts ...SessionOption) []reals {
	t.Helper()
	s, err := m.NewSession(opts...)
	require.NoError(t, err)
	defer s.Close()
	return runSession(t, s, inputs)
}

// runSession is runReals of a session, which it brings to the inputs' shapes.
func runSession(t testing.TB, s *Session, inputs []reals) []reals {
	t.Helper()
	shapes := make([]Shape, len(inputs))
	for i, x := range inputs {
		shapes[i] = x.typ.Shape
	}
	require.NoError(t, s.Reshape(shapes...))
	for i, x := range inputs {
		require.Equal(t, len(s.Input(i).Bytes()), copy(s.Input(i).Bytes(), x.bytes()))
	}
	for i := range s.core.outputs {
		for j := range s.Output(i).Bytes() {
			s.Output(i).Bytes()[j] = 0xA5
		}
	}
	require.NoError(t, s.Run())
	outputs := make([]reals, len(s.core.outputs))
	for i := range outputs {
		y := s.Output(i)
		typ := Type{DType: y.DType(), Shape: y.Shape(), Quant: y.Quant()}
		outputs[i].typ = typ
		for b, size := y.Bytes(), typ.DType.Size(); len(b) > 0; b = b[size:] {
			outputs[i].data = append(outputs[i].data, meaning(typ, b[:size]))
		}
	}
	return outputs
}

// near tells whether a result is as near to the right number as its type promises: a single-precision one by 1e-5 of its size
// and 1e-6, half precision by 2e-3 of it, bfloat16 by two of its last bits, a quantised one by one step, within what it can hold.
func near(t Type, want, got float64) bool {
	if math.IsNaN(want) || math.IsInf(want, 0) {
		return t.Quant != nil || math.IsNaN(want) == math.IsNaN(got) && (math.IsNaN(want) || want == got)
	}
	off := math.Abs(want - got)
	switch t.DType {
	case Float32:
		return off <= 1e-5*math.Abs(want)+1e-6
	case Float16:
		return off <= 2e-3*math.Abs(want)+1e-4 || math.Abs(want) > 65519 && math.IsInf(got, int(math.Copysign(1, want)))
	case BFloat16:
		return off <= math.Abs(want)/64+1e-4
	case Int32:
		return want == got
	}
	lo, hi := bounds(t.DType)
	scale, zero := float64(t.Quant.Scale), float64(t.Quant.ZeroPoint)
	limited := min(max(want, scale*(lo-zero)), scale*(hi-zero))
	return math.Abs(limited-got) <= 1.001*scale
}

// requireNear compares a result with the right numbers.
func requireNear(t testing.TB, want []float64, got reals, what string, args ...any) {
	t.Helper()
	what = fmt.Sprintf(what, args...)
	require.Len(t, got.data, len(want), what)
	for i, w := range want {
		if !near(got.typ, w, got.data[i]) {
			t.Fatalf("%s: element %d of %v is %g, want %g", what, i, got.typ, got.data[i], w)
		}
	}
}

// numbered makes a tensor whose neighbouring elements are all different, and exact in its type.
func numbered(t Type) reals {
	x := reals{t, make([]float64, t.Shape.Elements())}
	for i := range x.data {
		x.data[i] = float64(i % 251)
		if t.Quant != nil {
			lo, _ := bounds(t.DType)
			x.data[i] = float64(t.Quant.Scale) * (float64(i%251) + lo - float64(t.Quant.ZeroPoint))
		}
	}
	return x
}

// typesOf are those an operator takes as its first operand, with a shape.
func typesOf(kind string, shape ...int) []Type {
	var types []Type
	for _, s := range graph.Signatures(kind) {
		t := Type{DType: s.In[0], Shape: shape}
		if t.DType == QInt8 || t.DType == QUInt8 {
			t = quantized(t.DType, 0.5, 7, shape...)
		}
		types = append(types, t)
	}
	return types
}

// moved runs a graph of one operand and one result, whole and with threads, and compares the result with the element of the
// operand that from gives for each of its own; a negative one stands for the number other.
func moved(t testing.TB, g *graph.Graph, other float64, from func(index []int) int) {
	t.Helper()
	x := numbered(g.Values[g.Inputs[0]].Type)
	want := g.Values[g.Outputs[0]].Type
	m := compiled(t, g)
	for _, threads := range []int{1, 3} {
		got := runReals(t, m, []reals{x}, WithThreads(threads), withCache(1))[0]
		require.True(t, want.Shape.Equal(got.typ.Shape), "%v, not %v", got.typ, want)
		eachIndex(want.Shape, func(n int, index []int) {
			w := other
			if at := from(index); at >= 0 {
				w = x.data[at]
			}
			if w != got.data[n] {
				t.Fatalf("%s of %v: element %v of %v is %g, want %g", g.Nodes[0].Op.Kind(), x.typ, index, want, got.data[n], w)
			}
		})
	}
	require.NoError(t, m.Close())
}

// offsetOf is where an element with these indices lies in a tensor, -1 for indices outside.
func offsetOf(s Shape, index []int) int {
	at := 0
	for i, d := range s {
		if index[i] < 0 || index[i] >= d {
			return -1
		}
		at = at*d + index[i]
	}
	return at
}
