package xnn

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// constants is the memory that constants are bound to.
type constants struct {
	at     []unsafe.Pointer            // by index in the graph's table; nil for a constant that no node reads
	scales map[graph.ID]unsafe.Pointer // of weights with more than one: fp32, or bf16 for blocks
	copies []xnnpack.Memory            // by index in the graph's table, where a constant had to be copied
	sizes  []int                       // bytes that nodes need, by index in the graph's table
	others []xnnpack.Memory
}

// newConstants finds each constant a place: where it is in the mapped file, else a copy. Values may share a constant and
// may need less of it than there is; only what the largest needs is taken.
func newConstants(g *graph.Graph, used []bool, mapped *mapping, b *budget) (*constants, error) {
	n := len(g.Constants)
	need, read, inPlace := make([]int, n), make([]bool, n), make([]bool, n)
	c := &constants{
		at: make([]unsafe.Pointer, n), sizes: need, copies: make([]xnnpack.Memory, n), scales: map[graph.ID]unsafe.Pointer{},
	}
	var total int64
	for i := range g.Values {
		v := &g.Values[i]
		if !used[i] || v.Constant == 0 {
			continue
		}
		read[v.Constant] = true
		need[v.Constant] = max(need[v.Constant], v.Bytes())
		if v.Quant != nil {
			total += int64(4 * len(v.Quant.Scales))
		}
	}
	for i := range read {
		data := g.Constants[i].Data
		inPlace[i] = len(data) >= need[i] && mapped.holds(data[:need[i]], xnnpack.ExtraBytes())
		if read[i] && !inPlace[i] {
			total += int64(need[i])
		}
	}
	if err := b.take(schema.StageCheck, "constants", total); err != nil {
		return nil, err
	}
	fail := func(e *Error) (*constants, error) {
		c.close()
		return nil, e
	}
	for i := range read {
		data := g.Constants[i].Data
		switch {
		case !read[i]:
		case inPlace[i]:
			c.at[i] = unsafe.Pointer(unsafe.SliceData(data))
		default:
			m, err := xnnpack.Alloc(xnnpack.Constants, need[i])
			if err != nil {
				return fail(outOfMemory(schema.StageCheck, "constant %d of %d bytes", i, need[i]))
			}
			copy(m.Bytes(), data[:min(len(data), need[i])])
			c.copies[i], c.at[i] = m, m.Pointer()
		}
	}
	for i := range g.Values {
		if q := g.Values[i].Quant; used[i] && q != nil && len(q.Scales) > 0 {
			if err := c.copyScales(graph.ID(i), g.Values[i].DType, q.Scales); err != nil {
				return fail(err)
			}
		}
	}
	return c, nil
}

// copyScales puts the scales of a value where XNNPACK can keep reading them.
func (c *constants) copyScales(id graph.ID, t graph.DType, scales []float32) *Error {
	m, err := xnnpack.Alloc(xnnpack.Constants, 4*len(scales))
	if err != nil {
		return outOfMemory(schema.StageCheck, "%d scales", len(scales))
	}
	c.others = append(c.others, m)
	b := m.Bytes()
	for i, s := range scales {
		if t == graph.QBInt4 {
			binary.NativeEndian.PutUint16(b[2*i:], uint16(graph.BFloatOf(s)))
		} else {
			binary.NativeEndian.PutUint32(b[4*i:], math.Float32bits(s))
		}
	}
	c.scales[id] = m.Pointer()
	return nil
}

// release lets go of constants that the kernels have in packed form, and seals that form: nothing is packed from them again.
func (c *constants) release(g *graph.Graph, nodes []int, w *xnnpack.Weights, mapped *mapping, b *budget) {
	packed, kept := make([]bool, len(c.at)), make([]bool, len(c.at))
	for _, i := range nodes {
		n := &g.Nodes[i]
		for at, id := range n.Inputs {
			if k := g.Values[id].Constant; k != 0 {
				if lowerings[n.Op.Kind()].packsOperand(at) && w.Packed(i) {
					packed[k] = true
				} else {
					kept[k] = true
				}
			}
		}
	}
	for _, i := range nodes {
		n := &g.Nodes[i]
		for _, id := range n.Inputs {
			if k := g.Values[id].Constant; k != 0 && packed[k] && !kept[k] {
				w.Seal(i)
			}
		}
	}
	for k := range c.at {
		switch {
		case !packed[k] || kept[k]:
		case c.copies[k].Pointer() == nil:
			mapped.forget(unsafe.Slice((*byte)(c.at[k]), c.sizes[k]))
		default:
			c.copies[k].Free()
			c.at[k] = xnnpack.Nowhere()
			b.give(int64(c.sizes[k]))
		}
	}
}

func (c *constants) close() {
	for _, list := range [][]xnnpack.Memory{c.copies, c.others} {
		for i := range list {
			list[i].Free()
		}
	}
	*c = constants{}
}

// outOfMemory is the error of an allocation that failed although the limit allowed it.
func outOfMemory(stage schema.Stage, format string, args ...any) *Error {
	e := schema.Errorf(stage, ErrMemoryLimit, "no memory for "+format, args...)
	e.Status = StatusOutOfMemory
	return e
}
