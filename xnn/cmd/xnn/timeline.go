package main

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"
)

// Sizes of a timeline in SVG's units.
const (
	timelineWidth  = 1000.
	timelineMargin = 20.
	barHeight      = 46.
	lineHeight     = 18.
	slowestShown   = 10
)

// draw writes a timeline of a run: the nodes one behind the other, each as wide as its time.
func (r *profileResult) draw(path, model string) error {
	picture := r.timeline(model)
	return writeFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, picture)
		return err
	})
}

// timelineBar is a node in a timeline.
type timelineBar struct {
	*profileNode
	from, width float64
	rank        int // among the slowest, from 0
}

func (r *profileResult) timeline(model string) string {
	bars, total := r.bars()
	slowest := slices.Clone(bars)
	slices.SortStableFunc(slowest, func(a, b *timelineBar) int { return int(math.Copysign(1, b.MeanNS-a.MeanNS)) })
	slowest = slowest[:min(slowestShown, len(slowest))]
	for rank, b := range slowest {
		b.rank = rank
	}
	const top = timelineMargin + 2*lineHeight
	const below = top + barHeight + 2*lineHeight
	height := below + float64(max(len(slowest), len(families))+2)*lineHeight + timelineMargin
	var b strings.Builder
	write := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	write(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %g %g" %s>`, timelineWidth, height,
		timelineWidth, height, `font-family="sans-serif" font-size="12"`)
	write(`<rect width="100%%" height="100%%" fill="white"/>`)
	text := func(x, y float64, attributes, format string, args ...any) {
		words := html.EscapeString(oneLine(fmt.Sprintf(format, args...)))
		write(`<text x="%g" y="%g" %s>%s</text>`, round(x), round(y), attributes, words)
	}
	text(timelineMargin, timelineMargin+lineHeight/2, `font-size="15" font-weight="bold"`, "%s: %s a run, threads: %d", model,
		duration(r.RunNS), r.Threads)
	text(timelineMargin, timelineMargin+lineHeight*1.5, `fill="#555555"`, "%d nodes take %s of it; mean of %d runs", len(r.Nodes),
		duration(total), r.Runs)
	for _, bar := range bars {
		write(`<rect x="%g" y="%g" width="%g" height="%g" fill="%s" stroke="white" stroke-width="%g"><title>%s</title></rect>`,
			round(bar.from), top, round(bar.width), barHeight, familyOf(bar.Operator).color, min(0.5, round(bar.width/5)),
			html.EscapeString(fmt.Sprintf("node %d %s: %s, %s", bar.Node, bar.Operator, duration(bar.MeanNS), percent(bar.Share))))
		if bar.rank < slowestShown && bar.width >= 8 {
			text(bar.from+bar.width/2, top+barHeight/2+4, `text-anchor="middle"`, "%d", bar.rank+1)
		}
	}
	for i := range 6 {
		x := timelineMargin + float64(i)/5*(timelineWidth-2*timelineMargin)
		write(`<line x1="%g" y1="%g" x2="%g" y2="%g" stroke="#555555"/>`, x, top+barHeight, x, top+barHeight+4)
		anchor := []string{"start", "middle", "middle", "middle", "middle", "end"}[i]
		text(x, top+barHeight+16, fmt.Sprintf(`text-anchor="%s" fill="#555555"`, anchor), "%s", duration(total*float64(i)/5))
	}
	text(timelineMargin, below+lineHeight, `font-weight="bold"`, "the slowest nodes")
	for i, s := range slowest {
		y := below + float64(i+2)*lineHeight
		write(`<rect x="%g" y="%g" width="12" height="12" fill="%s"/>`, timelineMargin, y-10, familyOf(s.Operator).color)
		text(timelineMargin+18, y, ``, "%d. node %d %s: %s, %s", i+1, s.Node, s.Operator, duration(s.MeanNS), percent(s.Share))
	}
	r.legend(write, text, below)
	write(`</svg>`)
	return b.String()
}

// legend shows the families that take time, and how much.
func (r *profileResult) legend(write func(string, ...any),
	text func(x, y float64, attributes, format string, args ...any), top float64) {
	const left = timelineWidth / 2
	text(left, top+lineHeight, `font-weight="bold"`, "by family")
	line := 2.
	for i := range families {
		f := &families[i]
		ns, share, nodes := 0., 0., 0
		for _, o := range r.Operators {
			if familyOf(o.Operator) == f {
				ns, share, nodes = ns+o.MeanNS, share+o.Share, nodes+o.Nodes
			}
		}
		if nodes == 0 {
			continue
		}
		y := top + line*lineHeight
		write(`<rect x="%g" y="%g" width="12" height="12" fill="%s"/>`, left, y-10, f.color)
		text(left+18, y, ``, "%s: %d nodes, %s, %s", f.name, nodes, duration(ns), percent(share))
		line++
	}
}

// bars places the nodes that take time along the whole width, and gives the sum of their times.
func (r *profileResult) bars() (bars []*timelineBar, total float64) {
	for _, n := range r.Nodes {
		total += n.MeanNS
	}
	at := timelineMargin
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.MeanNS == 0 {
			continue
		}
		width := n.MeanNS / total * (timelineWidth - 2*timelineMargin)
		bars = append(bars, &timelineBar{n, at, width, slowestShown})
		at += width
	}
	return bars, total
}

// round is for coordinates, of which more digits say nothing.
func round(f float64) float64 { return math.Round(f*100) / 100 }
