package tflite

import (
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorDEQUANTIZE] = &handler{
		options: wire.BuiltinOptionsDequantizeOptions, in: arity{1, 1}, out: arity{1, 1},
		build: buildConvert,
		fold: func(n *node, in []*constant) ([]*constant, error) {
			c, err := n.im.single(in[0])
			if err != nil {
				return nil, n.about(0, err)
			}
			return []*constant{c}, nil
		},
	}
	handlers[wire.BuiltinOperatorQUANTIZE] = &handler{
		options: wire.BuiltinOptionsQuantizeOptions, in: arity{1, 1}, out: arity{1, 1}, build: buildConvert,
	}
	// A constant that is sparse has been made dense when it was read.
	handlers[wire.BuiltinOperatorDENSIFY] = &handler{
		options: wire.BuiltinOptionsDensifyOptions, in: arity{1, 1}, out: arity{1, 1},
		fold: func(_ *node, in []*constant) ([]*constant, error) { return in, nil },
	}
	handlers[wire.BuiltinOperatorCAST] = &handler{
		options: wire.BuiltinOptionsCastOptions, fields: 2, in: arity{1, 1}, out: arity{1, 1},
		build: buildCast, fold: foldCast,
	}
}

// buildConvert appends a conversion between real numbers and the integers that stand for them, or between such integers.
func buildConvert(n *node) error {
	x := n.value(0)
	t, err := n.result(0)
	if err != nil {
		return err
	}
	if to, err := t.graphType(); err == nil && sameElements(n.typeOf(x), to) {
		return n.alias(x)
	}
	if n.typeOf(x).DType == graph.Int32 || t.typ == wire.TensorTypeINT32 {
		return n.unsupported("whole numbers of 32 bits have no scale here")
	}
	return n.emit(graph.Unary{Func: graph.Convert}, wire.ActivationFunctionTypeNONE, x)
}

func sameElements(a, b graph.Type) bool { return a.DType == b.DType && a.Quant.Equal(b.Quant) }

// castTypes are those that a CAST takes from one to the other without cutting anything off: XNNPACK rounds to the nearest, CAST
// towards zero.
var castTypes = map[[2]wire.TensorType]bool{
	{wire.TensorTypeINT32, wire.TensorTypeFLOAT32}:   true,
	{wire.TensorTypeINT8, wire.TensorTypeFLOAT32}:    true,
	{wire.TensorTypeUINT8, wire.TensorTypeFLOAT32}:   true,
	{wire.TensorTypeINT8, wire.TensorTypeINT32}:      true,
	{wire.TensorTypeUINT8, wire.TensorTypeINT32}:     true,
	{wire.TensorTypeFLOAT16, wire.TensorTypeFLOAT32}: true,
	{wire.TensorTypeFLOAT32, wire.TensorTypeFLOAT16}: true,
}

func buildCast(n *node) error {
	from, err := n.operand(0)
	if err != nil {
		return err
	}
	to, err := n.result(0)
	if err != nil {
		return err
	}
	// What the options say of types is left out by many writers; the tensors have them.
	for _, t := range []*tensor{from, to} {
		if t.quant == nil || t.typ != wire.TensorTypeINT8 && t.typ != wire.TensorTypeUINT8 {
			continue
		}
		if q, err := t.one(); err != nil || q.Scale != 1 || q.ZeroPoint != 0 {
			return n.unsupported("integers that stand for other numbers are taken as they are").AtValue(t.ref())
		}
	}
	x := n.value(0)
	if from.typ == to.typ {
		return n.alias(x)
	}
	if !castTypes[[2]wire.TensorType{from.typ, to.typ}] {
		return n.unsupported("%v to %v", from.typ, to.typ)
	}
	return n.emit(graph.Unary{Func: graph.Convert}, wire.ActivationFunctionTypeNONE, x)
}

func foldCast(n *node, in []*constant) ([]*constant, error) {
	t, err := n.result(0)
	if err != nil {
		return nil, err
	}
	from, to := in[0], t.typ
	whole := func(t wire.TensorType) bool { return t == wire.TensorTypeINT32 || t == wire.TensorTypeINT64 }
	switch {
	case from.typ == to:
		return []*constant{from}, nil
	case to == wire.TensorTypeFLOAT32 && (from.typ == wire.TensorTypeFLOAT16 || from.typ == wire.TensorTypeFLOAT64):
		c, err := n.im.single(from)
		if err != nil {
			return nil, n.about(0, err)
		}
		return []*constant{c}, nil
	case !whole(from.typ) || !whole(to) && to != wire.TensorTypeFLOAT32:
		return nil, nil
	}
	x, err := n.im.numbers(from)
	if err != nil {
		return nil, err
	}
	if to == wire.TensorTypeFLOAT32 {
		if from.loose != nil {
			return nil, n.unsupported("a size that the file leaves open is taken for a number")
		}
		for _, v := range x.int {
			x.real = append(x.real, float64(v))
		}
	}
	c := x.constantOf(to, from.shape)
	c.loose = from.loose
	return []*constant{c}, nil
}
