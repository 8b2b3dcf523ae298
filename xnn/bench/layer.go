package main

import (
	"bytes"
	"fmt"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// layer is a graph of one node that multiplies an input with a constant filter and adds a constant bias, in float32. Images are
// padded so that the result is as large as they are, or that by the stride.
type layer struct {
	kind   string
	x      xnn.Shape // an image [1, height, width, channels], or rows
	filter xnn.Shape // as XNNPACK has it: output channels first, but last for depthwise
	stride int
}

// The kinds of layer.
const (
	conv           = "conv"
	depthwise      = "depthwise"
	fullyConnected = "fc"
)

// layers are those of ./build.sh bench ops, as networks have them.
func layers() []layer {
	convolution := func(kernel, stride, in, out, size int) layer {
		return layer{conv, xnn.Shape{1, size, size, in}, xnn.Shape{out, kernel, kernel, in}, stride}
	}
	channelwise := func(kernel, channels, size int) layer {
		return layer{depthwise, xnn.Shape{1, size, size, channels}, xnn.Shape{1, kernel, kernel, channels}, 1}
	}
	product := func(rows, in, out int) layer {
		return layer{fullyConnected, xnn.Shape{rows, in}, xnn.Shape{out, in}, 1}
	}
	return []layer{
		convolution(3, 2, 3, 32, 224),
		convolution(3, 1, 64, 64, 56),
		convolution(3, 1, 256, 256, 14),
		convolution(1, 1, 96, 24, 56),
		convolution(1, 1, 320, 1280, 7),
		channelwise(3, 96, 112),
		channelwise(5, 120, 28),
		product(1, 1024, 1024),
		product(512, 512, 512),
		product(128, 768, 3072),
	}
}

// name is such as conv3x3/stride=2/3-32/n=224, depthwise3x3/96/n=112 or fc/1x1024x1024.
func (l layer) name() string {
	if l.kind == fullyConnected {
		return fmt.Sprintf("fc/%dx%dx%d", l.x[0], l.x[1], l.channels())
	}
	s := fmt.Sprintf("%s%dx%d", l.kind, l.filter[1], l.filter[2])
	if l.stride > 1 {
		s += fmt.Sprintf("/stride=%d", l.stride)
	}
	s += fmt.Sprintf("/%d", l.x[3])
	if l.kind == conv {
		s += fmt.Sprintf("-%d", l.channels())
	}
	return s + fmt.Sprintf("/n=%d", l.x[1])
}

// channels are those of the result.
func (l layer) channels() int {
	if l.kind == depthwise {
		return l.filter[3]
	}
	return l.filter[0]
}

// y is the shape of the result.
func (l layer) y() xnn.Shape {
	if l.kind == fullyConnected {
		return xnn.Shape{l.x[0], l.channels()}
	}
	over := func(n int) int { return (n + l.stride - 1) / l.stride }
	return xnn.Shape{l.x[0], over(l.x[1]), over(l.x[2]), l.channels()}
}

// padding of the image: the smaller half above and to the left.
func (l layer) padding() graph.Padding {
	if l.kind == fullyConnected {
		return graph.Padding{}
	}
	total := func(i int) int { return max(0, (l.y()[i]-1)*l.stride+l.filter[i]-l.x[i]) }
	h, w := total(1), total(2)
	return graph.Padding{Top: h / 2, Right: w - w/2, Bottom: h - h/2, Left: w / 2}
}

func (l layer) multiplications() int {
	each := l.filter.Elements() / l.channels() // of one element of the result
	return l.y().Elements() * each
}

func (l layer) graph() *graph.Graph {
	g := graph.New()
	x := g.Input(xnn.Float32, l.x...)
	filter := g.Constant(xnn.Data[float32](floats(l.filter, valueFilter)), l.filter...)
	bias := g.Constant(xnn.Data[float32](floats(xnn.Shape{l.channels()}, valueBias)), l.channels())
	stride := [2]int{l.stride, l.stride}
	switch l.kind {
	case conv:
		g.Output(g.Conv2D(x, filter, bias, graph.Conv2D{SamePadding: true, Stride: stride}))
	case depthwise:
		g.Output(g.DepthwiseConv2D(x, filter, bias, graph.DepthwiseConv2D{SamePadding: true, Stride: stride}))
	default:
		g.Output(g.FullyConnected(x, filter, bias))
	}
	return g
}

// onnx has input a, constants w and b and output y. Images have their channels first.
func (l layer) onnx() []byte {
	filter, y := floats(l.filter, valueFilter), floats(l.y(), valueX)
	var node []byte
	if l.kind == fullyConnected {
		node = onnxAttribute(onnxNode("Gemm", "y", "a", "w", "b"), "transB", typeInt, 1)
	} else {
		groups := 1
		if l.kind == depthwise { // [1, height, width, channels] to [channels, 1, height, width]
			groups = l.channels()
			filter = channelsFirst(filter)
			filter = xnn.NewTensor(xnn.Data[float32](filter), groups, 1, l.filter[1], l.filter[2])
		} else {
			filter = channelsFirst(filter)
		}
		p := l.padding()
		node = onnxAttribute(onnxNode("Conv", "y", "a", "w", "b"), "group", typeInt, groups)
		node = onnxAttribute(node, "pads", typeInts, p.Top, p.Left, p.Bottom, p.Right)
		node = onnxAttribute(node, "strides", typeInts, l.stride, l.stride)
		y = channelsFirst(y)
	}
	g := message(nil, graphNode, node)
	g = text(g, graphName, "layer")
	g = message(g, graphInitializer, onnxConstant("w", filter))
	g = message(g, graphInitializer, onnxConstant("b", floats(xnn.Shape{l.channels()}, valueBias)))
	x := l.x
	if l.nchw() {
		x = xnn.Shape{x[0], x[3], x[1], x[2]}
	}
	g = message(g, graphInput, onnxValue("a", xnn.Float32, x))
	return onnxModel(message(g, graphOutput, onnxValue("y", xnn.Float32, y.Shape())))
}

func (l layer) nchw() bool { return l.kind != fullyConnected }

// The elements are small integers here, too: no sum has more than 24 bits, so that all columns agree to the bit.
func valueX(i int) int      { return i*7%13 - 6 }
func valueFilter(i int) int { return (i*5+3)%11 - 5 }
func valueBias(i int) int   { return i%7 - 3 }

func (layer) fill(s *xnn.Session) { fill(s.Input(0), valueX) }

func (layer) agree(got, want []byte) bool { return bytes.Equal(got, want) }

// want computes the layer by its definition. A matrix is an image of one row whose pixels are the matrix's rows.
func (l layer) want() []byte {
	x, filter, y, p := l.x, l.filter, l.y(), l.padding()
	if l.kind == fullyConnected {
		x, filter, y = xnn.Shape{1, 1, x[0], x[1]}, xnn.Shape{filter[0], 1, 1, filter[1]}, xnn.Shape{1, 1, y[0], y[1]}
	}
	xs, fs := xnn.Data[float32](floats(x, valueX)), xnn.Data[float32](floats(filter, valueFilter))
	out := floats(y, func(i int) int { return valueBias(i % l.channels()) })
	ys := xnn.Data[float32](out)
	inputs := x[3]
	for oy := range y[1] {
		for ox := range y[2] {
			sums := ys[(oy*y[2]+ox)*l.channels():][:l.channels()]
			for ky := range filter[1] {
				for kx := range filter[2] {
					iy, ix := oy*l.stride+ky-p.Top, ox*l.stride+kx-p.Left
					if iy < 0 || iy >= x[1] || ix < 0 || ix >= x[2] {
						continue
					}
					pixel, at := xs[(iy*x[2]+ix)*inputs:][:inputs], ky*filter[2]+kx
					for c := range sums {
						if l.kind == depthwise {
							sums[c] += pixel[c] * fs[at*inputs+c]
						} else {
							sums[c] += dot(pixel, fs[(c*filter[1]*filter[2]+at)*inputs:])
						}
					}
				}
			}
		}
	}
	return out.Bytes()
}

// dot is a times as many elements of b.
func dot(a, b []float32) (sum float32) {
	b = b[:len(a)]
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// channelsFirst puts the last of four dimensions behind the first.
func channelsFirst(t *xnn.Tensor) *xnn.Tensor {
	s, from := t.Shape(), xnn.Data[float32](t)
	pixels, channels := s[1]*s[2], s[3]
	to := make([]float32, len(from))
	for i := range from {
		image, pixel, c := i/(pixels*channels), i/channels%pixels, i%channels
		to[(image*channels+c)*pixels+pixel] = from[i]
	}
	return xnn.NewTensor(to, s[0], channels, s[1], s[2])
}
