package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	lowerings["ConvTranspose2D"] = lowering{
		api: "xnn_define_deconvolution_2d",
		define: func(d *definition) error {
			o := d.op.(graph.ConvTranspose2D)
			c := xnnpack.Conv{
				Window:     window(o.Padding, o.Kernel, o.Stride, o.Dilation),
				Adjustment: o.Adjustment,
				Groups:     o.Groups, GroupInputs: o.GroupInputs, GroupOutputs: o.GroupOutputs,
			}
			c.Min, c.Max = o.Range.Bounds()
			return d.sub.Deconvolution2D(c, d.ins[0], d.ins[1], d.bias(), d.outs[0])
		},
		packs: []int{1, 2},
		fixed: (*definition).dynamicImages,
		tables: func(d *definition) int {
			o, windows := d.op.(graph.ConvTranspose2D), d.out[0].Shape
			const tile = 16 // see tableOf; here each of Stride columns begins a tile
			return product(addressBytes, o.Kernel[0], o.Kernel[1], windows[1], windows[2]+tile*o.Stride[1])
		},
		work: func(d *definition) int {
			o := d.op.(graph.ConvTranspose2D)
			return product(d.in[0].Shape.Elements(), o.Kernel[0], o.Kernel[1], o.GroupOutputs)
		},
	}
}
