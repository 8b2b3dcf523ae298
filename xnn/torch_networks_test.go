package xnn

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// stage keeps what goes on from one stage to the next, for the comparison of its mean.
func (n *torchNet) stage(x graph.ID) graph.ID {
	n.taps = append(n.taps, x)
	return x
}

// means are those of the channels over the image.
func (n *torchNet) means(x graph.ID) graph.ID { return n.ReduceMean(x, []int{1, 2}, false) }

// mobileNetV2 is that of Sandler et al., 2018, width 1.
func mobileNetV2(n *torchNet, x graph.ID) graph.ID {
	const eps = 1e-5
	x = n.stage(n.unit(x, 32, 3, 2, relu6, eps))
	for _, b := range []struct{ expand, channels, repeats, stride int }{
		{1, 16, 1, 1}, {6, 24, 2, 2}, {6, 32, 3, 2}, {6, 64, 4, 2}, {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1},
	} {
		for i := range b.repeats {
			in, stride := x, 1
			if i == 0 {
				stride = b.stride
			}
			channels := n.Values[x].Shape[3]
			if b.expand != 1 {
				x = n.unit(x, channels*b.expand, 1, 1, relu6, eps)
			}
			x = n.unit(n.depthwise(x, 3, stride, relu6, eps), b.channels, 1, 1, linear, eps)
			if stride == 1 && channels == b.channels {
				x = n.Add(x, in)
			}
		}
		x = n.stage(x)
	}
	x = n.stage(n.unit(x, 1280, 1, 1, relu6, eps))
	return n.dense(n.means(x), 1000)
}

// mobileNetV3Small is that of Howard et al., 2019, table 2.
func mobileNetV3Small(n *torchNet, x graph.ID) graph.ID {
	const eps = 1e-3
	x = n.stage(n.unit(x, 16, 3, 2, hardSwish, eps))
	for _, b := range []struct {
		kernel, expanded, channels int
		squeeze                    bool
		act                        activation
		stride                     int
	}{
		{3, 16, 16, true, relu, 2}, {3, 72, 24, false, relu, 2}, {3, 88, 24, false, relu, 1},
		{5, 96, 40, true, hardSwish, 2}, {5, 240, 40, true, hardSwish, 1}, {5, 240, 40, true, hardSwish, 1},
		{5, 120, 48, true, hardSwish, 1}, {5, 144, 48, true, hardSwish, 1}, {5, 288, 96, true, hardSwish, 2},
		{5, 576, 96, true, hardSwish, 1}, {5, 576, 96, true, hardSwish, 1},
	} {
		in, channels := x, n.Values[x].Shape[3]
		if b.expanded != channels {
			x = n.unit(x, b.expanded, 1, 1, b.act, eps)
		}
		x = n.depthwise(x, b.kernel, b.stride, b.act, eps)
		if b.squeeze {
			x = n.squeeze(x)
		}
		x = n.unit(x, b.channels, 1, 1, linear, eps)
		if b.stride == 1 && channels == b.channels {
			x = n.Add(x, in)
		}
		x = n.stage(x)
	}
	x = n.stage(n.unit(x, 576, 1, 1, hardSwish, eps))
	return n.dense(n.HardSwish(n.dense(n.means(x), 1024)), 1000)
}

// resNet18 is that of He et al., 2015, with basic blocks.
func resNet18(n *torchNet, x graph.ID) graph.ID {
	const eps = 1e-5
	x = n.unit(x, 64, 7, 2, relu, eps)
	x = n.stage(n.MaxPool2D(x, graph.Pool2D{Kernel: [2]int{3, 3}, Stride: [2]int{2, 2}, Padding: around(1)}))
	for _, b := range []struct{ channels, stride int }{{64, 1}, {128, 2}, {256, 2}, {512, 2}} {
		for _, stride := range []int{b.stride, 1} {
			in := x
			x = n.unit(n.unit(x, b.channels, 3, stride, relu, eps), b.channels, 3, 1, linear, eps)
			if stride != 1 || n.Values[in].Shape[3] != b.channels {
				in = n.unit(in, b.channels, 1, stride, linear, eps)
			}
			x = n.Add(x, in, relu.limits...)
		}
		x = n.stage(x)
	}
	return n.dense(n.means(x), 1000)
}

// encoder is two encoder layers, normalised before each half, or after it.
func encoder(before, fused bool) func(n *torchNet, x graph.ID) graph.ID {
	const hidden, heads, eps = 128, 2, 1e-5
	return func(n *torchNet, x graph.ID) graph.ID {
		width := n.Values[x].Shape[2]
		for range 2 {
			// Drawn in PyTorch's order, which is not that of use.
			qkv := n.w.filter(3*width, width)
			w, b := n.Constant(qkv, 3*width, width), n.Constant(n.w.bias(3*width), 3*width)
			wo, bo := n.Constant(n.w.filter(width, width), width, width), n.Constant(n.w.bias(width), width)
			w1, b1 := n.Constant(n.w.filter(hidden, width), hidden, width), n.Constant(n.w.bias(hidden), hidden)
			w2, b2 := n.Constant(n.w.filter(width, hidden), width, hidden), n.Constant(n.w.bias(width), width)
			var gammas, betas [2]graph.ID
			for i := range gammas {
				gammas[i], betas[i] = n.Constant(n.w.draw(width, 0.5, 1.5), width), n.Constant(n.w.bias(width), width)
			}
			attend := func(x graph.ID) graph.ID { return multiHead(n.Graph, x, w, b, wo, bo, heads, fused) }
			feed := func(x graph.ID) graph.ID {
				if before {
					return n.FullyConnected(n.GELU(n.FullyConnected(x, w1, b1)), w2, b2)
				}
				return n.FullyConnected(n.FullyConnected(x, w1, b1, relu.limits...), w2, b2)
			}
			for i, half := range []func(graph.ID) graph.ID{attend, feed} {
				if before {
					x = n.Add(x, half(layerNorm(n.Graph, x, gammas[i], betas[i], eps)))
				} else {
					x = layerNorm(n.Graph, n.Add(x, half(x)), gammas[i], betas[i], eps)
				}
			}
			x = n.stage(x)
		}
		return x
	}
}

