package xnn

import (
	"runtime"

	"github.com/xnngo/xnngo/cgo/xnnpack"
)

// maxThreads bounds what can be asked for; each thread costs a stack.
const maxThreads = 1024

// parallelBytes is what a segment's values take from which on sharing its work among threads pays: measured with two threads
// on chains of 1 to 16 Adds. Waking a thread and waiting for it costs some microseconds, and what one core's cache holds is
// better left there.
const parallelBytes = 3 << 19

// bytesAMultiplication is the traffic that takes as long as one multiplication of a product, as measured on whole networks: 60
// multiplications or 100 bytes a nanosecond.
const bytesAMultiplication = 5. / 3

// DefaultThreads is the number of threads a session uses when none is asked for: the physical cores that the scheduler's
// affinity mask and the cgroup's CPU quota leave this process, at least 1.
func DefaultThreads() int {
	n := physicalCores()
	if q := cpuQuota(); q > 0 && q < float64(n) {
		n = int(q)
	}
	return max(1, min(n, maxThreads))
}

// cacheBytes is the first- or second-level cache of a core, which one thread has for itself.
func cacheBytes(level int) int {
	if n := xnnpack.CacheBytes(level); n > 0 {
		return n
	}
	return []int{1: 32 << 10, 2: 512 << 10}[level] // small enough for most
}

// logicalCores is what systems without a better answer have.
func logicalCores() int { return runtime.NumCPU() }
