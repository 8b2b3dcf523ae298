package xnn

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fiveTimes is Y = ((X+X)+X)+(X+X).
func fiveTimes(n uint32) file {
	return file{externs: 2, values: []value{input(0, n), output(1, n), inner(2, n), inner(3, n), inner(4, n)},
		nodes: []node{{a: 0, b: 0, out: 2}, {a: 2, b: 0, out: 3}, {a: 0, b: 0, out: 4}, {a: 3, b: 4, out: 1}}}
}

const goroutines, runsEach = 8, 3000

// TestOneModelManyGoroutines: no run sees the numbers of another.
func TestOneModelManyGoroutines(t *testing.T) {
	nothingHeld(t)
	for _, sessions := range []int{1, 3, 8} {
		m := loaded(t, fiveTimes(4096).bytes(), WithMaxSessions(sessions))
		var all group
		for k := range goroutines {
			all.Go(func() {
				x := NewTensor(same(4096, float32(k)), 4096)
				y := NewTensor(make([]float32, 4096), 4096)
				for i := range runsEach {
					out := []*Tensor{y}
					err := error(nil)
					if i%2 == 0 {
						out, err = m.Run(context.Background(), x)
					} else {
						err = m.RunInto(context.Background(), out, []*Tensor{x})
					}
					if err != nil {
						t.Error(err)
						return
					}
					for _, got := range Data[float32](out[0]) {
						if got != float32(5*k) {
							t.Errorf("goroutine %d, run %d: %g, want %d", k, i, got, 5*k)
							return
						}
					}
				}
			})
		}
		all.Wait()
		m.mustHaveAtMost(t, sessions)
		require.NoError(t, m.Close())
	}
}

func (m *Model) mustHaveAtMost(t *testing.T, sessions int) {
	m.core.mu.Lock()
	defer m.core.mu.Unlock()
	require.LessOrEqual(t, len(m.core.sessions), sessions)
}

// TestManySessions: one goroutine each, on the shared pool of threads, too.
func TestManySessions(t *testing.T) {
	nothingHeld(t)
	for _, c := range []struct{ n, threads, runs int }{{4096, 1, runsEach}, {200000, 4, runsEach / 60}} {
		m := loaded(t, fiveTimes(uint32(c.n)).bytes())
		var all group
		for k := range goroutines {
			s := opened(t, m, WithThreads(c.threads))
			require.Equal(t, c.threads, s.Threads())
			all.Go(func() {
				x, y := Data[float32](s.Input(0)), Data[float32](s.Output(0))
				for i := range c.runs {
					value := float32(k + i%7)
					for j := range x {
						x[j] = value
					}
					if err := s.Run(); err != nil {
						t.Error(err)
						return
					}
					for _, got := range y {
						if got != 5*value {
							t.Errorf("session %d, run %d: %g, want %g", k, i, got, 5*value)
							return
						}
					}
				}
			})
		}
		all.Wait()
	}
}

