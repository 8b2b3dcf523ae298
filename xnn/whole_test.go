package xnn

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/whole"
)

// TestWhole: a graph that a session would cut into tiles is one subgraph, in which inputs and outputs can be told apart, and all
// its memory is freed.
func TestWhole(t *testing.T) {
	nothingHeld(t)
	require.NoError(t, xnnpack.Init())
	const n = 1 << 20
	g := graph.New()
	a, b := g.Input(Float32, n), g.Input(Float32, n)
	sum := g.Add(g.Add(b, a), g.Constant(make([]float32, n), n))
	g.Output(g.Multiply(sum, sum))
	g.Output(sum)
	require.NoError(t, g.Check())
	w, err := whole.Describe(g)
	require.NoError(t, err)
	require.Equal(t, 3, w.Nodes())
	require.NotNil(t, w.Pointer())
	require.ElementsMatch(t, []whole.External{{Index: 0}, {Index: 1}, {Output: true, Index: 0}, {Output: true, Index: 1}}, w.Externals)
	w.Free()

	g = graph.New()
	g.Output(g.Input(Float32, 1))
	require.NoError(t, g.Check())
	_, err = whole.Describe(g)
	require.ErrorIs(t, err, ErrUnsupported)
}
