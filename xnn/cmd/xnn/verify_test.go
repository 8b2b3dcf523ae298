package main

import (
	"image/color"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// plus is a model that adds numbers to its input.
func plus(t *testing.T, numbers ...float32) string {
	return model(t, func(g *graph.Graph) {
		g.Output(g.Add(g.Input(graph.Float32, 2, len(numbers)), g.Constant(numbers, len(numbers))))
	})
}

func savedNpy(t *testing.T, data []float32, dims ...int) string {
	path := filepath.Join(t.TempDir(), "x.npy")
	require.NoError(t, writeNpy(path, xnn.NewTensor(data, dims...)))
	return path
}

func TestVerify(t *testing.T) {
	a := plus(t, 0, 0, 0)
	var r verification
	toolJSON(t, &r, "verify", a, plus(t, 0, 0, 0), "--runs", "3")
	require.True(t, r.Within)
	require.Equal(t, 3, r.Runs)
	require.Zero(t, r.Outputs[0].MaxAbs.Difference)
	require.Equal(t, 18, r.Outputs[0].Elements)
	out, _ := tool(t, exitOK, "verify", a, plus(t, 0, 0, 0), "--tolerance", "0")
	require.Contains(t, out, "0       [2,3]  0 ")

	x := savedNpy(t, []float32{1, 2, 4, 8, 0.25, -16}, 2, 3)
	out, stderr := tool(t, exitFailed, "verify", a, plus(t, 0, 0.25, -1), "-i", "0="+x)
	require.Regexp(t, `^output +shape +largest difference +of the peak +at +first +second +largest relative +at +mean difference\n`+
		`0 +\[2,3\] +1 +6.25 % +\[0,2\] +4 +3 +0.5 +\[1,1\] +0.4167\n$`, out)
	require.Equal(t, "xnn: output 0 differs by more than 0.0001 * (1 + |a|) in 4 of 6 elements\n", stderr)

	toolJSON(t, &r, "verify", a, plus(t, 0, 0.25, -1), "-i", "0="+x, "--tolerance", "0.2", "--runs", "9")
	require.Equal(t, 1, r.Runs, "all inputs are given")
	require.Equal(t, extreme{1, []int{0, 2}, 0, 4, 3}, r.Outputs[0].MaxAbs)
	require.Equal(t, extreme{0.5, []int{1, 1}, 0, 0.25, 0.5}, r.Outputs[0].MaxRel)
	require.Equal(t, double(2.5/6), r.Outputs[0].MeanAbs)
	require.Equal(t, double(16), r.Outputs[0].Peak)
	require.Zero(t, r.Outputs[0].Above, "1 is no more than 0.2 * (1 + 4), 0.25 than 0.2 * 1.25")
	require.True(t, r.Within)

	// Another seed, other values; a range of them.
	var seven, eight, wide verification
	toolJSON(t, &seven, "verify", a, plus(t, 1, 0, 0), "--tolerance", "9", "--seed", "7")
	toolJSON(t, &eight, "verify", a, plus(t, 1, 0, 0), "--tolerance", "9", "--seed", "8")
	toolJSON(t, &wide, "verify", a, plus(t, 1, 0, 0), "--tolerance", "9", "--seed", "8", "--range", "100..200")
	require.NotEqual(t, seven.Outputs[0].Peak, eight.Outputs[0].Peak)
	require.LessOrEqual(t, eight.Outputs[0].Peak, double(1))
	require.Greater(t, wide.Outputs[0].Peak, double(100))
}

// What is not a number is so in both, or it differs.
func TestVerifyNaN(t *testing.T) {
	require.Zero(t, apart(nan, nan))
	require.Zero(t, apart(inf, inf))
	for _, pair := range [][2]float64{{nan, 1}, {1, nan}, {inf, 1}, {inf, -inf}, {nan, inf}} {
		require.Equal(t, inf, apart(pair[0], pair[1]))
		require.False(t, tolerance(1).allows(pair[0], pair[1]) && pair[0] == pair[0] && !isInf(pair[0]))
	}
	a := model(t, func(g *graph.Graph) { g.Output(g.SquareRoot(g.Input(graph.Float32, 2))) })
	b := model(t, func(g *graph.Graph) { g.Output(g.SquareRoot(g.Abs(g.Input(graph.Float32, 2)))) })
	x := savedNpy(t, []float32{4, -4}, 2)
	_, stderr := tool(t, exitFailed, "verify", a, b, "-i", "0="+x)
	require.Contains(t, stderr, "1 of 2 elements")
	tool(t, exitOK, "verify", a, a, "-i", "0="+x)
}

// Inputs of other types get the nearest numbers.
func TestVerifyTypes(t *testing.T) {
	real := model(t, func(g *graph.Graph) { x := g.Input(graph.Float32, 1, 2, 2, 3); g.Output(g.Add(x, x)) })
	stored := model(t, func(g *graph.Graph) {
		x := g.InputOf(graph.Type{DType: graph.QUInt8, Shape: graph.Shape{1, 2, 2, 3}, Quant: &graph.Quant{Scale: 1. / 128, ZeroPoint: 128}})
		g.Output(g.Convert(g.Add(x, x, graph.Quantized(graph.QUInt8, 1./64, 128)), graph.As(graph.Float32)))
	})
	var r verification
	toolJSON(t, &r, "verify", real, stored, "--tolerance", "0.02", "--runs", "20")
	require.Greater(t, r.Outputs[0].MaxAbs.Difference, double(0))
	toolJSON(t, &r, "verify", real, stored, "--tolerance", "0.02", "--range", "-1..1", "-i",
		"0="+picturePNG(t, []color.RGBA{red, grey}, []color.RGBA{blue, green}))
	require.LessOrEqual(t, r.Outputs[0].MaxAbs.Difference, double(0.02))
}

func TestVerifyMismatch(t *testing.T) {
	a := plus(t, 1, 2)
	require.Contains(t, fails(t, "verify", a, plus(t, 1, 2, 3)), "input 0 is fp32[2,2] of one and fp32[2,3] of the other")
	require.Contains(t, fails(t, "verify", a, fixture("add")), "one has 1 inputs and 1 outputs, the other 2 and 1")
	b := model(t, func(g *graph.Graph) { g.Output(g.Reshape(g.Input(graph.Float32, 2, 2), 4)) })
	require.Contains(t, fails(t, "verify", a, b), "output 0 is fp32[2,2] of one and fp32[4] of the other")
	require.Contains(t, fails(t, "verify", a, a, "-i", "1=x.npy"), "no input 1, the model has 1")
	require.Contains(t, fails(t, "verify", a, a, "-i", "0=no such file"), "no such file")
	// Shapes that files bring reach both.
	tool(t, exitOK, "verify", a, a, "-i", "0="+savedNpy(t, make([]float32, 10), 5, 2))
}
