package main

import (
	"context"

	"github.com/xnngo/xnngo/xnn"
)

// engine is one graph with what runs it with so many threads.
type engine struct {
	subject subject
	threads int
	model   *xnn.Model
	session *xnn.Session // the other columns work in its tensors
}

func newEngine(s subject, threads int) (*engine, error) {
	m, err := xnn.Compile(s.graph(), xnn.WithThreads(threads))
	if err != nil {
		return nil, err
	}
	session, err := m.NewSession()
	if err != nil {
		m.Close()
		return nil, err
	}
	s.fill(session)
	return &engine{s, threads, m, session}, nil
}

// columns are those of the table, that of the peer where there is one.
func (e *engine) columns(p *peer) (columns, error) {
	c, err := newC(e)
	if err != nil {
		e.model.Close()
		return nil, err
	}
	cs := columns{e.sessionColumn(), c}
	switch e.subject.(type) { // a layer takes much longer than what differs between ways to call
	case spec:
		cs = append(cs, e.runIntoColumn(), e.runColumn())
	case *network:
		cs = append(cs, e.runIntoColumn())
	}
	if p != nil && e.subject.onnx() != nil {
		o, err := p.column(e)
		if err != nil {
			cs.close()
			return nil, err
		}
		cs = append(cs, o)
	}
	return cs, nil
}

func (e *engine) sessionColumn() *column {
	return &column{
		key:    key{colSession, e.threads},
		run:    timed(e.session.Run),
		output: e.outputs,
		close:  func() { e.model.Close() },
	}
}

// outputs are those of the session, in which the C column writes, too.
func (e *engine) outputs() [][]byte { return memory(views(e.session.Output, len(e.model.Outputs()))) }

func (e *engine) runIntoColumn() *column {
	in, out := views(e.session.Input, len(e.model.Inputs())), views(e.session.Output, len(e.model.Outputs()))
	return &column{
		key:    key{colRunInto, e.threads},
		run:    timed(func() error { return e.model.RunInto(context.Background(), out, in) }),
		output: e.outputs,
	}
}

func (e *engine) runColumn() *column {
	in := views(e.session.Input, len(e.model.Inputs()))
	var last []*xnn.Tensor
	return &column{
		key: key{colRun, e.threads},
		run: timed(func() error {
			y, err := e.model.Run(context.Background(), in...)
			if err == nil {
				last = y
			}
			return err
		}),
		output: func() [][]byte { return memory(last) },
		rest:   settle, // from collecting garbage
	}
}

// views are a caller's tensors in the memory of a session's.
func views(of func(int) *xnn.Tensor, n int) []*xnn.Tensor {
	all := make([]*xnn.Tensor, n)
	for i := range all {
		switch t := of(i); t.DType() {
		case xnn.Float16:
			all[i] = xnn.NewTensor(xnn.Data[xnn.Half](t), t.Shape()...)
		case xnn.QUInt8:
			all[i] = xnn.NewTensor(xnn.Data[uint8](t), t.Shape()...)
		default:
			all[i] = xnn.NewTensor(xnn.Data[float32](t), t.Shape()...)
		}
	}
	return all
}

func memory(tensors []*xnn.Tensor) [][]byte {
	all := make([][]byte, len(tensors))
	for i, t := range tensors {
		all[i] = t.Bytes()
	}
	return all
}
