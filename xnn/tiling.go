package xnn

import "github.com/xnngo/xnngo/xnn/graph"

// tiling cuts a region of element-wise nodes, whose results all have one shape, into tiles: boxes of 1 along the outer
// dimensions, a chunk of one dimension, and everything of the dimensions inside it. Dimensions that every operand treats
// alike are merged first, so a tile may span what were several.
//
// All shapes here have the rank graph.MaxRank, so that a runtime made for one tiling can be reshaped to another.
type tiling struct {
	grid       []int // number of tiles along each tiled dimension, outermost first
	full, last Shape // the box of a result; last for the final tile along the last dimension of the grid
	operands   map[graph.ID]tiledOperand
}

// tiledOperand is how a value outside the region, or a result that the caller sees, follows the tiles.
type tiledOperand struct {
	full, last Shape
	strides    []int // bytes for one step along each dimension of the grid
}

// merged is the shape of a region's results with dimensions merged, and for each operand which dimensions it has; it is
// broadcast over the others.
type merged struct {
	shape Shape
	has   [][]bool // by operand, then dimension
}

// merge drops dimensions of size 1 and joins neighbours that every operand has, or every operand lacks.
func merge(shape Shape, operands []Shape) merged {
	m := merged{has: make([][]bool, len(operands))}
	for d, size := range shape {
		if size == 1 {
			continue
		}
		joins := len(m.shape) > 0
		has := make([]bool, len(operands))
		for i, o := range operands {
			at := d - (len(shape) - len(o)) // operands align at the last dimension
			has[i] = at >= 0 && o[at] == size
			joins = joins && m.has[i][len(m.shape)-1] == has[i]
		}
		if joins {
			m.shape[len(m.shape)-1] *= size
			continue
		}
		m.shape = append(m.shape, size)
		for i := range operands {
			m.has[i] = append(m.has[i], has[i])
		}
	}
	return m
}

// box is the shape of an operand in a tile: chunk along dimension cut, 1 before it, all behind it, and 1 wherever the operand
// is broadcast; with leading ones up to the largest rank.
func (m merged) box(cut, chunk int, has []bool) Shape {
	box := make(Shape, graph.MaxRank)
	for d := range box {
		box[d] = 1
	}
	lead := graph.MaxRank - len(m.shape)
	for d := cut; d < len(m.shape); d++ {
		switch {
		case has != nil && !has[d]:
		case d == cut:
			box[lead+d] = chunk
		default:
			box[lead+d] = m.shape[d]
		}
	}
	return box
}

// newTiling cuts results of this shape, more than one element, into tiles of about so many elements, at least one row of what
// cannot be cut. types are the operands outside the region.
func newTiling(shape Shape, ids []graph.ID, types []Type, elements int) *tiling {
	operands := make([]Shape, len(types))
	for i, t := range types {
		operands[i] = t.Shape
	}
	m := merge(shape, operands)
	cut, inner := 0, m.shape.Elements()/m.shape[0]
	for inner > elements {
		cut++
		inner /= m.shape[cut]
	}
	chunk := min(max(1, elements/inner), m.shape[cut])
	chunk = ceilDiv(m.shape[cut], ceilDiv(m.shape[cut], chunk)) // tiles of one size, or nearly
	if inner == 1 && elements >= 64 {
		chunk = min((chunk+63)&^63, m.shape[cut]) // whole vectors
	}
	t := &tiling{operands: make(map[graph.ID]tiledOperand, len(ids))}
	for d := range cut {
		t.grid = append(t.grid, m.shape[d])
	}
	chunks := ceilDiv(m.shape[cut], chunk)
	rest := m.shape[cut] - (chunks-1)*chunk
	t.grid = append(t.grid, chunks)
	t.full, t.last = m.box(cut, chunk, nil), m.box(cut, rest, nil)
	for i, id := range ids {
		o := tiledOperand{
			full:    m.box(cut, chunk, m.has[i]),
			last:    m.box(cut, rest, m.has[i]),
			strides: make([]int, cut+1),
		}
		step := types[i].DType.Size()
		for d := len(m.shape) - 1; d >= 0; d-- {
			if !m.has[i][d] {
				continue
			}
			if d <= cut {
				o.strides[d] = step
			}
			step *= m.shape[d]
		}
		o.strides[cut] *= chunk
		t.operands[id] = o
	}
	return t
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// tiles is the number of tiles.
func (t *tiling) tiles() int { return Shape(t.grid).Elements() }

// whole reports whether the last tile is as large as the others.
func (t *tiling) whole() bool { return t.full.Equal(t.last) }
