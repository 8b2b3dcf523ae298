package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// DepthToSpace2D moves channels of [batch, height, width, channels] into square blocks of pixels: [batch, height b, width b,
// channels / b^2] for blocks of b by b. Channel (i b + j) c' + k of a pixel becomes channel k of row i, column j of its block,
// for c' channels of the result.
type DepthToSpace2D struct{ BlockSize int }

// SpaceToDepth2D moves square blocks of pixels of [batch, height, width, channels] into channels, the reverse of
// DepthToSpace2D: [batch, height / b, width / b, channels b^2].
type SpaceToDepth2D struct{ BlockSize int }

// Kind is DepthToSpace2D.
func (DepthToSpace2D) Kind() string { return "DepthToSpace2D" }

// Kind is SpaceToDepth2D.
func (SpaceToDepth2D) Kind() string { return "SpaceToDepth2D" }

func (o DepthToSpace2D) infer(in, _ []Value) ([]Shape, error) {
	b, x := o.BlockSize, in[0].Shape
	if err := checkBlocks(o.Kind(), b, &in[0]); err != nil {
		return nil, err
	}
	if x[3]%(b*b) != 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape,
			"DepthToSpace2D: the %d channels of %v do not make blocks of %d x %d", x[3], x, b, b).AtValue(in[0].Ref)
	}
	return []Shape{{x[0], x[1] * b, x[2] * b, x[3] / (b * b)}}, nil
}

func (o SpaceToDepth2D) infer(in, _ []Value) ([]Shape, error) {
	b, x := o.BlockSize, in[0].Shape
	if err := checkBlocks(o.Kind(), b, &in[0]); err != nil {
		return nil, err
	}
	if x[1]%b != 0 || x[2]%b != 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape,
			"SpaceToDepth2D: the %d x %d pixels of %v do not make blocks of %d x %d", x[1], x[2], x, b, b).AtValue(in[0].Ref)
	}
	return []Shape{{x[0], x[1] / b, x[2] / b, x[3] * b * b}}, nil
}

// checkBlocks accepts an image, and blocks so small that the square of their size cannot overflow.
func checkBlocks(kind string, size int, x *Value) *schema.Error {
	const most = 1 << 15
	if size < 2 || size > most {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: block_size is %d, not in [2, %d]", kind, size, most)
	}
	if len(x.Shape) != 4 {
		return schema.Errorf(schema.StageCheck, schema.ErrShape, "%s: %v is not [batch, height, width, channels]",
			kind, x.Shape).AtValue(x.Ref)
	}
	return nil
}

// DepthToSpace2D appends a node that moves the channels of x, [batch, height, width, channels], into blocks of pixels; see the
// type.
func (g *Graph) DepthToSpace2D(x ID, block int, opts ...Option) ID {
	return g.apply1(DepthToSpace2D{BlockSize: block}, []ID{x}, opts)
}

// SpaceToDepth2D appends a node that moves blocks of pixels of x, [batch, height, width, channels], into channels; see the type.
func (g *Graph) SpaceToDepth2D(x ID, block int, opts ...Option) ID {
	return g.apply1(SpaceToDepth2D{BlockSize: block}, []ID{x}, opts)
}

func init() {
	registerBlocks(DepthToSpace2D{}, xnngraph.XNodeUnionDepthToSpace2D,
		func(b int) Op { return DepthToSpace2D{BlockSize: b} }, func(op Op) int { return op.(DepthToSpace2D).BlockSize })
	registerBlocks(SpaceToDepth2D{}, xnngraph.XNodeUnionSpaceToDepth2D,
		func(b int) Op { return SpaceToDepth2D{BlockSize: b} }, func(op Op) int { return op.(SpaceToDepth2D).BlockSize })
}

func registerBlocks(op Op, tag xnngraph.XNodeUnion, of func(block int) Op, size func(Op) int) {
	register(operator{
		op:        op,
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     sameType(1, allDTypes),
		sameQuant: true,
		forms: []form{{
			tag:     tag,
			dialect: dialectOurs,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.Blocks2D
				n.Init(t.Bytes, t.Pos)
				return of(int(n.BlockSize())), []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, nil
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				xnngraph.Blocks2DStart(b)
				xnngraph.Blocks2DAddBlockSize(b, uint32(size(op)))
				xnngraph.Blocks2DAddInputId(b, in[0])
				xnngraph.Blocks2DAddOutputId(b, out[0])
				return xnngraph.Blocks2DEnd(b)
			},
		}},
	})
}
