package xnn

import (
	"context"
	"runtime"
	"slices"

	"github.com/xnngo/xnngo/schema"
)

// Run runs the model on these inputs, in call order, and gives new tensors with the outputs. It may be called from any
// number of goroutines: a bounded pool of sessions serves them, and a call waits for one, or for ctx, while all are busy.
// Inputs may have other shapes than the file says, of the same rank. Errors: ErrArgument, ErrShape, ErrMemoryLimit,
// ErrClosed, the context's.
func (m *Model) Run(ctx context.Context, inputs ...*Tensor) ([]*Tensor, error) {
	if m == nil || m.core == nil {
		return nil, errClosed("model")
	}
	s, err := m.core.begin(ctx, inputs)
	if err != nil {
		return nil, err
	}
	defer m.core.end(s)
	if err := s.run(); err != nil {
		return nil, err
	}
	outputs := make([]*Tensor, len(s.outputs))
	for i := range s.outputs {
		outputs[i] = s.outputs[i].tensor.clone()
	}
	runtime.KeepAlive(m)
	return outputs, nil
}

// RunInto is Run into tensors of the caller, which must have the types the outputs get. It allocates nothing once the pool
// has a session of these shapes. Inputs and outputs may share memory.
func (m *Model) RunInto(ctx context.Context, outputs, inputs []*Tensor) error {
	if m == nil || m.core == nil {
		return errClosed("model")
	}
	s, err := m.core.begin(ctx, inputs)
	if err != nil {
		return err
	}
	defer m.core.end(s)
	if len(outputs) != len(s.outputs) {
		return schema.Errorf(schema.StageSetup, ErrArgument, "%d outputs given, the model has %d", len(outputs), len(s.outputs))
	}
	for i, t := range outputs {
		want := &s.outputs[i].tensor
		if err := t.check("output", i, want.typ.DType); err != nil {
			return err
		}
		if !t.typ.Shape.Equal(want.typ.Shape) {
			return schema.Errorf(schema.StageSetup, ErrShape, "output %d is %v, the run gives %v", i, t.typ, want.typ)
		}
	}
	if err := s.run(); err != nil {
		return err
	}
	for i, t := range outputs {
		copy(t.mem, s.outputs[i].tensor.mem)
	}
	runtime.KeepAlive(m)
	return nil
}

// begin takes a session, in the shapes of the inputs, and fills its inputs. end gives it back.
func (c *model) begin(ctx context.Context, inputs []*Tensor) (*session, error) {
	if len(inputs) != len(c.graph.Inputs) {
		return nil, schema.Errorf(schema.StageSetup, ErrArgument, "%d inputs given, the model has %d", len(inputs),
			len(c.graph.Inputs))
	}
	for i, t := range inputs {
		if err := t.check("input", i, c.graph.Values[c.graph.Inputs[i]].DType); err != nil {
			return nil, err
		}
	}
	s, err := c.acquire(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil { // closed since
		c.release(s)
		return nil, err
	}
	if !s.hasShapes(inputs) {
		shapes := make([]Shape, len(inputs))
		for i, t := range inputs {
			shapes[i] = t.typ.Shape
		}
		err := s.turn()
		if err == nil {
			err = s.reshape(shapes, s.cfg.fixedArena)
			s.endTurn()
		}
		if err != nil {
			c.end(s)
			return nil, err
		}
	}
	for i, t := range inputs {
		copy(s.inputs[i].tensor.mem, t.mem)
	}
	return s, nil
}

func (c *model) end(s *session) {
	s.mu.Unlock()
	c.release(s)
}

func (s *session) hasShapes(inputs []*Tensor) bool {
	for i, t := range inputs {
		if !slices.Equal(s.shapes[i], t.typ.Shape) {
			return false
		}
	}
	return true
}

// check reports a tensor that cannot be the i-th input or output of this type.
func (t *Tensor) check(what string, i int, dtype DType) error {
	switch {
	case t == nil:
		return schema.Errorf(schema.StageSetup, ErrArgument, "%s %d is nil", what, i)
	case t.err != nil:
		return t.err
	case t.typ.DType != dtype:
		return schema.Errorf(schema.StageSetup, ErrArgument, "%s %d is %v, the model takes %v", what, i, t.typ.DType, dtype)
	case len(t.mem) != t.typ.Bytes():
		return schema.Errorf(schema.StageSetup, ErrArgument, "%s %d is a view of a closed session", what, i)
	}
	return nil
}

// clone copies a tensor into memory of the garbage collector, which aligns it by its size.
func (t *Tensor) clone() *Tensor {
	mem := append([]byte(nil), t.mem...)
	return &Tensor{typ: Type{DType: t.typ.DType, Shape: slices.Clone(t.typ.Shape), Quant: t.typ.Quant}, mem: mem}
}
