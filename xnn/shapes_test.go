package xnn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// pair is Y = A + B in these shapes.
func pair(a, b, y []uint32) file {
	return file{externs: 3, values: []value{input(0, a...), input(1, b...), output(2, y...)}, nodes: []node{{a: 0, b: 1, out: 2}}}
}

func dims(d ...uint32) []uint32 { return d }

// TestBroadcast has answers worked out by hand.
func TestBroadcast(t *testing.T) {
	for _, c := range []struct {
		name    string
		a, b, y []uint32
		inA     []float32
		inB     []float32
		want    []float32
	}{
		{"column and row", dims(1, 4), dims(4, 1), dims(4, 4), []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40},
			[]float32{11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34, 41, 42, 43, 44}},
		{"scalars without dims", nil, nil, nil, []float32{1.5}, []float32{2}, []float32{3.5}},
		{"scalars with empty dims", dims(), dims(), dims(), []float32{1.5}, []float32{2}, []float32{3.5}},
		{"scalar and vector", nil, dims(3), dims(3), []float32{1.5}, []float32{2, 3, 4}, []float32{3.5, 4.5, 5.5}},
		{"vector and scalar", dims(3), nil, dims(3), []float32{2, 3, 4}, []float32{1.5}, []float32{3.5, 4.5, 5.5}},
		{"one and vector", dims(1), dims(3), dims(3), []float32{1.5}, []float32{2, 3, 4}, []float32{3.5, 4.5, 5.5}},
		{"lower rank", dims(2, 3), dims(3), dims(2, 3), []float32{0, 1, 2, 3, 4, 5}, []float32{10, 20, 30},
			[]float32{10, 21, 32, 13, 24, 35}},
		{"middle", dims(2, 1, 2), dims(2, 1), dims(2, 2, 2), []float32{0, 1, 2, 3}, []float32{10, 20},
			[]float32{10, 11, 20, 21, 12, 13, 22, 23}},
		{"empty and row", dims(0, 2), dims(1, 2), dims(0, 2), nil, []float32{7, 8}, []float32{}},
		{"both empty", dims(0), dims(0), dims(0), nil, nil, []float32{}},
		{"empty and one", dims(0), dims(1), dims(0), nil, []float32{7}, []float32{}},
		{"one and empty", dims(1, 2), dims(0, 1), dims(0, 2), []float32{7, 8}, nil, []float32{}},
		{"empty inside", dims(2, 0, 3), dims(3), dims(2, 0, 3), nil, []float32{1, 2, 3}, []float32{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nothingHeld(t)
			s := opened(t, loaded(t, pair(c.a, c.b, c.y).bytes()))
			require.Equal(t, [][]float32{c.want}, run(t, s, c.inA, c.inB))
			want := Shape{}
			for _, d := range c.y {
				want = append(want, int(d))
			}
			require.True(t, want.Equal(s.Output(0).Shape()), "%v", s.Output(0))
		})
	}
}

// TestBroadcastRank6 has its answer as a formula over the six indices.
func TestBroadcastRank6(t *testing.T) {
	a, b := ramp(8), ramp(8)
	for i := range b {
		b[i] *= 100
	}
	y := runFile(t, pair(dims(2, 1, 2, 1, 2, 1), dims(1, 2, 1, 2, 1, 2), dims(2, 2, 2, 2, 2, 2)), a, b)[0]
	require.Len(t, y, 64)
	for n := range y {
		i := func(bit int) int { return n >> (5 - bit) & 1 } // all sizes are 2
		require.Equal(t, a[4*i(0)+2*i(2)+i(4)]+b[4*i(1)+2*i(3)+i(5)], y[n], "element %d", n)
	}
}

// TestBroadcastTwice widens an intermediate value that was itself widened.
func TestBroadcastTwice(t *testing.T) {
	y := runFile(t, file{externs: 4, values: []value{input(0, 1), input(1, 1, 5), input(2, 4, 1), output(3, 4, 5), inner(4, 1, 5)},
		nodes: []node{{a: 0, b: 1, out: 4}, {a: 4, b: 2, out: 3}}},
		[]float32{2}, []float32{1, 2, 3, 4, 5}, []float32{0, 10, 20, 30})[0]
	for i, got := range y {
		require.Equal(t, float32(10*(i/5)+3+i%5), got)
	}
}

