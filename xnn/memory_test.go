package xnn

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestMemStats counts what is held by purpose, and reads zero after Close.
func TestMemStats(t *testing.T) {
	nothingHeld(t)
	f := chained(0, 16, 16)
	f.values[1] = constant(1, 1, 16, 16)
	f.buffers, f.externs, f.sizes = [][]byte{nil, floats(same(256, 1000)...)}, 3, nil
	m := loaded(t, f.bytes())
	loadedStats := MemStats()
	require.GreaterOrEqual(t, loadedStats.Constants, int64(1024))
	require.Zero(t, loadedStats.Tensors)
	require.Zero(t, loadedStats.Arenas)
	s := opened(t, m)
	with := MemStats()
	require.Equal(t, loadedStats.Constants, with.Constants, "sessions share the constants")
	require.GreaterOrEqual(t, with.Tensors, int64(2*1024))
	require.GreaterOrEqual(t, with.Arenas, int64(s.ArenaBytes()))
	require.Positive(t, with.XNNPACK)
	require.Equal(t, with.Total, with.Constants+with.Tensors+with.Arenas+with.XNNPACK+with.Bridge)
	require.NoError(t, s.Close())
	require.Equal(t, loadedStats, MemStats(), "after the session")
	opened(t, m)
	require.NoError(t, m.Close())
	require.Zero(t, MemStats(), "after the model, which closes its sessions")
}

// TestFailedLoadsHoldNothing, whatever they fail at.
func TestFailedLoadsHoldNothing(t *testing.T) {
	nothingHeld(t)
	good := addConst(100).bytes()
	for i := range 1000 {
		bad := good[:i*len(good)/1000]
		m, err := Load(bad)
		require.Error(t, err)
		require.Nil(t, m)
		_, err = Load(good, WithMemoryLimit(399)) // the constant takes 400
		failed(t, err, ErrMemoryLimit, "400", "399")
	}
	require.Zero(t, MemStats())
}

// TestMemoryLimit counts constants at load, tensors and arena with each session, and gives back what is closed.
func TestMemoryLimit(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, addConst(100).bytes(), WithMemoryLimit(400+2*800))
	first := opened(t, m)
	second := opened(t, m)
	_, err := m.NewSession()
	failed(t, err, ErrMemoryLimit, "800")
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "twice gives back once")
	third := opened(t, m)
	_, err = m.NewSession()
	failed(t, err, ErrMemoryLimit)
	failed(t, third.Reshape(Shape{100}, Shape{100}), ErrArgument)
	require.Equal(t, float32(11), run(t, second, same(100, 1))[0][0])

	_, err = Load(double(3).bytes(), WithMemoryLimit(-1))
	failed(t, err, ErrArgument, "-1")
	_, err = loaded(t, double(3).bytes(), WithMemoryLimit(0)).NewSession()
	failed(t, err, ErrMemoryLimit)
}

// TestHugeShapes ask for terabytes in a file of some hundred bytes.
func TestHugeShapes(t *testing.T) {
	nothingHeld(t)
	peak, start := resetPeakRSS(), time.Now()
	for _, f := range []file{
		{externs: 2, values: []value{input(0, 1<<31, 1<<29), output(1, 1<<31, 1<<29)}, nodes: []node{{a: 0, b: 0, out: 1}}},
		pair(dims(1<<20, 1), dims(1, 1<<20), dims(1<<20, 1<<20)), // only the result is large
		{externs: 1, values: []value{output(0, 1<<28), constant(1, 1, 1<<28)}, nodes: []node{{a: 1, b: 1, out: 0}},
			buffers: [][]byte{nil, floats(1)}, sizes: []uint32{0, 1 << 30}},
	} {
		m, err := Load(f.bytes(), WithMemoryLimit(64<<20))
		if err == nil {
			_, err = m.NewSession()
			require.NoError(t, m.Close())
		}
		require.Error(t, err)
	}
	for _, externs := range []uint32{4097, 1e8, math.MaxUint32} {
		f := double(3)
		f.externs = externs
		_, err := Load(f.bytes())
		failed(t, err, ErrGraph, "num_externs", fmt.Sprint(externs))
	}
	require.Less(t, time.Since(start), time.Second)
	require.Less(t, peakRSS()-peak, int64(50<<20))
}

