package xnn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

var (
	nan = float32(math.NaN())
	inf = float32(math.Inf(1))
	// A constant expression has no negative zero.
	negativeZero = float32(math.Copysign(0, -1))
)

// TestSpecialNumbers: a clamp to infinite bounds would turn the NaNs into -Inf.
func TestSpecialNumbers(t *testing.T) {
	a := []float32{nan, 1, inf, inf, 3.4e38, negativeZero, 16777216}
	b := []float32{1, nan, -inf, inf, 3.4e38, negativeZero, 1}
	want := []float32{nan, nan, nan, inf, inf, negativeZero, 16777216}
	// Long enough for whole vectors, so that both the vector loop and its tail are seen.
	for _, times := range []int{1, 5, 40} {
		var as, bs []float32
		for range times {
			as, bs = append(as, a...), append(bs, b...)
		}
		n := uint32(len(as))
		for i, got := range runFile(t, pair(dims(n), dims(n), dims(n)), as, bs)[0] {
			w := want[i%len(want)]
			if w != w {
				require.True(t, got != got, "element %d is %g, want NaN", i, got)
				continue
			}
			require.Equal(t, math.Float32bits(w), math.Float32bits(got), "element %d is %g, want %g", i, got, w)
		}
	}
}

// TestSubnormals are exact or zero, which is what the documentation allows; the mode of the processor is restored.
func TestSubnormals(t *testing.T) {
	tiny := math.Float32frombits(1)
	x := []float32{tiny, 2 * tiny, 1e-40, math.SmallestNonzeroFloat32}
	for i, y := range runFile(t, double(4), x)[0] {
		require.True(t, y == 0 || y == x[i]+x[i], "%g+%g is %g", x[i], x[i], y)
	}
	require.Equal(t, float32(3*tiny), x[0]+x[1], "Go's own arithmetic keeps subnormals after a run")
}

// halfFile is Y = A + B in fp16.
func halfFile(n uint32) file {
	f := pair(dims(n), dims(n), dims(n))
	for i := range f.values {
		f.values[i].dtype = 2
	}
	return f
}

// TestHalf has its bits worked out by hand: overflow, ties to even, NaN, subnormals.
func TestHalf(t *testing.T) {
	halves := func(v ...float32) []Half {
		h := make([]Half, len(v))
		for i, f := range v {
			h[i] = graph.HalfOf(f)
		}
		return h
	}
	a := halves(65504, 2048, 1, -65504, nan, inf, 6e-8, 0.1)
	b := halves(65504, 1, nan, -1, 1, -inf, 6e-8, 0.2)
	const anyNaN = 0x7e00
	want := []Half{0x7c00, 0x6800, anyNaN, 0xfbff, anyNaN, anyNaN, 0x0002, 0x34cc}
	m := loaded(t, halfFile(8).bytes())
	s := opened(t, m)
	copy(Data[Half](s.Input(0)), a)
	copy(Data[Half](s.Input(1)), b)
	require.NoError(t, s.Run())
	check := func(got []Half) {
		require.Len(t, got, len(want))
		for i := range want {
			if want[i] == anyNaN {
				require.True(t, got[i]&0x7c00 == 0x7c00 && got[i]&0x3ff != 0, "element %d is %04x, want a NaN", i, got[i])
				continue
			}
			require.Equal(t, want[i], got[i], "element %d: %04x, want %04x", i, got[i], want[i])
		}
	}
	check(Data[Half](s.Output(0)))
	y, err := m.Run(t.Context(), NewTensor(a, 8), NewTensor(b, 8))
	require.NoError(t, err)
	check(Data[Half](y[0]))
	require.Equal(t, Float16, y[0].DType())
}

// TestHalfConversion: every half is a float32 and comes back.
func TestHalfConversion(t *testing.T) {
	for bits := range 1 << 16 {
		h := Half(bits)
		f := h.Float32()
		if f != f {
			back := graph.HalfOf(f)
			require.True(t, back&0x7c00 == 0x7c00 && back&0x3ff != 0)
			continue
		}
		require.Equal(t, h, graph.HalfOf(f))
	}
}

// TestOrderOfNodes: a node that comes too early in the file must not read what is not there yet.
func TestOrderOfNodes(t *testing.T) {
	f := file{externs: 3, values: []value{input(0, 3), input(1, 3), output(2, 3), inner(3, 3)},
		nodes: []node{{a: 3, b: 0, out: 2}, {a: 0, b: 1, out: 3}}}
	require.Equal(t, [][]float32{{10, 12, 14}}, runFile(t, f, []float32{0, 1, 2}, same(3, 10)))
}

