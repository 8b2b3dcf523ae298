package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["Attention"] = lowering{
		api: "xnn_define_scaled_dot_product_attention",
		define: func(d *definition) error {
			return d.sub.Attention(d.op.(graph.Attention).Cap, d.ins[0], d.ins[1], d.ins[2], d.ins[3], d.ins[4], d.outs[0])
		},
		fixed: func(d *definition) []int { return d.out[0].Shape },
		work: func(d *definition) int {
			query, key, result := d.in[0].Shape, d.in[1].Shape, d.out[0].Shape
			tokens := key[len(key)-2]
			return product(query.Elements()+result.Elements(), tokens)
		},
	}
}
