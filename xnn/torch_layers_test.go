package xnn

import (
	"math"

	"github.com/xnngo/xnngo/xnn/graph"
)

// torchWeights draws the numbers of a network from a seed, as networks.py does: filters in the order [outputs, height, width,
// inputs].
type torchWeights struct {
	random splitmix
	drawn  int
}

func (w *torchWeights) draw(n int, lo, hi float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = w.random.uniform(lo, hi)
	}
	w.drawn += n
	return v
}

// filter is uniform within sqrt(6 / inputs of an output).
func (w *torchWeights) filter(outputs, inputs int) []float32 {
	a := math.Sqrt(6 / float64(inputs))
	return w.draw(outputs*inputs, -a, a)
}

func (w *torchWeights) bias(n int) []float32 { return w.draw(n, -0.1, 0.1) }

// torchNet is a graph under construction, with its weights and what goes on from stage to stage.
type torchNet struct {
	*graph.Graph
	w    *torchWeights
	taps []graph.ID // the results of the stages
}

// activation is what follows a convolution: limits fused into it, or an operator.
type activation struct {
	limits []graph.Option
	op     func(*graph.Graph, graph.ID, ...graph.Option) graph.ID
}

var (
	linear    = activation{}
	relu      = activation{limits: []graph.Option{graph.Limits(0, float32(math.Inf(1)))}}
	relu6     = activation{limits: []graph.Option{graph.Limits(0, 6)}}
	hardSwish = activation{op: (*graph.Graph).HardSwish}
)

func (a activation) after(g *graph.Graph, x graph.ID) graph.ID {
	if a.op == nil {
		return x
	}
	return a.op(g, x)
}

// unit is a convolution of full depth, its batch normalisation folded into it, and an activation.
func (n *torchNet) unit(x graph.ID, oc, kernel, stride int, act activation, eps float64) graph.ID {
	ic := n.Values[x].Shape[3]
	filter := n.w.filter(oc, kernel*kernel*ic)
	scale, shift := n.norm(oc, eps)
	for i := range filter {
		filter[i] *= scale[i/(kernel*kernel*ic)]
	}
	return act.after(n.Graph, n.Conv2D(x, n.Constant(filter, oc, kernel, kernel, ic), n.Constant(shift, oc),
		graph.Conv2D{Padding: around(kernel / 2), Stride: [2]int{stride, stride}}, act.limits...))
}

// depthwise is unit for a convolution of each channel on its own. Its filter is drawn channel by channel.
func (n *torchNet) depthwise(x graph.ID, kernel, stride int, act activation, eps float64) graph.ID {
	c := n.Values[x].Shape[3]
	drawn := n.w.filter(c, kernel*kernel)
	scale, shift := n.norm(c, eps)
	filter := make([]float32, len(drawn))
	for i := range c {
		for k := range kernel * kernel {
			filter[k*c+i] = drawn[i*kernel*kernel+k] * scale[i]
		}
	}
	return act.after(n.Graph, n.DepthwiseConv2D(x, n.Constant(filter, 1, kernel, kernel, c), n.Constant(shift, c),
		graph.DepthwiseConv2D{Padding: around(kernel / 2), Stride: [2]int{stride, stride}}, act.limits...))
}

// norm draws a batch normalisation and gives it as x*scale + shift.
func (n *torchNet) norm(c int, eps float64) (scale, shift []float32) {
	gamma, beta := n.w.draw(c, 0.5, 1.5), n.w.draw(c, -0.1, 0.1)
	mean, variance := n.w.draw(c, -0.1, 0.1), n.w.draw(c, 0.5, 1.5)
	scale, shift = make([]float32, c), make([]float32, c)
	for i := range c {
		s := float64(gamma[i]) / math.Sqrt(float64(variance[i])+eps)
		scale[i], shift[i] = float32(s), float32(float64(beta[i])-float64(mean[i])*s)
	}
	return scale, shift
}

func around(n int) graph.Padding { return graph.Padding{Top: n, Right: n, Bottom: n, Left: n} }

// dense is a matrix and a bias.
func (n *torchNet) dense(x graph.ID, outputs int, opts ...graph.Option) graph.ID {
	s := n.Values[x].Shape
	inputs := s[len(s)-1]
	filter := n.Constant(n.w.filter(outputs, inputs), outputs, inputs)
	return n.FullyConnected(x, filter, n.Constant(n.w.bias(outputs), outputs), opts...)
}

