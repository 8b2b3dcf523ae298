package xnn

import "github.com/xnngo/xnngo/xnn/graph"

func init() {
	lowerings["DepthToSpace2D"] = lowering{
		api: "xnn_define_depth_to_space_2d",
		define: func(d *definition) error {
			return d.sub.DepthToSpace(d.op.(graph.DepthToSpace2D).BlockSize, d.ins[0], d.outs[0])
		},
	}
	lowerings["SpaceToDepth2D"] = lowering{
		api: "xnn_define_space_to_depth_2d",
		define: func(d *definition) error {
			return d.sub.SpaceToDepth(d.op.(graph.SpaceToDepth2D).BlockSize, d.ins[0], d.outs[0])
		},
	}
}
