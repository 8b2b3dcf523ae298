package graph

import (
	"fmt"
	"slices"

	"github.com/xnngo/xnngo/schema"
)

// WeightOptions says which weights QuantizeWeights turns into integers. The zero value is a good start: QCInt8 where it pays.
type WeightOptions struct {
	// DType is QCInt8, also meant by the zero value, or QBInt4, which only FullyConnected can have.
	DType DType
	// Block is how many input channels share a scale of QBInt4: a multiple of 32. 0 means 32.
	Block int
	// MinWeights is the least number of weights of a node that pays; nodes with fewer stay. 0 means LeastWeights.
	MinWeights int
	// MaxLoss is the most that a node's weights may lose, as the norm of what they change by over their own norm; nodes that
	// lose more stay, since some of their weights are much larger than the others of a channel or block. 0 means 0.05 for QCInt8
	// and 0.2 for QBInt4, some five and two times what normally distributed weights lose.
	MaxLoss float64
	// Keep tells of a node that it stays, whatever the rules say. Nil keeps none.
	Keep func(n *Node) bool
}

// LeastWeights is the number of weights from which on a node pays for quantising its input at each run. Measured on one thread of
// a processor with VNNI, against fp32: FullyConnected gains a factor of 1.6 to 5 from there on and loses below, Conv2D and
// ConvTranspose2D gain 2 to 10. See BenchmarkQuantizedNode of package xnn.
const LeastWeights = 1 << 14

// maxProducts is how many products of extreme integers fit into the 32 bits of a sum.
const maxProducts = 1 << 16

// WeightChange is what QuantizeWeights did with a node that multiplies with a constant filter.
type WeightChange struct {
	Node   uint32 // as the graph that was given calls it
	Kind   string
	Filter Type    // before
	Loss   float64 // see WeightOptions.MaxLoss; 0 where no integers were tried
	Before int     // bytes of the filter
	After  int     // bytes of the filter and its scales
	Kept   string  // why the node stays as it was; empty where it changed
}

// QuantizeWeights gives a graph in which FullyConnected, Conv2D and ConvTranspose2D nodes multiply with weights of 8 or 4
// bits, with a scale for each output channel or block, where that pays. Their inputs are quantised at run time, by a Convert
// node that all readers of a value share: with a scale for each row, or for each image. It tells what it did with each node
// that has weights, in the order of the nodes. Constants that nothing reads are left out, values and nodes numbered anew, and
// the size of the arena is left to the plan. g stays as it is. Errors: those of Check, and ErrArgument for options that cannot
// be.
func QuantizeWeights(g *Graph, o WeightOptions) (*Graph, []WeightChange, error) {
	if err := o.complete(); err != nil {
		return nil, nil, err
	}
	g = g.Clone()
	if err := g.Check(); err != nil {
		return nil, nil, err
	}
	w := weightRewriter{g: g, o: o, dynamic: map[dynamicValue]ID{}}
	var changes []WeightChange
	for i := range g.Nodes {
		if c, ok := w.rewrite(g.Nodes[i]); ok {
			changes = append(changes, c)
		}
	}
	g.Nodes, g.ArenaBytes = w.nodes, 0
	g.compact()
	return g, changes, g.Check()
}

// complete fills in what zero stands for.
func (o *WeightOptions) complete() error {
	fault := func(format string, args ...any) error {
		return schema.Errorf(schema.StageCheck, schema.ErrArgument, format, args...)
	}
	loss := map[DType]float64{QCInt8: 0.05, QBInt4: 0.2}
	if o.DType == InvalidDType {
		o.DType = QCInt8
	}
	if o.Block == 0 {
		o.Block = 32
	}
	if o.MinWeights == 0 {
		o.MinWeights = LeastWeights
	}
	if o.MaxLoss == 0 {
		o.MaxLoss = loss[o.DType]
	}
	switch {
	case loss[o.DType] == 0:
		return fault("weights become qcint8 or qbint4, not %v", o.DType)
	case o.Block < 0 || o.Block%32 != 0:
		return fault("blocks of %d weights, a multiple of 32 is needed", o.Block)
	case o.MinWeights < 0 || !(o.MaxLoss > 0):
		return fault("at least %d weights and a loss of at most %g", o.MinWeights, o.MaxLoss)
	}
	return nil
}

// weightRewriter is the work on one graph.
type weightRewriter struct {
	g       *Graph
	o       WeightOptions
	nodes   []Node
	dynamic map[dynamicValue]ID
}

// dynamicValue is a value whose rows of so many inner dimensions are quantised at run time.
type dynamicValue struct {
	of    ID
	inner int
}

// weighted is what is to know of a node with weights before they change.
type weighted struct {
	op    Op   // with integers
	axis  int  // of the filter's output channels
	inner int  // dimensions of the input that share a scale
	fanIn int  // products in a sum
	turn  bool // the filter's rows and columns change places
}

