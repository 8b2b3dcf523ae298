package graph

import (
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// ConvTranspose2D is the transpose of a convolution: each pixel of images [batch, height, width, channels] adds its multiple of
// the filter [output channels, kernel height, kernel width, input channels of a group] to the result, Stride apart. The result
// is Stride*(height-1) + Dilation*(kernel height-1) + 1 + Adjustment rows high, and padding is cut off its edges; likewise its
// columns. It adds a bias [output channels]. A NaN may come out as an infinity. Pairs are of height and width.
type ConvTranspose2D struct {
	Padding          Padding
	Stride, Dilation [2]int // 0 means 1 to the builder
	Adjustment       [2]int // rows and columns added at the bottom and right, fewer than the stride
	Groups           int    // 0 means 1 to the builder; see Conv2D

	// What the filter says as well. The builder takes from it what is 0.
	Kernel                    [2]int
	GroupInputs, GroupOutputs int // channels of a group

	Range Range
}

// Kind is ConvTranspose2D.
func (ConvTranspose2D) Kind() string { return "ConvTranspose2D" }

func (o ConvTranspose2D) limits() Range { return o.Range }

func (o ConvTranspose2D) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o ConvTranspose2D) window() window {
	return window{kernel: o.Kernel, stride: o.Stride, dilation: o.Dilation, padding: o.Padding}
}

func (o ConvTranspose2D) infer(in, out []Value) ([]Shape, error) {
	f, err := grouped(o.window(), o.Groups, o.GroupInputs, o.GroupOutputs)
	if err == nil {
		err = f.check(in)
	}
	if err != nil {
		return nil, err
	}
	shape, err := o.spread(in[0].Shape)
	if err != nil {
		return nil, err.AtValue(in[0].Ref)
	}
	return []Shape{{in[0].Shape[0], shape[0], shape[1], f.outputs}}, f.checkQuant(in, &out[0])
}

// spread gives height and width of the result.
func (o ConvTranspose2D) spread(image Shape) (size [2]int, err *schema.Error) {
	w := o.window()
	for i, name := range []string{"height", "width"} {
		if a := o.Adjustment[i]; a < 0 || a >= o.Stride[i] {
			return size, schema.Errorf(schema.StageCheck, schema.ErrGraph,
				"adjustment of the %s is %d, from 0 and less than the stride %d",
				name, a, o.Stride[i])
		}
		before, behind := o.Padding.along(i)
		size[i] = o.Stride[i]*(image[1+i]-1) + w.extent(i) + o.Adjustment[i] - before - behind
		if size[i] < 1 {
			return size, schema.Errorf(schema.StageCheck, schema.ErrShape, "padding %d and %d leaves nothing of the result's %s %d",
				before, behind, name, size[i]+before+behind)
		}
	}
	// XNNPACK cuts the result into as many parts as the strides make where kernels are no smaller than they and not dilated, and
	// writes past its end if a part has no row or column of it.
	if o.Stride != [2]int{1, 1} && o.Dilation == [2]int{1, 1} && o.Stride[0] <= o.Kernel[0] && o.Stride[1] <= o.Kernel[1] &&
		(size[0] < o.Stride[0]-1 || size[1] < o.Stride[1]-1) {
		return size, schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
			"a result of %s is less than the strides %s, which XNNPACK cannot make", times(size), times(o.Stride))
	}
	return size, nil
}

// ConvTranspose2D appends a node that computes the transpose of a convolution of x with a constant filter and adds a constant
// bias, which may be None.
func (g *Graph) ConvTranspose2D(x, filter, bias ID, o ConvTranspose2D, opts ...Option) ID {
	o.Stride, o.Dilation = orElse(o.Stride, [2]int{1, 1}), orElse(o.Dilation, [2]int{1, 1})
	g.fillFrom(filter, &o.Kernel, &o.Groups, &o.GroupInputs, &o.GroupOutputs)
	return g.apply1(o, withoutNone(x, filter, bias), opts)
}

func init() {
	dynamic := Signature{[]DType{QDInt8, QCInt8, Float32}, []DType{Float32}}
	registerFiltering(ConvTranspose2D{}, xnngraph.XNodeUnionXNNConvTranspose2d,
		append(filterTypes[:len(filterTypes):len(filterTypes)], dynamic),
		func(t convTable) (Op, *schema.Error) {
			w := t.window
			return ConvTranspose2D{
				Padding: w.padding, Stride: w.stride, Dilation: w.dilation, Adjustment: t.adjustment, Kernel: w.kernel,
				Groups: t.groups, GroupInputs: t.inputs, GroupOutputs: t.outputs,
			}, onlyFlags("ConvTranspose2D", t.flags, 0)
		},
		func(op Op) convTable {
			o := op.(ConvTranspose2D)
			return convTable{window: o.window(), adjustment: o.Adjustment, groups: o.Groups, inputs: o.GroupInputs,
				outputs: o.GroupOutputs}
		})
}
