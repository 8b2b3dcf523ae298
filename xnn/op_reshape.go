package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["Reshape"] = lowering{
		api: "xnn_define_static_reshape",
		define: func(d *definition) error {
			return d.sub.Reshape(d.op.(graph.Reshape).Dims, d.ins[0], d.outs[0])
		},
	}
	lowerings["ExpandDims"] = lowering{
		api: "xnn_define_static_expand_dims",
		define: func(d *definition) error {
			axes := d.op.(graph.ExpandDims).Axes
			if len(axes) == 0 { // of which XNNPACK makes a result without memory
				return d.sub.Copy(d.ins[0], d.outs[0])
			}
			return d.sub.ExpandDims(axes, d.ins[0], d.outs[0])
		},
	}
}
