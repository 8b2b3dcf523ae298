package main

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// From 2048 on, halves are 2 apart: 2049 is a tie, and becomes 2048, which is even, 2051 becomes 2052, and so does 2053.
func TestPrecision(t *testing.T) {
	large := plus(t, 2048, 2048, 2048)
	x := "0=" + savedNpy(t, []float32{1, 3, 5, 0, 2, 4}, 2, 3)
	single, half := []single{2049, 2051, 2053, 2048, 2050, 2052}, []single{2048, 2052, 2052, 2048, 2050, 2052}

	var run runResult
	toolJSON(t, &run, "run", large, "-i", x)
	require.Equal(t, single, run.Outputs[0].First)
	toolJSON(t, &run, "run", large, "-i", x, "--precision", "fp32")
	require.Equal(t, single, run.Outputs[0].First)
	toolJSON(t, &run, "run", large, "-i", x, "--precision", "fp16")
	require.Equal(t, half, run.Outputs[0].First)
	require.Equal(t, "fp32", run.Outputs[0].DType)

	var v verification
	for _, models := range [][]string{{large}, {large, large}} {
		toolJSON(t, &v, append([]string{"verify", "-i", x, "--precision", "fp16", "--tolerance", "0.001"}, models...)...)
		require.Equal(t, extreme{1, []int{0, 0}, 0, 2049, 2048}, v.Outputs[0].MaxAbs)
		require.Equal(t, double(3./6), v.Outputs[0].MeanAbs)
	}
	toolJSON(t, &v, "verify", "-i", x, "--precision", "fp32", large)
	require.Zero(t, v.Outputs[0].MaxAbs.Difference)

	var p profileResult
	toolJSON(t, &p, "profile", large, "--precision", "fp16", "--time", "1ms")
	var kinds []string
	for _, n := range p.Nodes {
		kinds = append(kinds, n.Operator)
	}
	require.Equal(t, []string{"Convert", "Add", "Convert"}, kinds)

	// The size that a file fixes its arena at is of its own precision.
	var keys map[string]int64
	out, _ := tool(t, exitOK, "bench", fixture("arena"), "--precision", "fp16", "--time", "1ms", "--json")
	require.NoError(t, json.Unmarshal([]byte(out), &keys))
	require.NotEqualValues(t, 4096, keys["arena_bytes"])
	require.Positive(t, keys["min_ns"])
}

func TestInspectPrecision(t *testing.T) {
	var r inspection
	toolJSON(t, &r, "inspect", plus(t, 1, 2, 3), "--precision", "fp16", "--shape", "0=7x3")
	require.True(t, r.RunsHere, r.Reason)
	require.Equal(t, []operator{{"Convert", 2, 0, 0}, {"Add", 1, 3, 0}}, r.Operators)
	require.Equal(t, parameters{3, 6, []dtypeParameters{{"fp16", 3, 6}}}, r.Parameters)
	require.Equal(t, 2*2*21, r.Totals["internal_bytes"])
	require.Equal(t, "fp32", r.Inputs[0].DType)
	require.Equal(t, []int{7, 3}, []int(r.Outputs[0].Shape))
	toolJSON(t, &r, "inspect", fixture("arena"), "--precision", "fp16")
	require.Zero(t, r.Arenas.Declared)
}
