package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// network is a real model, which ./build.sh models fetches, with the same model in ONNX's format where there is one.
type network struct {
	file   string // without .tflite
	twin   bool   // there is file.onnx
	read   *graph.Graph
	data   []byte // of the twin
	result []byte
}

// detector is the model that the bounds for models are about.
const detector = "face_detection_short_range"

// networks are those of ./build.sh bench models.
func networks() []*network {
	var all []*network
	for _, file := range []string{detector, "embedding_model", "alexa_v0.1", "weather_v0.1", "timer_v0.1", "hey_mycroft_v0.1"} {
		all = append(all, &network{file: file, twin: true})
	}
	for _, file := range []string{"face_detection_full_range", "face_detection_full_range_sparse", "face_landmark",
		"palm_detection_lite", "palm_detection_full", "hand_landmark_lite", "hand_landmark_full", "pose_detection",
		"pose_landmark_lite", "pose_landmark_full", "pose_landmark_heavy", "selfie_segmentation", "selfie_segmentation_landscape",
		"inception_v3"} {
		all = append(all, &network{file: file})
	}
	return all
}

// path is where ./build.sh models puts a file.
func (n *network) path(extension string) (string, error) {
	cache := os.Getenv("XNNGO_CACHE")
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", err
		}
		cache = filepath.Join(user, "xnngo")
	}
	path := filepath.Join(cache, "models", n.file+extension)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: ./build.sh models fetches it, from npm", err)
	}
	return path, nil
}

// open reads the files and lets the model run once, for what all columns must agree with.
func (n *network) open() error {
	path, err := n.path(".tflite")
	if err != nil {
		return err
	}
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if n.read, err = xnn.Read(file); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if n.twin {
		if path, err = n.path(".onnx"); err != nil {
			return err
		}
		if n.data, err = os.ReadFile(path); err != nil {
			return err
		}
	}
	e, err := newEngine(n, 1)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer e.model.Close()
	err = e.session.Run()
	n.result = bytes.Join(e.outputs(), nil)
	return err
}

// drop lets go of what open read.
func (n *network) drop() { n.read, n.data, n.result = nil, nil, nil }

func (n *network) name() string        { return n.file }
func (n *network) graph() *graph.Graph { return n.read }
func (n *network) onnx() []byte        { return n.data }
func (*network) nchw() bool            { return false } // the twins take images as they are, and turn them themselves
func (n *network) want() []byte        { return n.result }

// fill gives waves of the size of what the models are made for: images from -1 to 1, features of sound.
func (*network) fill(s *xnn.Session) {
	x := s.Input(0)
	if x.DType() == xnn.QUInt8 {
		for i, data := 0, xnn.Data[uint8](x); i < len(data); i++ {
			data[i] = uint8(127.5 + 127*math.Sin(float64(i)*0.013))
		}
		return
	}
	for i, data := 0, xnn.Data[float32](x); i < len(data); i++ {
		data[i] = float32(math.Sin(float64(i) * 0.013))
	}
}

// tolerance of the results, relative plus absolute: implementations add in different orders.
const tolerance = 1e-4

func (n *network) agree(got, want []byte) bool {
	if n.read.Values[n.read.Outputs[0]].DType != xnn.Float32 {
		return bytes.Equal(got, want)
	}
	worst := furthest(got, want, func(want float64) float64 { return tolerance + tolerance*math.Abs(want) })
	return len(got) == len(want) && worst <= 1
}

// furthest is the largest difference of floats, as a share of what is allowed for each. It is +Inf where one is NaN.
func furthest(got, want []byte, allowed func(float64) float64) (worst float64) {
	g, w := elements(got), elements(want)
	for i := range min(len(g), len(w)) {
		share := math.Abs(float64(g[i])-float64(w[i])) / allowed(float64(w[i]))
		if math.IsNaN(share) {
			share = math.Inf(1)
		}
		worst = max(worst, share)
	}
	return worst
}

// elements copies bytes, which may lie anywhere, into floats.
func elements(b []byte) []float32 {
	t := xnn.NewTensor(make([]float32, len(b)/4), len(b)/4)
	copy(t.Bytes(), b)
	return xnn.Data[float32](t)
}

// ordered puts results in the order of a twin with these outputs: it may list them in another order, and in parts that the
// model puts together.
func (n *network) ordered(want []byte, outputs []ort.Value) []byte {
	var out []byte
	used := map[int]int{} // bytes, by output of the model
	for _, y := range outputs {
		dims := y.GetShape()
		size, last := 4*int(dims.FlattenedSize()), int(dims[len(dims)-1])
		at, from := 0, -1
		for k, id := range n.read.Outputs {
			t := n.read.Values[id].Type
			if t.Shape[len(t.Shape)-1] == last && used[k]+size <= t.Bytes() {
				from = at + used[k]
				used[k] += size
				break
			}
			at += t.Bytes()
		}
		if from < 0 {
			return nil // agrees with nothing
		}
		out = append(out, want[from:from+size]...)
	}
	return out
}
