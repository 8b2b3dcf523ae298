package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

func conv(im *importer) {
	x, w := im.toNHWC(im.in(0)), im.known(1)
	win := im.window(w.dims[2:])
	win.settle(im.shape(x), false)
	im.out(0, im.back(im.convolve(x, w, plain[w.elem], win, im.bias(2))))
}

// bias is operand i as a constant vector, or none.
func (im *importer) bias(i int) graph.ID {
	if !im.has(i) {
		return graph.None
	}
	b := im.known(i)
	return im.g.Constant(b.floats(), b.count())
}

// convolve takes ONNX's filter, [out, in/groups, kh, kw], with the type it has in the graph, its shape aside.
func (im *importer) convolve(x graph.ID, w *tensor, t graph.Type, win window, bias graph.ID,
	opts ...graph.Option) graph.ID {
	groups := im.int("group", 1)
	w = w.image()
	if groups > 1 && groups == im.shape(x)[3] {
		return im.g.DepthwiseConv2D(x, im.bind(w.permute(1, 2, 3, 0), t), bias,
			graph.DepthwiseConv2D{Padding: win.padding(), Stride: win.stride, Dilation: win.dilation}, opts...)
	}
	return im.g.Conv2D(x, im.bind(w.permute(0, 2, 3, 1), t), bias,
		graph.Conv2D{Padding: win.padding(), Stride: win.stride, Dilation: win.dilation, Groups: groups}, opts...)
}

// convTranspose: ONNX's filter is [in, out/groups, kh, kw], XNNPACK's [out, kh, kw, in/groups].
func convTranspose(im *importer) {
	x, w := im.toNHWC(im.in(0)), im.known(1)
	groups := im.int("group", 1)
	win := im.window(w.dims[2:])
	w = w.image()
	d := w.dims
	f := w.reshape(groups, d[0]/groups, d[1], d[2], d[3]).permute(0, 2, 3, 4, 1).reshape(groups*d[1], d[2], d[3], d[0]/groups)
	extra := im.two(im.ints("output_padding"), 0)
	want := im.ints("output_shape")
	for i := range 2 {
		full := win.stride[i]*(im.shape(x)[1+i]-1) + extra[i] + win.extent(i)
		switch {
		case want != nil:
			win.shrink(i, full-im.two(want[max(len(want)-2, 0):], 1)[i], &extra)
		case win.same != "":
			win.shrink(i, full-im.shape(x)[1+i]*win.stride[i], &extra)
		}
	}
	y := im.g.ConvTranspose2D(x, im.bind(f, plain[w.elem]), im.bias(2), graph.ConvTranspose2D{
		Padding: win.padding(), Stride: win.stride, Dilation: win.dilation, Groups: groups, Adjustment: extra,
	})
	im.out(0, im.back(y))
}

// shrink takes total elements off the result of a transposed convolution. Those that are missing are added at the end.
func (w *window) shrink(i, total int, extra *[2]int) {
	if total < 0 {
		extra[i] -= total
		total = 0
	}
	w.share(i, total)
}

// image is a filter of images; that of a sequence has height 1.
func (t *tensor) image() *tensor {
	if len(t.dims) == 3 {
		return t.reshape(t.dims[0], t.dims[1], 1, t.dims[2])
	}
	if len(t.dims) != 4 {
		leaveOut(lacksRank, "a filter with %d spatial dimensions", len(t.dims)-2)
	}
	return t
}

func (t *tensor) reshape(dims ...int) *tensor { return &tensor{t.name, t.elem, dims, t.data} }

// permute is the tensor with its dimensions in this order.
func (t *tensor) permute(perm ...int) *tensor {
	p := &tensor{name: t.name, elem: t.elem, dims: make([]int, len(perm))}
	strides := make([]int, len(perm)) // of t, in the order of p
	for i, from := range perm {
		p.dims[i] = t.dims[from]
		strides[i] = graph.Shape(t.dims[from+1:]).Elements()
	}
	size := elems[t.elem].size
	index := make([]int, len(perm))
	for range t.count() {
		at := 0
		for i := range index {
			at += index[i] * strides[i]
		}
		p.data = append(p.data, t.data[at*size:(at+1)*size]...)
		for i := len(index) - 1; i >= 0; i-- {
			if index[i]++; index[i] < p.dims[i] {
				break
			}
			index[i] = 0
		}
	}
	return p
}

// bind is a constant of the graph.
func (im *importer) bind(t *tensor, typ graph.Type) graph.ID {
	typ.Shape = slices.Clone(t.dims)
	if typ.DType == graph.InvalidDType {
		leaveOut(lacksElement, "%v", t.elem)
	}
	return im.g.ConstantOf(typ, t.data)
}
