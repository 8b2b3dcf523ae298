package xnn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// resized gives images [n, h, w, channels] another size by the formulas of the modes.
func resized(image []float64, from Shape, height, width int, mode graph.ResizeMode) []float64 {
	h, w, channels := from[1], from[2], from[3]
	point := func(to, from, size int) (low, high int, part float64) {
		ratio := float64(from) / float64(size)
		at := float64(to) * ratio
		switch {
		case mode == graph.HalfPixel:
			at = min(max((float64(to)+0.5)*ratio-0.5, 0), float64(from-1))
		case mode == graph.AlignCorners && size > 1:
			at = float64(to) * float64(from-1) / float64(size-1)
		}
		low = int(math.Floor(at))
		return low, min(low+1, from-1), at - float64(low)
	}
	var result []float64
	for n := range from[0] {
		for y := range height {
			top, bottom, down := point(y, h, height)
			for x := range width {
				left, right, across := point(x, w, width)
				for ch := range channels {
					pixel := func(y, x int) float64 { return image[((n*h+y)*w+x)*channels+ch] }
					above := pixel(top, left)*(1-across) + pixel(top, right)*across
					below := pixel(bottom, left)*(1-across) + pixel(bottom, right)*across
					result = append(result, above*(1-down)+below*down)
				}
			}
		}
	}
	return result
}

var resizeTypes = []graph.Type{
	plain(graph.Float32), plain(graph.Float16), quantized(graph.QInt8, 1.0/32, -5), quantized(graph.QUInt8, 1.0/16, 140),
}

func TestResizeBilinear2D(t *testing.T) {
	nothingHeld(t)
	for i, c := range []struct {
		from          Shape
		height, width int
	}{
		{Shape{1, 4, 5, 3}, 8, 10},
		{Shape{2, 5, 4, 17}, 3, 7},
		{Shape{1, 9, 8, 1}, 4, 4},
		{Shape{1, 3, 3, 8}, 1, 1},
		{Shape{1, 1, 1, 5}, 3, 4},
		{Shape{3, 1, 6, 33}, 5, 11},
		{Shape{1, 7, 7, 4}, 7, 7},
	} {
		for _, mode := range []graph.ResizeMode{graph.HalfPixel, graph.AlignCorners, graph.Legacy} {
			for j, typ := range resizeTypes {
				r := rand.New(rand.NewPCG(uint64(i), uint64(j)))
				typ.Shape = c.from
				x := randomNumeric(r, typ, 8)
				g := graph.New()
				g.Output(g.ResizeBilinear2D(g.InputOf(typ), c.height, c.width, mode))
				out := typ
				out.Shape = Shape{c.from[0], c.height, c.width, c.from[3]}
				checkOutput(t, g, out, resized(x.real, c.from, c.height, c.width, mode), fmt.Sprint(typ, c.height, c.width, mode), x)
			}
		}
	}
}

// TestResizeReshape: XNNPACK alone goes on reading pixels where they were when the number of channels changes.
func TestResizeReshape(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	g.Output(g.ResizeBilinear2D(g.Input(graph.Float32, 1, 4, 5, 3), 6, 3, graph.HalfPixel))
	s := opened(t, compiled(t, g))
	r := rand.New(rand.NewPCG(5, 6))
	for _, shape := range []Shape{{1, 4, 5, 3}, {1, 4, 5, 8}, {3, 4, 5, 8}, {0, 4, 5, 8}, {1, 7, 2, 8}, {1, 7, 2, 1}} {
		require.NoError(t, s.Reshape(shape))
		x := randomNumeric(r, plain(graph.Float32, shape...), 8)
		out := plain(graph.Float32, shape[0], 6, 3, shape[3])
		require.Equal(t, out.Shape, s.Output(0).Shape())
		requireNumeric(t, out, runNumeric(t, s, x)[0], resized(x.real, shape, 6, 3, graph.HalfPixel), fmt.Sprint(shape))
	}
}
