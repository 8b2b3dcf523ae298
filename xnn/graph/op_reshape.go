package graph

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Reshape gives the elements of a tensor, in their order, other dimensions.
type Reshape struct {
	// Dims are the dimensions of the result. One may be 0, which stands for what the others leave.
	Dims []int
}

// Kind is Reshape.
func (Reshape) Kind() string { return "Reshape" }

func (o Reshape) infer(in, _ []Value) ([]Shape, error) {
	x := &in[0]
	shape, left := Shape(slices.Clone(o.Dims)), -1
	for i, d := range shape {
		if d != 0 {
			continue
		}
		if left >= 0 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "Reshape: dimensions %d and %d of %v are both 0", left, i, shape)
		}
		left, shape[i] = i, 1
	}
	if err := (Type{DType: x.DType, Shape: shape}).check(); err != nil {
		return nil, err
	}
	have, want := x.Shape.Elements(), shape.Elements()
	if left >= 0 && have%want == 0 {
		shape[left] = have / want
		return []Shape{shape}, nil
	}
	if have != want {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "Reshape: the %d elements of %v do not make %v",
			have, x.Shape, Shape(o.Dims)).AtValue(x.Ref)
	}
	return []Shape{shape}, nil
}

// Reshape appends a node that gives the elements of x, in their order, other dimensions. One of them may be 0, which stands for
// what the others leave, as when the batch size changes.
func (g *Graph) Reshape(x ID, dims ...int) ID {
	return g.apply1(Reshape{Dims: slices.Clone(dims)}, []ID{x}, nil)
}

// ExpandDims puts dimensions of size 1 into a shape.
type ExpandDims struct {
	// Axes are the places of the new dimensions in the result's shape, each once, in ascending order.
	Axes []int
}

// Kind is ExpandDims.
func (ExpandDims) Kind() string { return "ExpandDims" }

func (o ExpandDims) infer(in, _ []Value) ([]Shape, error) {
	n := len(in[0].Shape) + len(o.Axes)
	if n > MaxRank {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"ExpandDims: %d axes more than %v make %d, at most %d are supported", len(o.Axes), in[0].Shape, n, MaxRank)
	}
	if err := checkAxes("ExpandDims", o.Axes, n); err != nil {
		return nil, err
	}
	if !slices.IsSorted(o.Axes) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "ExpandDims: axes %v do not ascend", o.Axes)
	}
	shape := slices.Clone(in[0].Shape)
	for _, axis := range o.Axes {
		shape = slices.Insert(shape, axis, 1)
	}
	return []Shape{shape}, nil
}

// ExpandDims appends a node that puts dimensions of size 1 at these places of the result's shape; negative ones count from its
// end.
func (g *Graph) ExpandDims(x ID, axes ...int) ID {
	list := fromEnd(axes, g.rank(x)+len(axes))
	slices.Sort(list)
	return g.apply1(ExpandDims{Axes: list}, []ID{x}, nil)
}

func init() {
	register(operator{
		op:        Reshape{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, allDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNStaticReshape,
			dialect: dialectExecuTorch,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNStaticReshape
				n.Init(t.Bytes, t.Pos)
				dims, err := readList("Reshape", "new_shape", n.NewShapeLength(), n.NewShape, int64(n.NumDims()))
				if err == nil {
					err = onlyFlags("Reshape", n.Flags(), 0)
				}
				return Reshape{Dims: dims}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, err
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				dims := op.(Reshape).Dims
				list := writeList(b, dims)
				xnngraph.XNNStaticReshapeStart(b)
				xnngraph.XNNStaticReshapeAddNumDims(b, uint32(len(dims)))
				xnngraph.XNNStaticReshapeAddNewShape(b, list)
				xnngraph.XNNStaticReshapeAddInputId(b, in[0])
				xnngraph.XNNStaticReshapeAddOutputId(b, out[0])
				return xnngraph.XNNStaticReshapeEnd(b)
			},
		}},
	})
	register(operator{
		op:        ExpandDims{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, allDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionExpandDims,
			dialect: dialectOurs,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.ExpandDims
				n.Init(t.Bytes, t.Pos)
				axes, err := readList("ExpandDims", "axes", n.AxesLength(), n.Axes, noCount)
				return ExpandDims{Axes: axes}, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, err
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				axes := writeList(b, op.(ExpandDims).Axes)
				xnngraph.ExpandDimsStart(b)
				xnngraph.ExpandDimsAddAxes(b, axes)
				xnngraph.ExpandDimsAddInputId(b, in[0])
				xnngraph.ExpandDimsAddOutputId(b, out[0])
				return xnngraph.ExpandDimsEnd(b)
			},
		}},
	})
}
