package main

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn"
)

func TestMedianAndInterval(t *testing.T) {
	require.True(t, math.IsNaN(median(nil)))
	require.Equal(t, 2.0, median([]float64{3, 1, 2}))
	require.Equal(t, 2.5, median([]float64{4, 1, 2, 3}))
	var values []float64
	for i := range 100 {
		values = append(values, float64(99-i))
	}
	// 100 values: ranks 40 to 60, by the normal approximation of the binomial.
	low, high := interval(values)
	require.Equal(t, []float64{40, 60}, []float64{low, high})
	low, high = interval([]float64{7})
	require.Equal(t, []float64{7, 7}, []float64{low, high})
}

// TestRatiosArePaired: a machine that becomes slower from round to round does not change the ratio.
func TestRatiosArePaired(t *testing.T) {
	m := &measured{keys: []key{c1, session1, {colC, 2}, session2, cgo1}}
	for slow := 1.0; slow < 10; slow++ {
		m.rounds = append(m.rounds, []float64{1000 * slow, 1500 * slow, 800 * slow, 400 * slow, 30})
	}
	require.Equal(t, 1.5, m.ratio(session1, c1))
	require.Equal(t, c1, m.baseline(1))
	require.Equal(t, key{colC, 2}, m.baseline(2))
	require.Equal(t, 5*450.0-30, median(m.excess(session1))) // in the fifth round, 1.5 - 1.05 of 5000
	require.Equal(t, 5*-440.0-30, median(m.excess(session2)))
	require.True(t, math.IsNaN(m.ratio(peer1, c1)))
	require.True(t, m.precise())
	m.rounds[0][0], m.rounds[1][0], m.rounds[2][0] = 1, 1, 1
	require.False(t, m.precise())
}

// TestMeasure with columns whose time is known.
func TestMeasure(t *testing.T) {
	fake := func(name string, ns int) *column {
		return &column{key: key{name, 1}, run: func(runs int) (time.Duration, error) { return time.Duration(runs * ns), nil }}
	}
	rounds := 0
	m, err := measure(columns{fake(colC, 100), fake(colSession, 1000)}, pace{slice: time.Millisecond, minRounds: 3, maxRounds: 9,
		budget: time.Hour}, (*measured).precise, func(int) { rounds++ })
	require.NoError(t, err)
	require.Equal(t, 3, rounds, "the ratio is exact at once")
	require.Equal(t, []int{10000, 1000}, m.runs)
	require.Equal(t, 10.0, m.ratio(session1, c1))
}

// TestJudge: each bound passes, misses or says that it was not run.
func TestJudge(t *testing.T) {
	s := spec{same, xnn.Float32, xnn.Shape{16}, xnn.Shape{16}, 1}
	r := &report{bounds: bounds()}
	for _, v := range r.judge() {
		require.Equal(t, notRun, v.Result, v.Claim)
	}
	m := &measured{keys: []key{c1, session1, cgo1, peer1}, rounds: [][]float64{{20, 100, 30, 999}}, allocs: []int64{0, 0, 0, 0}}
	r.results = []result{{s.name(), s, m}}
	verdicts := r.judge()
	v := verdicts[0]
	require.Equal(t, []any{pass, "50 ns", s.name(), 1}, []any{v.Result, v.Measured, v.Case, v.Cases})
	v = verdicts[1]
	require.Equal(t, []any{miss, "9.99x", "9.99x to 9.99x", []string{s.name()}}, []any{v.Result, v.Measured, v.Interval, v.Missed})
	require.Equal(t, pass, verdicts[len(verdicts)-1].Result)
}
