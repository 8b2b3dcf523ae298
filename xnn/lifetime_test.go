package xnn

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// reclaimed waits until the garbage collector has freed what was dropped.
func reclaimed(t *testing.T, want MemoryStats) {
	t.Helper()
	require.Eventually(t, func() bool { runtime.GC(); return MemStats() == want }, 10*time.Second, time.Millisecond,
		"what was dropped without Close is still held: %+v", MemStats())
}

// TestFileBytesAreCopied: constants of Add are read at every run, so they must not be the caller's bytes.
func TestFileBytesAreCopied(t *testing.T) {
	data := addConst(3).bytes()
	m := loaded(t, data)
	for i := range data {
		data[i] = 0xAA
	}
	data = nil
	for range 3 {
		runtime.GC()
	}
	require.Equal(t, [][]float32{{11, 22, 33}}, run(t, opened(t, m), []float32{1, 2, 3}))
}

// TestClosed: Close may be called twice and on nil, and everything after it is ErrClosed and never a panic.
func TestClosed(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, double(3).bytes())
	s := opened(t, m)
	x := s.Input(0)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close())
	byModel := opened(t, m)
	pooled := NewTensor(ramp(3), 3)
	_, err := m.Run(t.Context(), pooled)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.NoError(t, m.Close())
	require.Zero(t, MemStats())

	require.Nil(t, Data[float32](x), "a view of a closed session is none")
	for name, s := range map[string]*Session{"closed": s, "closed by its model": byModel, "nil": nil, "zero": {}} {
		failed(t, s.Run(), ErrClosed, "closed")
		failed(t, s.Reshape(Shape{3}), ErrClosed)
		_, err := s.Profile()
		failed(t, err, ErrClosed)
		require.Nil(t, s.Input(0), name)
		require.Nil(t, s.Output(0), name)
		require.Nil(t, s.Input(-1), name)
		require.Zero(t, s.ArenaBytes(), name)
		require.Zero(t, s.Threads(), name)
		require.NoError(t, s.Close(), name)
	}
	for name, m := range map[string]*Model{"closed": m, "nil": nil, "zero": {}} {
		_, err := m.NewSession()
		failed(t, err, ErrClosed, "closed")
		_, err = m.Run(t.Context(), pooled)
		failed(t, err, ErrClosed)
		failed(t, m.RunInto(t.Context(), []*Tensor{pooled}, []*Tensor{pooled}), ErrClosed)
		_, err = m.ArenaBytes(nil)
		failed(t, err, ErrClosed)
		require.NoError(t, m.Close(), name)
	}
	require.Len(t, m.Inputs(), 1, "the types stay known")
	require.Nil(t, (*Model)(nil).Inputs())
	require.Nil(t, (*Model)(nil).Outputs())
}

// TestDroppedSession is reclaimed; its model lives on.
func TestDroppedSession(t *testing.T) {
	m := loaded(t, chained(0, 16, 16).bytes())
	before := MemStats()
	for range 100 {
		s, err := m.NewSession()
		require.NoError(t, err)
		require.NoError(t, s.Run())
	}
	reclaimed(t, before)
	checkChained(t, opened(t, m))
}

// TestDroppedModel keeps what its sessions need until they are dropped, too.
func TestDroppedModel(t *testing.T) {
	before := MemStats()
	open := func() *Session {
		m, err := Load(addConst(1000).bytes())
		require.NoError(t, err)
		s, err := m.NewSession()
		require.NoError(t, err)
		return s
	}
	s := open()
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.Equal(t, float32(1+10), run(t, s, same(1000, 1))[0][0])
	s = nil
	reclaimed(t, before)
	func() { // never closed, used by Run only
		m, err := Load(addConst(1000).bytes())
		require.NoError(t, err)
		y, err := m.Run(t.Context(), NewTensor(same(1000, 1), 1000))
		require.NoError(t, err)
		require.Equal(t, float32(11), Data[float32](y[0])[0])
	}()
	reclaimed(t, before)
}

// TestCloseDuringRun: whoever runs gets right values or ErrClosed, and Close returns when nothing runs any more.
func TestCloseDuringRun(t *testing.T) {
	nothingHeld(t)
	repeats, wait := 100, 3*time.Millisecond
	if instrumented {
		repeats = 20
	}
	if long {
		repeats = 1000
	}
	data := double(100000).bytes()
	x := ramp(100000)
	r := rand.New(rand.NewPCG(3, 4))
	for range repeats {
		m, err := Load(data)
		require.NoError(t, err)
		s, err := m.NewSession()
		require.NoError(t, err)
		copy(Data[float32](s.Input(0)), x)
		var running group
		results := make(chan error, 5)
		for i := range 5 {
			running.Go(func() {
				for {
					err := error(nil)
					if i == 4 { // a session of its own
						err = s.Run()
					} else {
						var y []*Tensor
						y, err = m.Run(context.Background(), NewTensor(x, 100000))
						if err == nil && Data[float32](y[0])[99999] != 2*99999 {
							err = errors.New("wrong result")
						}
					}
					if err != nil {
						results <- err
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(r.Int64N(int64(wait))))
		require.NoError(t, m.Close())
		require.Zero(t, MemStats(), "when Close returns everything is free")
		require.NoError(t, m.Close())
		running.Wait()
		close(results)
		for err := range results {
			failed(t, err, ErrClosed)
		}
		_, err = m.Run(t.Context(), NewTensor(x, 100000))
		failed(t, err, ErrClosed)
	}
}

// TestCloseDuringEverything: a model may be closed while another goroutine makes, asks or changes sessions.
func TestCloseDuringEverything(t *testing.T) {
	nothingHeld(t)
	repeats := 200
	if long {
		repeats = 5000
	}
	data := chained(0, 16, 16).bytes()
	for i := range repeats {
		m, err := Load(data)
		require.NoError(t, err)
		s, err := m.NewSession()
		require.NoError(t, err)
		var all group
		for _, use := range []func() error{
			func() error { s.ArenaBytes(); s.Threads(); return s.Run() },
			func() error { n := 16 + i%3; return s.Reshape(Shape{n, 16}, Shape{n, 16}) },
			func() error { _, err := m.ArenaBytes(nil); return err },
			func() error {
				s, err := m.NewSession()
				if err == nil {
					err = s.Run()
					s.Close()
				}
				return err
			},
		} {
			all.Go(func() {
				for {
					switch err := use(); {
					case errors.Is(err, ErrClosed):
						return
					case err != nil && !errors.Is(err, ErrBusy):
						t.Error(err)
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(i%20) * 50 * time.Microsecond)
		if i%2 == 0 {
			require.NoError(t, s.Close())
		}
		require.NoError(t, m.Close())
		require.Zero(t, MemStats())
		all.Wait()
	}
}

// TestOutputsAreTheCallers: what Run returns is not the session's memory.
func TestOutputsAreTheCallers(t *testing.T) {
	m := loaded(t, double(3).bytes())
	first, err := m.Run(t.Context(), NewTensor([]float32{1, 2, 3}, 3))
	require.NoError(t, err)
	second, err := m.Run(t.Context(), first...)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	require.Equal(t, []float32{2, 4, 6}, Data[float32](first[0]))
	require.Equal(t, []float32{4, 8, 12}, Data[float32](second[0]))
}
