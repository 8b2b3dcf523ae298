package xnn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// Counted by hand.
func TestMultiplyAdds(t *testing.T) {
	g := graph.New()
	zeros := func(dims ...int) graph.ID { return g.Constant(make([]float32, Shape(dims).Elements()), dims...) }
	x := g.Input(Float32, 2, 5, 5, 4)
	y := g.Conv2D(x, zeros(6, 3, 3, 2), graph.None, graph.Conv2D{Groups: 2, Stride: [2]int{2, 2}}) // [2,2,2,6]
	y = g.DepthwiseConv2D(y, zeros(1, 2, 2, 12), graph.None, graph.DepthwiseConv2D{})              // [2,1,1,12]
	y = g.ConvTranspose2D(y, zeros(5, 2, 2, 12), graph.None, graph.ConvTranspose2D{})              // [2,2,2,5]
	y = g.ReLU(y)                                                                                  //
	y = g.FullyConnected(y, zeros(3, 5), graph.None)                                               // [2,2,2,3]
	g.Output(g.BatchMatMul(y, zeros(2, 2, 3, 7)))                                                  // [2,2,2,7]
	require.NoError(t, g.Check())
	require.Equal(t, []int{2 * 2 * 2 * 6 * 9 * 2, 2 * 12 * 4, 2 * 12 * 4 * 5, 0, 8 * 3 * 5, 8 * 7 * 3}, MultiplyAdds(g))
}
