package xnn

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// threeAdds is the model that is loaded again and again: f32[4096], two intermediate values, one constant.
func threeAdds() file {
	f := chained(0, 64, 64)
	f.values[1] = constant(1, 1, 64, 64)
	f.buffers, f.externs, f.sizes = [][]byte{nil, floats(same(4096, 1)...)}, 3, nil
	return f
}

// TestLoadRunClose again and again: resident memory is flat and nothing is held after each.
func TestLoadRunClose(t *testing.T) {
	nothingHeld(t)
	cycles, warm := 3000, 1000
	if instrumented {
		cycles, warm = 300, 100
	}
	if long {
		cycles, warm = 200000, 20000
	}
	// With a fixed heap size Go's own memory does not hide what C keeps.
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	data := threeAdds().bytes()
	var before int64
	for i := range cycles {
		m, err := Load(data)
		require.NoError(t, err)
		s, err := m.NewSession()
		require.NoError(t, err)
		Data[float32](s.Input(0))[4095] = float32(i)
		require.NoError(t, s.Run())
		if y := Data[float32](s.Output(0))[4095]; y != 2*float32(i)+2 {
			t.Fatalf("cycle %d: %g", i, y)
		}
		if i%2 == 0 {
			require.NoError(t, s.Close())
		}
		require.NoError(t, m.Close())
		if stats := MemStats(); stats != (MemoryStats{}) {
			t.Fatalf("cycle %d holds %+v", i, stats)
		}
		if i == warm {
			before = settledRSS()
		}
	}
	if !instrumented && before != 0 {
		grown := settledRSS() - before
		t.Logf("resident memory after %d cycles: %+d KiB since cycle %d", cycles, grown>>10, warm)
		require.Less(t, grown, int64(1<<20))
	}
}

// settledRSS is resident memory after Go has given back what it can.
func settledRSS() int64 {
	for range 3 {
		runtime.GC()
	}
	debug.FreeOSMemory()
	return rss()
}

// TestManyRuns of one session and of Model.RunInto: no allocation, flat memory, the same threads.
func TestManyRuns(t *testing.T) {
	nothingHeld(t)
	runs := 20000
	if instrumented {
		runs = 2000
	}
	if long {
		runs = 1000000
	}
	m := loaded(t, threeAdds().bytes())
	s := opened(t, m, WithThreads(1))
	x, y := NewTensor(same(4096, 1), 64, 64), NewTensor(make([]float32, 4096), 64, 64)
	in, out := []*Tensor{x}, []*Tensor{y}
	for range 100 {
		require.NoError(t, s.Run())
		require.NoError(t, m.RunInto(t.Context(), out, in))
	}
	runtime.GC()
	memory, threads, heap := rss(), osThreads(), allocations()
	start := time.Now()
	for i := range runs {
		if err := s.Run(); err != nil {
			t.Fatal(i, err)
		}
	}
	perRun := time.Since(start) / time.Duration(runs)
	for i := range runs {
		if err := m.RunInto(nil, out, in); err != nil {
			t.Fatal(i, err)
		}
	}
	if !instrumented {
		// The runtime allocates some for itself in the time that this takes.
		require.Less(t, allocations()-heap, uint64(runs/100), "allocations")
	}
	require.Equal(t, float32(4), Data[float32](y)[0])
	if memory != 0 && !instrumented {
		t.Logf("%d runs, %v each: resident memory %+d KiB, threads %+d", runs, perRun, (rss()-memory)>>10, osThreads()-threads)
		require.Less(t, rss()-memory, int64(1<<20))
	}
	require.LessOrEqual(t, osThreads()-threads, int64(2), "threads of the process")
}

func allocations() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// TestRunAllocatesNothing, of a session and of a model, in one shape.
func TestRunAllocatesNothing(t *testing.T) {
	if instrumented {
		t.Skip("sanitizers allocate")
	}
	for name, f := range map[string]file{"small": threeAdds(), "large": double(1 << 18), "copies": {externs: 1,
		values: []value{{id: 0, dims: dims(3), dtype: 1, flags: 3}}}} {
		m := loaded(t, f.bytes())
		s := opened(t, m, WithThreads(2))
		require.Zero(t, testing.AllocsPerRun(200, func() {
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
		}), "%s: Session.Run", name)
		var in, out []*Tensor
		for _, typ := range m.Inputs() {
			in = append(in, NewTensor(make([]float32, typ.Shape.Elements()), typ.Shape...))
		}
		for _, typ := range m.Outputs() {
			out = append(out, NewTensor(make([]float32, typ.Shape.Elements()), typ.Shape...))
		}
		ctx := t.Context()
		require.Zero(t, testing.AllocsPerRun(200, func() {
			if err := m.RunInto(ctx, out, in); err != nil {
				t.Fatal(err)
			}
		}), "%s: Model.RunInto", name)
		require.Zero(t, testing.AllocsPerRun(200, func() {
			copy(Data[float32](s.Input(0)), Data[float32](s.Output(0)))
		}), "%s: Data", name)
	}
}
