package graph

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Op is an operator with its parameters. Its operands belong to the Node that applies it. The types of this package that
// implement it are all there are.
type Op interface {
	// Kind is the operator's name, as in Add.
	Kind() string
	// infer checks the operator's parameters against its operands, whose number and element types fit, and gives the shapes
	// of the results. An operand with a Constant is one. Results have their types, not yet their shapes. Errors are made with
	// schema.Errorf; the caller adds the node.
	infer(in, out []Value) ([]Shape, error)
}

// Signature is one combination of element types that an operator takes. Operands and results past the last named have the
// type of the last; optional operands at the end may be missing.
type Signature struct{ In, Out []DType }

// String words the signature: fp32, qcint8, fp32 -> fp32.
func (s Signature) String() string {
	if len(s.Out) == 0 {
		return joinDTypes(s.In)
	}
	return joinDTypes(s.In) + " -> " + joinDTypes(s.Out)
}

func joinDTypes(types []DType) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = t.String()
	}
	return strings.Join(words, ", ")
}

// accepts tells whether operands of these types fit.
func (s Signature) accepts(in, out []Value) bool {
	return fits(s.In, in) && (out == nil || fits(s.Out, out))
}

func fits(types []DType, values []Value) bool {
	for i := range values {
		if values[i].DType != types[min(i, len(types)-1)] {
			return false
		}
	}
	return true
}

// operator is what the package knows of an operator besides its parameters.
type operator struct {
	op              Op // any of this kind: what names it, and its Go type
	inputs, outputs arity
	types           []Signature
	// static are the places of operands that must be constants: XNNPACK packs them once.
	static []int
	// sameQuant: the operator moves elements without looking at them, so quantised operands and results must agree.
	sameQuant bool
	// forms are the ways a file can say it, smallest dialect first.
	forms []form
}

// arity is how many operands, or results, an operator has at least and at most.
type arity struct{ least, most int }

func exactly(n int) arity { return arity{n, n} }

func (a arity) String() string {
	switch a.most {
	case a.least:
		return fmt.Sprint(a.least)
	case math.MaxInt:
		return fmt.Sprintf("%d or more", a.least)
	}
	return fmt.Sprintf("%d to %d", a.least, a.most)
}

// form is one way to say an operator in a file: a table in the node union.
type form struct {
	tag     xnngraph.XNodeUnion
	dialect dialect
	// limits: XNode's output_min_max counts for this table in dialects that are not ours, where it always does.
	limits bool
	// fits tells whether the table can say the operator; nil where it always can.
	fits func(op Op, in, out []Value) bool
	// decode reads the table, without its limits; see ranged. Optional operands that are absent are left out.
	decode func(t flatbuffers.Table) (op Op, in, out []operand, err *schema.Error)
	encode func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT
}

// operand is a value id as a node table of a file spells it.
type operand struct {
	field string
	id    uint32
}

var (
	operators = map[string]*operator{}
	opTypes   = map[reflect.Type]bool{}
	forms     = map[xnngraph.XNodeUnion]form{}
)

// register adds an operator; each op_*.go calls it at start-up.
func register(o operator) {
	operators[o.op.Kind()] = &o
	opTypes[reflect.TypeOf(o.op)] = true
	for _, f := range o.forms {
		forms[f.tag] = f
	}
}

// operatorOf is what there is to know of op; nil where it is not of this package, or a pointer.
func operatorOf(op Op) *operator {
	if !opTypes[reflect.TypeOf(op)] {
		return nil
	}
	// A type that names itself after a field can be made to bear another's name.
	if o := operators[op.Kind()]; o != nil && reflect.TypeOf(o.op) == reflect.TypeOf(op) {
		return o
	}
	return nil
}

// Operators are the kinds there are, in alphabetical order.
func Operators() []string {
	var kinds []string
	for kind := range operators {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// Signatures are the combinations of element types an operator of this kind takes; nil for a kind there is not.
func Signatures(kind string) []Signature {
	if o := operators[kind]; o != nil {
		return slices.Clone(o.types)
	}
	return nil
}

// infer checks operands against the operator and gives the shapes of the results.
func infer(op Op, in, out []Value) ([]Shape, error) {
	o := operatorOf(op)
	if o == nil {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "operator %#v is not known", op)
	}
	if err := o.checkArity(len(in), len(out)); err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(o.types, func(s Signature) bool { return s.accepts(in, out) }) {
		return nil, o.wrongTypes(in, out)
	}
	for _, i := range o.static {
		if i < len(in) && in[i].Constant == 0 {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s needs a constant as operand %d", o.op.Kind(), i).
				AtValue(in[i].Ref)
		}
	}
	if o.sameQuant {
		for _, v := range slices.Concat(in[1:], out) {
			if !v.Quant.Equal(in[0].Quant) {
				return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph,
					"%s keeps the quantisation of its operand, %s, found %s", o.op.Kind(), in[0].Quant.describe(in[0].DType),
					v.Quant.describe(v.DType)).AtValue(v.Ref)
			}
		}
	}
	if r, ok := op.(ranged); ok {
		if err := r.limits().check(); err != nil {
			return nil, err
		}
	}
	shapes, err := op.infer(in, out)
	if err == nil && len(shapes) != len(out) {
		err = schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s gives %d results, found %d", o.op.Kind(), len(shapes), len(out))
	}
	return shapes, err
}

func (o *operator) checkArity(in, out int) *schema.Error {
	if in < o.inputs.least || in > o.inputs.most || out < o.outputs.least || out > o.outputs.most {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s takes %v inputs and %v outputs, found %d and %d",
			o.op.Kind(), o.inputs, o.outputs, in, out)
	}
	return nil
}

// wrongTypes says which types the operator would take.
func (o *operator) wrongTypes(in, out []Value) *schema.Error {
	found := Signature{dtypesOf(in), dtypesOf(out)}
	words := make([]string, len(o.types))
	for i, s := range o.types {
		words[i] = s.String()
	}
	return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s does not take %v; it takes %s",
		o.op.Kind(), found, strings.Join(words, "; "))
}

func dtypesOf(values []Value) []DType {
	types := make([]DType, len(values))
	for i := range values {
		types[i] = values[i].DType
	}
	return types
}

// ranged is an operator that can limit its results, as an activation fused into it does.
type ranged interface {
	Op
	limits() Range
	withLimits(Range) Op
}

// onlyFlags rejects operator flags other than those in allowed.
func onlyFlags(kind string, flags, allowed uint32) *schema.Error {
	if flags&^allowed != 0 {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s: flags %#x are not supported", kind, flags&^allowed)
	}
	return nil
}

// describe words a node for a message: Add 0 fp32[3], 1 fp32[3] -> 2 fp32[3].
func (g *Graph) describe(n *Node) string {
	return fmt.Sprintf("%s %s -> %s", n.Op.Kind(), g.typeList(n.Inputs), g.typeList(n.Outputs))
}
