// Command outside is a user's program in a module of its own, which vendors xnn and links an installed archive.
package main

import (
	"fmt"
	"log"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func main() {
	g := graph.New()
	x := g.Input(graph.Float32, 1, 3)
	g.Output(g.Add(x, g.Constant([]float32{10, 20, 30}, 3)))
	m, err := xnn.Compile(g)
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
	fmt.Println(xnn.Data[float32](s.Output(0)))
}
