package tflite

import (
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	for code, f := range map[wire.BuiltinOperator]graph.PoolFunc{
		wire.BuiltinOperatorAVERAGE_POOL_2D: graph.AvgPool2D,
		wire.BuiltinOperatorMAX_POOL_2D:     graph.MaxPool2D,
	} {
		handlers[code] = &handler{
			options: wire.BuiltinOptionsPool2DOptions, fields: 6, in: arity{1, 1}, out: arity{1, 1},
			build: func(n *node) error {
				var o wire.Pool2DOptions
				n.options(&o)
				kernel := [2]int{int(o.FilterHeight()), int(o.FilterWidth())}
				return n.emit(graph.Pool2D{
					Func:        f,
					Kernel:      kernel,
					Stride:      [2]int{int(o.StrideH()), int(o.StrideW())},
					Dilation:    [2]int{1, 1},
					SamePadding: n.padded(o.Padding(), kernel),
				}, o.FusedActivationFunction(), n.value(0))
			},
		}
	}
}
