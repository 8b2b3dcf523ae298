package graph

import (
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	x "github.com/xnngo/xnngo/schema/xnngraph"
)

// TestFlagsOfTables: a flag that an operator does not know is an error, since it would change what the operator computes.
func TestFlagsOfTables(t *testing.T) {
	type build = func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT
	one := func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
		x.XNNNode1x1Start(b)
		x.XNNNode1x1AddFlags(b, flags)
		return x.XNNNode1x1End(b)
	}
	two := func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
		x.XNNNode2x1Start(b)
		x.XNNNode2x1AddFlags(b, flags)
		return x.XNNNode2x1End(b)
	}
	concat := func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
		x.XNNCatStart(b)
		x.XNNCatAddFlags(b, flags)
		return x.XNNCatEnd(b)
	}
	tables := map[x.XNodeUnion]build{
		x.XNodeUnionXNNConvert: one, x.XNodeUnionXNNCopy: one, x.XNodeUnionXNNGlobalAvgPooling2d: one,
		x.XNodeUnionXNNConcatenate2: concat, x.XNodeUnionXNNConcatenate3: concat, x.XNodeUnionXNNConcatenate4: concat,
		x.XNodeUnionXNNConcatenate5: concat,
		x.XNodeUnionXNNLeakyReLU: func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.XNNLeakyReLUStart(b)
			x.XNNLeakyReLUAddFlags(b, flags)
			return x.XNNLeakyReLUEnd(b)
		},
		x.XNodeUnionXNNELU: func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.XNNELUStart(b)
			x.XNNELUAddFlags(b, flags)
			return x.XNNELUEnd(b)
		},
		x.XNodeUnionXNNStaticReshape: func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.XNNStaticReshapeStart(b)
			x.XNNStaticReshapeAddFlags(b, flags)
			return x.XNNStaticReshapeEnd(b)
		},
		x.XNodeUnionXNNStaticTranspose: func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.XNNStaticTransposeStart(b)
			x.XNNStaticTransposeAddFlags(b, flags)
			return x.XNNStaticTransposeEnd(b)
		},
		x.XNodeUnionXNNStaticSlice: func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.XNNStaticSliceStart(b)
			x.XNNStaticSliceAddFlags(b, flags)
			return x.XNNStaticSliceEnd(b)
		},
		x.XNodeUnionXNNStaticConstantPad: func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.XNNStaticConstantPadStart(b)
			x.XNNStaticConstantPadAddFlags(b, flags)
			return x.XNNStaticConstantPadEnd(b)
		},
	}
	for _, tag := range []x.XNodeUnion{x.XNodeUnionReduceMean, x.XNodeUnionReduceSum} {
		tables[tag] = func(b *flatbuffers.Builder, flags uint32) flatbuffers.UOffsetT {
			x.ReduceStart(b)
			x.ReduceAddFlags(b, flags)
			return x.ReduceEnd(b)
		}
	}
	for _, u := range unaries {
		tables[u.tag] = one
	}
	for _, bin := range binaries {
		tables[bin.tag] = two
	}
	for tag, table := range tables {
		for bit := range 32 {
			_, err := decoded(tag, func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return table(b, 1<<bit) })
			keeps := tag == x.XNodeUnionReduceMean || tag == x.XNodeUnionReduceSum || tag == x.XNodeUnionXNNGlobalAvgPooling2d
			if keeps && 1<<bit == flagKeepDims {
				require.NoError(t, err, tag)
				continue
			}
			require.ErrorIs(t, err, schema.ErrUnsupported, "%v, bit %d", tag, bit)
			require.ErrorContains(t, err, "flags 0x", tag)
		}
		_, err := decoded(tag, func(b *flatbuffers.Builder) flatbuffers.UOffsetT { return table(b, 0) })
		require.NoError(t, err, tag)
	}
}

// TestListsOfTables: num_dims says how long a list is, and one that is not is an error.
func TestListsOfTables(t *testing.T) {
	for _, c := range []struct{ count, first, second int }{{3, 2, 3}, {3, 3, 2}, {2, 3, 3}, {0, 1, 1}, {1, 0, 0}} {
		list := func(b *flatbuffers.Builder, n int) flatbuffers.UOffsetT { return writeList(b, make([]int, n)) }
		rejects := func(tag x.XNodeUnion, build func(b *flatbuffers.Builder) flatbuffers.UOffsetT) {
			_, err := decoded(tag, build)
			require.ErrorIs(t, err, schema.ErrGraph)
			require.ErrorContains(t, err, "num_dims")
		}
		rejects(x.XNodeUnionXNNStaticSlice, func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			offsets, sizes := list(b, c.first), list(b, c.second)
			x.XNNStaticSliceStart(b)
			x.XNNStaticSliceAddNumDims(b, uint32(c.count))
			x.XNNStaticSliceAddOffsets(b, offsets)
			x.XNNStaticSliceAddSizes(b, sizes)
			return x.XNNStaticSliceEnd(b)
		})
		if c.count == c.first {
			continue
		}
		rejects(x.XNodeUnionXNNStaticReshape, func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			dims := list(b, c.first)
			x.XNNStaticReshapeStart(b)
			x.XNNStaticReshapeAddNumDims(b, uint32(c.count))
			x.XNNStaticReshapeAddNewShape(b, dims)
			return x.XNNStaticReshapeEnd(b)
		})
		rejects(x.XNodeUnionXNNStaticTranspose, func(b *flatbuffers.Builder) flatbuffers.UOffsetT {
			perm := list(b, c.first)
			x.XNNStaticTransposeStart(b)
			x.XNNStaticTransposeAddNumDims(b, uint32(c.count))
			x.XNNStaticTransposeAddPerm(b, perm)
			return x.XNNStaticTransposeEnd(b)
		})
	}
}
