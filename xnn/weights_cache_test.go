package xnn

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// packing is a graph with every kind of weights that XNNPACK packs.
func packing() *graph.Graph {
	g := newNetwork(1, 9, 8).graph
	r := rand.New(rand.NewPCG(5, 6))
	random := func(dims ...int) graph.ID { return randomNumeric(r, plain(graph.Float32, dims...), 1).constant(g) }
	x := g.Input(graph.Float32, 3, 8)
	y := g.FullyConnected(x, random(40, 8), random(40))
	y = g.FullyConnectedTransposed(y, random(40, 8), graph.None)
	g.Output(g.BatchMatMul(y, random(8, 7)))
	weights := make([]float32, 64)
	for i := range weights {
		weights[i] = r.Float32() - 0.5
	}
	typ, raw, err := graph.QuantizeChannels(weights, Shape{8, 8}, 0, graph.QCInt8)
	if err != nil {
		panic(err)
	}
	g.Output(g.FullyConnected(g.Convert(x, graph.Dynamic(1)), g.ConstantOf(typ, raw), graph.None))
	return g
}

// answer is what a model makes of certain inputs, all outputs one behind the other.
func answer(m *Model) (bits []byte, err error) {
	s, err := m.NewSession()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for i := range m.Inputs() {
		x := s.Input(i)
		for k := range x.Shape().Elements() {
			f := math.Sin(float64(k + i))
			if x.DType() == Float32 {
				Data[float32](x)[k] = float32(f)
			} else {
				x.Bytes()[k] = byte(128 + 127*f)
			}
		}
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	for i := range m.Outputs() {
		bits = append(bits, s.Output(i).Bytes()...)
	}
	return bits, nil
}

// keptFile is the one file of packed weights in a folder.
func keptFile(t testing.TB, folder string) string {
	t.Helper()
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 1, "%v", files)
	return filepath.Join(folder, files[0].Name())
}

// answered loads a file with a cache and tells what it computes, and whether the weights came from the cache.
func answered(t testing.TB, data []byte, folder string) (bits []byte, found bool, err error) {
	t.Helper()
	m, loadErr := Load(data, WithWeightsCache(folder))
	require.NoError(t, loadErr)
	defer m.Close()
	found, err = m.WeightsCache()
	bits, runErr := answer(m)
	require.NoError(t, runErr)
	return bits, found, err
}

// TestWeightsCache: a model computes the same to the bit without a cache, with an empty one, and with what is kept there, loaded
// in any way and of any format.
func TestWeightsCache(t *testing.T) {
	nothingHeld(t)
	data, err := packing().Marshal()
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "model.xnn")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	ways := map[string]func(opts ...Option) (*Model, error){
		"Open":    func(opts ...Option) (*Model, error) { return Open(path, opts...) },
		"copied":  func(opts ...Option) (*Model, error) { return Open(path, append(opts, WithCopy())...) },
		"Load":    func(opts ...Option) (*Model, error) { return Load(data, opts...) },
		"half":    func(opts ...Option) (*Model, error) { return Load(data, append(opts, WithPrecision(Float16))...) },
		"Compile": func(opts ...Option) (*Model, error) { return Compile(packing(), opts...) },
	}
	for _, name := range []string{"face_detection_short_range", "hand_landmark_lite", "inception_v3"} {
		ways[name] = func(opts ...Option) (*Model, error) { return Open(modelPath(t, name+".tflite"), opts...) }
	}
	for name, load := range ways {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "made", "when needed")
			var want []byte
			for i, found := range []bool{false, false, true, true} {
				opts := []Option{WithWeightsCache(folder)}
				if i == 0 {
					opts = nil
				}
				m, err := load(opts...)
				require.NoError(t, err)
				got, err := m.WeightsCache()
				require.NoError(t, err)
				require.Equal(t, found, got, i)
				if found {
					require.Less(t, MemStats().Weights, int64(1<<10), "what is mapped is not counted")
				}
				bits, err := answer(m)
				require.NoError(t, err)
				if i == 0 {
					want = bits
				}
				require.Equal(t, want, bits, i)
				require.NoError(t, m.Close())
			}
			require.EqualValues(t, 0o600, must(os.Stat(keptFile(t, folder))).Mode().Perm())
		})
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestWeightsCacheMakesNothing: weights that are kept are not made for another load, nor read.
func TestWeightsCacheMakesNothing(t *testing.T) {
	nothingHeld(t)
	var made atomic.Int64
	build := func() *graph.Graph {
		g := graph.New()
		constant := func(dims ...int) graph.ID {
			typ := plain(graph.Float32, dims...)
			return g.ConstantFrom(typ, typ.Bytes(), func(dst []byte) {
				made.Add(1)
				for i := range dst {
					dst[i] = 60
				}
			})
		}
		y := g.Conv2D(g.Input(graph.Float32, 1, 5, 5, 4), constant(6, 3, 3, 4), constant(6), graph.Conv2D{})
		y = g.DepthwiseConv2D(y, constant(1, 3, 3, 6), constant(6), graph.DepthwiseConv2D{})
		g.Output(g.ConvTranspose2D(y, constant(2, 2, 2, 6), constant(2), graph.ConvTranspose2D{Stride: [2]int{2, 2}}))
		return g
	}
	cfg, err := configure([]Option{WithWeightsCache(t.TempDir())})
	require.NoError(t, err)
	cfg.source = func() (sum [32]byte, err error) { return sum, nil }
	for _, want := range []int64{6, 0} {
		made.Store(0)
		m, err := newModel(build(), nil, cfg)
		require.NoError(t, err)
		_, err = answer(m)
		require.NoError(t, err)
		require.Equal(t, want, made.Load())
		require.NoError(t, m.Close())
	}
}

