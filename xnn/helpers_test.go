package xnn

import (
	"math"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// loaded loads a file that must load, until the end of the test.
func loaded(t testing.TB, data []byte, opts ...Option) *Model {
	t.Helper()
	m, err := Load(data, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

// compiled compiles a graph that must compile, until the end of the test.
func compiled(t testing.TB, g *graph.Graph, opts ...Option) *Model {
	t.Helper()
	m, err := Compile(g, opts...)
	require.NoError(t, err)
	t.Cleanup(func() { m.Close() })
	return m
}

// opened makes a session that must be possible, until the end of the test.
func opened(t testing.TB, m *Model, opts ...SessionOption) *Session {
	t.Helper()
	s, err := m.NewSession(opts...)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// run fills a session's inputs, its outputs with NaN, and runs it: what a run does not write is seen.
func run(t testing.TB, s *Session, inputs ...[]float32) [][]float32 {
	t.Helper()
	for i, in := range inputs {
		dst := Data[float32](s.Input(i))
		require.Len(t, dst, len(in), "input %d", i)
		copy(dst, in)
	}
	for i := range s.core.outputs {
		fillNaN(Data[float32](s.Output(i)))
	}
	require.NoError(t, s.Run())
	outputs := make([][]float32, len(s.core.outputs))
	for i := range outputs {
		outputs[i] = append([]float32{}, Data[float32](s.Output(i))...)
	}
	return outputs
}

// runFile is run of a new session of a file.
func runFile(t testing.TB, f file, inputs ...[]float32) [][]float32 {
	t.Helper()
	return run(t, opened(t, loaded(t, f.bytes())), inputs...)
}

func fillNaN(v []float32) {
	for i := range v {
		v[i] = float32(math.NaN())
	}
}

// ramp is 0, 1, 2, ...
func ramp(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(i)
	}
	return v
}

// same is n times f.
func same(n int, f float32) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = f
	}
	return v
}

// failed asserts an error of one kind whose text has all the parts.
func failed(t testing.TB, err error, kind error, parts ...string) {
	t.Helper()
	require.ErrorIs(t, err, kind)
	for _, p := range parts {
		require.ErrorContains(t, err, p)
	}
	var e *Error
	require.ErrorAs(t, err, &e, "every error tells its stage")
	require.NotEmpty(t, e.Stage)
}

// addConst is Y = X + C with X and C of n elements, C = 10, 20, 30, ...
func addConst(n int) file {
	c := ramp(n)
	for i := range c {
		c[i] = 10 * (c[i] + 1)
	}
	return file{
		version: "test", externs: 2, inputs: []uint32{0}, outputs: []uint32{1},
		values:  []value{input(0, uint32(n)), output(1, uint32(n)), constant(2, 1, uint32(n))},
		nodes:   []node{{a: 0, b: 2, out: 1}},
		buffers: [][]byte{nil, floats(c...)},
		sizes:   []uint32{0, uint32(4 * n)},
	}
}

// double is Y = X + X.
func double(n uint32) file {
	return file{
		externs: 2, inputs: []uint32{0}, outputs: []uint32{1},
		values: []value{input(0, n), output(1, n)},
		nodes:  []node{{a: 0, b: 0, out: 1}},
	}
}

// group is a sync.WaitGroup that starts its goroutines.
type group struct{ sync.WaitGroup }

func (g *group) Go(f func()) {
	g.Add(1)
	go func() {
		defer g.Done()
		f()
	}()
}
