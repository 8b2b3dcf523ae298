package xnn

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

func TestTiling(t *testing.T) {
	const f32 = graph.Float32
	for _, c := range []struct {
		shape    Shape
		operand  Shape
		elements int
		grid     []int
		full     Shape // of the operand
		last     Shape
		strides  []int
	}{
		// One dimension is cut into chunks; the last is smaller.
		{Shape{1000}, Shape{1000}, 300, []int{4}, Shape{1, 1, 1, 1, 1, 256}, Shape{1, 1, 1, 1, 1, 232}, []int{1024}},
		// Everything merges into one dimension where all have everything.
		{Shape{10, 1, 100}, Shape{10, 1, 100}, 500, []int{2}, Shape{1, 1, 1, 1, 1, 512}, Shape{1, 1, 1, 1, 1, 488}, []int{2048}},
		// A row stays where it is.
		{Shape{10, 100}, Shape{100}, 300, []int{4}, Shape{1, 1, 1, 1, 1, 100}, Shape{1, 1, 1, 1, 1, 100}, []int{0}},
		// A column moves with the rows.
		{Shape{10, 100}, Shape{10, 1}, 300, []int{4}, Shape{1, 1, 1, 1, 3, 1}, Shape{1, 1, 1, 1, 1, 1}, []int{12}},
		// Rows too long for a tile: one at a time, in chunks.
		{Shape{10, 100}, Shape{10, 1}, 64, []int{10, 2}, Shape{1, 1, 1, 1, 1, 1}, Shape{1, 1, 1, 1, 1, 1}, []int{4, 0}},
		{Shape{10, 100}, Shape{100}, 64, []int{10, 2}, Shape{1, 1, 1, 1, 1, 64}, Shape{1, 1, 1, 1, 1, 36}, []int{0, 256}},
		// A scalar.
		{Shape{1000}, Shape{}, 300, []int{4}, Shape{1, 1, 1, 1, 1, 1}, Shape{1, 1, 1, 1, 1, 1}, []int{0}},
		// Smaller than a tile.
		{Shape{3, 4}, Shape{3, 4}, 1000, []int{1}, Shape{1, 1, 1, 1, 1, 12}, Shape{1, 1, 1, 1, 1, 12}, []int{48}},
	} {
		tl := newTiling(c.shape, []graph.ID{7}, []Type{{DType: f32, Shape: c.operand}}, c.elements)
		name := fmt.Sprintf("%v with %v in tiles of %d", c.shape, c.operand, c.elements)
		require.Equal(t, c.grid, tl.grid, name)
		require.Equal(t, tiledOperand{c.full, c.last, c.strides}, tl.operands[7], name)
	}
}

// TestTilingCovers walks random tilings and demands that every element of the result comes up once, at the place of its
// operand that broadcasting says.
func TestTilingCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		shape := make(Shape, 1+r.IntN(6))
		for d := range shape {
			shape[d] = 1 + r.IntN(5)
		}
		operand := append(Shape{}, shape[r.IntN(len(shape)+1):]...)
		for d := range operand {
			if r.IntN(3) == 0 {
				operand[d] = 1
			}
		}
		if shape.Elements() == 1 {
			continue
		}
		types := []Type{{DType: graph.Float32, Shape: shape}, {DType: graph.Float32, Shape: operand}}
		tl := newTiling(shape, []graph.ID{0, 1}, types, 1+r.IntN(40))
		// The number of an element of the result, and that of the element of the operand it sees.
		sees := plusIndices(shape, operand)
		seen := make([]int, len(sees))
		for tile := range tl.tiles() {
			at, rest := make([]int, len(tl.grid)), tile
			for d := len(at) - 1; d >= 0; d-- {
				at[d], rest = rest%tl.grid[d], rest/tl.grid[d]
			}
			box, result, op := tl.full, tl.operands[0], tl.operands[1]
			small := op.full
			if at[len(at)-1] == tl.grid[len(at)-1]-1 {
				box, small = tl.last, op.last
			}
			base, opBase := 0, 0
			for d, i := range at {
				base += i * result.strides[d] / 4
				opBase += i * op.strides[d] / 4
			}
			for i, j := range plusIndices(box, small) {
				require.Equal(t, sees[base+i], opBase+j, "%v with %v", shape, operand)
				seen[base+i]++
			}
		}
		for i, n := range seen {
			require.Equal(t, 1, n, "%v: element %d", shape, i)
		}
	}
}

