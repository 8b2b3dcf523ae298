package xnn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// A small transformer encoder, built twice: from operators of this package, and in plain Go in double precision.
const (
	encoderHeads    = 3
	encoderChannels = 8 // of a head
	encoderWidth    = encoderHeads * encoderChannels
	encoderInner    = 40
	encoderEpsilon  = 1e-5
)

// encoderLayer is the weights of one layer: matrices [output channels, input channels].
type encoderLayer struct {
	query, key, value, project, up, down                                 []float32
	queryBias, keyBias, valueBias, projectBias, upBias, downBias         []float32
	attentionGain, attentionShift, forwardGain, forwardShift, headScales []float32
}

func newEncoderLayer(r *rand.Rand) encoderLayer {
	w := func(n, k int) []float32 {
		list := numbers(r, n*k)
		for i := range list {
			list[i] /= float32(math.Sqrt(float64(k)))
		}
		return list
	}
	l := encoderLayer{
		query: w(encoderWidth, encoderWidth), key: w(encoderWidth, encoderWidth), value: w(encoderWidth, encoderWidth),
		project: w(encoderWidth, encoderWidth), up: w(encoderInner, encoderWidth), down: w(encoderWidth, encoderInner),
		queryBias: numbers(r, encoderWidth), keyBias: numbers(r, encoderWidth), valueBias: numbers(r, encoderWidth),
		projectBias: numbers(r, encoderWidth), upBias: numbers(r, encoderInner), downBias: numbers(r, encoderWidth),
		attentionGain: numbers(r, encoderWidth), attentionShift: numbers(r, encoderWidth),
		forwardGain: numbers(r, encoderWidth), forwardShift: numbers(r, encoderWidth),
	}
	for range encoderChannels {
		l.headScales = append(l.headScales, float32(1/math.Sqrt(encoderChannels)))
	}
	return l
}

// build appends the layer to x [tokens, width] with a mask [tokens, tokens], its attention one node or several.
func (l encoderLayer) build(g *graph.Graph, x, mask graph.ID, fused bool) graph.ID {
	dense := func(x graph.ID, w, bias []float32) graph.ID {
		return g.FullyConnected(x, g.Constant(w, len(bias), len(w)/len(bias)), g.Constant(bias, len(bias)))
	}
	norm := func(x graph.ID, gain, shift []float32) graph.ID {
		mean := g.ReduceMean(x, []int{1}, true)
		centred := g.Subtract(x, mean)
		variance := g.ReduceMean(g.Square(centred), []int{1}, true)
		scale := g.ReciprocalSquareRoot(g.Add(variance, g.Constant([]float32{encoderEpsilon})))
		return g.Add(g.Multiply(g.Multiply(centred, scale), g.Constant(gain, len(gain))), g.Constant(shift, len(shift)))
	}
	split := func(x graph.ID) graph.ID { // [heads, tokens, channels]
		return g.Transpose(g.Reshape(x, 0, encoderHeads, encoderChannels), 1, 0, 2)
	}
	y := norm(x, l.attentionGain, l.attentionShift)
	q, k, v := split(dense(y, l.query, l.queryBias)), split(dense(y, l.key, l.keyBias)), split(dense(y, l.value, l.valueBias))
	scale := g.Constant(l.headScales, encoderChannels)
	var attended graph.ID
	if fused {
		attended = g.Attention(q, k, v, scale, mask, 0)
	} else {
		attended = g.BatchMatMul(g.Softmax(g.Add(g.BatchMatMulTransposed(g.Multiply(q, scale), k), mask)), v)
	}
	merged := g.Reshape(g.Transpose(attended, 1, 0, 2), 0, encoderWidth)
	x = g.Add(x, dense(merged, l.project, l.projectBias))
	y = norm(x, l.forwardGain, l.forwardShift)
	return g.Add(x, dense(g.GELU(dense(y, l.up, l.upBias)), l.down, l.downBias))
}

