package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/xnngo/xnngo/xnn"
)

// benchSeed is of the inputs of bench and profile: what is computed does not matter, but zeros and subnormals may be
// faster or slower than other numbers.
const benchSeed = 1

func newBench() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "bench MODEL",
		Short: "Measure how long a run takes",
		Long: `Measure how long a run takes, in one session, on random inputs, after a warm-up.

Runs shorter than 10 µs are timed in batches, since reading the clock takes some tens of nanoseconds: minimum and
percentiles are then those of the batches' means. With --json the keys are min_ns, p50_ns, p95_ns, runs (how many were
measured), threads (what runs really use), load_ns (opening the model and making a session) and arena_bytes.`,
		Example: `  xnn bench model.xnn
  xnn bench model.xnn -t 1 --time 10s --json`,
	})
	threads := threadsFlag(cmd)
	d := timeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkTime(*d) }
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		s, loadTime, err := openBench(args[0], xnn.WithThreads(int(*threads)))
		if err != nil {
			return err
		}
		defer s.close()
		p := newProgress("bench", *d)
		t, err := measure(cmd.Context(), *d, s.Run, p.show)
		p.clear()
		if err != nil {
			return about(args[0], err)
		}
		r := &benchResult{
			MinNS: wholeNS(t.min), P50NS: wholeNS(t.p50), P95NS: wholeNS(t.p95), Runs: t.runs,
			Threads: s.Threads(), LoadNS: int64(loadTime), ArenaBytes: s.ArenaBytes(), timing: t,
		}
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return r.print(cmd.OutOrStdout())
	})
	return cmd
}

func timeFlag(cmd *cobra.Command) *time.Duration {
	return cmd.Flags().Duration("time", time.Second, "how long to measure")
}

func checkTime(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("--time %v: more than zero is needed", d)
	}
	return nil
}

// benchSession is a session with its model and random inputs.
type benchSession struct {
	*xnn.Session
	model *xnn.Model
}

// openBench also gives the time it took to open the model and make the session.
func openBench(path string, opts ...xnn.SessionOption) (*benchSession, time.Duration, error) {
	start := time.Now()
	m, err := xnn.Open(path)
	if err != nil {
		return nil, 0, about(path, err)
	}
	s, err := m.NewSession(opts...)
	if err != nil {
		m.Close()
		return nil, 0, about(path, err)
	}
	took := time.Since(start)
	for i := range m.Inputs() {
		fillRandom(s.Input(i), benchSeed, i)
	}
	return &benchSession{s, m}, took, nil
}

func (s *benchSession) close() { s.model.Close() } // closes the session, too

// benchResult is what xnn bench --json prints.
type benchResult struct {
	MinNS      int64 `json:"min_ns"`
	P50NS      int64 `json:"p50_ns"`
	P95NS      int64 `json:"p95_ns"`
	Runs       int   `json:"runs"`
	Threads    int   `json:"threads"`
	LoadNS     int64 `json:"load_ns"`
	ArenaBytes int   `json:"arena_bytes"`

	timing timing
}

func (r *benchResult) print(w io.Writer) error {
	t := newTable("min", "p50", "p95", "runs", "threads", "load", "arena")
	t.row(duration(r.timing.min), duration(r.timing.p50), duration(r.timing.p95), r.Runs, r.Threads,
		duration(float64(r.LoadNS)), fmt.Sprintf("%d bytes", r.ArenaBytes))
	return t.print(w)
}

// progress is a line on a terminal that says how far a measurement is. It shows up after a second.
type progress struct {
	what  string
	total time.Duration
	last  time.Duration
	on    bool
}

func newProgress(what string, total time.Duration) *progress {
	return &progress{what: what, total: total, on: term.IsTerminal(int(os.Stderr.Fd()))}
}

func (p *progress) show(elapsed time.Duration) {
	if p.on && elapsed >= p.last+time.Second {
		p.last = elapsed.Truncate(time.Second)
		fmt.Fprintf(os.Stderr, "\r%s: %v of %v \r", p.what, p.last, p.total)
	}
}

func (p *progress) clear() {
	if p.last > 0 {
		fmt.Fprint(os.Stderr, "\x1b[K")
	}
}
