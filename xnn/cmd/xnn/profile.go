package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

func newProfile() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "profile MODEL",
		Short: "Measure how long each node takes",
		Long: `Measure how long each node takes, as a mean over many runs on random inputs.

Nodes that no output depends on are not run and not listed; a fused node is part of another and takes no time of its own.
Reading the clock is part of a node's time, some tens of nanoseconds. With --json the keys are threads, runs, run_ns (the
mean of whole runs) and nodes, each with node, operator, debug_handle, mean_ns, share (of all nodes, 0 to 1) and fused.`,
		Example: "  xnn profile model.xnn -t 1 --time 5s",
	})
	threads := threadsFlag(cmd)
	d := timeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.PreRunE = func(*cobra.Command, []string) error { return checkTime(*d) }
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		s, _, err := openBench(args[0], xnn.WithThreads(int(*threads)), xnn.WithProfile())
		if err != nil {
			return err
		}
		defer s.close()
		p := newProgress("profile", *d)
		r, err := profile(cmd.Context(), s.Session, *d, p.show)
		p.clear()
		if err != nil {
			return about(args[0], err)
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
	Threads int           `json:"threads"`
	Runs    int           `json:"runs"`
	RunNS   float64       `json:"run_ns"`
	Nodes   []profileNode `json:"nodes"`
}

type profileNode struct {
	Node        int     `json:"node"`
	Operator    string  `json:"operator"`
	DebugHandle uint32  `json:"debug_handle"`
	MeanNS      float64 `json:"mean_ns"`
	Share       float64 `json:"share"`
	Fused       bool    `json:"fused"`
}

// profile runs a session that keeps the times of its nodes for the time d, after a warm-up, and takes their means.
func profile(ctx context.Context, s *xnn.Session, d time.Duration, progress func(time.Duration)) (*profileResult, error) {
	if _, err := warmUp(ctx, d, s.Run); err != nil {
		return nil, err
	}
	var whole time.Duration
	var nodes []xnn.NodeTime
	var sums []time.Duration
	r := &profileResult{Threads: s.Threads(), Nodes: []profileNode{}}
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
	var total time.Duration
	for _, t := range sums {
		total += t
	}
	mean := func(t time.Duration) float64 { return math.Round(10*float64(t)/float64(r.Runs)) / 10 }
	r.RunNS = mean(whole)
	for i, n := range nodes {
		node := profileNode{Node: n.Node, Operator: n.Kind, DebugHandle: n.DebugHandle, MeanNS: mean(sums[i]), Fused: n.Fused}
		if total > 0 {
			node.Share = math.Round(1e4*float64(sums[i])/float64(total)) / 1e4
		}
		r.Nodes = append(r.Nodes, node)
	}
	return r, nil
}

func (r *profileResult) print(w io.Writer) error {
	if len(r.Nodes) > 0 {
		if err := r.table().print(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "whole run: %s, mean of %d runs, threads: %d\n", duration(r.RunNS), r.Runs, r.Threads)
	return err
}

func (r *profileResult) table() *table {
	t := newTable("node", "operator", "handle", "mean", "share")
	for _, n := range r.Nodes {
		mean := duration(n.MeanNS)
		if n.Fused {
			mean = "fused"
		}
		t.row(n.Node, n.Operator, n.DebugHandle, mean, fmt.Sprintf("%.1f %%", 100*n.Share))
	}
	return t
}
