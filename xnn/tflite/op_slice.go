package tflite

import (
	"slices"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorSLICE] = slicing(wire.BuiltinOptionsSliceOptions, 0, arity{3, 3}, readSlice)
	handlers[wire.BuiltinOperatorSTRIDED_SLICE] = slicing(wire.BuiltinOptionsStridedSliceOptions, 6, arity{4, 4}, readStridedSlice)
}

// cut is what a slice takes along one dimension of its operand.
type cut struct {
	begin, size, step int
	rest              bool // all that is left, whatever the size of the dimension is
	dropped           bool // of size 1, and no dimension of the result
}

// cuts are what a slice takes, and where its result has new dimensions of size 1: before the dimensions of the operand with these
// numbers, or behind all.
type cuts struct {
	list  []cut
	fresh []int
}

// slicing reads an operator that takes a part of a tensor.
func slicing(options wire.BuiltinOptions, fields int, in arity, read func(n *node, x sizes) (cuts, error)) *handler {
	return &handler{
		options: options, fields: fields, in: in, out: arity{1, 1},
		fold: func(n *node, in []*constant) ([]*constant, error) {
			x, err := n.sizesOf(0)
			if err != nil || slices.Contains(in, nil) {
				return nil, err
			}
			c, err := read(n, x)
			if err != nil {
				return nil, err
			}
			begin, step, size := make([]int, len(c.list)), make([]int, len(c.list)), make(graph.Shape, len(c.list))
			for k, l := range c.list {
				begin[k], step[k], size[k] = l.begin, l.step, l.size
			}
			part, err := n.im.box(in[0], begin, step, size)
			if err != nil {
				return nil, err
			}
			return []*constant{part.like(c.result(x).shape)}, nil
		},
		build: func(n *node) error {
			x, err := n.sizesOf(0)
			if err != nil {
				return err
			}
			c, err := read(n, x)
			if err != nil {
				return err
			}
			op := graph.Slice{Offsets: make([]int, len(c.list)), Sizes: make([]int, len(c.list))}
			reshaped := len(c.fresh) > 0
			for k, l := range c.list {
				switch {
				case l.step != 1 && l.size > 1:
					return n.unsupported("stride %d along dimension %d, 1 is supported", l.step, k)
				case l.size == 0 && x.shape[k] != 0:
					return n.unsupported("nothing of dimension %d of %v is taken", k, x.shape)
				}
				op.Offsets[k], op.Sizes[k] = l.begin, l.size
				if l.rest {
					op.Sizes[k] = 0
				}
				reshaped = reshaped || l.dropped
			}
			if !reshaped {
				return n.emit(op, wire.ActivationFunctionTypeNONE, n.value(0))
			}
			v := n.value(0)
			return n.emit(c.result(x).reshape(), wire.ActivationFunctionTypeNONE, n.step(op, n.typeOf(v), v))
		},
	}
}

// result are the sizes of the result.
func (c cuts) result(x sizes) sizes {
	var to sizes
	add := func(size int, loose bool) { to.shape, to.loose = append(to.shape, size), append(to.loose, loose) }
	for k := 0; ; k++ {
		for _, at := range c.fresh {
			if at == k {
				add(1, false)
			}
		}
		if k == len(c.list) {
			return to
		}
		if l := c.list[k]; !l.dropped {
			add(l.size, l.rest && x.loose[k])
		}
	}
}

func readSlice(n *node, x sizes) (cuts, error) {
	begin, err := n.ints(1, graph.MaxRank)
	if err != nil {
		return cuts{}, err
	}
	size, err := n.ints(2, graph.MaxRank)
	if err != nil {
		return cuts{}, err
	}
	if len(begin) != len(x.shape) || len(size) != len(x.shape) {
		return cuts{}, n.invalid("%d begins and %d sizes for %v", len(begin), len(size), x.shape)
	}
	c := cuts{list: make([]cut, len(x.shape))}
	for k, d := range x.shape {
		l := cut{begin: begin[k], size: size[k], step: 1}
		if l.rest = l.size == -1; l.rest {
			l.size = d - l.begin
		}
		if l.begin < 0 || l.size < 0 || l.begin > d || l.size > d-l.begin {
			return cuts{}, n.invalid("%d elements from %d on of dimension %d of %v", size[k], l.begin, k, x.shape)
		}
		c.list[k] = l
	}
	return c, nil
}

