package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// constantsChild is the argument with which the program starts itself for a measurement in a process of its own: resident
// memory is that of a process, and this one has measured other things before.
const constantsChild = "constants-child"

// loading is what one process saw of a file with large constants.
type loading struct {
	File        int64   `json:"file_bytes"`
	Open        float64 `json:"open_and_new_session_ns"`
	First       float64 `json:"first_run_ns"`
	Second      float64 `json:"second_run_ns"`
	RSS         int64   `json:"rss_after_load_bytes"`      // what loading added
	RSSAfterRun int64   `json:"rss_after_first_run_bytes"` // what loading and the first run added
}

// constantsCase is a file of 100 MB.
type constantsCase struct {
	name  string
	graph func() *graph.Graph
}

// constantsCases are constants of 256 KB each, as the layers of a network have them, and a single one, whose run also writes
// 100 MB for the first time.
func constantsCases() []constantsCase {
	const total, each = 100 << 20 / 4, 256 << 10 / 4
	return []constantsCase{
		{"load/100MB/constants=400", func() *graph.Graph {
			g := graph.New()
			sum := g.Input(xnn.Float32, each)
			for range total / each {
				sum = g.Add(sum, g.Constant(make([]float32, each), each))
			}
			g.Output(sum)
			return g
		}},
		{"load/100MB/constants=1", func() *graph.Graph {
			g := graph.New()
			g.Output(g.Add(g.Constant(make([]float32, total), total/1024, 1024), g.Input(xnn.Float32, 1024)))
			return g
		}},
	}
}

// measureConstants loads the file of a graph in so many processes.
func measureConstants(g *graph.Graph, processes int) ([]loading, error) {
	file, err := g.Marshal()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "xnn-bench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "constants.xnn")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		return nil, err
	}
	// What is still to be written back would be written while the first run reads.
	unix.Sync()
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := make([]loading, processes)
	for i := range all {
		cmd := exec.Command(self, constantsChild, path)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("a process that loads %s: %w", path, err)
		}
		if err := json.Unmarshal(out, &all[i]); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// loadConstants is what such a process does.
func loadConstants(path string) (*loading, error) {
	e, err := newEngine(smallGraph, 1) // XNNPACK is ready
	if err != nil {
		return nil, err
	}
	e.model.Close()
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	debug.FreeOSMemory()
	l := &loading{File: info.Size()}
	before := resident()
	start := time.Now()
	m, err := xnn.Open(path)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	s, err := m.NewSession(xnn.WithThreads(1))
	if err != nil {
		return nil, err
	}
	l.Open = float64(time.Since(start))
	l.RSS = resident() - before
	fill(s.Input(0), func(int) int { return 1 })
	for _, ns := range []*float64{&l.First, &l.Second} {
		start := time.Now()
		if err := s.Run(); err != nil {
			return nil, err
		}
		*ns = float64(time.Since(start))
		if ns == &l.First {
			l.RSSAfterRun = resident() - before
		}
	}
	return l, nil
}
