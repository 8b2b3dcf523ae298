package graph_test

import (
	"fmt"

	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	// of is a graph of one node with one operand.
	of := func(name string, op func(g *graph.Graph, x graph.ID) []graph.ID, dims ...int) {
		fixtureTable = append(fixtureTable, fixture{name: name, build: func(g *graph.Graph) {
			outs(g, op(g, g.Input(graph.Float32, dims...))...)
		}})
	}
	type ids = []graph.ID
	of("executorch/static_transpose", func(g *graph.Graph, x graph.ID) ids { return ids{g.Transpose(x, 2, 0, 1)} }, 2, 3, 4)
	of("executorch/static_reshape", func(g *graph.Graph, x graph.ID) ids { return ids{g.Reshape(x, 3, 0)} }, 2, 6)
	of("executorch/static_slice", func(g *graph.Graph, x graph.ID) ids { return ids{g.Slice(x, []int{1, 2}, []int{2, 3})} }, 4, 5)
	of("executorch/static_constant_pad", func(g *graph.Graph, x graph.ID) ids {
		return ids{g.Pad(x, []int{1, 0}, []int{0, 2}, 0.5)}
	}, 2, 3)
	of("executorch/static_resize_bilinear_2d", func(g *graph.Graph, x graph.ID) ids {
		return ids{g.ResizeBilinear2D(x, 4, 6, graph.HalfPixel)}
	}, 1, 2, 3, 2)
	of("executorch/static_resize_bilinear_2d_corners", func(g *graph.Graph, x graph.ID) ids {
		return ids{g.ResizeBilinear2D(x, 4, 6, graph.AlignCorners)}
	}, 1, 2, 3, 2)
	of("executorch/global_avg_pooling_2d", func(g *graph.Graph, x graph.ID) ids {
		return ids{g.ReduceMean(x, []int{1, 2}, true)}
	}, 1, 4, 4, 2)
	of("executorch/global_avg_pooling_2d_flat", func(g *graph.Graph, x graph.ID) ids {
		return ids{g.ReduceMean(x, []int{1, 2}, false)}
	}, 1, 4, 4, 2)
	of("executorch/copy", func(g *graph.Graph, x graph.ID) ids {
		defer handle(g, 9)
		return ids{g.Copy(x)}
	}, 2, 3)
	of("ours/reduce_mean", func(g *graph.Graph, x graph.ID) ids { return ids{g.ReduceMean(x, []int{1}, false)} }, 2, 3, 4)
	of("ours/reduce_mean_keep", func(g *graph.Graph, x graph.ID) ids { return ids{g.ReduceMean(x, []int{0, 2}, true)} }, 2, 3, 4)
	of("ours/reduce_sum", func(g *graph.Graph, x graph.ID) ids { return ids{g.ReduceSum(x, []int{0, 2}, false)} }, 2, 3, 4)
	of("ours/reduce_sum_keep", func(g *graph.Graph, x graph.ID) ids { return ids{g.ReduceSum(x, []int{2}, true)} }, 2, 3, 4)
	of("ours/expand_dims", func(g *graph.Graph, x graph.ID) ids { return ids{g.ExpandDims(x, 0, 2)} }, 2, 3)
	of("ours/depth_to_space_2d", func(g *graph.Graph, x graph.ID) ids { return ids{g.DepthToSpace2D(x, 2)} }, 1, 2, 3, 8)
	of("ours/space_to_depth_2d", func(g *graph.Graph, x graph.ID) ids { return ids{g.SpaceToDepth2D(x, 2)} }, 1, 4, 6, 2)
	of("ours/even_split", func(g *graph.Graph, x graph.ID) ids { return g.EvenSplit(x, 1, 3) }, 2, 6)
	for n := 2; n <= 5; n++ {
		fixtureTable = append(fixtureTable, fixture{name: fmt.Sprint("executorch/concatenate", n), build: func(g *graph.Graph) {
			var xs []graph.ID
			for i := range n {
				xs = append(xs, g.Input(graph.Float32, 2, i+1))
			}
			outs(g, g.Concat(1, xs...))
		}})
	}
	fixtureTable = append(fixtureTable, fixture{name: "ours/concatenate", build: func(g *graph.Graph) {
		x, y := g.Input(graph.Float32, 2, 1), g.Input(graph.Float32, 2, 2)
		outs(g, g.Concat(1, x, y, x, y, x, x))
	}})
}