// run is the reference: x [tokens][width] is changed in place, a token sees itself and those before.
func (l encoderLayer) run(x [][]float64) {
	dense := func(row []float64, w, bias []float32) []float64 {
		out := widened(bias)
		for j := range out {
			for i, f := range row {
				out[j] += f * float64(w[j*len(row)+i])
			}
		}
		return out
	}
	norm := func(row []float64, gain, shift []float32) []float64 {
		mean, variance := 0., 0.
		for _, f := range row {
			mean += f / float64(len(row))
		}
		for _, f := range row {
			variance += (f - mean) * (f - mean) / float64(len(row))
		}
		out := make([]float64, len(row))
		for i, f := range row {
			out[i] = (f-mean)/math.Sqrt(variance+encoderEpsilon)*float64(gain[i]) + float64(shift[i])
		}
		return out
	}
	var q, k, v [][]float64
	for _, row := range x {
		y := norm(row, l.attentionGain, l.attentionShift)
		q, k, v = append(q, dense(y, l.query, l.queryBias)), append(k, dense(y, l.key, l.keyBias)), append(v, dense(y, l.value,
			l.valueBias))
	}
	for t, row := range x {
		merged := make([]float64, encoderWidth)
		for h := range encoderHeads {
			logits := make([]float64, t+1)
			for u := range logits {
				for c := h * encoderChannels; c < (h+1)*encoderChannels; c++ {
					logits[u] += q[t][c] * k[u][c] / math.Sqrt(encoderChannels)
				}
			}
			for u, p := range softmaxRow(logits) {
				for c := h * encoderChannels; c < (h+1)*encoderChannels; c++ {
					merged[c] += p * v[u][c]
				}
			}
		}
		for i, f := range dense(merged, l.project, l.projectBias) {
			row[i] += f
		}
	}
	for _, row := range x {
		inner := dense(norm(row, l.forwardGain, l.forwardShift), l.up, l.upBias)
		for i, f := range inner {
			inner[i] = f / 2 * (1 + math.Erf(f/math.Sqrt2))
		}
		for i, f := range dense(inner, l.down, l.downBias) {
			row[i] += f
		}
	}
}

// TestTransformer runs two layers on one number of tokens after another, in one session, against the reference.
func TestTransformer(t *testing.T) {
	r := rand.New(rand.NewPCG(27, 28))
	layers := []encoderLayer{newEncoderLayer(r), newEncoderLayer(r)}
	for _, fused := range []bool{false, true} {
		g := graph.New()
		x, mask := g.Input(Float32, 4, encoderWidth), g.Input(Float32, 4, 4)
		for _, l := range layers {
			x = l.build(g, x, mask, fused)
		}
		g.Output(x)
		file, err := g.Marshal()
		require.NoError(t, err)
		for _, m := range []*Model{compiled(t, g), loaded(t, file)} {
			s := opened(t, m)
			for _, tokens := range []int{4, 1, 50, 7, 3} {
				require.NoError(t, s.Reshape(Shape{tokens, encoderWidth}, Shape{tokens, tokens}))
				require.Equal(t, Shape{tokens, encoderWidth}, s.Output(0).Shape())
				in, hidden := numbers(r, tokens*encoderWidth), make([]float32, tokens*tokens)
				rows := make([][]float64, tokens)
				for i := range rows {
					rows[i] = widened(in[i*encoderWidth : (i+1)*encoderWidth])
					for j := i + 1; j < tokens; j++ {
						hidden[i*tokens+j] = -inf
					}
				}
				for _, l := range layers {
					l.run(rows)
				}
				var want, tolerance []float64
				for _, row := range rows {
					for _, f := range row {
						want, tolerance = append(want, f), append(tolerance, 1e-4*max(1, math.Abs(f)))
					}
				}
				withinEach(t, want, runOnce(t, s, in, hidden)[0], tolerance, tokens, fused)
			}
		}
	}
}
