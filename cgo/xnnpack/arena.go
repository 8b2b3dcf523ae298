package xnnpack

// #include "bridge.h"
// #cgo noescape xg_arena_reserve
// #cgo nocallback xg_arena_reserve
// #cgo noescape xg_arena_free
// #cgo nocallback xg_arena_free
import "C"

import (
	"math"
	"unsafe"
)

// Arena is the memory a session lends XNNPACK for its intermediate values. Planning a runtime takes it, and makes it larger
// up to its limit. The session owns it: it is freed after the runtimes that used it are closed.
type Arena struct {
	c *C.struct_xg_arena
}

// NewArena reserves size bytes, which may be 0. The error is OutOfMemory.
func NewArena(size int) (*Arena, error) {
	p := C.xg_alloc(C.xg_purpose_bridge, C.sizeof_struct_xg_arena)
	if p == nil {
		return nil, &Error{Status: OutOfMemory}
	}
	a := &Arena{(*C.struct_xg_arena)(p)}
	a.SetLimit(math.MaxInt)
	if status := C.xg_arena_reserve(a.c, C.size_t(size)); status != C.xnn_status_success {
		a.Free()
		return nil, &Error{Status: Status(status)}
	}
	return a, nil
}

// SetLimit bounds what a plan may take from now on.
func (a *Arena) SetLimit(bytes int) { a.c.limit = C.size_t(bytes) }

// Size is the number of bytes held.
func (a *Arena) Size() int { return int(a.c.capacity) }

// Needed is the number of bytes the runtime planned last asked for, whether it got them or not. A plan that fits what an
// earlier one asked for asks for nothing.
func (a *Arena) Needed() int { return int(a.c.needed) }

// Bytes is the arena's memory, valid until the next plan or Free.
func (a *Arena) Bytes() []byte { return unsafe.Slice((*byte)(a.c.base), int(a.c.capacity)) }

// Free gives the memory back. A nil or freed arena is left alone.
func (a *Arena) Free() {
	if a == nil || a.c == nil {
		return
	}
	C.xg_arena_free(a.c)
	C.xg_free(unsafe.Pointer(a.c))
	a.c = nil
}
