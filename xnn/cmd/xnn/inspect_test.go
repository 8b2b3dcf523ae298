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
	require.NotNil(t, r.Memory)
	require.Greater(t, r.Memory.Total, r.Memory.Constants+r.Memory.Tensors)
	require.GreaterOrEqual(t, r.Memory.Constants, int64(12))
	r.Memory = nil
	require.Equal(t, inspection{
		File: fixture("const"), FileBytes: 480, Version: "5f1c2b8d9e7a60413c2d4e6f8091a2b3c4d5e6f7", RunsHere: true,
		Inputs:    []external{{Index: 0, Value: 0, DType: "fp32", Shape: xnn.Shape{3}, Bytes: 12}},
		Outputs:   []external{{Index: 0, Value: 1, DType: "fp32", Shape: xnn.Shape{3}, Bytes: 12}},
		Operators: []operator{{"Add", 1, 3, 0}},
		Values: []value{
			{ID: 2, DType: "fp32", Shape: xnn.Shape{3}, Bytes: 12, Use: "constant", Constant: 1},
			{ID: 1, DType: "fp32", Shape: xnn.Shape{3}, Bytes: 12, Use: "output"},
			{ID: 0, DType: "fp32", Shape: xnn.Shape{3}, Bytes: 12, Use: "input"},
		},
		Nodes:      []node{{Node: 0, Operator: "Add", Inputs: []uint32{0, 2}, Outputs: []uint32{1}, DebugHandle: 41}},
		Constants:  []constant{{1, 12, 12}},
		Arenas:     arenas{Declared: 0, Needed: &zero, Spare: []uint32{}},
		Parameters: parameters{3, 12, []dtypeParameters{{"fp32", 3, 12}}},
		Totals: map[string]int{
			"values": 3, "nodes": 1, "constants": 1, "constant_bytes": 12, "input_bytes": 12, "output_bytes": 12, "internal_bytes": 0,
		},
	}, r)
}

// network has a convolution and a fully connected layer, weights of several types and a quantised input.
func network(g *graph.Graph) {
	zeros := func(dims ...int) graph.ID { return g.Constant(make([]float32, xnn.Shape(dims).Elements()), dims...) }
	x := g.Convert(g.InputOf(graph.Type{DType: graph.QUInt8, Shape: graph.Shape{1, 8, 8, 3}, Quant: &graph.Quant{Scale: 0.5, ZeroPoint: 3}}),
		graph.As(graph.Float32))
	x = g.Conv2D(x, zeros(4, 3, 3, 3), zeros(4), graph.Conv2D{SamePadding: true, Stride: [2]int{2, 2}}, graph.Limits(0, 6)) // [1,4,4,4]
	x = g.ReduceMean(x, []int{1, 2}, false)
	t, raw, err := graph.QuantizeChannels(make([]float32, 20), graph.Shape{5, 4}, 0, graph.QCInt8)
	if err != nil {
		panic(err)
	}
	g.Output(g.Softmax(g.FullyConnected(g.Convert(x, graph.Dynamic(1)), g.ConstantOf(t, raw), graph.None)))
}

func TestInspectNetwork(t *testing.T) {
	path := model(t, network)
	var r inspection
	toolJSON(t, &r, "inspect", path)
	require.True(t, r.RunsHere, r.Reason)
	require.Equal(t, 4*4*4*27+20, r.MultiplyAdds)
	require.Equal(t, parameters{4*27 + 4 + 20, 4*(4*27+4) + 20, []dtypeParameters{{"fp32", 112, 448}, {"qcint8", 20, 20}}}, r.Parameters)
	require.Equal(t, []operator{
		{"Conv2D", 1, 112, 1728}, {"FullyConnected", 1, 20, 20}, {"Convert", 2, 0, 0}, {"ReduceMean", 1, 0, 0}, {"Softmax", 1, 0, 0},
	}, r.Operators)
	require.Equal(t, &quant{Scale: 0.5, ZeroPoint: 3}, r.Inputs[0].Quant)
	conv := r.Nodes[1]
	require.Equal(t, map[string]any{"same_padding": true, "stride": []any{2., 2.}, "kernel": []any{3., 3.}, "group_inputs": 3.,
		"group_outputs": 4., "range": []any{0., 6.}}, conv.Settings)
	require.Equal(t, 1728, conv.MultiplyAdds)
	require.Greater(t, r.Memory.Weights, int64(448))

	out, _ := tool(t, exitOK, "inspect", path)
	for _, line := range []string{
		"parameters     132, 468 bytes: fp32 448 bytes, qcint8 20 bytes\n",
		"multiply-adds  1748\n",
		"memory         ",
		"0      0      quint8(0.5,3)  [1,8,8,3]  192\n",
		"operator        nodes  parameters  multiply-adds\nConv2D          1      112         1728\n",
		"same padding, stride 2x2, kernel 3x3, from 0 to 6\n",
		"qcint8(5 scales along 0)",
	} {
		require.Contains(t, out, line)
	}
	require.NotContains(t, out, "handle")
	require.NotContains(t, out, "name")
}

// Other shapes take other sums and other memory.
func TestInspectShape(t *testing.T) {
	path := model(t, network)
	var one, four inspection
	toolJSON(t, &one, "inspect", path)
	toolJSON(t, &four, "inspect", path, "--shape", "0=4x16x8x3")
	require.Equal(t, 4*(8*4*4*27+20), four.MultiplyAdds)
	require.Equal(t, xnn.Shape{4, 5}, four.Outputs[0].Shape)
	require.Greater(t, *four.Arenas.Needed, *one.Arenas.Needed)
	require.Greater(t, four.Memory.Tensors, one.Memory.Tensors)
	require.Contains(t, fails(t, "inspect", path, "--shape", "1=3"), "no input 1, the model has 1")
	require.Contains(t, fails(t, "inspect", path, "--shape", "0=3"), "[3] has not the rank of the declared [1,8,8,3]")
	require.Contains(t, fails(t, "inspect", path, "--shape", "0=1x8x8x4"), "4 channels")
}

// Names come with the files that have them.
func TestInspectNames(t *testing.T) {
	path := modelFile(t, "face_detection_short_range.tflite")
	var r inspection
	toolJSON(t, &r, "inspect", path)
	require.Equal(t, "input", r.Inputs[0].Name)
	out, _ := tool(t, exitOK, "inspect", path)
	require.Regexp(t, `output  value  dtype  shape +bytes +name\n0 .*  regressors\n1 .*  classificators\n`, out)
	require.True(t, r.RunsHere)
}

// No list is null, however empty.
func TestInspectKeys(t *testing.T) {
	for _, name := range []string{"const", "identity", "constonly", "scalar", "zero"} {
		out, _ := tool(t, exitOK, "inspect", fixture(name), "--json")
		require.NotContains(t, out, "null", name)
		var keys map[string]json.RawMessage
		require.NoError(t, json.Unmarshal([]byte(out), &keys))
		for _, key := range []string{"file", "file_bytes", "version", "runs_here", "inputs", "outputs", "values", "nodes", "constants",
			"arenas", "totals", "operators", "parameters", "multiply_adds", "memory"} {
			require.Contains(t, keys, key, name)
		}
	}
}

func TestInspectText(t *testing.T) {
	out, _ := tool(t, exitOK, "inspect", fixture("chain"))
	for _, line := range []string{
		"runs here   yes\n",
		"parameters  0, 0 bytes\n",
		"totals      4 values, 2 nodes, 0 constants of 0 bytes\n",
		"tensors     inputs 24 bytes, outputs 12, intermediate 12\n",
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
