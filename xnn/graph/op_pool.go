package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Pool2D takes the average or the maximum of windows of images [batch, height, width, channels], for each channel. Elements
// past the edges count for nothing: an average is that of the elements of the image in the window. Pairs are of height and
// width.
//
// Quantised and half-precision averages are computed in fp32 and rounded once. A NaN may come out as an infinity.
type Pool2D struct {
	Func        PoolFunc // set by the builder's methods
	Kernel      [2]int
	Stride      [2]int // 0 means that of the kernel to the builder
	Dilation    [2]int // 0 means 1 to the builder; averages have no other
	Padding     Padding
	SamePadding bool // see Conv2D
	Range       Range
}

// PoolFunc is what a Pool2D computes of the elements of a window.
type PoolFunc string

// The pooling functions.
const (
	AvgPool2D PoolFunc = "AvgPool2D"
	MaxPool2D PoolFunc = "MaxPool2D"
)

// Kind is the function's name.
func (o Pool2D) Kind() string { return string(o.Func) }

func (o Pool2D) limits() Range { return o.Range }

func (o Pool2D) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o Pool2D) window() window {
	return window{o.Kernel, o.Stride, o.Dilation, o.Padding, o.SamePadding}
}

// PaddingOf is the padding of an image of this shape: that of the operator, or what SamePadding comes to.
func (o Pool2D) PaddingOf(image Shape) Padding { return o.window().paddingOf(image) }

func (o Pool2D) infer(in, _ []Value) ([]Shape, error) {
	x, w := &in[0], o.window()
	if err := w.checkPooling(x); err != nil {
		return nil, err
	}
	if o.Func == AvgPool2D && o.Dilation != [2]int{1, 1} {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "dilation is %s, windows of averages have none",
			times(o.Dilation))
	}
	places, err := w.slide(x)
	if err != nil {
		return nil, err
	}
	if o.Dilation != [2]int{1, 1} && !(w.reaches(x.Shape, places, 0) && w.reaches(x.Shape, places, 1)) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"a kernel of %s, dilated by %s, with padding %+v meets gaps at the edges of %v that XNNPACK cannot pool",
			times(o.Kernel), times(o.Dilation), o.PaddingOf(x.Shape), x.Shape).AtValue(x.Ref)
	}
	return []Shape{{x.Shape[0], places[0], places[1], x.Shape[3]}}, nil
}

// checkPooling checks what all kinds of pooling ask for.
func (w window) checkPooling(x *Value) *schema.Error {
	if err := checkImage(x, -1); err != nil {
		return err
	}
	if err := w.check(); err != nil {
		return err
	}
	return w.checkOverlap()
}

// reaches tells whether XNNPACK's max pooling stays in the image along dimension i. In place of an element past the edges it
// takes one of the window that it supposes to be in the image: the first at or behind the place's start without padding.
func (w window) reaches(image Shape, places [2]int, i int) bool {
	before, _ := w.paddingOf(image).along(i)
	ahead := before % w.dilation[i]
	stand := func(place int) int {
		at := place * w.stride[i]
		if at < ahead {
			at += w.dilation[i]
		}
		return at - ahead
	}
	last := places[i] - 1
	farthest := stand(last)
	if ahead > 0 {
		farthest = max(farthest, stand(min(last, (ahead-1)/w.stride[i])))
	}
	return farthest < image[1+i]
}

// AvgPool2D appends a node that takes the average of windows of x.
func (g *Graph) AvgPool2D(x ID, o Pool2D, opts ...Option) ID { return g.pool(AvgPool2D, x, o, opts) }

// MaxPool2D appends a node that takes the maximum of windows of x. The result keeps the quantisation of x.
func (g *Graph) MaxPool2D(x ID, o Pool2D, opts ...Option) ID { return g.pool(MaxPool2D, x, o, opts) }

func (g *Graph) pool(f PoolFunc, x ID, o Pool2D, opts []Option) ID {
	o.Func = f
	o.Stride, o.Dilation = orElse(o.Stride, o.Kernel), orElse(o.Dilation, [2]int{1, 1})
	return g.apply1(o, []ID{x}, opts)
}

func init() {
	for _, p := range []struct {
		op  PoolFunc
		tag xnngraph.XNodeUnion
	}{
		{AvgPool2D, xnngraph.XNodeUnionXNNAvgPooling2d},
		{MaxPool2D, xnngraph.XNodeUnionXNNMaxPooling2d},
	} {
		var types []Signature
		for _, t := range []DType{Float32, Float16, QInt8, QUInt8} {
			types = append(types, Signature{[]DType{t}, []DType{t}})
		}
		register(operator{
			op:        Pool2D{Func: p.op},
			inputs:    exactly(1),
			outputs:   exactly(1),
			types:     types,
			sameQuant: p.op == MaxPool2D,
			forms: []form{{
				tag:     p.tag,
				dialect: dialectExecuTorch,
				limits:  true,
				decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
					op, in, out, flags := decodePool(t, p.op)
					return op, in, out, onlyFlags(string(p.op), flags, flagSame)
				},
				encode: encodePool,
			}},
		})
	}
}

func decodePool(t flatbuffers.Table, f PoolFunc) (Op, []operand, []operand, uint32) {
	var n xnngraph.XNNPooling2D
	n.Init(t.Bytes, t.Pos)
	o := Pool2D{
		Func:        f,
		Kernel:      pairOf(n.PoolingHeight(), n.PoolingWidth()),
		Stride:      pairOf(n.StrideHeight(), n.StrideWidth()),
		Dilation:    pairOf(n.DilationHeight(), n.DilationWidth()),
		Padding:     paddingFrom(&n),
		SamePadding: n.Flags()&flagSame != 0,
	}
	if f == AvgPool2D {
		o.Dilation = orElse(o.Dilation, [2]int{1, 1}) // nobody reads it there, so writers may leave it out
	}
	return o, []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, n.Flags()
}

func encodePool(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
	o := op.(Pool2D)
	xnngraph.XNNPooling2DStart(b)
	xnngraph.XNNPooling2DAddPaddingTop(b, uint32(o.Padding.Top))
	xnngraph.XNNPooling2DAddPaddingRight(b, uint32(o.Padding.Right))
	xnngraph.XNNPooling2DAddPaddingBottom(b, uint32(o.Padding.Bottom))
	xnngraph.XNNPooling2DAddPaddingLeft(b, uint32(o.Padding.Left))
	xnngraph.XNNPooling2DAddPoolingHeight(b, uint32(o.Kernel[0]))
	xnngraph.XNNPooling2DAddPoolingWidth(b, uint32(o.Kernel[1]))
	xnngraph.XNNPooling2DAddStrideHeight(b, uint32(o.Stride[0]))
	xnngraph.XNNPooling2DAddStrideWidth(b, uint32(o.Stride[1]))
	xnngraph.XNNPooling2DAddDilationHeight(b, uint32(o.Dilation[0]))
	xnngraph.XNNPooling2DAddDilationWidth(b, uint32(o.Dilation[1]))
	xnngraph.XNNPooling2DAddInputId(b, in[0])
	xnngraph.XNNPooling2DAddOutputId(b, out[0])
	xnngraph.XNNPooling2DAddFlags(b, o.window().flags())
	return xnngraph.XNNPooling2DEnd(b)
}
