package xnn

import (
	"errors"
	"math"
	"slices"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// reshape plans for these input shapes, in an arena that may grow unless it is fixed. Where it fails the session is as it
// was before.
func (s *session) reshape(inputs []Shape, fixedArena bool) error {
	shapes, err := s.model.infer(inputs)
	if err != nil {
		return err
	}
	grown, err := s.grow(shapes)
	if err == nil {
		err = s.plan(shapes, fixedArena)
		if err != nil {
			s.restore()
		}
	}
	if err != nil {
		for _, m := range grown {
			s.uncharge(int64(len(m.Bytes())))
			m.Free()
		}
		return err
	}
	s.commit(shapes, grown)
	return nil
}

// eachSlot calls f for every input and output with the value it shows.
func (s *session) eachSlot(f func(sl *slot, id graph.ID)) {
	for i := range s.inputs {
		f(&s.inputs[i], s.model.graph.Inputs[i])
	}
	for i := range s.outputs {
		f(&s.outputs[i], s.model.graph.Outputs[i])
	}
}

// grow gives memory for the slots that are too small for these shapes. What it returns is charged, in an error's case, too.
func (s *session) grow(shapes []Shape) (map[*slot]xnnpack.Memory, error) {
	grown := map[*slot]xnnpack.Memory{}
	var total int64
	s.eachSlot(func(sl *slot, id graph.ID) {
		need := Type{DType: sl.tensor.typ.DType, Shape: shapes[id]}.Bytes()
		if p := sl.memory.Pointer(); p == nil || len(sl.memory.Bytes()) < need {
			grown[sl] = xnnpack.Memory{}
			// Saturate: the sum of what one tensor can be may not fit.
			total = int64(min(uint64(total)+uint64(need), math.MaxInt64))
		}
	})
	if err := s.model.budget.take(schema.StageReshape, "inputs and outputs", total); err != nil {
		return nil, err
	}
	s.charged += total
	var err error
	s.eachSlot(func(sl *slot, id graph.ID) {
		if _, ok := grown[sl]; !ok || err != nil {
			return
		}
		need := Type{DType: sl.tensor.typ.DType, Shape: shapes[id]}.Bytes()
		m, allocErr := xnnpack.Alloc(xnnpack.Tensors, need)
		if allocErr != nil {
			err = outOfMemory(schema.StageReshape, "a tensor of %d bytes", need)
			return
		}
		grown[sl] = m
		total -= int64(need)
	})
	if err != nil {
		s.uncharge(total) // of those that were not made; the caller gives back the others
	}
	return grown, err
}

func (s *session) uncharge(bytes int64) {
	s.model.budget.give(bytes)
	s.charged -= bytes
}

// plan makes the runtime fit these shapes. After an error the runtime is unusable; see restore.
func (s *session) plan(shapes []Shape, fixedArena bool) error {
	threads := s.threadsFor(shapes)
	if s.rt == nil || threads != s.threads {
		if err := s.renew(threads); err != nil {
			return err
		}
	}
	if len(s.model.layout.nodes) == 0 {
		return nil
	}
	var ids []uint32
	var dims [][]int
	for i, e := range s.model.layout.externals {
		if e.flags == xnnpack.ExternalInput {
			ids = append(ids, uint32(i))
			dims = append(dims, shapes[e.id])
		}
	}
	for {
		s.arena.Begin()
		if err := s.rt.Reshape(s.arena, ids, dims); err != nil {
			return fromXNNPACK(schema.StageReshape, err)
		}
		need, has := s.arena.Needed(), s.arena.Size()
		if need <= has {
			return s.checkShapes(shapes)
		}
		if fixedArena {
			return schema.Errorf(schema.StageReshape, ErrArenaTooSmall, "the plan needs %d bytes, mem_buffer_sizes[0] or WithFixedArena fixes the arena at %d", need, has)
		}
		if err := s.resizeArena(need); err != nil {
			return err
		}
	}
}

// resizeArena makes the arena this large. Its contents are lost, and so is every plan made in it.
func (s *session) resizeArena(size int) error {
	more := int64(size - s.arena.Size())
	if err := s.charge("the arena", more); err != nil {
		return err
	}
	before := s.arena.Size()
	if s.arena.Resize(size) == nil {
		return nil
	}
	// Back to what was given up, for the session to go on with.
	if s.arena.Resize(before) != nil {
		s.uncharge(int64(before))
	}
	s.uncharge(more)
	return outOfMemory(schema.StageReshape, "an arena of %d bytes", size)
}

// checkShapes compares the shapes of package graph with what XNNPACK will write, since the memory is made for the former.
func (s *session) checkShapes(shapes []Shape) error {
	for i, e := range s.model.layout.externals {
		got, err := s.rt.Shape(uint32(i))
		if err != nil {
			return fromXNNPACK(schema.StageReshape, err)
		}
		if v := &s.model.graph.Values[e.id]; !shapes[e.id].Equal(got) {
			return schema.Errorf(schema.StageReshape, ErrShape, "computed %v, XNNPACK makes it %v", shapes[e.id], Shape(got)).
				AtValue(v.Ref)
		}
	}
	return nil
}

// renew makes the runtime anew with this many threads, since a runtime keeps the pool it was made with.
func (s *session) renew(threads int) error {
	s.drop()
	if threads > 1 {
		pool, err := xnnpack.AcquirePool(threads)
		if err != nil {
			return fromXNNPACK(schema.StageCreate, err)
		}
		s.pool = pool
	}
	rt, err := s.model.newRuntime(s.pool, s.cfg.profile)
	if err != nil {
		s.drop()
		return err
	}
	s.rt, s.threads = rt, threads
	return nil
}

// drop closes the runtime and lets its threads go.
func (s *session) drop() {
	s.rt.Close()
	s.pool.Release()
	s.rt, s.pool, s.threads = nil, nil, 0
}

// restore brings a session back to the shapes it had before a plan that failed. XNNPACK cannot be trusted with a runtime that
// failed to reshape, so it is made anew. Where even that fails, every Run reports it.
func (s *session) restore() {
	s.drop()
	if s.shapes == nil {
		return // it never had any
	}
	shapes, err := s.model.graph.Infer(s.shapes)
	if err == nil {
		err = s.plan(shapes, false)
	}
	if err != nil {
		s.drop()
		s.broken = err
		return
	}
	s.bind()
}

// commit makes the planned shapes those of the session.
func (s *session) commit(shapes []Shape, grown map[*slot]xnnpack.Memory) {
	s.shapes = make([]Shape, len(s.inputs))
	for i, id := range s.model.graph.Inputs {
		s.shapes[i] = slices.Clone(shapes[id]) // callers see the tensor's
	}
	s.eachSlot(func(sl *slot, id graph.ID) {
		if m, ok := grown[sl]; ok {
			s.uncharge(int64(len(sl.memory.Bytes())))
			sl.memory.Free()
			sl.memory = m
		}
		t := &sl.tensor
		t.typ.Shape = shapes[id]
		t.mem = sl.memory.Bytes()[:t.typ.Bytes()]
	})
	s.broken = nil
	s.shownArena.Store(int64(s.arena.Size()))
	s.shownThreads.Store(int64(s.threads))
	s.bind()
}

// bind tells the runtime where the tensors are.
func (s *session) bind() {
	l := s.model.layout
	for i, e := range l.externals {
		slots := s.outputs
		if e.flags == xnnpack.ExternalInput {
			slots = s.inputs
		}
		s.rt.Bind(i, uint32(i), slots[e.slot].memory.Pointer())
	}
	for i, c := range l.copies {
		slots := s.outputs
		if c.fromInput {
			slots = s.inputs
		}
		from, to := &slots[c.from], &s.outputs[c.output]
		s.rt.Copy(i, to.memory.Pointer(), from.memory.Pointer(), len(from.tensor.mem))
	}
}

// measureArena is the size of the arena that a session would take. Nothing of that size is reserved.
func measureArena(c *model, cfg sessionConfig, inputs []Shape) (int, error) {
	shapes, err := c.infer(inputs)
	if err != nil {
		return 0, err
	}
	s := &session{model: c, cfg: cfg}
	defer s.free()
	if s.arena, err = xnnpack.NewArena(); err != nil {
		return 0, outOfMemory(schema.StageReshape, "an arena's descriptor")
	}
	if err := s.plan(shapes, true); err != nil && !errors.Is(err, ErrArenaTooSmall) {
		return 0, err
	}
	return s.arena.Needed(), nil
}
