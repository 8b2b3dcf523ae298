package main

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

func newProfile() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "profile MODEL",
		Short: "Measure how long each node takes, and draw it",
		Long: help(`Measure how long each node takes, as a mean over many runs on random inputs.

Nodes that no output depends on are not run and not listed; a fused node is part of another and takes no time of its own.
Reading the clock is part of a node's time, some tens of nanoseconds. With --svg a picture of a run: when each node is at
work, in a color for each family of operators.

With --json the keys are threads, runs, run_ns (the mean of whole runs), nodes, each with node, operator, debug_handle,
mean_ns, share (of all nodes, 0 to 1) and fused, and operators, each with operator, nodes, mean_ns and share.`),
		Example: `  xnn profile model.xnn -t 1 --time 5s
  xnn profile model.tflite --svg timeline.svg`,
	})
	threads := threadsFlag(cmd)
	precision := precisionFlag(cmd, precisionUsage)
	d := timeFlag(cmd)
	picture := cmd.Flags().String("svg", "", "draw a timeline of a run into `FILE`")
	asJSON := jsonFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkTime(*d) }
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		s, _, err := openBench(args[0], precision.option(), xnn.WithThreads(int(*threads)), xnn.WithProfile())
		if err != nil {
			return err
		}
		defer s.close()
		b := newTimeBar("profile", *d)
		r, err := profile(cmd.Context(), s.Session, *d, b.elapsed)
		b.clear()
		if err != nil {
			return about(args[0], err)
		}
		if *picture != "" {
			if err := r.draw(*picture, args[0]); err != nil {
				return err
			}
		}
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return r.print(cmd.OutOrStdout())
	})
	return cmd
}

// profileResult is what xnn profile --json prints.
type profileResult struct {
	Threads   int               `json:"threads"`
	Runs      int               `json:"runs"`
	RunNS     float64           `json:"run_ns"`
	Nodes     []profileNode     `json:"nodes"`
	Operators []profileOperator `json:"operators"`
}

type profileNode struct {
	Node        int     `json:"node"`
	Operator    string  `json:"operator"`
	DebugHandle uint32  `json:"debug_handle"`
	MeanNS      float64 `json:"mean_ns"`
	Share       float64 `json:"share"`
	Fused       bool    `json:"fused"`
}

// profileOperator is all nodes of one kind, fused ones too.
type profileOperator struct {
	Operator string  `json:"operator"`
	Nodes    int     `json:"nodes"`
	MeanNS   float64 `json:"mean_ns"`
	Share    float64 `json:"share"`
}

// profile runs a session that keeps the times of its nodes for the time d, after a warm-up, and takes their means.
func profile(ctx context.Context, s *xnn.Session, d time.Duration, progress func(time.Duration)) (*profileResult, error) {
	if _, err := warmUp(ctx, d, s.Run); err != nil {
		return nil, err
	}
	var whole time.Duration
	var nodes []xnn.NodeTime
	var sums []time.Duration
	r := &profileResult{Threads: s.Threads(), Nodes: []profileNode{}, Operators: []profileOperator{}}
	for begin := time.Now(); r.Runs == 0 || time.Since(begin) < d; {
		start := time.Now()
		if err := s.Run(); err != nil {
			return nil, err
		}
		whole += time.Since(start)
		r.Runs++
		var err error
		if nodes, err = s.Profile(); err != nil {
			return nil, err
		}
		if sums == nil {
			sums = make([]time.Duration, len(nodes))
		}
		for i, n := range nodes {
			sums[i] += n.Time
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		progress(time.Since(begin))
	}
	r.RunNS = r.mean(whole)
	r.add(nodes, sums)
	return r, nil
}

// mean is that of a run, in nanoseconds with one decimal.
func (r *profileResult) mean(t time.Duration) float64 {
	return math.Round(10*float64(t)/float64(r.Runs)) / 10
}

// add takes the nodes, and what they took in all runs, into the result.
func (r *profileResult) add(nodes []xnn.NodeTime, sums []time.Duration) {
	var total time.Duration
	for _, t := range sums {
		total += t
	}
	share := func(t time.Duration) float64 {
		if total == 0 {
			return 0
		}
		return math.Round(1e4*float64(t)/float64(total)) / 1e4
	}
	byKind := map[string]time.Duration{}
	for i, n := range nodes {
		r.Nodes = append(r.Nodes, profileNode{Node: n.Node, Operator: n.Kind, DebugHandle: n.DebugHandle, MeanNS: r.mean(sums[i]),
			Share: share(sums[i]), Fused: n.Fused})
		at := slices.IndexFunc(r.Operators, func(o profileOperator) bool { return o.Operator == n.Kind })
		if at < 0 {
			at = len(r.Operators)
			r.Operators = append(r.Operators, profileOperator{Operator: n.Kind})
		}
		r.Operators[at].Nodes++
		byKind[n.Kind] += sums[i]
	}
	for i := range r.Operators {
		o := &r.Operators[i]
		o.MeanNS, o.Share = r.mean(byKind[o.Operator]), share(byKind[o.Operator])
	}
	slices.SortStableFunc(r.Operators, func(a, b profileOperator) int { return int(byKind[b.Operator] - byKind[a.Operator]) })
}