// TestScalarConstant adds a constant without dims.
func TestScalarConstant(t *testing.T) {
	f := addConst(1)
	f.values = []value{input(0, 2, 2), output(1, 2, 2), constant(2, 1)}
	require.Equal(t, []float32{11, 12, 13, 14}, runFile(t, f, []float32{1, 2, 3, 4})[0])
}

// TestScalarTensor takes exactly one element.
func TestScalarTensor(t *testing.T) {
	m := loaded(t, pair(nil, nil, nil).bytes())
	two := NewTensor([]float32{2})
	y, err := m.Run(t.Context(), NewTensor([]float32{1.5}), two)
	require.NoError(t, err)
	require.Equal(t, []float32{3.5}, Data[float32](y[0]))
	require.Empty(t, y[0].Shape())
	for _, wrong := range [][]float32{nil, {}, {1, 2}} {
		_, err = m.Run(t.Context(), NewTensor(wrong), two)
		failed(t, err, ErrShape, fmt.Sprint(len(wrong)))
	}
}

// TestEmptyConstant has no bytes at all.
func TestEmptyConstant(t *testing.T) {
	f := addConst(1)
	f.sizes = nil
	f.buffers[1] = []byte{}
	f.values = []value{input(0, 0), output(1, 0), constant(2, 1, 0)}
	require.Equal(t, [][]float32{{}}, runFile(t, f, nil))
}

// TestEmptyTensors go through Model.Run as a nil slice and as an empty one.
func TestEmptyTensors(t *testing.T) {
	m := loaded(t, pair(dims(0, 2), dims(1, 2), dims(0, 2)).bytes())
	for _, a := range [][]float32{nil, {}} {
		y, err := m.Run(t.Context(), NewTensor(a, 0, 2), NewTensor([]float32{7, 8}, 1, 2))
		require.NoError(t, err)
		require.Equal(t, Shape{0, 2}, y[0].Shape())
		require.Empty(t, Data[float32](y[0]))
	}
}

// TestBatches changes the first dimension of a model with a constant row.
func TestBatches(t *testing.T) {
	nothingHeld(t)
	f := file{externs: 2, buffers: [][]byte{nil, floats(10, 20, 30)},
		values: []value{input(0, 1, 3), output(1, 1, 3), inner(2, 1, 3), constant(3, 1, 3)},
		nodes:  []node{{a: 0, b: 3, out: 2}, {a: 2, b: 0, out: 1}}}
	m := loaded(t, f.bytes())
	s := opened(t, m)
	for _, b := range []int{1, 4, 2, 100, 0, 3} {
		x := ramp(3 * b)
		want := make([]float32, len(x))
		for i := range x {
			want[i] = 2*x[i] + []float32{10, 20, 30}[i%3]
		}
		require.NoError(t, s.Reshape(Shape{b, 3}))
		require.Equal(t, want, run(t, s, x)[0])
		require.Equal(t, Shape{b, 3}, s.Output(0).Shape())
		y, err := m.Run(t.Context(), NewTensor(x, b, 3))
		require.NoError(t, err)
		require.Equal(t, Shape{b, 3}, y[0].Shape())
		require.ElementsMatch(t, want, Data[float32](y[0]))
	}
	require.Equal(t, Shape{1, 3}, m.Outputs()[0].Shape, "the model keeps the shapes of its file")
}

