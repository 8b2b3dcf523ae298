package xnn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestReshape keeps the elements in their order, on every type.
func TestReshape(t *testing.T) {
	nothingHeld(t)
	for _, c := range []struct{ from, dims, to []int }{
		{[]int{2, 3, 4}, []int{24}, []int{24}}, {[]int{2, 3, 4}, []int{4, 6}, []int{4, 6}},
		{[]int{6}, []int{1, 2, 1, 3, 1, 1}, []int{1, 2, 1, 3, 1, 1}},
		{[]int{2, 3, 4}, []int{0, 4}, []int{6, 4}}, {[]int{2, 3, 4}, []int{2, 0}, []int{2, 12}}, {[]int{1, 1}, nil, []int{}},
		{nil, []int{1, 1}, []int{1, 1}},
		{nil, []int{0}, []int{1}}, {[]int{0, 3}, []int{0, 5}, []int{0, 5}}, {[]int{0, 3}, []int{3, 0, 2}, []int{3, 0, 2}},
		{nil, nil, []int{}},
	} {
		for _, typ := range typesOf("Reshape", c.from...) {
			g := graph.New()
			g.Output(g.Reshape(g.InputOf(typ), c.dims...))
			require.Equal(t, Shape(c.to).String(), g.Values[1].Shape.String())
			moved(t, g, 0, func(index []int) int { return offsetOf(c.to, index) })
		}
	}
}

// TestReshapeFollows: what the others leave follows the input.
func TestReshapeFollows(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	x := g.Reshape(g.Input(Float32, 1, 2, 3), 0, 6)
	g.Output(g.Add(x, g.Constant(ramp(6), 6)))
	s := opened(t, compiled(t, g))
	for _, n := range []int{1, 4, 2, 100, 0, 3} {
		require.NoError(t, s.Reshape(Shape{n, 2, 3}))
		require.Equal(t, Shape{n, 6}, s.Output(0).Shape())
		for i, y := range run(t, s, ramp(6*n))[0] {
			require.Equal(t, float32(i+i%6), y)
		}
	}
}

// TestExpandDims puts ones into shapes, on every type.
func TestExpandDims(t *testing.T) {
	nothingHeld(t)
	for _, c := range []struct{ from, axes, to []int }{
		{[]int{2, 3}, []int{0}, []int{1, 2, 3}}, {[]int{2, 3}, []int{2}, []int{2, 3, 1}}, {[]int{2, 3}, []int{1, 3}, []int{2, 1, 3, 1}},
		{[]int{2, 3}, []int{3, 1, 0}, []int{1, 1, 2, 1, 3}}, {[]int{2}, []int{-1, 0}, []int{1, 2, 1}},
		{nil, []int{0, 1, 2, 3, 4, 5}, []int{1, 1, 1, 1, 1, 1}},
		{[]int{5}, nil, []int{5}}, {[]int{0, 2}, []int{1}, []int{0, 1, 2}}, {nil, nil, []int{}},
		{[]int{2, 2, 2, 2, 2}, []int{5}, []int{2, 2, 2, 2, 2, 1}},
	} {
		for _, typ := range typesOf("ExpandDims", c.from...) {
			g := graph.New()
			g.Output(g.ExpandDims(g.InputOf(typ), c.axes...))
			require.Equal(t, Shape(c.to).String(), g.Values[1].Shape.String())
			moved(t, g, 0, func(index []int) int { return offsetOf(c.to, index) })
		}
	}
}

// TestCopy gives a tensor once more, on every type and through chains that XNNPACK shortens.
func TestCopy(t *testing.T) {
	nothingHeld(t)
	for _, shape := range []Shape{{}, {1}, {7}, {2, 3, 4}, {3, 2, 1, 2, 2, 5}, {0, 4}, {3001}} {
		for _, typ := range typesOf("Copy", shape...) {
			g := graph.New()
			g.Output(g.Copy(g.InputOf(typ)))
			moved(t, g, 0, func(index []int) int { return offsetOf(shape, index) })
			g = graph.New()
			g.Output(g.Copy(g.Copy(g.Copy(g.InputOf(typ)))))
			moved(t, g, 0, func(index []int) int { return offsetOf(shape, index) })
		}
	}
}
