package graph

import (
	"math"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

const (
	// constantAlign is the alignment of a constant's bytes in a FlatBuffer, enough to use them in place.
	constantAlign = 16
	// maxFlatBuffer is the most a FlatBuffer can hold.
	maxFlatBuffer = math.MaxInt32
	// maxWithinFlatBuffer leaves a FlatBuffer with constants in it room for the rest.
	maxWithinFlatBuffer = maxFlatBuffer - 1<<28
	// maxWithin is how many bytes of constants stay in the FlatBuffer where the dialect lets them lie behind it.
	maxWithin = 1 << 20
)

// Marshal checks the graph and writes it as an XNNGraph file, in the dialect that most readers know: the seed dialect where it
// has a word for everything in the graph, else ExecuTorch's, else our own. Inputs and outputs are numbered first, in call order,
// nodes follow in an order in which they can run. Constants lie at 16-byte alignment; more than 1 MiB of them lie behind the
// FlatBuffer, at 64-byte alignment and of any size, but for the seed dialect, which cannot say that.
//
// ErrUnsupported is a graph that takes more than the 2 GiB of a FlatBuffer without its constants, and an operator that no dialect
// has a word for.
func (g *Graph) Marshal() ([]byte, error) {
	g = g.Clone()
	if err := g.Check(); err != nil {
		return nil, err
	}
	for i := range g.Nodes {
		if n := &g.Nodes[i]; !n.canBeSaid(g) {
			return nil, g.atNode(schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "no file can say %s", n.Op.Kind()), i)
		}
	}
	w := writer{g: g, dialect: g.dialect(), ids: make([]uint32, len(g.Values))}
	w.behind = w.dialect != dialectSeed && g.constantBytes() > maxWithin
	bound := w.bound()
	if bound > maxFlatBuffer {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "the FlatBuffer would be larger than 2 GiB")
	}
	w.b = flatbuffers.NewBuilder(int(bound)) // which grows by doubling, and panics where that passes 2 GiB
	w.number()
	return w.file(), nil
}

func (n *Node) canBeSaid(g *Graph) bool {
	_, ok := n.form(g)
	return ok
}

func (g *Graph) constantBytes() int64 {
	var sum int64
	for _, c := range g.Constants {
		sum += int64(c.Len())
	}
	return sum
}

// writer turns one checked graph into a file.
type writer struct {
	g       *Graph
	dialect dialect
	behind  bool // constants lie behind the FlatBuffer
	b       *flatbuffers.Builder
	ids     []uint32 // id in the file by value

	externs uint32
	flags   []uint32
	offsets []uint64 // of the constants behind the FlatBuffer
}

// bound is more than the FlatBuffer can take, since its builder has no error to give.
func (w *writer) bound() int64 {
	const head, value, node, entry = 512, 256, 384, 16
	g := w.g
	size := int64(head + len(g.Version) + entry*(len(g.Inputs)+len(g.Outputs)+len(g.SpareBuffers)))
	for i := range g.Values {
		size += value
		if q := g.Values[i].Quant; q != nil {
			size += int64(4 * len(q.Scales))
		}
	}
	for i := range g.Nodes {
		size += node + int64(entry*(len(g.Nodes[i].Inputs)+len(g.Nodes[i].Outputs)))
	}
	size += int64(64 * len(g.Constants))
	if !w.behind {
		size += g.constantBytes()
	}
	return size
}

// number gives every value its id in the file: externals from 0 in call order, then the rest.
func (w *writer) number() {
	w.flags = make([]uint32, len(w.ids))
	for i := range w.ids {
		w.ids[i] = invalidID
	}
	next := uint32(0)
	give := func(id ID) {
		if w.ids[id] == invalidID {
			w.ids[id] = next
			next++
		}
	}
	for _, id := range w.g.Inputs {
		w.flags[id] |= flagInput
		give(id)
	}
	for _, id := range w.g.Outputs {
		w.flags[id] |= flagOutput
		give(id)
	}
	w.externs = next
	for id := range w.ids {
		give(ID(id))
	}
}

