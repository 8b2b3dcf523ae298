package xnn

import (
	"errors"
	"math"
	"slices"
	"unsafe"

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
		if err = s.plan(shapes, fixedArena); err == nil {
			err = s.assemble(shapes, grown)
		}
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

// plan makes the steps for these shapes and finds them room in the arena. After an error the session cannot run; see restore.
func (s *session) plan(shapes []Shape, fixedArena bool) error {
	p := newPlan(s.model.graph, s.model.layout, shapes, s.cfg)
	if !p.same(s.planned) {
		s.drop()
		if err := s.renew(p, shapes); err != nil {
			s.drop()
			return err
		}
	}
	if err := s.charge("tables of pixels", p.tables-s.tables); err != nil {
		return err
	}
	s.planned, s.tables = p, p.tables
	for i := range s.steps {
		s.steps[i].seg = &p.segments[i]
	}
	for {
		if err := s.round(shapes); err != nil {
			return err
		}
		need, has := s.arena.memory.Needed(), s.arena.memory.Size()
		if need <= has {
			break
		}
		if fixedArena {
			return schema.Errorf(schema.StageReshape, ErrArenaTooSmall,
				"the plan needs %d bytes, mem_buffer_sizes[0] or WithFixedArena fixes the arena at %d", need, has)
		}
		if err := s.arena.resize(need, &s.model.budget); err != nil {
			return err
		}
	}
	s.moves = s.arena.moves
	for i := range s.steps {
		if err := s.steps[i].check(s.model.graph, shapes); err != nil {
			return err
		}
	}
	return nil
}

// renew makes the steps of a plan anew.
func (s *session) renew(p *plan, shapes []Shape) error {
	for i := range p.segments {
		if p.segments[i].threads > 1 && s.pool == nil {
			pool, err := xnnpack.AcquirePool(s.cfg.threads)
			if err != nil {
				return fromXNNPACK(schema.StageCreate, err)
			}
			s.pool = pool
		}
		cost := descriptorBytes(len(p.segments[i].nodes) * p.segments[i].runtimes())
		if err := s.charge("descriptors of nodes", cost); err != nil {
			return err
		}
		s.described += cost
		st, err := s.model.newStep(&p.segments[i], shapes, s.pool, s.cfg.profile)
		if err != nil {
			return err
		}
		s.steps = append(s.steps, st)
	}
	return nil
}

// round plans every step in the arena, from its start.
func (s *session) round(shapes []Shape) error {
	s.arena.memory.Begin()
	s.carried = map[graph.ID]int{}
	offsets, total := placeCarried(s.planned.carried, func(id graph.ID) int {
		const align = 64
		t := Type{DType: s.model.graph.Values[id].DType, Shape: shapes[id]}
		return (t.Bytes() + xnnpack.ExtraBytes() + align - 1) &^ (align - 1)
	})
	base := s.arena.memory.Take(total)
	for i, v := range s.planned.carried {
		s.carried[v.id] = base + offsets[i]
	}
	for i := range s.steps {
		s.arena.memory.Reuse(base + total) // one step runs after the other
		if err := s.steps[i].reshape(s.arena.memory, shapes); err != nil {
			return err
		}
	}
	return nil
}

// assemble makes the program of the planned steps, over the memory that the slots will have.
func (s *session) assemble(shapes []Shape, grown map[*slot]xnnpack.Memory) error {
	memory := func(ref slotRef) unsafe.Pointer {
		sl := s.slot(ref)
		if m, ok := grown[sl]; ok {
			return m.Pointer()
		}
		return sl.memory.Pointer()
	}
	at := func(id graph.ID) unsafe.Pointer {
		if v := &s.model.graph.Values[id]; v.Constant != 0 {
			return s.model.constants.at[v.Constant]
		}
		if ref, ok := s.model.layout.slots[id]; ok {
			return memory(ref)
		}
		return unsafe.Pointer(&s.arena.memory.Bytes()[s.carried[id]])
	}
	steps := make([]xnnpack.Step, len(s.steps))
	for i := range s.steps {
		if err := s.steps[i].bind(at, s.pool, s.cfg.profile); err != nil {
			return err
		}
		steps[i] = s.steps[i].program()
	}
	var copies []xnnpack.Copy
	for _, c := range s.model.layout.copies {
		id := s.model.graph.Outputs[c.output]
		t := Type{DType: s.model.graph.Values[id].DType, Shape: shapes[id]}
		copies = append(copies, xnnpack.Copy{To: memory(slotRef{true, c.output}), From: memory(c.from), Size: t.Bytes()})
	}
	s.program.Close()
	var err error
	s.program, err = xnnpack.NewProgram(steps, copies)
	return orNil(fromXNNPACK(schema.StageSetup, err))
}

// slot is the tensor a reference names.
func (s *session) slot(ref slotRef) *slot {
	if ref.output {
		return &s.outputs[ref.index]
	}
	return &s.inputs[ref.index]
}

// planAgain plans anew where another session has moved the arena since.
func (s *session) planAgain() error {
	if s.moves == s.arena.moves {
		return nil
	}
	shapes, err := s.model.graph.Infer(s.shapes)
	if err == nil {
		if err = s.plan(shapes, s.cfg.fixedArena); err == nil {
			err = s.assemble(shapes, nil)
		}
	}
	if err != nil {
		s.restore()
	}
	return err
}

// drop closes what the session runs and lets its threads go.
func (s *session) drop() {
	s.program.Close()
	for i := range s.steps {
		s.steps[i].close()
	}
	s.pool.Release()
	s.uncharge(s.described + s.tables)
	s.program, s.steps, s.planned, s.pool, s.described, s.tables = nil, nil, nil, nil, 0, 0
}

// restore brings a session back to the shapes it had before a plan that failed. XNNPACK cannot be trusted with a runtime that
// failed to reshape, so all is made anew. Where even that fails, every Run reports it.
func (s *session) restore() {
	s.drop()
	if s.shapes == nil {
		return // it never had any
	}
	shapes, err := s.model.graph.Infer(s.shapes)
	if err == nil {
		if err = s.plan(shapes, false); err == nil {
			err = s.assemble(shapes, nil)
		}
	}
	if err != nil {
		s.drop()
		s.broken = err
	}
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
			m.Populate()
		}
		t := &sl.tensor
		t.typ.Shape = shapes[id]
		t.mem = sl.memory.Bytes()[:t.typ.Bytes()]
	})
	s.broken = nil
	s.arena.memory.Populate()
	s.shownArena.Store(int64(s.arena.memory.Size()))
	threads := 1
	for i := range s.planned.segments {
		threads = max(threads, s.planned.segments[i].threads)
	}
	s.shownThreads.Store(int64(threads))
}

// measureArena is the size of the arena that a session would take. Nothing of that size is reserved.
func measureArena(c *model, cfg sessionConfig, inputs []Shape) (int, error) {
	shapes, err := c.infer(inputs)
	if err != nil {
		return 0, err
	}
	s := &session{model: c, cfg: cfg}
	defer s.free()
	if s.arena, err = newArena(); err != nil {
		return 0, err
	}
	if err := s.plan(shapes, true); err != nil && !errors.Is(err, ErrArenaTooSmall) {
		return 0, err
	}
	return s.arena.memory.Needed(), nil
}
