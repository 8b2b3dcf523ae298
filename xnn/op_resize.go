package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

var resizeModes = map[graph.ResizeMode]xnnpack.ResizeMode{
	graph.HalfPixel:    xnnpack.ResizeHalfPixel,
	graph.AlignCorners: xnnpack.ResizeAlignCorners,
	graph.Legacy:       xnnpack.ResizeLegacy,
}

func init() {
	lowerings["ResizeBilinear2D"] = lowering{
		api: "xnn_define_static_resize_bilinear_2d",
		define: func(d *definition) error {
			o := d.op.(graph.ResizeBilinear2D)
			return d.sub.ResizeBilinear2D(o.Height, o.Width, resizeModes[o.Mode], d.ins[0], d.outs[0])
		},
		// XNNPACK goes on with the pixels where they were when only the number of channels changes.
		fixed: func(d *definition) []int { return d.in[0].Shape[3:] },
		tables: func(d *definition) int {
			o := d.op.(graph.ResizeBilinear2D)
			return product(o.Height, o.Width, 4*addressBytes+2*4) // four pixels and two weights for each
		},
	}
}
