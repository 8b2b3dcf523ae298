// Concurrent runs one model from many goroutines at once, checks every sum, and prints what more goroutines bring.
package main

import (
	"context"
	"fmt"
	"log"
	"runtime"
	"time"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

const (
	rows, cols = 64, 1024
	runs       = 4000 // in all, however many goroutines share them
)

func main() {
	log.SetFlags(0)
	row := make([]float32, cols)
	for i := range row {
		row[i] = float32(i)
	}
	g := graph.New()
	x := g.Input(graph.Float32, rows, cols)
	g.Output(g.Add(g.Add(x, g.Constant(row, cols)), x)) // x + row + x
	m, err := xnn.Compile(g)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	for _, n := range []int{1, max(2, runtime.GOMAXPROCS(0))} {
		start := time.Now()
		if err := share(m, n); err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%2d goroutines  %6.0f runs/s\n", n, runs/time.Since(start).Seconds())
	}
}

// share divides the runs among n goroutines and returns one of their errors.
func share(m *xnn.Model, n int) error {
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- work(m, runs/n, float32(1000*i)) }()
	}
	var first error
	for range n {
		if err := <-errs; err != nil {
			first = err
		}
	}
	return first
}

// work runs the model with inputs of its own, which begin at start, into tensors of its own.
func work(m *xnn.Model, runs int, start float32) error {
	in, out := make([]float32, rows*cols), make([]float32, rows*cols)
	inputs, outputs := []*xnn.Tensor{xnn.NewTensor(in, rows, cols)}, []*xnn.Tensor{xnn.NewTensor(out, rows, cols)}
	for run := range runs {
		in[run] = start + float32(run) // another element every time; the rest stays as it was
		if err := m.RunInto(context.Background(), outputs, inputs); err != nil {
			return err
		}
		for i, y := range out {
			if want := 2*in[i] + float32(i%cols); y != want {
				return fmt.Errorf("run %d: element %d is %g, want %g", run, i, y, want)
			}
		}
	}
	return nil
}
