package xnn

import (
	"crypto/sha256"
	"runtime"
)

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
	precision   DType
	session     sessionConfig

	weightsFolder string                            // "": packed weights are not kept
	source        func() ([sha256.Size]byte, error) // what the model is known by where they are, else nil
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
		precision:   Float32,
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
// and 4 KiB for each node past the first thousand. It is checked before anything is reserved; what does not fit is
// ErrMemoryLimit. The default is three quarters of the memory this process may use, cgroup limits counted.
func WithMemoryLimit(bytes int64) Option {
	return modelOption(func(c *config) { c.memoryLimit = bytes })
}

// WithPrecision makes a model compute in another precision than its graph has: graph.Float16, so that its packed weights take
// half the memory; see graph.HalfPrecision for what changes and what stays. It is slower than single precision where the
// processor has no arithmetic for it, and converts. Inputs and outputs keep their types. graph.Float32, the default, takes the
// graph as it is. Errors name the nodes and values of the graph that HalfPrecision gives.
func WithPrecision(t DType) Option { return modelOption(func(c *config) { c.precision = t }) }

// WithMaxSessions bounds the pool of sessions behind Model.Run, at least 1. The default is runtime.GOMAXPROCS(0).
func WithMaxSessions(n int) Option { return modelOption(func(c *config) { c.maxSessions = n }) }

// WithWeightsCache keeps packed weights in files of a folder, which is made where it is not there, so that the next load of the
// same model, in any process, neither computes nor packs them: it maps the file, whose pages all processes share. A file belongs
// to one model, by its bytes, to one build of XNNPACK, and to processors of one kind. What is torn or damaged is made anew, by
// whoever finds it, and takes the place of the old in one step; two processes may do so at once.
//
// Only files that this user or root owns, and nobody else may write, are taken. Their sizes and checksums are checked, but not
// where the numbers come from: whoever may write them may change what a model computes. A file may be removed at any time, but
// must not be changed while a model that maps it is open. Nobody removes files that are no longer needed.
//
// Where the folder cannot be written, or is full, the model loads as it would without this option; Model.WeightsCache tells. The
// weights count against the memory limit, but not in MemStats. For Compile, the graph is known by the file it would make.
func WithWeightsCache(folder string) Option {
	return modelOption(func(c *config) { c.weightsFolder = folder })
}

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
