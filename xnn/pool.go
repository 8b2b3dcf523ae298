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
	made   int
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
		p.mu.Lock()
		if n := len(p.idle); n > 0 {
			s := p.idle[n-1]
			p.idle = p.idle[:n-1]
			p.mu.Unlock()
			return s, nil
		}
		p.made++
		p.mu.Unlock()
		cfg := c.cfg.session
		if cfg.threads == 0 {
			cfg.threads = 1
		}
		s, err := c.newSession(cfg)
		if err == nil {
			return s, nil
		}
		p.mu.Lock()
		p.made--
		others := p.made > 0
		p.mu.Unlock()
		if !others || !errors.Is(err, ErrMemoryLimit) {
			p.slots <- struct{}{}
			return nil, err
		}
		// Memory is for fewer sessions than the pool may have: keep the slot and wait for one of those there are.
	}
}

func (c *model) release(s *session) {
	p := &c.pool
	p.mu.Lock()
	p.idle = append(p.idle, s)
	p.mu.Unlock()
	p.slots <- struct{}{}
}
