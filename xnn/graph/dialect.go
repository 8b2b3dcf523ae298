package graph

import (
	"slices"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// dialect is one of the kinds of XNNGraph file, from the one that can say least on.
type dialect int

const (
	dialectSeed       dialect = iota // Add of plain tensors
	dialectExecuTorch                // what ExecuTorch's XNNPACK backend knows
	dialectOurs                      // everything
)

// identifiers mark a file's dialect at bytes 4 to 7 of the FlatBuffer; the first is the one we write. The seed has none.
var identifiers = [...][]string{
	dialectSeed:       nil,
	dialectExecuTorch: {"XN01", "XN00"},
	dialectOurs:       {"XNNG"},
}

// dialectOf is the dialect of a FlatBuffer, and whether it has an identifier to tell.
func dialectOf(flat []byte) (d dialect, marked bool) {
	if len(flat) >= 8 {
		for d, ids := range identifiers {
			if slices.Contains(ids, string(flat[4:8])) {
				return dialect(d), true
			}
		}
	}
	return dialectSeed, false
}

func (d dialect) String() string {
	return [...]string{"seed", "ExecuTorch", "xnngo"}[d]
}

// The seed dialect numbers the element types in its own way.
var seedDTypes = map[xnngraph.XNNDatatype]DType{1: Float32, 2: Float16, 3: QInt8, 4: QInt32}

var fileDTypes = map[xnngraph.XNNDatatype]DType{
	xnngraph.XNNDatatypexnn_datatype_fp32:    Float32,
	xnngraph.XNNDatatypexnn_datatype_fp16:    Float16,
	xnngraph.XNNDatatypexnn_datatype_bf16:    BFloat16,
	xnngraph.XNNDatatypexnn_datatype_int32:   Int32,
	xnngraph.XNNDatatypexnn_datatype_qint8:   QInt8,
	xnngraph.XNNDatatypexnn_datatype_quint8:  QUInt8,
	xnngraph.XNNDatatypexnn_datatype_qint32:  QInt32,
	xnngraph.XNNDatatypexnn_datatype_qcint8:  QCInt8,
	xnngraph.XNNDatatypexnn_datatype_qcint32: QCInt32,
	xnngraph.XNNDatatypexnn_datatype_qcint4:  QCInt4,
	xnngraph.XNNDatatypexnn_datatype_qbint4:  QBInt4,
	xnngraph.XNNDatatypexnn_datatype_qdint8:  QDInt8,
}

// fileDTypeNumbers is the reverse of fileDTypes. It serves the seed dialect, too: all that it can say has the same number.
var fileDTypeNumbers = map[DType]xnngraph.XNNDatatype{}

func init() {
	for n, t := range fileDTypes {
		fileDTypeNumbers[t] = n
	}
}

// dtype maps a file's number of an element type.
func (d dialect) dtype(n xnngraph.XNNDatatype) (DType, bool) {
	if d == dialectSeed {
		t, ok := seedDTypes[n]
		return t, ok
	}
	t, ok := fileDTypes[n]
	return t, ok
}

// dialect is the smallest that can say the graph.
func (g *Graph) dialect() dialect {
	d := dialectSeed
	for i := range g.Values {
		if t := g.Values[i].DType; t != Float32 && t != Float16 {
			d = dialectExecuTorch
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		f, _ := n.form(g)
		d = max(d, f.dialectFor(n.Op))
	}
	if d == dialectSeed && g.constantBytes() > maxWithinFlatBuffer {
		d = dialectExecuTorch // which can keep them behind it
	}
	if d == dialectExecuTorch && !g.externalsSortable() {
		d = dialectOurs
	}
	return d
}

// form is the one that says the node in the smallest dialect.
func (n *Node) form(g *Graph) (best form, found bool) {
	in, out := g.valuesOf(n.Inputs), g.valuesOf(n.Outputs)
	for _, f := range operatorOf(n.Op).forms {
		if f.fits != nil && !f.fits(n.Op, in, out) {
			continue
		}
		if !found || f.dialectFor(n.Op) < best.dialectFor(n.Op) {
			best, found = f, true
		}
	}
	return best, found
}

// dialectFor is the dialect in which f can say op with its limits, which the seed has no place for.
func (f form) dialectFor(op Op) dialect {
	switch r, ok := op.(ranged); {
	case !ok || !r.limits().Limited():
		return f.dialect
	case f.limits:
		return max(f.dialect, dialectExecuTorch)
	}
	return dialectOurs
}

// externalsSortable tells whether inputs and outputs can be numbered in call order, as ExecuTorch's dialect has it: there an
// argument is an input or an output, and there once.
func (g *Graph) externalsSortable() bool {
	seen := map[ID]bool{}
	for _, id := range slices.Concat(g.Inputs, g.Outputs) {
		if seen[id] {
			return false
		}
		seen[id] = true
	}
	return true
}

func (g *Graph) valuesOf(ids []ID) []Value {
	values := make([]Value, len(ids))
	for i, id := range ids {
		values[i] = g.Values[id]
	}
	return values
}
