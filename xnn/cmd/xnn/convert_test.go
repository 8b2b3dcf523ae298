package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

var nan, inf = math.NaN(), math.Inf(1)

func isInf(f float64) bool { return math.IsInf(f, 0) }

// What is converted gives the same bits.
func TestConvert(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.xnn")
	path := model(t, network)
	text, _ := tool(t, exitOK, "convert", path, out)
	require.Contains(t, text, " bytes\n")
	tool(t, exitOK, "verify", path, out, "--tolerance", "0", "--runs", "5")
	var r conversion
	toolJSON(t, &r, "convert", path, out)
	info, err := os.Stat(out)
	require.NoError(t, err)
	require.EqualValues(t, info.Size(), r.File.After)
	require.Nil(t, r.Run)
	require.Contains(t, fails(t, "convert", path, filepath.Join(t.TempDir(), "no", "out")), "no such file")
}

func TestConvertTFLite(t *testing.T) {
	names := []string{"face_detection_short_range", "face_detection_full_range", "face_detection_full_range_sparse", "hand_landmark_lite",
		"pose_landmark_lite", "face_landmark", "selfie_segmentation", "inception_v3", "alexa_v0.1", "embedding_model"}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			path, out := modelFile(t, name+".tflite"), filepath.Join(t.TempDir(), "out.xnn")
			tool(t, exitOK, "convert", path, out)
			tool(t, exitOK, "verify", path, out, "--tolerance", "0")
		})
	}
}

// layers are two fully connected layers and one that is too small to pay.
func layers(g *graph.Graph) {
	r := rand.New(rand.NewPCG(1, 2))
	dense := func(x graph.ID, in, out int) graph.ID {
		data := make([]float32, in*out)
		for i := range data {
			data[i] = float32(r.NormFloat64() / math.Sqrt(float64(in)))
		}
		return g.FullyConnected(x, g.Constant(data, out, in), graph.None)
	}
	g.Output(dense(g.ReLU(dense(g.ReLU(dense(g.Input(graph.Float32, 8, 256), 256, 256)), 256, 256)), 256, 4))
}

func TestConvertWeights(t *testing.T) {
	path, out := model(t, layers), filepath.Join(t.TempDir(), "out.xnn")
	args := []string{"convert", path, out, "--time", "20ms", "-t", "1"}
	var r conversion
	toolJSON(t, &r, append(args, "--weights", "int8")...)
	require.Len(t, r.Nodes, 3)
	require.Empty(t, r.Nodes[0].Kept)
	require.Equal(t, weightsNode{0, "FullyConnected", 65536, r.Nodes[0].Loss, 262144, 65536 + 4*256, ""}, r.Nodes[0])
	require.Equal(t, "1024 weights, fewer than 16384, do not pay", r.Nodes[2].Kept)
	require.Less(t, r.File.After, r.File.Before/3)
	require.Less(t, r.Memory.After, r.Memory.Before)
	require.Greater(t, r.Run.After, 0)
	require.Equal(t, 1, r.Threads)
	d := r.Outputs[0]
	require.Greater(t, d.MaxAbs.Difference, double(0))
	require.Less(t, d.OfPeak, double(0.03))
	require.Less(t, d.MeanAbs, d.MaxAbs.Difference)

	// The file is what was measured.
	var v verification
	toolJSON(t, &v, "verify", path, out, "--tolerance", "1")
	require.Equal(t, d.MaxAbs, v.Outputs[0].MaxAbs)
	var i inspection
	toolJSON(t, &i, "inspect", out)
	require.Contains(t, i.Parameters.ByDType, dtypeParameters{"qcint8", 131072, 131072})

	var four conversion
	toolJSON(t, &four, append(args, "--weights", "int4", "--block", "64")...)
	require.Equal(t, 65536/2+2*256*4, four.Nodes[0].After)
	require.Greater(t, four.Outputs[0].MaxAbs.Difference, d.MaxAbs.Difference)

	// A node stays by its number, and all by their operator.
	var kept conversion
	toolJSON(t, &kept, append(args, "--weights", "int8", "--keep", "2")...)
	require.Equal(t, "it is to stay", kept.Nodes[1].Kept)
	require.Empty(t, kept.Nodes[0].Kept)
	var small conversion
	toolJSON(t, &small, append(args, "--weights", "int8", "--min-weights", "1024", "--keep", "0,2")...)
	require.Empty(t, small.Nodes[2].Kept)

	text, _ := tool(t, exitOK, append(args, "--weights", "int8")...)
	require.Regexp(t, `^ +before +after +ratio\nfile +[\d.]+ KiB +[\d.]+ KiB +[\d.]+\nmemory .*\nrun .*\n\noutput `, text)
	require.Contains(t, text, "stays: 1024 weights, fewer than 16384, do not pay\n")
}

// The most sensitive nodes stay until outputs change no more than they may.
func TestConvertMaxChange(t *testing.T) {
	path, out := model(t, layers), filepath.Join(t.TempDir(), "out.xnn")
	args := []string{"convert", path, out, "--time", "20ms", "--weights", "int8", "--min-weights", "1"}
	var all, some conversion
	toolJSON(t, &all, args...)
	require.Empty(t, all.Nodes[0].Kept+all.Nodes[1].Kept+all.Nodes[2].Kept)
	change := float64(all.Outputs[0].OfPeak)
	limit := fmt.Sprint(change * 0.9)
	toolJSON(t, &some, append(args, "--max-change", limit)...)
	require.LessOrEqual(t, float64(some.Outputs[0].OfPeak), change*0.9)
	kept := 0
	for _, n := range some.Nodes {
		if n.Kept != "" {
			require.Regexp(t, `^it alone would change an output by [\d.]+ % of its peak$`, n.Kept)
			kept++
		}
	}
	require.Contains(t, []int{1, 2}, kept)
	var loose conversion
	toolJSON(t, &loose, append(args, "--max-change", "0.5")...)
	require.Equal(t, all.Nodes, loose.Nodes)
	require.Regexp(t, `no node can change: node \d alone, the least sensitive, would change an output by`,
		fails(t, append(args, "--max-change", "1e-9")...))
}

func TestConvertWeightsFails(t *testing.T) {
	path, out := model(t, layers), filepath.Join(t.TempDir(), "out.xnn")
	convert := func(args ...string) string {
		return fails(t, append([]string{"convert", path, out, "--weights"}, args...)...)
	}
	require.Contains(t, convert("int8", "--keep", "FullyConnected"), "all 3 nodes with weights stay")
	require.Contains(t, convert("int8", "--keep", "7"), `--keep "7": no node has this number`)
	require.Contains(t, convert("int8", "--keep", "Conv2D"), `--keep "Conv2D"`)
	require.Contains(t, convert("int8", "-i", "1=x.npy"), "no input 1")
	require.Contains(t, fails(t, "convert", fixture("add"), out, "--weights", "int8"), "no node multiplies with constant weights")
	_, err := os.Stat(out)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Names, which files of TensorFlow Lite have, name nodes, too.
func TestConvertKeepsNames(t *testing.T) {
	g := graph.New()
	layers(g)
	require.NoError(t, g.Check())
	g.Values[g.Nodes[2].Outputs[0]].Name = "middle"
	keep, err := keeper(g, []string{"middle", "0"})
	require.NoError(t, err)
	var stay []string
	for i := range g.Nodes {
		if keep(&g.Nodes[i]) {
			stay = append(stay, g.Nodes[i].Op.Kind())
		}
	}
	require.Equal(t, "FullyConnected FullyConnected", strings.Join(stay, " "))
}
