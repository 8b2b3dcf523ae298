package xnn

import (
	"math"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	lowerings[string(graph.AvgPool2D)] = lowering{
		api: "xnn_define_average_pooling_2d",
		define: func(d *definition) error {
			return d.inFloat(func(in, out uint32) error { return d.sub.AveragePooling2D(averaging(d), in, out) })
		},
		fixed: func(d *definition) []int {
			p := averaging(d)
			return append(p.Kernel[:], p.Top, p.Right, p.Bottom, p.Left)
		},
		// Rows without padding share their addresses.
		tables: func(d *definition) int {
			p := averaging(d)
			return rowTable(3+p.Top/p.Stride[0]+p.Bottom/p.Stride[0], d.out[0].Shape[2], p.Window)
		},
	}
	lowerings[string(graph.MaxPool2D)] = lowering{
		api:    "xnn_define_max_pooling_2d",
		define: defineMaxPool,
		// XNNPACK goes on with the pixels where they were when only the number of channels changes.
		fixed: func(d *definition) []int {
			return append(paddings(d.op.(graph.Pool2D).PaddingOf(d.in[0].Shape)), d.in[0].Shape[3])
		},
		tables: func(d *definition) int {
			p := maximizing(d)
			windows := p.places(d.in[0].Shape)
			return rowTable(windows[0], windows[1], p.Window)
		},
	}
}

// averaging is how XNNPACK takes the averages of d. The kernel is cut to the rows and columns that meet the image in some window:
// XNNPACK keeps a row of addresses for each row of padding, whether a window is there or not, and where the kernel is so large that
// fewer rows of the result have the bottom padding in their windows than there are, it takes windows without padding for the
// others.
func averaging(d *definition) xnnpack.Pooling {
	o, image := d.op.(graph.Pool2D), d.in[0].Shape
	p := xnnpack.Pooling{Window: window(o.PaddingOf(image), o.Kernel, o.Stride, o.Dilation)}
	p.Min, p.Max = o.Range.Bounds()
	windows := d.out[0].Shape
	cut := max(0, p.Top-(windows[1]-1)*p.Stride[0])
	p.Kernel[0], p.Top = p.Kernel[0]-cut, p.Top-cut
	cut = max(0, p.Left-(windows[2]-1)*p.Stride[1])
	p.Kernel[1], p.Left = p.Kernel[1]-cut, p.Left-cut
	cut = max(0, p.Kernel[0]-(p.Top+image[1]))
	p.Kernel[0], p.Bottom = p.Kernel[0]-cut, p.Bottom-cut
	cut = max(0, p.Kernel[1]-(p.Left+image[2]))
	p.Kernel[1], p.Right = p.Kernel[1]-cut, p.Right-cut
	return p
}

// inFloat defines nodes through f that take an operand and give a result of fp32, which are converted where those of d are not.
func (d *definition) inFloat(f func(in, out uint32) error) error {
	from, to := d.in[0].Type, d.out[0].Type
	if from.DType == graph.Float32 {
		return f(d.ins[0], d.outs[0])
	}
	wide := func(t graph.Type) graph.Type { return graph.Type{DType: graph.Float32, Shape: t.Shape} }
	return d.through(wide(from), func(in uint32) error { return d.convert(from, wide(from), d.ins[0], in) }, func(in uint32) error {
		return d.through(wide(to), func(out uint32) error { return f(in, out) },
			func(out uint32) error { return d.convert(wide(to), to, out, d.outs[0]) })
	})
}

// maxPooling is how XNNPACK takes maxima, and the stride at which they are then picked. XNNPACK takes no stride larger than the
// kernel: it is given one that divides the one asked for.
type maxPooling struct {
	xnnpack.Pooling
	pick [2]int
}

func maximizing(d *definition) maxPooling {
	var p maxPooling
	o := d.op.(graph.Pool2D)
	p.Window = window(o.PaddingOf(d.in[0].Shape), o.Kernel, o.Stride, o.Dilation)
	p.Min, p.Max = o.Range.Bounds()
	for i, stride := range p.Stride {
		p.Stride[i] = min(stride, p.Kernel[i])
		for stride%p.Stride[i] != 0 {
			p.Stride[i]--
		}
		p.pick[i] = stride / p.Stride[i]
	}
	return p
}

// places is how many windows of an image there are down and across.
func (p maxPooling) places(image graph.Shape) [2]int {
	height, width := image[1]+p.Top+p.Bottom, image[2]+p.Left+p.Right
	return [2]int{
		(height-(p.Kernel[0]-1)*p.Dilation[0]-1)/p.Stride[0] + 1,
		(width-(p.Kernel[1]-1)*p.Dilation[1]-1)/p.Stride[1] + 1,
	}
}

// defineMaxPool makes do without pooling where the kernel is one element, which XNNPACK refuses.
func defineMaxPool(d *definition) error {
	p, one := maximizing(d), [2]int{1, 1}
	switch {
	case p.Kernel == one:
		return d.inFloat(func(in, out uint32) error { return d.pick(p.pick, p.Min, p.Max, in, out) })
	case p.pick == one:
		return d.sub.MaxPooling2D(p.Pooling, d.ins[0], d.outs[0])
	}
	all, places := d.out[0].Type, p.places(d.in[0].Shape)
	all.Shape = graph.Shape{all.Shape[0], places[0], places[1], all.Shape[3]}
	return d.through(all, func(out uint32) error { return d.sub.MaxPooling2D(p.Pooling, d.ins[0], out) }, func(in uint32) error {
		rest := *d
		rest.in, rest.ins = []graph.Value{{Type: all}}, []uint32{in}
		return rest.inFloat(func(in, out uint32) error {
			return rest.pick(p.pick, float32(math.Inf(-1)), float32(math.Inf(1)), in, out)
		})
	})
}

// pick takes every stride-th pixel of an fp32 image: the average of itself.
func (d *definition) pick(stride [2]int, lo, hi float32, in, out uint32) error {
	one := [2]int{1, 1}
	return d.sub.AveragePooling2D(xnnpack.Pooling{Window: window(graph.Padding{}, one, stride, one), Min: lo, Max: hi}, in, out)
}
