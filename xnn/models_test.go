package xnn

import (
	"bufio"
	"bytes"
	"image"
	_ "image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/tflite"
)

// modelPath is where ./build.sh models has put a file. A test that needs one is left out where there is none.
func modelPath(t testing.TB, name string) string {
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

// testImage gives the pixels of a picture whose 16-bit channels are 64 times a sum of four bytes, as f makes them of the mean.
func testImage(t testing.TB, name string, f func(mean float64) float64) []float32 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/models", name))
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(raw))
	require.NoError(t, err)
	var pixels []float32
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			r, g, b, _ := picture.At(x, y).RGBA()
			for _, v := range []uint32{r, g, b} {
				pixels = append(pixels, float32(f(float64(v)/256)))
			}
		}
	}
	return pixels
}

// golden are numbers that TensorFlow Lite computed.
func golden(t testing.TB, name string) []float32 {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata/models", name))
	require.NoError(t, err)
	return toFloats(raw)
}

// requireClose holds numbers computed in fp32 to those that another engine computed, from the same half-precision weights.
func requireClose(t testing.TB, want, got []float32) {
	t.Helper()
	require.Len(t, got, len(want))
	worst, at := 0.0, 0
	for i := range want {
		if off := math.Abs(float64(got[i])-float64(want[i])) / (1e-4 + 1e-4*math.Abs(float64(want[i]))); !(off <= worst) {
			worst, at = off, i
		}
	}
	require.LessOrEqual(t, worst, 1.0, "element %d: %g, want %g", at, got[at], want[at])
	t.Logf("%d elements, %.2f of what is tolerated", len(want), worst)
}

func openModel(t testing.TB, name string) *Session {
	t.Helper()
	m, err := Open(modelPath(t, name))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	s, err := m.NewSession()
	require.NoError(t, err)
	return s
}

func TestFaceDetection(t *testing.T) {
	nothingHeld(t)
	s := openModel(t, "face_detection_short_range.tflite")
	copy(Data[float32](s.Input(0)), testImage(t, "astro_128.png", func(mean float64) float64 { return mean/127.5 - 1 }))
	require.NoError(t, s.Run())
	requireClose(t, golden(t, "face_short.out0.f32"), Data[float32](s.Output(0)))
	scores := Data[float32](s.Output(1))
	requireClose(t, golden(t, "face_short.out1.f32"), scores)
	best := 0
	for i, f := range scores {
		if f > scores[best] {
			best = i
		}
	}
	require.Equal(t, 143, best)
	require.InDelta(t, 0.9208, 1/(1+math.Exp(-float64(scores[best]))), 1e-4)
}

func TestPoseLandmarks(t *testing.T) {
	nothingHeld(t)
	s := openModel(t, "pose_landmark_lite.tflite")
	copy(Data[float32](s.Input(0)), testImage(t, "astro_256.png", func(mean float64) float64 { return mean / 255 }))
	require.NoError(t, s.Run())
	requireClose(t, golden(t, "pose_lite.out0.f32"), Data[float32](s.Output(0)))
	requireClose(t, golden(t, "pose_lite.out1.f32"), Data[float32](s.Output(1)))
	requireClose(t, golden(t, "pose_lite.out4.f32"), Data[float32](s.Output(4)))
	require.InDelta(t, 0.9999, Data[float32](s.Output(1))[0], 1e-4)
}

// TestInception: a quantised network whose every concatenation puts values of different scales together.
func TestInception(t *testing.T) {
	nothingHeld(t)
	s := openModel(t, "inception_v3.tflite")
	f, err := os.Open(modelPath(t, "labrador.jpg"))
	require.NoError(t, err)
	defer f.Close()
	picture, _, err := image.Decode(f)
	require.NoError(t, err)
	copy(s.Input(0).Bytes(), pixelsOf(picture, 299))
	require.NoError(t, s.Run())

	names, err := os.Open(modelPath(t, "inception_v3.txt"))
	require.NoError(t, err)
	defer names.Close()
	var labels []string
	for lines := bufio.NewScanner(names); lines.Scan(); {
		labels = append(labels, lines.Text())
	}
	scores := s.Output(0).Bytes()
	best, second := 0, -1
	for i, v := range scores {
		switch {
		case v > scores[best]:
			best, second = i, best
		case i != best && (second < 0 || v > scores[second]):
			second = i
		}
	}
	t.Logf("%s: %d, then %s: %d", labels[best], scores[best], labels[second], scores[second])
	require.Equal(t, "Labrador retriever", labels[best])
	require.Greater(t, scores[best], scores[second])
}

