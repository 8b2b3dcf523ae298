package xnn

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
)

// answersPath holds what TensorFlow Lite, built for WebAssembly, answers for the cases; testdata/tflite/make.sh makes it.
const answersPath = "testdata/tflite/answers.json"

// tfCase is a small TensorFlow Lite file. Inputs are random numbers, the same each time.
type tfCase struct {
	name string
	file tfbuild.File
	// steps is how many steps of its scale a result of integers may be off, 1 unless set; tolerance is that of real numbers,
	// relative to the largest, 2e-6 unless set.
	steps     int
	tolerance float64
}

// input gives the bytes of input i.
func (c tfCase) input(i int, t Type) []byte {
	r := rand.New(rand.NewPCG(uint64(len(c.name)), uint64(i)))
	b := make([]byte, t.Bytes())
	switch t.DType {
	case Float32:
		for k := 0; k < len(b); k += 4 {
			binary.LittleEndian.PutUint32(b[k:], math.Float32bits(r.Float32()*4-2))
		}
	case Int32:
		for k := 0; k < len(b); k += 4 {
			binary.LittleEndian.PutUint32(b[k:], uint32(r.IntN(200)-100))
		}
	default:
		for k := range b {
			b[k] = byte(r.Uint32())
		}
	}
	return b
}

// answer runs the case.
func (c tfCase) answer(t *testing.T) (outputs [][]byte, types []Type) {
	m, err := Load(c.file.Bytes())
	require.NoError(t, err)
	defer m.Close()
	s, err := m.NewSession(WithThreads(1))
	require.NoError(t, err)
	for i, typ := range m.Inputs() {
		copy(s.Input(i).Bytes(), c.input(i, typ))
	}
	require.NoError(t, s.Run())
	for i := range m.Outputs() {
		outputs = append(outputs, append([]byte{}, s.Output(i).Bytes()...))
	}
	return outputs, m.Outputs()
}

func TestTFLiteOperators(t *testing.T) {
	nothingHeld(t)
	answers := map[string][][]byte{}
	oracle := os.Getenv("XNNGO_TFLITE_ORACLE")
	if oracle == "" {
		raw, err := os.ReadFile(answersPath)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &answers))
	}
	seen := map[string]bool{}
	for _, c := range tfCases() {
		require.False(t, seen[c.name], "two cases are called %s", c.name)
		seen[c.name] = true
		t.Run(c.name, func(t *testing.T) {
			got, types := c.answer(t)
			if oracle != "" {
				answers[c.name] = c.ask(t, oracle, types)
			}
			want := answers[c.name]
			require.Len(t, want, len(got), "no answer is recorded: run testdata/tflite/make.sh")
			for i := range got {
				c.compare(t, types[i], got[i], want[i])
			}
		})
	}
	if oracle != "" && !t.Failed() {
		raw, err := json.MarshalIndent(answers, "", " ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(answersPath, append(raw, '\n'), 0o644))
	}
	t.Logf("%d cases", len(seen))
}

// ask lets TensorFlow Lite run the case: oracle is the path of testdata/tflite/oracle.js.
func (c tfCase) ask(t *testing.T, oracle string, types []Type) (outputs [][]byte) {
	dir := t.TempDir()
	model := filepath.Join(dir, "model.tflite")
	require.NoError(t, os.WriteFile(model, c.file.Bytes(), 0o600))
	args := []string{oracle, model, filepath.Join(dir, "out")}
	m, err := Load(c.file.Bytes())
	require.NoError(t, err)
	for i, typ := range m.Inputs() {
		path := filepath.Join(dir, "in"+strconv.Itoa(i))
		require.NoError(t, os.WriteFile(path, c.input(i, typ), 0o600))
		args = append(args, path)
	}
	require.NoError(t, m.Close())
	said, err := exec.Command("node", args...).CombinedOutput()
	require.NoError(t, err, string(said))
	for i := range types {
		b, err := os.ReadFile(filepath.Join(dir, "out."+strconv.Itoa(i)))
		require.NoError(t, err)
		outputs = append(outputs, b)
	}
	return outputs
}

func (c tfCase) compare(t *testing.T, typ Type, got, want []byte) {
	require.Len(t, got, len(want), "bytes of %v", typ)
	switch typ.DType {
	case Float32:
		tolerance := c.tolerance
		if tolerance == 0 {
			tolerance = 2e-6
		}
		x, y := toFloats(got), toFloats(want)
		peak := 0.0
		for _, f := range y {
			peak = max(peak, math.Abs(float64(f)))
		}
		for i := range x {
			require.InDelta(t, y[i], x[i], tolerance*max(peak, 1e-3), "element %d of %v", i, typ)
		}
	case QInt8, QUInt8:
		steps := max(1, c.steps)
		for i := range got {
			a, b := int(got[i]), int(want[i])
			if typ.DType == QInt8 {
				a, b = int(int8(got[i])), int(int8(want[i]))
			}
			require.LessOrEqual(t, max(a-b, b-a), steps, "element %d of %v: %d, want %d", i, typ, a, b)
		}
	default:
		require.Equal(t, want, got)
	}
}

func toFloats(b []byte) []float32 {
	list := make([]float32, len(b)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return list
}