// readStridedSlice reads the entries that say what is taken of each dimension, or that it is dropped or new.
func readStridedSlice(n *node, x sizes) (cuts, error) {
	var o wire.StridedSliceOptions
	n.options(&o)
	var lists [3][]int
	for i := range lists {
		var err error
		if lists[i], err = n.ints(1+i, 2*graph.MaxRank); err != nil {
			return cuts{}, err
		}
	}
	begin, end, stride := lists[0], lists[1], lists[2]
	if len(end) != len(begin) || len(stride) != len(begin) {
		return cuts{}, n.invalid("%d begins, %d ends and %d strides", len(begin), len(end), len(stride))
	}
	bit := func(mask int32, i int) bool { return mask>>i&1 != 0 }
	taken, ellipses := 0, 0
	for i := range begin {
		switch {
		case bit(o.EllipsisMask(), i):
			ellipses++
		case !bit(o.NewAxisMask(), i):
			taken++
		}
	}
	if ellipses > 1 || taken > len(x.shape) {
		return cuts{}, n.invalid("%d entries and %d ellipses for %v", taken, ellipses, x.shape)
	}
	var c cuts
	whole := func(count int) {
		for range count {
			c.list = append(c.list, cut{size: x.shape[len(c.list)], step: 1, rest: true})
		}
	}
	for i := range begin {
		switch k := len(c.list); {
		case bit(o.EllipsisMask(), i):
			whole(len(x.shape) - taken)
		case bit(o.NewAxisMask(), i):
			c.fresh = append(c.fresh, k)
		default:
			l, err := n.entry(x, k, span{
				begin: begin[i], end: end[i], stride: stride[i], offset: o.Offset(),
				fromStart: bit(o.BeginMask(), i), toEnd: bit(o.EndMask(), i), single: bit(o.ShrinkAxisMask(), i),
			})
			if err != nil {
				return cuts{}, err
			}
			c.list = append(c.list, l)
		}
	}
	whole(len(x.shape) - len(c.list))
	if rank := len(c.result(x).shape); rank > graph.MaxRank {
		return cuts{}, n.unsupported("the result has %d dimensions, at most %d are supported", rank, graph.MaxRank)
	}
	return c, nil
}

// span is an entry of a strided slice.
type span struct {
	begin, end, stride       int
	fromStart, toEnd, single bool
	offset                   bool // the end counts from the beginning
}

// entry works out what a span takes of dimension k.
func (n *node) entry(x sizes, k int, s span) (cut, error) {
	d := x.shape[k]
	if s.stride == 0 || s.single && s.stride < 0 {
		return cut{}, n.invalid("stride %d along dimension %d", s.stride, k)
	}
	if s.offset {
		s.end += s.begin
	}
	if x.loose[k] && (s.begin < 0 && !s.fromStart || s.end < 0 && !s.toEnd && !s.single || s.stride < 0) {
		return cut{}, n.unsupported("dimension %d, of which the file leaves the size open, is counted from its end", k)
	}
	fromEnd := func(i int) int {
		if i < 0 {
			i += d
		}
		return i
	}
	if s.single {
		at := fromEnd(s.begin)
		if s.fromStart {
			at = 0
		}
		if at < 0 || at >= d {
			return cut{}, n.invalid("element %d of dimension %d of %v", s.begin, k, x.shape)
		}
		return cut{begin: at, size: 1, step: 1, dropped: true}, nil
	}
	least, most := 0, d
	if s.stride < 0 {
		least, most = -1, d-1
	}
	begin, end := min(max(fromEnd(s.begin), least), most), min(max(fromEnd(s.end), least), most)
	if s.fromStart {
		begin = least
		if s.stride < 0 {
			begin = most
		}
	}
	if s.toEnd {
		end = most
		if s.stride < 0 {
			end = least
		}
	}
	l := cut{begin: begin, step: s.stride, rest: s.toEnd && s.stride == 1}
	if s.stride > 0 {
		l.size = max(0, (end-begin+s.stride-1)/s.stride)
	} else {
		l.size = max(0, (begin-end-s.stride-1)/-s.stride)
	}
	return l, nil
}
