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

// tensor is a view of a tensor, in the shape that ONNX Runtime knows for it; sizes it leaves open are 1.
func (*peer) tensor(t *xnn.Tensor, shape ort.Shape) (ort.Value, error) {
	if t.DType() == xnn.Float16 {
		return ort.NewCustomDataTensor(shape, t.Bytes(), ort.TensorElementDataTypeFloat16)
	}
	return ort.NewTensor(shape, xnn.Data[float32](t))
}

// closed is a shape without open sizes.
func closed(shape ort.Shape) ort.Shape {
	shape = shape.Clone()
	for i, n := range shape {
		shape[i] = max(n, 1)
	}
	return shape
}

// binding is the tensors of a session, as ONNX Runtime takes them.
type binding struct {
	inputs, outputs         []ort.Value
	inputNames, outputNames []string
	results                 []*xnn.Tensor    // what the outputs are views of
	memory                  []xnnpack.Memory // where it has tensors of its own
	options                 *ort.SessionOptions
	model                   []byte
}

func (p *peer) bind(e *engine) (*binding, error) {
	b := &binding{model: e.subject.onnx()}
	inputs, outputs, err := ort.GetInputOutputInfoWithONNXData(b.model)
	if err != nil {
		return nil, err
	}
	errs := []error{}
	for i, info := range inputs {
		t, err := b.ordered(e.subject, e.session.Input(i))
		errs = append(errs, err)
		x, err := p.tensor(t, closed(info.Dimensions))
		b.inputs, b.inputNames, errs = append(b.inputs, x), append(b.inputNames, info.Name), append(errs, err)
	}
	for _, info := range outputs {
		t, err := b.result(e, closed(info.Dimensions), len(outputs) == 1)
		errs = append(errs, err)
		y, err := p.tensor(t, closed(info.Dimensions))
		b.outputs, b.outputNames, errs = append(b.outputs, y), append(b.outputNames, info.Name), append(errs, err)
		b.results = append(b.results, t)
	}
	b.options, err = p.options(e.threads)
	return b, errors.Join(append(errs, err)...)
}

// result is what an output is written to: the session's, where there is one, else memory of the same kind.
func (b *binding) result(e *engine, shape ort.Shape, one bool) (*xnn.Tensor, error) {
	if one {
		return b.ordered(e.subject, e.session.Output(0))
	}
	return b.own(xnn.Shape{int(shape.FlattenedSize())})
}

func (b *binding) own(shape xnn.Shape) (*xnn.Tensor, error) {
	m, err := xnnpack.Alloc(xnnpack.Tensors, 4*shape.Elements())
	if err != nil {
		return nil, err
	}
	b.memory = append(b.memory, m)
	return xnn.NewTensor(unsafe.Slice((*float32)(m.Pointer()), shape.Elements()), shape...), nil
}

// ordered is a tensor as ONNX Runtime orders it, in the same memory or, where the order differs, the same kind of memory.
func (b *binding) ordered(s subject, t *xnn.Tensor) (*xnn.Tensor, error) {
	if !s.nchw() {
		return t, nil
	}
	x := channelsFirst(t)
	own, err := b.own(x.Shape())
	if err == nil {
		copy(own.Bytes(), x.Bytes())
	}
	return own, err
}

func (b *binding) session() (*ort.AdvancedSession, error) {
	return ort.NewAdvancedSessionWithONNXData(b.model, b.inputNames, b.outputNames, b.inputs, b.outputs, b.options)
}

func (b *binding) close() {
	for _, x := range append(b.inputs, b.outputs...) {
		x.Destroy()
	}
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
		output: func() [][]byte { return memory(b.results) },
		close:  func() { s.Destroy(); b.close() },
	}
	if e.subject.nchw() {
		c.layout = func(want []byte) []byte {
			t := xnn.NewTensor(make([]float32, len(want)/4), e.session.Output(0).Shape()...)
			copy(t.Bytes(), want)
			return channelsFirst(t).Bytes()
		}
	}
	if n, ok := e.subject.(*network); ok {
		c.layout = func(want []byte) []byte { return n.ordered(want, b.outputs) }
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
