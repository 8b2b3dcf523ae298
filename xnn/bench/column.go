package main

import (
	"bytes"
	"fmt"
	"runtime"
	"time"
)

// key names a column of a case.
type key struct {
	name    string
	threads int
}

func (k key) String() string {
	if k.threads > 1 {
		return fmt.Sprintf("%s, %d threads", k.name, k.threads)
	}
	return k.name
}

// The columns.
const (
	colC       = "C"       // a loop in C on the same archive
	colSession = "Session" // Session.Run
	colRunInto = "RunInto" // Model.RunInto
	colRun     = "Run"     // Model.Run
	colPeer    = "ONNX Runtime"
	colCgo     = "cgo" // an empty crossing to C
)

// column is one way to run a case.
type column struct {
	key
	run    func(runs int) (time.Duration, error) // gives the time of all the runs
	output func() [][]byte                       // what the last run wrote; nil where nothing is to be compared
	layout func(want []byte) []byte              // how it orders what it must write; nil where it does as the others do
	rest   func()                                // ends what is still at work after a run; may be nil
	close  func()                                // may be nil
}

func (c *column) settle() {
	if c.rest != nil {
		c.rest()
	}
}

// timed makes a column's run of a function that runs once.
func timed(f func() error) func(int) (time.Duration, error) {
	return func(runs int) (time.Duration, error) {
		start := time.Now()
		for range runs {
			if err := f(); err != nil {
				return 0, err
			}
		}
		return time.Since(start), nil
	}
}

// columns are those of one case, closed in the reverse order.
type columns []*column

func (cs columns) close() {
	for i := len(cs) - 1; i >= 0; i-- {
		if cs[i].close != nil {
			cs[i].close()
		}
	}
}

// check runs each column once and compares its outputs, cleared before, with what they must be.
func (cs columns) check(want []byte, agree func(got, want []byte) bool) error {
	for _, c := range cs {
		if c.output == nil {
			continue
		}
		for _, out := range c.output() {
			for i := range out {
				out[i] = 0xFF
			}
		}
		if _, err := c.run(1); err != nil {
			return fmt.Errorf("%v: %w", c.key, err)
		}
		ordered := want
		if c.layout != nil {
			ordered = c.layout(want)
		}
		if !agree(bytes.Join(c.output(), nil), ordered) {
			return fmt.Errorf("%v: the output is wrong", c.key)
		}
	}
	return nil
}

// allocations is how often a run allocates Go memory, the least of some tries since other goroutines are counted, too.
func (c *column) allocations(runs int) (int64, error) {
	least := int64(-1)
	for try := 0; try < 3 && least != 0; try++ {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := c.run(runs)
		runtime.ReadMemStats(&after)
		if err != nil {
			return 0, err
		}
		if n := int64(after.Mallocs-before.Mallocs) / int64(runs); least < 0 || n < least {
			least = n
		}
	}
	return least, nil
}
