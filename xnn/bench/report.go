package main

import (
	"encoding/json"
	"math"
	"os"
	"time"
)

// result is what was measured of a case.
type result struct {
	name    string
	subject subject // a graph of the table, else nil
	m       *measured
}

// constantsResult is what some processes saw of the same file.
type constantsResult struct {
	name string
	all  []loading
}

// each is something in every process, and of its median.
func (c constantsResult) each(f func(loading) float64) []float64 {
	values := make([]float64, len(c.all))
	for i, l := range c.all {
		values[i] = f(l)
	}
	return values
}

func (c constantsResult) of(f func(loading) float64) float64 { return median(c.each(f)) }

// report is all of a run.
type report struct {
	machine   machine
	started   time.Time
	seconds   float64
	results   []result
	constants []constantsResult
	skipped   []string // cases this machine cannot run, and why
	bounds    []bound
}

// The report as JSON. Times are medians in nanoseconds a run; ratios are medians of those of each round.
type (
	reportJSON struct {
		Machine   machine         `json:"machine"`
		Started   time.Time       `json:"started"`
		Seconds   float64         `json:"seconds"`
		Cases     []caseJSON      `json:"cases"`
		Constants []constantsJSON `json:"constants,omitempty"`
		Skipped   []string        `json:"skipped,omitempty"`
		Bounds    []verdict       `json:"bounds"`
	}
	caseJSON struct {
		Name    string       `json:"name"`
		Floats  int          `json:"floats,omitempty"`
		Adds    int          `json:"adds,omitempty"`
		Work    int          `json:"multiplications,omitempty"`
		Rounds  int          `json:"rounds"`
		Left    int          `json:"rounds_left_out,omitempty"` // in which other processes were at work
		Columns []columnJSON `json:"columns"`
	}
	columnJSON struct {
		Name    string     `json:"name"`
		Threads int        `json:"threads"`
		NS      float64    `json:"ns"`
		Runs    int        `json:"runs_in_a_round"`
		Allocs  int64      `json:"go_allocations_a_run"`
		Ratio   *ratioJSON `json:"ratio,omitempty"`
	}
	ratioJSON struct {
		To      string  `json:"to"`
		Threads int     `json:"threads"`
		Median  float64 `json:"median"`
		Low     float64 `json:"low"` // of the interval that holds the median in 95 of 100 cases
		High    float64 `json:"high"`
	}
	constantsJSON struct {
		Name      string    `json:"name"`
		Processes []loading `json:"processes"`
	}
)

func (r *report) json() reportJSON {
	out := reportJSON{
		Machine: r.machine, Started: r.started, Seconds: math.Round(r.seconds*10) / 10, Cases: []caseJSON{}, Skipped: r.skipped,
		Bounds: r.judge(),
	}
	for _, x := range r.results {
		c := caseJSON{Name: x.name, Rounds: len(x.m.rounds), Left: x.m.disturbed}
		switch s := x.subject.(type) {
		case spec:
			c.Floats, c.Adds = s.floats(), s.adds
		case layer:
			c.Work = s.multiplications()
		}
		for i, k := range x.m.keys {
			column := columnJSON{Name: k.name, Threads: k.threads, NS: x.m.time(k), Runs: x.m.runs[i], Allocs: x.m.allocs[i]}
			to := x.m.baseline(k.threads)
			if x.m.index(to) < 0 {
				to = x.m.keys[0]
			}
			if to != k {
				ratios := x.m.ratios(k, to)
				low, high := interval(ratios)
				column.Ratio = &ratioJSON{to.name, to.threads, median(ratios), low, high}
			}
			c.Columns = append(c.Columns, column)
		}
		out.Cases = append(out.Cases, c)
	}
	for _, c := range r.constants {
		out.Constants = append(out.Constants, constantsJSON{c.name, c.all})
	}
	return out
}

func (r *report) writeJSON(path string) error {
	b, err := json.MarshalIndent(r.json(), "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(b, '\n'), 0o666)
}
