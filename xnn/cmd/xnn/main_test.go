package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// toolPath is the tool, built once for all tests.
var toolPath string

func TestMain(m *testing.M) { os.Exit(buildAndRun(m)) }

func buildAndRun(m *testing.M) int {
	dir, err := os.MkdirTemp("", "xnn-tool")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	toolPath = filepath.Join(dir, "xnn")
	if out, err := exec.Command("go", "build", "-o", toolPath, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%s%v\n", out, err)
		return 1
	}
	return m.Run()
}

// tool runs the tool and wants this exit status. It gives what was printed.
func tool(t *testing.T, status int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.Command(toolPath, args...)
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.Equal(t, status, cmd.ProcessState.ExitCode(), "xnn %q\n%s%s", args, &out, &errs)
	if status == exitOK {
		require.Empty(t, errs.String(), "xnn %q", args)
	}
	return out.String(), errs.String()
}

// fails runs the tool, wants status 1 and exactly one line on standard error, and gives it without the program's name.
func fails(t *testing.T, args ...string) string {
	t.Helper()
	stdout, stderr := tool(t, exitFailed, args...)
	require.Empty(t, stdout, "xnn %q", args)
	line, ok := strings.CutPrefix(stderr, "xnn: ")
	require.True(t, ok, "xnn %q: %q", args, stderr)
	line, ok = strings.CutSuffix(line, "\n")
	require.True(t, ok && line != "" && !strings.Contains(line, "\n"), "xnn %q: %q is not one line", args, stderr)
	return line
}

// toolJSON runs the tool with --json and decodes what it prints.
func toolJSON(t *testing.T, v any, args ...string) {
	t.Helper()
	out, _ := tool(t, exitOK, append(args, "--json")...)
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(v), out)
}

// fixture is a file flatc made; see the README beside them.
func fixture(name string) string {
	return filepath.Join("..", "..", "..", "schema", "testdata", "xnngraph", name+".bin")
}

// array is a file NumPy made; see testdata/make.py.
func array(name string) string { return filepath.Join("testdata", name+".npy") }

// model writes a graph to a file.
func model(t *testing.T, build func(g *graph.Graph)) string {
	t.Helper()
	g := graph.New()
	build(g)
	file, err := g.Marshal()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a model.xnn")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	return path
}

// The contract's status 2: the command line is wrong, whatever the model.
func TestUsage(t *testing.T) {
	m := fixture("add")
	for _, args := range [][]string{
		{},
		{"frobnicate"},
		{"rum", m},
		{"run"},
		{"run", m, m},
		{"run", m, "--frob"},
		{"run", m, "-i"},
		{"run", m, "-i", "x.npy"},
		{"run", m, "-i", "=x.npy"},
		{"run", m, "-i", "0="},
		{"run", m, "-i", "-1=x.npy"},
		{"run", m, "-i", "a=x.npy"},
		{"run", m, "-i", "99999999999999999999=x.npy"},
		{"run", m, "-i", "0=x.npy", "-i", "0=y.npy"},
		{"run", m, "-o", "y.npy"},
		{"run", m, "-o", "0=y.npy", "-o", "1=y.npy"},
		{"run", m, "--seed", "x"},
		{"run", m, "--seed"},
		{"run", m, "-t", "-1"},
		{"run", m, "-t", "two"},
		{"run", m, "--precision", "fp8"},
		{"inspect", m, "--precision", "int8"},
		{"run", "no such model", "-i", "x.npy"},
		{"inspect"},
		{"inspect", m, "--yaml"},
		{"bench"},
		{"bench", m, "--time", "0s"},
		{"bench", m, "--time", "-1s"},
		{"bench", m, "--time", "long"},
		{"profile"},
		{"profile", m, "--time", "0s"},
		{"version", "now"},
		{"inspect", m, "--shape", "3"},
		{"inspect", m, "--shape", "0="},
		{"inspect", m, "--shape", "0=3x"},
		{"inspect", m, "--shape", "0=-3"},
		{"inspect", m, "--shape", "0=3", "--shape", "0=4"},
		{"run", m, "--range", "1"},
		{"run", m, "--range", "1..0"},
		{"run", m, "--range", "0..Inf"},
		{"run", m, "--mean", "a"},
		{"run", m, "--mean", "1,2"},
		{"run", m, "--std", "0"},
		{"run", m, "--std", "1,1,-1"},
		{"run", m, "--top", "3"},
		{"run", m, "--softmax"},
		{"run", m, "--labels", "x", "--top", "0"},
		{"verify", m},
		{"verify", m, m, m},
		{"verify", m, m, "--runs", "0"},
		{"verify", m, m, "--tolerance", "-1"},
		{"verify", m, m, "--tolerance", "NaN"},
		{"convert", m},
		{"convert", m, "x", "y"},
		{"convert", m, "x", "--keep", "3"},
		{"convert", m, "x", "--seed", "3"},
		{"convert", m, "x", "--weights", "int2"},
		{"convert", m, "x", "--weights", "int4", "--block", "33"},
		{"convert", m, "x", "--weights", "int4", "--min-weights", "0"},
		{"convert", m, "x", "--weights", "int8", "--time", "0s"},
		{"convert", m, "x", "--weights", "int8", "--max-change", "-1"},
	} {
		stdout, stderr := tool(t, exitUsage, args...)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, "xnn: ", args)
		require.Contains(t, stderr, "--help\n", args)
	}
}

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"help"}, {"help", "run"}, {"run", "-h"}, {"inspect", "-h"}, {"bench", "-h"}, {"profile", "-h"}, {"verify", "-h"}, {"convert", "-h"}} {
		out, _ := tool(t, exitOK, args...)
		require.Contains(t, out, "Examples:", args)
	}
	out, _ := tool(t, exitOK, "version")
	require.Regexp(t, `^xnn \S+, XNNPACK 0\.0~git\S+, \w+/\w+, go\S+\n$`, out)
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		out, _ := tool(t, exitOK, "completion", shell)
		require.Contains(t, out, "xnn", shell)
	}
	complete := func(args ...string) string {
		out, err := exec.Command(toolPath, append([]string{"__complete"}, args...)...).Output()
		require.NoError(t, err)
		return string(out)
	}
	require.Contains(t, complete("b"), "bench\t")
	require.Equal(t, ":0\n", complete("run", ""), "the model is a file")
	require.Equal(t, ":4\n", complete("run", "model.xnn", ""), "there is no second argument")
	require.Contains(t, complete("bench", "--"), "--time\t")
}

