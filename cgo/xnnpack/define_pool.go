package xnnpack

// #include "define_pool.h"
// #cgo noescape xg_define_average_pooling_2d
// #cgo nocallback xg_define_average_pooling_2d
// #cgo noescape xg_define_max_pooling_2d
// #cgo nocallback xg_define_max_pooling_2d
// #cgo noescape xg_define_argmax_pooling_2d
// #cgo nocallback xg_define_argmax_pooling_2d
// #cgo noescape xg_define_unpooling_2d
// #cgo nocallback xg_define_unpooling_2d
// #cgo noescape xg_define_static_resize_bilinear_2d
// #cgo nocallback xg_define_static_resize_bilinear_2d
import "C"

// Pooling takes one value of each window.
type Pooling struct {
	Window
	Min, Max float32 // limits of the result, infinite for none; of averages and maxima
}

func (p *Pooling) c(input, index, output uint32) C.struct_xg_pooling {
	return C.struct_xg_pooling{
		padding_top: C.uint32_t(p.Top), padding_right: C.uint32_t(p.Right),
		padding_bottom: C.uint32_t(p.Bottom), padding_left: C.uint32_t(p.Left),
		kernel_height: C.uint32_t(p.Kernel[0]), kernel_width: C.uint32_t(p.Kernel[1]),
		stride_height: C.uint32_t(p.Stride[0]), stride_width: C.uint32_t(p.Stride[1]),
		dilation_height: C.uint32_t(p.Dilation[0]), dilation_width: C.uint32_t(p.Dilation[1]),
		min: C.float(p.Min), max: C.float(p.Max),
		input: C.uint32_t(input), index: C.uint32_t(index), output: C.uint32_t(output),
	}
}

// AveragePooling2D adds a node that takes the average of each window. Padding does not count; dilation must be 1.
func (s *Subgraph) AveragePooling2D(p Pooling, input, output uint32) error {
	node := p.c(input, 0, output)
	var m C.struct_xg_message
	return result(C.xg_define_average_pooling_2d(s.c, &node, &m), &m)
}

// MaxPooling2D adds a node that takes the maximum of each window.
func (s *Subgraph) MaxPooling2D(p Pooling, input, output uint32) error {
	node := p.c(input, 0, output)
	var m C.struct_xg_message
	return result(C.xg_define_max_pooling_2d(s.c, &node, &m), &m)
}

// ArgMaxPooling2D adds a node that takes the maximum of each of adjacent windows, and its place there.
func (s *Subgraph) ArgMaxPooling2D(w Window, input, output, index uint32) error {
	node := (&Pooling{Window: w}).c(input, index, output)
	var m C.struct_xg_message
	return result(C.xg_define_argmax_pooling_2d(s.c, &node, &m), &m)
}

// Unpooling2D adds a node that puts each input into its window of the output, in the place that index names: one in the
// window, or memory is overwritten.
func (s *Subgraph) Unpooling2D(w Window, input, index, output uint32) error {
	node := (&Pooling{Window: w}).c(input, index, output)
	var m C.struct_xg_message
	return result(C.xg_define_unpooling_2d(s.c, &node, &m), &m)
}

// ResizeMode says which point of the input an output pixel shows.
type ResizeMode uint32

// The modes.
const (
	ResizeHalfPixel    ResizeMode = 0
	ResizeAlignCorners ResizeMode = C.XNN_FLAG_ALIGN_CORNERS
	ResizeLegacy       ResizeMode = C.XNN_FLAG_TENSORFLOW_LEGACY_MODE
)

// ResizeBilinear2D adds a node that gives images another height and width.
func (s *Subgraph) ResizeBilinear2D(height, width int, mode ResizeMode, input, output uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_static_resize_bilinear_2d(s.c, C.size_t(height), C.size_t(width), C.uint32_t(input),
		C.uint32_t(output), C.uint32_t(mode), &m), &m)
}
