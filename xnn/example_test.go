package xnn_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// bias is the graph Y = X + [10 20 30].
func bias() *graph.Graph {
	g := graph.New()
	x := g.Input(graph.Float32, 1, 3)
	g.Output(g.Add(x, g.Constant([]float32{10, 20, 30}, 3)))
	return g
}

func Example() {
	m, err := xnn.Compile(bias())
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	copy(xnn.Data[float32](s.Input(0)), []float32{1, 2, 3})
	if err := s.Run(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Output(0), xnn.Data[float32](s.Output(0)))
	// Output: fp32[1,3] [11 22 33]
}

func ExampleOpen() {
	file, err := bias().Marshal()
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "xnn")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "bias.xnn")
	if err := os.WriteFile(path, file, 0o600); err != nil {
		log.Fatal(err)
	}
	m, err := xnn.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	fmt.Println(m.Inputs(), m.Outputs())
	// Output: [fp32[1,3]] [fp32[1,3]]
}

// Many goroutines may call Run; what it returns is the caller's own.
func ExampleModel_Run() {
	m, err := xnn.Compile(bias())
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	y, err := m.Run(context.Background(), xnn.NewTensor([]float32{1, 2, 3, 4, 5, 6}, 2, 3))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(y[0], xnn.Data[float32](y[0]))
	// Output: fp32[2,3] [11 22 33 14 25 36]
}

// A tensor that is both input and output is summed in place.
func ExampleModel_RunInto() {
	m, err := xnn.Compile(bias())
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	x := []float32{1, 2, 3}
	t := []*xnn.Tensor{xnn.NewTensor(x, 1, 3)}
	for range 2 {
		if err := m.RunInto(context.Background(), t, t); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(x)
	// Output: [21 42 63]
}

func ExampleSession_Reshape() {
	m, err := xnn.Compile(bias())
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	s, err := m.NewSession()
	if err != nil {
		log.Fatal(err)
	}
	defer s.Close()
	fmt.Println(s.Output(0))
	if err := s.Reshape(xnn.Shape{4, 3}); err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Output(0))
	fmt.Println(errors.Is(s.Reshape(xnn.Shape{4, 2}), xnn.ErrShape))
	// Output:
	// fp32[1,3]
	// fp32[4,3]
	// true
}
