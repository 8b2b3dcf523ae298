package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Where other processes take more than this share of one processor, what is measured then tells of them, above all with
// several threads.
const disturbing = 0.25

// watchFor is how long others are watched until their share is known: the kernel counts in hundredths of a second.
const watchFor = 250 * time.Millisecond

// watch sees what other processes take of the machine.
type watch struct {
	start     time.Time
	all, ours time.Duration
}

func newWatch() watch { return watch{time.Now(), machineTime(), cpuTime()} }

func (w watch) elapsed() time.Duration { return time.Since(w.start) }

// others is what they took since the start, as a share of one processor. Where the system does not tell it is 0.
func (w watch) others() float64 {
	return float64((machineTime()-w.all)-(cpuTime()-w.ours)) / float64(w.elapsed())
}

// machineTime is what all processes have used of all processors; 0 where the system does not tell.
func machineTime() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	var sum time.Duration
	for i, field := range strings.Fields(line) {
		switch i {
		case 1, 2, 3, 6, 7, 8: // user, nice, system, irq, softirq, steal
			ticks, err := strconv.ParseInt(field, 10, 64)
			if err != nil {
				return 0
			}
			sum += time.Duration(ticks) * (time.Second / 100)
		}
	}
	return sum
}
