package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	lowerings["DepthwiseConv2D"] = lowering{
		api: "xnn_define_depthwise_convolution_2d",
		define: func(d *definition) error {
			o := d.op.(graph.DepthwiseConv2D)
			c := xnnpack.Conv{
				Window: window(o.PaddingOf(d.in[0].Shape), o.Kernel, o.Stride, o.Dilation),
				Groups: o.Channels, GroupInputs: 1, GroupOutputs: o.Multiplier,
			}
			c.Min, c.Max = o.Range.Bounds()
			return d.sub.DepthwiseConvolution2D(c, d.ins[0], d.ins[1], d.bias(), d.outs[0])
		},
		packs: []int{1, 2},
		fixed: func(d *definition) []int { return paddings(d.op.(graph.DepthwiseConv2D).PaddingOf(d.in[0].Shape)) },
		tables: func(d *definition) int {
			o := d.op.(graph.DepthwiseConv2D)
			if o.Multiplier == 1 {
				return depthwiseTable(d.out[0].Shape, window(o.PaddingOf(d.in[0].Shape), o.Kernel, o.Stride, o.Dilation))
			}
			return tableOf(d.out[0].Shape, o.Kernel)
		},
		work: func(d *definition) int {
			o := d.op.(graph.DepthwiseConv2D)
			return product(d.out[0].Shape.Elements(), o.Kernel[0], o.Kernel[1])
		},
	}
}

// depthwiseTable is the size of the table of a convolution of each channel by itself.
func depthwiseTable(windows graph.Shape, w xnnpack.Window) int {
	const largest = 25 // elements of a kernel that XNNPACK has a kernel for
	if w.Kernel[0]*w.Kernel[1] > largest {
		return tableOf(windows, w.Kernel)
	}
	return rowTable(windows[1], windows[2], w)
}
