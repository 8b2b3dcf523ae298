package main

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// minBatch is the least time between two readings of the clock. A reading takes some tens of nanoseconds, as long as a
	// small model; so short runs are timed several at once, and the reading is well under a hundredth of what is told.
	minBatch = 10 * time.Microsecond
	// maxSamples bounds what is kept of a long measurement: batches get longer instead.
	maxSamples = 1 << 20
	minWarmUp  = 10 * time.Millisecond
	maxWarmUp  = 500 * time.Millisecond
	// turn is how long one of several that are compared runs before the next does: long enough that what the others left in
	// the caches matters little, short enough that what disturbs the machine disturbs all of them.
	turn = 5 * time.Millisecond
)

// timing holds what a run takes, in nanoseconds. Where runs are shorter than minBatch a sample is the mean of a batch.
type timing struct {
	min, p50, p95 float64
	runs          int
	// ratio is the median, over all rounds, of the time of a run over that of the first that it is compared with.
	ratio float64
}

// measured is the work of measuring one run function.
type measured struct {
	run     func() error
	batch   int
	samples []float64
	rounds  []float64 // means
}

// measure warms up, then calls run for the time d, at least once. It stops early, with an error, when run or ctx does.
// progress is called between samples.
func measure(ctx context.Context, d time.Duration, run func() error, progress func(time.Duration)) (timing, error) {
	t, err := compare(ctx, d, []func() error{run}, progress)
	if err != nil {
		return timing{}, err
	}
	return t[0], nil
}

// compare measures several, each for the time d, in turns and in an order that is drawn anew for each round.
func compare(ctx context.Context, d time.Duration, runs []func() error, progress func(time.Duration)) ([]timing, error) {
	all := make([]measured, len(runs))
	for i, run := range runs {
		batch, err := warmUp(ctx, d, run)
		if err != nil {
			return nil, err
		}
		all[i] = measured{run: run, batch: batch}
	}
	order := rand.New(rand.NewPCG(1, 2))
	for begin := time.Now(); ; {
		for _, i := range order.Perm(len(all)) {
			if err := all[i].take(ctx, len(all) > 1, begin, progress); err != nil {
				return nil, err
			}
		}
		if time.Since(begin) >= d*time.Duration(len(all)) {
			break
		}
	}
	timings := make([]timing, len(all))
	for i := range all {
		timings[i] = all[i].timing(&all[0])
	}
	return timings, nil
}

// take runs one turn: a sample, or as many as fill it, of which the first finds the caches as others left them.
func (m *measured) take(ctx context.Context, others bool, begin time.Time, progress func(time.Duration)) error {
	first := len(m.samples)
	for start := time.Now(); ; {
		before := time.Now()
		if err := times(m.batch, m.run); err != nil {
			return err
		}
		end := time.Now()
		m.samples = append(m.samples, float64(end.Sub(before))/float64(m.batch))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		progress(end.Sub(begin))
		if !others || end.Sub(start) >= turn {
			break
		}
	}
	if len(m.samples)-first > 1 {
		m.samples = slices.Delete(m.samples, first, first+1)
	}
	sum := 0.
	for _, s := range m.samples[first:] {
		sum += s
	}
	m.rounds = append(m.rounds, sum/float64(len(m.samples)-first))
	return nil
}

func (m *measured) timing(first *measured) timing {
	slices.Sort(m.samples)
	t := timing{m.samples[0], percentile(m.samples, 50), percentile(m.samples, 95), m.batch * len(m.samples), 1}
	ratios := make([]float64, len(m.rounds))
	for i, r := range m.rounds {
		ratios[i] = r / first.rounds[i]
	}
	slices.Sort(ratios)
	t.ratio = percentile(ratios, 50)
	return t
}

// warmUp runs until caches and clocks have settled and gives the number of runs in a batch.
func warmUp(ctx context.Context, d time.Duration, run func() error) (int, error) {
	atLeast := max(minBatch, d/maxSamples)
	until := min(max(d/10, minWarmUp), maxWarmUp)
	batch := 1
	for begin := time.Now(); ; {
		start := time.Now()
		if err := times(batch, run); err != nil {
			return 0, err
		}
		end := time.Now()
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case end.Sub(start) < atLeast:
			batch *= 2
		case end.Sub(begin) >= until:
			return batch, nil
		}
	}
}

func times(n int, run func() error) error {
	for range n {
		if err := run(); err != nil {
			return err
		}
	}
	return nil
}

// percentile is the smallest of the sorted samples that p percent of them do not exceed.
func percentile(sorted []float64, p int) float64 {
	return sorted[(len(sorted)*p+99)/100-1]
}
