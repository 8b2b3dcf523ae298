package xnn

import (
	"encoding/binary"
	"math"
	"slices"
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// constants is the memory that constants are bound to.
type constants struct {
	at     []unsafe.Pointer            // by index in the graph's table; nil for a constant that no node reads
	scales map[graph.ID]unsafe.Pointer // of weights with more than one: fp32, or bf16 for blocks
	sizes  []int                       // bytes that nodes need, by index in the graph's table
	copied []bool                      // by index in the graph's table: it lies in block
	block  xnnpack.Memory
	others xnnpack.Memory // the scales
}

// newConstants finds each constant a place: where it is in the mapped file, else in one block for all, since finding pages for
// many small ones would take longer than filling them. Values may share a constant and may need less of it than there is; only
// what the largest needs is taken. Those that are absent get no place: XNNPACK has them packed.
func newConstants(g *graph.Graph, used, absent []bool, mapped *mapping, b *budget) (*constants, error) {
	n := len(g.Constants)
	c := &constants{
		at: make([]unsafe.Pointer, n), sizes: make([]int, n), copied: make([]bool, n), scales: map[graph.ID]unsafe.Pointer{},
	}
	read := make([]bool, n)
	scales := 0
	for i := range g.Values {
		v := &g.Values[i]
		if !used[i] || v.Constant == 0 {
			continue
		}
		read[v.Constant] = true
		c.sizes[v.Constant] = max(c.sizes[v.Constant], v.Bytes())
		if v.Quant != nil {
			scales += apart(4 * len(v.Quant.Scales))
		}
	}
	total := int64(scales)
	for i := range read {
		data, need := g.Constants[i].Data, c.sizes[i]
		switch {
		case !read[i]:
		case absent != nil && absent[i]:
			c.at[i] = xnnpack.Nowhere()
		case len(data) >= need && mapped.holds(data[:need], xnnpack.ExtraBytes()):
			c.at[i] = unsafe.Pointer(unsafe.SliceData(data))
		default:
			c.copied[i] = true
			total += int64(need)
		}
	}
	if err := b.take(schema.StageCheck, "constants", total); err != nil {
		return nil, err
	}
	if err := c.place(c.copied); err != nil {
		return nil, err
	}
	for i, copied := range c.copied {
		if copied {
			g.Constants[i].CopyTo(unsafe.Slice((*byte)(c.at[i]), c.sizes[i]))
		}
	}
	if scales > 0 {
		if err := c.copyScales(g, used, scales); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// apart is the place that a block of so many bytes takes among others.
func apart(bytes int) int { return (bytes + blockAlign - 1) &^ (blockAlign - 1) }

const blockAlign = 64

// place makes the block, for these constants, without filling it.
func (c *constants) place(which []bool) error {
	total, any := 0, false
	for i, in := range which {
		if in {
			total, any = apart(total)+c.sizes[i], true
		}
	}
	if !any {
		return nil
	}
	m, err := xnnpack.Alloc(xnnpack.Constants, total)
	if err != nil {
		return outOfMemory(schema.StageCheck, "constants of %d bytes", total)
	}
	c.block, total = m, 0
	for i, in := range which {
		if in {
			c.at[i] = unsafe.Add(m.Pointer(), apart(total))
			total = apart(total) + c.sizes[i]
		}
	}
	return nil
}

// copyScales puts the scales of values where XNNPACK can keep reading them.
func (c *constants) copyScales(g *graph.Graph, used []bool, total int) error {
	m, err := xnnpack.Alloc(xnnpack.Constants, total)
	if err != nil {
		return outOfMemory(schema.StageCheck, "scales of %d bytes", total)
	}
	c.others = m
	b := m.Bytes()
	for i := range g.Values {
		v := &g.Values[i]
		if !used[i] || v.Constant == 0 || v.Quant == nil || len(v.Quant.Scales) == 0 {
			continue
		}
		c.scales[graph.ID(i)] = unsafe.Pointer(unsafe.SliceData(b))
		for k, s := range v.Quant.Scales {
			if v.DType == graph.QBInt4 {
				binary.NativeEndian.PutUint16(b[2*k:], uint16(graph.BFloatOf(s)))
			} else {
				binary.NativeEndian.PutUint32(b[4*k:], math.Float32bits(s))
			}
		}
		b = b[apart(4*len(v.Quant.Scales)):]
	}
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
	var freed, stay int64
	left := make([]bool, len(c.at)) // in the block
	for k := range c.at {
		switch {
		case !packed[k] || kept[k]:
			if left[k] = c.copied[k]; left[k] {
				stay += int64(c.sizes[k])
			}
		case c.copied[k]:
			freed += int64(c.sizes[k])
			c.at[k] = xnnpack.Nowhere()
		case c.at[k] != xnnpack.Nowhere():
			mapped.forget(unsafe.Slice((*byte)(c.at[k]), c.sizes[k]))
		}
	}
	// What stays moves into a block of its size, where there is room for both.
	if freed == 0 || b.take(schema.StageCreate, "constants", stay) != nil {
		return
	}
	old, from := c.block, slices.Clone(c.at)
	c.block = xnnpack.Memory{}
	if err := c.place(left); err != nil {
		c.block = old
		b.give(stay)
		return
	}
	for k := range left {
		if left[k] {
			copy(unsafe.Slice((*byte)(c.at[k]), c.sizes[k]), unsafe.Slice((*byte)(from[k]), c.sizes[k]))
		}
	}
	old.Free()
	c.copied = left
	b.give(freed + stay)
}

func (c *constants) close() {
	c.block.Free()
	c.others.Free()
	*c = constants{}
}

// outOfMemory is the error of an allocation that failed although the limit allowed it.
func outOfMemory(stage schema.Stage, format string, args ...any) *Error {
	e := schema.Errorf(stage, ErrMemoryLimit, "no memory for "+format, args...)
	e.Status = StatusOutOfMemory
	return e
}
