package xnnpack

// #include "define_shape.h"
// #cgo noescape xg_define_copy
// #cgo nocallback xg_define_copy
// #cgo noescape xg_define_reshape
// #cgo nocallback xg_define_reshape
// #cgo noescape xg_define_expand_dims
// #cgo nocallback xg_define_expand_dims
// #cgo noescape xg_define_transpose
// #cgo nocallback xg_define_transpose
// #cgo noescape xg_define_slice
// #cgo nocallback xg_define_slice
// #cgo noescape xg_define_pad
// #cgo nocallback xg_define_pad
// #cgo noescape xg_define_concatenate
// #cgo nocallback xg_define_concatenate
// #cgo noescape xg_define_even_split
// #cgo nocallback xg_define_even_split
// #cgo noescape xg_define_depth_to_space
// #cgo nocallback xg_define_depth_to_space
// #cgo noescape xg_define_space_to_depth
// #cgo nocallback xg_define_space_to_depth
import "C"

import "unsafe"

// sizes is a list for C, never without an address.
func sizes(list []int) []C.size_t {
	c := make([]C.size_t, len(list), len(list)+1)
	for i, n := range list {
		c[i] = C.size_t(n)
	}
	return c
}

func valueIDs(list []uint32) []C.uint32_t {
	c := make([]C.uint32_t, len(list), len(list)+1)
	for i, id := range list {
		c[i] = C.uint32_t(id)
	}
	return c
}

// Copy adds a node that copies in to out.
func (s *Subgraph) Copy(in, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_copy(s.c, C.uint32_t(in), C.uint32_t(out), &m), &m)
}

// Reshape adds a node that gives the elements of in these dimensions, at most 6. One of 0 is what the others leave.
func (s *Subgraph) Reshape(dims []int, in, out uint32) error {
	list := sizes(dims)
	var m C.struct_xg_message
	return result(C.xg_define_reshape(s.c, C.size_t(len(list)), unsafe.SliceData(list), C.uint32_t(in), C.uint32_t(out), &m), &m)
}

// ExpandDims adds a node that puts dimensions of size 1 at these places of out's shape, which ascend, at most 6.
func (s *Subgraph) ExpandDims(axes []int, in, out uint32) error {
	list := sizes(axes)
	var m C.struct_xg_message
	return result(C.xg_define_expand_dims(s.c, C.size_t(len(list)), unsafe.SliceData(list), C.uint32_t(in), C.uint32_t(out), &m), &m)
}

// Transpose adds a node whose out has in's dimension perm[i] as its dimension i.
func (s *Subgraph) Transpose(perm []int, in, out uint32) error {
	list := sizes(perm)
	var m C.struct_xg_message
	return result(C.xg_define_transpose(s.c, C.size_t(len(list)), unsafe.SliceData(list), C.uint32_t(in), C.uint32_t(out), &m), &m)
}

// Slice adds a node that takes a box out of in; a size of 0 is that of the whole dimension. Both lists have in's rank.
func (s *Subgraph) Slice(offsets, lengths []int, in, out uint32) error {
	from, long := sizes(offsets), sizes(lengths)
	var m C.struct_xg_message
	return result(C.xg_define_slice(s.c, C.size_t(len(from)), unsafe.SliceData(from), unsafe.SliceData(long), C.uint32_t(in),
		C.uint32_t(out), &m), &m)
}

// Pad adds a node that puts elements of this value around in; it is a real number, also where in is quantised. Both lists
// have in's rank.
func (s *Subgraph) Pad(before, after []int, value float32, in, out uint32) error {
	pre, post := sizes(before), sizes(after)
	var m C.struct_xg_message
	return result(C.xg_define_pad(s.c, unsafe.SliceData(pre), unsafe.SliceData(post), C.float(value), C.uint32_t(in),
		C.uint32_t(out), &m), &m)
}

// Concatenate adds a node that puts 2 to 5 values one behind the other along an axis.
func (s *Subgraph) Concatenate(axis int, ins []uint32, out uint32) error {
	list := valueIDs(ins)
	var m C.struct_xg_message
	return result(C.xg_define_concatenate(s.c, C.int32_t(axis), C.size_t(len(list)), unsafe.SliceData(list),
		C.uint32_t(out), &m), &m)
}

// EvenSplit adds a node that cuts a value into 2 to 4 equal parts along an axis.
func (s *Subgraph) EvenSplit(axis int, in uint32, outs []uint32) error {
	list := valueIDs(outs)
	var m C.struct_xg_message
	return result(C.xg_define_even_split(s.c, C.int32_t(axis), C.uint32_t(in), C.size_t(len(list)), unsafe.SliceData(list), &m), &m)
}

// DepthToSpace adds a node that moves channels of [batch, height, width, channels] into blocks of pixels.
func (s *Subgraph) DepthToSpace(block int, in, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_depth_to_space(s.c, C.uint32_t(block), C.uint32_t(in), C.uint32_t(out), &m), &m)
}

// SpaceToDepth adds a node that moves blocks of pixels of [batch, height, width, channels] into channels.
func (s *Subgraph) SpaceToDepth(block int, in, out uint32) error {
	var m C.struct_xg_message
	return result(C.xg_define_space_to_depth(s.c, C.uint32_t(block), C.uint32_t(in), C.uint32_t(out), &m), &m)
}
