package main

import (
	"context"
	"fmt"
	"log"

	"github.com/xnngo/xnngo/xnn"
)

func main() {
	m, err := xnn.Open("schema/testdata/xnngraph/const.bin")
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()
	x := xnn.NewTensor([]float32{1, 2, 3}, 3)
	y, err := m.Run(context.Background(), x)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(xnn.Data[float32](y[0]))
}
