package xnn

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// halfAllowed is what results in half precision may be off by, as a part of the largest: 2%, which is 2^-11 for each of some
// hundred layers, whose errors add up like a random walk, and some for sums that cancel out. Where rounding to half costs as
// much by itself, kernels may add half of that, since they round sums, too.
func halfAllowed(inevitable float64) float64 { return max(0.02, 1.5*inevitable) }

// TestHalfPrecisionModels: real networks in half precision answer what TensorFlow Lite does in single. Their packed weights are
// half as large, and so is what is held for them, but for a huge page that is not full. What the pose model says of a body's
// outline, before the sigmoid, is off by a tenth of the largest: the error grows from layer to layer of its decoder, and is as
// large where single precision computes with rounded numbers.
func TestHalfPrecisionModels(t *testing.T) {
	nothingHeld(t)
	face := testImage(t, "astro_128.png", func(mean float64) float64 { return mean/127.5 - 1 })
	body := testImage(t, "astro_256.png", func(mean float64) float64 { return mean / 255 })
	for _, c := range []struct {
		name  string
		input []float32
		want  map[int]string
	}{
		{"face_detection_short_range", face, map[int]string{0: "face_short.out0.f32", 1: "face_short.out1.f32"}},
		{"face_detection_full_range", nil, nil},
		{"hand_landmark_full", nil, nil},
		{"pose_landmark_lite", body, map[int]string{0: "pose_lite.out0.f32", 1: "pose_lite.out1.f32", 4: "pose_lite.out4.f32"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			run := func(m *Model, err error) (out [][]float32, packed, held float64) {
				require.NoError(t, err)
				defer m.Close()
				bytes, _ := m.core.weights.Size()
				stats := MemStats()
				packed, held = float64(bytes), float64(stats.Weights+stats.Constants)
				s := opened(t, m, WithThreads(1))
				if c.input == nil {
					copy(s.Input(0).Bytes(), pattern(m.Inputs()[0]))
				} else {
					copy(Data[float32](s.Input(0)), c.input)
				}
				require.NoError(t, s.Run())
				for i := range m.Outputs() {
					out = append(out, slices.Clone(Data[float32](s.Output(i))))
				}
				return out, packed, held
			}
			path := modelPath(t, c.name+".tflite")
			file, err := os.ReadFile(path)
			require.NoError(t, err)
			g, err := Read(file)
			require.NoError(t, err)
			single, whole, heldWhole := run(Open(path))
			half, halved, heldHalf := run(Open(path, WithPrecision(Float16)))
			other, _, _ := run(Compile(rounded(g)))
			t.Logf("%.0f bytes of packed weights, %.0f in half precision; held %.0f and %.0f", whole, halved, heldWhole, heldHalf)
			require.LessOrEqual(t, halved, 0.52*whole)
			if heldHalf > 2<<20 {
				heldHalf -= 2 << 20
			}
			require.LessOrEqual(t, heldHalf, 0.55*heldWhole)
			for i, want := range single {
				if name, known := c.want[i]; known {
					want = golden(t, name)
				}
				off, inevitable := offOfPeak(want, half[i]), offOfPeak(want, other[i])
				t.Logf("output %d: off by %.2f %% of the peak, %.2f %% by rounding alone", i, 100*off, 100*inevitable)
				require.LessOrEqual(t, off, halfAllowed(inevitable), "output %d", i)
			}
		})
	}
}

// offOfPeak is the largest difference over the largest magnitude.
func offOfPeak(want, got []float32) float64 {
	off, peak := 0.0, 0.0
	for i, w := range want {
		off, peak = max(off, math.Abs(float64(got[i]-w))), max(peak, math.Abs(float64(w)))
	}
	return off / peak
}

