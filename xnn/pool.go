package xnn

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// sessionPool holds the sessions behind Model.Run. It takes no lock: callers on many processors meet only where they want the
// same session, and each first looks for the one it had last, whose memory is in its cache.
type sessionPool struct {
	homes   []home // one for each session there may be
	hints   sync.Pool
	next    atomic.Int64 // the home that a new hint begins with
	waiting atomic.Int64
	freed   chan struct{} // wakes those that wait; may wake one too many
	closed  chan struct{}
}

// home is the place of one session.
type home struct {
	taken atomic.Bool             // a session exists for it, or is being made
	idle  atomic.Pointer[session] // the session, while nobody uses it
	_     [112]byte               // homes share no cache lines, nor pairs of them, which some processors fetch at once
}

// hint tells a processor the home of the session it had last.
type hint struct{ home int }

func (p *sessionPool) init(size int) {
	p.homes = make([]home, size)
	p.hints.New = func() any { return &hint{int(p.next.Add(1)-1) % size} }
	p.freed = make(chan struct{}, size)
	p.closed = make(chan struct{})
}

func (p *sessionPool) close() { close(p.closed) }

// acquire gives a session for one run: an idle one, or a new one, or, where no more may be made, the next that is free. release
// ends the run.
func (c *model) acquire(ctx context.Context) (*session, error) {
	p := &c.pool
	var done <-chan struct{}
	if ctx != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		done = ctx.Done()
	}
	if s := p.take(); s != nil {
		return s, nil
	}
	p.waiting.Add(1)
	defer p.waiting.Add(-1)
	for {
		s, err := c.grow()
		if s != nil || err != nil {
			return s, err
		}
		// Whoever releases a session puts it back before looking for those that wait, so none is missed here.
		if s := p.take(); s != nil {
			return s, nil
		}
		select {
		case <-p.freed:
		case <-done:
			return nil, ctx.Err()
		case <-p.closed:
			return nil, errClosed("model")
		}
	}
}

// grow makes another session. It gives none where the pool is full, or has some already and memory for no more.
func (c *model) grow() (*session, error) {
	p := &c.pool
	at, others := -1, false
	for i := range p.homes {
		if p.homes[i].taken.CompareAndSwap(false, true) {
			at = i
			break
		}
		others = true
	}
	if at < 0 {
		return nil, nil
	}
	cfg := c.cfg.session
	if cfg.threads == 0 {
		cfg.threads = 1
	}
	s, err := c.newSession(cfg)
	if err == nil {
		s.home = at
		return s, nil
	}
	p.homes[at].taken.Store(false)
	if others && errors.Is(err, ErrMemoryLimit) {
		return nil, nil
	}
	return nil, err
}

// take gives an idle session, the caller's last if it can; nil if there is none.
func (p *sessionPool) take() *session {
	h := p.hints.Get().(*hint)
	defer p.hints.Put(h)
	for i := range p.homes {
		at := h.home + i
		if at >= len(p.homes) {
			at -= len(p.homes)
		}
		if p.homes[at].idle.Load() == nil {
			continue
		}
		if s := p.homes[at].idle.Swap(nil); s != nil {
			h.home = at
			return s
		}
	}
	return nil
}

// release makes a session idle, and wakes one of those that wait for it.
func (c *model) release(s *session) {
	p := &c.pool
	p.homes[s.home].idle.Store(s)
	if p.waiting.Load() > 0 {
		select {
		case p.freed <- struct{}{}:
		default: // enough are awake
		}
	}
}
