package xnn

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Model is a checked network with its constants. It does not change, and all its methods may be called from any number of
// goroutines at once. Nil is a closed model.
type Model struct {
	core    *model
	cleanup runtime.Cleanup
}

// model is what a Model holds; sessions keep it, and its cleanup frees it when the Model is dropped.
type model struct {
	graph     *graph.Graph // without the bytes of its constants
	layout    *layout
	constants *constants
	weights   *xnnpack.Weights
	kept      *weightsCache // nil without one
	mapped    *mapping
	cfg       config
	budget    budget
	pool      sessionPool

	// making is held for reading while a session is made, for writing by close.
	making   sync.RWMutex
	closed   bool
	sessions map[*session]struct{} // guarded by mu
	mu       sync.Mutex
}

// newModel makes a model of a checked graph that belongs to it. It takes over mapped, and closes it where it fails.
func newModel(g *graph.Graph, mapped *mapping, cfg config) (*Model, error) {
	c := &model{graph: g, mapped: mapped, cfg: cfg, sessions: map[*session]struct{}{}}
	c.budget.left.Store(cfg.memoryLimit)
	if err := c.compile(); err != nil {
		c.kept.close()
		mapped.close()
		return nil, c.graph.Named(err)
	}
	c.pool.init(cfg.maxSessions)
	m := &Model{core: c}
	m.cleanup = runtime.AddCleanup(m, (*model).close, c)
	return m, nil
}

// convert makes the graph one of the precision that was asked for. Constants that are made when they are needed, such as those of
// sparse tensors, are so one by one, and may each be larger than the memory.
func (c *model) convert() error {
	if c.cfg.precision == Float32 {
		return nil
	}
	for i := range c.graph.Constants {
		if k := &c.graph.Constants[i]; k.Data == nil {
			if err := c.budget.take(schema.StageCheck, "the elements of a constant", int64(k.Len())); err != nil {
				return err
			}
			c.budget.give(int64(k.Len()))
		}
	}
	half, err := graph.HalfPrecision(c.graph)
	if err == nil {
		c.graph = half
	}
	return err
}

// compile binds the constants and lets XNNPACK make a runtime once, so that what it cannot run fails here.
func (c *model) compile() error {
	if err := c.convert(); err != nil {
		return err
	}
	if err := xnnpack.Init(); err != nil {
		return fromXNNPACK(schema.StageDefine, err)
	}
	var err error
	if c.layout, err = newLayout(c.graph); err != nil {
		return err
	}
	if kept := c.openKept(); len(kept) > 0 && c.pack(kept) == nil {
		c.kept.found = true
	} else {
		// Where weights from a file do not do, for whatever reason, it is as if there was none.
		c.kept.close()
		c.budget.left.Store(c.cfg.memoryLimit)
		if err := c.pack(nil); err != nil {
			return err
		}
		c.keep()
	}
	// The bytes are where they are needed now; those of the caller are let go.
	clear(c.graph.Constants)
	return nil
}

// pack makes the constants and the packed weights, of which some may be there already.
func (c *model) pack(kept []xnnpack.PackedWeights) error {
	var err error
	if c.constants, err = newConstants(c.graph, c.layout.used, c.absent(kept), c.mapped, &c.budget); err != nil {
		return err
	}
	if packed := c.layout.packs(c.graph); packed > 0 {
		if c.weights, err = xnnpack.NewWeights(len(c.graph.Nodes), c.budget.left.Load(), packed); err != nil {
			c.constants.close()
			return outOfMemory(schema.StageCreate, "the descriptors of packed weights")
		}
	}
	for _, p := range kept {
		if !c.weights.Add(p) {
			err = outOfMemory(schema.StageCreate, "packed weights")
		}
	}
	if err == nil {
		err = c.tryCreate()
	}
	if err != nil {
		c.weights.Close()
		c.constants.close()
	}
	return err
}

// tryCreate makes what a session with one thread would run, and lets it go.
func (c *model) tryCreate() error {
	cost := descriptorBytes(len(c.layout.nodes))
	if err := c.budget.take(schema.StageCreate, "descriptors of nodes", cost); err != nil {
		return err
	}
	defer c.budget.give(cost)
	whole := c.cfg.session
	whole.threads, whole.l1Bytes, whole.l2Bytes = 1, math.MaxInt, math.MaxInt
	shapes := make([]Shape, len(c.graph.Values))
	for i := range shapes {
		shapes[i] = c.graph.Values[i].Shape
	}
	p := newPlan(c.graph, c.layout, shapes, whole)
	for i := range p.segments {
		st, err := c.newStep(&p.segments[i], shapes, nil, false)
		if err != nil {
			return err
		}
		st.close()
	}
	packed, _ := c.weights.Size()
	if err := c.budget.take(schema.StageCreate, "packed weights", packed); err != nil {
		return err
	}
	c.weights.Share()
	c.constants.release(c.graph, c.layout.nodes, c.weights, c.mapped, &c.budget)
	return nil
}

