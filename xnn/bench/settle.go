package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// settle waits until the process is idle, so that threads that one column leaves at work do not slow down the next: ONNX
// Runtime's workers spin for a while after a run, and the garbage collector has a mind of its own.
func settle() {
	for range 200 {
		before := cpuTime()
		time.Sleep(time.Millisecond)
		if cpuTime()-before < 200*time.Microsecond {
			return
		}
	}
}

// cpuTime is what all threads of the process have used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