// plusIndices gives, for each element of a shape, the index of the element that an operand broadcast to it shows.
func plusIndices(shape, operand Shape) []int {
	zero := array{shape, make([]float32, count(shape))}
	index := array{operand, make([]float32, count(operand))}
	for i := range index.data {
		index.data[i] = float32(i)
	}
	sums := plus(zero, index)
	out := make([]int, len(sums.data))
	for i, f := range sums.data {
		out[i] = int(f)
	}
	return out
}

// TestPlan looks at how graphs are cut: [n,m] chains of more than one node are tiled, what they need first runs before, and
// the rest runs over whole tensors.
func TestPlan(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 64, 64)
	row := g.Input(graph.Float32, 64)
	rows := g.Add(row, row)         // 0: whole, [64]
	y := g.Add(x, rows)             // 1: tiled
	z := g.Add(y, g.Add(rows, row)) // 2: whole, [64]; 3: tiled
	g.Output(g.Add(z, y))           // 4: tiled
	g.Output(z)
	require.NoError(t, g.Check())
	l, err := newLayout(g)
	require.NoError(t, err)
	shapes, err := g.Infer([]Shape{{64, 64}, {64}})
	require.NoError(t, err)

	p := newPlan(g, l, shapes, sessionConfig{threads: 2, l1Bytes: 1024, l2Bytes: 4096, parallelBytes: 4096})
	require.Len(t, p.segments, 2)
	require.Equal(t, []int{0, 2}, p.segments[0].nodes)
	require.Nil(t, p.segments[0].tiling)
	require.Equal(t, 1, p.segments[0].threads, "small")
	require.Equal(t, []int{1, 3, 4}, p.segments[1].nodes)
	require.NotNil(t, p.segments[1].tiling)
	require.Len(t, p.carried, 2, "rows and rows+row")

	whole := newPlan(g, l, shapes, sessionConfig{threads: 2, l1Bytes: 1 << 20, l2Bytes: 1 << 20, parallelBytes: 1 << 20})
	require.Len(t, whole.segments, 1, "all of it fits in the cache")
	require.Nil(t, whole.segments[0].tiling)
	require.Empty(t, whole.carried)
	require.False(t, p.same(whole))
	require.True(t, p.same(newPlan(g, l, shapes, sessionConfig{threads: 2, l1Bytes: 1024, l2Bytes: 4096, parallelBytes: 4096})))
}

// TestPlanJoins: XNNPACK makes limits a part of the convolution before them, so they stay in one segment; those after a sum, or
// of a result that others need too, are tiled like other nodes.
func TestPlanJoins(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 1, 64, 64, 3)
	conv := func(x graph.ID) graph.ID {
		return g.Conv2D(x, g.Constant(make([]float32, 9), 3, 1, 1, 3), graph.None, graph.Conv2D{})
	}
	y := g.ReLU(conv(x))          // 0, 1: whole
	z := conv(y)                  // 2: whole
	g.Output(g.Add(g.ReLU(z), z)) // 3, 4: tiled
	require.NoError(t, g.Check())
	l, err := newLayout(g)
	require.NoError(t, err)
	shapes, err := g.Infer([]Shape{{1, 64, 64, 3}})
	require.NoError(t, err)

	p := newPlan(g, l, shapes, sessionConfig{threads: 2, l1Bytes: 1024, l2Bytes: 4096, parallelBytes: 4096})
	require.Len(t, p.segments, 2)
	require.Equal(t, []int{0, 1, 2}, p.segments[0].nodes)
	require.Nil(t, p.segments[0].tiling)
	require.Equal(t, []int{3, 4}, p.segments[1].nodes)
	require.NotNil(t, p.segments[1].tiling)
}
