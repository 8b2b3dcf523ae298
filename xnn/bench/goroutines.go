package main

import (
	"context"
	"sync"
	"time"

	"github.com/xnngo/xnngo/xnn"
)

// callers is how many goroutines call one model at once.
const callers = 2

// concurrent is a case of one model called from one goroutine and from several. A column's time is that of a run among all
// that were done, so that the ratio is that of throughputs.
type concurrent struct {
	spec spec
	name string // colRun or colRunInto
}

func concurrents() []concurrent {
	var all []concurrent
	for _, s := range []spec{
		{same, xnn.Float32, xnn.Shape{4096}, xnn.Shape{4096}, 1},
		{same, xnn.Float32, xnn.Shape{65536}, xnn.Shape{65536}, 4},
		{same, xnn.Float32, xnn.Shape{1 << 20}, xnn.Shape{1 << 20}, 4},
	} {
		all = append(all, concurrent{s, colRunInto}, concurrent{s, colRun})
	}
	return all
}

func (c concurrent) caseName() string { return "goroutines/" + c.name + "/" + c.spec.name() }

// caller is one goroutine's tensors.
type caller struct {
	model   *xnn.Model
	in, out []*xnn.Tensor
}

func (c caller) run(name string) error {
	if name == colRunInto {
		return c.model.RunInto(context.Background(), c.out, c.in)
	}
	_, err := c.model.Run(context.Background(), c.in...)
	return err
}

// columns run the model from one goroutine and from several.
func (c concurrent) columns() (columns, error) {
	m, err := xnn.Compile(c.spec.graph())
	if err != nil {
		return nil, err
	}
	all := make([]caller, callers)
	for i := range all {
		all[i] = caller{m,
			[]*xnn.Tensor{floats(c.spec.a, c.spec.valueA), floats(c.spec.b, c.spec.valueB)},
			[]*xnn.Tensor{floats(c.spec.a, c.spec.valueA)}}
	}
	return columns{
		{key: key{c.name, 1}, run: c.from(all[:1]), rest: settle, close: func() { m.Close() }},
		{key: key{c.name, callers}, run: c.from(all), rest: settle},
	}, nil
}

// from lets each caller do all the runs, and gives its share of the time.
func (c concurrent) from(all []caller) func(int) (time.Duration, error) {
	return func(runs int) (time.Duration, error) {
		errs := make([]error, len(all))
		var group sync.WaitGroup
		start := time.Now()
		for i := range all {
			group.Add(1)
			go func() {
				defer group.Done()
				for range runs {
					if err := all[i].run(c.name); err != nil {
						errs[i] = err
						return
					}
				}
			}()
		}
		group.Wait()
		elapsed := time.Since(start)
		for _, err := range errs {
			if err != nil {
				return 0, err
			}
		}
		return elapsed / time.Duration(len(all)), nil
	}
}
