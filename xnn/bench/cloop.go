package main

// #cgo linux,amd64 CFLAGS: -I${SRCDIR}/../../third_party/out/linux_amd64/include
// #cgo linux,arm64 CFLAGS: -I${SRCDIR}/../../third_party/out/linux_arm64/include
// #cgo CFLAGS: -O2
// #include "cloop.h"
// #cgo noescape xb_open
// #cgo nocallback xb_open
// #cgo noescape xb_start
// #cgo nocallback xb_start
// #cgo noescape xb_run
// #cgo nocallback xb_run
// #cgo noescape xb_load
// #cgo nocallback xb_load
// #cgo nocallback xb_nothing
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"time"
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/internal/whole"
)

// The C side is linked through package xnnpack, which must also have initialised XNNPACK before anything here is used.

var cTypes = map[xnn.DType]C.enum_xnn_datatype{xnn.Float32: C.xnn_datatype_fp32, xnn.Float16: C.xnn_datatype_fp16}

// cSpec is what C takes, and lets go of it.
type cSpec struct {
	spec   *C.struct_xb_spec // apart from the rest, whose Go pointers C must not see
	pin    runtime.Pinner
	memory []xnnpack.Memory
	whole  *whole.Graph // instead of spec
}

// tensor describes one, a constant with its data in memory of the kind that models have theirs in.
func (c *cSpec) tensor(shape xnn.Shape, data []byte) (C.struct_xb_tensor, error) {
	dims := make([]C.size_t, len(shape))
	for i, n := range shape {
		dims[i] = C.size_t(n)
	}
	t := C.struct_xb_tensor{rank: C.size_t(len(dims)), dims: unsafe.SliceData(dims)}
	c.pin.Pin(t.dims)
	if data == nil {
		return t, nil
	}
	m, err := xnnpack.Alloc(xnnpack.Constants, len(data))
	if err != nil {
		return t, err
	}
	c.memory = append(c.memory, m)
	copy(m.Bytes(), data)
	t.data = m.Pointer()
	return t, nil
}

// withC calls f with the subject as C takes it, valid during the call.
func withC(s subject, f func(*cSpec) C.enum_xnn_status) error {
	if err := xnnpack.Init(); err != nil {
		return err
	}
	c := &cSpec{spec: new(C.struct_xb_spec)}
	defer func() {
		c.pin.Unpin()
		for i := range c.memory {
			c.memory[i].Free()
		}
	}()
	if err := s.describe(c); err != nil {
		return err
	}
	return cError(f(c))
}

func (s spec) describe(c *cSpec) (err error) {
	c.spec.kind, c.spec.datatype, c.spec.adds = C.xb_adds, cTypes[s.dtype], C.size_t(s.adds)
	c.spec.a, _ = c.tensor(s.a, nil)
	c.spec.b, _ = c.tensor(s.b, nil)
	c.spec.y, err = c.tensor(s.a, nil)
	return err
}

var cKinds = map[string]uint32{conv: C.xb_convolution, depthwise: C.xb_depthwise, fullyConnected: C.xb_fully_connected}

func (l layer) describe(c *cSpec) error {
	c.spec.kind, c.spec.datatype, c.spec.stride = cKinds[l.kind], C.xnn_datatype_fp32, C.uint32_t(l.stride)
	p := l.padding()
	for i, n := range []int{p.Top, p.Right, p.Bottom, p.Left} {
		c.spec.padding[i] = C.uint32_t(n)
	}
	var errs [4]error
	c.spec.a, errs[0] = c.tensor(l.x, nil)
	c.spec.b, errs[1] = c.tensor(l.filter, floats(l.filter, valueFilter).Bytes())
	c.spec.y, errs[2] = c.tensor(l.y(), nil)
	bias := xnn.Shape{l.channels()}
	c.spec.bias, errs[3] = c.tensor(bias, floats(bias, valueBias).Bytes())
	return errors.Join(errs[:]...)
}

func (n *network) describe(c *cSpec) (err error) {
	c.whole, err = whole.Describe(n.read)
	return err
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
func newC(e *engine) (*column, error) {
	loop, free, threads, tensors := new(C.struct_xb_loop), func() {}, C.size_t(e.threads), e.session
	err := withC(e.subject, func(c *cSpec) C.enum_xnn_status {
		if w := c.whole; w != nil {
			free = w.Free
			values := make([]C.struct_xnn_external_value, len(w.Externals))
			for i, x := range w.Externals {
				t := tensors.Input
				if x.Output {
					t = tensors.Output
				}
				values[i] = C.struct_xnn_external_value{id: C.uint32_t(i), data: pointer(t(x.Index))}
			}
			return C.xb_start(C.xnn_subgraph_t(w.Pointer()), threads, C.size_t(len(values)), unsafe.SliceData(values), loop)
		}
		var b unsafe.Pointer
		if len(e.model.Inputs()) > 1 {
			b = pointer(tensors.Input(1))
		}
		return C.xb_open(c.spec, threads, pointer(tensors.Input(0)), b, pointer(tensors.Output(0)), loop)
	})
	if err != nil {
		free()
		return nil, err
	}
	return &column{
		key: key{colC, e.threads},
		run: func(runs int) (time.Duration, error) {
			var ns C.int64_t
			err := cError(C.xb_run(loop, C.size_t(runs), &ns))
			return time.Duration(ns), err
		},
		rest:   func() { C.xb_quiet(loop) },
		output: e.outputs,
		close:  func() { C.xb_close(loop); free() },
	}, nil
}

// newCLoad makes and deletes runtimes in C.
func newCLoad(s spec, tensors *xnn.Session) *column {
	return &column{
		key: key{colC, 1},
		run: func(runs int) (time.Duration, error) {
			var ns C.int64_t
			err := withC(s, func(c *cSpec) C.enum_xnn_status {
				return C.xb_load(c.spec, C.size_t(runs), pointer(tensors.Input(0)), pointer(tensors.Input(1)),
					pointer(tensors.Output(0)), &ns)
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
