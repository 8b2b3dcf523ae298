package main

import (
	"time"

	"github.com/xnngo/xnngo/xnn"
)

const (
	loadCase = "load/small"
	colLoad  = "Load" // xnn.Load, or Open, and NewSession
)

// smallGraph is what load is measured with.
var smallGraph = spec{same, xnn.Float32, xnn.Shape{16}, xnn.Shape{16}, 1}

// loadColumns make something that can run of a small graph: a file in memory, or what defines it in C. XNNPACK and ONNX
// Runtime are initialised by then.
func loadColumns(p *peer) (columns, error) {
	file, err := smallGraph.graph().Marshal()
	if err != nil {
		return nil, err
	}
	e, err := newEngine(smallGraph, 1)
	if err != nil {
		return nil, err
	}
	return columns{loaded(e, func() (*xnn.Model, error) { return xnn.Load(file) }), newCLoad(smallGraph, e.session)}.withLoad(p, e)
}

// loadColumns make something that can run of a model's file: Open and NewSession, and ONNX Runtime of the twin.
func (n *network) loadColumns(p *peer) (columns, error) {
	path, err := n.path(".tflite")
	if err != nil {
		return nil, err
	}
	e, err := newEngine(n, 1)
	if err != nil {
		return nil, err
	}
	return columns{loaded(e, func() (*xnn.Model, error) { return xnn.Open(path) })}.withLoad(p, e)
}

func (n *network) loadName() string { return "load/" + n.file }

// loaded is a column that counts the time until a session is there, and not what it takes to close.
func loaded(e *engine, load func() (*xnn.Model, error)) *column {
	run := func(runs int) (time.Duration, error) {
		var sum time.Duration
		for range runs {
			start := time.Now()
			m, err := load()
			if err != nil {
				return 0, err
			}
			_, err = m.NewSession()
			sum += time.Since(start)
			m.Close()
			if err != nil {
				return 0, err
			}
		}
		return sum, nil
	}
	return &column{key: key{colLoad, 1}, run: run, close: func() { e.model.Close() }}
}

// withLoad adds the column of ONNX Runtime, where it can be.
func (cs columns) withLoad(p *peer, e *engine) (columns, error) {
	if p == nil || e.subject.onnx() == nil {
		return cs, nil
	}
	c, err := p.load(e)
	if err != nil {
		cs.close()
		return nil, err
	}
	return append(cs, c), nil
}
