package main

import (
	"time"

	"github.com/xnngo/xnngo/xnn"
)

const (
	loadCase = "load/small"
	colLoad  = "Load" // xnn.Load and NewSession
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
	run := func(runs int) (time.Duration, error) { return load(file, runs) }
	cs := columns{
		{key: key{colLoad, 1}, run: run, close: func() { e.model.Close() }},
		newCLoad(smallGraph, e.session),
	}
	if p != nil {
		c, err := p.load(e)
		if err != nil {
			cs.close()
			return nil, err
		}
		cs = append(cs, c)
	}
	return cs, nil
}

// load counts the time until a session is there, and not what it takes to close.
func load(file []byte, runs int) (time.Duration, error) {
	var sum time.Duration
	for range runs {
		start := time.Now()
		m, err := xnn.Load(file)
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
