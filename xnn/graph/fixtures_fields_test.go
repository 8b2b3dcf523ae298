package graph_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	type ids = []graph.ID
	// first is Abs of an input, so that no operand of what follows is value 0.
	first := func(g *graph.Graph, dims ...int) graph.ID { return g.Abs(g.Input(graph.Float32, dims...)) }
	add := func(name string, build func(g *graph.Graph) ids) {
		fixtureTable = append(fixtureTable, fixture{name: "executorch/chain_" + name, build: func(g *graph.Graph) {
			outs(g, build(g)...)
		}})
	}
	add("unary", func(g *graph.Graph) ids {
		x := first(g, 2, 3)
		for _, op := range []func(graph.ID, ...graph.Option) graph.ID{g.Sigmoid, g.Floor, g.SquareRoot, g.ReciprocalSquareRoot,
			g.Ceiling, g.GELU, g.HardSwish, g.Log, g.Negate, g.Square, g.Abs, g.Exp, g.Tanh, g.Sine, g.Cosine, g.Softmax, g.Copy} {
			x = op(x)
		}
		return ids{g.Convert(g.ELU(g.LeakyReLU(g.Clamp(x, -1, 2), 0.25), 0.5), graph.As(graph.Float16))}
	})
	add("binary", func(g *graph.Graph) ids {
		x, y := first(g, 2, 3), g.Constant(numbers(3), 3)
		for _, op := range []func(x, y graph.ID, o ...graph.Option) graph.ID{g.Add, g.Divide, g.Multiply, g.Subtract, g.Minimum,
			g.Maximum, g.PReLU} {
			x = op(x, y)
		}
		return ids{x}
	})
	add("moves", func(g *graph.Graph) ids {
		x := g.Reshape(g.Transpose(first(g, 2, 3, 4), 2, 0, 1), 8, 3)
		return ids{g.Pad(g.Slice(x, []int{5, 2}, []int{2, 1}), []int{1, 3}, []int{2, 1}, 0.5)}
	})
	add("images", func(g *graph.Graph) ids {
		return ids{g.ReduceMean(g.ResizeBilinear2D(first(g, 1, 2, 3, 2), 4, 6, graph.HalfPixel), []int{1, 2}, true)}
	})
	add("batch_matrix_multiply", func(g *graph.Graph) ids {
		x, y := g.Input(graph.Float32, 2, 3, 4), g.Input(graph.Float32, 2, 4, 5)
		return ids{g.BatchMatMul(g.Abs(x), y)}
	})
	add("attention", func(g *graph.Graph) ids {
		input := func(dims ...int) graph.ID { return g.Input(graph.Float32, dims...) }
		q, k, v, scale, mask := input(1, 2, 3, 4), input(1, 2, 5, 4), input(1, 2, 5, 4), input(4), input(3, 5)
		return ids{g.Attention(g.Abs(q), k, v, scale, mask, 0)}
	})
	for n := 2; n <= 5; n++ {
		add(fmt.Sprint("concatenate", n), func(g *graph.Graph) ids {
			var xs ids
			for i := range n {
				xs = append(xs, g.Input(graph.Float32, 1, 1, 1, 2, i+1))
			}
			slices.Reverse(xs)
			return ids{g.Concat(4, xs...)}
		})
	}
	weights := func(g *graph.Graph, dims ...int) (filter, bias graph.ID) {
		n, channels := 1, max(dims[0], dims[3])
		for _, d := range dims {
			n *= d
		}
		return g.Constant(numbers(n), dims...), g.Constant(numbers(channels), channels)
	}
	add("conv_2d", func(g *graph.Graph) ids {
		x := first(g, 1, 22, 20, 5)
		filter, bias := weights(g, 10, 5, 6, 1)
		return ids{x, g.Conv2D(x, filter, bias, graph.Conv2D{Padding: graph.Padding{Top: 3, Right: 4, Bottom: 5, Left: 2},
			Stride: [2]int{2, 6}, Dilation: [2]int{7, 4}, Groups: 5})}
	})
	add("depthwise_conv_2d", func(g *graph.Graph) ids {
		x := first(g, 1, 50, 70, 3)
		filter, bias := weights(g, 1, 7, 8, 6)
		return ids{x, g.DepthwiseConv2D(x, filter, bias, graph.DepthwiseConv2D{
			Padding: graph.Padding{Top: 3, Right: 4, Bottom: 5, Left: 6}, Stride: [2]int{7, 8}, Dilation: [2]int{9, 10}})}
	})
	add("conv_transpose_2d", func(g *graph.Graph) ids {
		x := first(g, 1, 2, 2, 6)
		filter, bias := weights(g, 12, 3, 2, 1)
		return ids{x, g.ConvTranspose2D(x, filter, bias, graph.ConvTranspose2D{
			Padding: graph.Padding{Top: 3, Right: 3, Bottom: 2, Left: 4}, Stride: [2]int{4, 6}, Dilation: [2]int{4, 5}, Groups: 6,
			Adjustment: [2]int{1, 5}})}
	})
	add("avg_pooling_2d", func(g *graph.Graph) ids {
		x := first(g, 1, 6, 7, 2)
		return ids{x, g.AvgPool2D(x, graph.Pool2D{Kernel: [2]int{5, 6}, Stride: [2]int{3, 4},
			Padding: graph.Padding{Top: 3, Right: 2, Bottom: 4, Left: 3}})}
	})
	add("max_pooling_2d", func(g *graph.Graph) ids {
		x := first(g, 1, 5, 32, 2)
		return ids{x, g.MaxPool2D(x, graph.Pool2D{Kernel: [2]int{9, 8}, Stride: [2]int{5, 6}, Dilation: [2]int{1, 4},
			Padding: graph.Padding{Top: 3, Right: 2, Bottom: 4, Left: 3}})}
	})
	add("arg_max_pooling_2d", func(g *graph.Graph) ids {
		x := first(g, 1, 6, 6, 2)
		y, at := g.ArgMaxPool2D(x, graph.ArgMaxPool2D{Kernel: [2]int{6, 7},
			Padding: graph.Padding{Top: 2, Right: 3, Bottom: 4, Left: 5}})
		return ids{x, y, at}
	})
}

