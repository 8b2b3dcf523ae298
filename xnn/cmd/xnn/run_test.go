package main

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/sbinet/npyio/npy"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func TestRun(t *testing.T) {
	y := filepath.Join(t.TempDir(), "y.npy")
	out, _ := tool(t, exitOK, "run", fixture("add"), "-i", "0="+array("x3"), "-i", "1="+array("b3"), "-o", "0="+y)
	require.Equal(t, ""+
		"output  dtype  shape  min  max  mean  first values\n"+
		"0       fp32   [3]    11   33   22    11 22 33\n", out)

	// The library reads what was written, and NumPy's header for the same shape is the same.
	f, err := os.Open(y)
	require.NoError(t, err)
	defer f.Close()
	var got []float32
	require.NoError(t, npy.Read(f, &got))
	require.Equal(t, []float32{11, 22, 33}, got)
	require.Equal(t, header(t, array("x3")), header(t, y))

	var r runResult
	toolJSON(t, &r, "run", fixture("add"), "-i", "0="+array("x3"), "-i", "1="+array("b3"), "-t", "2")
	require.Equal(t, runResult{Threads: 1, Outputs: []summary{{
		Index: 0, DType: "fp32", Shape: xnn.Shape{3}, Elements: 3, Min: ptr[single](11), Max: ptr[single](33), Mean: ptr[double](22), First: []single{11, 22, 33},
	}}}, r)
}

// TestWeightsCache: run and bench keep packed weights where they are told to, and find them there.
func TestWeightsCache(t *testing.T) {
	path := model(t, func(g *graph.Graph) {
		weights := g.Constant([]float32{1, 2, 3, 4, 5, 6}, 2, 3)
		g.Output(g.FullyConnected(g.Input(graph.Float32, 1, 3), weights, graph.None))
	})
	folder := filepath.Join(t.TempDir(), "weights")
	for range 2 {
		// 1*1+2*2+3*3 and 4*1+5*2+6*3
		out, _ := tool(t, exitOK, "run", path, "-i", "0="+array("x1x3"), "--weights-cache", folder)
		require.Regexp(t, `(?m)^0 .* 14 32$`, out)
		tool(t, exitOK, "bench", path, "--time", "1ms", "--weights-cache", folder)
		files, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, files, 1)
	}
}

func ptr[T any](v T) *T { return &v }

func header(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(b[:128])
}

// Scalars and empty arrays go in and come out with their shapes.
func TestRunShapes(t *testing.T) {
	y := filepath.Join(t.TempDir(), "y.npy")
	tool(t, exitOK, "run", fixture("scalar"), "-i", "0="+array("scalar_a"), "-i", "1="+array("scalar_b"), "-o", "0="+y)
	data, shape := floats(t, y)
	require.Equal(t, []float32{3.5}, data)
	require.Empty(t, shape)
	require.Equal(t, header(t, array("scalar_a")), header(t, y))

	out, _ := tool(t, exitOK, "run", fixture("zero"), "-i", "0="+array("empty_0x2"), "-i", "1="+array("row_1x2"), "-o", "0="+y)
	require.Contains(t, out, "0       fp32   [0,2]  -    -    -     -\n")
	data, shape = floats(t, y)
	require.Empty(t, data)
	require.Equal(t, xnn.Shape{0, 2}, shape)
	require.Equal(t, header(t, array("empty_0x2")), header(t, y))
}

// What comes out of an fp16 model are NumPy's bits for the same sum; see the README of the fixtures.
func TestRunHalf(t *testing.T) {
	y := filepath.Join(t.TempDir(), "y.npy")
	out, _ := tool(t, exitOK, "run", fixture("fp16"), "-i", "0="+array("half_a"), "-i", "1="+array("half_b"), "-o", "0="+y)
	require.Contains(t, out, "nan")
	require.Equal(t, header(t, array("half_a")), header(t, y))
	a, err := openSource(y, look{})
	require.NoError(t, err)
	defer a.close()
	require.Equal(t, xnn.Type{DType: xnn.Float16, Shape: xnn.Shape{8}}, a.(*npyFile).typ)
	got := make([]xnn.Half, 8)
	require.NoError(t, a.read(xnn.NewTensor(got, 8)))
	for i, want := range []xnn.Half{0x7c00, 0x6800, 0x7e00, 0xfbff, 0x7e00, 0x7e00, 0x0002, 0x34cc} {
		if want == 0x7e00 {
			require.True(t, math.IsNaN(float64(got[i].Float32())), i)
		} else {
			require.Equal(t, want, got[i], i)
		}
	}
	var r runResult
	toolJSON(t, &r, "run", fixture("identity"), "-i", "0="+array("nan"))
	s := r.Outputs[0]
	require.Equal(t, 1, s.NaN)
	require.Equal(t, ptr[single](-2), s.Min)
	require.True(t, math.IsInf(float64(*s.Max), 1))
}

