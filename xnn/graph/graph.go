package graph

import (
	"math"
	"slices"
)

// ID names a value of one graph: its index in Graph.Values.
type ID uint32

// None stands for an optional operand that is not there.
const None ID = math.MaxUint32

// Graph is a network: values, the nodes that compute them, and which values are its inputs and outputs.
//
// The fields are open so that importers can fill them. The builder methods append to them and remember the first mistake;
// Check reports it.
type Graph struct {
	Values    []Value
	Nodes     []Node
	Inputs    []ID       // in call order, each once
	Outputs   []ID       // in call order; a value may be listed twice and may be an input
	Constants []Constant // entry 0 is never read: a Value's zero Constant means "not constant"

	// Version is the free text a file carries about its writer.
	Version string
	// ArenaBytes reserves the activation arena of a session; 0 lets the plan decide.
	ArenaBytes uint32
	// SpareBuffers are entries of a file's buffer size list past its constants. They have no effect.
	SpareBuffers []uint32
	// Flushed is how many elements of constants an importer made zero because they were subnormal. Subnormal weights slow every
	// engine down, and XNNPACK takes them for zero.
	Flushed int

	err error // the first mistake of a builder call
}

// Value is one tensor of a graph.
type Value struct {
	Type
	// Constant is the index of the tensor's bytes in Graph.Constants; 0 for a tensor computed or given at run time.
	Constant int
	// Ref is how messages and tools call the value: its id in the file it came from, else its index.
	Ref uint32
	// Name is what the file that an importer read calls the value. An XNNGraph file has no place for it.
	Name string
}

// Node is one operator applied to values.
type Node struct {
	Op      Op
	Inputs  []ID
	Outputs []ID
	// DebugHandle links the node to the graph it was exported from; any number.
	DebugHandle uint32
	// Ref is how messages and tools call the node: its place in the file it came from, else in which it was built.
	Ref uint32
}

// Clone copies the graph but for the bytes of its constants, which both share.
func (g *Graph) Clone() *Graph {
	c := *g
	c.Values = slices.Clone(g.Values)
	for i := range c.Values {
		c.Values[i].Shape = slices.Clone(c.Values[i].Shape)
	}
	c.Nodes = slices.Clone(g.Nodes)
	for i, n := range c.Nodes {
		c.Nodes[i].Inputs = slices.Clone(n.Inputs)
		c.Nodes[i].Outputs = slices.Clone(n.Outputs)
	}
	c.Inputs = slices.Clone(g.Inputs)
	c.Outputs = slices.Clone(g.Outputs)
	c.Constants = slices.Clone(g.Constants)
	c.SpareBuffers = slices.Clone(g.SpareBuffers)
	return &c
}