// TestShapeIsNotStale runs one model in one shape after the other; what an earlier run returned does not change.
func TestShapeIsNotStale(t *testing.T) {
	m := loaded(t, pair(dims(1, 2), dims(2, 1), dims(2, 2)).bytes())
	at := func(n int, a, b []float32) *Tensor {
		y, err := m.Run(t.Context(), NewTensor(a, 1, n), NewTensor(b, n, 1))
		require.NoError(t, err)
		require.Equal(t, Shape{n, n}, y[0].Shape())
		return y[0]
	}
	rows := []float32{1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34}
	two := at(2, same(2, 1), same(2, 1))
	four := at(4, []float32{1, 2, 3, 4}, []float32{0, 10, 20, 30})
	require.Equal(t, rows, Data[float32](four))
	require.Equal(t, []float32{5}, Data[float32](at(1, []float32{2}, []float32{3})))
	require.Equal(t, rows, Data[float32](at(4, []float32{1, 2, 3, 4}, []float32{0, 10, 20, 30})))
	require.Equal(t, same(4, 2), Data[float32](two), "the first answer")
	require.Equal(t, rows, Data[float32](four), "the second answer")
}

// TestWrongShapes are refused, and the session goes on as it was.
func TestWrongShapes(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, pair(dims(2, 3), dims(2, 3), dims(2, 3)).bytes())
	s := opened(t, m)
	for _, c := range []struct {
		shapes []Shape
		kind   error
		parts  []string
	}{
		{nil, ErrArgument, []string{"0", "2"}},
		{[]Shape{{2, 3}}, ErrArgument, []string{"1", "2"}},
		{[]Shape{{2, 3}, {2, 4}}, ErrShape, []string{"[2,3]", "[2,4]"}},
		{[]Shape{{2, 3}, {3}}, ErrShape, []string{"[3]", "[2,3]"}},
		{[]Shape{{2, 3}, nil}, ErrShape, []string{"[2,3]"}},
		{[]Shape{{0, 3}, {2, 3}}, ErrShape, []string{"0", "2"}},
		{[]Shape{{-1, 3}, {-1, 3}}, ErrShape, []string{"-1"}},
		{[]Shape{{math.MaxUint32, 3}, {1, 3}}, ErrShape, []string{"4294967295"}},
		{[]Shape{{math.MaxInt, math.MaxInt}, {1, 1}}, nil, nil},
		{[]Shape{{math.MaxUint32 - 1, math.MaxUint32 - 1}, {1, 1}}, nil, nil},
		{[]Shape{{math.MaxUint32 - 1, 1}, {1, math.MaxUint32 - 1}}, nil, nil}, // only the result is too large
		{[]Shape{{1 << 20, 1}, {1, 1 << 20}}, ErrMemoryLimit, nil},
	} {
		err := s.Reshape(c.shapes...)
		require.Error(t, err, "%v", c.shapes)
		if c.kind != nil {
			failed(t, err, c.kind, c.parts...)
		}
		require.Equal(t, same(6, 3), run(t, s, same(6, 1), same(6, 2))[0], "after %v", c.shapes)
		require.Equal(t, Shape{2, 3}, s.Output(0).Shape())
	}
}

// TestLegalOddities are the other ways to say nothing wrong: lists left out, ids and order as they come.
func TestLegalOddities(t *testing.T) {
	sparse := double(3)
	sparse.externs = 1000
	sparse.inputs, sparse.outputs = []uint32{5}, []uint32{999}
	sparse.values = []value{output(999, 3), input(5, 3)}
	sparse.nodes[0] = node{a: 5, b: 5, out: 999}
	unlisted := double(3)
	unlisted.inputs, unlisted.outputs = nil, nil
	most := double(3)
	most.externs = 4096
	for name, f := range map[string]file{"exact": double(3), "sparse": sparse, "unlisted": unlisted, "most externals": most} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, [][]float32{{2, 4, 6}}, runFile(t, f, []float32{1, 2, 3}))
		})
	}
	longer, padded := addConst(3), addConst(3)
	longer.buffers[1], longer.sizes = floats(10, 20, 30, 40), nil
	padded.buffers[1] = floats(5)
	require.Equal(t, [][]float32{{11, 22, 33}}, runFile(t, longer, []float32{1, 2, 3}), "a longer constant: its first elements")
	require.Equal(t, [][]float32{{6, 2, 3}}, runFile(t, padded, []float32{1, 2, 3}), "a padded constant: zeros")
}
