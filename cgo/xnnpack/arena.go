package xnnpack

// #include "bridge.h"
// #cgo noescape xg_arena_resize
// #cgo nocallback xg_arena_resize
import "C"

import "unsafe"

// Arena is the memory a session lends XNNPACK for its intermediate values. A round of plans, one Reshape for each runtime
// that runs in it, starts with Begin; when it is over, Needed is compared with Size, and where it is more the arena is
// resized and the round done again. Nothing may run before it fits. The session owns the arena and frees it after the
// runtimes.
type Arena struct {
	c *C.struct_xg_arena
}

// NewArena makes an arena without memory. The error is OutOfMemory.
func NewArena() (*Arena, error) {
	p := C.xg_alloc(C.xg_purpose_bridge, C.sizeof_struct_xg_arena)
	if p == nil {
		return nil, &Error{Status: OutOfMemory}
	}
	return &Arena{(*C.struct_xg_arena)(p)}, nil
}

// Begin starts a round of plans.
func (a *Arena) Begin() { a.c.next, a.c.needed = 0, 0 }

// Reuse makes the next piece begin at this offset, over pieces that were taken before: for plans that do not run while what
// lies there is needed.
func (a *Arena) Reuse(offset int) { a.c.next = C.size_t(offset) }

// Take gives the offset of the next piece, of size bytes at 64-byte alignment, in a round of plans, for memory of the caller's
// own.
func (a *Arena) Take(size int) int {
	const mask = C.XG_BLOCK_ALIGN - 1
	at := (int(a.c.next) + mask) &^ mask
	a.c.next = C.size_t(at + size)
	a.c.needed = max(a.c.needed, a.c.next)
	return at
}

// Needed is the number of bytes that the pieces taken since Begin span.
func (a *Arena) Needed() int { return int(a.c.needed) }

// Size is the number of bytes held.
func (a *Arena) Size() int { return int(a.c.capacity) }

// Resize gives back the memory and reserves size bytes. The plans made so far are void. After an error the arena is empty.
func (a *Arena) Resize(size int) error {
	if status := C.xg_arena_resize(a.c, C.size_t(size)); status != C.xnn_status_success {
		return &Error{Status: Status(status)}
	}
	return nil
}

// Populate finds pages now for what the plans since Begin take.
func (a *Arena) Populate() {
	if a.c.base != nil {
		C.xg_populate(unsafe.Pointer(a.c.base), C.size_t(min(a.Needed(), a.Size())))
	}
}

// Bytes is the arena's memory, valid until the next Resize or Free.
func (a *Arena) Bytes() []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(a.c.base)), int(a.c.capacity))
}

// Free gives the memory back. A nil or freed arena is left alone.
func (a *Arena) Free() {
	if a == nil || a.c == nil {
		return
	}
	C.xg_arena_resize(a.c, 0)
	C.xg_free(unsafe.Pointer(a.c))
	a.c = nil
}
