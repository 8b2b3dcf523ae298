package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Conv2D convolves images [batch, height, width, channels] with a filter [output channels, kernel height, kernel width, input
// channels of a group] and adds a bias [output channels]. What lies past the edges counts as 0. Pairs are of height and width.
//
// With groups, the first of so many equal parts of the output channels sees the first part of the input channels, and so on.
// Groups of one channel each are computed as by DepthwiseConv2D.
// Quantised sums are kept in 32 bits: more than 65,000 products of extreme values may not fit.
type Conv2D struct {
	Padding Padding
	// SamePadding: the padding is what makes the result as large as the image, or that by the stride, rounded up. As in TensorFlow
	// the smaller half lies above and to the left. Padding is zero then.
	SamePadding      bool
	Stride, Dilation [2]int // 0 means 1 to the builder
	Groups           int    // 0 means 1 to the builder

	// What the filter says as well. The builder takes from it what is 0.
	Kernel                    [2]int
	GroupInputs, GroupOutputs int // channels of a group

	Range Range
}

// Kind is Conv2D.
func (Conv2D) Kind() string { return "Conv2D" }

func (o Conv2D) limits() Range { return o.Range }

func (o Conv2D) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o Conv2D) window() window {
	return window{o.Kernel, o.Stride, o.Dilation, o.Padding, o.SamePadding}
}

// PaddingOf is the padding of an image of this shape: that of the operator, or what SamePadding comes to.
func (o Conv2D) PaddingOf(image Shape) Padding { return o.window().paddingOf(image) }

func (o Conv2D) infer(in, out []Value) ([]Shape, error) {
	f, err := grouped(o.window(), o.Groups, o.GroupInputs, o.GroupOutputs)
	if err == nil {
		err = f.check(in)
	}
	if err != nil {
		return nil, err
	}
	places, err := f.window.slide(&in[0])
	if err != nil {
		return nil, err
	}
	return []Shape{{in[0].Shape[0], places[0], places[1], f.outputs}}, f.checkQuant(in, &out[0])
}

// Conv2D appends a node that convolves x with a constant filter and adds a constant bias, which may be None. With x of QDInt8,
// one scale for each image, the result is Float32, or Float16 if asked for.
func (g *Graph) Conv2D(x, filter, bias ID, o Conv2D, opts ...Option) ID {
	o.Stride, o.Dilation = orElse(o.Stride, [2]int{1, 1}), orElse(o.Dilation, [2]int{1, 1})
	g.fillFrom(filter, &o.Kernel, &o.Groups, &o.GroupInputs, &o.GroupOutputs)
	return g.apply1(o, withoutNone(x, filter, bias), opts)
}

// fillFrom takes parameters that are 0 from a filter [output channels, kernel height, kernel width, input channels].
func (g *Graph) fillFrom(filter ID, kernel *[2]int, groups, inputs, outputs *int) {
	if *groups == 0 {
		*groups = 1
	}
	if f := g.value(filter); f != nil && len(f.Shape) == 4 {
		*kernel = orElse(*kernel, [2]int{f.Shape[1], f.Shape[2]})
		if *inputs == 0 {
			*inputs = f.Shape[3]
		}
		if *outputs == 0 {
			*outputs = f.Shape[0] / max(1, *groups)
		}
	}
}

// filtering is what the operators that multiply a window with a filter have in common.
type filtering struct {
	window          window
	filter          Shape // that the parameters ask for
	axis            int   // of the filter's output channels
	inputs, outputs int   // channels
}

// grouped is the filtering with a filter for each of several groups of channels.
func grouped(w window, groups, inputs, outputs int) (f filtering, err *schema.Error) {
	if err := checkCounts(count{"groups", groups}, count{"input channels of a group", inputs},
		count{"output channels of a group", outputs}); err != nil {
		return f, err
	}
	f = filtering{window: w, inputs: groups * inputs, outputs: groups * outputs}
	f.filter = Shape{f.outputs, w.kernel[0], w.kernel[1], inputs}
	return f, w.check()
}

// count is a parameter that counts something.
type count struct {
	name  string
	value int
}

func checkCounts(counts ...count) *schema.Error {
	for _, c := range counts {
		if c.value < 1 || c.value > maxSpan {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: %d, from 1 to %d", c.name, c.value, maxSpan)
		}
	}
	return nil
}

// maxWeights bounds the weights of one output channel. XNNPACK counts their bytes in 32 bits.
const maxWeights = 1 << 26

