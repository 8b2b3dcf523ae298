package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// print gives the inspection as text. Lists that are empty are left out, and columns that have nothing to say.
func (r *inspection) print(w io.Writer) error {
	return printTables(w, r.head(), externalTable("input", r.Inputs), externalTable("output", r.Outputs), r.operatorTable(),
		r.nodeTable(), r.valueTable(), r.constantTable())
}

func (r *inspection) head() *table {
	t := newTable("file", fmt.Sprintf("%s, %d bytes", oneLine(r.File), r.FileBytes))
	t.row("version", fmt.Sprintf("%q", r.Version))
	if r.RunsHere {
		t.row("runs here", "yes")
	} else {
		t.row("runs here", "no: "+r.Reason)
	}
	t.row("parameters", r.parameterText())
	if r.MultiplyAdds > 0 {
		t.row("multiply-adds", count(r.MultiplyAdds))
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
	if m := r.Memory; m != nil {
		t.row("memory", fmt.Sprintf("%s: packed weights %s, constants %s, arena %s, inputs and outputs %s, descriptors %s",
			byteSize(int(m.Total)), byteSize(int(m.Weights)), byteSize(int(m.Constants)), byteSize(int(m.Arena)),
			byteSize(int(m.Tensors)), byteSize(int(m.Other))))
	}
	if r.Flushed > 0 {
		t.row("subnormal", fmt.Sprintf("%d weights were made zero", r.Flushed))
	}
	t.row("totals", fmt.Sprintf("%d values, %d nodes, %d constants of %d bytes", r.Totals["values"], r.Totals["nodes"],
		r.Totals["constants"], r.Totals["constant_bytes"]))
	t.row("tensors", fmt.Sprintf("inputs %d bytes, outputs %d, intermediate %d", r.Totals["input_bytes"],
		r.Totals["output_bytes"], r.Totals["internal_bytes"]))
	return t
}

// parameterText is such as 1.52 M, 2.9 MiB: fp16 2.9 MiB, fp32 3.1 KiB.
func (r *inspection) parameterText() string {
	text := fmt.Sprintf("%s, %s", count(r.Parameters.Count), byteSize(r.Parameters.Bytes))
	for i, p := range r.Parameters.ByDType {
		separator := ", "
		if i == 0 {
			separator = ": "
		}
		text += fmt.Sprintf("%s%s %s", separator, p.DType, byteSize(p.Bytes))
	}
	return text
}

// withColumn appends a cell to a row where there is such a column.
func withColumn[T any](is bool, cell T, row ...T) []T {
	if is {
		row = append(row, cell)
	}
	return row
}

func externalTable(what string, list []external) *table {
	named := slices.ContainsFunc(list, func(e external) bool { return e.Name != "" })
	t := newTable(withColumn(named, "name", what, "value", "dtype", "shape", "bytes")...)
	for _, e := range list {
		t.row(withColumn[any](named, oneLine(e.Name), e.Index, e.Value, e.typ, e.Shape, e.Bytes)...)
	}
	return t
}

func (r *inspection) operatorTable() *table {
	t := newTable("operator", "nodes", "parameters", "multiply-adds")
	for _, o := range r.Operators {
		t.row(o.Operator, o.Nodes, count(o.Parameters), count(o.MultiplyAdds))
	}
	return t
}

func (r *inspection) nodeTable() *table {
	handles := slices.ContainsFunc(r.Nodes, func(n node) bool { return n.DebugHandle != 0 })
	set := slices.ContainsFunc(r.Nodes, func(n node) bool { return n.settings != "" })
	work := r.MultiplyAdds > 0
	header := withColumn(work, "multiply-adds", withColumn(handles, "handle", "node", "operator", "reads", "writes")...)
	t := newTable(withColumn(set, "settings", header...)...)
	for _, n := range r.Nodes {
		row := []any{n.Node, n.Operator, idList(n.Inputs), idList(n.Outputs)}
		row = withColumn[any](work, count(n.MultiplyAdds), withColumn[any](handles, n.DebugHandle, row...)...)
		t.row(withColumn[any](set, n.settings, row...)...)
	}
	return t
}

func (r *inspection) valueTable() *table {
	named := slices.ContainsFunc(r.Values, func(v value) bool { return v.Name != "" })
	t := newTable(withColumn(named, "name", "value", "dtype", "shape", "bytes", "use")...)
	for _, v := range r.Values {
		use := v.Use
		if v.Constant != 0 {
			use = fmt.Sprintf("constant %d", v.Constant)
		}
		t.row(withColumn[any](named, oneLine(v.Name), v.ID, v.typ, v.Shape, v.Bytes, use)...)
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