// TestTorchNetworks compares whole networks with PyTorch's results, within 1e-4 of the largest, on one thread and on two, for
// batches that change; and in half precision.
func TestTorchNetworks(t *testing.T) {
	nothingHeld(t)
	models := map[string][]func(*torchNet, graph.ID) graph.ID{
		"MobileNetV2":      {mobileNetV2},
		"MobileNetV3Small": {mobileNetV3Small},
		"ResNet18":         {resNet18},
		"Encoder":          {encoder(true, false), encoder(true, true)},
		"EncoderPostNorm":  {encoder(false, false), encoder(false, true)},
	}
	cases := torchCases(t, "networks")
	require.Len(t, cases, len(models))
	for _, c := range cases {
		require.NotEmpty(t, models[c.Op], c.Op)
		for i, model := range models[c.Op] {
			t.Run(fmt.Sprintf("%s %d", c.Op, i), func(t *testing.T) { c.checkNetwork(t, model) })
		}
	}
}

func (c *torchCase) checkNetwork(t *testing.T, model func(*torchNet, graph.ID) graph.ID) {
	n := &torchNet{Graph: graph.New(), w: &torchWeights{random: splitmix(c.P.Seed)}}
	y := model(n, n.Input(Float32, c.In[0].Shape...))
	n.Output(y)
	require.NoError(t, n.Check())
	require.Equal(t, c.P.Drawn, n.w.drawn, "the layers are not those of PyTorch's side")
	m := compiled(t, n.Graph)
	for _, threads := range []int{1, 2} {
		for i, off := range c.runNetwork(t, m, threads) {
			if !(off <= 1e-4) {
				t.Errorf("batch %d, %d threads: off by %g of the largest result", c.In[i].Shape[0], threads, off)
			}
		}
	}
	if t.Failed() {
		c.findStage(t, n)
		return
	}
	c.readBack(t, n, m)
	half, err := graph.HalfPrecision(n.Graph)
	require.NoError(t, err)
	requireHalf(t, half)
	inevitable := c.runNetwork(t, compiled(t, rounded(n.Graph)), 1)
	for i, off := range c.runNetwork(t, compiled(t, n.Graph, WithPrecision(Float16)), 1) {
		require.LessOrEqual(t, off, halfAllowed(inevitable[i]), "batch %d, in half precision", c.In[i].Shape[0])
	}
}

// runNetwork runs all batches, and gives how far each is from PyTorch's results, as a part of the largest.
func (c *torchCase) runNetwork(t *testing.T, m *Model, threads int) (off []float64) {
	s := opened(t, m, WithThreads(threads))
	for i, in := range c.In {
		require.NoError(t, s.Reshape(in.Shape))
		require.Equal(t, Shape(c.Out[i].Shape), s.Output(0).Shape())
		copy(s.Input(0).Bytes(), in.bytes())
		require.NoError(t, s.Run())
		worst, most := 0.0, 0.0
		for j := range count(c.Out[i].Shape) {
			want, got := c.Out[i].number(c.Out[i].Data, j), c.Out[i].number(s.Output(0).Bytes(), j)
			worst, most = max(worst, math.Abs(want-got)), max(most, math.Abs(want))
		}
		t.Logf("batch %d, %d threads: off by %.1e of the largest result", in.Shape[0], threads, worst/most)
		off = append(off, worst/most)
	}
	return off
}

// readBack holds the network written to a file to the same bits.
func (c *torchCase) readBack(t *testing.T, n *torchNet, m *Model) {
	file, err := n.Marshal()
	require.NoError(t, err)
	var outs [2][]byte
	for i, m := range []*Model{m, loaded(t, file)} {
		s := opened(t, m, WithThreads(1))
		copy(s.Input(0).Bytes(), c.In[0].bytes())
		require.NoError(t, s.Run())
		outs[i] = append(outs[i], s.Output(0).Bytes()...)
	}
	require.Equal(t, outs[0], outs[1])
}

// findStage tells the first stage whose mean is another than PyTorch's.
func (c *torchCase) findStage(t *testing.T, n *torchNet) {
	g := n.Clone()
	g.Outputs = n.taps
	s := opened(t, compiled(t, g))
	copy(s.Input(0).Bytes(), c.In[0].bytes())
	require.NoError(t, s.Run())
	for i, tap := range c.P.Taps {
		var mean, size float64
		data := Data[float32](s.Output(i))
		for _, f := range data {
			mean += float64(f) / float64(len(data))
			size += math.Abs(float64(f)) / float64(len(data))
		}
		t.Logf("stage %d: mean %.6g and %.6g of absolute values, PyTorch's %.6g and %.6g", i, mean, size, tap[0], tap[1])
	}
}
