package graph

import (
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// decoded reads back a node table that build writes.
func decoded(tag xnngraph.XNodeUnion, build func(b *flatbuffers.Builder) flatbuffers.UOffsetT) (Op, error) {
	b := flatbuffers.NewBuilder(0)
	b.Finish(build(b))
	data := b.FinishedBytes()
	op, _, _, err := forms[tag].decode(flatbuffers.Table{Bytes: data, Pos: flatbuffers.GetUOffsetT(data)})
	if err != nil {
		return nil, err
	}
	return op, nil
}

// TestConvTables: what one of the convolutions has no use for is an error, not left out.
func TestConvTables(t *testing.T) {
	const (
		conv      = xnngraph.XNodeUnionXNNConv2d
		depthwise = xnngraph.XNodeUnionXNNDepthwiseConv2d
		transpose = xnngraph.XNodeUnionXNNConvTranspose2d
	)
	good := convTable{
		window: window{kernel: [2]int{3, 2}, stride: [2]int{2, 1}, dilation: [2]int{1, 4}, padding: Padding{1, 2, 3, 4}},
		inputs: 2, outputs: 6, groups: 5,
	}
	write := func(c convTable) func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			at := encodeConv(b, c, []uint32{0, 1}, []uint32{2})
			if c.flags == 0 {
				return at
			}
			xnngraph.XNNNodeConvStart(b)
			xnngraph.XNNNodeConvAddGroupInputChannels(b, 1)
			xnngraph.XNNNodeConvAddFlags(b, c.flags)
			return xnngraph.XNNNodeConvEnd(b)
		}
	}
	for tag, want := range map[xnngraph.XNodeUnion]Op{
		conv: Conv2D{Padding: Padding{1, 2, 3, 4}, Stride: [2]int{2, 1}, Dilation: [2]int{1, 4}, Groups: 5, Kernel: [2]int{3, 2},
			GroupInputs: 2, GroupOutputs: 6},
		depthwise: DepthwiseConv2D{Padding: Padding{1, 2, 3, 4}, Stride: [2]int{2, 1}, Dilation: [2]int{1, 4}, Kernel: [2]int{3, 2},
			Channels: 5, Multiplier: 3},
		transpose: ConvTranspose2D{Padding: Padding{1, 2, 3, 4}, Stride: [2]int{2, 1}, Dilation: [2]int{1, 4}, Groups: 5,
			Kernel: [2]int{3, 2}, GroupInputs: 2, GroupOutputs: 6},
	} {
		op, err := decoded(tag, write(good))
		require.NoError(t, err)
		require.Equal(t, want, op)
	}
	adjusted, none, uneven, absent := good, good, good, convTable{}
	adjusted.adjustment = [2]int{1, 0}
	none.inputs, uneven.inputs = 0, 4
	for name, c := range map[string]struct {
		tag   xnngraph.XNodeUnion
		table convTable
		text  string
	}{
		"adjustment":            {conv, adjusted, "adjustment is 1x0"},
		"adjustment, depthwise": {depthwise, adjusted, "adjustment is 1x0"},
		"flags":                 {conv, convTable{flags: 5}, "flags 0x1 "},
		"flags, depthwise":      {depthwise, convTable{flags: 0x24}, "flags 0x20 "},
		"flags, transposed":     {transpose, convTable{flags: 4}, "flags 0x4 "},
		"no input channels":     {depthwise, none, "group_input_channels 0"},
		"not a multiple":        {depthwise, uneven, "group_output_channels 6"},
		"empty":                 {depthwise, absent, "group_input_channels 0"},
	} {
		_, err := decoded(c.tag, write(c.table))
		require.ErrorContains(t, err, c.text, name)
	}
}