// Another legal shape reshapes, an illegal one is the library's error.
func TestRunReshape(t *testing.T) {
	var r runResult
	toolJSON(t, &r, "run", fixture("add"), "-i", "0="+array("x4"), "-i", "1="+array("b4"))
	require.Equal(t, xnn.Shape{4}, r.Outputs[0].Shape)
	require.Equal(t, []single{1.5, 2.25, 2, 1000004}, r.Outputs[0].First)
	require.Equal(t, ptr[double](1000009.75/4), r.Outputs[0].Mean)

	line := fails(t, "run", fixture("add"), "-i", "0="+array("x3"), "-i", "1="+array("b4"))
	require.Contains(t, line, "[3]")
	require.Contains(t, line, "[4]")
	require.Contains(t, fails(t, "run", fixture("add"), "-i", "0="+array("x1x3"), "--seed", "1"), "input 0: [1,3] has not the rank of the declared [3]")
}

func TestRunMissingInputs(t *testing.T) {
	path := model(t, func(g *graph.Graph) {
		a, b := g.Input(graph.Float32, 2, 3), g.Input(graph.Float16, 4)
		g.Output(g.Add(a, a))
		g.Output(g.Add(b, b))
	})
	require.Contains(t, fails(t, "run", path), "inputs not given: 0 fp32[2,3], 1 fp16[4] (")
	require.Contains(t, fails(t, "run", fixture("add"), "-i", "1="+array("b3")), "inputs not given: 0 fp32[3] (")
	require.Contains(t, fails(t, "run", fixture("add"), "-i", "2="+array("b3"), "--seed", "1"), "no input 2, the model has 2")
	require.Contains(t, fails(t, "run", fixture("add"), "-o", "1=y.npy", "--seed", "1"), "no output 1, the model has 1")
}

// The values are those of the documented generator, worked out by a program in Python that has its own PCG.
func TestRunSeed(t *testing.T) {
	path := model(t, func(g *graph.Graph) {
		for _, dtype := range []graph.DType{graph.Float32, graph.Float32, graph.Float16, graph.Float16} {
			g.Output(g.Input(dtype, 3))
		}
	})
	var r runResult
	toolJSON(t, &r, "run", path, "--seed", "7")
	require.Equal(t, []float32{-0.46094250679016113, -0.4005640745162964, -0.7685296535491943}, singles(r.Outputs[0].First))
	require.Equal(t, []float32{0.2358304262161255, 0.605270504951477, -0.9182101488113403}, singles(r.Outputs[1].First))
	require.Equal(t, []float32{0.251953125, 0.9306640625, -0.8203125}, singles(r.Outputs[2].First))
	require.Equal(t, []float32{0.60546875, 0.7080078125, -0.4423828125}, singles(r.Outputs[3].First))

	one, _ := tool(t, exitOK, "run", path, "--seed", "7", "-t", "1")
	again, _ := tool(t, exitOK, "run", path, "--seed", "7")
	other, _ := tool(t, exitOK, "run", path, "--seed", "8")
	zero, _ := tool(t, exitOK, "run", path, "--seed", "0")
	require.Equal(t, one, again)
	require.NotEqual(t, one, other)
	require.NotEqual(t, one, zero)

	// An input that is given does not change what the others get.
	var given runResult
	toolJSON(t, &given, "run", path, "--seed", "7", "-i", "0="+array("x3"))
	require.Equal(t, []single{1, 2, 3}, given.Outputs[0].First)
	require.Equal(t, r.Outputs[1:], given.Outputs[1:])
}

