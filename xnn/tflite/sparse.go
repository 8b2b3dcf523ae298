package tflite

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// sparse is a tensor of which only some elements are stored. Its levels are its dimensions, and those of a block where elements
// come in blocks, in the order in which they are passed through.
type sparse struct {
	levels []level
	shape  graph.Shape
	size   int // of an element
	stored []byte
	dense  []byte
}

// level is one dimension of a sparse tensor.
type level struct {
	dim     int // of the dense tensor
	stride  int // how many of that dimension's indices one step is
	size    int
	sparse  bool
	begin   []int // where the indices of each entry of the level before begin, and the end of the last
	indices []int
}

// densify gives all elements of a sparse constant.
func (im *importer) densify(c *constant, w *wire.SparsityParameters) (*constant, *schema.Error) {
	size := elementSize(c.typ)
	if size == 0 {
		return nil, unsupported("sparse elements of %v are not supported", c.typ)
	}
	n := c.shape.Elements()
	if n > maxDense {
		return nil, unsupported("a sparse tensor of %d elements, at most %d are supported", n, maxDense)
	}
	if err := im.take(size * n); err != nil {
		return nil, err
	}
	s := &sparse{shape: c.shape, size: size, stored: c.data}
	entries, err := s.read(im, w)
	if err != nil {
		return nil, err
	}
	if entries != len(c.data)/size || len(c.data)%size != 0 {
		return nil, invalid("sparse: %d elements are stored in %d bytes, the dimensions tell of %d", len(c.data)/size, len(c.data),
			entries)
	}
	s.dense = make([]byte, size*n)
	s.fill(0, 0, make([]int, len(c.shape)))
	return &constant{typ: c.typ, shape: c.shape, data: s.dense, quant: c.quant}, nil
}

// maxDense bounds a sparse tensor: its stored indices have 32 bits.
const maxDense = 1 << 31

// read reads the levels and gives the number of elements they tell of.
func (s *sparse) read(im *importer, w *wire.SparsityParameters) (int, *schema.Error) {
	rank, blocks := len(s.shape), w.BlockMapLength()
	n := w.TraversalOrderLength()
	if blocks > rank || n != rank+blocks || w.DimMetadataLength() != n {
		return 0, invalid("sparse: traversal_order has %d entries, dim_metadata %d, block_map %d, for %v", n, w.DimMetadataLength(),
			blocks, s.shape)
	}
	// How much of each dimension lies within a block.
	within := make([]int, rank)
	for i := range within {
		within[i] = 1
	}
	place := make([]int, n) // of each dimension among the levels
	seen := make([]bool, n)
	for i := range n {
		d := int(w.TraversalOrder(i))
		if d < 0 || d >= n || seen[d] || (d < rank) != (i < rank) {
			return 0, invalid("sparse: traversal_order[%d] is %d, of %d dimensions and %d of blocks, each once, blocks last", i, d,
				rank, blocks)
		}
		seen[d], place[d] = true, i
	}
	meta := make([]wire.DimensionMetadata, n)
	for i := range meta {
		w.DimMetadata(&meta[i], i)
	}
	for b := range blocks {
		d, m := int(w.BlockMap(b)), &meta[place[rank+b]]
		if d < 0 || d >= rank || within[d] != 1 || m.Format() != wire.DimensionTypeDENSE || m.DenseSize() < 1 ||
			s.shape[d]%int(m.DenseSize()) != 0 {
			return 0, invalid("sparse: block dimension %d, %d of dimension %d, does not divide %v", b, m.DenseSize(), d, s.shape)
		}
		within[d] = int(m.DenseSize())
	}
	s.levels = make([]level, n)
	entries := 1
	for i := range s.levels {
		l, d := &s.levels[i], int(w.TraversalOrder(i))
		if d < rank {
			l.dim, l.stride, l.size = d, within[d], s.shape[d]/within[d]
		} else {
			l.dim, l.stride = int(w.BlockMap(d-rank)), 1
			l.size = within[l.dim]
		}
		var err *schema.Error
		if entries, err = l.read(im, &meta[i], entries); err != nil {
			return 0, err
		}
	}
	return entries, nil
}

