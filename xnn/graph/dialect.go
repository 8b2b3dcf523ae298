package graph

import (
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// dialect is one of the kinds of XNNGraph file, from the one that can say least on.
type dialect int

const (
	dialectSeed       dialect = iota // Add of plain tensors
	dialectExecuTorch                // what ExecuTorch's XNNPACK backend knows
	dialectOurs                      // everything
)

// identifiers mark a file's dialect at bytes 4 to 7; the first is the one we write. The seed has none.
var identifiers = map[dialect][]string{
	dialectExecuTorch: {"XN01", "XN00"},
	dialectOurs:       {"XNNG"},
}

func dialectOf(file []byte) dialect {
	if len(file) >= 8 {
		for d, ids := range identifiers {
			for _, id := range ids {
				if string(file[4:8]) == id {
					return d
				}
			}
		}
	}
	return dialectSeed
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
		if v := &g.Values[i]; v.DType != Float32 && v.DType != Float16 {
			d = dialectExecuTorch
		}
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		d = max(d, n.form(g).dialectFor(n.Op))
	}
	if d == dialectExecuTorch && !g.externalsSortable() {
		d = dialectOurs
	}
	return d
}

// form is the first that can say the node.
func (n *Node) form(g *Graph) form {
	in, out := g.valuesOf(n.Inputs), g.valuesOf(n.Outputs)
	forms := operators[n.Op.Kind()].forms
	for _, f := range forms {
		if f.fits == nil || f.fits(n.Op, in, out) {
			return f
		}
	}
	return form{}
}

// dialectFor is the dialect in which f can say op with its limits.
func (f form) dialectFor(op Op) dialect {
	if r, ok := op.(ranged); ok && r.limits().Limited() && !f.limits {
		return dialectOurs
	}
	return f.dialect
}

// externalsSortable tells whether the graph's inputs and outputs can be numbered so that each list ascends: ExecuTorch's dialect
// orders them by number.
func (g *Graph) externalsSortable() bool {
	seen := map[ID]bool{}
	for _, id := range g.Inputs {
		seen[id] = true
	}
	for _, id := range g.Outputs {
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