// The infinities and NaN come back as strings.
func (f *single) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 32)
	*f = single(v)
	return err
}

func (f *double) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	*f = double(v)
	return err
}

func singles(numbers []single) []float32 {
	out := make([]float32, len(numbers))
	for i, n := range numbers {
		out[i] = float32(n)
	}
	return out
}

func TestRunSeedRange(t *testing.T) {
	path := model(t, func(g *graph.Graph) { g.Output(g.Input(graph.Float32, 1000)); g.Output(g.Input(graph.Float16, 1000)) })
	var r runResult
	toolJSON(t, &r, "run", path, "--seed", "18446744073709551615")
	for _, s := range r.Outputs {
		require.GreaterOrEqual(t, float64(*s.Min), -1.0)
		require.Less(t, float64(*s.Max), 1.0)
		require.Less(t, math.Abs(float64(*s.Mean)), 0.1)
		require.Len(t, s.First, firstCount)
	}
}

func TestRunBadArrays(t *testing.T) {
	whole, err := os.ReadFile(array("x3"))
	require.NoError(t, err)
	write := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	edit := func(name, old, new string) string {
		require.Contains(t, string(whole), old)
		return write(name, []byte(strings.Replace(string(whole), old, new, 1)))
	}
	for file, want := range map[string]string{
		array("double"):                            "elements are '<f8'",
		array("half_a"):                            "it holds fp16[8], input 0 takes fp32[3]",
		array("big_endian"):                        "big-endian ('>f4')",
		array("big_endian_half"):                   "big-endian ('>f2')",
		array("fortran"):                           "Fortran order",
		array("record"):                            "'|i1' or '|u1' is needed",
		array("object"):                            "'|i1' or '|u1' is needed",
		fixture("add"):                             "not a .npy file",
		"no such.npy":                              "no such file",
		write("empty", nil):                        "not a .npy file",
		write("cut", whole[:40]):                   "malformed",
		write("header", whole[:128]):               "needs 12 bytes, the file has 0",
		write("short", whole[:139]):                "needs 12 bytes, the file has 11",
		write("long", append(whole, 0)):            "needs 12 bytes, the file has 13",
		edit("huge", "(3,), }    ", "(1<<62,), }"): "", // no number
		edit("large", "(3,), }         ", "(4000000000,), }"):  "needs 16000000000 bytes, the file has 12",
		edit("negative", "(3,), } ", "(-3,), }"):               "-3",
		edit("keys", "'descr'", "'dtype'"):                     "",
		edit("line", "\n", " "):                                "malformed",
		edit("version", "\x01\x00v\x00", "\x02\x00\xff\xff"):   "at most",
		edit("order", "'descr': '<f4', ", "               , "): "",
	} {
		line := fails(t, "run", fixture("add"), "-i", "0="+file, "--seed", "1")
		require.Contains(t, line, file)
		require.Contains(t, line, want)
	}
}

// An output file is there whole or not at all, and nothing else is left.
func TestOutputFiles(t *testing.T) {
	dir := t.TempDir()
	y, link := filepath.Join(dir, "y.npy"), filepath.Join(dir, "link.npy")
	require.NoError(t, os.WriteFile(y, []byte("old"), 0o640))
	require.NoError(t, os.Symlink("y.npy", link))
	fails(t, "run", fixture("arena_small"), "--seed", "1", "-o", "0="+y)
	old, err := os.ReadFile(y)
	require.NoError(t, err)
	require.Equal(t, "old", string(old))

	tool(t, exitOK, "run", fixture("add"), "--seed", "1", "-o", "0="+link)
	_, shape := floats(t, y)
	require.Equal(t, xnn.Shape{3}, shape)
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink)

	require.Contains(t, fails(t, "run", fixture("add"), "--seed", "1", "-o", "0="+filepath.Join(dir, "no", "y.npy")), "no such file")
	tool(t, exitOK, "run", fixture("add"), "--seed", "1", "-o", "0=/dev/null")
	info, err = os.Stat("/dev/null")
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular())
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, names, 2)
}
