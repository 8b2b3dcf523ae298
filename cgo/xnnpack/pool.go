package xnnpack

// #include "bridge.h"
// #cgo noescape xg_pool_create
// #cgo nocallback xg_pool_create
// #cgo noescape xg_pool_delete
// #cgo nocallback xg_pool_delete
import "C"

import "sync"

// Pool is a set of threads that runtimes share. Runs of several runtimes take turns on it.
type Pool struct {
	c       *C.struct_xg_pool
	threads int
	users   int
}

// pools holds the pools in use by size: threads are a resource of the process, like XNNPACK's own state.
var pools = struct {
	sync.Mutex
	bySize map[int]*Pool
}{bySize: map[int]*Pool{}}

// AcquirePool gives the process's pool of this many threads, at least 2, and starts it for its first user. Release ends
// one use.
func AcquirePool(threads int) (*Pool, error) {
	pools.Lock()
	defer pools.Unlock()
	p := pools.bySize[threads]
	if p == nil {
		p = &Pool{threads: threads}
		if C.xg_pool_create(C.size_t(threads), &p.c) != C.xnn_status_success {
			return nil, &Error{OutOfMemory, "the thread pool could not be started"}
		}
		pools.bySize[threads] = p
	}
	p.users++
	return p, nil
}

// handle is the pool for C; nil means the calling thread.
func (p *Pool) handle() *C.struct_xg_pool {
	if p == nil {
		return nil
	}
	return p.c
}

// Release ends one use; the last one stops the threads. A nil pool is left alone.
func (p *Pool) Release() {
	if p == nil {
		return
	}
	pools.Lock()
	defer pools.Unlock()
	if p.users--; p.users == 0 {
		delete(pools.bySize, p.threads)
		C.xg_pool_delete(p.c)
	}
}
