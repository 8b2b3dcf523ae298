package xnn

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestUnreadResults: a node with several results of which the graph uses one. XNNPACK forgets the others but runs the node.
func TestUnreadResults(t *testing.T) {
	x := []float32{1, 12, 3, 4, 2, 6, 7, 0, 13, 8, 11, 10}
	run := func(t *testing.T, g *graph.Graph) *Session {
		m, err := Compile(g)
		require.NoError(t, err)
		t.Cleanup(func() { m.Close() })
		s, err := m.NewSession()
		require.NoError(t, err)
		copy(Data[float32](s.Input(0)), x)
		require.NoError(t, s.Run())
		return s
	}
	for _, parts := range []int{2, 3, 4, 6} {
		for part := range parts {
			t.Run(fmt.Sprintf("part %d of %d", part, parts), func(t *testing.T) {
				g := graph.New()
				g.Output(g.EvenSplit(g.Add(g.Input(Float32, 12), g.Constant([]float32{0}, 1)), 0, parts)[part])
				n := len(x) / parts
				require.Equal(t, x[part*n:(part+1)*n], Data[float32](run(t, g).Output(0)))
			})
		}
	}
	pool := func(pick func(g *graph.Graph, values, indices graph.ID) graph.ID) *graph.Graph {
		g := graph.New()
		values, indices := g.ArgMaxPool2D(g.Input(Float32, 1, 4, 3, 1), graph.ArgMaxPool2D{Kernel: [2]int{4, 1}})
		g.Output(pick(g, values, indices))
		return g
	}
	t.Run("maxima alone", func(t *testing.T) {
		s := run(t, pool(func(_ *graph.Graph, values, _ graph.ID) graph.ID { return values }))
		require.Equal(t, []float32{8, 12, 13}, Data[float32](s.Output(0)))
	})
	t.Run("places alone", func(t *testing.T) {
		s := run(t, pool(func(_ *graph.Graph, _, indices graph.ID) graph.ID { return indices }))
		require.Equal(t, []int32{3, 0, 2}, Data[int32](s.Output(0)))
	})
}
