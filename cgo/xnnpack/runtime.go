package xnnpack

// #include "bridge.h"
// #cgo noescape xg_runtime_create
// #cgo nocallback xg_runtime_create
// #cgo noescape xg_runtime_delete
// #cgo nocallback xg_runtime_delete
// #cgo noescape xg_runtime_reshape
// #cgo nocallback xg_runtime_reshape
// #cgo noescape xg_runtime_shape
// #cgo nocallback xg_runtime_shape
// #cgo noescape xg_runtime_bind
// #cgo nocallback xg_runtime_bind
// #cgo noescape xg_node_times
// #cgo nocallback xg_node_times
import "C"

import (
	"time"
	"unsafe"
)

// Runtime is a subgraph ready to run, for one goroutine at a time, as a step of a Program or a lane of Tiles.
type Runtime struct {
	c *C.struct_xg_runtime
}

// NewRuntime makes a runtime of s with room to Bind this many external values. Its weights are packed into the store, or
// found there, by the keys, one for each node. With a pool its nodes share the pool's threads. Both may be nil and must
// outlive it. With profile it keeps the time of each node.
func NewRuntime(s *Subgraph, weights *Weights, keys []uint64, pool *Pool, profile bool, externals int) (*Runtime, error) {
	var r Runtime
	var m C.struct_xg_message
	status := C.xg_runtime_create(s.c, weights.handle(), (*C.uint64_t)(unsafe.SliceData(keys)), C.size_t(len(keys)), pool.handle(),
		C.bool(profile), C.size_t(externals), &r.c, &m)
	if err := result(status, &m); err != nil {
		return nil, err
	}
	return &r, nil
}

// Close frees the runtime. A nil or closed one is left alone.
func (r *Runtime) Close() {
	if r == nil {
		return
	}
	C.xg_runtime_delete(r.c)
	r.c = nil
}

// Reshape gives external values new shapes and takes the next piece of the arena for intermediate values; see Arena. After an
// error the runtime can only be closed.
func (r *Runtime) Reshape(arena *Arena, ids []uint32, shapes [][]int) error {
	ranks := make([]C.size_t, len(ids), len(ids)+1)
	dims := make([]C.size_t, 0, len(ids)*C.XNN_MAX_TENSOR_DIMS+1)
	cids := make([]C.uint32_t, len(ids), len(ids)+1)
	for i, s := range shapes {
		cids[i] = C.uint32_t(ids[i])
		ranks[i] = C.size_t(len(s))
		for _, d := range s {
			dims = append(dims, C.size_t(d))
		}
	}
	var m C.struct_xg_message
	status := C.xg_runtime_reshape(r.c, arena.c, C.size_t(len(ids)), unsafe.SliceData(cids), unsafe.SliceData(ranks),
		unsafe.SliceData(dims), &m)
	return result(status, &m)
}

// Shape is the shape XNNPACK computed for an external value.
func (r *Runtime) Shape(id uint32) ([]int, error) {
	var rank C.size_t
	var dims [C.XNN_MAX_TENSOR_DIMS]C.size_t
	var m C.struct_xg_message
	if err := result(C.xg_runtime_shape(r.c, C.uint32_t(id), &rank, &dims[0], &m), &m); err != nil {
		return nil, err
	}
	shape := make([]int, rank)
	for i := range shape {
		shape[i] = int(dims[i])
	}
	return shape, nil
}

// Bind sets the memory of the external value with this id, from the next run on.
func (r *Runtime) Bind(id uint32, data unsafe.Pointer) {
	C.xg_runtime_bind(r.c, C.size_t(id), C.uint32_t(id), data)
}

// Fused is the time of a node that XNNPACK made part of another.
const Fused time.Duration = -1

// NodeTimes gives the time each node took in the last run, in the order they were added to the subgraph.
func (r *Runtime) NodeTimes() []time.Duration {
	ns := make([]C.uint64_t, C.xg_node_times(r.c, 0, nil))
	C.xg_node_times(r.c, C.size_t(len(ns)), unsafe.SliceData(ns))
	return durations(ns)
}

func durations(ns []C.uint64_t) []time.Duration {
	times := make([]time.Duration, len(ns))
	for i := range times {
		times[i] = time.Duration(ns[i]) // UINT64_MAX becomes Fused
	}
	return times
}
