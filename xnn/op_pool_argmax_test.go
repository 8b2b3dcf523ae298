package xnn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// nearest is where window w of argmax pooling has its row or column k in an image of n: the nearest, in padding.
func nearest(w, k, kernel, before, n int) int { return min(max(w*kernel+k-before, 0), n-1) }

// argMax gives the maximum of each window, and the first place of it: columns one after the other.
func (c poolCase) argMax(image []float64) (shape Shape, values []float64, indices []int) {
	top, bottom := padAlong(c.same, c.padding.Top, c.padding.Bottom, c.h, c.kernel[0], c.kernel[0], 1)
	left, right := padAlong(c.same, c.padding.Left, c.padding.Right, c.w, c.kernel[1], c.kernel[1], 1)
	shape = Shape{c.n, (c.h + top + bottom) / c.kernel[0], (c.w + left + right) / c.kernel[1], c.channels}
	for n := range c.n {
		for y := range shape[1] {
			for x := range shape[2] {
				for ch := range c.channels {
					most, at := math.Inf(-1), 0
					for kx := range c.kernel[1] {
						for ky := range c.kernel[0] {
							iy, ix := nearest(y, ky, c.kernel[0], top, c.h), nearest(x, kx, c.kernel[1], left, c.w)
							if v := image[((n*c.h+iy)*c.w+ix)*c.channels+ch]; v > most {
								most, at = v, kx*c.kernel[0]+ky
							}
						}
					}
					values, indices = append(values, most), append(indices, at)
				}
			}
		}
	}
	return shape, values, indices
}

var argMaxCases = []poolCase{
	{n: 1, h: 4, w: 6, channels: 3, kernel: [2]int{2, 2}},
	{n: 2, h: 7, w: 7, channels: 5, kernel: [2]int{3, 2}},
	{n: 1, h: 9, w: 9, channels: 17, kernel: [2]int{3, 3}, padding: graph.Padding{Top: 1, Right: 2, Bottom: 2}},
	{n: 1, h: 10, w: 11, channels: 4, kernel: [2]int{5, 4}, same: true},
	{n: 1, h: 3, w: 8, channels: 2, kernel: [2]int{1, 2}},
	{n: 3, h: 8, w: 8, channels: 1, kernel: [2]int{8, 8}},
}

// TestArgMaxAndUnpool: what is taken apart can be put together again.
func TestArgMaxAndUnpool(t *testing.T) {
	nothingHeld(t)
	for i, c := range argMaxCases {
		r := rand.New(rand.NewPCG(uint64(i), 3))
		x := randomNumeric(r, plain(graph.Float32, c.n, c.h, c.w, c.channels), 20)
		g := graph.New()
		op := graph.ArgMaxPool2D{Kernel: c.kernel, Padding: c.padding, SamePadding: c.same}
		values, indices := g.ArgMaxPool2D(g.InputOf(x.typ), op)
		padding := op.PaddingOf(x.typ.Shape)
		g.Output(values)
		g.Output(indices)
		g.Output(g.Unpool2D(values, indices, graph.Unpool2D{Kernel: c.kernel, Padding: padding}))
		shape, want, at := c.argMax(x.real)
		for _, threads := range []int{1, 2} {
			s := opened(t, compiled(t, g), WithThreads(threads), withCache(1))
			got := runNumeric(t, s, x)
			requireNumeric(t, plain(graph.Float32, shape...), got[0], want, c.String())
			_, stored := decodeNumeric(plain(graph.Int32, shape...), got[1])
			require.Equal(t, at, stored, c.String())

			size := Shape{c.n, c.kernel[0]*shape[1] - padding.Top - padding.Bottom, c.kernel[1]*shape[2] - padding.Left - padding.Right,
				c.channels}
			spread := make([]float64, size.Elements())
			for j, v := range want {
				ch, rest := j%c.channels, j/c.channels
				wx, rest := rest%shape[2], rest/shape[2]
				wy, n := rest%shape[1], rest/shape[1]
				y := nearest(wy, at[j]%c.kernel[0], c.kernel[0], padding.Top, size[1])
				x := nearest(wx, at[j]/c.kernel[0], c.kernel[1], padding.Left, size[2])
				spread[((n*size[1]+y)*size[2]+x)*c.channels+ch] = v
			}
			require.Equal(t, size, s.Output(2).Shape())
			requireNumeric(t, plain(graph.Float32, size...), got[2], spread, c.String())
		}
	}
}

// TestUnpoolIndices: indices come from whoever runs the model, and XNNPACK alone writes wherever they point.
func TestUnpoolIndices(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	g.Output(g.Unpool2D(g.Input(graph.Float32, 1, 1, 2, 2), g.Input(graph.Int32, 1, 1, 2, 2), graph.Unpool2D{Kernel: [2]int{2, 1}}))
	s := opened(t, compiled(t, g))
	values := numericOf(plain(graph.Float32, 1, 1, 2, 2), []int{4, 8, 12, 16})
	for _, c := range []struct {
		indices []int
		want    []float64
	}{
		{[]int{0, 1, 1, 0}, []float64{1, 0, 0, 4, 0, 2, 3, 0}},
		{[]int{2, -1, math.MaxInt32, math.MinInt32}, []float64{0, 2, 0, 4, 1, 0, 3, 0}},
		{[]int{1 << 20, 3, -5, 1}, []float64{0, 0, 3, 0, 1, 2, 0, 4}},
	} {
		got := runNumeric(t, s, values, numericOf(plain(graph.Int32, 1, 1, 2, 2), c.indices))
		requireNumeric(t, plain(graph.Float32, 1, 2, 2, 2), got[0], c.want, fmt.Sprint(c.indices))
	}
	// Fewer channels, then more: XNNPACK alone keeps those of the start.
	for _, channels := range []int{1, 3, 0, 2} {
		shape := Shape{2, 1, 1, channels}
		require.NoError(t, s.Reshape(shape, shape))
		r := rand.New(rand.NewPCG(uint64(channels), 0))
		values := randomNumeric(r, plain(graph.Float32, shape...), 20)
		indices := numericOf(plain(graph.Int32, shape...), make([]int, 2*channels))
		want := make([]float64, 4*channels)
		copy(want, values.real[:channels])
		copy(want[2*channels:], values.real[channels:])
		got := runNumeric(t, s, values, indices)
		requireNumeric(t, plain(graph.Float32, 2, 2, 1, channels), got[0], want, fmt.Sprint(channels))
	}
}
