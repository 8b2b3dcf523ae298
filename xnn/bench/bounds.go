package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/xnngo/xnngo/xnn"
)

// bound is something this program promises to show, over all cases that have to do with it.
type bound struct {
	claim   string
	limit   float64
	atLeast bool // else at most
	format  func(float64) string
	of      func(result) []float64          // in each round; none where the case has nothing to do with it
	files   func(constantsResult) []float64 // instead of of, in each process
}

// verdict is what a run says of a bound: what was measured in the case where it was worst, the median and the interval that
// holds it in 95 of 100 cases. The median decides.
type verdict struct {
	Claim    string   `json:"claim"`
	Limit    string   `json:"limit"`
	Result   string   `json:"result"` // pass, MISS, or not run
	Measured string   `json:"measured,omitempty"`
	Interval string   `json:"interval,omitempty"`
	Case     string   `json:"case,omitempty"`
	Cases    int      `json:"cases"` // that have to do with it
	Missed   []string `json:"missed,omitempty"`
}

const (
	pass   = "pass"
	miss   = "MISS"
	notRun = "not run"
)

// judge gives the verdict on every bound.
func (r *report) judge() []verdict {
	var all []verdict
	for _, b := range r.bounds {
		all = append(all, r.judgeOne(b))
	}
	return all
}

func (r *report) judgeOne(b bound) verdict {
	v := verdict{Claim: b.claim, Limit: "at most " + b.format(b.limit), Result: notRun}
	if b.atLeast {
		v.Limit = "at least " + b.format(b.limit)
	}
	worst := math.NaN()
	consider := func(name string, values []float64) {
		if len(values) == 0 {
			return
		}
		v.Cases++
		x := median(values)
		if x != b.limit && b.atLeast == (x < b.limit) {
			v.Missed = append(v.Missed, name)
		}
		if math.IsNaN(worst) || b.atLeast == (x < worst) {
			low, high := interval(values)
			worst, v.Case, v.Measured, v.Interval = x, name, b.format(x), b.format(low)+" to "+b.format(high)
		}
	}
	for _, x := range r.results {
		if b.of != nil {
			consider(x.name, b.of(x))
		}
	}
	for _, c := range r.constants {
		if b.files != nil {
			consider(c.name, b.files(c))
		}
	}
	switch {
	case len(v.Missed) > 0:
		v.Result = miss
	case v.Cases > 0:
		v.Result = pass
	}
	return v
}

var (
	c1, peer1, cgo1    = key{colC, 1}, key{colPeer, 1}, key{colCgo, 1}
	session1, session2 = key{colSession, 1}, key{colSession, 2}
	runInto1, runInto2 = key{colRunInto, 1}, key{colRunInto, 2}
)

// opsBounds are those for single layers: no slower than C on the same archive, and not much slower than ONNX Runtime anywhere.
func opsBounds() []bound {
	var all []bound
	add := func(limit float64, claim string, a func(*measured, int) key) {
		for _, threads := range []int{1, 2} {
			all = append(all, bound{claim: fmt.Sprintf(claim, threads), limit: limit, format: times, of: func(x result) []float64 {
				return x.m.ratios(key{colSession, threads}, a(x.m, threads))
			}})
		}
	}
	add(1.03, "layers, threads %d: Session.Run to the best C", (*measured).baseline)
	add(1.2, "layers, threads %d: Session.Run to ONNX Runtime", func(_ *measured, threads int) key { return key{colPeer, threads} })
	return append(all, bound{claim: "Session.Run: allocations a run", format: plainly, of: func(x result) []float64 {
		return x.m.mostAllocations()
	}})
}

// modelsBounds are those for real networks: what the face detector gains over ONNX Runtime on its twin without losing to C on the
// same archive, and what integers for weights gain.
func modelsBounds() []bound {
	ofDetector := func(f func(*measured) []float64) func(result) []float64 {
		return func(x result) []float64 {
			if n, ok := x.subject.(*network); !ok || n.file != detector {
				return nil
			}
			return f(x.m)
		}
	}
	var all []bound
	for _, threads := range []int{1, 2} {
		session := key{colSession, threads}
		all = append(all,
			bound{claim: fmt.Sprintf("face detector, threads %d: ONNX Runtime to Session.Run", threads), limit: 1.3, atLeast: true,
				format: times, of: ofDetector(slower(key{colPeer, threads}, session))},
			bound{claim: fmt.Sprintf("face detector, threads %d: Session.Run without an empty cgo call to C with as many", threads),
				limit: 1.03, format: times, of: ofDetector(func(m *measured) []float64 {
					return m.each(func(ns ...float64) float64 { return (ns[0] - ns[2]) / ns[1] }, session, key{colC, threads}, cgo1)
				})})
	}
	return append(all,
		bound{claim: "face detector, load: ONNX Runtime to Open and NewSession", limit: 1, atLeast: true, format: times,
			of: func(x result) []float64 {
				if x.name != "load/"+detector {
					return nil
				}
				return x.m.ratios(peer1, key{colLoad, 1})
			}},
		bound{claim: "encoder: fp32 weights to int8 weights", limit: 3, atLeast: true, format: times, of: func(x result) []float64 {
			return x.m.ratios(key{colFP32, 1}, key{colInt8, 1})
		}},
		bound{claim: "Session.Run and Model.RunInto: allocations a run", format: plainly, of: func(x result) []float64 {
			return x.m.mostAllocations()
		}})
}

