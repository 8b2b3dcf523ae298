package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	lowerings[graph.Add{}.Kind()] = lowering{
		elementwise: true,
		define: func(sub *xnnpack.Subgraph, n *graph.Node, ids func(graph.ID) uint32) error {
			return sub.Binary(xnnpack.Add, ids(n.Inputs[0]), ids(n.Inputs[1]), ids(n.Outputs[0]))
		},
	}
}
