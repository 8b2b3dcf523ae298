package xnn

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/nets"
)

// quantizedTwin is a graph and the same with integers for weights.
func quantizedTwin(t testing.TB, g *graph.Graph, o graph.WeightOptions) (*Session, *Session, []graph.WeightChange) {
	q, changes, err := graph.QuantizeWeights(g, o)
	require.NoError(t, err)
	file, err := q.Marshal()
	require.NoError(t, err)
	return opened(t, compiled(t, g), WithThreads(1)), opened(t, loaded(t, file), WithThreads(1)), changes
}

// An encoder's outputs stay within 2 % of the largest of them with weights of 8 bits.
func TestQuantizedEncoder(t *testing.T) {
	const tokens, width = 128, 768
	g := nets.Encoder(2, tokens, width, 12)
	plain, quantized, changes := quantizedTwin(t, g, graph.WeightOptions{})
	require.Len(t, changes, 12)
	for _, c := range changes {
		require.Empty(t, c.Kept)
	}
	x := nets.Normal(tokens * width)
	want, got := run(t, plain, x)[0], run(t, quantized, x)[0]
	largest, off := 0., 0.
	for i, w := range want {
		largest, off = max(largest, math.Abs(float64(w))), max(off, math.Abs(float64(w)-float64(got[i])))
	}
	t.Logf("off by %.2g, %.2f %% of the largest, %.3g", off, 100*off/largest, largest)
	require.Less(t, off, 0.02*largest)
	require.NotZero(t, off)
}

// Each kind of node computes with integers what it computes with real numbers, to some hundredths of the largest result.
func TestQuantizedNodes(t *testing.T) {
	weights := func(g *graph.Graph, dims ...int) graph.ID {
		return g.Constant(nets.Normal(Shape(dims).Elements()), dims...)
	}
	whole := graph.WeightOptions{MinWeights: 1}
	blocks := graph.WeightOptions{MinWeights: 1, DType: graph.QBInt4}
	for name, c := range map[string]struct {
		o     graph.WeightOptions
		share float64 // of the largest result
		build func(g *graph.Graph) graph.ID
	}{
		"rows": {whole, 0.03, func(g *graph.Graph) graph.ID {
			return g.FullyConnected(g.Input(Float32, 2, 3, 64), weights(g, 24, 64), weights(g, 24), graph.Limits(-5, 9))
		}},
		"transposed": {whole, 0.03, func(g *graph.Graph) graph.ID {
			return g.FullyConnectedTransposed(g.Input(Float32, 5, 64), weights(g, 64, 24), weights(g, 24))
		}},
		"flattened": {whole, 0.03, func(g *graph.Graph) graph.ID {
			x := g.Input(Float32, 2, 3, 64)
			return g.Apply(graph.FullyConnected{Flatten: true}, []graph.ID{x, weights(g, 24, 192), weights(g, 24)}, 1)[0]
		}},
		"blocks": {blocks, 0.2, func(g *graph.Graph) graph.ID {
			return g.FullyConnected(g.Input(Float32, 6, 64), weights(g, 24, 64), weights(g, 24))
		}},
		"turned blocks": {blocks, 0.2, func(g *graph.Graph) graph.ID {
			return g.FullyConnectedTransposed(g.Input(Float32, 6, 64), weights(g, 64, 24), graph.None)
		}},
		"images": {whole, 0.03, func(g *graph.Graph) graph.ID {
			return g.Conv2D(g.Input(Float32, 2, 9, 7, 16), weights(g, 24, 3, 3, 16), weights(g, 24),
				graph.Conv2D{SamePadding: true, Stride: [2]int{2, 1}}, graph.Limits(0, 30))
		}},
		"groups": {whole, 0.03, func(g *graph.Graph) graph.ID {
			return g.Conv2D(g.Input(Float32, 1, 9, 7, 16), weights(g, 24, 3, 3, 8), weights(g, 24), graph.Conv2D{Groups: 2})
		}},
		"spread": {whole, 0.03, func(g *graph.Graph) graph.ID {
			return g.ConvTranspose2D(g.Input(Float32, 2, 4, 5, 16), weights(g, 24, 3, 3, 16), weights(g, 24),
				graph.ConvTranspose2D{Stride: [2]int{2, 2}})
		}},
	} {
		g := graph.New()
		g.Output(c.build(g))
		plain, quantized, changes := quantizedTwin(t, g, c.o)
		require.Empty(t, changes[0].Kept, name)
		x := nets.Normal(len(Data[float32](plain.Input(0))))
		want, got := run(t, plain, x)[0], run(t, quantized, x)[0]
		largest := 0.
		for _, w := range want {
			largest = max(largest, math.Abs(float64(w)))
		}
		for i, w := range want {
			require.InDelta(t, w, got[i], c.share*largest, "%s: element %d", name, i)
		}
		require.NotEqual(t, want, got, name)
	}
}

