package xnn

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	lowerings["Conv2D"] = lowering{
		api: "xnn_define_convolution_2d",
		define: func(d *definition) error {
			o := d.op.(graph.Conv2D)
			c := xnnpack.Conv{
				Window: window(o.PaddingOf(d.in[0].Shape), o.Kernel, o.Stride, o.Dilation),
				Groups: o.Groups, GroupInputs: o.GroupInputs, GroupOutputs: o.GroupOutputs,
			}
			c.Min, c.Max = o.Range.Bounds()
			return d.sub.Convolution2D(c, d.ins[0], d.ins[1], d.bias(), d.outs[0])
		},
		packs: []int{1, 2},
		fixed: func(d *definition) []int {
			return append(d.dynamicImages(), paddings(d.op.(graph.Conv2D).PaddingOf(d.in[0].Shape))...)
		},
		tables: func(d *definition) int {
			o := d.op.(graph.Conv2D)
			if o.GroupInputs == 1 && o.GroupOutputs == 1 {
				return depthwiseTable(d.out[0].Shape, window(o.PaddingOf(d.in[0].Shape), o.Kernel, o.Stride, o.Dilation))
			}
			return tableOf(d.out[0].Shape, o.Kernel)
		},
		work: func(d *definition) int {
			o := d.op.(graph.Conv2D)
			return product(d.out[0].Shape.Elements(), o.Kernel[0], o.Kernel[1], o.GroupInputs)
		},
	}
}

// window is a sliding window for XNNPACK. It is told the padding that SAME padding comes to: its own computation of that wraps
// around where a stride passes over pixels.
func window(p graph.Padding, kernel, stride, dilation [2]int) xnnpack.Window {
	return xnnpack.Window{Top: p.Top, Right: p.Right, Bottom: p.Bottom, Left: p.Left, Kernel: kernel, Stride: stride,
		Dilation: dilation}
}

// paddings is a padding as a part of lowering.fixed: it is defined with the node, and SAME padding follows from shapes.
func paddings(p graph.Padding) []int { return []int{p.Top, p.Right, p.Bottom, p.Left} }

// bias is the operand at place 2, where there is one.
func (d *definition) bias() uint32 {
	if len(d.ins) > 2 {
		return d.ins[2]
	}
	return xnnpack.NoValue
}

// dynamicImages is the shape of images quantised at run time, as a part of lowering.fixed: XNNPACK makes padding for each image,
// but where only their number grows a convolution writes past what it made before, and a transposed one loses track of that.
func (d *definition) dynamicImages() []int {
	if d.in[0].DType != graph.QDInt8 {
		return nil
	}
	return append([]int{}, d.in[0].Shape...)
}
