package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"os/exec"
	"strings"

	"github.com/xnngo/xnngo/xnn/graph"
)

// drawGraph writes a picture of a graph, laid out by Graphviz. There is a pure Go build of Graphviz, but it takes 60 ms and a
// file in the user's cache at each start of a program that has it, whatever the program does.
func drawGraph(ctx context.Context, path string, g *graph.Graph) error {
	dot, err := exec.LookPath("dot")
	if err != nil {
		return errors.New("--svg needs Graphviz, whose program dot is not installed (on Debian: apt-get install graphviz)")
	}
	picture, err := wait("draw", func() ([]byte, error) {
		var out, errs bytes.Buffer
		cmd := exec.CommandContext(ctx, dot, "-Tsvg")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(graphSource(g)), &out, &errs
		if err := cmd.Run(); err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%s: %w: %s", dot, err, errs.String())
		}
		return out.Bytes(), nil
	})
	if err != nil {
		return err
	}
	return writeFile(path, func(w io.Writer) error {
		_, err := w.Write(picture)
		return err
	})
}

// graphSource is a graph in Graphviz's language: a box for each node with its operator, its settings and the shapes of its
// constants, an edge for each value that a node reads, with its shape.
func graphSource(g *graph.Graph) string {
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	write("digraph model {")
	write(`  graph [fontname="Helvetica", nodesep=0.3, ranksep=0.3]`)
	write(`  node [fontname="Helvetica", fontsize=11, shape=box, style="filled,rounded", color="#666666", margin="0.12,0.06"]`)
	write(`  edge [fontname="Helvetica", fontsize=9, fontcolor="#444444", color="#888888", arrowsize=0.6]`)
	writers := map[graph.ID]string{}
	for i, id := range g.Inputs {
		name := fmt.Sprintf("input%d", i)
		writers[id] = name
		write("  %s [label=<%s>, shape=ellipse, style=filled, fillcolor=white]", name,
			label(fmt.Sprintf("input %d", i), g.Values[id].Name, typeLabel(g.Values[id].Type)))
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		for _, id := range n.Outputs {
			writers[id] = fmt.Sprintf("node%d", i)
		}
		lines := []string{settingsOf(n.Op).String()}
		for _, id := range n.Inputs {
			if v := &g.Values[id]; v.Constant != 0 {
				lines = append(lines, typeLabel(v.Type))
			}
		}
		title := fmt.Sprintf("%s #%d", n.Op.Kind(), n.Ref)
		write("  node%d [label=<%s>, fillcolor=\"%s\"]", i, label(title, lines...), familyOf(n.Op.Kind()).color)
	}
	for i := range g.Nodes {
		for _, id := range g.Nodes[i].Inputs {
			if g.Values[id].Constant == 0 {
				write("  %s -> node%d [label=<%s>]", writers[id], i, edgeLabel(g.Values[id].Type))
			}
		}
	}
	for i, id := range g.Outputs {
		v := &g.Values[id]
		write("  output%d [label=<%s>, shape=ellipse, style=filled, fillcolor=white]", i, label(fmt.Sprintf("output %d", i), v.Name))
		write("  %s -> output%d [label=<%s>]", writers[id], i, edgeLabel(v.Type))
	}
	write("}")
	return b.String()
}

// lineWidth is about how many letters of a label stand on a line.
const lineWidth = 38

// label is a title, with the number that follows a # in it small, over smaller lines, in Graphviz's HTML. Empty lines are left
// out, long ones broken.
func label(title string, lines ...string) string {
	name, number, _ := strings.Cut(title, "#")
	text := "<b>" + escape(strings.TrimSpace(name)) + "</b>"
	if number != "" {
		text += ` <font point-size="9" color="#555555">` + escape(number) + "</font>"
	}
	for _, line := range lines {
		if line == "" {
			continue
		}
		settings := strings.SplitAfter(line, ", ")
		for i := range settings {
			settings[i] = strings.TrimSpace(settings[i])
		}
		for _, part := range strings.Split(strings.TrimSuffix(wrapped(settings, "", lineWidth), "\n"), "\n") {
			text += `<br/><font point-size="9">` + escape(part) + "</font>"
		}
	}
	return text
}

func escape(text string) string { return html.EscapeString(oneLine(text)) }

// typeLabel is a type as a picture has it: 1×224×224×3, with its element type where that is not the usual one.
func typeLabel(t graph.Type) string {
	if t.DType == graph.Float32 {
		return shapeLabel(t.Shape)
	}
	return typeOf(t) + " " + shapeLabel(t.Shape)
}

// edgeLabel keeps away from the edge, and leaves out how integers stand for numbers.
func edgeLabel(t graph.Type) string {
	text := shapeLabel(t.Shape)
	if t.DType != graph.Float32 {
		text = t.DType.String() + " " + text
	}
	return " " + escape(text) + " "
}

func shapeLabel(s graph.Shape) string {
	if len(s) == 0 {
		return "scalar"
	}
	words := make([]string, len(s))
	for i, d := range s {
		words[i] = fmt.Sprint(d)
	}
	return strings.Join(words, "×")
}