// rewrite appends a node as it was or with other weights; ok tells a node that multiplies with a constant filter.
func (w *weightRewriter) rewrite(n Node) (c WeightChange, ok bool) {
	at := len(w.nodes)
	w.nodes = append(w.nodes, n)
	if !slices.Contains([]string{"FullyConnected", "FullyConnectedTransposed", "Conv2D", "ConvTranspose2D", "DepthwiseConv2D"},
		n.Op.Kind()) || w.g.Values[n.Inputs[1]].Constant == 0 {
		return c, false
	}
	filter := &w.g.Values[n.Inputs[1]]
	c = WeightChange{Node: n.Ref, Kind: n.Op.Kind(), Filter: filter.Type, Before: filter.Bytes(), After: filter.Bytes()}
	if filter.Quant != nil {
		c.Before += 4 * len(filter.Quant.Scales)
		c.After = c.Before
	}
	how, why := w.look(&n)
	if why != "" {
		c.Kept = why
		return c, true
	}
	weights, t := w.g.floats(filter), filter.Type
	if how.turn {
		weights, t.Shape = turned(weights, t.Shape), Shape{t.Shape[1], t.Shape[0]}
	}
	t, raw, err := w.integers(weights, t.Shape, how.axis)
	if err != nil {
		c.Kept = reason(err)
		return c, true
	}
	numbers, _ := Dequantize(t, raw)
	if c.Loss = lossOf(weights, numbers); c.Loss > w.o.MaxLoss {
		c.Kept = fmt.Sprintf("its weights would lose %.3g of their norm, more than %.3g", c.Loss, w.o.MaxLoss)
		return c, true
	}
	if why := w.apply(at, how, t, raw); why != "" {
		c.Kept = why
		return c, true
	}
	c.After = len(raw) + scaleBytes(t)
	return c, true
}

// look tells how a node is to change, or why it stays.
func (w *weightRewriter) look(n *Node) (how weighted, why string) {
	x, filter := &w.g.Values[n.Inputs[0]], &w.g.Values[n.Inputs[1]]
	count := filter.Shape.Elements()
	switch {
	case filter.DType != Float32 && filter.DType != Float16:
		return how, fmt.Sprintf("its weights are %v", filter.DType)
	case n.Op.Kind() == "DepthwiseConv2D":
		return how, "XNNPACK has no depthwise convolution of them"
	case w.o.Keep != nil && w.o.Keep(n):
		return how, "it is to stay"
	case count < w.o.MinWeights:
		return how, fmt.Sprintf("%d weights, fewer than %d, do not pay", count, w.o.MinWeights)
	}
	switch op := n.Op.(type) {
	case FullyConnected:
		how = weighted{op: op, inner: innerOf(x.Shape, filter.Shape, op)}
		if op.Transposed {
			how.axis = 1
			if w.o.DType == QBInt4 {
				op.Transposed = false
				how = weighted{op: op, inner: how.inner, turn: true}
			}
		}
		how.fanIn = count / filter.Shape[how.axis]
		if how.turn {
			how.fanIn = filter.Shape[0]
		}
		if how.inner == 0 {
			return how, fmt.Sprintf("rows of its input %v are no inner dimensions of it", x.Shape)
		}
	case Conv2D:
		how = weighted{op: op, inner: 3, fanIn: op.Kernel[0] * op.Kernel[1] * op.GroupInputs}
		if op.GroupInputs == 1 {
			return how, "a depthwise convolution in all but name"
		}
	case ConvTranspose2D:
		how = weighted{op: op, inner: 3, fanIn: op.Kernel[0] * op.Kernel[1] * op.GroupInputs}
	}
	switch _, full := n.Op.(FullyConnected); {
	case w.o.DType == QBInt4 && !full:
		return how, "only fully connected nodes take qbint4"
	case w.o.DType == QBInt4 && how.fanIn%w.o.Block != 0:
		return how, fmt.Sprintf("%d input channels are no blocks of %d", how.fanIn, w.o.Block)
	case how.fanIn > maxProducts:
		return how, fmt.Sprintf("sums of %d products may not fit into 32 bits", how.fanIn)
	case x.DType != Float32 && x.DType != Float16:
		return how, fmt.Sprintf("its input is %v", x.DType)
	}
	return how, ""
}

// innerOf is how many inner dimensions of an input make a row that the filter is multiplied with, 0 where none do.
func innerOf(x, filter Shape, op FullyConnected) int {
	if !op.Flatten {
		return 1
	}
	want := filter[1]
	if op.Transposed {
		want = filter[0]
	}
	for inner := 1; inner <= len(x); inner++ {
		if x[len(x)-inner:].Elements() == want {
			return inner
		}
	}
	return 0
}
