package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func TestInspectJSON(t *testing.T) {
	var r inspection
	toolJSON(t, &r, "inspect", fixture("const"))
	zero := 0
	require.Equal(t, inspection{
		File: fixture("const"), FileBytes: 480, Version: "5f1c2b8d9e7a60413c2d4e6f8091a2b3c4d5e6f7", RunsHere: true,
		Inputs:  []external{{0, 0, "fp32", xnn.Shape{3}, 12}},
		Outputs: []external{{0, 1, "fp32", xnn.Shape{3}, 12}},
		Values: []value{
			{2, "fp32", xnn.Shape{3}, 12, "constant", 1},
			{1, "fp32", xnn.Shape{3}, 12, "output", 0},
			{0, "fp32", xnn.Shape{3}, 12, "input", 0},
		},
		Nodes:     []node{{0, "Add", []uint32{0, 2}, []uint32{1}, 41}},
		Constants: []constant{{1, 12, 12}},
		Arenas:    arenas{Declared: 0, Needed: &zero, Spare: []uint32{}},
		Totals: map[string]int{
			"values": 3, "nodes": 1, "constants": 1, "constant_bytes": 12, "input_bytes": 12, "output_bytes": 12, "internal_bytes": 0,
		},
	}, r)
}

// No list is null, however empty.
func TestInspectKeys(t *testing.T) {
	for _, name := range []string{"const", "identity", "constonly", "scalar", "zero"} {
		out, _ := tool(t, exitOK, "inspect", fixture(name), "--json")
		require.NotContains(t, out, "null", name)
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(out), &keys))
		for _, key := range []string{"file", "file_bytes", "version", "runs_here", "inputs", "outputs", "values", "nodes", "constants", "arenas", "totals"} {
			require.Contains(t, keys, key, name)
		}
	}
}

func TestInspectText(t *testing.T) {
	out, _ := tool(t, exitOK, "inspect", fixture("chain"))
	for _, line := range []string{
		"runs here  yes\n",
		"totals     4 values, 2 nodes, 0 constants of 0 bytes\n",
		"tensors    inputs 24 bytes, outputs 12, intermediate 12\n",
		"input  value  dtype  shape  bytes\n",
		"node  operator  reads  writes  handle\n",
	} {
		require.Contains(t, out, line)
	}
	out, _ = tool(t, exitOK, "inspect", fixture("identity"))
	require.Contains(t, out, "input+output")
	require.NotContains(t, out, "node  operator")
	out, _ = tool(t, exitOK, "inspect", fixture("sizes_extra"))
	require.Contains(t, out, "spare entry  64 bytes, unused\nspare entry  4096 bytes, unused\n")
}

// A file that is right is shown even where it does not run, with the reason.
func TestInspectWhatCannotRun(t *testing.T) {
	var r inspection
	toolJSON(t, &r, "inspect", fixture("arena_small"))
	require.False(t, r.RunsHere)
	require.EqualValues(t, 16, r.Arenas.Declared)
	require.Greater(t, *r.Arenas.Needed, 16)
	require.Contains(t, r.Reason, "fixes the arena at 16")
	require.Contains(t, fails(t, "run", fixture("arena_small"), "--seed", "1"), "16")

	huge := model(t, func(g *graph.Graph) {
		x := g.Input(graph.Float32, 1<<26, 1<<20)
		g.Output(g.Add(x, x))
	})
	var unfit inspection
	toolJSON(t, &unfit, "inspect", huge)
	require.False(t, unfit.RunsHere)
	require.Contains(t, unfit.Reason, "memory limit")
	require.Equal(t, 1<<48, unfit.Inputs[0].Bytes)
	require.Contains(t, fails(t, "run", huge, "--seed", "1"), "memory limit")

	var fits inspection
	toolJSON(t, &fits, "inspect", fixture("arena"))
	require.True(t, fits.RunsHere)
	require.EqualValues(t, 4096, fits.Arenas.Declared)
}

func TestInspectPadding(t *testing.T) {
	var r inspection
	toolJSON(t, &r, "inspect", fixture("const_padded"))
	require.Equal(t, []constant{{1, 4, 12}}, r.Constants)
	require.Equal(t, 12, r.Totals["constant_bytes"])
}

// What a file says of itself cannot disturb a terminal.
func TestInspectEscapes(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 2, 1, 3)
	g.Output(g.Add(x, x))
	g.Version = "v1\x1b[2J\nruns here  no"
	file, err := g.Marshal()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "m\n.xnn")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	out, _ := tool(t, exitOK, "inspect", path)
	require.NotContains(t, out, "\x1b")
	require.Contains(t, out, `"v1\x1b[2J\nruns here  no"`)
	require.Contains(t, out, `m\n.xnn`)
	require.Contains(t, out, "[2,1,3]")
	var r inspection
	toolJSON(t, &r, "inspect", path)
	require.Equal(t, g.Version, r.Version)
	require.Equal(t, path, r.File)
}
