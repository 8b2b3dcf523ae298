package xnn

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

func TestPlace(t *testing.T) {
	sizes := []int{100, 50, 100, 30, 80}
	size := func(id graph.ID) int { return sizes[id] }
	offsets, total := placeCarried([]carried{
		{0, 0, 2}, // 100 bytes at 0
		{1, 0, 1}, // 50 behind
		{2, 1, 3}, // both are there: behind them
		{3, 2, 3}, // where 1 was
		{4, 3, 3}, // where 0 was
	}, size)
	require.Equal(t, []int{0, 100, 150, 100, 0}, offsets)
	require.Equal(t, 250, total)
	offsets, total = placeCarried(nil, size)
	require.Empty(t, offsets)
	require.Zero(t, total)
}

// TestPlaceNeverOverlaps: values that are there at the same time have bytes of their own.
func TestPlaceNeverOverlaps(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 300 {
		n := r.IntN(40)
		sizes := make([]int, n)
		values := make([]carried, n)
		first := 0
		for i := range values {
			first += r.IntN(3)
			sizes[i] = r.IntN(1000)
			values[i] = carried{graph.ID(i), first, first + r.IntN(6)}
		}
		offsets, total := placeCarried(values, func(id graph.ID) int { return sizes[id] })
		for i, v := range values {
			require.LessOrEqual(t, offsets[i]+sizes[i], total)
			for j, w := range values[:i] {
				apart := v.first > w.last || w.first > v.last ||
					offsets[i]+sizes[i] <= offsets[j] || offsets[j]+sizes[j] <= offsets[i]
				require.True(t, apart, "%v at %d, %v at %d", v, offsets[i], w, offsets[j])
			}
		}
	}
}
