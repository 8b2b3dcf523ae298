package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

// benchSeed is of the inputs of bench and profile: what is computed does not matter, but zeros and subnormals may be
// faster or slower than other numbers.
const benchSeed = 1

func newBench() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench MODEL...",
		Short: "Measure how long a run takes, and compare models",
		Long: help(`Measure how long a run takes, in one session, on random inputs, after a warm-up.

Runs shorter than 10 µs are timed in batches, since reading the clock takes some tens of nanoseconds: minimum and percentiles
are then those of the batches' means. With --json the keys are min_ns, p50_ns, p95_ns, runs (how many were measured), threads
(what runs really use), load_ns (opening the model and making a session) and arena_bytes.

Several models run in turns, so that what disturbs the machine disturbs all of them. The ratio of a model is the median, over
all turns, of its time over that of the first. With --json they are a list, each with model and ratio as well.`),
		Example: `  xnn bench model.xnn
  xnn bench model.xnn -t 1 --time 10s --json
  xnn bench model.tflite quantized.xnn`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fmt.Errorf("%s takes one MODEL or more, got none", cmd.Name())
			}
			return nil
		},
	}
	threads := threadsFlag(cmd)
	precision := precisionFlag(cmd, precisionUsage)
	weights := weightsFlag(cmd)
	d := timeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkTime(*d) }
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		var sessions []*benchSession
		defer func() {
			for _, s := range sessions {
				s.close()
			}
		}()
		runs := make([]func() error, len(args))
		results := make([]benchResult, len(args))
		for i, path := range args {
			s, loadTime, err := openBench(path, precision.option(), xnn.WithWeightsCache(*weights), xnn.WithThreads(int(*threads)))
			if err != nil {
				return err
			}
			sessions = append(sessions, s)
			results[i] = benchResult{Model: path, Threads: s.Threads(), LoadNS: int64(loadTime), ArenaBytes: s.ArenaBytes()}
			runs[i] = func() error { return about(path, s.Run()) }
		}
		b := newTimeBar("bench", *d*time.Duration(len(args)))
		timings, err := compare(cmd.Context(), *d, runs, b.elapsed)
		b.clear()
		if err != nil {
			return err
		}
		for i, t := range timings {
			results[i].set(t)
		}
		if *asJSON && len(args) == 1 {
			results[0].Model, results[0].Ratio = "", 0
			return printJSON(cmd.OutOrStdout(), results[0])
		}
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), results)
		}
		return printBench(cmd.OutOrStdout(), results)
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
func openBench(path string, opts ...xnn.Option) (*benchSession, time.Duration, error) {
	start := time.Now()
	m, err := openModel(path, opts...)
	if err != nil {
		return nil, 0, err
	}
	s, err := m.NewSession()
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
	Model      string  `json:"model,omitempty"`
	MinNS      int64   `json:"min_ns"`
	P50NS      int64   `json:"p50_ns"`
	P95NS      int64   `json:"p95_ns"`
	Runs       int     `json:"runs"`
	Threads    int     `json:"threads"`
	LoadNS     int64   `json:"load_ns"`
	ArenaBytes int     `json:"arena_bytes"`
	Ratio      float64 `json:"ratio,omitempty"`

	timing timing
}

func (r *benchResult) set(t timing) {
	r.timing = t
	r.MinNS, r.P50NS, r.P95NS, r.Runs, r.Ratio = wholeNS(t.min), wholeNS(t.p50), wholeNS(t.p95), t.runs, digits(t.ratio, 4)
}

func printBench(w io.Writer, results []benchResult) error {
	header := []string{"min", "p50", "p95", "runs", "threads", "load", "arena"}
	if len(results) > 1 {
		header = append(append([]string{"model"}, header...), "ratio")
	}
	t := newTable(header...)
	for _, r := range results {
		cells := []any{duration(r.timing.min), duration(r.timing.p50), duration(r.timing.p95), r.Runs, r.Threads,
			duration(float64(r.LoadNS)), fmt.Sprintf("%d bytes", r.ArenaBytes)}
		if len(results) > 1 {
			cells = append(append([]any{oneLine(r.Model)}, cells...), fmt.Sprintf("%.3f", r.timing.ratio))
		}
		t.row(cells...)
	}
	return t.print(w)
}
