package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// TestMovesReject: every parameter of the operators that move elements, wrong once.
func TestMovesReject(t *testing.T) {
	x := fp32(2, 3, 4)
	on := func(apply func(g *graph.Graph, x graph.ID)) func(g *graph.Graph) {
		return func(g *graph.Graph) { apply(g, g.InputOf(x)) }
	}
	reshape := func(dims ...int) func(g *graph.Graph) {
		return on(func(g *graph.Graph, x graph.ID) { g.Reshape(x, dims...) })
	}
	expand := func(axes ...int) func(g *graph.Graph) {
		return on(func(g *graph.Graph, x graph.ID) { g.ExpandDims(x, axes...) })
	}
	transpose := func(perm ...int) func(g *graph.Graph) {
		return on(func(g *graph.Graph, x graph.ID) { g.Transpose(x, perm...) })
	}
	slice := func(offsets, sizes []int) func(g *graph.Graph) {
		return on(func(g *graph.Graph, x graph.ID) { g.Slice(x, offsets, sizes) })
	}
	pad := func(pre, post []int) func(g *graph.Graph) {
		return on(func(g *graph.Graph, x graph.ID) { g.Pad(x, pre, post, 0) })
	}
	split := func(axis, parts int) func(g *graph.Graph) {
		return on(func(g *graph.Graph, x graph.ID) { g.EvenSplit(x, axis, parts) })
	}
	image := func(block int, dims ...int) func(g *graph.Graph) {
		return func(g *graph.Graph) { g.DepthToSpace2D(g.InputOf(fp32(dims...)), block) }
	}
	blocks := func(block int, dims ...int) func(g *graph.Graph) {
		return func(g *graph.Graph) { g.SpaceToDepth2D(g.InputOf(fp32(dims...)), block) }
	}
	concat := func(axis int, shapes ...graph.Shape) func(g *graph.Graph) {
		return func(g *graph.Graph) {
			var ids []graph.ID
			for _, s := range shapes {
				ids = append(ids, g.InputOf(fp32(s...)))
			}
			g.Concat(axis, ids...)
		}
	}
	q, p := of8(graph.QInt8, 1, 0, 2, 3, 4), of8(graph.QInt8, 1, 1, 2, 3, 4)
	rejectsGraphs(t, map[string]badGraph{
		"reshape to other count": {reshape(5, 5), schema.ErrShape, []string{"24 elements", "[5,5]"}},
		"reshape to no multiple": {reshape(0, 5), schema.ErrShape, []string{"24 elements", "[0,5]"}},
		"reshape to two unknown": {reshape(0, 0, 4), schema.ErrShape, []string{"0 and 1"}},
		"reshape to rank 7":      {reshape(1, 1, 1, 1, 2, 3, 4), schema.ErrUnsupported, []string{"7"}},
		"reshape to negative":    {reshape(-24, -1), schema.ErrShape, []string{"-24"}},
		"reshape to -1":          {reshape(4, -1), schema.ErrShape, []string{"-1", "unset"}},
		"reshape overflows":      {reshape(math.MaxUint32-1, math.MaxUint32-1), schema.ErrShape, []string{"overflows"}},
		"reshape wraps": {reshape(1<<32-2, 1<<32-2, 1<<32-2, 1<<32-2, 1<<32-2, 1<<32-2),
			schema.ErrShape, []string{"overflows"}},
		"reshape to a scalar": {reshape(), schema.ErrShape, []string{"24 elements"}},
		"reshape quantised": {withOp(graph.Reshape{Dims: []int{2, 3, 4}}, q, p),
			schema.ErrGraph, []string{"quantisation"}},
		"reshape to other type": {withOp(graph.Reshape{Dims: []int{2, 3, 4}}, x, q),
			schema.ErrUnsupported, []string{"fp32 -> qint8"}},
		"expand beyond":    {expand(4), schema.ErrGraph, []string{"axis 4", "4 dimensions"}},
		"expand before":    {expand(-5), schema.ErrGraph, []string{"axis -5"}},
		"expand twice":     {expand(1, -4), schema.ErrGraph, []string{"axis 1", "twice"}},
		"expand to rank 7": {expand(0, 1, 2, 3), schema.ErrUnsupported, []string{"7", "6"}},
		"expand in disorder": {withOp(graph.ExpandDims{Axes: []int{1, 0}}, x, fp32(1, 1, 2, 3, 4)),
			schema.ErrGraph, []string{"[1 0]", "ascend"}},
		"transpose of few":  {transpose(1, 0), schema.ErrGraph, []string{"perm has 2 entries", "3 dimensions"}},
		"transpose of many": {transpose(0, 1, 2, 3), schema.ErrGraph, []string{"perm has 4 entries"}},
		"transpose twice":   {transpose(0, 1, 1), schema.ErrGraph, []string{"axis 1", "twice"}},
		"transpose beyond":  {transpose(0, 1, 3), schema.ErrGraph, []string{"axis 3"}},
		"transpose of integers": {func(g *graph.Graph) { g.Transpose(g.Input(graph.Int32, 2, 2), 1, 0) },
			schema.ErrUnsupported, []string{"int32"}},
		"slice of few offsets":   {slice([]int{0, 0}, []int{1, 1, 1}), schema.ErrGraph, []string{"offsets has 2 entries"}},
		"slice of many sizes":    {slice([]int{0, 0, 0}, []int{1, 1, 1, 1}), schema.ErrGraph, []string{"sizes has 4 entries"}},
		"slice beyond":           {slice([]int{0, 3, 0}, []int{1, 1, 1}), schema.ErrShape, []string{"offset 3", "dimension 1"}},
		"slice beyond, the rest": {slice([]int{0, 3, 0}, []int{1, 0, 1}), schema.ErrShape, []string{"offset 3", "dimension 1"}},
		"slice before":           {slice([]int{0, -1, 0}, []int{1, 1, 1}), schema.ErrShape, []string{"offset -1"}},
		"slice too long": {slice([]int{0, 1, 0}, []int{1, 3, 1}),
			schema.ErrShape, []string{"3 elements from 1", "dimension 1"}},
		"slice of all":      {slice([]int{1, 0, 0}, []int{math.MaxInt, 1, 1}), schema.ErrShape, []string{"dimension 0"}},
		"slice of less":     {slice([]int{0, 0, 0}, []int{1, -1, 1}), schema.ErrShape, []string{"-1 elements"}},
		"pad of few before": {pad([]int{1}, []int{1, 1, 1}), schema.ErrGraph, []string{"pre_paddings has 1"}},
		"pad of many after": {pad([]int{1, 1, 1}, []int{1, 1, 1, 1}), schema.ErrGraph, []string{"post_paddings has 4"}},
		"pad of less":       {pad([]int{1, -1, 1}, []int{1, 1, 1}), schema.ErrGraph, []string{"dimension 1", "-1"}},
		"pad of all":        {pad([]int{1, 1, 1}, []int{math.MaxInt, 1, 1}), schema.ErrGraph, []string{"dimension 0"}},
		"pad of much": {pad([]int{1 << 31, 1 << 31, 1 << 31}, []int{0, 0, 0}),
			schema.ErrShape, []string{"overflows"}},
		"pad of nothing": {func(g *graph.Graph) { g.Pad(g.InputOf(fp32(0, 2)), []int{1, 0}, []int{0, 0}, 0) },
			schema.ErrUnsupported, []string{"no elements"}},
		"pad with NaN": {func(g *graph.Graph) { g.Pad(g.InputOf(q), []int{1, 0, 0}, []int{0, 0, 0}, noNumber) },
			schema.ErrGraph, []string{"padding_value", "NaN"}},
		"concat of one":     {concat(0, graph.Shape{2}), schema.ErrGraph, []string{"2 or more", "1"}},
		"concat of none":    {concat(0), schema.ErrGraph, []string{"2 or more", "0"}},
		"concat beyond":     {concat(1, graph.Shape{2}, graph.Shape{3}), schema.ErrGraph, []string{"axis 1"}},
		"concat before":     {concat(-2, graph.Shape{2}, graph.Shape{3}), schema.ErrGraph, []string{"axis -2"}},
		"concat of scalars": {concat(0, graph.Shape{}, graph.Shape{}), schema.ErrGraph, []string{"axis 0"}},
		"concat of other ranks": {concat(0, graph.Shape{2}, graph.Shape{3, 1}),
			schema.ErrShape, []string{"operand 1", "[3,1]", "[2]"}},
		"concat of other sizes": {concat(0, graph.Shape{2, 2}, graph.Shape{2, 2}, graph.Shape{2, 3}),
			schema.ErrShape, []string{"operand 2", "[2,3]"}},
		"concat of other types": {func(g *graph.Graph) { g.Concat(0, g.InputOf(fp32(2)), g.Input(graph.Float16, 2)) },
			schema.ErrUnsupported, []string{"fp32, fp16"}},
		"concat of large scales": {func(g *graph.Graph) { g.Concat(0, g.InputOf(q), g.InputOf(of8(graph.QInt8, 1e20, 0, 2, 3, 4))) },
			schema.ErrUnsupported, []string{"1e+20"}},
		"split unevenly":      {split(1, 2), schema.ErrShape, []string{"dimension 1", "2 equal parts"}},
		"split beyond":        {split(3, 2), schema.ErrGraph, []string{"axis 3"}},
		"split before":        {split(-4, 2), schema.ErrGraph, []string{"axis -4"}},
		"split into none":     {split(0, 0), schema.ErrUnsupported, []string{"0 parts"}},
		"split into less":     {split(0, -3), schema.ErrUnsupported, []string{"-3 parts"}},
		"split into too many": {split(0, 1<<40), schema.ErrUnsupported, []string{"parts"}},
		"split without results": {func(g *graph.Graph) { withOp(graph.EvenSplit{}, x, x)(g); g.Nodes[0].Outputs, g.Outputs = nil, nil },
			schema.ErrGraph, []string{"1 or more", "0"}},
		"split quantised":          {withOp(graph.EvenSplit{}, q, p), schema.ErrGraph, []string{"quantisation"}},
		"copy quantised":           {withOp(graph.Copy{}, q, p), schema.ErrGraph, []string{"quantisation"}},
		"copy to other shape":      {withOp(graph.Copy{}, x, fp32(2, 3)), schema.ErrShape, []string{"[2,3]"}},
		"blocks of 0":              {image(0, 1, 1, 1, 4), schema.ErrGraph, []string{"block_size", "0"}},
		"blocks of 1":              {image(1, 1, 1, 1, 4), schema.ErrGraph, []string{"block_size", "1"}},
		"blocks of less":           {blocks(-2, 1, 4, 4, 4), schema.ErrGraph, []string{"block_size", "-2"}},
		"blocks of 2^16":           {image(1<<16, 1, 1, 1, 0), schema.ErrGraph, []string{"block_size", "65536"}},
		"blocks of no channels":    {image(2, 1, 1, 1, 6), schema.ErrShape, []string{"6 channels", "2 x 2"}},
		"blocks of no rows":        {blocks(2, 1, 3, 2, 1), schema.ErrShape, []string{"3 x 2", "2 x 2"}},
		"blocks of no columns":     {blocks(2, 1, 2, 3, 1), schema.ErrShape, []string{"2 x 3", "2 x 2"}},
		"blocks of no image":       {blocks(2, 2, 2, 1), schema.ErrShape, []string{"[2,2,1]"}},
		"blocks of a large image":  {image(2, 1, 1<<31, 1, 4), schema.ErrShape, []string{"dimension 1"}},
		"blocks of a larger image": {blocks(1<<15, 1, 1<<15, 1<<15, 1<<10), schema.ErrShape, []string{"dimension 3"}},
	})
}