// TestSameOperandTwice covers an input, an intermediate value and a constant added to themselves.
func TestSameOperandTwice(t *testing.T) {
	x := []float32{0.5, 1.5, 2.5, 3.5, 4.5}
	require.Equal(t, [][]float32{{1, 3, 5, 7, 9}}, runFile(t, double(5), x))
	twice := file{externs: 2, values: []value{input(0, 5), output(1, 5), inner(2, 5)},
		nodes: []node{{a: 0, b: 0, out: 2}, {a: 2, b: 2, out: 1}}}
	require.Equal(t, [][]float32{{2, 6, 10, 14, 18}}, runFile(t, twice, x))
	noInputs := file{externs: 1, values: []value{output(0, 3), constant(1, 1, 3)}, nodes: []node{{a: 1, b: 1, out: 0}},
		buffers: [][]byte{nil, floats(1, 2, 3)}}
	require.Equal(t, [][]float32{{2, 4, 6}}, runFile(t, noInputs))
	y, err := loaded(t, noInputs.bytes()).Run(t.Context())
	require.NoError(t, err)
	require.Equal(t, []float32{2, 4, 6}, Data[float32](y[0]))
}

// TestOutputReadInside: an output that later nodes read, one that is an input, one that is listed twice.
func TestOutputReadInside(t *testing.T) {
	tap := file{externs: 4, outputs: []uint32{2, 3},
		values: []value{input(0, 3), input(1, 3), output(2, 3), output(3, 3)},
		nodes:  []node{{a: 0, b: 1, out: 2}, {a: 2, b: 0, out: 3}}}
	x, b := []float32{0, 1, 2}, same(3, 10)
	sum, y := []float32{10, 11, 12}, []float32{10, 12, 14}
	require.Equal(t, [][]float32{sum, y}, runFile(t, tap, x, b))
	tap.outputs = []uint32{3, 2}
	require.Equal(t, [][]float32{y, sum}, runFile(t, tap, x, b))
	tap.outputs = []uint32{3, 2, 3, 3}
	require.Equal(t, [][]float32{y, sum, y, y}, runFile(t, tap, x, b))
	tap.outputs, tap.values[2] = []uint32{3}, inner(2, 3)
	tap.values[2].id = 2
	require.Equal(t, [][]float32{y}, runFile(t, tap, x, b), "only the last is asked for")

	through := double(3)
	through.values[0].flags = 3
	through.outputs = []uint32{0, 1, 0}
	require.Equal(t, [][]float32{{1, 2, 3}, {2, 4, 6}, {1, 2, 3}}, runFile(t, through, []float32{1, 2, 3}))

	none := file{externs: 1, values: []value{{id: 0, dims: dims(3), dtype: 1, flags: 3}}}
	require.Equal(t, [][]float32{{1, 2, 3}}, runFile(t, none, []float32{1, 2, 3}), "no nodes at all")
}

// TestInputsAreKept: nodes that work in place must not write what the caller gave.
func TestInputsAreKept(t *testing.T) {
	f := file{externs: 2, values: []value{input(0, 3), output(1, 3), inner(2, 3), inner(3, 3)},
		nodes: []node{{a: 0, b: 0, out: 2}, {a: 2, b: 2, out: 3}, {a: 3, b: 0, out: 1}}}
	s := opened(t, loaded(t, f.bytes()))
	for range 3 {
		require.Equal(t, [][]float32{{5, 10, 15}}, run(t, s, []float32{1, 2, 3}))
		require.Equal(t, []float32{1, 2, 3}, Data[float32](s.Input(0)))
	}
}

// TestOverlap: inputs and outputs of RunInto may be one slice, in part too.
func TestOverlap(t *testing.T) {
	m := loaded(t, pair(dims(1, 2), dims(3, 1), dims(3, 2)).bytes())
	mem := []float32{0, 1, nan, nan, nan, nan}
	x, b, y := NewTensor(mem[:2], 1, 2), NewTensor([]float32{100, 200, 300}, 3, 1), NewTensor(mem, 3, 2)
	require.NoError(t, m.RunInto(t.Context(), []*Tensor{y}, []*Tensor{x, b}))
	require.Equal(t, []float32{100, 101, 200, 201, 300, 301}, mem)

	m = loaded(t, pair(dims(3), dims(3), dims(3)).bytes())
	mem = []float32{1, 2, 3}
	both := NewTensor(mem, 3)
	require.NoError(t, m.RunInto(t.Context(), []*Tensor{both}, []*Tensor{both, NewTensor([]float32{10, 20, 30}, 3)}))
	require.Equal(t, []float32{11, 22, 33}, mem)
}

// TestOutputIsAnyInput: which of several inputs comes out again must not matter.
func TestOutputIsAnyInput(t *testing.T) {
	for i := range 3 {
		f := file{externs: 3, outputs: []uint32{uint32(i)}, values: []value{input(0, 2), input(1, 2), input(2, 2)}}
		f.values[i].flags = 3
		in := [][]float32{{1, 2}, {3, 4}, {5, 6}}
		require.Equal(t, [][]float32{in[i]}, runFile(t, f, in...))
	}
}
