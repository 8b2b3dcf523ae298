package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

func TestSoftmaxRejects(t *testing.T) {
	softmax := func(dtype graph.DType, dims ...int) func(g *graph.Graph) {
		return func(g *graph.Graph) { g.Output(g.Softmax(g.Input(dtype, dims...))) }
	}
	rejectsGraphs(t, map[string]badGraph{
		"scalar":     {softmax(graph.Float32), schema.ErrShape, []string{"scalar"}},
		"empty rows": {softmax(graph.Float32, 3, 0), schema.ErrUnsupported, []string{"0 elements"}},
		"long half":  {softmax(graph.Float16, 1, 65505), schema.ErrUnsupported, []string{"65505", "fp16"}},
		"int32":      {softmax(graph.Int32, 3), schema.ErrUnsupported, []string{"int32"}},
		"to fp16": {func(g *graph.Graph) { g.Softmax(g.Input(graph.Float32, 3), graph.As(graph.Float16)) },
			schema.ErrUnsupported, nil},
		"with a limit": {func(g *graph.Graph) { g.Softmax(g.Input(graph.Float32, 3), graph.Limits(0, 1)) }, schema.ErrUnsupported, nil},
		"of quint8": {func(g *graph.Graph) {
			g.Softmax(g.InputOf(graph.Type{DType: graph.QUInt8, Shape: graph.Shape{3}, Quant: &graph.Quant{Scale: 1}}))
		}, schema.ErrUnsupported, []string{"quint8"}},
	})
	for _, dims := range [][]int{{3}, {2, 3}, {0, 3}, {1, 2, 3, 4, 5, 6}} {
		g := graph.New()
		softmax(graph.Float16, dims...)(g)
		require.Equal(t, graph.Shape(dims), g.Values[g.Outputs[0]].Shape)
		readsBack(t, g, "XN01")
	}
}

// attentionOf builds an Attention of inputs of these shapes.
func attentionOf(dtype graph.DType, cap float32, q, k, v, scale, mask graph.Shape) func(g *graph.Graph) {
	return func(g *graph.Graph) {
		in := func(s graph.Shape) graph.ID { return g.Input(dtype, s...) }
		g.Output(g.Attention(in(q), in(k), in(v), in(scale), in(mask), cap))
	}
}

