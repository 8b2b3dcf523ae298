package xnn

import "runtime"

// Option sets how a model is loaded. Options that concern sessions are the defaults of the model's sessions.
type Option interface {
	model(*config)
}

// SessionOption sets how a session works. It may also be given when a model is loaded.
type SessionOption interface {
	Option
	session(*sessionConfig)
}

type config struct {
	copyFile    bool
	memoryLimit int64
	maxSessions int
	session     sessionConfig
}

type sessionConfig struct {
	threads    int
	fixedArena bool
	profile    bool
	arena      *Arena

	// What the planner goes by; tests set others.
	l1Bytes, l2Bytes int // the caches that tiles are cut for
	parallelBytes    int // the traffic from which on sharing work among threads pays
}

func defaults() config {
	return config{
		memoryLimit: defaultMemoryLimit(),
		maxSessions: runtime.GOMAXPROCS(0),
		session:     sessionConfig{l1Bytes: cacheBytes(1), l2Bytes: cacheBytes(2), parallelBytes: parallelBytes},
	}
}

type modelOption func(*config)

func (o modelOption) model(c *config) { o(c) }

type sessionOption func(*sessionConfig)

func (o sessionOption) model(c *config)          { o(&c.session) }
func (o sessionOption) session(c *sessionConfig) { o(c) }

// WithCopy makes Open read the file instead of mapping it. A mapped file must not change or shrink while the model is open;
// the operating system answers that with SIGBUS.
func WithCopy() Option { return modelOption(func(c *config) { c.copyFile = true }) }

// WithMemoryLimit bounds, in bytes, what a model and its sessions hold together: constants that are copied, tensors, arenas,
// and 4 KiB for each node past the first thousand. It is checked before anything is reserved; what does not fit is ErrMemoryLimit. The default is three quarters of
// the memory this process may use, cgroup limits counted.
func WithMemoryLimit(bytes int64) Option {
	return modelOption(func(c *config) { c.memoryLimit = bytes })
}

// WithMaxSessions bounds the pool of sessions behind Model.Run, at least 1. The default is runtime.GOMAXPROCS(0).
func WithMaxSessions(n int) Option { return modelOption(func(c *config) { c.maxSessions = n }) }

// WithThreads sets the number of threads a session may use. 0, the default, means DefaultThreads for a session of
// NewSession and one for those behind Model.Run, where the callers are the parallelism. Work too small to gain from threads
// runs on the calling thread whatever is set; Session.Threads tells.
func WithThreads(n int) SessionOption { return sessionOption(func(c *sessionConfig) { c.threads = n }) }

// WithFixedArena keeps a session's arena at the size it was made with: a Reshape that needs more is ErrArenaTooSmall.
func WithFixedArena() SessionOption {
	return sessionOption(func(c *sessionConfig) { c.fixedArena = true })
}

// WithArena makes sessions keep their intermediate values in an arena that they share with others. What a session needs for its
// plan may change with the sessions of the arena, so that a Run may plan anew, and allocate, after another has made it grow.
func WithArena(a *Arena) SessionOption {
	return sessionOption(func(c *sessionConfig) { c.arena = a })
}

// WithProfile makes a session keep the time of each node, for Session.Profile. It costs two clock readings a node.
func WithProfile() SessionOption { return sessionOption(func(c *sessionConfig) { c.profile = true }) }