// TestMovesInfer gives shapes for other inputs than the graph was built for.
func TestMovesInfer(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 2, 4, 4, 4)
	g.Output(g.Reshape(x, 0, 16))
	g.Output(g.Slice(x, []int{0, 1, 0, 0}, []int{0, 0, 2, 0}))
	g.Output(g.DepthToSpace2D(x, 2))
	g.Output(g.Transpose(x, 0, 3, 1, 2))
	for _, id := range g.EvenSplit(x, 3, 2) {
		g.Output(id)
	}
	g.Output(g.Concat(0, x, x, x))
	g.Output(g.ReduceMean(x, []int{1, 2}, false))
	g.Output(g.ExpandDims(x, 0))
	require.NoError(t, g.Check())
	shapes, err := g.Infer([]graph.Shape{{3, 6, 2, 8}})
	require.NoError(t, err)
	for i, want := range []graph.Shape{{18, 16}, {3, 5, 2, 8}, {3, 12, 4, 2}, {3, 8, 6, 2}, {3, 6, 2, 4}, {3, 6, 2, 4},
		{9, 6, 2, 8}, {3, 8},
		{1, 3, 6, 2, 8}} {
		require.Equal(t, want, shapes[g.Outputs[i]])
	}
	_, err = g.Infer([]graph.Shape{{3, 1, 2, 8}})
	require.ErrorIs(t, err, schema.ErrShape)
	empty, err := g.Infer([]graph.Shape{{0, 4, 4, 4}})
	require.NoError(t, err)
	require.Equal(t, graph.Shape{0, 16}, empty[g.Outputs[0]])
}
