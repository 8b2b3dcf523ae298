package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	for _, r := range []struct {
		kind graph.ReduceFunc
		op   xnnpack.ReduceOp
		name string // XNNPACK's
	}{
		{graph.ReduceMean, xnnpack.ReduceMean, "xnn_reduce_mean"},
		{graph.ReduceSum, xnnpack.ReduceSum, "xnn_reduce_sum"},
	} {
		lowerings[string(r.kind)] = lowering{
			api: "xnn_define_static_reduce_v2 " + r.name,
			define: func(d *definition) error {
				o := d.op.(graph.Reduce)
				return d.limited(o.Range, func(out uint32) error { return d.sub.Reduce(r.op, o.Axes, o.KeepDims, d.ins[0], out) })
			},
		}
	}
}
