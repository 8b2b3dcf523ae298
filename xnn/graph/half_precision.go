package graph

import (
	"encoding/binary"
	"math"
	"slices"
)

// HalfPrecision gives a graph that computes in Float16 where g computes in Float32, wherever XNNPACK has kernels for it. Its
// inputs and outputs have the types of g's; Convert nodes stand between the precisions, one for all readers of a value.
// Constants are rounded to nearest, ties to even, and numbers that were of half precision come back as they were. Filters of
// convolutions stay Float32 in the graph, as XNNPACK takes them, which packs them to halves.
//
// These stay as they are: nodes without a signature of Float16; nodes with quantised operands; nodes with a constant or a
// parameter that half precision has not, since it is finite and beyond 65504, or not zero and too small (a constant, where that
// is so of all of its elements); and nodes that only move or convert numbers, where none before or behind them computes in half
// precision. What nodes compute may still leave the range of half precision at run time, and be infinite or zero then.
//
// Constants that nothing reads are left out, values and nodes numbered anew, and the size of the arena is left to the plan. g
// stays as it is. Errors: those of Check.
func HalfPrecision(g *Graph) (*Graph, error) {
	g = g.Clone()
	if err := g.Check(); err != nil {
		return nil, err
	}
	h := halver{g: g, twins: map[ID]*twin{}, constants: map[sharedConstant]int{}, representable: map[ID]bool{}}
	signatures, nodes := h.choose(), g.Nodes
	g.Nodes = nil
	for i := range nodes {
		h.rewrite(nodes[i], signatures[i])
	}
	for _, id := range g.Outputs {
		h.single(id, 0)
	}
	g.ArenaBytes = 0
	g.compact()
	return g, g.Check()
}

// halver is the work on one graph. It gives values of Float32 a twin of Float16 where a node in half precision reads or writes
// them.
type halver struct {
	g             *Graph
	twins         map[ID]*twin
	constants     map[sharedConstant]int // in half precision, by index in the graph's table
	representable map[ID]bool            // of constants that were looked at
}

// twin is a value in half precision.
type twin struct {
	id     ID
	only   bool   // nothing has the value in single precision yet
	writer uint32 // debug handle of the node that writes it
}

// sharedConstant is what constants of the same bytes have in common.
type sharedConstant struct{ constant, elements int }

// choose gives the signature of each node in half precision, nil where it stays as it is.
func (h *halver) choose() []*Signature {
	g := h.g
	able, chosen := make([]*Signature, len(g.Nodes)), make([]*Signature, len(g.Nodes))
	written, read := make([]bool, len(g.Values)), make([]bool, len(g.Values))
	touch := func(ids []ID, marks []bool) {
		for _, id := range ids {
			marks[id] = marks[id] || g.Values[id].DType == Float32
		}
	}
	touched := func(ids []ID, marks []bool) bool {
		for _, id := range ids {
			if marks[id] {
				return true
			}
		}
		return false
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if able[i] = h.signature(n); able[i] != nil && (!moves(n.Op) || touched(n.Inputs, written)) {
			chosen[i] = able[i]
			touch(n.Outputs, written)
		}
	}
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := &g.Nodes[i]
		if able[i] != nil && (chosen[i] != nil || touched(n.Outputs, read)) {
			chosen[i] = able[i]
			touch(n.Inputs, read)
		}
	}
	return chosen
}

// moves tells operators whose results are elements of their operands, maybe in another type.
func moves(op Op) bool { return operatorOf(op).sameQuant || converts(op) }

func converts(op Op) bool {
	u, ok := op.(Unary)
	return ok && u.Func == Convert
}

// signature is that with which a node can be in half precision, with most operands of it; nil where there is none.
func (h *halver) signature(n *Node) (found *Signature) {
	g, most := h.g, 0
	for _, ids := range [][]ID{n.Inputs, n.Outputs} {
		for _, id := range ids {
			if g.Values[id].DType.quant() != quantNone && !converts(n.Op) {
				return nil
			}
		}
	}
	if !parametersFit(n.Op) {
		return nil
	}
	o := operatorOf(n.Op)
	for i := range o.types {
		s := &o.types[i]
		in, changedIn := h.retyped(n.Inputs, s.In)
		out, changedOut := h.retyped(n.Outputs, s.Out)
		if in == nil || out == nil || changedIn+changedOut <= most {
			continue
		}
		if _, err := infer(n.Op, in, out); err == nil {
			found, most = s, changedIn+changedOut
		}
	}
	if found == nil {
		return nil
	}
	for _, id := range n.Inputs {
		if v := &g.Values[id]; v.Constant != 0 && v.DType == Float32 && !h.fits(id) {
			return nil
		}
	}
	return found
}

