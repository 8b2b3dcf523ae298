// Add builds a small graph, writes it as a file, loads the file back, runs it and checks the sums:
//
//	sum = ((x + row) + y) + scalar
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func main() {
	log.SetFlags(0)
	file, err := build()
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(os.TempDir(), fmt.Sprintf("add-%d.xnn", os.Getpid()))
	if err := os.WriteFile(path, file, 0o600); err != nil {
		log.Fatal(err)
	}
	err = run(path)
	os.Remove(path)
	if err != nil {
		log.Fatal(err)
	}
}

// build makes the file: two inputs, two constants, a chain of three Adds that broadcasts a row and a scalar.
func build() ([]byte, error) {
	g := graph.New()
	x := g.Input(graph.Float32, 2, 3)
	y := g.Input(graph.Float32, 2, 3)
	row := g.Constant([]float32{10, 20, 30}, 3)
	scalar := g.Constant([]float32{1000})
	sum := g.Add(g.Add(g.Add(x, row), y), scalar)
	g.Output(sum)
	return g.Marshal()
}

// run loads the file, runs it once and compares each sum with its definition.
func run(path string) error {
	m, err := xnn.Open(path)
	if err != nil {
		return err
	}
	defer m.Close()
	s, err := m.NewSession()
	if err != nil {
		return err
	}
	defer s.Close()
	x, y := xnn.Data[float32](s.Input(0)), xnn.Data[float32](s.Input(1))
	for i := range x {
		x[i], y[i] = float32(i), float32(100*i)
	}
	if err := s.Run(); err != nil {
		return err
	}
	sum := xnn.Data[float32](s.Output(0))
	for i := range sum {
		if want := x[i] + []float32{10, 20, 30}[i%3] + y[i] + 1000; sum[i] != want {
			return fmt.Errorf("sum %d is %g, want %g", i, sum[i], want)
		}
	}
	fmt.Printf("x    %v\ny    %v\nsum  %v  %v\n", x, y, sum, s.Output(0))
	return nil
}
