package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// convTable is what an XNNNodeConv says besides its operands. All convolutions share it.
type convTable struct {
	window                  window
	adjustment              [2]int
	inputs, outputs, groups int // channels of a group
	flags                   uint32
}

// check rejects what the operator of this kind has no use for.
func (t convTable) check(kind string, flags uint32) *schema.Error {
	if t.adjustment != [2]int{} {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: adjustment is %s, which only transposed convolutions have",
			kind, times(t.adjustment))
	}
	return onlyFlags(kind, t.flags, flags)
}

func decodeConv(t flatbuffers.Table) (c convTable, in, out []operand) {
	var n xnngraph.XNNNodeConv
	n.Init(t.Bytes, t.Pos)
	c = convTable{
		window: window{
			kernel:   pairOf(n.KernelHeight(), n.KernelWidth()),
			stride:   pairOf(n.SubsamplingHeight(), n.SubsamplingWidth()),
			dilation: pairOf(n.DilationHeight(), n.DilationWidth()),
			padding:  paddingFrom(&n),
			same:     n.Flags()&flagSame != 0,
		},
		adjustment: pairOf(n.AdjustmentHeight(), n.AdjustmentWidth()),
		inputs:     int(n.GroupInputChannels()),
		outputs:    int(n.GroupOutputChannels()),
		groups:     int(n.Groups()),
		flags:      n.Flags(),
	}
	in = []operand{{"input1_id", n.Input1Id()}, {"filter_id", n.FilterId()}}
	if n.BiasId() != math.MaxUint32 {
		in = append(in, operand{"bias_id", n.BiasId()})
	}
	return c, in, []operand{{"output_id", n.OutputId()}}
}

func encodeConv(b *flatbuffers.Builder, c convTable, in, out []uint32) flatbuffers.UOffsetT {
	bias := uint32(math.MaxUint32)
	if len(in) > 2 {
		bias = in[2]
	}
	w := c.window
	xnngraph.XNNNodeConvStart(b)
	xnngraph.XNNNodeConvAddPaddingTop(b, uint32(w.padding.Top))
	xnngraph.XNNNodeConvAddPaddingRight(b, uint32(w.padding.Right))
	xnngraph.XNNNodeConvAddPaddingBottom(b, uint32(w.padding.Bottom))
	xnngraph.XNNNodeConvAddPaddingLeft(b, uint32(w.padding.Left))
	xnngraph.XNNNodeConvAddKernelHeight(b, uint32(w.kernel[0]))
	xnngraph.XNNNodeConvAddKernelWidth(b, uint32(w.kernel[1]))
	xnngraph.XNNNodeConvAddSubsamplingHeight(b, uint32(w.stride[0]))
	xnngraph.XNNNodeConvAddSubsamplingWidth(b, uint32(w.stride[1]))
	xnngraph.XNNNodeConvAddDilationHeight(b, uint32(w.dilation[0]))
	xnngraph.XNNNodeConvAddDilationWidth(b, uint32(w.dilation[1]))
	xnngraph.XNNNodeConvAddGroupInputChannels(b, uint32(c.inputs))
	xnngraph.XNNNodeConvAddGroupOutputChannels(b, uint32(c.outputs))
	xnngraph.XNNNodeConvAddGroups(b, uint32(c.groups))
	xnngraph.XNNNodeConvAddAdjustmentHeight(b, uint32(c.adjustment[0]))
	xnngraph.XNNNodeConvAddAdjustmentWidth(b, uint32(c.adjustment[1]))
	xnngraph.XNNNodeConvAddInput1Id(b, in[0])
	xnngraph.XNNNodeConvAddFilterId(b, in[1])
	xnngraph.XNNNodeConvAddBiasId(b, bias)
	xnngraph.XNNNodeConvAddOutputId(b, out[0])
	xnngraph.XNNNodeConvAddFlags(b, w.flags())
	return xnngraph.XNNNodeConvEnd(b)
}

func pairOf(height, width uint32) [2]int { return [2]int{int(height), int(width)} }

// paddingFrom reads the padding that several tables spell alike.
func paddingFrom(t interface {
	PaddingTop() uint32
	PaddingRight() uint32
	PaddingBottom() uint32
	PaddingLeft() uint32
}) Padding {
	return Padding{int(t.PaddingTop()), int(t.PaddingRight()), int(t.PaddingBottom()), int(t.PaddingLeft())}
}
