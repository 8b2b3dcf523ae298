package main

import (
	"fmt"
	"math"
	"time"
)

// pace says how long to measure a case.
type pace struct {
	slice     time.Duration // least time of a column in a round, unless one run takes longer
	minRounds int
	maxRounds int
	budget    time.Duration // for all rounds after the first minRounds
}

// measured holds the nanoseconds a run took: for each round, for each column.
type measured struct {
	keys   []key
	rounds [][]float64
	runs   []int // in a slice
	allocs []int64
}

// measure runs the columns in rounds, each column once a round, so that whatever disturbs the machine disturbs all of them.
// The order changes from round to round, so that none always follows the same other. It ends when precise says so, or the
// time is used. progress is called after each round.
func measure(cs columns, p pace, precise func(*measured) bool, progress func(round int)) (*measured, error) {
	m := &measured{runs: make([]int, len(cs)), allocs: make([]int64, len(cs))}
	for i, c := range cs {
		m.keys = append(m.keys, c.key)
		runs, err := c.calibrate(p.slice)
		if err == nil {
			m.allocs[i], err = c.allocations(min(runs, 100))
			c.settle()
		}
		if err != nil {
			return nil, fmt.Errorf("%v: %w", c.key, err)
		}
		m.runs[i] = runs
	}
	for start := time.Now(); len(m.rounds) < p.maxRounds; {
		ns := make([]float64, len(cs))
		for _, i := range order(len(m.rounds), len(cs)) {
			d, err := cs[i].run(m.runs[i])
			if err != nil {
				return nil, fmt.Errorf("%v: %w", cs[i].key, err)
			}
			ns[i] = float64(d) / float64(m.runs[i])
			cs[i].settle()
		}
		m.rounds = append(m.rounds, ns)
		progress(len(m.rounds))
		if len(m.rounds) >= p.minRounds && (time.Since(start) >= p.budget || precise(m)) {
			break
		}
	}
	return m, nil
}

// order is a rotation of the n columns, mirrored in every other turn.
func order(round, n int) []int {
	o := make([]int, n)
	for i := range o {
		o[i] = (i + round) % n
		if round/n%2 == 1 {
			o[i] = n - 1 - o[i]
		}
	}
	return o
}

// calibrate warms the column up and gives the number of runs that fill a slice.
func (c *column) calibrate(slice time.Duration) (int, error) {
	for runs := 1; ; runs *= 2 {
		d, err := c.run(runs)
		if err != nil {
			return 0, err
		}
		if d >= slice/2 {
			return max(1, int(math.Ceil(float64(runs)*float64(slice)/float64(d)))), nil
		}
	}
}
