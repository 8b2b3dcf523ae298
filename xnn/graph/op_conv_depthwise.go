package graph

import (
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// DepthwiseConv2D convolves each channel of images [batch, height, width, channels] by itself: with Multiplier kernels of a
// filter [1, kernel height, kernel width, channels * Multiplier], those of the first channel first. It adds a bias of as many
// elements as the result has channels. Pairs are of height and width.
//
// Where a kernel has not one of XNNPACK's sizes, elements next to the window are multiplied with 0: an infinity or NaN there
// makes the result NaN.
type DepthwiseConv2D struct {
	Padding          Padding
	SamePadding      bool   // see Conv2D
	Stride, Dilation [2]int // 0 means 1 to the builder

	// What the operands say as well. The builder takes from them what is 0.
	Kernel     [2]int
	Channels   int // of the images
	Multiplier int

	Range Range
}

// Kind is DepthwiseConv2D.
func (DepthwiseConv2D) Kind() string { return "DepthwiseConv2D" }

func (o DepthwiseConv2D) limits() Range { return o.Range }

func (o DepthwiseConv2D) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o DepthwiseConv2D) window() window {
	return window{o.Kernel, o.Stride, o.Dilation, o.Padding, o.SamePadding}
}

// PaddingOf is the padding of an image of this shape: that of the operator, or what SamePadding comes to.
func (o DepthwiseConv2D) PaddingOf(image Shape) Padding { return o.window().paddingOf(image) }

func (o DepthwiseConv2D) infer(in, out []Value) ([]Shape, error) {
	err := checkCounts(count{"channels", o.Channels}, count{"multiplier", o.Multiplier})
	if err == nil {
		err = o.window().check()
	}
	if err != nil {
		return nil, err
	}
	f := filtering{window: o.window(), axis: 3, inputs: o.Channels, outputs: o.Channels * o.Multiplier}
	f.filter = Shape{1, o.Kernel[0], o.Kernel[1], f.outputs}
	if err := f.check(in); err != nil {
		return nil, err
	}
	places, err := f.window.slide(&in[0])
	if err != nil {
		return nil, err
	}
	return []Shape{{in[0].Shape[0], places[0], places[1], f.outputs}}, f.checkQuant(in, &out[0])
}

// DepthwiseConv2D appends a node that convolves each channel of x with a constant filter and adds a constant bias, which may be
// None.
func (g *Graph) DepthwiseConv2D(x, filter, bias ID, o DepthwiseConv2D, opts ...Option) ID {
	o.Stride, o.Dilation = orElse(o.Stride, [2]int{1, 1}), orElse(o.Dilation, [2]int{1, 1})
	if v := g.value(x); v != nil && len(v.Shape) == 4 && o.Channels == 0 {
		o.Channels = v.Shape[3]
	}
	if f := g.value(filter); f != nil && len(f.Shape) == 4 {
		o.Kernel = orElse(o.Kernel, [2]int{f.Shape[1], f.Shape[2]})
		if o.Multiplier == 0 {
			o.Multiplier = f.Shape[3] / max(1, o.Channels)
		}
	}
	return g.apply1(o, withoutNone(x, filter, bias), opts)
}

func init() {
	registerFiltering(DepthwiseConv2D{}, xnngraph.XNodeUnionXNNDepthwiseConv2d, filterTypes,
		func(t convTable) (Op, *schema.Error) {
			if t.inputs == 0 || t.outputs%t.inputs != 0 {
				return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph,
					"DepthwiseConv2D: group_output_channels %d is not a multiple of group_input_channels %d", t.outputs, t.inputs)
			}
			w := t.window
			return DepthwiseConv2D{
				Padding: w.padding, SamePadding: w.same, Stride: w.stride, Dilation: w.dilation, Kernel: w.kernel,
				Channels: t.groups, Multiplier: t.outputs / t.inputs,
			}, t.check("DepthwiseConv2D", flagSame)
		},
		func(op Op) convTable {
			o := op.(DepthwiseConv2D)
			return convTable{window: o.window(), groups: o.Channels, inputs: 1, outputs: o.Multiplier}
		})
}
