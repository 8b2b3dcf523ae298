package xnn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestSlice takes random boxes out of tensors of all ranks, on every type.
func TestSlice(t *testing.T) {
	nothingHeld(t)
	r := rand.New(rand.NewPCG(9, 9))
	boxes := 40
	if instrumented {
		boxes = 5
	}
	for rank := range 7 {
		for range boxes {
			shape, offsets, sizes := make(Shape, rank), make([]int, rank), make([]int, rank)
			for i := range rank {
				shape[i] = 1 + r.IntN(6)
				offsets[i] = r.IntN(shape[i])
				sizes[i] = r.IntN(shape[i] - offsets[i] + 1)
			}
			for _, typ := range typesOf("Slice", shape...) {
				g := graph.New()
				g.Output(g.Slice(g.InputOf(typ), offsets, sizes))
				moved(t, g, 0, func(index []int) int {
					from := make([]int, rank)
					for i := range rank {
						from[i] = offsets[i] + index[i]
					}
					return offsetOf(shape, from)
				})
			}
		}
	}
}

// TestSliceFollows: a size of 0 is what is left of an input whose shape changes.
func TestSliceFollows(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	x := g.Input(Float32, 4, 10)
	g.Output(g.Slice(x, []int{0, 3}, []int{0, 0}))
	g.Output(g.Slice(x, []int{0, 1}, []int{0, 2}))
	s := opened(t, compiled(t, g))
	for _, shape := range []Shape{{4, 10}, {2, 4}, {1, 100}, {0, 5}, {3, 7}} {
		require.NoError(t, s.Reshape(shape), shape)
		require.Equal(t, Shape{shape[0], shape[1] - 3}, s.Output(0).Shape())
		y := run(t, s, ramp(shape.Elements()))
		for i := range shape[0] {
			for j := 3; j < shape[1]; j++ {
				require.Equal(t, float32(i*shape[1]+j), y[0][i*(shape[1]-3)+j-3])
			}
			require.Equal(t, []float32{float32(i*shape[1] + 1), float32(i*shape[1] + 2)}, y[1][2*i:2*i+2])
		}
	}
	failed(t, s.Reshape(Shape{4, 3}), ErrShape, "offset 3", "[4,3]")
	require.Equal(t, Shape{3, 4}, s.Output(0).Shape())
}
