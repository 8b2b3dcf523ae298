package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["Transpose"] = lowering{
		api: "xnn_define_static_transpose",
		define: func(d *definition) error {
			perm := d.op.(graph.Transpose).Perm
			if len(perm) == 0 { // XNNPACK refuses a scalar
				return d.sub.Copy(d.ins[0], d.outs[0])
			}
			return d.sub.Transpose(perm, d.ins[0], d.outs[0])
		},
	}
}
