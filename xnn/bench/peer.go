package main

import (
	"errors"
	"fmt"
	"time"

	ort "github.com/yalue/onnxruntime_go"

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
	a, b, y ort.Value
	options *ort.SessionOptions
	model   []byte
}

func (p *peer) bind(e *engine) (*binding, error) {
	b := &binding{model: e.spec.onnx()}
	var errs [4]error
	b.a, errs[0] = p.tensor(e.session.Input(0))
	b.b, errs[1] = p.tensor(e.session.Input(1))
	b.y, errs[2] = p.tensor(e.session.Output(0))
	b.options, errs[3] = p.options(e.threads)
	return b, errors.Join(errs[:]...)
}

func (b *binding) session() (*ort.AdvancedSession, error) {
	return ort.NewAdvancedSessionWithONNXData(b.model, []string{"a", "b"}, []string{"y"}, []ort.Value{b.a, b.b},
		[]ort.Value{b.y}, b.options)
}

func (b *binding) close() {
	b.a.Destroy()
	b.b.Destroy()
	b.y.Destroy()
	b.options.Destroy()
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
		output: e.session.Output(0).Bytes,
		close:  func() { s.Destroy(); b.close() },
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
