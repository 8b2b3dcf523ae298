package xnnpack

// #include "bridge.h"
// #cgo noescape xg_program_create
// #cgo nocallback xg_program_create
// #cgo noescape xg_program_delete
// #cgo nocallback xg_program_delete
// #cgo noescape xg_run
// #cgo nocallback xg_run
import "C"

import "unsafe"

// Program is what a session runs: steps in order, then copies, in one crossing. It belongs to one goroutine at a time. Its
// steps must outlive it.
type Program struct {
	c *C.struct_xg_program
}

// Step is one of a Program: a runtime, or a tiled region.
type Step struct {
	Runtime *Runtime
	Tiles   *Tiles
}

// Copy is memory that a Program copies after its steps.
type Copy struct {
	To, From unsafe.Pointer
	Size     int
}

// NewProgram makes a program. The error is OutOfMemory.
func NewProgram(steps []Step, copies []Copy) (*Program, error) {
	var p Program
	if status := C.xg_program_create(C.size_t(len(steps)), C.size_t(len(copies)), &p.c); status != C.xnn_status_success {
		return nil, &Error{Status: Status(status)}
	}
	to := unsafe.Slice(p.c.steps, len(steps))
	for i, s := range steps {
		if s.Tiles != nil {
			to[i].tiles = s.Tiles.c
		} else {
			to[i].runtime = s.Runtime.c
		}
	}
	for i, c := range copies {
		unsafe.Slice(p.c.copies, len(copies))[i] = C.struct_xg_copy{to: c.To, from: c.From, size: C.size_t(c.Size)}
	}
	return &p, nil
}

// Run runs every step, then every copy.
func (p *Program) Run() error {
	if status := C.xg_run(p.c); status != C.xnn_status_success {
		return result(status, &p.c.message)
	}
	return nil
}

// Close frees the program. A nil or closed one is left alone.
func (p *Program) Close() {
	if p == nil {
		return
	}
	C.xg_program_delete(p.c)
	p.c = nil
}
