package xnn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func init() {
	children["return"] = func() { runInBackground() }
	children["exit"] = func() { runInBackground(); os.Exit(0) }
	children["no memory"] = func() {
		if err := reshapeWithoutMemory(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
}

// child runs an entry of children in a process of its own and gives what it printed.
func child(t *testing.T, name string, limit time.Duration) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(ctx, exe)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	return string(out), err
}

// TestExitDuringRun: a process ends at once, with a pool of threads at work and nothing closed.
func TestExitDuringRun(t *testing.T) {
	times := 10
	if instrumented {
		times = 2 // a sanitizer takes a second to start
	}
	if long {
		times = 250
	}
	for _, how := range []string{"return", "exit"} {
		for range times {
			start := time.Now()
			out, err := child(t, how, 20*time.Second)
			require.NoError(t, err, out)
			require.Less(t, time.Since(start), 10*time.Second)
		}
	}
}

// runInBackground leaves runs under way, in a session with 8 threads and in Model.Run.
func runInBackground() {
	m, err := Load(double(1<<20).bytes(), WithThreads(8))
	if err != nil {
		panic(err)
	}
	s, err := m.NewSession()
	if err != nil {
		panic(err)
	}
	began := make(chan bool, 2)
	go func() {
		for began <- true; ; {
			if err := s.Run(); err != nil {
				panic(err)
			}
		}
	}()
	go func() {
		x := NewTensor(make([]float32, 1<<20), 1<<20)
		for began <- true; ; {
			if _, err := m.Run(context.Background(), x); err != nil {
				panic(err)
			}
		}
	}()
	<-began
	<-began
	time.Sleep(3 * time.Millisecond)
}

// TestReshapeWithoutMemory: the allocator, not the limit, says no, and the session goes on in its old shapes.
func TestReshapeWithoutMemory(t *testing.T) {
	if instrumented {
		t.Skip("sanitizers need address space of their own")
	}
	out, err := child(t, "no memory", 30*time.Second)
	require.NoError(t, err, out)
}

// wide is a graph that holds n intermediate values at once: T1 = X+X, T2 = T1+X, and so on, then their sum from the last to
// the first.
func wide(n int, width uint32) file {
	f := file{externs: 2, values: []value{input(0, width), output(1, width)}}
	last, next := uint32(0), uint32(2)
	add := func(a, b, out uint32) {
		if out != 1 {
			f.values = append(f.values, inner(out, width))
		}
		f.nodes = append(f.nodes, node{a: a, b: b, out: out})
	}
	for range n {
		add(last, 0, next)
		last, next = next, next+1
	}
	sum := last
	for i := n - 2; i >= 0; i-- {
		out := next
		if i == 0 {
			out = 1
		}
		add(sum, uint32(2+i), out)
		sum, next = out, next+1
	}
	return f
}

func reshapeWithoutMemory() error {
	const n, small, large = 20, 1000, 16 << 20
	m, err := Load(wide(n, small).bytes(), WithMemoryLimit(1<<40), withCache(math.MaxInt)) // tiles would need little
	if err != nil {
		return err
	}
	s, err := m.NewSession(WithThreads(1))
	if err != nil {
		return err
	}
	check := func() error {
		x := Data[float32](s.Input(0))
		for i := range x {
			x[i] = 1
		}
		if err := s.Run(); err != nil {
			return fmt.Errorf("the session does not run any more: %w", err)
		}
		// T_i is i+1; the sum of 2..n+1.
		if y, want := Data[float32](s.Output(0)), float32(n*(n+3)/2); y[0] != want || y[len(y)-1] != want || len(y) != small {
			return fmt.Errorf("%d elements of %g, want %d of %g", len(y), y[0], small, want)
		}
		return nil
	}
	if err := check(); err != nil {
		return err
	}
	before := MemStats()
	// Room for the two tensors and for what Go takes meanwhile, not for twenty in the arena.
	limit := uint64(statusKiB("VmSize:")<<10) + 10*4*large
	if err := unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
		return err
	}
	for range 3 {
		if err := s.Reshape(Shape{large}); !errors.Is(err, ErrMemoryLimit) || !errors.Is(err, StatusOutOfMemory) {
			return fmt.Errorf("expected no memory, got %w", err)
		}
		if err := check(); err != nil {
			return err
		}
		if now := MemStats(); now.Tensors != before.Tensors || now.Arenas != before.Arenas {
			return fmt.Errorf("held before %+v, after %+v", before, now)
		}
	}
	if err := s.Reshape(Shape{2 * small}); err != nil {
		return err
	}
	if err := m.Close(); err != nil {
		return err
	}
	if now := MemStats(); now != (MemoryStats{}) {
		return fmt.Errorf("held at the end: %+v", now)
	}
	return nil
}