// read reads how a level is stored, after one with so many entries, and gives the number of its own.
func (l *level) read(im *importer, m *wire.DimensionMetadata, before int) (int, *schema.Error) {
	switch m.Format() {
	case wire.DimensionTypeDENSE:
		if int(m.DenseSize()) != l.size {
			return 0, invalid("sparse: dense_size is %d, dimension %d needs %d", m.DenseSize(), l.dim, l.size)
		}
		return before * l.size, nil // each of which is an element of the dense tensor, so it does not overflow
	case wire.DimensionTypeSPARSE_CSR:
	default:
		return 0, unsupported("sparse: format %d of dimension %d is not known", m.Format(), l.dim)
	}
	l.sparse = true
	var err *schema.Error
	if l.begin, err = im.indices("array_segments", m.ArraySegmentsType(), m.ArraySegments); err != nil {
		return 0, err
	}
	if l.indices, err = im.indices("array_indices", m.ArrayIndicesType(), m.ArrayIndices); err != nil {
		return 0, err
	}
	if len(l.begin) != before+1 || l.begin[0] != 0 || l.begin[before] != len(l.indices) {
		return 0, invalid("sparse: array_segments of dimension %d has %d entries for %d, from 0 to %d", l.dim, len(l.begin), before,
			len(l.indices))
	}
	for i, at := range l.begin[1:] {
		if at < l.begin[i] {
			return 0, invalid("sparse: array_segments[%d] of dimension %d is %d, less than the one before", i+1, l.dim, at)
		}
		for k := l.begin[i]; k < min(at, len(l.indices)); k++ {
			if x := l.indices[k]; x < 0 || x >= l.size || k > l.begin[i] && x <= l.indices[k-1] {
				return 0, invalid("sparse: array_indices[%d] of dimension %d is %d, not the next of %d", k, l.dim, x, l.size)
			}
		}
	}
	return len(l.indices), nil
}

// indices reads a vector of any width.
func (im *importer) indices(field string, kind wire.SparseIndexVector, get func(*flatbuffers.Table) bool) ([]int, *schema.Error) {
	var t flatbuffers.Table
	if !get(&t) {
		return nil, invalid("sparse: there is no %s", field)
	}
	var n int
	var at func(int) int
	switch kind {
	case wire.SparseIndexVectorInt32Vector:
		var v wire.Int32Vector
		v.Init(t.Bytes, t.Pos)
		n, at = v.ValuesLength(), func(i int) int { return int(v.Values(i)) }
	case wire.SparseIndexVectorUint16Vector:
		var v wire.Uint16Vector
		v.Init(t.Bytes, t.Pos)
		n, at = v.ValuesLength(), func(i int) int { return int(v.Values(i)) }
	case wire.SparseIndexVectorUint8Vector:
		var v wire.Uint8Vector
		v.Init(t.Bytes, t.Pos)
		n, at = v.ValuesLength(), func(i int) int { return int(v.Values(i)) }
	default:
		return nil, unsupported("sparse: %s is of the unknown kind %v", field, kind)
	}
	if err := im.read(n); err != nil {
		return nil, err
	}
	list := make([]int, n)
	for i := range list {
		list[i] = at(i)
	}
	return list, nil
}

// fill places the elements behind entry at of the levels before, whose indices are in place.
func (s *sparse) fill(depth, at int, place []int) {
	if depth == len(s.levels) {
		to := 0
		for i, d := range s.shape {
			to = to*d + place[i]
		}
		copy(s.dense[to*s.size:(to+1)*s.size], s.stored[at*s.size:])
		return
	}
	l := &s.levels[depth]
	from := place[l.dim]
	if l.sparse {
		for k := l.begin[at]; k < l.begin[at+1]; k++ {
			place[l.dim] = from + l.indices[k]*l.stride
			s.fill(depth+1, k, place)
		}
	} else {
		for i := range l.size {
			place[l.dim] = from + i*l.stride
			s.fill(depth+1, at*l.size+i, place)
		}
	}
	place[l.dim] = from
}