// alike are the fields that can have but one value in a table of ExecuTorch's.
var alike = map[string][]string{
	"Conv2d": {"adjustment_height", "adjustment_width"}, "DepthwiseConv2d": {"adjustment_height", "adjustment_width"},
	"AvgPooling2d": {"dilation_height", "dilation_width"}, "Concatenate2": {"input3_id", "input4_id", "input5_id"},
	"Concatenate3": {"input4_id", "input5_id"}, "Concatenate4": {"input5_id"},
}

// TestFixturesTellFieldsApart: for each node of ExecuTorch's dialect that we write, and each two of its fields, there is a file
// in which they differ, so that a writer or a reader that mixes them up fails with it. What is 0 in all files would say nothing.
func TestFixturesTellFieldsApart(t *testing.T) {
	needFlatc(t)
	nodes := map[string][]map[string]any{}
	for _, f := range fixtureTable {
		if f.foreign || filepath.Dir(f.name) != "executorch" {
			continue
		}
		file := flatcJSON(t, testdata+"executorch/executorch.fbs", f.file(t)).(map[string]any)
		for _, n := range file["nodes"].([]any) {
			n := n.(map[string]any)
			kind := n["node_type"].(string)
			nodes[kind] = append(nodes[kind], n["node"].(map[string]any))
		}
	}
	require.Len(t, nodes, 47, "tags that are written")
	for kind, list := range nodes {
		var fields []string
		for _, f := range slices.Sorted(maps.Keys(list[0])) {
			if _, scalar := list[0][f].(float64); scalar && f != "flags" && !slices.Contains(alike[kind], f) {
				fields = append(fields, f)
			}
		}
		differ := func(a, b string) bool {
			return slices.ContainsFunc(list, func(n map[string]any) bool { return n[a] != n[b] })
		}
		for i, a := range fields {
			require.True(t, slices.ContainsFunc(list, func(n map[string]any) bool { return n[a] != 0.0 }), "%s: %s is always 0", kind, a)
			for _, b := range append(strings.Fields("flags"), fields[i+1:]...) {
				require.True(t, differ(a, b), "%s: %s and %s are always alike", kind, a, b)
			}
		}
	}
}
