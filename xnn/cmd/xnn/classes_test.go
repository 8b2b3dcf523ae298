package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func labelFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "labels.txt")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestClasses(t *testing.T) {
	nan := float32(math.NaN())
	path := model(t, func(g *graph.Graph) {
		g.Output(g.Input(graph.Float32, 2))
		g.Output(g.Add(g.Constant([]float32{1, 3, nan, 2, 5, 5, 1, 0}, 2, 4), g.Input(graph.Float32, 1)))
	})
	labels := labelFile(t, "ant\n bee \ncat\tx\ndog\n")
	zero := filepath.Join(t.TempDir(), "zero.npy")
	require.NoError(t, writeNpy(zero, xnn.NewTensor([]float32{0}, 1)))
	args := []string{"run", path, "-i", "1=" + zero, "--seed", "1", "--labels", labels}
	var r runResult
	toolJSON(t, &r, append(args, "--top", "3")...)
	require.Len(t, r.Classes, 6)
	require.Equal(t, []class{
		{1, 0, 1, "bee", 3}, {1, 0, 3, "dog", 2}, {1, 0, 0, "ant", 1},
		{1, 1, 0, "ant", 5}, {1, 1, 1, "bee", 5}, {1, 1, 2, "cat\tx", 1},
	}, r.Classes)
	out, _ := tool(t, exitOK, append(args, "--top", "1")...)
	require.Contains(t, out, "\n\nrow  class  score   label\n0    1      3.0000  bee\n1    0      5.0000  ant\n")

	// Probabilities of 2 and 0: 1/(1+e^-2).
	two := model(t, func(g *graph.Graph) { g.Output(g.Add(g.Input(graph.Float32, 1), g.Constant([]float32{0, 2}, 2))) })
	var soft runResult
	toolJSON(t, &soft, "run", two, "-i", "0="+zero, "--labels", labelFile(t, "no\nyes"), "--softmax")
	require.Len(t, soft.Classes, 2)
	require.InDelta(t, 1/(1+math.Exp(-2)), float64(soft.Classes[0].Score), 1e-6)
	require.InDelta(t, 1, float64(soft.Classes[0].Score+soft.Classes[1].Score), 1e-6)

	require.Contains(t, fails(t, "run", two, "--seed", "1", "--labels", labels), "names 4 classes, the outputs are [2]")
	require.Contains(t, fails(t, "run", two, "--seed", "1", "--labels", labelFile(t, "")), "no lines")
	require.Contains(t, fails(t, "run", two, "--seed", "1", "--labels", "no such file"), "no such file")
}

// A published network knows what is in its example.
func TestClassesOfPhoto(t *testing.T) {
	path, photo, labels := modelFile(t, "inception_v3.tflite"), modelFile(t, "labrador.jpg"), modelFile(t, "inception_v3.txt")
	var r runResult
	toolJSON(t, &r, "run", path, "-i", "0="+photo, "--labels", labels)
	require.Len(t, r.Classes, 5)
	require.Equal(t, "Labrador retriever", r.Classes[0].Label)
}
