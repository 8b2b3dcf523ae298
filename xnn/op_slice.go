package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["Slice"] = lowering{
		api: "xnn_define_static_slice",
		define: func(d *definition) error {
			o := d.op.(graph.Slice)
			if len(o.Sizes) == 0 { // XNNPACK refuses a scalar
				return d.sub.Copy(d.ins[0], d.outs[0])
			}
			return d.sub.Slice(o.Offsets, d.lengths(o), d.ins[0], d.outs[0])
		},
		fixed: func(d *definition) []int { return d.lengths(d.op.(graph.Slice)) },
	}
}

// lengths are a slice's sizes as XNNPACK takes them, for which 0 stands for the whole dimension wherever the slice begins.
func (d *definition) lengths(o graph.Slice) []int {
	list := make([]int, len(o.Sizes))
	for i := range list {
		if list[i] = o.Sizes[i]; list[i] == 0 && o.Offsets[i] > 0 {
			list[i] = d.in[0].Shape[i] - o.Offsets[i]
		}
	}
	return list
}
