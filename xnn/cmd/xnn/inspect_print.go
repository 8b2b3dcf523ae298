package main

import (
	"fmt"
	"io"
	"strings"
)

// print gives the inspection as text. Lists that are empty are left out.
func (r *inspection) print(w io.Writer) error {
	if err := r.head().print(w); err != nil {
		return err
	}
	sections := []struct {
		rows  int
		table *table
	}{
		{len(r.Inputs), externalTable("input", r.Inputs)},
		{len(r.Outputs), externalTable("output", r.Outputs)},
		{len(r.Values), r.valueTable()},
		{len(r.Nodes), r.nodeTable()},
		{len(r.Constants), r.constantTable()},
	}
	for _, s := range sections {
		if s.rows == 0 {
			continue
		}
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
		if err := s.table.print(w); err != nil {
			return err
		}
	}
	return nil
}

func (r *inspection) head() *table {
	t := newTable("file", fmt.Sprintf("%s, %d bytes", oneLine(r.File), r.FileBytes))
	t.row("version", fmt.Sprintf("%q", r.Version))
	if r.RunsHere {
		t.row("runs here", "yes")
	} else {
		t.row("runs here", "no: "+r.Reason)
	}
	declared := "size left open"
	if r.Arenas.Declared != 0 {
		declared = fmt.Sprintf("%d bytes", r.Arenas.Declared)
	}
	if r.Arenas.Needed != nil {
		declared += fmt.Sprintf(", the plan needs %d", *r.Arenas.Needed)
	}
	t.row("arena", declared)
	for _, n := range r.Arenas.Spare {
		t.row("spare entry", fmt.Sprintf("%d bytes, unused", n))
	}
	t.row("totals", fmt.Sprintf("%d values, %d nodes, %d constants of %d bytes", r.Totals["values"], r.Totals["nodes"],
		r.Totals["constants"], r.Totals["constant_bytes"]))
	t.row("tensors", fmt.Sprintf("inputs %d bytes, outputs %d, intermediate %d", r.Totals["input_bytes"],
		r.Totals["output_bytes"], r.Totals["internal_bytes"]))
	return t
}

func externalTable(what string, list []external) *table {
	t := newTable(what, "value", "dtype", "shape", "bytes")
	for _, e := range list {
		t.row(e.Index, e.Value, e.DType, e.Shape, e.Bytes)
	}
	return t
}

func (r *inspection) valueTable() *table {
	t := newTable("value", "dtype", "shape", "bytes", "use")
	for _, v := range r.Values {
		use := v.Use
		if v.Constant != 0 {
			use = fmt.Sprintf("constant %d", v.Constant)
		}
		t.row(v.ID, v.DType, v.Shape, v.Bytes, use)
	}
	return t
}

func (r *inspection) nodeTable() *table {
	t := newTable("node", "operator", "reads", "writes", "handle")
	for _, n := range r.Nodes {
		t.row(n.Node, n.Operator, idList(n.Inputs), idList(n.Outputs), n.DebugHandle)
	}
	return t
}

func (r *inspection) constantTable() *table {
	t := newTable("constant", "bytes", "reserved")
	for _, c := range r.Constants {
		t.row(c.Index, c.Bytes, c.Reserved)
	}
	return t
}

func idList(ids []uint32) string { return strings.Trim(fmt.Sprint(ids), "[]") }
