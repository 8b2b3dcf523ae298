package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// print writes the report for people.
func (r *report) print(w io.Writer) error {
	fmt.Fprintf(w, "%v\narchive %.12s", r.machine, r.machine.Archive)
	if r.machine.Peer != "" {
		fmt.Fprintf(w, ", ONNX Runtime %s", r.machine.Peer)
	}
	fmt.Fprint(w, "\n\n")
	r.printGraphs(w)
	r.printOthers(w)
	r.printConstants(w)
	for _, s := range r.skipped {
		fmt.Fprintf(w, "skipped: %s\n\n", s)
	}
	r.printBounds(w)
	disturbed := 0
	for _, x := range r.results {
		disturbed += x.m.disturbed
	}
	_, err := fmt.Fprintf(w, "\n%.0f s, %d rounds left out in which other processes were at work\n", r.seconds, disturbed)
	return err
}

func newTable(w io.Writer, header ...string) *tabwriter.Writer {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line(t, header...)
	return t
}

func line(w io.Writer, cells ...string) { fmt.Fprintln(w, strings.Join(cells, "\t")) }

// printGraphs has a line for each graph and number of threads. C in a line of several threads is with a pool of so many.
func (r *report) printGraphs(w io.Writer) {
	if !slices.ContainsFunc(r.results, func(x result) bool { return x.subject != nil }) {
		return
	}
	fmt.Fprintln(w, "Time a run; ratios are medians of those of each round, with the half width of their 95 % interval.")
	fmt.Fprintln(w, "C is a loop in C on the same archive, node by node, best the better of it with and without threads.")
	fmt.Fprintln(w, "The outputs of all columns were compared first and are "+sameness(r.results)+".")
	fmt.Fprintln(w)
	timed := slices.DeleteFunc([]string{colC, colSession, colRunInto, colRun, colPeer}, func(column string) bool {
		return !slices.ContainsFunc(r.results, func(x result) bool { return x.subject != nil && x.m.index(key{column, 1}) >= 0 })
	})
	header := append([]string{"graph", "threads"}, timed...)
	t := newTable(w, append(header, "Session/best C", "ONNX/Session", "allocs", "rounds")...)
	for _, x := range r.results {
		if x.subject == nil {
			continue
		}
		m, name := x.m, x.name
		for _, threads := range []int{1, 2} {
			k := func(name string) key { return key{name, threads} }
			if m.index(k(colSession)) < 0 {
				continue
			}
			cells := []string{name, fmt.Sprint(threads)}
			for _, c := range timed {
				cells = append(cells, duration(m.time(k(c))))
			}
			cells = append(cells, spread(m.ratios(k(colSession), m.baseline(threads))), spread(m.ratios(k(colPeer), k(colSession))),
				m.allocations(k(colSession)), fmt.Sprint(len(m.rounds)))
			line(t, cells...)
			name = ""
		}
	}
	t.Flush()
	fmt.Fprintf(w, "\nAn empty cgo call: %s.\n\n", duration(r.cgo()))
}

// sameness is how well the columns agree.
func sameness(results []result) string {
	for _, x := range results {
		if _, ok := x.subject.(*network); ok {
			return fmt.Sprintf("the same within %g of each element plus %g", tolerance, tolerance)
		}
	}
	return "equal to the bit"
}

// cgo is the median of an empty crossing over all cases.
func (r *report) cgo() float64 {
	var all []float64
	for _, x := range r.results {
		if ns := x.m.time(key{colCgo, 1}); !math.IsNaN(ns) {
			all = append(all, ns)
		}
	}
	return median(all)
}

func (m *measured) allocations(k key) string {
	if i := m.index(k); i >= 0 {
		return fmt.Sprint(m.allocs[i])
	}
	return ""
}

// printOthers has the cases that are no graph of the table.
func (r *report) printOthers(w io.Writer) {
	others := slices.DeleteFunc(slices.Clone(r.results), func(x result) bool { return x.subject != nil })
	if len(others) == 0 {
		return
	}
	t := newTable(w, "case", "column", "time", "first column to it", "rounds")
	for _, x := range others {
		name := x.name
		for i, k := range x.m.keys {
			label, ratio := k.name, ""
			if strings.HasPrefix(x.name, "goroutines/") {
				label = fmt.Sprintf("%s from %d", k.name, k.threads)
			}
			if i > 0 {
				ratio = spread(x.m.ratios(x.m.keys[0], k))
			}
			line(t, name, label, duration(x.m.time(k)), ratio, fmt.Sprint(len(x.m.rounds)))
			name = ""
		}
	}
	t.Flush()
	fmt.Fprintln(w)
}

func (r *report) printConstants(w io.Writer) {
	if len(r.constants) == 0 {
		return
	}
	t := newTable(w, "file", "Open and NewSession", "first run", "second run", "resident after load", "after first run",
		"of a file of", "processes")
	for _, c := range r.constants {
		line(t, c.name,
			duration(c.of(func(l loading) float64 { return l.Open })),
			duration(c.of(func(l loading) float64 { return l.First })),
			duration(c.of(func(l loading) float64 { return l.Second })),
			megabytes(c.of(func(l loading) float64 { return float64(l.RSS) })),
			megabytes(c.of(func(l loading) float64 { return float64(l.RSSAfterRun) })),
			megabytes(c.of(func(l loading) float64 { return float64(l.File) })),
			fmt.Sprint(len(c.all)))
	}
	t.Flush()
	fmt.Fprintln(w)
}

func (r *report) printBounds(w io.Writer) {
	t := newTable(w, "bound", "", "median", "95 % interval", "worst case", "missed in")
	for _, v := range r.judge() {
		missed := ""
		if v.Cases > 0 {
			missed = fmt.Sprintf("%d of %d", len(v.Missed), v.Cases)
		}
		line(t, v.Claim+" "+v.Limit, v.Result, v.Measured, v.Interval, v.Case, missed)
	}
	t.Flush()
}

// duration in three digits; empty where it was not measured.
func duration(ns float64) string {
	if math.IsNaN(ns) {
		return ""
	}
	for _, u := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}} {
		if math.Abs(ns) >= u.ns {
			return fmt.Sprintf("%.3g %s", ns/u.ns, u.name)
		}
	}
	return fmt.Sprintf("%.3g ns", ns)
}

func megabytes(n float64) string { return fmt.Sprintf("%.1f MB", n/(1<<20)) }

// spread is a median and how well it is known; empty where nothing was measured.
func spread(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	low, high := interval(values)
	m := median(values)
	return fmt.Sprintf("%s ±%.1f%%", factor(m), 50*(high-low)/m)
}

func factor(x float64) string {
	if x < 10 {
		return fmt.Sprintf("%.3f", x)
	}
	return fmt.Sprintf("%.1f", x)
}
