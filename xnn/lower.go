package xnn

import (
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// lowerFunc describes one node to XNNPACK. ids gives XNNPACK's id of a value.
type lowerFunc func(sub *xnnpack.Subgraph, n *graph.Node, ids func(graph.ID) uint32) error

// lowerings holds the operators XNNPACK can run, by kind; each op_*.go adds its own at start-up.
var lowerings = map[string]lowerFunc{}

var dataTypes = map[graph.DType]xnnpack.DataType{
	graph.Float32: xnnpack.Float32,
	graph.Float16: xnnpack.Float16,
}

// layout is how a graph maps to a subgraph, the same for all sessions of a model.
//
// Only nodes that an output depends on are run, and only values that those touch exist for XNNPACK. An output that no node
// writes, because it is an input or was listed before, is copied after the nodes.
type layout struct {
	nodes     []int // indices of the nodes to run, in order
	used      []bool
	externals []external
	copies    []copyOp
}

// external is a value whose memory the session gives to XNNPACK. Its id in the subgraph is its place in layout.externals.
type external struct {
	id    graph.ID
	flags uint32
	slot  int // index of the model's input or output that holds it
}

// copyOp makes an output of an input, or of another output.
type copyOp struct {
	output    int
	from      int
	fromInput bool
}

func newLayout(g *graph.Graph) (*layout, error) {
	l := &layout{used: make([]bool, len(g.Values))}
	needed := make([]bool, len(g.Values))
	for _, id := range g.Outputs {
		needed[id] = true
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		live := false
		for _, id := range n.Outputs {
			live = live || needed[id]
		}
		if !live {
			continue
		}
		if lowerings[n.Op.Kind()] == nil {
			return nil, schema.Errorf(schema.StageDefine, ErrUnsupported, "operator %s", n.Op.Kind()).AtNode(n.Ref)
		}
		l.nodes = append(l.nodes, i)
		for _, id := range n.Inputs {
			needed[id], l.used[id] = true, true
		}
		for _, id := range n.Outputs {
			l.used[id] = true
		}
	}
	for i, j := 0, len(l.nodes)-1; i < j; i, j = i+1, j-1 {
		l.nodes[i], l.nodes[j] = l.nodes[j], l.nodes[i]
	}

	inputs := map[graph.ID]int{}
	for i, id := range g.Inputs {
		inputs[id] = i
		if l.used[id] {
			l.externals = append(l.externals, external{id, xnnpack.ExternalInput, i})
		}
	}
	outputs := map[graph.ID]int{}
	for i, id := range g.Outputs {
		if in, ok := inputs[id]; ok {
			l.copies = append(l.copies, copyOp{output: i, from: in, fromInput: true})
		} else if first, ok := outputs[id]; ok {
			l.copies = append(l.copies, copyOp{output: i, from: first})
		} else {
			outputs[id] = i
			l.externals = append(l.externals, external{id, xnnpack.ExternalOutput, i})
		}
	}
	return l, nil
}

// subgraph describes the graph to XNNPACK. constants gives the memory of a constant. It is nil where no node runs.
func (l *layout) subgraph(g *graph.Graph, constants []unsafe.Pointer) (*xnnpack.Subgraph, *Error) {
	if len(l.nodes) == 0 {
		return nil, nil
	}
	sub, err := xnnpack.NewSubgraph(len(l.externals))
	if err != nil {
		return nil, fromXNNPACK(schema.StageDefine, err)
	}
	ids := make([]uint32, len(g.Values))
	define := func(id graph.ID, flags uint32, external int) *Error {
		v := &g.Values[id]
		t := xnnpack.Tensor{Type: dataTypes[v.DType], Dims: v.Shape, Flags: flags, ExternalID: external}
		if v.Constant != 0 {
			t.Data = constants[v.Constant]
		}
		xid, err := sub.Define(t)
		if err != nil {
			return fromXNNPACK(schema.StageDefine, err).AtValue(v.Ref)
		}
		ids[id] = xid
		return nil
	}
	fail := func(e *Error) (*xnnpack.Subgraph, *Error) {
		sub.Close()
		return nil, e
	}
	isExternal := make([]bool, len(g.Values))
	for i, e := range l.externals {
		isExternal[e.id] = true
		if err := define(e.id, e.flags, i); err != nil {
			return fail(err)
		}
	}
	for i := range g.Values {
		if l.used[i] && !isExternal[i] {
			if err := define(graph.ID(i), 0, 0); err != nil {
				return fail(err)
			}
		}
	}
	for _, i := range l.nodes {
		n := &g.Nodes[i]
		if err := lowerings[n.Op.Kind()](sub, n, func(id graph.ID) uint32 { return ids[id] }); err != nil {
			return fail(fromXNNPACK(schema.StageDefine, err).AtNode(n.Ref))
		}
	}
	return sub, nil
}
