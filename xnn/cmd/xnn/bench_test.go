package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
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
	require.Regexp(t, `^min +p50 +p95 +runs +threads +load +arena\n.* [nµ]s .*0 bytes\n$`, out)
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

// Kinds add up what their nodes take, the slowest first.
func TestProfileOperators(t *testing.T) {
	path := model(t, layers)
	var r profileResult
	toolJSON(t, &r, "profile", path, "--time", "30ms", "-t", "1")
	require.Len(t, r.Operators, 2)
	require.Equal(t, "FullyConnected", r.Operators[0].Operator)
	require.Equal(t, 3, r.Operators[0].Nodes)
	sum := map[string]float64{}
	for _, n := range r.Nodes {
		sum[n.Operator] += n.MeanNS
	}
	for _, o := range r.Operators {
		require.InDelta(t, sum[o.Operator], o.MeanNS, 1)
	}
	require.InDelta(t, 1, r.Operators[0].Share+r.Operators[1].Share, 0.001)
	out, _ := tool(t, exitOK, "profile", path, "--time", "10ms")
	require.Regexp(t, `(?m)^node +operator +mean +share$`, out)
	require.Regexp(t, `(?m)^\noperator +nodes +time +share\nFullyConnected +3 .* %$`, out)
}

// The bars of a timeline lie one behind the other along its width.
func TestProfileSVG(t *testing.T) {
	r := &profileResult{Threads: 2, Runs: 5, RunNS: 1000, Operators: []profileOperator{{"Conv2D", 2, 900, 0.9}, {"Add", 1, 100, 0.1}},
		Nodes: []profileNode{
			{Node: 0, Operator: "Conv2D", MeanNS: 600, Share: 0.6}, {Node: 1, Operator: "Add", MeanNS: 100, Share: 0.1},
			{Node: 2, Operator: "Clamp", Fused: true}, {Node: 3, Operator: "Conv2D", MeanNS: 300, Share: 0.3},
		}}
	svg := filepath.Join(t.TempDir(), "x.svg")
	require.NoError(t, r.draw(svg, "a <model>"))
	rects, texts := svgElements(t, svg, "rect")
	var bars []map[string]string
	for _, rect := range rects {
		if rect["height"] == "46" {
			bars = append(bars, rect)
		}
	}
	require.Len(t, bars, 3)
	for i, want := range [][3]string{{"20", "576", "#77aadd"}, {"596", "96", "#bbcc33"}, {"692", "288", "#77aadd"}} {
		require.Equal(t, want, [3]string{bars[i]["x"], bars[i]["width"], bars[i]["fill"]})
	}
	for _, text := range []string{"a <model>: 1 µs a run, threads: 2", "4 nodes take 1 µs of it; mean of 5 runs", "1. node 0 Conv2D: 600.0 ns, 60.0 %",
		"2. node 3 Conv2D: 300.0 ns, 30.0 %", "3. node 1 Add: 100.0 ns, 10.0 %", "convolution: 2 nodes, 900.0 ns, 90.0 %"} {
		require.Contains(t, texts, text)
	}

	path := model(t, layers)
	tool(t, exitOK, "profile", path, "--time", "10ms", "--svg", svg)
	_, texts = svgElements(t, svg, "rect")
	require.Contains(t, strings.Join(texts, "\n"), "1. node ")
	tool(t, exitOK, "profile", fixture("identity"), "--time", "10ms", "--svg", svg)
	svgElements(t, svg, "rect")
	require.Contains(t, fails(t, "profile", path, "--time", "10ms", "--svg", filepath.Join(svg, "x")), "not a directory")
}

// Several models run in turns and are compared with the first.
func TestBenchSeveral(t *testing.T) {
	slow := model(t, layers)
	var r []benchResult
	toolJSON(t, &r, "bench", slow, fixture("add"), slow, "--time", "100ms", "-t", "1")
	require.Len(t, r, 3)
	require.Equal(t, []string{slow, fixture("add"), slow}, []string{r[0].Model, r[1].Model, r[2].Model})
	require.Equal(t, 1.0, r[0].Ratio)
	require.Less(t, r[1].Ratio, 0.5)
	require.InDelta(t, 1, r[2].Ratio, 0.5)
	for _, b := range r {
		require.Greater(t, b.Runs, 1)
		require.LessOrEqual(t, b.MinNS, b.P50NS)
	}
	out, _ := tool(t, exitOK, "bench", slow, fixture("add"), "--time", "10ms")
	require.Regexp(t, `^model +min +p50 +p95 +runs +threads +load +arena +ratio\n.* 1\.000\n.* 0\.\d{3}\n$`, out)
	require.Contains(t, fails(t, "bench", slow, "no such file"), "no such file")
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