func TestAttentionRejects(t *testing.T) {
	q, k, v := graph.Shape{2, 3, 5, 4}, graph.Shape{2, 3, 7, 4}, graph.Shape{2, 3, 7, 6}
	scale, mask := graph.Shape{4}, graph.Shape{5, 7}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	f32, f16 := graph.Float32, graph.Float16
	rejectsGraphs(t, map[string]badGraph{
		"query of rank 2": {attentionOf(f32, 0, graph.Shape{5, 4}, k, v, scale, mask), schema.ErrShape, []string{"query is [5,4]"}},
		"key's batch": {attentionOf(f32, 0, q, graph.Shape{1, 3, 7, 4}, v, scale, mask),
			schema.ErrShape, []string{"key is [1,3,7,4]", "[2,3,-1,4]"}},
		"key's heads":    {attentionOf(f32, 0, q, graph.Shape{2, 1, 7, 4}, v, scale, mask), schema.ErrShape, []string{"key"}},
		"key's channels": {attentionOf(f32, 0, q, graph.Shape{2, 3, 7, 6}, v, scale, mask), schema.ErrShape, []string{"key"}},
		"key of rank 2":  {attentionOf(f32, 0, q, graph.Shape{7, 4}, v, scale, mask), schema.ErrShape, []string{"key"}},
		"value of rank 3": {attentionOf(f32, 0, q, k, graph.Shape{2, 7, 6}, scale, mask),
			schema.ErrShape, []string{"value is [2,7,6]"}},
		"value's tokens": {attentionOf(f32, 0, q, k, graph.Shape{2, 3, 8, 6}, scale, mask),
			schema.ErrShape, []string{"value", "[2,3,7,-1]"}},
		"value's batch": {attentionOf(f32, 0, q, k, graph.Shape{1, 3, 7, 6}, scale, mask), schema.ErrShape, []string{"value"}},
		"shared key only": {attentionOf(f32, 0, q, graph.Shape{2, 7, 4}, v, scale, mask),
			schema.ErrShape, []string{"value", "[2,7,-1]"}},
		"scale's length":  {attentionOf(f32, 0, q, k, v, graph.Shape{5}, mask), schema.ErrShape, []string{"scale is [5]", "[4]"}},
		"scale of rank 0": {attentionOf(f32, 0, q, k, v, graph.Shape{}, mask), schema.ErrShape, []string{"scale"}},
		"mask's rows":     {attentionOf(f32, 0, q, k, v, scale, graph.Shape{7, 7}), schema.ErrShape, []string{"mask", "[5,7]"}},
		"mask's columns":  {attentionOf(f32, 0, q, k, v, scale, graph.Shape{5, 5}), schema.ErrShape, []string{"mask"}},
		"mask of rank 4":  {attentionOf(f32, 0, q, k, v, scale, graph.Shape{1, 1, 5, 7}), schema.ErrShape, []string{"mask"}},
		"no batch": {attentionOf(f32, 0, graph.Shape{0, 3, 5, 4}, graph.Shape{0, 3, 7, 4}, graph.Shape{0, 3, 7, 6}, scale,
			mask), schema.ErrUnsupported, []string{"no elements"}},
		"no tokens": {attentionOf(f32, 0, graph.Shape{2, 3, 0, 4}, k, v, scale, graph.Shape{0, 7}),
			schema.ErrUnsupported, []string{"no elements"}},
		"no keys": {attentionOf(f32, 0, q, graph.Shape{2, 3, 0, 4}, graph.Shape{2, 3, 0, 6}, scale, graph.Shape{5, 0}),
			schema.ErrUnsupported, []string{"no elements"}},
		"no value channels": {attentionOf(f32, 0, q, k, graph.Shape{2, 3, 7, 0}, scale, mask),
			schema.ErrUnsupported, []string{"no elements"}},
		"long half": {attentionOf(f16, 0, graph.Shape{1, 1, 1}, graph.Shape{1, 65505, 1}, graph.Shape{1, 65505, 1}, graph.Shape{1},
			graph.Shape{1, 65505}),
			schema.ErrUnsupported, []string{"65505"}},
		"cap NaN":         {attentionOf(f32, nan, q, k, v, scale, mask), schema.ErrGraph, []string{"cap NaN"}},
		"cap infinite":    {attentionOf(f32, inf, q, k, v, scale, mask), schema.ErrGraph, []string{"cap"}},
		"cap negative":    {attentionOf(f32, -1, q, k, v, scale, mask), schema.ErrGraph, []string{"cap -1"}},
		"cap subnormal":   {attentionOf(f32, 0x1p-127, q, k, v, scale, mask), schema.ErrGraph, []string{"cap"}},
		"cap past 2^126":  {attentionOf(f32, 0x1p127, q, k, v, scale, mask), schema.ErrGraph, []string{"cap"}},
		"cap of half":     {attentionOf(f16, 0x1p-15, q, k, v, scale, mask), schema.ErrGraph, []string{"cap", "fp16"}},
		"cap past a half": {attentionOf(f16, 65520, q, k, v, scale, mask), schema.ErrGraph, []string{"cap"}},
		"mixed types": {func(g *graph.Graph) {
			x := g.Input(f32, 1, 1, 1)
			g.Attention(x, x, x, g.Input(f32, 1), g.Input(f16, 1, 1), 0)
		}, schema.ErrUnsupported, []string{"fp16"}},
	})
	for _, c := range []struct {
		q, k, v, result graph.Shape
	}{
		{q, k, v, graph.Shape{2, 3, 5, 6}},
		{q, graph.Shape{2, 7, 4}, graph.Shape{2, 7, 6}, graph.Shape{2, 3, 5, 6}},
		{graph.Shape{3, 5, 4}, graph.Shape{7, 4}, graph.Shape{7, 6}, graph.Shape{3, 5, 6}},
		{graph.Shape{2, 2, 2, 3, 5, 4}, graph.Shape{2, 2, 2, 3, 7, 4}, graph.Shape{2, 2, 2, 3, 7, 6}, graph.Shape{2, 2, 2, 3, 5, 6}},
	} {
		for cap, identifier := range map[float32]string{0: "XN01", 2.5: "XNNG"} {
			g := graph.New()
			attentionOf(f32, cap, c.q, c.k, c.v, scale, mask)(g)
			require.NoError(t, g.Check())
			require.Equal(t, c.result, g.Values[g.Outputs[0]].Shape)
			readsBack(t, g, identifier)
		}
	}
}

