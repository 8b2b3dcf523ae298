package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// precision is the value of --precision: what a model computes in.
type precision struct{ xnn.DType }

// precisionFlag adds --precision.
func precisionFlag(cmd *cobra.Command, usage string) *precision {
	p := &precision{xnn.Float32}
	cmd.Flags().Var(p, "precision", usage)
	return p
}

const precisionUsage = "compute in `fp16`, where there are kernels for it, or in fp32"

// Set implements pflag.Value.
func (p *precision) Set(name string) error {
	for _, t := range []xnn.DType{xnn.Float32, xnn.Float16} {
		if t.String() == name {
			p.DType = t
			return nil
		}
	}
	return errors.New("fp32 or fp16 is needed")
}

// Type implements pflag.Value.
func (p *precision) Type() string { return "precision" }

func (p *precision) option() xnn.Option { return xnn.WithPrecision(p.DType) }

// apply gives the graph that a model in this precision computes.
func (p *precision) apply(g *graph.Graph) (*graph.Graph, error) {
	if p.DType == xnn.Float16 {
		return graph.HalfPrecision(g)
	}
	return g, nil
}