// check holds image, filter and bias against the parameters.
func (f filtering) check(in []Value) *schema.Error {
	if err := checkImage(&in[0], f.inputs); err != nil {
		return err
	}
	if filter := &in[1]; !filter.Shape.Equal(f.filter) {
		return schema.Errorf(schema.StageCheck, schema.ErrShape, "the filter is %v, a kernel of %s from %d to %d channels needs %v",
			filter.Shape, times(f.window.kernel), f.inputs, f.outputs, f.filter).AtValue(filter.Ref)
	}
	if n := f.window.kernel[0] * f.window.kernel[1] * f.filter[3]; n > maxWeights {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"the filter %v has %d weights for an output channel, at most %d are supported",
			f.filter, n, maxWeights).AtValue(in[1].Ref)
	}
	if len(in) > 2 && !in[2].Shape.Equal(Shape{f.outputs}) {
		return schema.Errorf(schema.StageCheck, schema.ErrShape, "the bias is %v, %d output channels need [%d]",
			in[2].Shape, f.outputs, f.outputs).AtValue(in[2].Ref)
	}
	return nil
}

// checkQuant holds the quantisation of image, filter, bias and result to what XNNPACK computes.
func (f filtering) checkQuant(in []Value, out *Value) error {
	x, filter := &in[0], &in[1]
	switch {
	case x.DType == QDInt8 && x.Quant.Inner != 3:
		// XNNPACK takes the scale at the image's place, whatever the scales are of.
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%v: images have one scale each, of 3 inner dimensions",
			x.Type).AtValue(x.Ref)
	case filter.DType == QInt8 && filter.Quant.ZeroPoint != 0:
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "the filter's zero point is %d, XNNPACK takes 0 only",
			filter.Quant.ZeroPoint).AtValue(filter.Ref)
	case filter.DType == QCInt8 && filter.Quant.Axis != f.axis:
		return schema.Errorf(schema.StageCheck, schema.ErrGraph,
			"the filter's scales are along dimension %d, output channels are dimension %d",
			filter.Quant.Axis, f.axis).AtValue(filter.Ref)
	}
	var bias *Value
	if len(in) > 2 {
		bias = &in[2]
	}
	return checkRequantization(x, filter, bias, out)
}

// filterTypes are the element types of image, filter and bias, and of the result, that every such operator takes.
var filterTypes = []Signature{
	{[]DType{Float32, Float32, Float32}, []DType{Float32}},
	{[]DType{Float16, Float32, Float32}, []DType{Float16}},
	{[]DType{QInt8, QInt8, QInt32}, []DType{QInt8}},
	{[]DType{QInt8, QCInt8, QCInt32}, []DType{QInt8}},
	{[]DType{QUInt8, QUInt8, QInt32}, []DType{QUInt8}},
}

// registerFiltering registers an operator of a filter whose table in a file is an XNNNodeConv.
func registerFiltering(op Op, tag xnngraph.XNodeUnion, types []Signature, from func(convTable) (Op, *schema.Error),
	to func(Op) convTable) {
	register(operator{
		op:      op,
		inputs:  arity{2, 3},
		outputs: exactly(1),
		types:   types,
		static:  []int{1, 2},
		forms: []form{{
			tag:     tag,
			dialect: dialectExecuTorch,
			limits:  true,
			decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
				table, in, out := decodeConv(t)
				op, err := from(table)
				return op, in, out, err
			},
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				return encodeConv(b, to(op), in, out)
			},
		}},
	})
}

func init() {
	dynamic := []Signature{
		{[]DType{QDInt8, QCInt8, Float32}, []DType{Float32}},
		{[]DType{QDInt8, QCInt8, Float32}, []DType{Float16}},
	}
	registerFiltering(Conv2D{}, xnngraph.XNodeUnionXNNConv2d, append(filterTypes[:len(filterTypes):len(filterTypes)], dynamic...),
		func(t convTable) (Op, *schema.Error) {
			w := t.window
			return Conv2D{
				Padding: w.padding, SamePadding: w.same, Stride: w.stride, Dilation: w.dilation, Kernel: w.kernel,
				Groups: t.groups, GroupInputs: t.inputs, GroupOutputs: t.outputs,
			}, t.check("Conv2D", flagSame)
		},
		func(op Op) convTable {
			o := op.(Conv2D)
			return convTable{window: o.window(), groups: o.Groups, inputs: o.GroupInputs, outputs: o.GroupOutputs}
		})
}