// rounded computes in single precision, but rounds constants and results of nodes to half: with the error that half precision
// has, whatever its kernels are.
func rounded(g *graph.Graph) *graph.Graph {
	g = g.Clone()
	round := func(id graph.ID) graph.ID { return g.Convert(g.Convert(id, graph.As(Float16)), graph.As(Float32)) }
	nodes, instead := g.Nodes, map[graph.ID]graph.ID{}
	g.Nodes = nil
	for id := range graph.ID(len(g.Values)) {
		switch v := &g.Values[id]; {
		case v.DType != Float32:
		case v.Constant == 0:
			instead[id] = round(id)
		default:
			data := make([]byte, v.Bytes())
			g.Constants[v.Constant].CopyTo(data)
			for i := 0; i < len(data); i += 4 {
				f := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
				binary.LittleEndian.PutUint32(data[i:], math.Float32bits(graph.HalfOf(f).Float32()))
			}
			instead[id] = g.ConstantOf(v.Type, data)
		}
	}
	for _, n := range nodes {
		for i, id := range n.Inputs {
			if other, is := instead[id]; is {
				n.Inputs[i] = other
			}
		}
		g.Nodes = append(g.Nodes, n)
	}
	for i, id := range g.Outputs {
		if other, is := instead[id]; is {
			g.Outputs[i] = other
		}
	}
	return g
}

// TestHalfPrecisionKeeps what half precision cannot say, and what has no kernel for it.
func TestHalfPrecisionKeeps(t *testing.T) {
	nothingHeld(t)
	x := []float32{1, 2, 3, 4}
	for _, c := range []struct {
		name  string
		build func(g *graph.Graph, x graph.ID) graph.ID
		nodes string // in half precision, with the types of their results
		want  []float32
	}{
		{"a constant that fits", func(g *graph.Graph, x graph.ID) graph.ID {
			return g.Add(x, g.Constant([]float32{65504}, 1))
		}, "Convert fp16, Add fp16, Convert fp32", []float32{65504, 65504, 65504, 65504}}, // halves are 32 apart there
		{"a constant too large", func(g *graph.Graph, x graph.ID) graph.ID {
			return g.Add(x, g.Constant([]float32{65536}, 1))
		}, "Add fp32", []float32{65537, 65538, 65539, 65540}},
		{"a constant too small", func(g *graph.Graph, x graph.ID) graph.ID {
			return g.Multiply(x, g.Constant([]float32{0x1p-30}, 1))
		}, "Multiply fp32", []float32{0x1p-30, 0x1p-29, 3 * 0x1p-30, 0x1p-28}},
		{"limits too small", func(g *graph.Graph, x graph.ID) graph.ID {
			return g.Clamp(x, 0, 0x1p-30)
		}, "Clamp fp32", []float32{0x1p-30, 0x1p-30, 0x1p-30, 0x1p-30}},
		{"no kernel", func(g *graph.Graph, x graph.ID) graph.ID {
			// Cosines of 0, sines of 1: [a, b] becomes [-b, a], of channels [1, 3] and [2, 4].
			return g.Negate(g.RotaryEmbedding(g.Negate(x), g.Constant([]float32{0, 0, 1, 1}, 1, 4), 1))
		}, "Convert fp16, Negate fp16, Convert fp32, RotaryEmbedding fp32, Convert fp16, Negate fp16, Convert fp32",
			[]float32{-3, -4, 1, 2}},
		{"no kernel, of two rows", func(g *graph.Graph, x graph.ID) graph.ID {
			rows := g.ConstantOf(graph.Type{DType: Int32, Shape: Shape{1, 1, 1, 4}}, []byte{12: 1, 15: 0}) // 0, 0, 0 and 1
			return g.Unpool2D(g.Negate(x), rows, graph.Unpool2D{Kernel: [2]int{2, 1}})
		}, "Convert fp16, Negate fp16, Convert fp32, Unpool2D fp32", []float32{-1, -2, -3, 0, 0, 0, 0, -4}},
		{"nothing to compute", func(g *graph.Graph, x graph.ID) graph.ID {
			return g.Reshape(x, 1, 1, 2, 2)
		}, "Reshape fp32", x},
		{"quantised", func(g *graph.Graph, x graph.ID) graph.ID {
			x = g.Convert(x, graph.Quantized(graph.QInt8, 1, 0))
			return g.Convert(g.Add(x, x, graph.Quantized(graph.QInt8, 2, 0)), graph.As(Float32))
		}, "Convert qint8, Add qint8, Convert fp32", []float32{2, 4, 6, 8}},
		{"quantised between others", func(g *graph.Graph, x graph.ID) graph.ID {
			x = g.Convert(g.Negate(x), graph.Quantized(graph.QInt8, 1, 0))
			return g.Negate(g.Convert(g.Add(x, x, graph.Quantized(graph.QInt8, 2, 0)), graph.As(Float32)))
		}, "Convert fp16, Negate fp16, Convert qint8, Add qint8, Convert fp16, Negate fp16, Convert fp32", []float32{2, 4, 6, 8}},
		{"quantised at run time", func(g *graph.Graph, x graph.ID) graph.ID {
			w := graph.Type{DType: graph.QCInt8, Shape: Shape{1, 4}, Quant: &graph.Quant{Scales: []float32{0.5}}}
			return g.FullyConnected(g.Convert(x, graph.Dynamic(1)), g.ConstantOf(w, []byte{0, 0, 0, 2}), graph.None)
		}, "Convert qdint8, FullyConnected fp32", []float32{4}}, // the largest is the range's end, so without error
	} {
		t.Run(c.name, func(t *testing.T) {
			g := graph.New()
			in := g.Input(Float32, 1, 1, 1, 4)
			g.Output(c.build(g, in))
			g.Output(in)
			half, err := graph.HalfPrecision(g)
			require.NoError(t, err)
			var nodes []string
			for _, n := range half.Nodes {
				nodes = append(nodes, n.Op.Kind()+" "+half.Values[n.Outputs[0]].DType.String())
			}
			require.Equal(t, c.nodes, strings.Join(nodes, ", "))
			m, err := Compile(g, WithPrecision(graph.Float16))
			require.NoError(t, err)
			defer m.Close()
			out, err := m.Run(t.Context(), NewTensor(x, 1, 1, 1, 4))
			require.NoError(t, err)
			require.Equal(t, c.want, Data[float32](out[0]))
			require.Equal(t, x, Data[float32](out[1]), "an input that is an output")
		})
	}
	g := graph.New()
	g.Output(g.Negate(g.Input(Float32, 3)))
	g.ArenaBytes = 1 << 20
	half, err := graph.HalfPrecision(g)
	require.NoError(t, err)
	require.Zero(t, half.ArenaBytes, "the size is of another plan")
	require.EqualValues(t, 1<<20, g.ArenaBytes)
	_, err = Compile(dense(4, 1), WithPrecision(graph.QInt8))
	failed(t, err, ErrArgument)
}

