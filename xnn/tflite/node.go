package tflite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
)

// handler is how an operator is read.
type handler struct {
	options wire.BuiltinOptions // that the operator may have
	fields  int                 // of the options' table, those of a union counting twice
	in, out arity
	// build appends the operator to the graph; nil for one that only constants may meet.
	build func(n *node) error
	// fold computes the results of constants; without results, build goes on. Nil where that is not done.
	fold func(n *node, in []*constant) ([]*constant, error)
	// ofShapes: fold needs no more than the shapes of operands, which may be computed.
	ofShapes bool
}

// arity is how many operands, or results, an operator has at least and at most.
type arity struct{ least, most int }

const many = 1 << 20

// handlers are the operators there are; each op_*.go adds its own at start-up. Custom ones are called by their name.
var (
	handlers = map[wire.BuiltinOperator]*handler{}
	customs  = map[string]*handler{}
)

// node is one operator of the file.
type node struct {
	im     *importer
	index  int
	code   wire.BuiltinOperator
	custom string
	w      wire.Operator
	*handler
	in, out []int // tensors; -1 for an operand that is not there
	err     error // the first of those that a helper has met
}

// String is the operator's name in TensorFlow Lite.
func (n *node) String() string {
	if n.code == wire.BuiltinOperatorCUSTOM {
		return "CUSTOM " + n.custom
	}
	return n.code.String()
}

func (n *node) unsupported(format string, args ...any) *schema.Error {
	return n.at(unsupported(format, args...))
}

func (n *node) invalid(format string, args ...any) *schema.Error {
	return n.at(invalid(format, args...))
}

// at says that an error is about this operator.
func (n *node) at(err *schema.Error) *schema.Error {
	if err.Node == schema.None {
		err.Detail = n.String() + ": " + err.Detail
		err.AtNode(uint32(n.index))
	}
	return err
}

// about says that an error is about this operator and its operand i.
func (n *node) about(i int, err *schema.Error) *schema.Error {
	if err.Value == schema.None {
		err.AtValue(uint32(n.in[i]))
	}
	return n.at(err)
}

// operators reads all operators of the subgraph.
func (im *importer) operators() error {
	im.nodes = make([]node, im.sub.OperatorsLength())
	for i := range im.nodes {
		n := &im.nodes[i]
		n.im, n.index = im, i
		im.sub.Operators(&n.w, i)
		if err := n.read(); err != nil {
			return n.at(err)
		}
	}
	return nil
}

// read finds out which operator it is and which tensors it is about.
func (n *node) read() *schema.Error {
	im := n.im
	at := n.w.OpcodeIndex()
	if int64(at) >= int64(im.model.OperatorCodesLength()) {
		return invalid("opcode_index is %d, the file has %d operator codes", at, im.model.OperatorCodesLength())
	}
	var code wire.OperatorCode
	im.model.OperatorCodes(&code, int(at))
	// Older writers have the number in a byte only, newer ones in both, or 127 in the byte.
	n.code = max(code.BuiltinCode(), wire.BuiltinOperator(code.DeprecatedBuiltinCode()))
	n.handler = handlers[n.code]
	if n.code == wire.BuiltinOperatorCUSTOM {
		n.custom = shorten(code.CustomCode())
		n.handler = customs[n.custom]
	}
	if err := im.read(n.w.InputsLength() + n.w.OutputsLength()); err != nil {
		return err
	}
	n.in, n.out = make([]int, n.w.InputsLength()), make([]int, n.w.OutputsLength())
	for i := range n.in {
		if n.in[i] = int(n.w.Inputs(i)); n.in[i] < -1 || n.in[i] >= len(im.tensors) {
			return invalid("operand %d is tensor %d of %d", i, n.in[i], len(im.tensors))
		}
	}
	for i := range n.out {
		at := int(n.w.Outputs(i))
		if n.out[i] = at; at < 0 || at >= len(im.tensors) {
			return invalid("result %d is tensor %d of %d", i, at, len(im.tensors))
		}
		if by, ok := im.written[at]; ok {
			return invalid("writes what operator %d writes already", by).AtValue(uint32(at))
		}
		im.written[at] = n.index
	}
	return nil
}