// TestOneCopyOfConstants: a mapped file costs no second copy of its weights, a file in memory one.
func TestOneCopyOfConstants(t *testing.T) {
	nothingHeld(t)
	const n = 4 << 20 // floats
	g := graph.New()
	g.Output(g.Add(g.Input(graph.Float32, n), g.Constant(make([]float32, n), n)))
	data, err := g.Marshal()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "weights.xnn")
	require.NoError(t, os.WriteFile(path, data, 0o600))

	mapped, err := Open(path)
	require.NoError(t, err)
	require.Less(t, MemStats().Total, int64(1<<20), "constants are used where they are mapped")
	require.NoError(t, mapped.Close())
	copied, err := Open(path, WithCopy())
	require.NoError(t, err)
	require.InDelta(t, 4*n, MemStats().Constants, 8192, "with a page before the block")
	require.NoError(t, copied.Close())

	if rss() == 0 || instrumented {
		t.Skip("resident memory is not comparable here")
	}
	g, data = nil, nil
	runtime.GC()
	before := rss()
	mapped, err = Open(path)
	require.NoError(t, err)
	s, err := mapped.NewSession()
	require.NoError(t, err)
	require.NoError(t, s.Run())
	require.Less(t, rss()-before, int64(3*4*n*11/10), "file, input and output, each once")
	require.NoError(t, mapped.Close())
}

// TestWorkspaceIsReleased: a session keeps its largest arena, as documented, and Close gives back everything.
func TestWorkspaceIsReleased(t *testing.T) {
	nothingHeld(t)
	const width, layers = 64, 10
	g := graph.New()
	x := g.Input(graph.Float32, 1, width)
	y := x
	for range layers {
		y = g.Add(y, x)
	}
	g.Output(y)
	batches := 100000
	if instrumented {
		batches = 1000
	}
	m := compiled(t, g)
	s := opened(t, m)
	small := MemStats()
	require.NoError(t, s.Reshape(Shape{batches, width}))
	require.Equal(t, float32(11), run(t, s, same(batches*width, 1))[0][batches*width-1])
	large := MemStats()
	// In-place sums need one intermediate value, or two; ten would be a plan that reuses nothing.
	require.LessOrEqual(t, large.Arenas, int64(2*4*width*batches+1<<16))
	require.NoError(t, s.Reshape(Shape{1, width}))
	require.Equal(t, same(width, 11), run(t, s, same(width, 1))[0])
	require.Equal(t, large.Arenas, MemStats().Arenas, "kept for the next large batch")
	require.NoError(t, s.Close())
	s = opened(t, m)
	require.Equal(t, small.Total, MemStats().Total)
}

// TestMemoryGoesBack to the operating system when sessions close, whichever threads made and freed them.
func TestMemoryGoesBack(t *testing.T) {
	if rss() == 0 || instrumented {
		t.Skip("resident memory is not comparable here")
	}
	nothingHeld(t)
	const n = 5 << 20 / 4 // 5 MiB a tensor
	data := double(n).bytes()
	before := settledRSS()
	for round := range 3 {
		var all group
		for range 8 {
			all.Go(func() {
				m, err := Load(data)
				if err != nil {
					t.Error(err)
					return
				}
				defer m.Close()
				for range 2 + round {
					s, err := m.NewSession(WithThreads(1))
					if err != nil {
						t.Error(err)
						return
					}
					if err := s.Run(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		require.Zero(t, MemStats())
		require.Less(t, settledRSS()-before, int64(4<<20), "resident memory after round %d", round)
	}
}

// TestManyNodes: what XNNPACK takes to describe the nodes of a small file counts, too.
func TestManyNodes(t *testing.T) {
	nothingHeld(t)
	const nodes = 20_000
	g := graph.New()
	x := g.Input(graph.Float32, 1)
	v := x
	for range nodes {
		v = g.Add(v, x)
	}
	g.Output(v)
	data, err := g.Marshal()
	require.NoError(t, err)
	require.Less(t, len(data), 2<<20)
	before := MemStats().Total
	_, err = Load(data, WithMemoryLimit(16<<20))
	failed(t, err, ErrMemoryLimit, "nodes")
	require.Equal(t, before, MemStats().Total)

	m := loaded(t, data, WithMemoryLimit(128<<20))
	s := opened(t, m)
	require.Less(t, MemStats().Total-before, int64(128<<20))
	require.Equal(t, float32(nodes+1), run(t, s, []float32{1})[0][0])
	_, err = m.NewSession()
	failed(t, err, ErrMemoryLimit, "nodes")
}
