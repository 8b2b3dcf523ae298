package xnn

import (
	"runtime"
	"sync"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
)

// Arena is memory for the intermediate values of sessions that share it, of one model or of several; see WithArena. It is as
// large as the largest of them needs. They take turns: a Run waits while another session of the arena runs. It counts
// against the memory limit of the model whose session makes it grow. Nil is a closed arena.
type Arena struct {
	core    *arena
	cleanup runtime.Cleanup
}

// arena is what an Arena holds, and what a session has for itself otherwise.
type arena struct {
	mu      sync.Mutex // held by whatever uses the memory, where sessions share it
	memory  *xnnpack.Arena
	moves   int // how often the memory was made anew, which voids the plans made before
	charged map[*budget]int64
	closed  bool
}

// NewArena makes an empty arena. The caller closes it, after the sessions that share it.
func NewArena() (*Arena, error) {
	core, err := newArena()
	if err != nil {
		return nil, err
	}
	a := &Arena{core: core}
	a.cleanup = runtime.AddCleanup(a, (*arena).close, core)
	return a, nil
}

func newArena() (*arena, error) {
	memory, err := xnnpack.NewArena()
	if err != nil {
		return nil, outOfMemory(schema.StageReshape, "an arena's descriptor")
	}
	return &arena{memory: memory, charged: map[*budget]int64{}}, nil
}

// Bytes is the arena's size, 0 after Close.
func (a *Arena) Bytes() int {
	if a == nil || a.core == nil {
		return 0
	}
	a.core.mu.Lock()
	defer a.core.mu.Unlock()
	if a.core.closed {
		return 0
	}
	return a.core.memory.Size()
}

// Close frees the memory, waiting for a Run under way. Sessions that share the arena answer ErrClosed from then on. It may be
// called twice, and on nil.
func (a *Arena) Close() error {
	if a != nil && a.core != nil {
		a.cleanup.Stop()
		a.core.close()
	}
	return nil
}

func (a *arena) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return
	}
	a.closed = true
	a.memory.Free()
	for b, bytes := range a.charged {
		b.give(bytes)
	}
}

// resize makes the memory this large, out of a budget. Its contents are lost, and so is every plan made in it.
func (a *arena) resize(size int, b *budget) error {
	before := a.memory.Size()
	more := int64(size - before)
	if err := b.take(schema.StageReshape, "the arena", more); err != nil {
		return err
	}
	a.charged[b] += more
	a.moves++
	if a.memory.Resize(size) == nil {
		return nil
	}
	// Back to what was given up, for sessions to go on with.
	if a.memory.Resize(before) != nil {
		more = int64(size)
	}
	a.charged[b] -= more
	b.give(more)
	return outOfMemory(schema.StageReshape, "an arena of %d bytes", size)
}
