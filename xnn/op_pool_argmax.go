package xnn

import (
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	lowerings["ArgMaxPool2D"] = lowering{
		api: "xnn_define_argmax_pooling_2d",
		define: func(d *definition) error {
			o := d.op.(graph.ArgMaxPool2D)
			w := window(o.PaddingOf(d.in[0].Shape), o.Kernel, o.Kernel, [2]int{1, 1})
			return d.sub.ArgMaxPooling2D(w, d.ins[0], d.outs[0], d.outs[1])
		},
		fixed:  func(d *definition) []int { return paddings(d.op.(graph.ArgMaxPool2D).PaddingOf(d.in[0].Shape)) },
		tables: func(d *definition) int { return tableOf(d.out[0].Shape, d.op.(graph.ArgMaxPool2D).Kernel) },
	}
	lowerings["Unpool2D"] = lowering{
		api: "xnn_define_unpooling_2d",
		define: func(d *definition) error {
			o := d.op.(graph.Unpool2D)
			// XNNPACK writes wherever an index points.
			last := float32(o.Kernel[0]*o.Kernel[1] - 1)
			return d.through(d.in[1].Type,
				func(mid uint32) error { return d.clamp(graph.Range{Max: last}, d.in[1].Type, d.ins[1], mid) },
				func(mid uint32) error {
					w := window(o.Padding, o.Kernel, o.Kernel, [2]int{1, 1})
					return d.sub.Unpooling2D(w, d.ins[0], mid, d.outs[0])
				})
		},
		fixed: func(d *definition) []int { return d.in[0].Shape[3:] }, // XNNPACK takes the channels when it creates the operator
		tables: func(d *definition) int {
			o, s := d.op.(graph.Unpool2D), d.in[0].Shape
			return product(addressBytes, s[0], s[1], s[2], o.Kernel[0]*o.Kernel[1])
		},
	}
}