func TestRotaryEmbeddingRejects(t *testing.T) {
	rope := func(x, weights graph.Shape, tokens int) func(g *graph.Graph) {
		return func(g *graph.Graph) {
			g.Output(g.RotaryEmbedding(g.Input(graph.Float32, x...), g.Input(graph.Float32, weights...), tokens))
		}
	}
	x, weights := graph.Shape{2, 5, 3, 4}, graph.Shape{8, 4}
	rejectsGraphs(t, map[string]badGraph{
		"rank 2":          {rope(graph.Shape{3, 4}, weights, 8), schema.ErrShape, []string{"[3,4]"}},
		"odd channels":    {rope(graph.Shape{2, 5, 3, 3}, graph.Shape{8, 3}, 8), schema.ErrShape, []string{"3 channels", "even"}},
		"too many tokens": {rope(graph.Shape{2, 9, 3, 4}, weights, 8), schema.ErrShape, []string{"9 tokens", "8"}},
		"no tokens":       {rope(graph.Shape{2, 0, 3, 4}, weights, 8), schema.ErrUnsupported, []string{"nothing"}},
		"no heads":        {rope(graph.Shape{2, 5, 0, 4}, weights, 8), schema.ErrUnsupported, []string{"nothing"}},
		"no channels":     {rope(graph.Shape{2, 5, 3, 0}, graph.Shape{8, 0}, 8), schema.ErrUnsupported, []string{"nothing"}},
		"max_tokens 0":    {rope(x, weights, 0), schema.ErrGraph, []string{"max_tokens is 0"}},
		"negative":        {rope(x, weights, -1), schema.ErrGraph, []string{"max_tokens is -1"}},
		"past 32 bits":    {rope(x, weights, 1<<32), schema.ErrGraph, []string{"max_tokens"}},
		"weights' tokens": {rope(x, weights, 7), schema.ErrShape, []string{"[8,4]", "[7,4]"}},
		"weights' row":    {rope(x, graph.Shape{8, 2}, 8), schema.ErrShape, []string{"[8,2]"}},
		"weights' rank":   {rope(x, graph.Shape{8, 1, 4}, 8), schema.ErrShape, []string{"[8,1,4]"}},
		"fp16 weights": {func(g *graph.Graph) {
			g.RotaryEmbedding(g.Input(graph.Float32, x...), g.Input(graph.Float16, weights...), 8)
		}, schema.ErrUnsupported, []string{"fp16"}},
	})
	for _, x := range []graph.Shape{x, {5, 3, 4}, {0, 5, 3, 4}, {1, 2, 3, 8, 1, 4}} {
		g := graph.New()
		rope(x, weights, 8)(g)
		require.NoError(t, g.Check())
		require.Equal(t, x, g.Values[g.Outputs[0]].Shape)
		readsBack(t, g, "XNNG")
	}
}
