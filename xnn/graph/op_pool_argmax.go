package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// ArgMaxPool2D takes the maximum of adjacent windows of images [batch, height, width, channels] and tells where in its window it
// stood: column * kernel height + row, the least of several. In padding stands the nearest element of the image, so an index may
// name a place there; Unpool2D with the same padding knows. Pairs are of height and width.
type ArgMaxPool2D struct {
	Kernel      [2]int
	Padding     Padding
	SamePadding bool // see Conv2D
}

// Kind is ArgMaxPool2D.
func (ArgMaxPool2D) Kind() string { return "ArgMaxPool2D" }

func (o ArgMaxPool2D) window() window {
	return window{kernel: o.Kernel, stride: o.Kernel, dilation: [2]int{1, 1}, padding: o.Padding, same: o.SamePadding}
}

// PaddingOf is the padding of an image of this shape: that of the operator, or what SamePadding comes to.
func (o ArgMaxPool2D) PaddingOf(image Shape) Padding { return o.window().paddingOf(image) }

func (o ArgMaxPool2D) infer(in, _ []Value) ([]Shape, error) {
	x, w := &in[0], o.window()
	if err := w.checkPooling(x); err != nil {
		return nil, err
	}
	if err := o.window().checkPlural(); err != nil {
		return nil, err
	}
	places, err := w.slide(x)
	if err != nil {
		return nil, err
	}
	shape := Shape{x.Shape[0], places[0], places[1], x.Shape[3]}
	return []Shape{shape, shape}, nil
}

// checkPlural refuses windows of one element, which XNNPACK calls meaningless.
func (w window) checkPlural() *schema.Error {
	if w.kernel == [2]int{1, 1} {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "kernel is 1x1: each element is its own maximum")
	}
	return nil
}

// ArgMaxPool2D appends a node that takes the maximum of windows of x, and its place in each.
func (g *Graph) ArgMaxPool2D(x ID, o ArgMaxPool2D) (values, indices ID) {
	out := g.apply(o, []ID{x}, 2, nil)
	return out[0], out[1]
}

// Unpool2D undoes ArgMaxPool2D: it puts values back where in their windows they stood, and 0 in all other places, into images of
// kernel height * height - padding rows, and likewise columns. An index outside the window counts as the nearest in it. Pairs
// are of height and width.
type Unpool2D struct {
	Kernel  [2]int
	Padding Padding
}

// Kind is Unpool2D.
func (Unpool2D) Kind() string { return "Unpool2D" }

func (o Unpool2D) infer(in, _ []Value) ([]Shape, error) {
	x, indices := &in[0], &in[1]
	w := window{kernel: o.Kernel, stride: o.Kernel, dilation: [2]int{1, 1}, padding: o.Padding}
	if err := w.checkPooling(x); err != nil {
		return nil, err
	}
	if err := w.checkPlural(); err != nil {
		return nil, err
	}
	if !indices.Shape.Equal(x.Shape) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "values are %v, their indices %v", x.Shape, indices.Shape).
			AtValue(indices.Ref)
	}
	var size [2]int
	for i, name := range []string{"height", "width"} {
		before, behind := o.Padding.along(i)
		if size[i] = o.Kernel[i]*x.Shape[1+i] - before - behind; size[i] < 1 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "padding %d and %d leaves nothing of the result's %s %d",
				before, behind, name, size[i]+before+behind).AtValue(x.Ref)
		}
	}
	return []Shape{{x.Shape[0], size[0], size[1], x.Shape[3]}}, nil
}

// Unpool2D appends a node that spreads values to the places that indices of Int32 name.
func (g *Graph) Unpool2D(values, indices ID, o Unpool2D) ID {
	return g.apply1(o, []ID{values, indices}, nil)
}

func init() {
	register(operator{
		op:      ArgMaxPool2D{},
		inputs:  exactly(1),
		outputs: exactly(2),
		types:   []Signature{{[]DType{Float32}, []DType{Float32, Int32}}},
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNArgMaxPooling2d,
			dialect: dialectExecuTorch,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.XNNArgMaxPooling2d
				n.Init(t.Bytes, t.Pos)
				o := ArgMaxPool2D{
					Kernel:      pairOf(n.PoolingHeight(), n.PoolingWidth()),
					Padding:     paddingFrom(&n),
					SamePadding: n.Flags()&flagSame != 0,
				}
				return o, []operand{{"input_id", n.InputId()}},
					[]operand{{"output_value_id", n.OutputValueId()}, {"output_index_id", n.OutputIndexId()}},
					onlyFlags(o.Kind(), n.Flags(), flagSame)
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				o := op.(ArgMaxPool2D)
				xnngraph.XNNArgMaxPooling2dStart(b)
				xnngraph.XNNArgMaxPooling2dAddPaddingTop(b, uint32(o.Padding.Top))
				xnngraph.XNNArgMaxPooling2dAddPaddingRight(b, uint32(o.Padding.Right))
				xnngraph.XNNArgMaxPooling2dAddPaddingBottom(b, uint32(o.Padding.Bottom))
				xnngraph.XNNArgMaxPooling2dAddPaddingLeft(b, uint32(o.Padding.Left))
				xnngraph.XNNArgMaxPooling2dAddPoolingHeight(b, uint32(o.Kernel[0]))
				xnngraph.XNNArgMaxPooling2dAddPoolingWidth(b, uint32(o.Kernel[1]))
				xnngraph.XNNArgMaxPooling2dAddInputId(b, in[0])
				xnngraph.XNNArgMaxPooling2dAddOutputValueId(b, out[0])
				xnngraph.XNNArgMaxPooling2dAddOutputIndexId(b, out[1])
				xnngraph.XNNArgMaxPooling2dAddFlags(b, o.window().flags())
				return xnngraph.XNNArgMaxPooling2dEnd(b)
			},
		}},
	})
	register(operator{
		op:      Unpool2D{},
		inputs:  exactly(2),
		outputs: exactly(1),
		types:   []Signature{{[]DType{Float32, Int32}, []DType{Float32}}},
		forms: []form{{
			tag:     xnngraph.XNodeUnionUnpooling2D,
			dialect: dialectOurs,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				var n xnngraph.Unpooling2D
				n.Init(t.Bytes, t.Pos)
				return Unpool2D{Kernel: pairOf(n.PoolingHeight(), n.PoolingWidth()), Padding: paddingFrom(&n)},
					[]operand{{"input_value_id", n.InputValueId()}, {"input_index_id", n.InputIndexId()}},
					[]operand{{"output_id", n.OutputId()}}, nil
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				o := op.(Unpool2D)
				xnngraph.Unpooling2DStart(b)
				xnngraph.Unpooling2DAddPaddingTop(b, uint32(o.Padding.Top))
				xnngraph.Unpooling2DAddPaddingRight(b, uint32(o.Padding.Right))
				xnngraph.Unpooling2DAddPaddingBottom(b, uint32(o.Padding.Bottom))
				xnngraph.Unpooling2DAddPaddingLeft(b, uint32(o.Padding.Left))
				xnngraph.Unpooling2DAddPoolingHeight(b, uint32(o.Kernel[0]))
				xnngraph.Unpooling2DAddPoolingWidth(b, uint32(o.Kernel[1]))
				xnngraph.Unpooling2DAddInputValueId(b, in[0])
				xnngraph.Unpooling2DAddInputIndexId(b, in[1])
				xnngraph.Unpooling2DAddOutputId(b, out[0])
				return xnngraph.Unpooling2DEnd(b)
			},
		}},
	})
}
