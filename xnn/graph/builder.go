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
func (g *Graph) Input(dtype DType, dims ...int) ID { return g.InputOf(Type{DType: dtype, Shape: dims}) }

// InputOf appends a graph input of a type that may be quantised.
func (g *Graph) InputOf(t Type) ID {
	id := g.add(t, 0)
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

// Constant appends a constant tensor with the elements of data, outermost dimension first: a []float32 (Float32), []Half
// (Float16), []BFloat (BFloat16) or []int32 (Int32). It copies data.
func (g *Graph) Constant(data any, dims ...int) ID {
	t := Type{Shape: dims}
	var raw []byte
	n := 0
	switch d := data.(type) {
	case []float32:
		t.DType, n = Float32, len(d)
		for _, f := range d {
			raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(f))
		}
	case []Half:
		t.DType, n = Float16, len(d)
		for _, h := range d {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(h))
		}
	case []BFloat:
		t.DType, n = BFloat16, len(d)
		for _, h := range d {
			raw = binary.LittleEndian.AppendUint16(raw, uint16(h))
		}
	case []int32:
		t.DType, n = Int32, len(d)
		for _, v := range d {
			raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
		}
	default:
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrArgument,
			"Constant takes []float32, []graph.Half, []graph.BFloat or []int32, not %T", data))
		t.DType = Float32
	}
	if want, err := t.Count(); err == nil && want != n {
		g.fail(schema.Errorf(schema.StageCheck, schema.ErrShape, "Constant got %d elements for shape %v", n, t.Shape))
	}
	return g.ConstantOf(t, raw)
}

// ConstantOf appends a constant tensor of any type, of these bytes: little-endian, packed, outermost dimension first; of
// 4-bit elements, the first of two in the low half of a byte, each row from a byte on. It keeps data, which must not change.
func (g *Graph) ConstantOf(t Type, data []byte) ID {
	if data == nil {
		data = []byte{} // no elements, which is not the same as none given
	}
	return g.constant(t, Constant{Data: data})
}

func (g *Graph) constant(t Type, c Constant) ID {
	if len(g.Constants) == 0 {
		g.Constants = make([]Constant, 1) // entry 0 is never read
	}
	g.Constants = append(g.Constants, c)
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

// Option is what a builder method is told beside the operands.
type Option func(*options)

type options struct {
	typ    Type // of the result, its shape aside
	limits Range
}

// As makes the result of another element type than the operands say, where the operator can give several.
func As(t DType) Option { return func(o *options) { o.typ = Type{DType: t} } }

// Quantized makes the result a quantised tensor: QInt8 or QUInt8 with this scale and zero point.
func Quantized(t DType, scale float32, zeroPoint int) Option {
	return func(o *options) { o.typ = Type{DType: t, Quant: &Quant{Scale: scale, ZeroPoint: zeroPoint}} }
}

// Limits limits the result to [lo, hi], as an activation fused into the operator does: 0 and 6 for ReLU6.
func Limits(lo, hi float32) Option { return func(o *options) { o.limits = Range{lo, hi} } }

// Apply appends a node of an operator with all its parameters given, as a file gives them, and returns its results, so many. The
// options are about the first. The other builder methods fill in what operands tell.
func (g *Graph) Apply(op Op, in []ID, results int, opts ...Option) []ID {
	return g.apply(op, in, results, opts)
}

// Err is the first mistake of a builder call, which Check reports as well.
func (g *Graph) Err() error { return g.err }

// apply1 appends a node with one result and returns it.
func (g *Graph) apply1(op Op, in []ID, opts []Option) ID { return g.apply(op, in, 1, opts)[0] }

// apply appends a node and returns its results. The options are about the first; the others take the types that go with it.
func (g *Graph) apply(op Op, in []ID, results int, opts []Option) []ID {
	out := make([]ID, results)
	if g.err != nil {
		return out
	}
	index := uint32(len(g.Nodes))
	operands := make([]Value, len(in))
	for i, id := range in {
		v := g.value(id)
		if v == nil {
			g.fail(schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: operand %d is value %d of %d",
				op.Kind(), i, id, len(g.Values)).AtNode(index))
			return out
		}
		operands[i] = *v
	}
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	fail := func(err error) []ID {
		var e *schema.Error
		if errors.As(err, &e) {
			e.Detail += " (" + op.Kind() + " " + g.typeList(in) + ")"
			err = e.AtNode(index)
		}
		g.fail(err)
		return out
	}
	if o.limits != (Range{}) {
		r, ok := op.(ranged)
		if !ok {
			return fail(schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s cannot limit its result", op.Kind()))
		}
		op = r.withLimits(o.limits)
	}
	values, err := resultTypes(op, operands, results, o.typ)
	if err != nil {
		return fail(err)
	}
	for i := range values {
		values[i].Ref = uint32(len(g.Values) + i)
	}
	shapes, err := infer(op, operands, values)
	if err != nil {
		return fail(err)
	}
	for i := range out {
		values[i].Type.Shape = shapes[i]
		if err := g.checkValue(&values[i]); err != nil {
			return fail(err.AtValue(uint32(len(g.Values))))
		}
		out[i] = g.add(values[i].Type, 0)
	}
	g.Nodes = append(g.Nodes, Node{Op: op, Inputs: slices.Clone(in), Outputs: slices.Clone(out), Ref: index})
	return out
}

// resultTypes gives the element types of results: as asked for, else that of the first operand where the operator can give it,
// else the only one that it can.
func resultTypes(op Op, in []Value, results int, asked Type) ([]Value, error) {
	o := operatorOf(op)
	if o == nil {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "operator %#v is not known", op)
	}
	if err := o.checkArity(len(in), results); err != nil {
		return nil, err
	}
	var found *Signature
	for i := range o.types {
		s := &o.types[i]
		switch {
		case !s.accepts(in, nil):
		case asked.DType != InvalidDType && s.Out[0] != asked.DType:
		case found == nil || len(in) > 0 && s.Out[0] == in[0].DType && found.Out[0] != in[0].DType:
			found = s
		}
	}
	if found == nil {
		var out []Value
		if asked.DType != InvalidDType {
			out = []Value{{Type: asked}}
		}
		return nil, o.wrongTypes(in, out)
	}
	values := make([]Value, results)
	for i := range values {
		t := Type{DType: found.Out[min(i, len(found.Out)-1)]}
		if t.DType.quant() != quantNone {
			switch {
			case asked.Quant != nil:
				t.Quant = asked.Quant
			case len(in) > 0 && t.DType == in[0].DType:
				t.Quant = in[0].Quant
			}
		}
		values[i].Type = t
	}
	return values, nil
}

func (g *Graph) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}
