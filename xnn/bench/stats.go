package main

import (
	"math"
	"slices"
)

// median of values, which it sorts. NaN of none.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	switch {
	case n == 0:
		return math.NaN()
	case n%2 == 1:
		return values[n/2]
	}
	return (values[n/2-1] + values[n/2]) / 2
}

// interval of values around their median in which the true median lies in 95 of 100 cases, by order statistics: it does
// not depend on how the values are distributed. It sorts values.
func interval(values []float64) (low, high float64) {
	slices.Sort(values)
	n := len(values)
	if n == 0 {
		return math.NaN(), math.NaN()
	}
	// The number of values below the median is binomial, with deviation sqrt(n)/2.
	reach := 1.96 * math.Sqrt(float64(n)) / 2
	at := func(x float64) float64 { return values[min(max(int(x), 0), n-1)] }
	return at(math.Floor(float64(n)/2 - reach)), at(math.Ceil(float64(n)/2 + reach))
}

// index of a column; -1 where it was not measured.
func (m *measured) index(k key) int {
	if m == nil {
		return -1
	}
	return slices.Index(m.keys, k)
}

// each is f of some columns in every round; nil where one of them was not measured.
func (m *measured) each(f func(ns ...float64) float64, keys ...key) []float64 {
	var at []int
	for _, k := range keys {
		i := m.index(k)
		if i < 0 {
			return nil
		}
		at = append(at, i)
	}
	values := make([]float64, len(m.rounds))
	for r, round := range m.rounds {
		ns := make([]float64, len(at))
		for j, i := range at {
			ns[j] = round[i]
		}
		values[r] = f(ns...)
	}
	return values
}

// times are those of a column in every round, in nanoseconds a run, and time their median.
func (m *measured) times(k key) []float64 {
	return m.each(func(ns ...float64) float64 { return ns[0] }, k)
}

func (m *measured) time(k key) float64 { return median(m.times(k)) }

// ratios are those of the times of two columns in every round.
func (m *measured) ratios(a, b key) []float64 {
	return m.each(func(ns ...float64) float64 { return ns[0] / ns[1] }, a, b)
}

// ratio is the median of the ratios, so that what slows down a whole round does not count.
func (m *measured) ratio(a, b key) float64 { return median(m.ratios(a, b)) }

// baseline is what a column of so many threads is compared with: the better of C with and without a pool.
func (m *measured) baseline(threads int) key {
	alone, pool := key{colC, 1}, key{colC, threads}
	if threads > 1 && m.ratio(pool, alone) < 1 {
		return pool
	}
	return alone
}

// precise says whether the ratios that bounds are about are known to half a per cent: those of Session.Run to C, or in cases
// without it of the first column to the others.
func (m *measured) precise() bool {
	sessions := m.index(session1) >= 0
	for i, k := range m.keys {
		to := m.keys[0]
		if sessions {
			to = m.baseline(k.threads)
		}
		if sessions && k.name != colSession || !sessions && i == 0 {
			continue
		}
		if low, high := interval(m.ratios(k, to)); !(high-low < 0.01*low) {
			return false
		}
	}
	return true
}
