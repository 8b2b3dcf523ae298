package xnn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestBlocks moves channels into blocks of pixels and back, on every type.
func TestBlocks(t *testing.T) {
	nothingHeld(t)
	r := rand.New(rand.NewPCG(13, 13))
	for range 30 {
		b, n, h, w, c := 2+r.IntN(3), 1+r.IntN(3), 1+r.IntN(4), 1+r.IntN(4), 1+r.IntN(5)
		deep, wide := Shape{n, h, w, c * b * b}, Shape{n, h * b, w * b, c}
		for _, typ := range typesOf("DepthToSpace2D", deep...) {
			g := graph.New()
			g.Output(g.DepthToSpace2D(g.InputOf(typ), b))
			moved(t, g, 0, func(i []int) int {
				return offsetOf(deep, []int{i[0], i[1] / b, i[2] / b, (i[1]%b*b+i[2]%b)*c + i[3]})
			})
		}
		for _, typ := range typesOf("SpaceToDepth2D", wide...) {
			g := graph.New()
			g.Output(g.SpaceToDepth2D(g.InputOf(typ), b))
			moved(t, g, 0, func(i []int) int {
				return offsetOf(wide, []int{i[0], i[1]*b + i[3]/c/b, i[2]*b + i[3]/c%b, i[3] % c})
			})
		}
	}
}

// TestBlocksFollow the shape of their input, down to none.
func TestBlocksFollow(t *testing.T) {
	nothingHeld(t)
	g := graph.New()
	g.Output(g.SpaceToDepth2D(g.DepthToSpace2D(g.Input(Float32, 1, 2, 2, 8), 2), 2))
	s := opened(t, compiled(t, g))
	for _, shape := range []Shape{{1, 2, 2, 8}, {4, 1, 3, 8}, {0, 2, 2, 8}, {2, 2, 2, 4}, {3, 0, 2, 4}, {1, 5, 1, 8}} {
		require.NoError(t, s.Reshape(shape))
		require.Equal(t, shape, s.Output(0).Shape())
		require.Equal(t, ramp(shape.Elements()), run(t, s, ramp(shape.Elements()))[0])
	}
}
