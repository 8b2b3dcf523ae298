package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["RotaryEmbedding"] = lowering{
		api: "xnn_define_rope",
		define: func(d *definition) error {
			return d.sub.RotaryEmbedding(d.op.(graph.RotaryEmbedding).MaxTokens, d.ins[0], d.ins[1], d.outs[0])
		},
	}
}
