package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBench(t *testing.T) {
	out, _ := tool(t, exitOK, "bench", fixture("arena"), "--time", "30ms", "-t", "2", "--json")
	var keys map[string]int64 // all are whole numbers
	require.NoError(t, json.Unmarshal([]byte(out), &keys))
	require.Len(t, keys, 7)
	require.Greater(t, keys["min_ns"], int64(0))
	require.LessOrEqual(t, keys["min_ns"], keys["p50_ns"])
	require.LessOrEqual(t, keys["p50_ns"], keys["p95_ns"])
	require.EqualValues(t, 1, keys["threads"], "too small to share")
	require.EqualValues(t, 4096, keys["arena_bytes"])
	require.Greater(t, keys["load_ns"], int64(0))
	require.Greater(t, keys["runs"], int64(1))
	require.Less(t, keys["runs"]*keys["min_ns"], int64(2*time.Second), "the runs fit in the time")

	out, _ = tool(t, exitOK, "bench", fixture("add"), "--time", "1ns")
	require.Regexp(t, `^min +p50 +p95 +runs +threads +load +arena\n.* ns .*0 bytes\n$`, out)
}

func TestProfile(t *testing.T) {
	var r profileResult
	toolJSON(t, &r, "profile", fixture("arena"), "--time", "30ms", "-t", "1")
	require.Equal(t, 1, r.Threads)
	require.Greater(t, r.Runs, 10)
	require.Len(t, r.Nodes, 3)
	share, sum := 0.0, 0.0
	for i, n := range r.Nodes {
		require.Equal(t, i, n.Node)
		require.Equal(t, "Add", n.Operator)
		require.EqualValues(t, i+1, n.DebugHandle)
		require.Greater(t, n.MeanNS, 0.0)
		share, sum = share+n.Share, sum+n.MeanNS
	}
	require.InDelta(t, 1, share, 0.01)
	require.Less(t, sum, r.RunNS, "the nodes' times are parts of the run's")

	out, _ := tool(t, exitOK, "profile", fixture("chain"), "--time", "10ms")
	require.Contains(t, out, "node  operator  handle  mean")
	require.Contains(t, out, "whole run: ")
	out, _ = tool(t, exitOK, "profile", fixture("identity"), "--time", "10ms", "--json")
	require.Contains(t, out, `"nodes": []`)
}

func TestMeasure(t *testing.T) {
	calls := 0
	got, err := measure(context.Background(), 30*time.Millisecond, func() error { calls++; time.Sleep(time.Millisecond); return nil }, func(time.Duration) {})
	require.NoError(t, err)
	require.Greater(t, calls, got.runs, "the warm-up is not counted")
	require.GreaterOrEqual(t, got.min, 1e6)
	require.LessOrEqual(t, got.min, got.p50)
	require.LessOrEqual(t, got.p50, got.p95)

	// What takes no time is not told to take that of reading the clock.
	got, err = measure(context.Background(), 10*time.Millisecond, func() error { return nil }, func(time.Duration) {})
	require.NoError(t, err)
	require.Less(t, got.min, 30.0)

	broken := errors.New("broken")
	_, err = measure(context.Background(), time.Second, func() error { return broken }, func(time.Duration) {})
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = measure(ctx, time.Hour, func() error { return nil }, func(time.Duration) {})
	require.ErrorIs(t, err, context.Canceled)
}

func TestPercentile(t *testing.T) {
	twenty := make([]float64, 20)
	for i := range twenty {
		twenty[i] = float64(i + 1)
	}
	require.Equal(t, 10.0, percentile(twenty, 50))
	require.Equal(t, 19.0, percentile(twenty, 95))
	require.Equal(t, 7.0, percentile([]float64{7}, 50))
	require.Equal(t, 7.0, percentile([]float64{7}, 95))
	require.Equal(t, 1.0, percentile([]float64{1, 2}, 50))
	require.Equal(t, 2.0, percentile([]float64{1, 2}, 95))
}

// Ctrl-C ends a long measurement at once, with one line.
func TestInterrupt(t *testing.T) {
	for _, command := range []string{"bench", "profile"} {
		var stderr strings.Builder
		cmd := exec.Command(toolPath, command, fixture("add"), "--time", "1h")
		cmd.Stderr = &stderr
		require.NoError(t, cmd.Start())
		time.Sleep(300 * time.Millisecond)
		start := time.Now()
		require.NoError(t, cmd.Process.Signal(os.Interrupt))
		require.Error(t, cmd.Wait())
		require.Less(t, time.Since(start), 5*time.Second)
		require.Equal(t, exitFailed, cmd.ProcessState.ExitCode())
		require.Equal(t, "xnn: interrupted\n", stderr.String())
	}
}
