package main

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/nets"
)

// The case of a transformer encoder with weights of two types, as xnn convert --weights int8 makes them.
const (
	encoderCase = "encoder/layers=2/128x768"
	colFP32     = "fp32 weights"
	colInt8     = "int8 weights"
)

// encoderChange is the most that integers for weights may change, as a share of the largest result.
const encoderChange = 0.02

func encoderColumns() (columns, error) {
	const tokens, width = 128, 768
	g := nets.Encoder(2, tokens, width, 12)
	q, changes, err := graph.QuantizeWeights(g, graph.WeightOptions{})
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if c.Kept != "" {
			return nil, fmt.Errorf("node %d keeps its weights: %s", c.Node, c.Kept)
		}
	}
	var cs columns
	for i, g := range []*graph.Graph{g, q} {
		m, err := xnn.Compile(g, xnn.WithThreads(1))
		if err != nil {
			cs.close()
			return nil, err
		}
		c := &column{key: key{[]string{colFP32, colInt8}[i], 1}, close: func() { m.Close() }}
		cs = append(cs, c)
		s, err := m.NewSession()
		if err != nil {
			cs.close()
			return nil, err
		}
		copy(xnn.Data[float32](s.Input(0)), nets.Normal(tokens*width))
		c.run = timed(s.Run)
		c.output = func() [][]byte { return [][]byte{s.Output(0).Bytes()} }
	}
	_, err = cs[0].run(1)
	want := bytes.Clone(cs[0].output()[0])
	largest := furthest(want, make([]byte, len(want)), func(float64) float64 { return 1 })
	err = errors.Join(err, cs.check(want, func(got, want []byte) bool {
		return furthest(got, want, func(float64) float64 { return encoderChange * largest }) <= 1
	}))
	if err != nil {
		cs.close()
	}
	return cs, err
}