// retyped are values as a signature has them, and how many become halves; nil where it has other types. Constants alone may stay
// in single precision: whatever is computed is in half.
func (h *halver) retyped(ids []ID, types []DType) (values []Value, changed int) {
	values = make([]Value, len(ids))
	for i, id := range ids {
		v, want := h.g.Values[id], types[min(i, len(types)-1)]
		switch {
		case v.DType == want && (want != Float32 || v.Constant != 0):
		case v.DType == Float32 && want == Float16:
			v.DType = Float16
			changed++
		default:
			return nil, 0
		}
		values[i] = v
	}
	return values, changed
}

// scalar is an operator with a parameter that elements are computed with, limits aside.
type scalar interface {
	Op
	scalar() float32
}

func parametersFit(op Op) bool {
	if s, ok := op.(scalar); ok && !inHalf(s.scalar()) {
		return false
	}
	if r, ok := op.(ranged); ok && r.limits().Limited() {
		lo, hi := r.limits().Bounds()
		return inHalf(lo) && inHalf(hi) && HalfOf(lo).Float32() < HalfOf(hi).Float32()
	}
	return true
}

// inHalf tells a number that is neither infinite nor zero in half precision unless it is so by itself.
func inHalf(f float32) bool { return !overflows(f) && (f == 0 || HalfOf(f)&^halfSign != 0) }

const halfSign Half = 0x8000

func overflows(f float32) bool { return HalfOf(f)&^halfSign == 0x7c00 && f-f == 0 }

// fits tells whether half precision has a constant: no finite element becomes infinite, and not all become zero.
func (h *halver) fits(id ID) bool {
	fits, known := h.representable[id]
	if known {
		return fits
	}
	v := &h.g.Values[id]
	data := singles(h.g.Constants[v.Constant], v.Shape.Elements())
	fits = true
	anything, left := false, false
	for i := 0; i < len(data) && fits; i += 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
		fits = !overflows(f)
		anything, left = anything || f != 0, left || HalfOf(f)&^halfSign != 0
	}
	fits = fits && left == anything
	h.representable[id] = fits
	return fits
}

// singles are the bytes of the first n elements of a constant of Float32. Behind them, zeros, there may be more than memory has.
func singles(c Constant, n int) []byte {
	data := c.Bytes()
	data = data[:min(len(data), 4*n)]
	if part := len(data) % 4; part != 0 {
		data = append(slices.Clip(data), make([]byte, 4-part)...)
	}
	return data
}

// rewrite appends a node with operands and results of the signature, which is nil where it stays in single precision.
func (h *halver) rewrite(n Node, s *Signature) {
	for i, id := range n.Inputs {
		switch {
		case h.g.Values[id].DType != Float32:
		case s != nil && s.In[min(i, len(s.In)-1)] == Float16:
			n.Inputs[i] = h.half(id, n.DebugHandle)
		default:
			h.single(id, n.DebugHandle)
		}
	}
	for i, id := range n.Outputs {
		if s != nil && h.g.Values[id].DType == Float32 {
			n.Outputs[i] = h.twinOf(id)
			h.twins[id].only, h.twins[id].writer = true, n.DebugHandle
		}
	}
	h.g.Nodes = append(h.g.Nodes, n)
}

// half is a value in half precision, converted for the node with this handle where it is not there yet.
func (h *halver) half(id ID, handle uint32) ID {
	if t := h.twins[id]; t != nil {
		return t.id
	}
	if h.g.Values[id].Constant == 0 {
		t := h.twinOf(id)
		h.convert(id, t, handle)
		return t
	}
	return h.twinOf(id)
}

// single sees to it that a value is there in single precision.
func (h *halver) single(id ID, handle uint32) {
	if t := h.twins[id]; t != nil && t.only {
		t.only = false
		if handle == 0 {
			handle = t.writer
		}
		h.convert(t.id, id, handle)
	}
}

func (h *halver) convert(from, to ID, handle uint32) {
	h.g.Nodes = append(h.g.Nodes, Node{Op: Unary{Func: Convert}, Inputs: []ID{from}, Outputs: []ID{to}, DebugHandle: handle})
}

// twinOf adds a value of half precision for one of single. A constant gets its numbers, rounded when somebody needs them.
func (h *halver) twinOf(id ID) ID {
	g, v := h.g, h.g.Values[id]
	t := Type{DType: Float16, Shape: v.Shape}
	var made ID
	key := sharedConstant{v.Constant, v.Shape.Elements()}
	switch at := h.constants[key]; {
	case v.Constant == 0:
		made = g.add(t, 0)
	case at != 0:
		made = g.add(t, at)
	default:
		c := g.Constants[v.Constant]
		made = g.ConstantFrom(t, 2*key.elements, func(dst []byte) {
			data := singles(c, key.elements)
			for i := range len(data) / 4 {
				f := math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
				binary.LittleEndian.PutUint16(dst[2*i:], uint16(HalfOf(f)))
			}
		})
		h.constants[key] = g.Values[made].Constant
	}
	g.Values[made].Name = v.Name
	h.twins[id] = &twin{id: made}
	return made
}