// pixelsOf gives the RGB bytes of a picture of n by n pixels, interpolated between the four nearest.
func pixelsOf(picture image.Image, n int) []byte {
	b := picture.Bounds()
	at := func(x, y int) [3]float64 {
		r, g, b, _ := picture.At(b.Min.X+min(x, b.Dx()-1), b.Min.Y+min(y, b.Dy()-1)).RGBA()
		return [3]float64{float64(r >> 8), float64(g >> 8), float64(b >> 8)}
	}
	out := make([]byte, 0, 3*n*n)
	for y := range n {
		fy := max(0, (float64(y)+0.5)*float64(b.Dy())/float64(n)-0.5)
		for x := range n {
			fx := max(0, (float64(x)+0.5)*float64(b.Dx())/float64(n)-0.5)
			x0, y0 := int(fx), int(fy)
			dx, dy := fx-float64(x0), fy-float64(y0)
			a, b, c, d := at(x0, y0), at(x0+1, y0), at(x0, y0+1), at(x0+1, y0+1)
			for k := range 3 {
				out = append(out, byte(math.Round((a[k]*(1-dx)+b[k]*dx)*(1-dy)+(c[k]*(1-dx)+d[k]*dx)*dy)))
			}
		}
	}
	return out
}

// TestModelsRun: every network that is supported loads and runs, as it is and as the XNNGraph file that it becomes, to the same
// bits.
func TestModelsRun(t *testing.T) {
	nothingHeld(t)
	for _, name := range []string{
		"alexa_v0.1", "embedding_model", "face_detection_full_range", "face_detection_full_range_sparse", "face_detection_short_range",
		"face_landmark", "hand_landmark_full", "hand_landmark_lite", "hey_mycroft_v0.1", "inception_v3", "palm_detection_full",
		"palm_detection_lite", "pose_detection", "pose_landmark_full", "pose_landmark_heavy", "pose_landmark_lite",
		"selfie_segmentation", "selfie_segmentation_landscape", "timer_v0.1", "weather_v0.1",
	} {
		t.Run(name, func(t *testing.T) {
			if instrumented && strings.Contains(name, "heavy") {
				t.Skip("too slow here")
			}
			data, err := os.ReadFile(modelPath(t, name+".tflite"))
			require.NoError(t, err)
			g, err := Read(data)
			require.NoError(t, err)
			file, err := g.Marshal()
			require.NoError(t, err)
			require.Equal(t, runPattern(t, data), runPattern(t, file))
		})
	}
}

// TestModelsUnsupported: what a network lacks is named, all of it.
func TestModelsUnsupported(t *testing.T) {
	for name, lacks := range map[string]string{
		"face_landmark_with_attention": "CUSTOM Landmarks2TransformMatrix (3), CUSTOM TransformLandmarks (5), " +
			"CUSTOM TransformTensorBilinear (3)",
		"hey_jarvis_v0.1": "GREATER_EQUAL (1), IF (1)",
		"melspectrogram":  "REDUCE_MAX (1)",
	} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(modelPath(t, name+".tflite"))
			require.NoError(t, err)
			_, err = tflite.Unmarshal(data)
			require.ErrorIs(t, err, ErrUnsupported)
			require.ErrorContains(t, err, "operators that are not supported: "+lacks)
		})
	}
}

// TestModelBatch: the batch size that a file leaves open may change, and each image of a batch is computed as by itself.
func TestModelBatch(t *testing.T) {
	nothingHeld(t)
	s := openModel(t, "embedding_model.tflite")
	one := func(k int) []float32 {
		x := make([]float32, 76*32)
		for i := range x {
			x[i] = float32(math.Sin(float64(i)*0.01*float64(k+1))) * 5
		}
		return x
	}
	var alone [][]float32
	for k := range 4 {
		copy(Data[float32](s.Input(0)), one(k))
		require.NoError(t, s.Run())
		alone = append(alone, append([]float32{}, Data[float32](s.Output(0))...))
	}
	for _, batch := range []int{4, 2, 3, 1} {
		require.NoError(t, s.Reshape(Shape{batch, 76, 32, 1}))
		require.Equal(t, Shape{batch, 1, 1, 96}, s.Output(0).Shape())
		for k := range batch {
			copy(Data[float32](s.Input(0))[k*76*32:], one(k))
		}
		require.NoError(t, s.Run())
		for k := range batch {
			requireClose(t, alone[k], Data[float32](s.Output(0))[k*96:(k+1)*96])
		}
	}
}
