package graph

import (
	"errors"
	"fmt"
	"math"

	"github.com/xnngo/xnngo/schema"
)

// Check proves that the graph can run: types and constants are whole, every value that is read is an input, a constant or
// produced by exactly one node, nodes can be ordered, and every operator accepts its operands and gives the declared
// shapes. Nodes that are merely out of order are put in order. The error is a *schema.Error of StageCheck.
func (g *Graph) Check() error { return g.Named(g.check()) }

// Named adds its name to an error about a value that has one, and gives the error back.
func (g *Graph) Named(err error) error {
	var e *schema.Error
	if errors.As(err, &e) && e.Value != schema.None && e.Name == "" {
		for i := range g.Values {
			if v := &g.Values[i]; int64(v.Ref) == e.Value {
				e.Name = v.Name
				break
			}
		}
	}
	return err
}

func (g *Graph) check() error {
	if g.err != nil {
		return g.err
	}
	if uint64(len(g.Values)) > math.MaxUint32 || uint64(len(g.Nodes)) > math.MaxUint32 {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%d values and %d nodes, at most %d each",
			len(g.Values), len(g.Nodes), uint32(math.MaxUint32))
	}
	for i, c := range g.Constants {
		if i > 0 && c.Reserve != 0 && int(c.Reserve) < c.Len() {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "constant %d holds %d bytes, mem_buffer_sizes reserves %d for it",
				i, c.Len(), c.Reserve)
		}
	}
	for i := range g.Values {
		if err := g.checkValue(&g.Values[i]); err != nil {
			return err.AtValue(g.Values[i].Ref)
		}
	}
	if err := g.checkExternals(); err != nil {
		return err
	}
	producer, err := g.producers()
	if err != nil {
		return err
	}
	if err := g.checkReads(producer); err != nil {
		return err
	}
	if err := g.sort(producer); err != nil {
		return err
	}
	return g.checkShapes()
}

func (g *Graph) checkValue(v *Value) *schema.Error {
	if v.DType.bits() == 0 {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "dtype %d is not known", uint8(v.DType))
	}
	if err := v.Type.check(); err != nil {
		return err
	}
	if err := v.Type.checkQuant(); err != nil {
		return err
	}
	if v.Constant == 0 {
		if v.DType.weightsOnly() {
			return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "only constants can be %v", v.DType)
		}
		return nil
	}
	if v.DType == QDInt8 {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "a constant cannot be %v, which is made at run time", v.DType)
	}
	if v.Constant < 0 || v.Constant >= len(g.Constants) {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "constant_buffer_idx %d is outside the table of %d entries",
			v.Constant, len(g.Constants))
	}
	c, need := g.Constants[v.Constant], v.Bytes()
	switch {
	case c.absent() && need > 0:
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "constant %d of %d has no data, %v needs %d bytes",
			v.Constant, len(g.Constants), v.Type, need)
	case c.Size() < need:
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "constant %d: %v needs %d bytes, found %d",
			v.Constant, v.Type, need, c.Size())
	}
	return v.Type.checkPadding(c)
}

func (g *Graph) checkExternals() error {
	seen := make(map[ID]bool, len(g.Inputs))
	for i, id := range g.Inputs {
		switch v := g.value(id); {
		case v == nil:
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "input %d is value %d of %d", i, id, len(g.Values))
		case v.Constant != 0:
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "input %d is a constant", i).AtValue(v.Ref)
		case v.DType == QDInt8:
			return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "input %d is %v, which only nodes make", i, v.DType).AtValue(v.Ref)
		case seen[id]:
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "listed twice as an input").AtValue(v.Ref)
		}
		seen[id] = true
	}
	for i, id := range g.Outputs {
		switch v := g.value(id); {
		case v == nil:
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "output %d is value %d of %d", i, id, len(g.Values))
		case v.Constant != 0:
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "output %d is a constant", i).AtValue(v.Ref)
		case v.DType == QDInt8:
			return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "output %d is %v, which only nodes read", i, v.DType).AtValue(v.Ref)
		}
		seen[id] = true
	}
	if len(seen) > maxExterns {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%d values are inputs or outputs, at most %d are supported",
			len(seen), maxExterns)
	}
	return nil
}

// What a value can come from besides a node.
const (
	producedByNone  = -1
	producedByInput = -2
	producedByConst = -3
)

// producers gives, for each value, the index of the node that writes it or one of the constants above.
func (g *Graph) producers() ([]int, error) {
	producer := make([]int, len(g.Values))
	for i := range g.Values {
		producer[i] = producedByNone
		if g.Values[i].Constant != 0 {
			producer[i] = producedByConst
		}
	}
	for _, id := range g.Inputs {
		producer[id] = producedByInput
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		switch {
		case n.Op == nil:
			return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "has no operator").AtNode(n.Ref)
		case operatorOf(n.Op) == nil:
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "operator %#v is not known", n.Op).AtNode(n.Ref)
		}
		for _, id := range n.Inputs {
			if g.value(id) == nil {
				return nil, g.unknownID(i, "reads", id)
			}
		}
		for _, id := range n.Outputs {
			v := g.value(id)
			if v == nil {
				return nil, g.unknownID(i, "writes", id)
			}
			fault := ""
			switch p := producer[id]; p {
			case producedByNone:
				producer[id] = i
				continue
			case producedByInput:
				fault = "writes a graph input"
			case producedByConst:
				fault = "writes a constant"
			case i:
				fault = "writes one value twice"
			default:
				fault = fmt.Sprintf("writes what node %d writes already", g.Nodes[p].Ref)
			}
			return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s %s", n.Op.Kind(), fault).AtNode(n.Ref).AtValue(v.Ref)
		}
	}
	return producer, nil
}

func (g *Graph) unknownID(node int, verb string, id ID) error {
	n := &g.Nodes[node]
	return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s %s value %d of %d", n.Op.Kind(), verb, id, len(g.Values)).
		AtNode(n.Ref)
}

// checkReads reports values that are read, by a node or by the caller, and that nothing provides.
func (g *Graph) checkReads(producer []int) error {
	for i := range g.Nodes {
		for _, id := range g.Nodes[i].Inputs {
			if producer[id] == producedByNone {
				return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s reads it, but no node writes it",
					g.Nodes[i].Op.Kind()).AtNode(g.Nodes[i].Ref).AtValue(g.Values[id].Ref)
			}
		}
	}
	for i, id := range g.Outputs {
		if producer[id] == producedByNone {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "output %d, but no node writes it", i).
				AtValue(g.Values[id].Ref)
		}
	}
	return nil
}

// value is the value with this id, nil if there is none.
func (g *Graph) value(id ID) *Value {
	if uint64(id) >= uint64(len(g.Values)) {
		return nil
	}
	return &g.Values[id]
}
