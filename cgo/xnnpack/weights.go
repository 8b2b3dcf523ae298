package xnnpack

// #include "bridge.h"
// #cgo noescape xg_weights_create
// #cgo nocallback xg_weights_create
// #cgo noescape xg_weights_shared
// #cgo nocallback xg_weights_shared
// #cgo noescape xg_weights_delete
// #cgo nocallback xg_weights_delete
// #cgo noescape xg_weights_add
// #cgo nocallback xg_weights_add
// #cgo noescape xg_weights_missed
// #cgo nocallback xg_weights_missed
// #cgo noescape xg_weights_list
// #cgo nocallback xg_weights_list
// #cgo noescape xg_processor
// #cgo nocallback xg_processor
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

// NewWeights makes an empty store for nodes 0 to nodes-1 that takes at most limit bytes. Until Share, one goroutine makes all
// runtimes, which are expected to pack that many bytes. The error is OutOfMemory.
func NewWeights(nodes int, limit, expected int64) (*Weights, error) {
	c := C.xg_weights_create(C.size_t(nodes), C.size_t(max(limit, 0)), C.size_t(expected))
	if c == nil {
		return nil, &Error{Status: OutOfMemory}
	}
	return &Weights{c}, nil
}

// Share lets several goroutines make runtimes from now on.
func (w *Weights) Share() {
	if w != nil {
		C.xg_weights_shared(w.c)
	}
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

// PackedWeights are the weights of one node in the layout of a kernel.
type PackedWeights struct {
	Key  uint64 // of WeightsKey
	Seed uint32 // XNNPACK's number of the kernel and its layout
	Data []byte // C memory
}

// Add takes weights that were packed before, for instance by another process on a processor of the same kind: memory at 64-byte
// alignment, with ExtraBytes behind it, that outlives the store. A runtime finds them where node, kernel and size agree. The
// originals of their nodes count as sealed. Only before the first runtime. It tells whether the limit, or memory, had room.
func (w *Weights) Add(p PackedWeights) bool {
	c := C.struct_xg_packed{key: C.uint64_t(p.Key), seed: C.uint32_t(p.Seed), data: unsafe.Pointer(unsafe.SliceData(p.Data)),
		size: C.size_t(len(p.Data))}
	return bool(C.xg_weights_add(w.c, &c))
}

// Missed tells whether a runtime could not be made since weights were asked for that are not there and that are sealed.
func (w *Weights) Missed() bool { return w != nil && bool(C.xg_weights_missed(w.c)) }

// All gives what is held, in no order. The data are the store's. Not while runtimes are made.
func (w *Weights) All() []PackedWeights {
	if w == nil {
		return nil
	}
	list := make([]C.struct_xg_packed, C.xg_weights_list(w.c, nil))
	C.xg_weights_list(w.c, unsafe.SliceData(list))
	all := make([]PackedWeights, len(list))
	for i, p := range list {
		all[i] = PackedWeights{uint64(p.key), uint32(p.seed), unsafe.Slice((*byte)(p.data), int(p.size))}
	}
	return all
}

// Platform is what the layout of packed weights depends on: the archive's stamp, and bytes that tell processors apart. Empty
// where those cannot be had.
func Platform() string {
	var b [1024]C.uchar
	n := C.xg_processor(C.size_t(len(b)), &b[0])
	if n == 0 {
		return ""
	}
	return archiveStamp() + string(C.GoBytes(unsafe.Pointer(&b[0]), C.int(n)))
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

// NodeOfWeights is the node of a key.
func NodeOfWeights(key uint64) int { return int(key >> 8) }
