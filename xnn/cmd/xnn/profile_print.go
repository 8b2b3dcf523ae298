package main

import (
	"fmt"
	"io"
	"slices"
)

func (r *profileResult) print(w io.Writer) error {
	if err := printTables(w, r.nodeTable(), r.operatorTable()); err != nil {
		return err
	}
	if len(r.Nodes) > 0 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "whole run: %s, mean of %d runs, threads: %d\n", duration(r.RunNS), r.Runs, r.Threads)
	return err
}

func (r *profileResult) nodeTable() *table {
	handles := slices.ContainsFunc(r.Nodes, func(n profileNode) bool { return n.DebugHandle != 0 })
	header := withColumn(handles, "handle", "node", "operator")
	t := newTable(append(header, "mean", "share")...)
	for _, n := range r.Nodes {
		mean := duration(n.MeanNS)
		if n.Fused {
			mean = "fused"
		}
		row := withColumn[any](handles, n.DebugHandle, n.Node, n.Operator)
		t.row(append(row, mean, percent(n.Share))...)
	}
	return t
}

func (r *profileResult) operatorTable() *table {
	t := newTable("operator", "nodes", "time", "share")
	for _, o := range r.Operators {
		t.row(o.Operator, o.Nodes, duration(o.MeanNS), percent(o.Share))
	}
	return t
}

func percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }
