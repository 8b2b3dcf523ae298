package xnn

import (
	"math"
	"math/bits"

	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	for _, kind := range []string{"BatchMatMul", "BatchMatMulTransposed"} {
		lowerings[kind] = lowering{
			api: "xnn_define_batch_matrix_multiply",
			define: func(d *definition) error {
				return d.sub.BatchMatMul(d.ins[0], d.ins[1], d.outs[0], d.op.(graph.BatchMatMul).Transposed)
			},
			work: func(d *definition) int {
				k := d.in[0].Shape[len(d.in[0].Shape)-1]
				return product(d.out[0].Shape.Elements(), k)
			},
		}
	}
}

// product multiplies sizes; what does not fit is the largest number.
func product(factors ...int) int {
	p := uint64(1)
	for _, f := range factors {
		hi, lo := bits.Mul64(p, uint64(f))
		if hi != 0 || lo > math.MaxInt {
			return math.MaxInt
		}
		p = lo
	}
	return int(p)
}
