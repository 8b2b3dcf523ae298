package xnn

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Session is the memory for running a model: tensors, the activation arena, and XNNPACK's runtime. It belongs to one
// goroutine at a time; a call while another is under way is ErrBusy, and Close waits for it. Nil is a closed session.
type Session struct {
	core    *session
	model   *Model // keeps it from being cleaned up
	cleanup runtime.Cleanup
}

// session is what a Session holds, and what the pool behind Model.Run is made of.
type session struct {
	model *model
	cfg   sessionConfig
	home  int // in the model's pool, where it is one of the pool's

	mu     sync.Mutex // held by whatever uses the memory
	closed atomic.Bool
	freed  bool // guarded by mu

	program *xnnpack.Program // nil after a failure that could not be undone; broken says which
	broken  error
	misuse  atomic.Pointer[Error] // what a wrong Data or index left for the next Run to report
	planned *plan
	steps   []step           // of planned
	carried map[graph.ID]int // offsets in the arena
	pool    *xnnpack.Pool    // of the steps; nil where all run on the calling thread
	arena   *arena
	shared  *Arena // of which arena is, nil where it is the session's own
	moves   int    // of the arena, when the session planned in it

	charged   int64 // what the session took from the model's budget
	described int64 // of it, for the steps
	tables    int64 // of it, for tables of pixels

	// What Session.ArenaBytes and Session.Threads answer, whoever asks and whenever.
	shownArena, shownThreads atomic.Int64

	inputs, outputs []slot
	shapes          []Shape // of the inputs now

	_ [64]byte // what lies behind in memory, maybe another session, shares no cache line with what a run writes
}

// slot is an input or output: the tensor callers see, and the memory behind it, which may be larger.
type slot struct {
	tensor Tensor
	memory xnnpack.Memory
}

func newSession(c *model, cfg sessionConfig) (*session, error) {
	s := &session{model: c, cfg: cfg}
	s.inputs = s.slots(c.graph.Inputs)
	s.outputs = s.slots(c.graph.Outputs)
	if err := s.start(); err != nil {
		s.free()
		return nil, err
	}
	return s, nil
}

func (s *session) slots(ids []graph.ID) []slot {
	slots := make([]slot, len(ids))
	for i, id := range ids {
		v := &s.model.graph.Values[id]
		slots[i].tensor = Tensor{typ: Type{DType: v.DType, Quant: v.Quant}, session: s}
	}
	return slots
}

// start reserves the arena a file asks for and plans for the shapes in the file, which must fit in it.
func (s *session) start() error {
	var err error
	if s.shared = s.cfg.arena; s.shared != nil {
		s.arena = s.shared.core
	} else if s.arena, err = newArena(); err != nil {
		return err
	}
	if err := s.turn(); err != nil {
		return err
	}
	defer s.endTurn()
	fixed := int(s.model.graph.ArenaBytes)
	if fixed > s.arena.memory.Size() {
		if err := s.arena.resize(fixed, &s.model.budget); err != nil {
			return err
		}
	}
	return s.reshape(s.model.inputShapes(), fixed != 0)
}

// turn waits until the session may use the arena.
func (s *session) turn() error {
	if s.shared == nil {
		return nil
	}
	s.arena.mu.Lock()
	if s.arena.closed {
		s.arena.mu.Unlock()
		return errClosed("arena")
	}
	return nil
}

func (s *session) endTurn() {
	if s.shared != nil {
		s.arena.mu.Unlock()
	}
}

// charge takes bytes from the model's budget for this session.
func (s *session) charge(what string, bytes int64) error {
	if err := s.model.budget.take(schema.StageReshape, what, bytes); err != nil {
		return err
	}
	s.charged += bytes
	return nil
}

// Input is the i-th input: write its elements through Data before Run. The tensor is the session's.
func (s *Session) Input(i int) *Tensor {
	if s == nil || s.core == nil {
		return nil
	}
	return s.core.tensor(s.core.inputs, i, "input")
}

// Output is the i-th output: read its elements through Data after Run. The tensor is the session's.
func (s *Session) Output(i int) *Tensor {
	if s == nil || s.core == nil {
		return nil
	}
	return s.core.tensor(s.core.outputs, i, "output")
}

