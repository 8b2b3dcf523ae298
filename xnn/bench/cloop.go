package main

// #cgo linux,amd64 CFLAGS: -I${SRCDIR}/../../third_party/out/linux_amd64/include
// #cgo linux,arm64 CFLAGS: -I${SRCDIR}/../../third_party/out/linux_arm64/include
// #cgo CFLAGS: -O2
// #include "cloop.h"
// #cgo noescape xb_open
// #cgo nocallback xb_open
// #cgo noescape xb_run
// #cgo nocallback xb_run
// #cgo noescape xb_load
// #cgo nocallback xb_load
// #cgo nocallback xb_nothing
import "C"

import (
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn"
)

// The C side is linked through package xnnpack, which must also have initialised XNNPACK before anything here is used.

var cTypes = map[xnn.DType]C.enum_xnn_datatype{xnn.Float32: C.xnn_datatype_fp32, xnn.Float16: C.xnn_datatype_fp16}

// withCSpec calls f with the spec as C takes it, valid during the call.
func (s spec) withCSpec(f func(*C.struct_xb_spec) C.enum_xnn_status) error {
	if err := xnnpack.Init(); err != nil {
		return err
	}
	dims := func(shape xnn.Shape) *C.size_t {
		d := make([]C.size_t, len(shape))
		for i, n := range shape {
			d[i] = C.size_t(n)
		}
		return unsafe.SliceData(d)
	}
	var pin runtime.Pinner
	defer pin.Unpin()
	c := C.struct_xb_spec{
		datatype: cTypes[s.dtype], adds: C.size_t(s.adds),
		rank_a: C.size_t(len(s.a)), dims_a: dims(s.a), rank_b: C.size_t(len(s.b)), dims_b: dims(s.b),
	}
	pin.Pin(c.dims_a)
	pin.Pin(c.dims_b)
	return cError(f(&c))
}

func cError(status C.enum_xnn_status) error {
	if status != C.xnn_status_success {
		return fmt.Errorf("C loop: %w", xnnpack.Status(status))
	}
	return nil
}

func pointer(t *xnn.Tensor) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(t.Bytes())) }

// newC is a loop in C on the same archive, in the tensors of a session. It shares them so that where pages lie in the
// caches, which differs by more than the bounds between two allocations, is the same for both.
func newC(s spec, threads int, tensors *xnn.Session) (*column, error) {
	loop := new(C.struct_xb_loop)
	err := s.withCSpec(func(c *C.struct_xb_spec) C.enum_xnn_status {
		return C.xb_open(c, C.size_t(threads), pointer(tensors.Input(0)), pointer(tensors.Input(1)), pointer(tensors.Output(0)), loop)
	})
	if err != nil {
		return nil, err
	}
	return &column{
		key: key{colC, threads},
		run: func(runs int) (time.Duration, error) {
			var ns C.int64_t
			err := cError(C.xb_run(loop, C.size_t(runs), &ns))
			return time.Duration(ns), err
		},
		rest:   func() { C.xb_quiet(loop) },
		output: tensors.Output(0).Bytes,
		close:  func() { C.xb_close(loop) },
	}, nil
}

// newCLoad makes and deletes runtimes in C.
func newCLoad(s spec, tensors *xnn.Session) *column {
	return &column{
		key: key{colC, 1},
		run: func(runs int) (time.Duration, error) {
			var ns C.int64_t
			err := s.withCSpec(func(c *C.struct_xb_spec) C.enum_xnn_status {
				return C.xb_load(c, C.size_t(runs), pointer(tensors.Input(0)), pointer(tensors.Input(1)), pointer(tensors.Output(0)), &ns)
			})
			return time.Duration(ns), err
		},
	}
}

// newCgo crosses to C and does nothing there.
func newCgo() *column {
	return &column{key: key{colCgo, 1}, run: func(runs int) (time.Duration, error) {
		start := time.Now()
		for range runs {
			C.xb_nothing()
		}
		return time.Since(start), nil
	}}
}

// archiveStamp names the XNNPACK that is linked.
func archiveStamp() string { return C.GoString(C.xb_stamp()) }
