package xnnpack

// #include "bridge.h"
// #cgo noescape xg_tiles_create
// #cgo nocallback xg_tiles_create
// #cgo noescape xg_tiles_delete
// #cgo nocallback xg_tiles_delete
// #cgo noescape xg_tiles_times
// #cgo nocallback xg_tiles_times
// #cgo noescape xg_cache_bytes
// #cgo nocallback xg_cache_bytes
import "C"

import (
	"time"
	"unsafe"
)

// Tiles is a region of element-wise nodes that runs tile by tile, as a step of a Program. Each lane is a thread's runtimes for
// one tile; it runs a stretch of neighbouring tiles, then helps other lanes with theirs.
type Tiles struct {
	c *C.struct_xg_tiles
}

// Lane is what one thread runs tiles with: Last the last tile along the grid's last dimension, which may be smaller, Full all
// others. They may be the same runtime.
type Lane struct{ Full, Last *Runtime }

// NewTiles makes a region of a grid with these extents, at most 6. externals is the number of external values of each runtime,
// nodes the number of nodes to keep times of, 0 for none. The runtimes, and the pool where there is more than one lane, must
// outlive it.
func NewTiles(extent []int, lanes []Lane, externals, nodes int, pool *Pool) (*Tiles, error) {
	var dims [C.XNN_MAX_TENSOR_DIMS]C.size_t
	for i, n := range extent[:min(len(extent), len(dims))] {
		dims[i] = C.size_t(n)
	}
	var t Tiles
	status := C.xg_tiles_create(C.size_t(min(len(extent), len(dims))), &dims[0], C.size_t(externals), C.size_t(len(lanes)),
		C.size_t(nodes), pool.handle(), &t.c)
	if status != C.xnn_status_success {
		return nil, &Error{Status: Status(status)}
	}
	to := unsafe.Slice(t.c.lanes, len(lanes))
	for i, l := range lanes {
		to[i].full, to[i].last = l.Full.c, l.Last.c
	}
	return &t, nil
}

// Bind sets where the external value with this id lies, and by how many bytes it moves for each step along the grid.
func (t *Tiles) Bind(id int, base unsafe.Pointer, strides []int) {
	operand := &unsafe.Slice(t.c.operands, int(t.c.operands_count))[id]
	operand.base = (*C.char)(base)
	for i, n := range strides {
		operand.strides[i] = C.size_t(n)
	}
}

// NodeTimes gives the time each node took in the last run over all tiles, divided by the lanes that shared them.
func (t *Tiles) NodeTimes() []time.Duration {
	ns := make([]C.uint64_t, t.c.times_count)
	C.xg_tiles_times(t.c, unsafe.SliceData(ns))
	return durations(ns)
}

// Close frees the region. A nil or closed one is left alone.
func (t *Tiles) Close() {
	if t == nil {
		return
	}
	C.xg_tiles_delete(t.c)
	t.c = nil
}

// CacheBytes is the size of the cache for data that a core has at level 1 or 2, 0 where the processor does not tell.
func CacheBytes(level int) int { return int(C.xg_cache_bytes(C.int(level))) }