// bounds are those of the project's plan for speed, of chains of Adds.
func bounds() []bound {
	return []bound{
		{claim: "Add of 16: Session.Run over C and an empty cgo call", limit: 60, format: duration, of: graphs(
			func(s spec) bool { return s.plain(1) && s.floats() == 16 },
			func(m *measured) []float64 {
				return m.each(func(ns ...float64) float64 { return ns[0] - ns[1] - ns[2] }, session1, c1, cgo1)
			})},
		{claim: "Add of 16: ONNX Runtime to Session.Run", limit: 10, atLeast: true, format: times, of: graphs(
			func(s spec) bool { return s.plain(1) && s.floats() == 16 }, slower(peer1, session1))},
		{claim: "65,536 floats and more, 1 thread: Session.Run to C", limit: 1.03, format: times, of: graphs(
			func(s spec) bool { return s.plain(s.adds) && s.floats() >= 65536 }, slower(session1, c1))},
		{claim: "chain of 4 over 16M: C to Session.Run", limit: 1.8, atLeast: true, format: times, of: graphs(
			func(s spec) bool { return s.plain(4) && s.floats() == 16<<20 }, slower(c1, session1))},
		{claim: "chain of 4 over 16M: ONNX Runtime to Session.Run", limit: 2.3, atLeast: true, format: times, of: graphs(
			func(s spec) bool { return s.plain(4) && s.floats() == 16<<20 }, slower(peer1, session1))},
		{claim: "chain of 8 over 16M: C to Session.Run", limit: 2.2, atLeast: true, format: times, of: graphs(
			func(s spec) bool { return s.plain(8) && s.floats() == 16<<20 }, slower(c1, session1))},
		{claim: "all graphs, 1 thread: Session.Run over 1.05 C and an empty cgo call", limit: 60, format: duration,
			of: graphs(every, func(m *measured) []float64 { return m.excess(session1) })},
		{claim: "all graphs, 2 threads: Session.Run over 1.05 of the better C and an empty cgo call", limit: 60, format: duration,
			of: graphs(every, func(m *measured) []float64 { return m.excess(session2) })},
		{claim: "chains over 1M and more: 1 thread to 2 threads", limit: 1.8, atLeast: true, format: times, of: graphs(
			func(s spec) bool { return s.form == same && s.adds > 1 && s.floats() >= 1<<20 }, slower(session1, session2))},
		{claim: "Model.Run, chains: throughput of 2 goroutines to 1", limit: 1.8, atLeast: true, format: times, of: calls(colRun)},
		{claim: "Model.RunInto, chains: throughput of 2 goroutines to 1", limit: 1.8, atLeast: true, format: times,
			of: calls(colRunInto)},
		{claim: "load and session of a small graph", limit: 150e3, format: duration, of: func(x result) []float64 {
			return x.m.times(key{colLoad, 1})
		}},
		{claim: "file of 100 MB: resident after load to file", limit: 1.1, format: times, files: func(c constantsResult) []float64 {
			return c.each(func(l loading) float64 { return float64(l.RSS) / float64(l.File) })
		}},
		{claim: "file of 100 MB: first run to second", limit: 2, format: times, files: func(c constantsResult) []float64 {
			return c.each(func(l loading) float64 { return l.First / l.Second })
		}},
		{claim: "Session.Run and Model.RunInto: allocations a run", limit: 0, format: plainly,
			of: graphs(every, (*measured).mostAllocations)},
	}
}

// plain is a chain of so many Adds in float32 without broadcasting.
func (s spec) plain(adds int) bool {
	return s.form == same && s.dtype == xnn.Float32 && s.adds == adds
}

func every(spec) bool { return true }

// graphs measures graphs of the table that are chosen.
func graphs(chosen func(spec) bool, f func(*measured) []float64) func(result) []float64 {
	return func(x result) []float64 {
		if s, ok := x.subject.(spec); !ok || !chosen(s) {
			return nil
		}
		return f(x.m)
	}
}

// slower is how often b runs while a does once.
func slower(a, b key) func(*measured) []float64 {
	return func(m *measured) []float64 { return m.ratios(a, b) }
}

// calls measures the chains among the cases of several goroutines; shorter runs are mostly the taking of a session.
func calls(name string) func(result) []float64 {
	return func(x result) []float64 {
		if !strings.HasPrefix(x.name, "goroutines/") || strings.Contains(x.name, "chain=1") {
			return nil
		}
		return x.m.ratios(key{name, 1}, key{name, callers})
	}
}

// excess is what a column takes beyond 1.05 times the better of C and an empty cgo call.
func (m *measured) excess(k key) []float64 {
	return m.each(func(ns ...float64) float64 { return ns[0] - 1.05*ns[1] - ns[2] }, k, m.baseline(k.threads), cgo1)
}

// mostAllocations is the largest number of allocations that a run of the columns which promise none made.
func (m *measured) mostAllocations() []float64 {
	var counts []float64
	for _, k := range []key{session1, session2, runInto1, runInto2} {
		if i := m.index(k); i >= 0 {
			counts = append(counts, float64(m.allocs[i]))
		}
	}
	if len(counts) == 0 {
		return nil
	}
	return []float64{slices.Max(counts)}
}

func plainly(x float64) string { return fmt.Sprint(x) }

func times(x float64) string { return fmt.Sprintf("%.2fx", x) }