func (w *writer) file() []byte {
	b := w.b
	constants := w.constants()
	sizes := w.sizes()
	values := make([]flatbuffers.UOffsetT, len(w.g.Values))
	for i := range values {
		values[i] = w.value(ID(i))
	}
	nodes := make([]flatbuffers.UOffsetT, len(w.g.Nodes))
	for i := range nodes {
		nodes[i] = w.node(&w.g.Nodes[i])
	}
	xvalues, xnodes := w.tables(values), w.tables(nodes)
	inputs, outputs := w.uints(w.fileIDs(w.g.Inputs)), w.uints(w.fileIDs(w.g.Outputs))
	version := b.CreateString(w.g.Version)

	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddVersion(b, version)
	xnngraph.XNNGraphAddXnodes(b, xnodes)
	xnngraph.XNNGraphAddXvalues(b, xvalues)
	xnngraph.XNNGraphAddNumExterns(b, w.externs)
	xnngraph.XNNGraphAddInputIds(b, inputs)
	xnngraph.XNNGraphAddOutputIds(b, outputs)
	if w.behind {
		xnngraph.XNNGraphAddConstantData(b, constants)
	} else {
		xnngraph.XNNGraphAddConstantBuffer(b, constants)
	}
	xnngraph.XNNGraphAddMemBufferSizes(b, sizes)
	root := xnngraph.XNNGraphEnd(b)
	if ids := identifiers[w.dialect]; ids != nil {
		b.FinishWithFileIdentifier(root, []byte(ids[0]))
	} else {
		b.Finish(root)
	}
	if w.behind {
		return join(b.FinishedBytes(), w.g.Constants, w.offsets)
	}
	return b.FinishedBytes()
}

func (w *writer) node(n *Node) flatbuffers.UOffsetT {
	f, _ := n.form(w.g)
	op := f.encode(w.b, n.Op, w.fileIDs(n.Inputs), w.fileIDs(n.Outputs))
	var limits flatbuffers.UOffsetT
	if r, ok := n.Op.(ranged); ok && r.limits().Limited() {
		lo, hi := r.limits().Bounds()
		xnngraph.OutputMinMaxStart(w.b)
		xnngraph.OutputMinMaxAddOutputMin(w.b, lo)
		xnngraph.OutputMinMaxAddOutputMax(w.b, hi)
		limits = xnngraph.OutputMinMaxEnd(w.b)
	}
	xnngraph.XNodeStart(w.b)
	xnngraph.XNodeAddXnodeType(w.b, f.tag)
	xnngraph.XNodeAddXnode(w.b, op)
	xnngraph.XNodeAddDebugHandle(w.b, n.DebugHandle)
	if limits != 0 {
		xnngraph.XNodeAddOutputMinMax(w.b, limits)
	}
	return xnngraph.XNodeEnd(w.b)
}

func (w *writer) fileIDs(ids []ID) []uint32 {
	out := make([]uint32, len(ids))
	for i, id := range ids {
		out[i] = w.ids[id]
	}
	return out
}

func (w *writer) tables(offsets []flatbuffers.UOffsetT) flatbuffers.UOffsetT {
	w.b.StartVector(flatbuffers.SizeUOffsetT, len(offsets), flatbuffers.SizeUOffsetT)
	for i := len(offsets) - 1; i >= 0; i-- {
		w.b.PrependUOffsetT(offsets[i])
	}
	return w.b.EndVector(len(offsets))
}

func (w *writer) uints(v []uint32) flatbuffers.UOffsetT {
	w.b.StartVector(flatbuffers.SizeUint32, len(v), flatbuffers.SizeUint32)
	for i := len(v) - 1; i >= 0; i-- {
		w.b.PrependUint32(v[i])
	}
	return w.b.EndVector(len(v))
}
