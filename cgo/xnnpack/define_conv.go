package xnnpack

// #include "define_conv.h"
// #cgo noescape xg_define_convolution_2d
// #cgo nocallback xg_define_convolution_2d
// #cgo noescape xg_define_depthwise_convolution_2d
// #cgo nocallback xg_define_depthwise_convolution_2d
// #cgo noescape xg_define_deconvolution_2d
// #cgo nocallback xg_define_deconvolution_2d
import "C"

// Window slides over the rows and columns of an image. Pairs are of height and width.
type Window struct {
	Top, Right, Bottom, Left int // padding
	Kernel, Stride, Dilation [2]int
}

// Conv is a convolution, also a depthwise or transposed one.
type Conv struct {
	Window
	Adjustment                        [2]int // of a transposed convolution
	Groups, GroupInputs, GroupOutputs int
	Min, Max                          float32 // limits of the result, infinite for none
}

func (c *Conv) c(input, filter, bias, output uint32) C.struct_xg_conv {
	return C.struct_xg_conv{
		padding_top: C.uint32_t(c.Top), padding_right: C.uint32_t(c.Right),
		padding_bottom: C.uint32_t(c.Bottom), padding_left: C.uint32_t(c.Left),
		kernel_height: C.uint32_t(c.Kernel[0]), kernel_width: C.uint32_t(c.Kernel[1]),
		stride_height: C.uint32_t(c.Stride[0]), stride_width: C.uint32_t(c.Stride[1]),
		dilation_height: C.uint32_t(c.Dilation[0]), dilation_width: C.uint32_t(c.Dilation[1]),
		adjustment_height: C.uint32_t(c.Adjustment[0]), adjustment_width: C.uint32_t(c.Adjustment[1]),
		groups: C.uint32_t(c.Groups), group_inputs: C.size_t(c.GroupInputs), group_outputs: C.size_t(c.GroupOutputs),
		min: C.float(c.Min), max: C.float(c.Max),
		input: C.uint32_t(input), filter: C.uint32_t(filter), bias: C.uint32_t(bias), output: C.uint32_t(output),
	}
}

// Convolution2D adds a convolution; bias may be NoValue.
func (s *Subgraph) Convolution2D(c Conv, input, filter, bias, output uint32) error {
	node := c.c(input, filter, bias, output)
	var m C.struct_xg_message
	return result(C.xg_define_convolution_2d(s.c, &node, &m), &m)
}

// DepthwiseConvolution2D adds a convolution of each channel by itself; Groups are the input channels, GroupOutputs is the
// multiplier. The bias may be NoValue.
func (s *Subgraph) DepthwiseConvolution2D(c Conv, input, filter, bias, output uint32) error {
	node := c.c(input, filter, bias, output)
	var m C.struct_xg_message
	return result(C.xg_define_depthwise_convolution_2d(s.c, &node, &m), &m)
}

// Deconvolution2D adds a transposed convolution; bias may be NoValue.
func (s *Subgraph) Deconvolution2D(c Conv, input, filter, bias, output uint32) error {
	node := c.c(input, filter, bias, output)
	var m C.struct_xg_message
	return result(C.xg_define_deconvolution_2d(s.c, &node, &m), &m)
}
