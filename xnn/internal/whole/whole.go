// Package whole lends package xnn's way of describing a graph to the benchmark, which runs what it makes in a loop in C: what a
// program does that uses XNNPACK directly. It is no part of the API.
package whole

import (
	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Graph is a whole graph as one subgraph over whole tensors.
type Graph struct {
	*xnnpack.Subgraph
	// Externals are the inputs and outputs that XNNPACK sees; the place is its id.
	Externals []External
	// Free frees the subgraph and its constants, after every runtime made of it.
	Free func()
}

// External is an input of the graph, or an output of it.
type External struct {
	Output bool
	Index  int
}

// Describe describes a checked graph. Package xnn sets it.
var Describe func(*graph.Graph) (*Graph, error)