// Every wrong file makes every command fail with one line that names the file.
func TestBadModels(t *testing.T) {
	files, err := filepath.Glob(fixture("bad/*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 50)
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	for _, file := range append(files, empty, t.TempDir(), "no such file", "main.go") {
		require.Contains(t, fails(t, "run", file, "--seed", "1"), file)
	}
	for _, file := range []string{fixture("bad/cycle"), fixture("bad/const_short"), "no such file"} {
		require.Contains(t, fails(t, "inspect", file, "--json"), file)
		require.Contains(t, fails(t, "bench", file), file)
		require.Contains(t, fails(t, "profile", file), file)
		require.Contains(t, fails(t, "verify", fixture("add"), file), file)
		require.Contains(t, fails(t, "convert", file, filepath.Join(t.TempDir(), "out")), file)
	}
	require.Equal(t, `open no\nsuch: no such file or directory`, fails(t, "inspect", "no\nsuch"))
}

func TestOutputThatCannotBePrinted(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, args := range [][]string{{"run", fixture("add"), "--seed", "1"}, {"inspect", fixture("add")}, {"inspect", fixture("add"), "--json"}} {
		cmd := exec.Command(toolPath, args...)
		cmd.Stdout = full
		require.Error(t, cmd.Run())
		require.Equal(t, exitFailed, cmd.ProcessState.ExitCode(), args)
	}
}

func TestNumber(t *testing.T) {
	inf := math.Inf(1)
	out, err := json.Marshal([]any{single(0.1), double(0.1), double(float32(0.1)), single(1e30), single(inf), double(-inf), double(inf - inf)})
	require.NoError(t, err)
	require.Equal(t, `[0.1,0.1,0.10000000149011612,1e+30,"+Inf","-Inf","NaN"]`, string(out))
	require.Equal(t, "12.5 ns", duration(12.5))
	require.Equal(t, "1.5 µs", duration(1500))
	require.Equal(t, "2.346 ms", duration(2.3456e6))
	require.Equal(t, "60 s", duration(60e9))
}

func floats(t *testing.T, path string) ([]float32, xnn.Shape) {
	t.Helper()
	s, err := openSource(path, look{})
	require.NoError(t, err)
	defer s.close()
	a := s.(*npyFile)
	require.Equal(t, xnn.Float32, a.typ.DType)
	n, err := a.typ.Count()
	require.NoError(t, err)
	data := make([]float32, n)
	require.NoError(t, a.read(xnn.NewTensor(data, a.typ.Shape...)))
	return data, a.typ.Shape
}

// modelFile is where ./build.sh models has put a file. A test that needs one is left out where there is none.
func modelFile(t *testing.T, name string) string {
	t.Helper()
	cache := os.Getenv("XNNGO_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		require.NoError(t, err)
		cache = filepath.Join(user, "xnngo")
	}
	path := filepath.Join(cache, "models", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there: ./build.sh models fetches it", path)
	}
	return path
}
