package xnnpack

// #include "bridge.h"
// #cgo noescape xg_alloc
// #cgo nocallback xg_alloc
// #cgo noescape xg_free
// #cgo nocallback xg_free
// #cgo noescape xg_populate
// #cgo nocallback xg_populate
// #cgo noescape xg_memory_stats
// #cgo nocallback xg_memory_stats
// #cgo noescape xg_extra_bytes
// #cgo nocallback xg_extra_bytes
import "C"

import "unsafe"

// Purpose is what a block of C memory is for.
type Purpose uint32

// The purposes memory is counted by.
const (
	Internal  Purpose = C.xg_purpose_xnnpack // XNNPACK's own: descriptors, operators
	Packed    Purpose = C.xg_purpose_weights // packed weights
	Constants Purpose = C.xg_purpose_constants
	Tensors   Purpose = C.xg_purpose_tensors
	Arenas    Purpose = C.xg_purpose_arena
	Bridge    Purpose = C.xg_purpose_bridge // this package's own descriptors
)

// Memory is a block of zeroed C memory at 64-byte alignment, with the bytes behind it that kernels may read. It is not
// garbage collected: whoever made it frees it. The zero value is no memory.
type Memory struct {
	p    unsafe.Pointer
	size int
}

// Alloc gives size bytes, counted under a purpose. The error is OutOfMemory.
func Alloc(purpose Purpose, size int) (Memory, error) {
	p := C.xg_alloc(C.enum_xg_purpose(purpose), C.size_t(size))
	if p == nil {
		return Memory{}, &Error{Status: OutOfMemory}
	}
	return Memory{p, size}, nil
}

// Free gives the memory back; m becomes the zero value.
func (m *Memory) Free() {
	C.xg_free(m.p)
	*m = Memory{}
}

// Populate finds pages for the block now, so that its first use need not wait for them.
func (m Memory) Populate() { C.xg_populate(m.p, C.size_t(m.size)) }

// Pointer is the block's address.
func (m Memory) Pointer() unsafe.Pointer { return m.p }

// Bytes is the block as a slice, valid until Free.
func (m Memory) Bytes() []byte { return unsafe.Slice((*byte)(m.p), m.size) }

// ExtraBytes is how far past the end of a tensor kernels may read.
func ExtraBytes() int { return int(C.xg_extra_bytes()) }

// Held is memory held now for one purpose.
type Held struct{ Bytes, Blocks int64 }

// Stats gives the C memory held now, by purpose. Bytes include what alignment costs.
func Stats() [C.xg_purpose_count]Held {
	var bytes, blocks [C.xg_purpose_count]C.int64_t
	C.xg_memory_stats(&bytes[0], &blocks[0])
	var held [C.xg_purpose_count]Held
	for i := range held {
		held[i] = Held{int64(bytes[i]), int64(blocks[i])}
	}
	return held
}
