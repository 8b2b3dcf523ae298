package main

import (
	"errors"
	"fmt"
	"time"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn"
)

// peer is ONNX Runtime, loaded from a shared library. There is one in a process.
type peer struct {
	version string
}

func openPeer(library string) (*peer, error) {
	ort.SetSharedLibraryPath(library)
	if err := ort.InitializeEnvironment(ort.WithLogLevelError()); err != nil {
		return nil, fmt.Errorf("%s: %w", library, err)
	}
	return &peer{ort.GetVersion()}, nil
}

func (*peer) close() { ort.DestroyEnvironment() }

// options are what a caller who knows the graph would set: so many threads in an operator, one operator at a time. Workers
// spin between runs, as is the default.
func (*peer) options(threads int) (*ort.SessionOptions, error) {
	o, err := ort.NewSessionOptions()
	if err != nil {
		return nil, err
	}
	err = errors.Join(o.SetIntraOpNumThreads(threads), o.SetInterOpNumThreads(1))
	if err != nil {
		o.Destroy()
		return nil, err
	}
	return o, nil
}

// tensor is a view of a session's tensor.
func (*peer) tensor(t *xnn.Tensor) (ort.Value, error) {
	var shape ort.Shape
	for _, n := range t.Shape() {
		shape = append(shape, int64(n))
	}
	if t.DType() == xnn.Float16 {
		return ort.NewCustomDataTensor(shape, t.Bytes(), ort.TensorElementDataTypeFloat16)
	}
	return ort.NewTensor(shape, xnn.Data[float32](t))
}

// binding is the tensors of a session, as ONNX Runtime takes them.
type binding struct {
	inputs  []ort.Value
	y       ort.Value
	output  *xnn.Tensor
	memory  []xnnpack.Memory // where it has tensors of its own
	options *ort.SessionOptions
	model   []byte
}

func (p *peer) bind(e *engine) (*binding, error) {
	b := &binding{model: e.subject.onnx()}
	var errs []error
	for i := range e.subject.values() {
		t, err := b.ordered(e.subject, e.session.Input(i))
		errs = append(errs, err)
		x, err := p.tensor(t)
		b.inputs, errs = append(b.inputs, x), append(errs, err)
	}
	var err error
	b.output, err = b.ordered(e.subject, e.session.Output(0))
	errs = append(errs, err)
	b.y, err = p.tensor(b.output)
	errs = append(errs, err)
	b.options, err = p.options(e.threads)
	return b, errors.Join(append(errs, err)...)
}

// ordered is a tensor as ONNX Runtime orders it, in the same memory or, where the order differs, the same kind of memory.
func (b *binding) ordered(s subject, t *xnn.Tensor) (*xnn.Tensor, error) {
	if !s.nchw() {
		return t, nil
	}
	m, err := xnnpack.Alloc(xnnpack.Tensors, len(t.Bytes()))
	if err != nil {
		return t, err
	}
	b.memory = append(b.memory, m)
	x := channelsFirst(t)
	own := xnn.NewTensor(unsafe.Slice((*float32)(m.Pointer()), x.Shape().Elements()), x.Shape()...)
	copy(own.Bytes(), x.Bytes())
	return own, nil
}

func (b *binding) session() (*ort.AdvancedSession, error) {
	return ort.NewAdvancedSessionWithONNXData(b.model, []string{"a", "b"}[:len(b.inputs)], []string{"y"}, b.inputs,
		[]ort.Value{b.y}, b.options)
}

func (b *binding) close() {
	for _, x := range b.inputs {
		x.Destroy()
	}
	b.y.Destroy()
	b.options.Destroy()
	for i := range b.memory {
		b.memory[i].Free()
	}
}

// column runs the engine's graph in the tensors of its session.
func (p *peer) column(e *engine) (*column, error) {
	b, err := p.bind(e)
	if err != nil {
		return nil, err
	}
	s, err := b.session()
	if err != nil {
		b.close()
		return nil, err
	}
	c := &column{
		key:    key{colPeer, e.threads},
		run:    timed(s.Run),
		output: b.output.Bytes,
		close:  func() { s.Destroy(); b.close() },
	}
	if e.subject.nchw() {
		c.layout = func(want []byte) []byte {
			t := xnn.NewTensor(make([]float32, len(want)/4), e.session.Output(0).Shape()...)
			copy(t.Bytes(), want)
			return channelsFirst(t).Bytes()
		}
	}
	if e.threads > 1 {
		c.rest = settle // from spinning
	}
	return c, nil
}

// load makes sessions and destroys them, which is not counted.
func (p *peer) load(e *engine) (*column, error) {
	b, err := p.bind(e)
	if err != nil {
		return nil, err
	}
	return &column{
		key: key{colPeer, 1},
		run: func(runs int) (time.Duration, error) {
			var sum time.Duration
			for range runs {
				start := time.Now()
				s, err := b.session()
				sum += time.Since(start)
				if err != nil {
					return 0, err
				}
				s.Destroy()
			}
			return sum, nil
		},
		close: b.close,
	}, nil
}
