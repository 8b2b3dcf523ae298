package xnnpack

// #include "bridge.h"
// #cgo noescape xg_weights_create
// #cgo nocallback xg_weights_create
// #cgo noescape xg_weights_delete
// #cgo nocallback xg_weights_delete
// #cgo noescape xg_weights_size
// #cgo nocallback xg_weights_size
// #cgo noescape xg_weights_packed
// #cgo nocallback xg_weights_packed
// #cgo noescape xg_weights_seal
// #cgo nocallback xg_weights_seal
// #cgo noescape xg_weights_nowhere
// #cgo nocallback xg_weights_nowhere
import "C"

import "unsafe"

// Weights keeps packed weights for all runtimes that are made with it. It may be used from several goroutines at once and
// must outlive the runtimes. Nil keeps nothing: each runtime then packs for itself.
type Weights struct {
	c *C.struct_xg_weights
}

// NewWeights makes an empty store for nodes 0 to nodes-1 that takes at most limit bytes. The error is OutOfMemory.
func NewWeights(nodes int, limit int64) (*Weights, error) {
	c := C.xg_weights_create(C.size_t(nodes), C.size_t(max(limit, 0)))
	if c == nil {
		return nil, &Error{Status: OutOfMemory}
	}
	return &Weights{c}, nil
}

func (w *Weights) handle() *C.struct_xg_weights {
	if w == nil {
		return nil
	}
	return w.c
}

// Close frees the weights. Nil is left alone.
func (w *Weights) Close() {
	if w != nil {
		C.xg_weights_delete(w.c)
		w.c = nil
	}
}

// Size is the bytes of packed weights held, and those of the last request that would have passed the limit, 0 if none did.
func (w *Weights) Size() (used, refused int64) {
	if w == nil {
		return 0, 0
	}
	var u, r C.size_t
	C.xg_weights_size(w.c, &u, &r)
	return int64(u), int64(r)
}

// Packed tells whether the weights of a node are held so that no runtime reads the originals again.
func (w *Weights) Packed(node int) bool {
	return w != nil && bool(C.xg_weights_packed(w.c, C.size_t(node)))
}

// Seal makes sure that a node's weights, which must be Packed, are not packed again: its originals may go. A runtime that
// would pack them cannot be made.
func (w *Weights) Seal(node int) { C.xg_weights_seal(w.c, C.size_t(node)) }

// Nowhere is an address for the originals of sealed weights.
func Nowhere() unsafe.Pointer { return C.xg_weights_nowhere() }

// WeightsKey names the place of packed weights: the part-th that node needs.
func WeightsKey(node, part int) uint64 { return uint64(node)<<8 | uint64(min(part, 255)) }
