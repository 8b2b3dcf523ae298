package xnn

import "github.com/xnngo/xnngo/xnn/graph"

// mostSplit is how many parts XNNPACK cuts a value into in one node.
const mostSplit = 4

func init() {
	lowerings["EvenSplit"] = lowering{
		api: "xnn_define_even_split2 xnn_define_even_split3 xnn_define_even_split4",
		define: func(d *definition) error {
			axis, parts := d.op.(graph.EvenSplit).Axis, len(d.outs)
			switch {
			case parts == 1:
				return d.sub.Copy(d.ins[0], d.outs[0])
			case parts <= mostSplit:
				return d.sub.EvenSplit(axis, d.ins[0], d.outs)
			}
			for i, out := range d.outs {
				rank := len(d.in[0].Shape)
				offsets, lengths := make([]int, rank), make([]int, rank) // 0 is the whole dimension
				lengths[axis] = d.out[0].Shape[axis]
				offsets[axis] = i * lengths[axis]
				if err := d.sub.Slice(offsets, lengths, d.ins[0], out); err != nil {
					return err
				}
			}
			return nil
		},
		fixed: func(d *definition) []int {
			if len(d.out) <= mostSplit {
				return nil
			}
			return []int{d.out[0].Shape[d.op.(graph.EvenSplit).Axis]}
		},
	}
}
