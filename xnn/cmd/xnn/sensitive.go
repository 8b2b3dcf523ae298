package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// sensitivity finds the nodes that must stay as they are for outputs to change little.
type sensitivity struct {
	*converter
	graph *graph.Graph
	model *xnn.Model // of it
}

// harm is what integers in one node alone change, as a share of the largest magnitude of an output.
type harm struct {
	node   uint32
	change float64
}

// find gives the nodes that stay, with their harm, so that no output changes by more than limit: as few as it takes in the order
// of the harm that each does alone. candidates are those that rules let change.
func (s *sensitivity) find(ctx context.Context, candidates []uint32, limit float64) (map[uint32]float64, error) {
	all, err := s.change(candidates)
	if err != nil || all <= limit {
		return nil, err
	}
	b := newBar("find sensitive nodes", int64(len(candidates)))
	defer b.clear()
	harms := make([]harm, len(candidates))
	for i, node := range candidates {
		alone, err := s.change([]uint32{node})
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		harms[i] = harm{node, alone}
		b.set(int64(i + 1))
	}
	slices.SortStableFunc(harms, func(a, b harm) int { return cmp.Compare(a.change, b.change) })
	// How many of the least harmful may change; with more of them outputs change more, by and large.
	low, high := 0, len(harms)
	for low < high-1 {
		middle := (low + high) / 2
		nodes := make([]uint32, middle)
		for i := range nodes {
			nodes[i] = harms[i].node
		}
		together, err := s.change(nodes)
		if err != nil {
			return nil, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if together <= limit {
			low = middle
		} else {
			high = middle
		}
	}
	if low == 0 {
		return nil, fmt.Errorf("no node can change: node %d alone, the least sensitive, would change an output by %.2g %% of its peak",
			harms[0].node, 100*harms[0].change)
	}
	stay := map[uint32]float64{}
	for _, h := range harms[low:] {
		stay[h.node] = h.change
	}
	return stay, nil
}

// change is the largest change of an output, as a share of its largest magnitude, where only these nodes have integers.
func (s *sensitivity) change(nodes []uint32) (float64, error) {
	o := s.options
	o.Keep = func(n *graph.Node) bool { return !slices.Contains(nodes, n.Ref) }
	q, _, err := graph.QuantizeWeights(s.graph, o)
	if err != nil {
		return 0, err
	}
	m, err := xnn.Compile(q)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	p, err := newPair(s.model, m, s.inputs, xnn.WithThreads(s.threads))
	defer p.close()
	if err != nil {
		return 0, err
	}
	defer p.a.Close()
	if err := p.run(0); err != nil {
		return 0, err
	}
	outputs := make([]difference, len(m.Outputs()))
	if err := p.compare(outputs, 0, 0); err != nil {
		return 0, err
	}
	largest := 0.
	for _, d := range outputs {
		share := float64(d.OfPeak)
		if share != share {
			share = math.Inf(1)
		}
		largest = max(largest, share)
	}
	return largest, nil
}

// keepSensitive adds to the nodes that stay those that --max-change asks for, and gives the harm each of them would do.
func (c *converter) keepSensitive(ctx context.Context, g *graph.Graph) (map[uint32]float64, error) {
	_, changes, err := graph.QuantizeWeights(g, c.options)
	if err != nil {
		return nil, err
	}
	var candidates []uint32
	for _, n := range changes {
		if n.Kept == "" {
			candidates = append(candidates, n.Node)
		}
	}
	if len(candidates) == 0 {
		return nil, nil
	}
	m, err := xnn.Compile(g)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	stay, err := (&sensitivity{c, g, m}).find(ctx, candidates, c.maxChange)
	if err != nil {
		return nil, err
	}
	named := c.options.Keep
	c.options.Keep = func(n *graph.Node) bool {
		_, sensitive := stay[n.Ref]
		return sensitive || named(n)
	}
	return stay, nil
}
