package xnn

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const fixtures = "../schema/testdata/xnngraph"

// TestFixtures runs files that flatc made of JSON. The answers are those of the README beside them.
func TestFixtures(t *testing.T) {
	nothingHeld(t)
	x, b := []float32{1, 2, 3}, []float32{10, 20, 30}
	sum := [][]float32{{11, 22, 33}}
	twice := [][]float32{{2, 4, 6}}
	arena := ramp(256)
	for i := range arena {
		arena[i] = 2*arena[i] + 2000
	}
	for name, c := range map[string]struct{ in, want [][]float32 }{
		"add":          {[][]float32{x, b}, sum},
		"const":        {[][]float32{x}, sum},
		"outfirst":     {[][]float32{x}, sum},
		"double":       {[][]float32{x}, twice},
		"chain":        {[][]float32{{0, 1, 2}, {10, 10, 10}}, [][]float32{{10, 12, 14}}},
		"scalar":       {[][]float32{{1.5}, {2}}, [][]float32{{3.5}}},
		"scalar_empty": {[][]float32{{1.5}, {2}}, [][]float32{{3.5}}},
		"scalar_const": {[][]float32{{1, 2, 3, 4}}, [][]float32{{11, 12, 13, 14}}},
		"identity":     {[][]float32{x}, [][]float32{x}},
		"twice":        {[][]float32{x, b}, [][]float32{{11, 22, 33}, {11, 22, 33}}},
		"minimal":      {[][]float32{x, b}, sum},
		"arena":        {[][]float32{ramp(256), same(256, 1000)}, [][]float32{arena}},
		"constonly":    {nil, twice},
		"zero":         {[][]float32{{}, {7, 8}}, [][]float32{{}}},
		"zero_const":   {[][]float32{{}}, [][]float32{{}}},
		"const_long":   {[][]float32{x}, sum},
		"const_padded": {[][]float32{x}, [][]float32{{6, 2, 3}}},
		"sparse":       {[][]float32{x}, twice},
		"tap":          {[][]float32{{0, 1, 2}, {10, 10, 10}}, [][]float32{{10, 11, 12}, {10, 12, 14}}},
		"sizes_extra":  {[][]float32{x}, sum},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Open(filepath.Join(fixtures, name+".bin"))
			require.NoError(t, err)
			defer m.Close()
			require.Equal(t, c.want, run(t, opened(t, m), c.in...))
			if name == "arena" {
				require.Equal(t, 4096, opened(t, m).ArenaBytes())
			}
		})
	}
	m, err := Open(filepath.Join(fixtures, "arena_small.bin"))
	require.NoError(t, err)
	defer m.Close()
	_, err = m.NewSession()
	failed(t, err, ErrArenaTooSmall, "16")
}

// TestWrongFixtures: one fault a file, with the kind and the numbers that its error must have.
func TestWrongFixtures(t *testing.T) {
	nothingHeld(t)
	kinds := map[string]error{"ErrFormat": ErrFormat, "ErrGraph": ErrGraph, "ErrShape": ErrShape, "ErrUnsupported": ErrUnsupported,
		"ErrMemoryLimit": ErrMemoryLimit, "ErrArenaTooSmall": ErrArenaTooSmall}
	table, err := os.ReadFile(filepath.Join(fixtures, "bad", "expect.tsv"))
	require.NoError(t, err)
	seen := 0
	for line := range strings.Lines(string(table)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "\t")
		seen++
		t.Run(f[0], func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(fixtures, "bad", f[0]+".bin"))
			require.NoError(t, err)
			m, err := Load(data)
			defer m.Close()
			require.Error(t, err)
			require.Contains(t, kinds, f[1])
			failed(t, err, kinds[f[1]], strings.Split(f[2], ",")...)
		})
	}
	require.Greater(t, seen, 50)
}

// TestOpenErrors are those of the file system, or of the file.
func TestOpenErrors(t *testing.T) {
	nothingHeld(t)
	dir := t.TempDir()
	_, err := Open(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = Open(dir)
	require.Error(t, err)
	for name, data := range map[string][]byte{"empty": {}, "short": {1, 2, 3}, "zeros": make([]byte, 64),
		"text": []byte("this is not a model, really")} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		_, err = Open(path)
		failed(t, err, ErrFormat)
		_, err = Open(path, WithCopy())
		failed(t, err, ErrFormat)
		_, err = Load(data)
		failed(t, err, ErrFormat)
	}
	path := filepath.Join(dir, "large")
	require.NoError(t, os.WriteFile(path, addConst(1000).bytes(), 0o600))
	_, err = Open(path, WithCopy(), WithMemoryLimit(100))
	failed(t, err, ErrMemoryLimit, "100")
	_, err = Load(nil)
	failed(t, err, ErrFormat)
	_, err = Compile(nil)
	failed(t, err, ErrArgument)
	_, err = Load(double(3).bytes(), nil)
	require.NoError(t, err, "a nil option is none")
}