// TestBusy: the second goroutine is told, and the first is not disturbed.
func TestBusy(t *testing.T) {
	s := opened(t, loaded(t, double(3).bytes()))
	s.core.mu.Lock() // as a run does
	failed(t, s.Run(), ErrBusy)
	failed(t, s.Reshape(Shape{4}), ErrBusy)
	_, err := s.Profile()
	failed(t, err, ErrBusy)
	s.core.mu.Unlock()
	require.Equal(t, [][]float32{{2, 4, 6}}, run(t, s, []float32{1, 2, 3}))

	// The same with real runs.
	s = opened(t, loaded(t, fiveTimes(1<<20).bytes()), WithThreads(1))
	copy(Data[float32](s.Input(0)), same(1<<20, 1))
	var all group
	for range 4 {
		all.Go(func() {
			for range 50 {
				if err := s.Run(); err != nil && !errors.Is(err, ErrBusy) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, s.Run())
	require.Equal(t, float32(5), Data[float32](s.Output(0))[1<<20-1])
}

// TestContext: a caller that waits for a session stops waiting when its context ends, and one that is over does not run.
func TestContext(t *testing.T) {
	m := loaded(t, double(3).bytes(), WithMaxSessions(1))
	x := NewTensor(ramp(3), 3)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for range 50 {
		_, err := m.Run(over, x)
		require.ErrorIs(t, err, context.Canceled)
	}
	s, err := m.core.acquire(t.Context()) // the only one
	require.NoError(t, err)
	soon, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	_, err = m.Run(soon, x)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	waiting := make(chan error)
	go func() { _, err := m.Run(context.Background(), x); waiting <- err }()
	time.Sleep(5 * time.Millisecond)
	m.core.release(s)
	require.NoError(t, <-waiting)

	s, err = m.core.acquire(t.Context())
	require.NoError(t, err)
	go func() { _, err := m.Run(context.Background(), x); waiting <- err }()
	time.Sleep(5 * time.Millisecond)
	require.NoError(t, m.Close(), "does not wait for those who wait")
	failed(t, <-waiting, ErrClosed)
	m.core.release(s)
}

// TestMemoryForFewerSessions: callers wait for the sessions that the memory limit allows.
func TestMemoryForFewerSessions(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, double(1000).bytes(), WithMaxSessions(8), WithMemoryLimit(2*8000))
	var all group
	for range 8 {
		all.Go(func() {
			for range 200 {
				y, err := m.Run(context.Background(), NewTensor(same(1000, 4), 1000))
				if err != nil || Data[float32](y[0])[999] != 8 {
					t.Errorf("%v, %v", y, err)
					return
				}
			}
		})
	}
	all.Wait()
	m.mustHaveAtMost(t, 2)
}

// TestThreads: what was asked for, what it means, and that small work stays on the calling thread.
func TestThreads(t *testing.T) {
	nothingHeld(t)
	small, large := loaded(t, double(64).bytes()), loaded(t, double(1<<20).bytes())
	require.Equal(t, 1, opened(t, small, WithThreads(4)).Threads())
	require.Equal(t, 4, opened(t, large, WithThreads(4)).Threads())
	require.Equal(t, DefaultThreads(), opened(t, large).Threads())
	require.Equal(t, DefaultThreads(), opened(t, large, WithThreads(0)).Threads())
	require.Positive(t, DefaultThreads())
	require.LessOrEqual(t, DefaultThreads(), runtime.NumCPU())
	for _, n := range []int{-1, -1 << 40, 1 << 20} {
		_, err := large.NewSession(WithThreads(n))
		failed(t, err, ErrArgument, fmt.Sprint(n))
		_, err = Load(double(3).bytes(), WithThreads(n))
		failed(t, err, ErrArgument, fmt.Sprint(n))
	}
	for _, n := range []int{0, -1} {
		_, err := Load(double(3).bytes(), WithMaxSessions(n))
		failed(t, err, ErrArgument, fmt.Sprint(n))
	}
	byModel := loaded(t, double(1<<20).bytes(), WithThreads(3))
	require.Equal(t, 3, opened(t, byModel).Threads())
	require.Equal(t, 2, opened(t, byModel, WithThreads(2)).Threads(), "the session's option wins")

	// Crossing the threshold makes the runtime anew, there and back.
	s := opened(t, small, WithThreads(4))
	for _, n := range []int{64, 1 << 20, 64, 1 << 20} {
		require.NoError(t, s.Reshape(Shape{n}))
		require.Equal(t, n == 1<<20, s.Threads() == 4)
		y := run(t, s, ramp(n))[0]
		for i := range y {
			if y[i] != 2*float32(i) {
				t.Fatalf("element %d of %d is %g", i, n, y[i])
			}
		}
	}
}

// TestAffinity: threads that this process may not use do not count.
func TestAffinity(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var all, one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &all))
	for cpu := 0; one.Count() == 0; cpu++ {
		if all.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	require.NoError(t, unix.SchedSetaffinity(0, &one))
	defer func() { require.NoError(t, unix.SchedSetaffinity(0, &all)) }()
	require.Equal(t, 1, DefaultThreads())
}

// TestThreadsGiveTheSameBits, whatever their number.
func TestThreadsGiveTheSameBits(t *testing.T) {
	const n = 1<<18 + 7
	m := loaded(t, pair(dims(n), dims(n), dims(n)).bytes())
	a, b, sum := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range a {
		a[i], b[i] = 1/float32(i+1), float32(i)/3
		sum[i] = a[i] + b[i]
	}
	for _, threads := range []int{1, 2, 3, 8} {
		require.True(t, equalFloats(sum, run(t, opened(t, m, WithThreads(threads)), a, b)[0]), "%d threads", threads)
	}
}

// TestIdleThreads: models share one pool, and its workers sleep.
func TestIdleThreads(t *testing.T) {
	if osThreads() == 0 {
		t.Skip("no /proc")
	}
	nothingHeld(t)
	before := osThreads()
	for range 8 {
		s := opened(t, loaded(t, double(1<<18).bytes()), WithThreads(4))
		for range 20 {
			require.NoError(t, s.Run())
		}
	}
	require.LessOrEqual(t, osThreads()-before, int64(3+8), "one pool of 4, and what Go starts for itself")
	idle := 300 * time.Millisecond
	if long {
		idle = 2 * time.Second
	}
	start := cpuTime()
	time.Sleep(idle)
	require.Less(t, cpuTime()-start, 10*time.Millisecond, "idle workers use the processor")
}

// cpuTime is what the process has used of the processor.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestNoThreadsAfterClose: the pool ends with its last session.
func TestNoThreadsAfterClose(t *testing.T) {
	if osThreads() == 0 {
		t.Skip("no /proc")
	}
	m := loaded(t, double(1<<18).bytes())
	s := opened(t, m)
	before := osThreads()
	other := opened(t, m, WithThreads(61))
	require.GreaterOrEqual(t, osThreads()-before, int64(60))
	require.NoError(t, other.Run())
	require.NoError(t, other.Close())
	require.Less(t, osThreads()-before, int64(10))
	require.NoError(t, s.Run())
}
