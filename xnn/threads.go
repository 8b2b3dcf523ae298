package xnn

import "runtime"

// maxThreads bounds what can be asked for; each thread costs a stack.
const maxThreads = 1024

// parallelBytes is the traffic of a node from which on sharing it among threads pays. Waking the pool and waiting for it
// costs some microseconds, and data that one core's cache holds is better left there.
const parallelBytes = 1 << 20

// DefaultThreads is the number of threads a session uses when none is asked for: the physical cores that the scheduler's
// affinity mask and the cgroup's CPU quota leave this process, at least 1.
func DefaultThreads() int {
	n := physicalCores()
	if q := cpuQuota(); q > 0 && q < float64(n) {
		n = int(q)
	}
	return max(1, min(n, maxThreads))
}

// threadsFor decides between the calling thread and the pool for these shapes: the pool if any node moves enough bytes.
func (s *session) threadsFor(shapes []Shape) int {
	if s.cfg.threads <= 1 {
		return 1
	}
	g := s.model.graph
	for _, i := range s.model.layout.nodes {
		n := &g.Nodes[i]
		bytes := 0
		for _, id := range n.Inputs {
			bytes += Type{DType: g.Values[id].DType, Shape: shapes[id]}.Bytes()
		}
		for _, id := range n.Outputs {
			bytes += Type{DType: g.Values[id].DType, Shape: shapes[id]}.Bytes()
		}
		if bytes < 0 || bytes >= parallelBytes {
			return s.cfg.threads
		}
	}
	return 1
}

// logicalCores is what systems without a better answer have.
func logicalCores() int { return runtime.NumCPU() }
