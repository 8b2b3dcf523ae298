package graph

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Slice takes a box out of a tensor.
type Slice struct {
	// Offsets are where the box begins along each dimension, Sizes how long it is; a size of 0 stands for all that is left.
	Offsets, Sizes []int
}

// Kind is Slice.
func (Slice) Kind() string { return "Slice" }

func (o Slice) infer(in, _ []Value) ([]Shape, error) {
	x := &in[0]
	for field, list := range map[string][]int{"offsets": o.Offsets, "sizes": o.Sizes} {
		if err := checkLength("Slice", field, list, x.Shape); err != nil {
			return nil, err
		}
	}
	shape := make(Shape, len(x.Shape))
	for i, d := range x.Shape {
		offset, size := o.Offsets[i], o.Sizes[i]
		switch {
		case offset < 0 || offset > 0 && offset >= d:
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "Slice: offset %d is outside dimension %d of %v",
				offset, i, x.Shape).AtValue(x.Ref)
		case size < 0 || size > d-offset:
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape,
				"Slice: %d elements from %d on are more than dimension %d of %v has", size, offset, i, x.Shape).AtValue(x.Ref)
		case size == 0:
			size = d - offset
		}
		shape[i] = size
	}
	return []Shape{shape}, nil
}

// Slice appends a node that takes a box out of x: along each dimension so many elements from an offset on, 0 for all that are
// left.
func (g *Graph) Slice(x ID, offsets, sizes []int, opts ...Option) ID {
	return g.apply1(Slice{Offsets: slices.Clone(offsets), Sizes: slices.Clone(sizes)}, []ID{x}, opts)
}

func init() {
	register(operator{
		op:        Slice{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, movedDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNStaticSlice,
			dialect: dialectExecuTorch,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNStaticSlice
				n.Init(t.Bytes, t.Pos)
				offsets, err := readList("Slice", "offsets", n.OffsetsLength(), n.Offsets, int64(n.NumDims()))
				var sizes []int
				if err == nil {
					sizes, err = readList("Slice", "sizes", n.SizesLength(), n.Sizes, int64(n.NumDims()))
				}
				if err == nil {
					err = onlyFlags("Slice", n.Flags(), 0)
				}
				return Slice{offsets, sizes}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, err
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				o := op.(Slice)
				offsets, sizes := writeList(b, o.Offsets), writeList(b, o.Sizes)
				xnngraph.XNNStaticSliceStart(b)
				xnngraph.XNNStaticSliceAddNumDims(b, uint32(len(o.Offsets)))
				xnngraph.XNNStaticSliceAddOffsets(b, offsets)
				xnngraph.XNNStaticSliceAddSizes(b, sizes)
				xnngraph.XNNStaticSliceAddInputId(b, in[0])
				xnngraph.XNNStaticSliceAddOutputId(b, out[0])
				return xnngraph.XNNStaticSliceEnd(b)
			},
		}},
	})
}
