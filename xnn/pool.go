package xnn

import (
	"context"
	"errors"
	"sync"
)

// sessionPool holds the sessions behind Model.Run. A caller takes a slot, then an idle session or a new one.
type sessionPool struct {
	slots  chan struct{} // one token a session that may be in use
	closed chan struct{}
	mu     sync.Mutex
	idle   []*session // most recently used last: its memory is still in the cache
	made   int        // sessions that exist or are being made
	parked int        // slots whose session could not be made; see park
}

func (p *sessionPool) init(size int) {
	p.slots = make(chan struct{}, size)
	for range size {
		p.slots <- struct{}{}
	}
	p.closed = make(chan struct{})
}

func (p *sessionPool) close() { close(p.closed) }

// acquire gives a session for one run, waiting for one while all are in use. release ends the run.
func (c *model) acquire(ctx context.Context) (*session, error) {
	p := &c.pool
	var done <-chan struct{}
	if ctx != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		done = ctx.Done()
	}
	for {
		select {
		case <-p.closed:
			return nil, errClosed("model")
		default:
		}
		select {
		case <-p.slots:
		case <-done:
			return nil, ctx.Err()
		case <-p.closed:
			return nil, errClosed("model")
		}
		if s := p.pop(); s != nil {
			return s, nil
		}
		cfg := c.cfg.session
		if cfg.threads == 0 {
			cfg.threads = 1
		}
		s, err := c.newSession(cfg)
		if err == nil {
			return s, nil
		}
		if !p.park(errors.Is(err, ErrMemoryLimit)) {
			return nil, err
		}
	}
}

// pop gives an idle session, or nil and counts the one that the caller will make.
func (p *sessionPool) pop() *session {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		p.made++
		return nil
	}
	s := p.idle[n-1]
	p.idle = p.idle[:n-1]
	return s
}

// park is called with a slot whose session could not be made. Where it was for memory, and other sessions of the pool hold
// that memory, it says to wait for one of them: the slot comes back when the next is released. Else the slot is free again.
func (p *sessionPool) park(memory bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.made--
	p.parked++
	if memory && p.made > 0 {
		return true
	}
	p.unpark()
	return false
}

// unpark gives all parked slots back. The caller holds mu.
func (p *sessionPool) unpark() {
	for ; p.parked > 0; p.parked-- {
		p.slots <- struct{}{}
	}
}

func (c *model) release(s *session) {
	p := &c.pool
	p.mu.Lock()
	p.idle = append(p.idle, s)
	p.unpark()
	p.mu.Unlock()
	p.slots <- struct{}{}
}
