package graph

import (
	"errors"
	"slices"

	"github.com/xnngo/xnngo/schema"
)

// Infer gives the shape of every value, by ID, when the inputs have these shapes. The graph must have passed Check. A
// shape keeps the rank its input was declared with; sizes may change as far as the operators accept them.
func (g *Graph) Infer(inputs []Shape) ([]Shape, error) {
	if len(inputs) != len(g.Inputs) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "%d input shapes given, the model has %d inputs",
			len(inputs), len(g.Inputs))
	}
	shapes := make([]Shape, len(g.Values))
	for i := range g.Values {
		shapes[i] = g.Values[i].Shape
	}
	for i, id := range g.Inputs {
		v, s := &g.Values[id], inputs[i]
		if len(s) != len(v.Shape) {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrShape, "input %d: %v has not the rank of the declared %v",
				i, s, v.Shape).AtValue(v.Ref)
		}
		t := Type{v.DType, s, v.Quant}
		if err := t.check(); err != nil {
			return nil, err.AtValue(v.Ref)
		}
		shapes[id] = slices.Clone(s)
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		out, err := n.infer(g, shapes)
		if err != nil {
			return nil, g.atNode(err, i)
		}
		for j, id := range n.Outputs {
			t := Type{g.Values[id].DType, out[j], g.Values[id].Quant}
			if err := t.check(); err != nil {
				return nil, g.atNode(err.AtValue(g.Values[id].Ref), i)
			}
			shapes[id] = out[j]
		}
	}
	return shapes, nil
}

// infer gives the shapes of n's outputs for operands of these shapes.
func (n *Node) infer(g *Graph, shapes []Shape) ([]Shape, error) {
	return infer(n.Op, g.operands(n.Inputs, shapes), g.operands(n.Outputs, shapes))
}

// operands are a node's values with these shapes.
func (g *Graph) operands(ids []ID, shapes []Shape) []Value {
	values := make([]Value, len(ids))
	for i, id := range ids {
		values[i] = g.Values[id]
		values[i].Shape = shapes[id]
	}
	return values
}

// checkShapes compares what the operators compute with what the values declare.
func (g *Graph) checkShapes() error {
	inputs := make([]Shape, len(g.Inputs))
	for i, id := range g.Inputs {
		inputs[i] = g.Values[id].Shape
	}
	shapes, err := g.Infer(inputs)
	if err != nil {
		return err
	}
	for i := range g.Nodes {
		for _, id := range g.Nodes[i].Outputs {
			if v := &g.Values[id]; !v.Shape.Equal(shapes[id]) {
				return g.atNode(schema.Errorf(schema.StageCheck, schema.ErrShape, "declared %v, computed %v",
					v.Shape, shapes[id]).AtValue(v.Ref), i)
			}
		}
	}
	return nil
}

// atNode says which node an operator's error is about, and with which operands.
func (g *Graph) atNode(err error, i int) error {
	var e *schema.Error
	if !errors.As(err, &e) {
		e = schema.Errorf(schema.StageCheck, schema.ErrGraph, "%v", err)
	}
	e.Detail += " (" + g.describe(&g.Nodes[i]) + ")"
	return e.AtNode(g.Nodes[i].Ref)
}