// inTurns runs two sessions in turns and gives the median of the ratios of their times.
func inTurns(b *testing.B, first, second *Session) float64 {
	sessions := []*Session{first, second}
	x := nets.Normal(len(Data[float32](first.Input(0))))
	for _, s := range sessions {
		run(b, s, x)
	}
	// As many runs at once as take a millisecond.
	start, runs := time.Now(), 1
	require.NoError(b, first.Run())
	if took := time.Since(start); took < time.Millisecond {
		runs = int(time.Millisecond/(took+1)) + 1
	}
	var ratios []float64
	for b.Loop() {
		var took [2]time.Duration
		for i, s := range sessions {
			start := time.Now()
			for range runs {
				if err := s.Run(); err != nil {
					b.Fatal(err)
				}
			}
			took[i] = time.Since(start)
		}
		ratios = append(ratios, float64(took[0])/float64(took[1]))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

// BenchmarkQuantizedNode is the time of a node with weights of fp32 over that with integers, on one thread: what
// graph.LeastWeights is read from.
func BenchmarkQuantizedNode(b *testing.B) {
	measure := func(name string, o graph.WeightOptions, build func(g *graph.Graph) graph.ID) {
		b.Run(name, func(b *testing.B) {
			g := graph.New()
			g.Output(build(g))
			o.MinWeights = 1
			plain, quantized, changes := quantizedTwin(b, g, o)
			require.Empty(b, changes[0].Kept)
			b.ReportMetric(inTurns(b, plain, quantized), "fp32/"+o.DType.String())
		})
	}
	weights := func(g *graph.Graph, dims ...int) graph.ID {
		return g.Constant(nets.Normal(Shape(dims).Elements()), dims...)
	}
	for _, rows := range []int{1, 16, 128} {
		for _, n := range []int{64, 128, 256, 512, 1024} {
			for _, dtype := range []DType{graph.QCInt8, graph.QBInt4} {
				measure(fmt.Sprintf("FullyConnected/%dx%dx%d", rows, n, n), graph.WeightOptions{DType: dtype}, func(g *graph.Graph) graph.ID {
					return g.FullyConnected(g.Input(Float32, rows, n), weights(g, n, n), graph.None)
				})
			}
		}
	}
	for _, c := range []struct{ kernel, channels int }{
		{1, 64}, {1, 128}, {1, 256}, {1, 512}, {3, 32}, {3, 64}, {3, 96}, {3, 128}, {3, 256},
	} {
		for _, size := range []int{7, 14, 28, 56} {
			name := fmt.Sprintf("%dx%dx%d_%dx%d", size, size, c.channels, c.kernel, c.kernel)
			measure("Conv2D/"+name, graph.WeightOptions{DType: graph.QCInt8}, func(g *graph.Graph) graph.ID {
				return g.Conv2D(g.Input(Float32, 1, size, size, c.channels), weights(g, c.channels, c.kernel, c.kernel, c.channels),
					graph.None, graph.Conv2D{SamePadding: true})
			})
			if c.kernel == 1 {
				continue
			}
			measure("ConvTranspose2D/"+name, graph.WeightOptions{DType: graph.QCInt8}, func(g *graph.Graph) graph.ID {
				return g.ConvTranspose2D(g.Input(Float32, 1, size, size, c.channels), weights(g, c.channels, c.kernel, c.kernel, c.channels),
					graph.None, graph.ConvTranspose2D{Stride: [2]int{2, 2}})
			})
		}
	}
}