// TestWeightsCacheKeys: what packed weights depend on makes another file.
func TestWeightsCacheKeys(t *testing.T) {
	key := func(change func(c *model), source byte, platform string) [32]byte {
		g := packing()
		require.NoError(t, g.Check())
		c := &model{graph: g}
		if change != nil {
			change(c)
		}
		var err error
		c.layout, err = newLayout(g)
		require.NoError(t, err)
		return c.weightsKey([32]byte{source}, platform)
	}
	keys := map[[32]byte]string{}
	for name, k := range map[string][32]byte{
		"as it is":          key(nil, 0, "p"),
		"another file":      key(nil, 1, "p"),
		"another processor": key(nil, 0, "q"),
		"another parameter": key(func(c *model) { c.graph.Nodes[0].Op = graph.Conv2D{} }, 0, "p"),
		"another type":      key(func(c *model) { c.graph.Values[1].DType = graph.Float16 }, 0, "p"),
		"another scale":     key(func(c *model) { c.graph.Values[1].Quant = &Quant{Scale: 2} }, 0, "p"),
		"another constant":  key(func(c *model) { c.graph.Values[1].Constant = 2 }, 0, "p"),
	} {
		require.NotContains(t, keys, k, name)
		keys[k] = name
	}
	require.Equal(t, key(nil, 0, "p"), key(nil, 0, "p"))
}

// TestWeightsCacheFolders that cannot be written stop no model from loading, and Model.WeightsCache tells.
func TestWeightsCacheFolders(t *testing.T) {
	nothingHeld(t)
	data, err := packing().Marshal()
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{file, filepath.Join(file, "in it"), "/proc/self"} {
		_, found, err := answered(t, data, folder)
		require.False(t, found)
		require.Error(t, err, folder)
	}
	_, found, err := answered(t, data, "")
	require.False(t, found)
	require.NoError(t, err, "no cache was asked for")
	m := compiled(t, dense(4, 1), WithWeightsCache(t.TempDir()), WithMemoryLimit(1<<20))
	require.NoError(t, m.Close())
	folder := t.TempDir()
	for _, precision := range []DType{Float32, Float16} {
		m, err := Load(data, WithWeightsCache(folder), WithPrecision(precision))
		require.NoError(t, err)
		found, err := m.WeightsCache()
		require.NoError(t, err)
		require.False(t, found, "another precision, another file")
		require.NoError(t, m.Close())
	}
	for range 2 {
		m, err := Compile(dense(256, 1), WithWeightsCache(folder))
		require.NoError(t, err)
		require.NoError(t, m.Close())
		_, err = Compile(dense(256, 1), WithWeightsCache(folder), WithMemoryLimit(256*256*4-1))
		failed(t, err, ErrMemoryLimit)
	}
}
