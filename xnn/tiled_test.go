package xnn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// withCache lets a session believe in a cache of this size: a small one has it cut small tensors into many tiles, and share
// them among threads.
func withCache(bytes int) SessionOption {
	return sessionOption(func(c *sessionConfig) { c.l1Bytes, c.l2Bytes, c.parallelBytes = bytes, bytes, bytes })
}

// TestDifferentialTiled is TestDifferential where everything that can run tile by tile does, in tiles of all sizes, on one
// thread and on several, over changes of shape.
func TestDifferentialTiled(t *testing.T) {
	nothingHeld(t)
	seeds := 500
	if instrumented {
		seeds = 40
	}
	if long {
		seeds = 10000
	}
	tiled := 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		d := randomDAG(r)
		inputs := d.randomInputs(r)
		m, err := Load(d.file(r, d.evaluate(inputs), 0).bytes())
		require.NoError(t, err, "seed %d", seed)
		for _, cache := range []int{1, 40, 300, 2000} {
			threads := 1 + r.IntN(3)
			s, err := m.NewSession(withCache(cache), WithThreads(threads), WithProfile())
			require.NoError(t, err)
			in := inputs
			for i := range 6 {
				what := fmt.Sprintf("seed %d, cache %d, %d threads, reshape %d", seed, cache, threads, i)
				d.check(t, s, in, what)
				profile, err := s.Profile()
				require.NoError(t, err)
				require.Len(t, profile, len(m.core.layout.nodes), what)
				for _, seg := range s.core.planned.segments {
					if seg.tiling != nil {
						tiled++
					}
				}
				in = d.randomInputs(r)
				shapes := make([]Shape, len(in))
				for j := range in {
					shapes[j] = in[j].shape
				}
				require.NoError(t, s.Reshape(shapes...), what)
			}
		}
		require.NoError(t, m.Close())
	}
	t.Logf("%d tiled segments", tiled)
	require.Greater(t, tiled, 10*seeds, "the test is about tiles")
}

// TestTiledLarge is a chain on tensors that no cache holds, in sizes that leave a smaller last tile, with a row, a column and
// a scalar that are broadcast, against the sum worked out by hand.
func TestTiledLarge(t *testing.T) {
	nothingHeld(t)
	for _, c := range []struct{ rows, cols int }{{1000, 1031}, {3, 400001}, {400001, 3}, {1, 1<<20 + 1}} {
		rows, cols := uint32(c.rows), uint32(c.cols)
		f := file{externs: 5, buffers: [][]byte{nil, floats(100)},
			values: []value{input(0, rows, cols), input(1, cols), input(2, rows, 1), output(3, rows, cols), output(4, rows, cols),
				inner(5, rows, cols), inner(6, rows, cols), constant(7, 1)},
			nodes: []node{{a: 0, b: 1, out: 5}, {a: 5, b: 2, out: 6}, {a: 6, b: 7, out: 3}, {a: 3, b: 5, out: 4}}}
		m := loaded(t, f.bytes())
		for _, threads := range []int{1, 2, 5} {
			s := opened(t, m, WithThreads(threads))
			x, row, column := Data[float32](s.Input(0)), Data[float32](s.Input(1)), Data[float32](s.Input(2))
			for i := range x {
				x[i] = float32(i % 1009)
			}
			for i := range row {
				row[i] = float32(i % 503)
			}
			for i := range column {
				column[i] = float32(i % 251)
			}
			for range 2 {
				fillNaN(Data[float32](s.Output(0)))
				fillNaN(Data[float32](s.Output(1)))
				require.NoError(t, s.Run())
				y, z := Data[float32](s.Output(0)), Data[float32](s.Output(1))
				for i := range x {
					first := x[i] + row[i%c.cols]
					want := first + column[i/c.cols] + 100
					if y[i] != want || z[i] != want+first {
						t.Fatalf("%d x %d, %d threads, element %d: %g and %g, want %g and %g", c.rows, c.cols, threads, i, y[i], z[i],
							want, want+first)
					}
				}
			}
			require.NoError(t, s.Close())
		}
	}
}

// TestTiledArena: the workspaces of all tiles and threads lie in the arena, too, and one byte less is too little.
func TestTiledArena(t *testing.T) {
	nothingHeld(t)
	for _, threads := range []int{1, 3} {
		opts := []SessionOption{withCache(4096), WithThreads(threads)}
		m := loaded(t, chained(0, 70, 70).bytes())
		need, err := m.ArenaBytes(nil, opts...)
		require.NoError(t, err)
		require.Positive(t, need)
		exact := loaded(t, chained(uint32(need), 70, 70).bytes())
		s := opened(t, exact, opts...)
		require.Equal(t, need, s.ArenaBytes())
		checkChained(t, s)
		short := loaded(t, chained(uint32(need-1), 70, 70).bytes())
		before := MemStats()
		_, err = short.NewSession(opts...)
		failed(t, err, ErrArenaTooSmall, fmt.Sprint(need), fmt.Sprint(need-1))
		require.Equal(t, before, MemStats())
		require.NoError(t, m.Close())
	}
}
