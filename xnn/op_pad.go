package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["Pad"] = lowering{
		api: "xnn_define_static_constant_pad",
		define: func(d *definition) error {
			o := d.op.(graph.Pad)
			return d.sub.Pad(o.Pre, o.Post, o.Value, d.ins[0], d.outs[0])
		},
	}
}
