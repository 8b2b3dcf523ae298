package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/sys/unix"

	"github.com/xnngo/xnngo/xnn"
)

// job is a case of the suite: what it is called and how it adds to the report.
type job struct {
	name string
	run  func(*report) error
}

// suite is the jobs of one run, with what they share.
type suite struct {
	jobs      []job
	peer      *peer
	pace      pace
	processes int // that load a large file
	progress  *progressbar.ProgressBar
}

// steadySlice is the least slice of a case of several goroutines: the kernel takes a millisecond or more until it runs them on
// different processors.
const steadySlice = 20 * time.Millisecond

func newSuite(o options, p *peer) *suite {
	s := &suite{peer: p, processes: 5}
	s.pace = pace{slice: 2 * time.Millisecond, minRounds: 31, maxRounds: 301, budget: 3 * time.Second, patience: 90 * time.Second}
	if o.quick {
		s.pace = pace{slice: time.Millisecond, minRounds: 3, maxRounds: 3}
		s.processes = 1
	}
	add := func(name string, run func(*report) error) {
		if o.filter.MatchString(name) {
			s.jobs = append(s.jobs, job{name, run})
		}
	}
	switch o.what {
	case whatOps:
		for _, x := range layers() {
			add(x.name(), func(r *report) error { return s.graph(r, x) })
		}
		return s
	case whatModels:
		for _, n := range networks() {
			add(n.name(), func(r *report) error { return s.network(r, n) })
		}
		for _, n := range networks() {
			add(n.loadName(), func(r *report) error { return s.loadNetwork(r, n) })
		}
		add(encoderCase, s.encoder)
		return s
	}
	for _, x := range specs() {
		add(x.name(), func(r *report) error { return s.graph(r, x) })
	}
	for _, c := range concurrents() {
		add(c.caseName(), func(r *report) error { return s.concurrent(r, c) })
	}
	add(loadCase, s.load)
	for _, c := range constantsCases() {
		add(c.name, func(r *report) error { return s.constants(r, c) })
	}
	return s
}

// run does all jobs.
func (s *suite) run(r *report) error {
	if len(s.jobs) == 0 {
		return errors.New("no case matches")
	}
	_, err := unix.IoctlGetTermios(int(os.Stderr.Fd()), unix.TCGETS)
	s.progress = progressbar.NewOptions(len(s.jobs), progressbar.OptionSetWriter(os.Stderr), progressbar.OptionShowCount(),
		progressbar.OptionSetVisibility(err == nil), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	defer s.progress.Finish()
	for _, j := range s.jobs {
		s.progress.Describe(j.name)
		if err := j.run(r); err != nil {
			return fmt.Errorf("%s: %w", j.name, err)
		}
		s.progress.Add(1)
		debug.FreeOSMemory() // of large tensors, before the next ones
	}
	return nil
}

// measure adds a case to the report and closes its columns.
func (s *suite) measure(r *report, name string, x subject, cs columns) error {
	pace := s.pace
	pace.patience = min(pace.patience, s.pace.patience/6+time.Second) // one busy stretch does not take it all
	if x == nil {
		pace.slice = max(pace.slice, steadySlice)
	}
	m, err := measure(cs, pace, (*measured).precise, func(round int) {
		s.progress.Describe(fmt.Sprintf("%s, round %d", name, round))
	})
	cs.close()
	if err != nil {
		return err
	}
	s.pace.patience -= m.lost // one for all cases
	r.results = append(r.results, result{name, x, m})
	return nil
}

// graph measures a graph of the table with one thread and with two, all in the same rounds.
func (s *suite) graph(r *report, x subject) error {
	cs := columns{newCgo()}
	for _, threads := range []int{1, 2} {
		e, err := newEngine(x, threads)
		if errors.Is(err, xnn.ErrUnsupported) {
			cs.close()
			r.skipped = append(r.skipped, fmt.Sprintf("%s: %v", x.name(), err))
			return nil
		}
		if err != nil {
			cs.close()
			return err
		}
		more, err := e.columns(s.peer)
		if err != nil {
			cs.close()
			return err
		}
		cs = append(cs, more...)
	}
	if err := cs.check(x.want(), x.agree); err != nil {
		cs.close()
		return err
	}
	runtime.GC() // of what was compared with, not while measuring
	return s.measure(r, x.name(), x, cs)
}

// network measures a model as graph does, and holds it only meanwhile.
func (s *suite) network(r *report, n *network) error {
	if err := n.open(); err != nil {
		return err
	}
	defer n.drop()
	return s.graph(r, n)
}

func (s *suite) loadNetwork(r *report, n *network) error {
	if err := n.open(); err != nil {
		return err
	}
	defer n.drop()
	cs, err := n.loadColumns(s.peer)
	if err != nil {
		return err
	}
	return s.measure(r, n.loadName(), nil, cs)
}

func (s *suite) encoder(r *report) error {
	cs, err := encoderColumns()
	if err != nil {
		return err
	}
	return s.measure(r, encoderCase, nil, cs)
}

func (s *suite) concurrent(r *report, c concurrent) error {
	cs, err := c.columns()
	if err != nil {
		return err
	}
	return s.measure(r, c.caseName(), nil, cs)
}

func (s *suite) load(r *report) error {
	cs, err := loadColumns(s.peer)
	if err != nil {
		return err
	}
	return s.measure(r, loadCase, nil, cs)
}

func (s *suite) constants(r *report, c constantsCase) error {
	all, err := measureConstants(c.graph(), s.processes)
	if err != nil {
		return err
	}
	r.constants = append(r.constants, constantsResult{c.name, all})
	return nil
}