func (s *session) tensor(slots []slot, i int, what string) *Tensor {
	if s.closed.Load() {
		return nil
	}
	if i < 0 || i >= len(slots) {
		s.note(schema.Errorf(schema.StageSetup, ErrArgument, "%s %d was asked for, the model has %d", what, i, len(slots)))
		return nil
	}
	return &slots[i].tensor
}

// note keeps a mistake that had no error to return for the next Run.
func (s *session) note(e *Error) { s.misuse.CompareAndSwap(nil, e) }

// Run computes the outputs from what the inputs hold. It allocates nothing. Errors: ErrBusy, ErrClosed, ErrArgument for a
// wrong Data or Input before it, or what XNNPACK reports.
func (s *Session) Run() error {
	if s == nil || s.core == nil {
		return errClosed("session")
	}
	c := s.core
	if err := c.enter(); err != nil {
		return err
	}
	err := c.run()
	c.mu.Unlock()
	runtime.KeepAlive(s)
	return err
}

// enter takes the session for one call, which unlocks mu.
func (s *session) enter() error {
	if !s.mu.TryLock() {
		if s.closed.Load() {
			return errClosed("session")
		}
		return schema.Errorf(schema.StageInvoke, ErrBusy, "the session is used by another goroutine")
	}
	if s.closed.Load() {
		s.mu.Unlock()
		return errClosed("session")
	}
	return nil
}

func (s *session) run() error {
	if s.program == nil {
		return s.broken
	}
	if s.misuse.Load() != nil {
		return s.misuse.Swap(nil)
	}
	if s.shared != nil {
		if err := s.turn(); err != nil {
			return err
		}
		defer s.endTurn()
		if err := s.planAgain(); err != nil {
			return err
		}
	}
	if err := s.program.Run(); err != nil {
		return fromXNNPACK(schema.StageInvoke, err)
	}
	return nil
}

// Reshape gives the inputs new shapes, of the same rank, and plans for them. Views of Data are invalid afterwards and the
// contents of tensors are undefined until written. Where it fails the session stays as it was. Errors: ErrShape,
// ErrArenaTooSmall with WithFixedArena, ErrMemoryLimit, ErrBusy, ErrClosed.
func (s *Session) Reshape(shapes ...Shape) error {
	if s == nil || s.core == nil {
		return errClosed("session")
	}
	c := s.core
	if err := c.enter(); err != nil {
		return err
	}
	err := c.turn()
	if err == nil {
		err = c.reshape(shapes, c.cfg.fixedArena)
		c.endTurn()
	}
	c.mu.Unlock()
	runtime.KeepAlive(s)
	return err
}

// ArenaBytes is the size of the activation arena, 0 after Close. It grows with Reshape and does not shrink.
func (s *Session) ArenaBytes() int {
	if s == nil || s.core == nil {
		return 0
	}
	return int(s.core.shownArena.Load())
}

// Threads is the number of threads the session's runs use for its present shapes: 1 where its work is too small to
// share, 0 after Close.
func (s *Session) Threads() int {
	if s == nil || s.core == nil {
		return 0
	}
	return int(s.core.shownThreads.Load())
}

// Close frees the session's memory, waiting for a Run under way. It may be called twice, and on nil.
func (s *Session) Close() error {
	if s != nil && s.core != nil {
		s.cleanup.Stop()
		s.core.close()
	}
	return nil
}

// close may be called by several at once: whoever returns from it finds everything freed.
func (s *session) close() {
	s.closed.Store(true) // calls from now on are told so, one under way ends first
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.freed {
		s.freed = true
		s.free()
		s.model.forget(s)
	}
}

// free gives everything back, in the order in which one thing uses the other.
func (s *session) free() {
	s.drop()
	if s.shared == nil && s.arena != nil {
		s.arena.close()
	}
	s.shownArena.Store(0)
	s.shownThreads.Store(0)
	for _, slots := range [][]slot{s.inputs, s.outputs} {
		for i := range slots {
			slots[i].memory.Free()
			slots[i].tensor.mem = nil
		}
	}
	s.model.budget.give(s.charged)
	s.charged = 0
}
