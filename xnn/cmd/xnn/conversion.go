package main

import (
	"fmt"
	"io"
)

// conversion is what xnn convert --json prints.
type conversion struct {
	In      string        `json:"in"`
	Out     string        `json:"out"`
	File    change[int]   `json:"file_bytes"`
	Memory  *change[int]  `json:"memory_bytes,omitempty"`
	Run     *change[int]  `json:"run_ns,omitempty"`
	Threads int           `json:"threads,omitempty"`
	Outputs []difference  `json:"outputs,omitempty"`
	Nodes   []weightsNode `json:"nodes,omitempty"`
}

// change is a number before and after.
type change[T any] struct {
	Before T `json:"before"`
	After  T `json:"after"`
}

// weightsNode tells what became of a node with weights.
type weightsNode struct {
	Node     uint32 `json:"node"`
	Operator string `json:"operator"`
	Weights  int    `json:"weights"`
	Loss     double `json:"loss"`
	Before   int    `json:"before_bytes"`
	After    int    `json:"after_bytes"`
	Kept     string `json:"kept,omitempty"`
}

func (r *conversion) print(w io.Writer) error {
	if r.Run == nil {
		t := newTable(oneLine(r.In), oneLine(r.Out))
		t.row(fmt.Sprintf("%d bytes", r.File.Before), fmt.Sprintf("%d bytes", r.File.After))
		return t.print(w)
	}
	t := newTable("", "before", "after", "ratio")
	ratio := func(c change[int]) string { return fmt.Sprintf("%.2f", float64(c.Before)/float64(max(1, c.After))) }
	t.row("file", byteSize(r.File.Before), byteSize(r.File.After), ratio(r.File))
	t.row("memory", byteSize(r.Memory.Before), byteSize(r.Memory.After), ratio(*r.Memory))
	t.row("run", duration(float64(r.Run.Before)), duration(float64(r.Run.After)), ratio(*r.Run))
	return printTables(w, t, differenceTable(r.Outputs), r.nodeTable())
}

func (r *conversion) nodeTable() *table {
	t := newTable("node", "operator", "weights", "bytes", "now", "loss", "")
	for _, n := range r.Nodes {
		now, loss, why := fmt.Sprint(n.After), fmt.Sprintf("%.2f %%", 100*float64(n.Loss)), ""
		if n.Kept != "" {
			now, loss, why = "-", "-", "stays: "+n.Kept
		}
		t.row(n.Node, n.Operator, n.Weights, n.Before, now, loss, why)
	}
	return t
}
