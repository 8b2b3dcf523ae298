package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// pace says how long to measure a case.
type pace struct {
	slice     time.Duration // least time of a column in a round, unless one run takes longer
	minRounds int
	maxRounds int
	budget    time.Duration // for all rounds after the first minRounds
	patience  time.Duration // for rounds that are left out since other processes were at work
}

// measured holds the nanoseconds a run took: for each round, for each column.
type measured struct {
	keys   []key
	rounds [][]float64
	runs   []int // in a slice
	allocs []int64

	disturbed int           // rounds left out, since other processes were at work
	lost      time.Duration // with them
}

// measure runs the columns in rounds, each column once a round, so that whatever disturbs the machine disturbs all of them.
// The order is drawn anew for each round, so that none profits from what another leaves in the caches, and a column first runs
// without being timed where that takes little: a slice is to show what a run costs among others like it. Rounds in which
// other processes are at work do not count. It ends when precise says so, or the time is used. progress is called after each
// round.
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
	random := rand.New(rand.NewPCG(1, 2))
	kept, w := 0, newWatch() // rounds whose quiet was seen
	for start := time.Now(); len(m.rounds) < p.maxRounds; {
		ns := make([]float64, len(cs))
		for _, i := range random.Perm(len(cs)) {
			d, err := cs[i].warmed(m.runs[i])
			if err != nil {
				return nil, fmt.Errorf("%v: %w", cs[i].key, err)
			}
			ns[i] = float64(d) / float64(m.runs[i])
			cs[i].settle()
		}
		m.rounds = append(m.rounds, ns)
		progress(len(m.rounds))
		if w.elapsed() >= watchFor {
			if w.others() > disturbing && m.lost < p.patience {
				m.lost += w.elapsed()
				m.disturbed += len(m.rounds) - kept
				m.rounds = m.rounds[:kept]
			}
			kept, w = len(m.rounds), newWatch()
		}
		if len(m.rounds) >= p.minRounds && (time.Since(start)-m.lost >= p.budget || precise(m)) {
			break
		}
	}
	return m, nil
}

// warmed is the time of so many runs after some that warm up.
func (c *column) warmed(runs int) (time.Duration, error) {
	if runs > 1 {
		if _, err := c.run((runs + 3) / 4); err != nil {
			return 0, err
		}
	}
	return c.run(runs)
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
