package xnn

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/xnngo/xnngo/cgo/xnnpack"
	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// constants is the memory that constants are bound to, by index in the graph's table.
type constants struct {
	at     []unsafe.Pointer            // nil for a constant that no node reads
	scales map[graph.ID]unsafe.Pointer // of weights with more than one: fp32, or bf16 for blocks
	copied []xnnpack.Memory
}

// newConstants finds each constant a place: where it is in the mapped file, else a copy. Values may share a constant and
// may need less of it than there is; only what the largest needs is taken.
func newConstants(g *graph.Graph, used []bool, mapped *mapping, b *budget) (*constants, error) {
	need := make([]int, len(g.Constants))
	read := make([]bool, len(g.Constants))
	for i := range g.Values {
		if v := &g.Values[i]; used[i] && v.Constant != 0 {
			read[v.Constant] = true
			need[v.Constant] = max(need[v.Constant], v.Bytes())
		}
	}
	c := &constants{at: make([]unsafe.Pointer, len(g.Constants)), scales: map[graph.ID]unsafe.Pointer{}}
	var total int64
	for i := range g.Values {
		if q := g.Values[i].Quant; used[i] && q != nil {
			total += int64(4 * len(q.Scales))
		}
	}
	var copies []int
	for i := range read {
		if !read[i] {
			continue
		}
		data := g.Constants[i].Data
		if len(data) >= need[i] && mapped.holds(data[:need[i]], xnnpack.ExtraBytes()) {
			c.at[i] = unsafe.Pointer(unsafe.SliceData(data))
			continue
		}
		copies = append(copies, i)
		total += int64(need[i])
	}
	if err := b.take(schema.StageCheck, "constants", total); err != nil {
		return nil, err
	}
	for _, i := range copies {
		m, err := xnnpack.Alloc(xnnpack.Constants, need[i])
		if err != nil {
			c.close()
			return nil, outOfMemory(schema.StageCheck, "constant %d of %d bytes", i, need[i])
		}
		c.copied = append(c.copied, m)
		data := g.Constants[i].Data
		copy(m.Bytes(), data[:min(len(data), need[i])])
		c.at[i] = m.Pointer()
	}
	for i := range g.Values {
		if q := g.Values[i].Quant; used[i] && q != nil && len(q.Scales) > 0 {
			if err := c.copyScales(graph.ID(i), g.Values[i].DType, q.Scales); err != nil {
				c.close()
				return nil, err
			}
		}
	}
	return c, nil
}

// copyScales puts the scales of a value where XNNPACK can keep reading them.
func (c *constants) copyScales(id graph.ID, t graph.DType, scales []float32) error {
	m, err := xnnpack.Alloc(xnnpack.Constants, 4*len(scales))
	if err != nil {
		return outOfMemory(schema.StageCheck, "%d scales", len(scales))
	}
	c.copied = append(c.copied, m)
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

func (c *constants) close() {
	for i := range c.copied {
		c.copied[i].Free()
	}
	c.copied, c.at = nil, nil
}

// outOfMemory is the error of an allocation that failed although the limit allowed it.
func outOfMemory(stage schema.Stage, format string, args ...any) *Error {
	e := schema.Errorf(stage, ErrMemoryLimit, "no memory for "+format, args...)
	e.Status = StatusOutOfMemory
	return e
}
