package xnn

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/cpu"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	for _, kind := range []string{"FullyConnected", "FullyConnectedTransposed"} {
		lowerings[kind] = lowering{
			api:    "xnn_define_fully_connected",
			define: defineFullyConnected,
			packs:  []int{1},
			work: func(d *definition) int {
				channels := d.out[0].Shape[len(d.out[0].Shape)-1]
				return product(d.in[0].Shape.Elements(), channels)
			},
		}
	}
	lowerings["FullyConnectedSparse"] = lowering{
		api: "xnn_define_fully_connected_sparse",
		define: func(*definition) error {
			return errors.New("XNNPACK has kernels for sparse filters on no x86 processor since AVX, and elsewhere takes the shape of " +
				"the operand for the filter's: use FullyConnected")
		},
	}
}

func defineFullyConnected(d *definition) error {
	if err := checkProcessor(d.in[0].Type, d.in[1].Type); err != nil {
		return err
	}
	op := d.op.(graph.FullyConnected)
	multiply := func(r graph.Range, bias, out uint32) error {
		lo, hi := r.Bounds()
		return d.sub.FullyConnected(lo, hi, d.ins[0], d.ins[1], bias, out, op.Transposed, op.Flatten)
	}
	if len(d.in) < 3 || d.in[0].DType != graph.Float32 || d.in[1].DType == graph.Float32 {
		return multiply(op.Range, d.bias(), d.outs[0])
	}
	// Of fp32 and integers, XNNPACK multiplies the bias with the scale of the integers, too.
	return d.through(d.out[0].Type, func(sum uint32) error { return multiply(graph.Range{}, xnnpack.NoValue, sum) },
		func(sum uint32) error {
			return d.limited(op.Range, func(out uint32) error { return d.sub.Binary(xnnpack.Add, sum, d.ins[2], out) })
		})
}

// checkProcessor refuses what XNNPACK would get wrong on the processor. On x86 it looks for no instructions at all before it
// picks some kernels, and those for blocks of 4 bits before AVX2 read 16 bytes at a time from any multiple of 8. On ARM the one
// for fp32 and 4 bits takes the half byte behind an odd number of weights for a part of the last.
func checkProcessor(x, filter graph.Type) error {
	needs := ""
	switch plain := x.DType == graph.Float32 && filter.DType != graph.Float32; {
	case runtime.GOARCH == "amd64" && filter.DType == graph.QBInt4 && !cpu.X86.HasAVX2:
		needs = "AVX2"
	case runtime.GOARCH == "amd64" && plain && !cpu.X86.HasSSE41:
		needs = "SSE4.1"
	case runtime.GOARCH != "amd64" && plain && filter.DType == graph.QCInt4 && filter.Shape[1]%2 != 0:
		return fmt.Errorf("%v with weights of %v needs an even number of input channels on %s, found %d", x.DType, filter.DType,
			runtime.GOARCH, filter.Shape[1])
	}
	if needs == "" {
		return nil
	}
	return fmt.Errorf("%v with weights of %v needs a processor with %s", x.DType, filter.DType, needs)
}
