package graph_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// value is the definition of IEEE 754 binary16, in float64 where every step is exact.
func value(h graph.Half) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exp, man := int(h>>10&31), float64(h&1023)
	switch exp {
	case 0:
		return sign * math.Ldexp(man, -24)
	case 31:
		if man != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+man, exp-25)
}

func TestHalfFloat32(t *testing.T) {
	for i := range 1 << 16 {
		h := graph.Half(i)
		got, want := float64(h.Float32()), value(h)
		if math.IsNaN(want) {
			require.True(t, math.IsNaN(got), "%04x", i)
			continue
		}
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%04x", i)
		require.Equal(t, h, graph.HalfOf(h.Float32()), "%04x", i)
	}
}

// TestHalfOfRounds looks at the points between neighbours: just below, at, and just above the middle.
func TestHalfOfRounds(t *testing.T) {
	for i := range 0x7bff {
		low, high := graph.Half(i), graph.Half(i+1)
		mid := float32((value(low) + value(high)) / 2)
		even := low + low&1
		require.Equal(t, even, graph.HalfOf(mid), "%04x: tie", i)
		require.Equal(t, low, graph.HalfOf(math.Nextafter32(mid, 0)), "%04x: below", i)
		require.Equal(t, high, graph.HalfOf(math.Nextafter32(mid, math.MaxFloat32)), "%04x: above", i)
		require.Equal(t, even|0x8000, graph.HalfOf(-mid), "%04x: negative tie", i)
	}
	inf := float32(math.Inf(1))
	for f, want := range map[float32]graph.Half{
		0: 0, inf: 0x7c00, -inf: 0xfc00, 65519.99: 0x7bff, 65520: 0x7c00, -65520: 0xfc00, math.MaxFloat32: 0x7c00, 1e-45: 0,
		float32(math.Ldexp(1, -25)): 0, float32(math.Ldexp(1.5, -25)): 1,
	} {
		require.Equal(t, want, graph.HalfOf(f), "%g", f)
	}
	nan := graph.HalfOf(float32(math.NaN()))
	require.True(t, math.IsNaN(value(nan)))
}
