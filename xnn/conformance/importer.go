package conformance

import (
	"fmt"

	"github.com/xnngo/xnngo/xnn/graph"
)

// importer builds the graph of one case. A mapping that meets what XNNPACK cannot do ends it with leaveOut.
type importer struct {
	g      *graph.Graph
	opset  int
	half   bool // compute in half precision where the case is of single
	values map[string]*value
	fed    []*tensor // what the graph's inputs hold, in their order
	steps  float64   // that quantised results may be off

	node *onnxNode // that is being mapped
	seen map[string]bool
}

// value is what a name of an ONNX graph stands for.
type value struct {
	tensor *tensor // where it is known before the run
	fed    bool    // the case gives it as an input
	folded bool    // the reader computed it from shapes
	ready  bool    // the graph has it
	id     graph.ID
	elem   elem
}

// leftOut says why a case cannot run; the first word of the table it is counted in, and the detail.
type leftOut struct{ reason, detail string }

// The reasons why a case is left out.
const (
	lacksOperator  = "operator that XNNPACK lacks"
	lacksElement   = "element type that XNNPACK lacks"
	lacksAttribute = "attribute value that XNNPACK lacks"
	lacksRank      = "more dimensions than XNNPACK has"
	lacksMeaning   = "operator that XNNPACK defines otherwise"
	lacksKernel    = "combination that the library refuses"
	notTensor      = "input or output that is no tensor"
	notStatic      = "operand that XNNPACK needs as a constant"
)

func leaveOut(reason, format string, args ...any) {
	panic(leftOut{reason, fmt.Sprintf(format, args...)})
}

// built is an error of the library's graph builder, on its way out of a mapping.
type built struct{ err error }

// importCase builds the graph of a case, of single precision or of half.
func importCase(c *testCase, half bool) (im *importer, out *leftOut, err error) {
	im = &importer{g: graph.New(), opset: c.model.opset, half: half, values: map[string]*value{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case leftOut:
			out = &r
		case built:
			err = r.err
		default:
			panic(r)
		}
	}()
	im.build(c)
	return im, nil, im.g.Check()
}

func (im *importer) build(c *testCase) {
	g := &c.model.graph
	for i := range g.nodes {
		if n := &g.nodes[i]; n.domain != "" && n.domain != "ai.onnx" || mappings[n.op] == nil && !folds[n.op] {
			leaveOut(lacksOperator, "%s", n.op)
		}
	}
	for _, t := range g.initializers {
		im.values[t.name] = &value{tensor: t, elem: t.elem}
	}
	for i, v := range g.inputs {
		if i < len(c.inputs) {
			im.values[v.name] = &value{tensor: c.inputs[i], fed: true, elem: c.inputs[i].elem}
		}
	}
	for i := range g.nodes {
		n := &g.nodes[i]
		switch {
		case im.fold(n):
		case mappings[n.op] != nil:
			im.apply(n)
		default:
			leaveOut(lacksOperator, "%s", n.op)
		}
	}
	for _, o := range g.outputs {
		v := im.values[o.name]
		if v == nil || v.folded {
			leaveOut(lacksOperator, "%s", g.nodes[len(g.nodes)-1].op)
		}
		id := im.valueOf(o.name)
		if im.g.Values[id].Constant != 0 {
			id = im.g.Copy(id)
		}
		im.g.Output(id)
	}
}

// apply maps a node, whose attributes must all have been looked at.
func (im *importer) apply(n *onnxNode) {
	im.node, im.seen = n, map[string]bool{}
	mappings[n.op](im)
	for name := range n.attributes {
		if !im.seen[name] {
			leaveOut(lacksAttribute, "%s %s", n.op, name)
		}
	}
	im.check()
}

// check ends the import where the builder has failed.
func (im *importer) check() {
	if err := im.g.Check(); err != nil {
		panic(built{err})
	}
}
