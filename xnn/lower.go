package xnn

import (
	"slices"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

var dataTypes = map[graph.DType]xnnpack.DataType{
	graph.Float32:  xnnpack.Float32,
	graph.Float16:  xnnpack.Float16,
	graph.BFloat16: xnnpack.BFloat16,
	graph.Int32:    xnnpack.Int32,
	graph.QInt8:    xnnpack.QInt8,
	graph.QUInt8:   xnnpack.QUInt8,
	graph.QInt32:   xnnpack.QInt32,
	graph.QCInt8:   xnnpack.QCInt8,
	graph.QCInt32:  xnnpack.QCInt32,
	graph.QCInt4:   xnnpack.QCInt4,
	graph.QBInt4:   xnnpack.QBInt4,
	graph.QDInt8:   xnnpack.QDInt8,
}

// quantOf is a type's quantisation for XNNPACK, which takes the scales of weights from the constants.
func quantOf(t graph.Type) xnnpack.Quant {
	q := t.Quant
	if q == nil {
		return xnnpack.Quant{}
	}
	x := xnnpack.Quant{Scale: q.Scale, ZeroPoint: q.ZeroPoint, Axis: q.Axis, Block: q.Block, Inner: q.Inner}
	if t.DType == graph.QCInt4 || t.DType == graph.QBInt4 {
		x.ZeroPoint = 8
	}
	return x
}

// layout is what every plan of a model has in common.
//
// Only nodes that an output depends on are run, and only values that those touch exist for XNNPACK. An output that no node
// writes, because it is an input or was listed before, is copied after the nodes.
type layout struct {
	nodes  []int // indices of the nodes to run, in order
	used   []bool
	slots  map[graph.ID]slotRef // where values that the caller sees lie
	copies []copyOp
}

// slotRef names one of a session's tensors.
type slotRef struct {
	output bool
	index  int
}

// copyOp makes an output of an input, or of another output.
type copyOp struct {
	output int
	from   slotRef
}

func newLayout(g *graph.Graph) (*layout, error) {
	l := &layout{used: make([]bool, len(g.Values)), slots: map[graph.ID]slotRef{}}
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
		if lowerings[n.Op.Kind()].define == nil {
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
	slices.Reverse(l.nodes)

	for i, id := range g.Inputs {
		l.slots[id] = slotRef{index: i}
	}
	for i, id := range g.Outputs {
		if from, taken := l.slots[id]; taken {
			l.copies = append(l.copies, copyOp{i, from})
		} else {
			l.slots[id] = slotRef{output: true, index: i}
		}
	}
	return l, nil
}

// packs is about how many bytes the weights take that XNNPACK packs, 0 where there are none: rather more than fewer, since what
// is found missing later takes a block of its own.
func (l *layout) packs(g *graph.Graph) (bytes int64) {
	for _, i := range l.nodes {
		n := &g.Nodes[i]
		if len(lowerings[n.Op.Kind()].packs) == 0 {
			continue
		}
		out, half := g.Values[n.Outputs[0]].Shape, g.Values[n.Inputs[0]].DType == graph.Float16
		channels, tile := out[len(out)-1], packedChannels
		if half {
			tile /= 2
		}
		padded := (channels + tile - 1) / tile * tile
		bytes++ // of a node whose weights are computed
		if len(n.Inputs) == 2 {
			bytes += int64(4 * padded) // zeros for a bias
		}
		for _, id := range n.Inputs { // biases are packed with the filter, also where XNNPACK reads them again
			if v := &g.Values[id]; v.Constant != 0 {
				size := v.Bytes()
				if half && v.DType == graph.Float32 {
					size /= 2 // packed to halves
				}
				bytes += int64(apart(size / max(1, channels) * padded))
			}
		}
	}
	return bytes
}

// packedChannels is how many output channels the widest kernels take at once, half as many in half precision. Weights are
// padded to a multiple when packed.
const packedChannels = 32

// dims is the shape a value has for XNNPACK in a segment: its own, or that of a tile.
func (s *segment) dims(id graph.ID, shapes []Shape, last bool) Shape {
	if s.tiling == nil {
		return shapes[id]
	}
	full, final := s.tiling.full, s.tiling.last
	if o, ok := s.tiling.operands[id]; ok {
		full, final = o.full, o.last
	}
	if last {
		return final
	}
	return full
}

// described is a segment that XNNPACK knows.
type described struct {
	sub  *xnnpack.Subgraph
	of   []int    // the segment's node, by its place, that each of XNNPACK's nodes belongs to
	keys []uint64 // of the packed weights of each of XNNPACK's nodes
}

// describe tells XNNPACK of a segment.
func (s *segment) describe(g *graph.Graph, shapes []Shape, c *constants, last bool) (*described, *Error) {
	sub, err := xnnpack.NewSubgraph(len(s.externals))
	if err != nil {
		return nil, fromXNNPACK(schema.StageDefine, err)
	}
	ids := map[graph.ID]uint32{}
	define := func(id graph.ID, flags uint32, external int) *Error {
		v := &g.Values[id]
		t := xnnpack.Tensor{Type: dataTypes[v.DType], Dims: s.dims(id, shapes, last), Flags: flags, ExternalID: external, Quant: quantOf(v.Type)}
		if v.Constant != 0 && flags == 0 {
			t.Data, t.Quant.Scales = c.at[v.Constant], c.scales[id]
		}
		xid, err := sub.Define(t)
		if err != nil {
			return fromXNNPACK(schema.StageDefine, err).AtValue(v.Ref)
		}
		ids[id] = xid
		return nil
	}
	xids := func(list []graph.ID) []uint32 {
		xs := make([]uint32, len(list))
		for i, id := range list {
			xs[i] = ids[id]
		}
		return xs
	}
	fail := func(e *Error) (*described, *Error) {
		sub.Close()
		return nil, e
	}
	for i, e := range s.externals {
		if err := define(e.id, e.flags, i); err != nil {
			return fail(err)
		}
	}
	for _, id := range s.internals {
		if err := define(id, 0, 0); err != nil {
			return fail(err)
		}
	}
	desc := &described{sub: sub}
	for at, i := range s.nodes {
		n := &g.Nodes[i]
		d := definition{
			sub: sub, op: n.Op,
			in: s.values(g, n.Inputs, shapes, last), out: s.values(g, n.Outputs, shapes, last),
			ins: xids(n.Inputs), outs: xids(n.Outputs),
		}
		if err := lowerings[n.Op.Kind()].define(&d); err != nil {
			return fail(fromXNNPACK(schema.StageDefine, err).AtNode(n.Ref))
		}
		for part := range sub.Nodes() - len(desc.of) {
			desc.of = append(desc.of, at)
			desc.keys = append(desc.keys, xnnpack.WeightsKey(i, part))
		}
	}
	return desc, nil
}

// values are a node's operands or results with the shapes they have in a segment.
func (s *segment) values(g *graph.Graph, ids []graph.ID, shapes []Shape, last bool) []graph.Value {
	list := make([]graph.Value, len(ids))
	for i, id := range ids {
		list[i] = g.Values[id]
		list[i].Shape = s.dims(id, shapes, last)
	}
	return list
}
