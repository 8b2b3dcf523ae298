package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

var binaryOps = map[graph.BinaryFunc]xnnpack.BinaryOp{
	graph.Add: xnnpack.Add,
}

func init() {
	for f, op := range binaryOps {
		lowerings[string(f)] = lowering{
			elementwise: true,
			define: func(d *definition) error {
				lo, hi := d.op.(graph.Binary).Range.Bounds()
				return d.sub.Binary(op, lo, hi, d.ins[0], d.ins[1], d.outs[0])
			},
		}
	}
}
