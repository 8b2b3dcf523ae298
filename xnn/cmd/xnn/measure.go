package main

import (
	"context"
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
)

// timing holds what a run takes, in nanoseconds. Where runs are shorter than minBatch a sample is the mean of a batch.
type timing struct {
	min, p50, p95 float64
	runs          int
}

// measure warms up, then calls run for the time d, at least once. It stops early, with an error, when run or ctx does.
// progress is called between samples.
func measure(ctx context.Context, d time.Duration, run func() error, progress func(time.Duration)) (timing, error) {
	batch, err := warmUp(ctx, d, run)
	if err != nil {
		return timing{}, err
	}
	var samples []float64
	for begin := time.Now(); ; {
		start := time.Now()
		if err := times(batch, run); err != nil {
			return timing{}, err
		}
		end := time.Now()
		samples = append(samples, float64(end.Sub(start))/float64(batch))
		if ctx.Err() != nil {
			return timing{}, ctx.Err()
		}
		if end.Sub(begin) >= d {
			break
		}
		progress(end.Sub(begin))
	}
	slices.Sort(samples)
	return timing{samples[0], percentile(samples, 50), percentile(samples, 95), batch * len(samples)}, nil
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
