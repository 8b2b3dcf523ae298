package graph

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
)

// New starts an empty graph. The builder methods never fail: the first mistake is kept, what follows it is ignored, and
// Check, Marshal and xnn.Compile report it.
func New() *Graph { return &Graph{} }

// Input appends a graph input; the order of calls is the order of the model's inputs.
func (g *Graph) Input(dtype DType, dims ...int) ID {
	id := g.add(Type{dtype, dims}, 0)
	g.Inputs = append(g.Inputs, id)
	return id
}

// Output appends a graph output; the order of calls is the order of the model's outputs.
func (g *Graph) Output(id ID) {
	if g.value(id) == nil {
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrGraph, "output %d is value %d of %d", len(g.Outputs), id, len(g.Values)))
	}
	g.Outputs = append(g.Outputs, id)
}

// Constant appends a constant tensor with the elements of data, outermost dimension first: a []float32 (Float32) or a
// []Half (Float16). It copies data.
func (g *Graph) Constant(data any, dims ...int) ID {
	var t Type
	var raw []byte
	n := 0
	switch d := data.(type) {
	case []float32:
		t, n = Type{Float32, dims}, len(d)
		raw = make([]byte, 0, 4*n)
		for _, f := range d {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
	case []Half:
		t, n = Type{Float16, dims}, len(d)
		raw = make([]byte, 0, 2*n)
		for _, h := range d {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(h))
		}
	default:
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrArgument, "Constant takes []float32 or []graph.Half, not %T", data))
		t = Type{Float32, dims}
	}
	if want, err := t.Count(); err == nil && want != n {
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrShape, "Constant got %d elements for shape %v", n, t.Shape))
	}
	if len(g.Constants) == 0 {
		g.Constants = make([]Constant, 1) // entry 0 is never read
	}
	g.Constants = append(g.Constants, Constant{Data: raw})
	return g.add(t, len(g.Constants)-1)
}

// add appends a value.
func (g *Graph) add(t Type, constant int) ID {
	id := ID(len(g.Values))
	t.Shape = slices.Clone(t.Shape)
	v := Value{Type: t, Constant: constant, Ref: uint32(id)}
	if err := g.checkValue(&v); err != nil {
		g.fail(err.AtValue(v.Ref))
	}
	g.Values = append(g.Values, v)
	return id
}

// apply1 appends a node with one output of the first operand's dtype and returns that output.
func (g *Graph) apply1(op Op, in ...ID) ID {
	if g.err != nil {
		return 0
	}
	index := len(g.Nodes)
	types := make([]Type, len(in))
	for i, id := range in {
		v := g.value(id)
		if v == nil {
			g.fail(schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: operand %d is value %d of %d",
				op.Kind(), i, id, len(g.Values)).AtNode(uint32(index)))
			return 0
		}
		types[i] = v.Type
	}
	dtype := types[0].DType
	shapes, err := op.Infer(types, []DType{dtype})
	if err != nil {
		var e *schema.Error
		if errors.As(err, &e) {
			e.Detail += " (" + op.Kind() + " " + g.typeList(in) + ")"
			err = e.AtNode(uint32(index))
		}
		g.fail(err)
		return 0
	}
	out := g.add(Type{dtype, shapes[0]}, 0)
	g.Nodes = append(g.Nodes, Node{Op: op, Inputs: slices.Clone(in), Outputs: []ID{out}, Ref: uint32(index)})
	return out
}

func (g *Graph) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}
