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
	for i, value := range s.values() {
		fill(session.Input(i), value)
	}
	return &engine{s, threads, m, session}, nil
}

// columns are those of the table, that of the peer where there is one.
func (e *engine) columns(p *peer) (columns, error) {
	c, err := newC(e.subject, e.threads, e.session)
	if err != nil {
		e.model.Close()
		return nil, err
	}
	cs := columns{e.sessionColumn(), c}
	if _, adds := e.subject.(spec); adds { // a layer takes much longer than what differs between ways to call
		cs = append(cs, e.runIntoColumn(), e.runColumn())
	}
	if p != nil {
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
		output: e.session.Output(0).Bytes,
		close:  func() { e.model.Close() },
	}
}

func (e *engine) runIntoColumn() *column {
	in := []*xnn.Tensor{view(e.session.Input(0)), view(e.session.Input(1))}
	out := []*xnn.Tensor{view(e.session.Output(0))}
	return &column{
		key:    key{colRunInto, e.threads},
		run:    timed(func() error { return e.model.RunInto(context.Background(), out, in) }),
		output: out[0].Bytes,
	}
}

func (e *engine) runColumn() *column {
	a, b := view(e.session.Input(0)), view(e.session.Input(1))
	var last *xnn.Tensor
	return &column{
		key: key{colRun, e.threads},
		run: timed(func() error {
			y, err := e.model.Run(context.Background(), a, b)
			if err == nil {
				last = y[0]
			}
			return err
		}),
		output: func() []byte { return last.Bytes() },
		rest:   settle, // from collecting garbage
	}
}

// view is a caller's tensor in the memory of a session's.
func view(t *xnn.Tensor) *xnn.Tensor {
	if t.DType() == xnn.Float16 {
		return xnn.NewTensor(xnn.Data[xnn.Half](t), t.Shape()...)
	}
	return xnn.NewTensor(xnn.Data[float32](t), t.Shape()...)
}