// NewSession makes the memory for running the model and plans it for the shapes in the file. The caller closes it, or
// leaves that to Model.Close. Errors: ErrMemoryLimit, ErrArenaTooSmall where the file fixes an arena that its own shapes do
// not fit, ErrUnsupported, ErrClosed.
func (m *Model) NewSession(opts ...SessionOption) (*Session, error) {
	if m == nil || m.core == nil {
		return nil, errClosed("model")
	}
	cfg, err := m.core.sessionConfig(opts)
	if err != nil {
		return nil, err
	}
	c, err := m.core.newSession(cfg)
	if err != nil {
		return nil, err
	}
	s := &Session{core: c, model: m}
	s.cleanup = runtime.AddCleanup(s, (*session).close, c)
	return s, nil
}

// sessionConfig is how a session with these options works.
func (c *model) sessionConfig(opts []SessionOption) (sessionConfig, error) {
	cfg := c.cfg.session
	for _, o := range opts {
		if o != nil {
			o.session(&cfg)
		}
	}
	if cfg.threads == 0 {
		cfg.threads = DefaultThreads()
	}
	return cfg, cfg.check()
}

func (c *model) newSession(cfg sessionConfig) (*session, error) {
	c.making.RLock()
	defer c.making.RUnlock()
	if c.closed {
		return nil, errClosed("model")
	}
	s, err := newSession(c, cfg)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.sessions[s] = struct{}{}
	c.mu.Unlock()
	return s, nil
}

func (c *model) forget(s *session) {
	c.mu.Lock()
	delete(c.sessions, s)
	c.mu.Unlock()
}

// Close closes the model's sessions, waiting for runs under way, and frees its constants. It may be called twice, and on
// nil.
func (m *Model) Close() error {
	if m != nil && m.core != nil {
		m.cleanup.Stop()
		m.core.close()
	}
	return nil
}

func (c *model) close() {
	c.making.Lock()
	defer c.making.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	c.pool.close()
	c.mu.Lock()
	open := make([]*session, 0, len(c.sessions))
	for s := range c.sessions {
		open = append(open, s)
	}
	c.mu.Unlock()
	for _, s := range open {
		s.close()
	}
	c.weights.Close()
	c.constants.close()
	c.kept.close()
	c.mapped.close()
}

// Inputs are the types of the inputs, in call order, with the shapes the model was made with.
func (m *Model) Inputs() []Type {
	if m == nil || m.core == nil {
		return nil
	}
	return m.core.types(m.core.graph.Inputs)
}

// Outputs are the types of the outputs, in call order, for inputs of the shapes the model was made with.
func (m *Model) Outputs() []Type {
	if m == nil || m.core == nil {
		return nil
	}
	return m.core.types(m.core.graph.Outputs)
}

func (c *model) types(ids []graph.ID) []Type {
	types := make([]Type, len(ids))
	for i, id := range ids {
		v := &c.graph.Values[id]
		types[i] = Type{DType: v.DType, Shape: slices.Clone(v.Shape), Quant: v.Quant}
	}
	return types
}

// ArenaBytes is the size of the activation arena that a session of this model takes on this machine, with these options and
// input shapes: what entry 0 of a file's mem_buffer_sizes must be at least. Without shapes, those in the file count.
func (m *Model) ArenaBytes(shapes []Shape, opts ...SessionOption) (int, error) {
	if m == nil || m.core == nil {
		return 0, errClosed("model")
	}
	c := m.core
	cfg, err := c.sessionConfig(opts)
	if err != nil {
		return 0, err
	}
	if shapes == nil {
		shapes = c.inputShapes()
	}
	c.making.RLock()
	defer c.making.RUnlock()
	if c.closed {
		return 0, errClosed("model")
	}
	return measureArena(c, cfg, shapes)
}

// infer gives the shape of every value for these inputs.
func (c *model) infer(inputs []Shape) ([]Shape, error) {
	shapes, err := c.graph.Infer(inputs)
	var e *Error
	if errors.As(err, &e) {
		e.Stage = schema.StageReshape // the graph is right, what it is asked to take is not
	}
	return shapes, c.graph.Named(err)
}

// inputShapes are the shapes the model was made with.
func (c *model) inputShapes() []Shape {
	shapes := make([]Shape, len(c.graph.Inputs))
	for i, id := range c.graph.Inputs {
		shapes[i] = c.graph.Values[id].Shape
	}
	return shapes
}

func errClosed(what string) error {
	return schema.Errorf(schema.StageSetup, ErrClosed, "the %s is closed", what)
}
