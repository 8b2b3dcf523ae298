package graph_test

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// What a file only reserves is zeros, of any size, and its bytes may end within an element.
func TestHalfPrecisionReserved(t *testing.T) {
	const n = 1 << 29
	g := graph.New()
	constant := g.Constant([]float32{1}, 1)
	g.Values[constant].Shape = graph.Shape{n}
	g.Constants[1].Data = []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0x40, 0, 0, 0x80} // 1, 2 and three bytes of 2^-126
	g.Constants[1].Reserve = 4 * n
	g.Output(g.Add(g.Input(graph.Float32, n), constant))
	require.NoError(t, g.Check())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	half, err := graph.HalfPrecision(g)
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))
	require.Equal(t, 2*n, half.Constants[1].Len())
	require.Len(t, half.Constants, 2)
	v := &half.Values[half.Nodes[1].Inputs[1]]
	require.Equal(t, graph.Type{DType: graph.Float16, Shape: graph.Shape{n}}, v.Type)

	first := make([]byte, 8)
	small, err := graph.HalfPrecision(shrunk(g, 4))
	require.NoError(t, err)
	small.Constants[1].CopyTo(first)
	require.Equal(t, []byte{0, 0x3c, 0, 0x40, 0, 0, 0, 0}, first)
}

// shrunk is the graph with fewer elements in each value.
func shrunk(g *graph.Graph, n int) *graph.Graph {
	g = g.Clone()
	for i := range g.Values {
		g.Values[i].Shape = graph.Shape{n}
	}
	return g
}
