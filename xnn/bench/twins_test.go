package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	ort "github.com/yalue/onnxruntime_go"

	"github.com/xnngo/xnngo/xnn"
)

// twins are networks that ./build.sh models has in both formats.
var twins = []string{"face_detection_short_range", "embedding_model", "alexa_v0.1", "weather_v0.1", "timer_v0.1",
	"hey_mycroft_v0.1"}

// TestTwins: a network read from TensorFlow Lite's format computes what ONNX Runtime does from its own, within 1e-4 relative plus
// 1e-4 absolute.
func TestTwins(t *testing.T) {
	library := os.Getenv(peerVariable)
	if library == "" {
		t.Skipf("%s names no library: ./build.sh bench --peers fetches ONNX Runtime", peerVariable)
	}
	p, err := openPeer(library)
	require.NoError(t, err)
	defer p.close()
	for _, name := range twins {
		t.Run(name, func(t *testing.T) {
			folder := modelFolder(t)
			m, err := xnn.Open(filepath.Join(folder, name+".tflite"))
			require.NoError(t, err)
			defer m.Close()
			s, err := m.NewSession(xnn.WithThreads(1))
			require.NoError(t, err)
			x := xnn.Data[float32](s.Input(0))
			for i := range x {
				x[i] = float32(math.Sin(float64(i)*0.013)) * 2
			}
			require.NoError(t, s.Run())
			want := p.answers(t, filepath.Join(folder, name+".onnx"), x)
			require.Len(t, want, len(m.Outputs()))
			for i := range want {
				got := output(s, len(want[i]))
				worst := 0.0
				for k := range got {
					worst = max(worst, math.Abs(float64(got[k]-want[i][k]))/(1e-4+1e-4*math.Abs(float64(want[i][k]))))
				}
				require.LessOrEqual(t, worst, 1.0, "output %d", i)
				t.Logf("output %d: %d elements, %.3f of what is tolerated", i, len(got), worst)
			}
		})
	}
}

// output is the one of a session that has so many elements: the two formats list outputs in different orders.
func output(s *xnn.Session, elements int) []float32 {
	for i := 0; ; i++ {
		if y := xnn.Data[float32](s.Output(i)); len(y) == elements {
			return y
		}
	}
}

// modelFolder is where ./build.sh models puts networks.
func modelFolder(t *testing.T) string {
	cache := os.Getenv("XNNGO_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		require.NoError(t, err)
		cache = filepath.Join(user, "xnngo")
	}
	folder := filepath.Join(cache, "models")
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("%s is not there: ./build.sh models makes it", folder)
	}
	return folder
}

// answers runs an ONNX file on one input and gives its outputs. Those with the same last dimension are parts of one: the
// detector's twin does not put the anchors of both its layers together.
func (p *peer) answers(t *testing.T, path string, x []float32) [][]float32 {
	inputs, outputs, err := ort.GetInputOutputInfo(path)
	require.NoError(t, err)
	require.Len(t, inputs, 1)
	shape := inputs[0].Dimensions.Clone()
	for i, d := range shape {
		shape[i] = max(d, 1) // an open batch size
	}
	in, err := ort.NewTensor(shape, x)
	require.NoError(t, err)
	defer in.Destroy()
	options, err := p.options(1)
	require.NoError(t, err)
	defer options.Destroy()
	names := make([]string, len(outputs))
	for i := range outputs {
		names[i] = outputs[i].Name
	}
	s, err := ort.NewDynamicAdvancedSession(path, []string{inputs[0].Name}, names, options)
	require.NoError(t, err)
	defer s.Destroy()
	values := make([]ort.Value, len(outputs))
	require.NoError(t, s.Run([]ort.Value{in}, values))
	var answers [][]float32
	at := map[int64]int{}
	for _, v := range values {
		dims := v.GetShape()
		last := dims[len(dims)-1]
		k, ok := at[last]
		if !ok {
			k = len(answers)
			at[last], answers = k, append(answers, nil)
		}
		answers[k] = append(answers[k], v.(*ort.Tensor[float32]).GetData()...)
		require.NoError(t, v.Destroy())
	}
	return answers
}