// TestPoolTables: flags are known or an error.
func TestPoolTables(t *testing.T) {
	pool := func(flags uint32) func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			xnngraph.XNNPooling2DStart(b)
			xnngraph.XNNPooling2DAddPoolingHeight(b, 2)
			xnngraph.XNNPooling2DAddStrideWidth(b, 3)
			xnngraph.XNNPooling2DAddPaddingLeft(b, 1)
			xnngraph.XNNPooling2DAddFlags(b, flags)
			return xnngraph.XNNPooling2DEnd(b)
		}
	}
	argmax := func(flags uint32) func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			xnngraph.XNNArgMaxPooling2dStart(b)
			xnngraph.XNNArgMaxPooling2dAddFlags(b, flags)
			return xnngraph.XNNArgMaxPooling2dEnd(b)
		}
	}
	resize := func(flags uint32) func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
		return func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			xnngraph.XNNStaticResizeBilinear2DStart(b)
			xnngraph.XNNStaticResizeBilinear2DAddNewHeight(b, 7)
			xnngraph.XNNStaticResizeBilinear2DAddNewWidth(b, 9)
			xnngraph.XNNStaticResizeBilinear2DAddFlags(b, flags)
			return xnngraph.XNNStaticResizeBilinear2DEnd(b)
		}
	}
	for _, c := range []struct {
		tag   xnngraph.XNodeUnion
		build func(b *flatbuffers.Builder) flatbuffers.UOffsetT
		want  Op
	}{
		{xnngraph.XNodeUnionXNNMaxPooling2d, pool(0),
			Pool2D{Func: MaxPool2D, Kernel: [2]int{2, 0}, Stride: [2]int{0, 3}, Padding: Padding{Left: 1}}},
		{xnngraph.XNodeUnionXNNAvgPooling2d, pool(4),
			Pool2D{Func: AvgPool2D, Kernel: [2]int{2, 0}, Stride: [2]int{0, 3}, Dilation: [2]int{1, 1}, Padding: Padding{Left: 1},
				SamePadding: true}},
		{xnngraph.XNodeUnionXNNArgMaxPooling2d, argmax(4), ArgMaxPool2D{SamePadding: true}},
		{xnngraph.XNodeUnionXNNStaticResizeBilinear2D, resize(0), ResizeBilinear2D{7, 9, HalfPixel}},
		{xnngraph.XNodeUnionXNNStaticResizeBilinear2D, resize(8), ResizeBilinear2D{7, 9, AlignCorners}},
		{xnngraph.XNodeUnionXNNStaticResizeBilinear2D, resize(4), ResizeBilinear2D{7, 9, Legacy}},
	} {
		op, err := decoded(c.tag, c.build)
		require.NoError(t, err)
		require.Equal(t, c.want, op)
	}
	for _, tag := range []xnngraph.XNodeUnion{xnngraph.XNodeUnionXNNMaxPooling2d, xnngraph.XNodeUnionXNNAvgPooling2d} {
		_, err := decoded(tag, pool(6))
		require.ErrorContains(t, err, "flags 0x2 ")
	}
	_, err := decoded(xnngraph.XNodeUnionXNNArgMaxPooling2d, argmax(8))
	require.ErrorContains(t, err, "flags 0x8 ")
	for _, flags := range []uint32{12, 1, 0x20} {
		_, err := decoded(xnngraph.XNodeUnionXNNStaticResizeBilinear2D, resize(flags))
		require.ErrorContains(t, err, "flags")
	}
}

// TestFilterOfAnotherShape: a file whose convolution states a larger kernel than its filter has.
func TestFilterOfAnotherShape(t *testing.T) {
	g := New()
	x := g.Input(Float32, 1, 9, 9, 3)
	filter := g.Constant(make([]float32, 864), 32, 3, 3, 3)
	g.Output(g.Conv2D(x, filter, None, Conv2D{Padding: Padding{1, 1, 1, 1}}))
	file, err := g.Marshal()
	require.NoError(t, err)
	_, err = Unmarshal(file)
	require.NoError(t, err)

	parts, fault := split(file)
	require.Nil(t, fault)
	var node xnngraph.XNode
	xnngraph.GetRootAsXNNGraph(parts.flat, 0).Xnodes(&node, 0)
	var table flatbuffers.Table
	require.True(t, node.Xnode(&table))
	var conv xnngraph.XNNNodeConv
	conv.Init(table.Bytes, table.Pos)
	require.True(t, conv.MutateKernelHeight(5))
	require.True(t, conv.MutateKernelWidth(5))
	_, err = Unmarshal(file)
	require.ErrorIs(t, err, schema.ErrShape)
	require.ErrorContains(t, err, "[32,3,3,3]")
	require.ErrorContains(t, err, "[32,5,5,3]")
}
