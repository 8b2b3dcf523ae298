package graph_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// matmulOf builds a BatchMatMul of inputs of these shapes.
func matmulOf(dtype graph.DType, transposed bool, a, b graph.Shape) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		x, y := g.Input(dtype, a...), g.Input(dtype, b...)
		if transposed {
			g.Output(g.BatchMatMulTransposed(x, y))
		} else {
			g.Output(g.BatchMatMul(x, y))
		}
	}
}

func TestBatchMatMulRejects(t *testing.T) {
	f32 := graph.Float32
	rejectsGraphs(t, map[string]badGraph{
		"inner":             {matmulOf(f32, false, graph.Shape{2, 3}, graph.Shape{2, 3}), schema.ErrShape, []string{"3 against 2"}},
		"inner, transposed": {matmulOf(f32, true, graph.Shape{2, 3}, graph.Shape{3, 4}), schema.ErrShape, []string{"3 against 4"}},
		"vector":            {matmulOf(f32, false, graph.Shape{3}, graph.Shape{3, 4}), schema.ErrShape, []string{"[3] is no matrix"}},
		"vector on the right": {matmulOf(f32, false, graph.Shape{2, 3}, graph.Shape{3}), schema.ErrShape,
			[]string{"[3] is no matrix"}},
		"batch":      {matmulOf(f32, false, graph.Shape{2, 1, 3}, graph.Shape{3, 3, 1}), schema.ErrShape, []string{"2 against 3"}},
		"no rows":    {matmulOf(f32, false, graph.Shape{0, 3}, graph.Shape{3, 4}), schema.ErrUnsupported, []string{"no elements"}},
		"no inner":   {matmulOf(f32, false, graph.Shape{2, 0}, graph.Shape{0, 4}), schema.ErrUnsupported, []string{"no elements"}},
		"no columns": {matmulOf(f32, false, graph.Shape{2, 3}, graph.Shape{3, 0}), schema.ErrUnsupported, []string{"no elements"}},
		"empty broadcast": {matmulOf(f32, false, graph.Shape{0, 2, 3}, graph.Shape{3, 4}),
			schema.ErrUnsupported, []string{"not broadcast"}},
		"int32": {matmulOf(graph.Int32, false, graph.Shape{2, 3}, graph.Shape{3, 4}),
			schema.ErrUnsupported, []string{"int32, int32"}},
		"limits": {func(g *graph.Graph) {
			g.BatchMatMul(g.Input(f32, 2, 3), g.Input(f32, 3, 4), graph.Limits(0, 1))
		}, schema.ErrUnsupported, []string{"limit"}},
	})
}

// TestBatchMatMulWeights: XNNPACK has one scale for each column of one matrix.
func TestBatchMatMulWeights(t *testing.T) {
	build := func(transposed bool, inner int, quant *graph.Quant, b, result graph.Shape) *graph.Graph {
		return &graph.Graph{
			Values: []graph.Value{
				{Type: graph.Type{DType: graph.Float32, Shape: graph.Shape{5, 2, 3}}},
				{Type: graph.Type{DType: graph.QDInt8, Shape: graph.Shape{5, 2, 3}, Quant: &graph.Quant{Inner: inner}}, Ref: 1},
				{Type: graph.Type{DType: graph.QCInt8, Shape: b, Quant: quant}, Constant: 1, Ref: 2},
				{Type: graph.Type{DType: graph.Float32, Shape: result}, Ref: 3},
			},
			Nodes: []graph.Node{
				{Op: graph.Unary{Func: graph.Convert}, Inputs: []graph.ID{0}, Outputs: []graph.ID{1}, Ref: 1},
				{Op: graph.BatchMatMul{Transposed: transposed}, Inputs: []graph.ID{1, 2}, Outputs: []graph.ID{3}},
			},
			Inputs: []graph.ID{0}, Outputs: []graph.ID{3},
			Constants: []graph.Constant{{}, {Data: make([]byte, b.Elements())}},
		}
	}
	result := graph.Shape{5, 2, 4}
	require.NoError(t, build(false, 1, sameScales(4, 1, 1), graph.Shape{3, 4}, result).Check())
	require.NoError(t, build(false, 1, sameScales(4, 2, 1), graph.Shape{1, 3, 4}, result).Check())
	require.NoError(t, build(true, 1, sameScales(4, 0, 1), graph.Shape{4, 3}, result).Check())
	for name, c := range map[string]struct {
		g    *graph.Graph
		text string
	}{
		"scales of rows":       {build(false, 1, sameScales(3, 0, 1), graph.Shape{3, 4}, result), "dimension 0"},
		"scales of columns":    {build(true, 1, sameScales(3, 1, 1), graph.Shape{4, 3}, result), "dimension 1"},
		"scales of batches":    {build(false, 1, sameScales(1, 0, 1), graph.Shape{1, 3, 4}, result), "dimension 0"},
		"several matrices":     {build(false, 1, sameScales(4, 2, 1), graph.Shape{5, 3, 4}, result), "one matrix"},
		"a scale for each two": {build(false, 2, sameScales(4, 1, 1), graph.Shape{3, 4}, result), "6 elements"},
	} {
		require.ErrorIs(t, c.g.Check(), schema.ErrUnsupported, name)
		require.ErrorContains(t, c.g.Check(), c.text, name)
	}
}

func TestBatchMatMulShapes(t *testing.T) {
	for _, c := range []struct {
		transposed   bool
		a, b, result graph.Shape
	}{
		{false, graph.Shape{2, 3}, graph.Shape{3, 4}, graph.Shape{2, 4}},
		{true, graph.Shape{2, 3}, graph.Shape{4, 3}, graph.Shape{2, 4}},
		{false, graph.Shape{7, 2, 3}, graph.Shape{3, 4}, graph.Shape{7, 2, 4}},
		{false, graph.Shape{2, 3}, graph.Shape{7, 3, 4}, graph.Shape{7, 2, 4}},
		{false, graph.Shape{5, 1, 7, 2, 3}, graph.Shape{6, 1, 3, 4}, graph.Shape{5, 6, 7, 2, 4}},
		{true, graph.Shape{1, 2, 3, 4, 2, 3}, graph.Shape{1, 1, 1, 1, 4, 3}, graph.Shape{1, 2, 3, 4, 2, 4}},
		{false, graph.Shape{0, 5, 2, 3}, graph.Shape{0, 1, 3, 4}, graph.Shape{0, 5, 2, 4}},
	} {
		g := graph.New()
		matmulOf(graph.Float32, c.transposed, c.a, c.b)(g)
		require.NoError(t, g.Check(), "%+v", c)
		require.Equal(t, c.result, g.Values[g.Outputs[0]].Shape)
		readsBack(t, g, "XN01")
	}
}
