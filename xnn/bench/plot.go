package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// curves are the columns as they are drawn, in colours that people with any sort of colour vision can tell apart (Okabe and
// Ito), and with a shape each.
var curves = []struct {
	column, legend string
	colour         color.RGBA
	shape          draw.GlyphDrawer
}{
	{colPeer, "ONNX Runtime, from Go", color.RGBA{213, 94, 0, 255}, draw.TriangleGlyph{}},
	{colRun, "Model.Run", color.RGBA{204, 121, 167, 255}, draw.SquareGlyph{}},
	{colRunInto, "Model.RunInto", color.RGBA{230, 159, 0, 255}, draw.RingGlyph{}},
	{colC, "C, node by node", color.RGBA{0, 0, 0, 255}, draw.CrossGlyph{}},
	{colSession, "Session.Run", color.RGBA{0, 114, 178, 255}, draw.CircleGlyph{}},
}

const (
	panelWidth  = 12 * vg.Centimeter
	panelHeight = 9.5 * vg.Centimeter
	typeface    = "Liberation Sans"
	titleHeight = 1.6 * vg.Centimeter
)

// writePlot draws the time a float against the size: a panel for one Add and one for a chain of four, for one thread and for
// two.
func (r *report) writePlot(path string) error {
	plot.DefaultFont = font.Font{Typeface: "Liberation", Variant: "Sans"}
	plotter.DefaultFont = plot.DefaultFont
	chains, threads := []int{1, 4}, []int{1, 2}
	width := panelWidth * vg.Length(len(chains))
	height := panelHeight*vg.Length(len(threads)) + titleHeight
	canvas := vgsvg.New(width, height)
	dc := draw.New(canvas)
	dc.SetColor(color.White) // a page around it may be dark
	dc.Fill(dc.Rectangle.Path())

	title := plot.New().Title.TextStyle
	title.Font.Size = 12
	title.XAlign, title.YAlign = draw.XCenter, draw.YTop
	dc.FillText(title, vg.Point{X: dc.Center().X, Y: dc.Max.Y - 6},
		"Time for one float of output, lower is better\n"+r.machine.String())
	dc = draw.Crop(dc, 0, 0, 0, -titleHeight)

	panels := make([][]*plot.Plot, len(threads))
	y := newExtent()
	for i, t := range threads {
		for _, adds := range chains {
			p, err := r.panel(adds, t, &y)
			if err != nil {
				return err
			}
			panels[i] = append(panels[i], p)
		}
	}
	if y.min > y.max {
		return fmt.Errorf("nothing was measured that the plot shows")
	}
	for _, row := range panels {
		for _, p := range row {
			p.Y.Min, p.Y.Max = y.min/1.3, y.max*1.3
		}
	}
	tiles := draw.Tiles{Rows: len(threads), Cols: len(chains), PadX: 14, PadY: 14, PadLeft: 6, PadRight: 10, PadBottom: 6}
	for i, row := range plot.Align(panels, tiles, dc) {
		for j, c := range row {
			panels[i][j].Draw(c)
		}
	}
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return err
	}
	// The drawing is laid out for a font that not every viewer has; these have its widths.
	const family = "font-family:" + typeface
	out := bytes.ReplaceAll(svg.Bytes(), []byte(family), []byte(family+",Arimo,Arial,Helvetica,sans-serif"))
	return os.WriteFile(path, out, 0o666)
}

// extent is the smallest and largest of the values drawn, one for all panels so that they compare.
type extent struct{ min, max float64 }

func newExtent() extent { return extent{math.Inf(1), math.Inf(-1)} }

func (e *extent) add(x float64) { e.min, e.max = min(e.min, x), max(e.max, x) }

func (r *report) panel(adds, threads int, y *extent) (*plot.Plot, error) {
	p := plot.New()
	p.Title.Text = "one Add"
	if adds > 1 {
		p.Title.Text = fmt.Sprintf("chain of %d Adds", adds)
	}
	p.Title.Text += fmt.Sprintf(", %d thread", threads)
	if threads > 1 {
		p.Title.Text += "s"
	}
	p.X.Label.Text, p.Y.Label.Text = "floats in a tensor", "ns for a float"
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(sizeTicks()), decades{}
	p.X.Min, p.X.Max = 12, 24<<20
	p.Legend.Top = true
	p.Legend.Padding = 2
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	for _, c := range curves {
		points := r.curve(adds, key{c.column, threads}, y)
		if len(points) == 0 {
			continue
		}
		line, glyphs, err := plotter.NewLinePoints(points)
		if err != nil {
			return nil, err
		}
		line.Color, glyphs.Color = c.colour, c.colour
		line.Width, glyphs.Radius, glyphs.Shape = 1.4, 3, c.shape
		p.Add(line, glyphs)
		legend := c.legend
		if c.column == colC && threads > 1 {
			legend += ", pool or none"
		}
		p.Legend.Add(legend, line, glyphs)
	}
	return p, nil
}

// curve is the time a float of one column, from 16 floats on.
func (r *report) curve(adds int, k key, y *extent) plotter.XYs {
	var points plotter.XYs
	for _, x := range r.results {
		s, ok := x.subject.(spec)
		if !ok || !s.plain(adds) || s.floats() < 16 {
			continue
		}
		of := k
		if k.name == colC {
			of = x.m.baseline(k.threads)
		}
		ns := x.m.time(of) / float64(s.floats())
		if math.IsNaN(ns) {
			continue
		}
		y.add(ns)
		points = append(points, plotter.XY{X: float64(s.floats()), Y: ns})
	}
	return points
}

func sizeTicks() []plot.Tick {
	var ticks []plot.Tick
	for _, n := range []int{16, 256, 4096, 65536, 1 << 20, 16 << 20} {
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: count(n)})
	}
	return ticks
}

// decades are ticks at the powers of ten, with small ones between.
type decades struct{}

func (decades) Ticks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(low)); e <= math.Ceil(math.Log10(high)); e++ {
		for m := 1; m < 10; m++ {
			t := plot.Tick{Value: float64(m) * math.Pow(10, e)}
			if m == 1 {
				t.Label = fmt.Sprintf("%g", t.Value)
			}
			if t.Value >= low && t.Value <= high {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}