// TestHalfPrecisionReshape: other shapes, and one constant for several nodes.
func TestHalfPrecisionReshape(t *testing.T) {
	nothingHeld(t)
	const n = 64
	g := graph.New()
	x := g.Input(Float32, 1, n)
	w, b := g.Constant(same(n*n, 1./n), n, n), g.Constant(same(n, 1), n)
	g.Output(g.FullyConnected(g.FullyConnected(x, w, b), w, b))
	m, err := Compile(g, WithPrecision(graph.Float16))
	require.NoError(t, err)
	defer m.Close()
	for _, rows := range []int{1, 7, 2} {
		out, err := m.Run(t.Context(), NewTensor(same(rows*n, 2), rows, n))
		require.NoError(t, err)
		require.Equal(t, same(rows*n, 4), Data[float32](out[0]))
	}
}

// TestHalfPrecisionLimit: what is made to be rounded counts before it is made.
func TestHalfPrecisionLimit(t *testing.T) {
	nothingHeld(t)
	const n = 1 << 28
	g := graph.New()
	w := g.ConstantFrom(graph.Type{DType: Float32, Shape: Shape{n}}, 4*n, func([]byte) { t.Error("it is made") })
	g.Output(g.Add(g.Input(Float32, 1), w))
	_, err := Compile(g, WithPrecision(Float16), WithMemoryLimit(4*n-1))
	failed(t, err, ErrMemoryLimit, "1073741824 bytes")
}