// plan keeps the operators that an output depends on, and refuses the file where one of them cannot be had.
func (im *importer) plan() error {
	needed := map[int]bool{}
	for i := range im.sub.OutputsLength() {
		needed[int(im.sub.Outputs(i))] = true
	}
	var kept []node
	for _, n := range slices.Backward(im.nodes) {
		if !slices.ContainsFunc(n.out, func(t int) bool { return needed[t] }) {
			continue
		}
		kept = append(kept, n)
		for _, t := range n.in {
			needed[t] = true
		}
	}
	slices.Reverse(kept)
	im.nodes = kept
	if err := im.lacking(); err != nil {
		return err
	}
	for i := range im.nodes {
		if err := im.nodes[i].check(); err != nil {
			return im.nodes[i].at(err)
		}
	}
	return nil
}

// lacking lists all operators that cannot be had.
func (im *importer) lacking() error {
	counts := map[string]int{}
	computed := map[int]bool{} // tensors that constants are not enough for
	for at := range im.input {
		computed[at] = true
	}
	for i := range im.nodes {
		n := &im.nodes[i]
		known := n.handler != nil && n.fold != nil &&
			(n.ofShapes || !slices.ContainsFunc(n.in, func(t int) bool { return computed[t] }))
		if !known {
			for _, t := range n.out {
				computed[t] = true
			}
		}
		if n.handler == nil || n.build == nil && !known {
			counts[n.String()]++
		}
	}
	if len(counts) == 0 {
		return nil
	}
	var words []string
	for name, count := range counts {
		words = append(words, fmt.Sprintf("%s (%d)", name, count))
	}
	slices.SortFunc(words, cmp.Compare)
	const most = 100
	if rest := len(words) - most; rest > 0 {
		words = append(words[:most], fmt.Sprintf("%d more", rest))
	}
	return unsupported("operators that are not supported: %s", strings.Join(words, ", "))
}

// check refuses what no operator here has, and options that are not those of the operator.
func (n *node) check() *schema.Error {
	switch in, out := len(n.in), len(n.out); {
	case in < n.handler.in.least || in > n.handler.in.most || out < n.handler.out.least || out > n.handler.out.most:
		return invalid("%d operands and %d results, needed %v and %v", in, out, n.handler.in, n.handler.out)
	case n.w.BuiltinOptions2Type() != wire.BuiltinOptions2NONE:
		return unsupported("builtin_options_2 are of kind %v", n.w.BuiltinOptions2Type())
	case n.w.IntermediatesLength() > 0:
		return unsupported("it has intermediates")
	case n.w.LargeCustomOptionsSize() > 0, n.code != wire.BuiltinOperatorCUSTOM && n.w.CustomOptionsLength() > 0:
		return unsupported("it has custom options")
	}
	for i := range n.w.MutatingVariableInputsLength() {
		if n.w.MutatingVariableInputs(i) {
			return unsupported("it changes operand %d", i)
		}
	}
	kind := n.w.BuiltinOptionsType()
	var t flatbuffers.Table
	if kind == wire.BuiltinOptionsNONE || !n.w.BuiltinOptions(&t) {
		return nil
	}
	if kind != n.handler.options {
		return invalid("builtin_options are %v, needed %v", kind, n.handler.options)
	}
	if field := unknownField(t, n.fields); field >= 0 {
		return unsupported("its options have a field %d, which is not known", field)
	}
	return nil
}

func (a arity) String() string {
	switch {
	case a.least == a.most:
		return fmt.Sprint(a.least)
	case a.most == many:
		return fmt.Sprintf("at least %d", a.least)
	}
	return fmt.Sprintf("%d to %d", a.least, a.most)
}

// unknownField is a field of a table past those known that is there, -1 if there is none: what it says would be dropped.
func unknownField(t flatbuffers.Table, known int) int {
	vtable := int(t.Pos) - int(t.GetSOffsetT(t.Pos))
	entries := (int(flatbuffers.GetVOffsetT(t.Bytes[vtable:])) - 4) / 2
	for i := known; i < entries; i++ {
		if flatbuffers.GetVOffsetT(t.Bytes[vtable+4+2*i:]) != 0 {
			return i
		}
	}
	return -1
}

// emptyTable is a table without fields: where options are absent, all of them have their defaults.
var emptyTable = []byte{4, 0, 4, 0, 4, 0, 0, 0}

// options reads the operator's options into accessors of theirs.
func (n *node) options(into interface {
	Init([]byte, flatbuffers.UOffsetT)
}) {
	t := flatbuffers.Table{Bytes: emptyTable, Pos: 4}
	if n.w.BuiltinOptionsType() != wire.BuiltinOptionsNONE {
		n.w.BuiltinOptions(&t)
	}
	into.Init(t.Bytes, t.Pos)
}
