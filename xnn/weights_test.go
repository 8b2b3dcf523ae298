package xnn

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// dense is a fully connected network of layers of n by n, with weights of 1/n, biases of 1.
func dense(n, layers int) *graph.Graph {
	g := graph.New()
	x := g.Input(graph.Float32, 1, n)
	for range layers {
		x = g.FullyConnected(x, g.Constant(same(n*n, 1/float32(n)), n, n), g.Constant(same(n, 1), n))
	}
	g.Output(x)
	return g
}

// TestWeightsArePackedOnce: all sessions of a model share the packed weights, and the originals are let go.
func TestWeightsArePackedOnce(t *testing.T) {
	nothingHeld(t)
	const n, layers = 256, 3
	const size = layers * (n*n + n) * 4
	file, err := dense(n, layers).Marshal()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "dense.xnn")
	require.NoError(t, os.WriteFile(path, file, 0o600))

	mapped, err := Open(path)
	require.NoError(t, err)
	copied, err := Load(file)
	require.NoError(t, err)
	built, err := Compile(dense(n, layers))
	require.NoError(t, err)
	for name, m := range map[string]*Model{"mapped": mapped, "copied": copied, "built": built} {
		before := MemStats()
		var sessions []*Session
		for range 4 {
			s, err := m.NewSession()
			require.NoError(t, err)
			sessions = append(sessions, s)
		}
		require.Equal(t, before.Weights, MemStats().Weights, name)
		for _, s := range sessions {
			copy(Data[float32](s.Input(0)), same(n, 2))
			require.NoError(t, s.Run())
			for _, y := range Data[float32](s.Output(0)) {
				require.InDelta(t, 2+layers, y, 1e-4, name)
			}
		}
	}
	held := MemStats()
	require.GreaterOrEqual(t, held.Weights, int64(3*size))
	require.Less(t, held.Weights, int64(3*size+3*size/4))
	require.Less(t, held.Constants, int64(size/10), "the originals are gone")
	for _, m := range []*Model{mapped, copied, built} {
		require.NoError(t, m.Close())
	}
}

// TestWeightsOfOneFilter: two nodes may share a filter and still need it packed in two ways. XNNPACK folds the input's zero
// point into the packed weights.
func TestWeightsOfOneFilter(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	quantized := func(zeroPoint int) Type {
		return Type{DType: QInt8, Shape: Shape{1, 2}, Quant: &Quant{Scale: 1, ZeroPoint: zeroPoint}}
	}
	x, y := g.InputOf(quantized(0)), g.InputOf(quantized(10))
	filter := g.ConstantOf(Type{DType: QInt8, Shape: Shape{2, 2}, Quant: &Quant{Scale: 1}}, []byte{1, 2, 3, 4})
	for _, id := range []graph.ID{x, y} {
		g.Output(g.FullyConnected(id, filter, graph.None, graph.Quantized(QInt8, 1, 0)))
	}
	m, err := Compile(g)
	require.NoError(t, err)
	defer m.Close()
	for range 3 {
		out, err := m.Run(t.Context(), NewTensor([]int8{5, 7}, 1, 2), NewTensor([]int8{15, 17}, 1, 2))
		require.NoError(t, err)
		// 5*1+7*2, 5*3+7*4, and the same of 15-10 and 17-10.
		require.Equal(t, []int8{19, 43}, Data[int8](out[0]))
		require.Equal(t, []int8{19, 43}, Data[int8](out[1]))
	}
}

// TestWeightsOfManySessions are made at the same time, on models with other plans.
func TestWeightsOfManySessions(t *testing.T) {
	nothingHeld(t)
	m, err := Compile(dense(64, 4))
	require.NoError(t, err)
	defer m.Close()
	var wg sync.WaitGroup
	for k := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			r := rand.New(rand.NewPCG(uint64(k), 1))
			for range 20 {
				s, err := m.NewSession(WithThreads(1 + r.IntN(3)))
				if err != nil {
					t.Error(err)
					return
				}
				rows := 1 + r.IntN(200)
				if err := s.Reshape(Shape{rows, 64}); err != nil {
					t.Error(err)
				}
				copy(Data[float32](s.Input(0)), same(rows*64, float32(k)))
				if err := s.Run(); err != nil {
					t.Error(err)
				}
				for _, y := range Data[float32](s.Output(0)) {
					if d := y - float32(k+4); d > 1e-4 || d < -1e-4 {
						t.Errorf("%v, not %d", y, k+4)
						break
					}
				}
				_ = s.Close()
			}
		}()
	}
	wg.Wait()
}

// TestWeightsLimit: packed weights count against the memory limit, before they are made.
func TestWeightsLimit(t *testing.T) {
	nothingHeld(t)
	const n = 256
	for _, c := range []struct {
		limit int64
		fits  bool
	}{{n * n * 4, false}, {n*n*4 + n*n, false}, {4 * n * n * 4, true}} {
		m, err := Compile(dense(n, 1), WithMemoryLimit(c.limit))
		if c.fits {
			require.NoError(t, err)
			require.NoError(t, m.Close())
			continue
		}
		failed(t, err, ErrMemoryLimit)
	}
}
