package conformance

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCompare: what agrees and what does not.
func TestCompare(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		got, want float32
		agree     bool
	}{
		{1, 1, true}, {1.000009, 1, true}, {1.00002, 1, false}, {9e-7, 0, true}, {2e-6, 0, false}, {100.0009, 100, true},
		{100.002, 100, false}, {-1, 1, false}, {nan, nan, true}, {nan, 1, false}, {1, nan, false}, {inf, inf, true},
		{-inf, inf, false}, {math.MaxFloat32, inf, false}, {inf, 1, false},
	} {
		got, want := floatTensor([]float32{0, c.got}, []int{2}), floatTensor([]float32{0, c.want}, []int{2})
		require.Equal(t, c.agree, compare(got, want, boundsOf(elemFloat, false, 0)) == nil, "%g, expected %g", c.got, c.want)
	}
	for _, c := range []struct {
		got   int
		steps float64
		agree bool
	}{{7, 0, true}, {8, 0, false}, {8, 1, true}, {9, 1, false}} {
		err := compare(intTensor([]int{c.got}, 1), intTensor([]int{7}, 1), boundsOf(elemInt64, false, c.steps))
		require.Equal(t, c.agree, err == nil, "%+v", c)
	}
}
