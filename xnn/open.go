package xnn

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/tflite"
)

// Open loads the model at path: an XNNGraph file or one of TensorFlow Lite, told apart by their bytes. The file is mapped into memory and its constants are used in place where they lie
// well enough, so it must not change or shrink while the model is open; see WithCopy. A file that is no regular file is
// read. Errors are *Error, but for those of the file system.
func Open(path string, opts ...Option) (*Model, error) {
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Size() > 0 && !cfg.copyFile {
		switch mapped, err := mapFile(f, info.Size()); {
		case err == nil:
			cfg.knownBy(f, info.Size())
			return load(mapped.bytes, mapped, cfg)
		case !errors.Is(err, errors.ErrUnsupported):
			return nil, &os.PathError{Op: "mmap", Path: path, Err: err}
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, cfg.memoryLimit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > cfg.memoryLimit {
		return nil, schema.Errorf(schema.StageVerify, ErrMemoryLimit, "the file is larger than the memory limit of %d bytes",
			cfg.memoryLimit)
	}
	cfg.knownBy(bytes.NewReader(data), int64(len(data)))
	return load(data, nil, cfg)
}

// Load loads a model from memory, of any format that Open takes. Constants are copied: data may change afterwards. Errors are *Error.
func Load(data []byte, opts ...Option) (*Model, error) {
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	cfg.knownBy(bytes.NewReader(data), int64(len(data)))
	return load(data, nil, cfg)
}

// Compile makes a model of a graph. The graph is checked and copied: it may change afterwards. Errors are *Error.
func Compile(g *graph.Graph, opts ...Option) (*Model, error) {
	cfg, err := configure(opts)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, schema.Errorf(schema.StageCheck, ErrArgument, "no graph to compile")
	}
	g = g.Clone()
	if err := g.Check(); err != nil {
		return nil, err
	}
	if cfg.weightsFolder != "" {
		if data, err := g.Marshal(); err == nil { // else no file can hold it
			cfg.knownBy(bytes.NewReader(data), int64(len(data)))
		}
	}
	return newModel(g, nil, cfg)
}

func configure(opts []Option) (config, error) {
	cfg := defaults()
	for _, o := range opts {
		if o != nil {
			o.model(&cfg)
		}
	}
	switch {
	case cfg.memoryLimit < 0:
		return cfg, schema.Errorf(schema.StageSetup, ErrArgument, "WithMemoryLimit(%d)", cfg.memoryLimit)
	case cfg.maxSessions < 1:
		return cfg, schema.Errorf(schema.StageSetup, ErrArgument, "WithMaxSessions(%d), at least 1 is needed", cfg.maxSessions)
	case cfg.precision != Float32 && cfg.precision != Float16:
		return cfg, schema.Errorf(schema.StageSetup, ErrArgument, "WithPrecision(%v), fp32 or fp16 is needed", cfg.precision)
	}
	return cfg, cfg.session.check()
}

func (c sessionConfig) check() error {
	if c.threads < 0 || c.threads > maxThreads {
		return schema.Errorf(schema.StageSetup, ErrArgument, "WithThreads(%d), 0 to %d are possible", c.threads, maxThreads)
	}
	if c.arena != nil && c.arena.core == nil {
		return errClosed("arena")
	}
	return nil
}

// load reads a file that lies in data; mapped, where not nil, is where data comes from and belongs to the model from now on.
func load(data []byte, mapped *mapping, cfg config) (*Model, error) {
	g, err := read(data, cfg.memoryLimit)
	if err != nil {
		mapped.close()
		return nil, err
	}
	return newModel(g, mapped, cfg)
}

// Read gives the graph in a file of any format that Open takes, checked. It shares the bytes of data. See the packages of the
// formats, graph and tflite, for what they hold.
func Read(data []byte) (*graph.Graph, error) { return read(data, 0) }

// read is Read with a limit to the bytes of constants that are computed; 0 is that of the formats.
func read(data []byte, limit int64) (*graph.Graph, error) {
	if tflite.Is(data) {
		return tflite.Options{MemoryLimit: limit}.Unmarshal(data)
	}
	return graph.Unmarshal(data)
}