// squeeze scales the channels by what a small network makes of their means.
func (n *torchNet) squeeze(x graph.ID) graph.ID {
	c := n.Values[x].Shape[3]
	hidden := divisible(c / 4)
	down, downBias := n.Constant(n.w.filter(hidden, c), hidden, 1, 1, c), n.Constant(n.w.bias(hidden), hidden)
	up, upBias := n.Constant(n.w.filter(c, hidden), c, 1, 1, hidden), n.Constant(n.w.bias(c), c)
	return squeezeExcite(n.Graph, x, down, downBias, up, upBias)
}

// divisible rounds to a multiple of 8, and not to less than nine tenths of n.
func divisible(n int) int {
	m := max(8, (n+4)/8*8)
	if 10*m < 9*n {
		m += 8
	}
	return m
}

// layerNorm draws a normalisation of the last dimension.
func (n *torchNet) layerNorm(x graph.ID, eps float32) graph.ID {
	s := n.Values[x].Shape
	c := s[len(s)-1]
	return layerNorm(n.Graph, x, n.Constant(n.w.draw(c, 0.5, 1.5), c), n.Constant(n.w.draw(c, -0.1, 0.1), c), eps)
}

// scalar is a constant that broadcasts against anything.
func scalar(g *graph.Graph, f float32) graph.ID { return g.Constant([]float32{f}) }

// normalize gives x mean 0 and variance 1 along axes.
func normalize(g *graph.Graph, x graph.ID, eps float32, axes ...int) graph.ID {
	mean := g.ReduceMean(x, axes, true)
	variance := g.ReduceMean(g.SquaredDifference(x, mean), axes, true)
	return g.Multiply(g.Subtract(x, mean), g.ReciprocalSquareRoot(g.Add(variance, scalar(g, eps))))
}

func layerNorm(g *graph.Graph, x, gamma, beta graph.ID, eps float32) graph.ID {
	return g.Add(g.Multiply(normalize(g, x, eps, -1), gamma), beta)
}

func hardSigmoid(g *graph.Graph, x graph.ID) graph.ID {
	return g.Multiply(g.Add(x, scalar(g, 3), graph.Limits(0, 6)), scalar(g, 1.0/6))
}

func squeezeExcite(g *graph.Graph, x, down, downBias, up, upBias graph.ID) graph.ID {
	s := g.ReduceMean(x, []int{1, 2}, true)
	s = g.Conv2D(s, down, downBias, graph.Conv2D{}, relu.limits...)
	return g.Multiply(x, hardSigmoid(g, g.Conv2D(s, up, upBias, graph.Conv2D{})))
}

// multiHead is self-attention of x [batch, tokens, channels]. The filter w has the rows of queries, keys and values, one after
// the other. fused uses the operator for attention.
func multiHead(g *graph.Graph, x, w, b, wo, bo graph.ID, heads int, fused bool) graph.ID {
	s := g.Values[x].Shape
	tokens, channels := s[1], s[2]
	// [batch, tokens, channels] of each to [batch, heads, tokens, channels of a head].
	var qkv [3]graph.ID
	for i, part := range g.EvenSplit(g.FullyConnected(x, w, b), 2, 3) {
		qkv[i] = g.Transpose(g.Reshape(part, 0, tokens, heads, channels/heads), 0, 2, 1, 3)
	}
	root := float32(1 / math.Sqrt(float64(channels/heads)))
	var y graph.ID
	if fused {
		scale := g.Constant(same(channels/heads, root), channels/heads)
		mask := g.Constant(make([]float32, tokens*tokens), tokens, tokens)
		y = g.Attention(qkv[0], qkv[1], qkv[2], scale, mask, 0)
	} else {
		logits := g.BatchMatMulTransposed(g.Multiply(qkv[0], scalar(g, root)), qkv[1])
		y = g.BatchMatMul(g.Softmax(logits), qkv[2])
	}
	y = g.Reshape(g.Transpose(y, 0, 2, 1, 3), 0, tokens, channels)
	return g.FullyConnected(y, wo, bo)
}
