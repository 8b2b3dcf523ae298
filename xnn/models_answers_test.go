package xnn

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// pattern are the bytes of numbers between 0 and 1 that are no noise.
func pattern(typ Type) []byte {
	b := make([]byte, typ.Bytes())
	if typ.DType != Float32 {
		for k := range b {
			b[k] = byte(k * k / 97)
		}
		return b
	}
	for k := range len(b) / 4 {
		binary.LittleEndian.PutUint32(b[4*k:], math.Float32bits(float32(0.5+0.5*math.Sin(float64(k)*0.013))))
	}
	return b
}

// runPattern runs a model on a pattern and gives the bytes of its outputs.
func runPattern(t *testing.T, data []byte) [][]byte {
	m, err := Load(data)
	require.NoError(t, err)
	defer m.Close()
	s, err := m.NewSession(WithThreads(1))
	require.NoError(t, err)
	for i, typ := range m.Inputs() {
		copy(s.Input(i).Bytes(), pattern(typ))
	}
	require.NoError(t, s.Run())
	var out [][]byte
	for i, typ := range m.Outputs() {
		out = append(out, bytes.Clone(s.Output(i).Bytes()))
		if typ.DType == Float32 {
			for k, f := range Data[float32](s.Output(i)) {
				require.False(t, math.IsNaN(float64(f)) || math.IsInf(float64(f), 0), "element %d of output %d is %g", k, i, f)
			}
		}
	}
	return out
}

// modelAnswersPath holds some of the numbers that TensorFlow Lite, built for WebAssembly, answers to a pattern.
// testdata/tflite/make.sh makes it.
const modelAnswersPath = "testdata/tflite/models.json"

// TestModelsAgree with another engine, within what two builds of that engine are apart.
func TestModelsAgree(t *testing.T) {
	nothingHeld(t)
	answers := map[string][][]float32{}
	oracle := os.Getenv("XNNGO_TFLITE_ORACLE")
	if oracle == "" {
		raw, err := os.ReadFile(modelAnswersPath)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(raw, &answers))
	}
	for _, name := range []string{
		"embedding_model", "face_detection_full_range", "face_detection_full_range_sparse", "face_landmark", "hand_landmark_full",
		"hand_landmark_lite", "hey_mycroft_v0.1", "palm_detection_full", "palm_detection_lite", "pose_detection", "pose_landmark_full",
		"pose_landmark_heavy", "pose_landmark_lite", "timer_v0.1",
	} {
		t.Run(name, func(t *testing.T) {
			if instrumented && strings.Contains(name, "heavy") {
				t.Skip("too slow here")
			}
			path := modelPath(t, name+".tflite")
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			got := runPattern(t, data)
			if oracle != "" {
				answers[name] = nil
				for _, b := range askOracle(t, oracle, path, data, len(got)) {
					answers[name] = append(answers[name], sampled(toFloats(b)))
				}
			}
			require.Len(t, answers[name], len(got))
			for i, want := range answers[name] {
				x, peak := sampled(toFloats(got[i])), 0.0
				for _, f := range want {
					peak = max(peak, math.Abs(float64(f)))
				}
				tolerance := 1e-4 + 2e-4*peak
				if len(got[i]) == 4*256*256 { // a segmentation's sums cancel out
					tolerance = 2e-3 * peak
				}
				for k := range want {
					require.InDelta(t, want[k], x[k], tolerance, "sample %d of output %d", k, i)
				}
			}
		})
	}
	if oracle != "" && !t.Failed() {
		raw, err := json.Marshal(answers)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(modelAnswersPath, append(raw, '\n'), 0o644))
	}
}

// sampled are some of a tensor's elements, from all of it.
func sampled(list []float32) []float32 {
	const samples = 64
	if len(list) <= samples {
		return list
	}
	some := make([]float32, samples)
	for i := range some {
		some[i] = list[i*len(list)/samples]
	}
	return some
}

// askOracle lets TensorFlow Lite run a model on a pattern.
func askOracle(t *testing.T, oracle, path string, data []byte, outputs int) (answers [][]byte) {
	m, err := Load(data)
	require.NoError(t, err)
	defer m.Close()
	dir := t.TempDir()
	input := filepath.Join(dir, "in")
	require.NoError(t, os.WriteFile(input, pattern(m.Inputs()[0]), 0o600))
	said, err := exec.Command("node", oracle, path, filepath.Join(dir, "out"), input).CombinedOutput()
	require.NoError(t, err, string(said))
	for i := range outputs {
		b, err := os.ReadFile(filepath.Join(dir, "out."+strconv.Itoa(i)))
		require.NoError(t, err)
		answers = append(answers, b)
	}
	return answers
}
