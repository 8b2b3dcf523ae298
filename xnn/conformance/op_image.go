package conformance

import (
	"encoding/binary"
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

var imageMappings = map[string]func(im *importer){
	"Conv":              conv,
	"ConvTranspose":     convTranspose,
	"AveragePool":       averagePool,
	"MaxPool":           maxPool,
	"GlobalAveragePool": globalAveragePool,
	"GlobalMaxPool":     globalMaxPool,
	"Resize":            resize,
	"LRN":               lrn,
	"ArgMax":            func(im *importer) { im.argMax(false) },
	"ArgMin":            func(im *importer) { im.argMax(true) },
	"MaxUnpool":         maxUnpool,
}

// toNHWC moves the channels of a batch of images to the end. A sequence is an image of height 1.
func (im *importer) toNHWC(x graph.ID) graph.ID {
	switch d := im.shape(x); len(d) {
	case 3:
		return im.reshape(im.g.Transpose(x, 0, 2, 1), []int{d[0], 1, d[2], d[1]})
	case 4:
		return im.g.Transpose(x, 0, 2, 3, 1)
	default:
		leaveOut(lacksRank, "%s with %d spatial dimensions", im.node.op, len(d)-2)
		return 0
	}
}

func (im *importer) toNCHW(x graph.ID) graph.ID { return im.g.Transpose(x, 0, 3, 1, 2) }

// back is toNCHW for what the node's operand was: its rank counts.
func (im *importer) back(x graph.ID) graph.ID {
	y := im.toNCHW(x)
	if len(im.shape(im.in(0))) == 3 {
		d := im.shape(y)
		y = im.g.Reshape(y, d[0], d[1], d[3])
	}
	return y
}

// window is how a kernel moves over an image. Lists are those of height and width; pads are before and after each.
type window struct {
	kernel, stride, dilation [2]int
	before, after            [2]int
	same                     string // auto_pad, where it asks for the size of the image
}

// window reads the attributes of a node whose kernel has these sizes, but for the pads of auto_pad.
func (im *importer) window(kernel []int) window {
	var w window
	if k := im.ints("kernel_shape"); k != nil {
		kernel = k
	}
	w.kernel = im.two(kernel, 1)
	w.stride = im.two(im.ints("strides"), 1)
	w.dilation = im.two(im.ints("dilations"), 1)
	if pads := im.ints("pads"); pads != nil {
		w.before, w.after = im.two(pads[:len(pads)/2], 0), im.two(pads[len(pads)/2:], 0)
	}
	switch a := im.text("auto_pad", "NOTSET"); a {
	case "NOTSET", "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		w.same = a
	default:
		leaveOut(lacksAttribute, "%s auto_pad=%s", im.node.op, a)
	}
	return w
}

// two is a list of height and width, or of width alone.
func (im *importer) two(list []int, otherwise int) [2]int {
	switch len(list) {
	case 0:
		return [2]int{otherwise, otherwise}
	case 1:
		return [2]int{otherwise, list[0]}
	case 2:
		return [2]int{list[0], list[1]}
	default:
		leaveOut(lacksRank, "%s with %d spatial dimensions", im.node.op, len(list))
		return [2]int{}
	}
}

// extent is how much of the image the kernel covers.
func (w *window) extent(i int) int { return (w.kernel[i]-1)*w.dilation[i] + 1 }

// share splits a padding between both sides; of an odd one the larger part goes where auto_pad says.
func (w *window) share(i, total int) {
	w.before[i], w.after[i] = total/2, total-total/2
	if w.same == "SAME_LOWER" {
		w.before[i], w.after[i] = w.after[i], w.before[i]
	}
}

// settle works out the pads for an image in NHWC: auto_pad, and the one more window of ceil_mode.
func (w *window) settle(image []int, ceil bool) {
	for i := range 2 {
		size := image[1+i]
		if w.same != "" {
			results := (size + w.stride[i] - 1) / w.stride[i]
			w.share(i, max((results-1)*w.stride[i]+w.extent(i)-size, 0))
		}
		if rest := (w.before[i] + size + w.after[i] - w.extent(i)) % w.stride[i]; ceil && rest != 0 {
			w.after[i] += w.stride[i] - rest
		}
	}
}

func (w *window) padding() graph.Padding {
	return graph.Padding{Top: w.before[0], Right: w.after[1], Bottom: w.after[0], Left: w.before[1]}
}

func (w *window) pool() graph.Pool2D {
	return graph.Pool2D{Kernel: w.kernel, Stride: w.stride, Dilation: w.dilation, Padding: w.padding()}
}

func averagePool(im *importer) {
	x := im.toNHWC(im.in(0))
	w := im.window(nil)
	w.settle(im.shape(x), im.int("ceil_mode", 0) != 0)
	if im.int("count_include_pad", 0) != 0 {
		x = im.g.Pad(x, []int{0, w.before[0], w.before[1], 0}, []int{0, w.after[0], w.after[1], 0}, 0)
		w.before, w.after = [2]int{}, [2]int{}
	}
	im.out(0, im.back(im.g.AvgPool2D(x, w.pool())))
}

func maxPool(im *importer) {
	x := im.toNHWC(im.in(0))
	w := im.window(nil)
	w.settle(im.shape(x), im.int("ceil_mode", 0) != 0)
	im.only("storage_order", 0)
	if im.wants(1) {
		leaveOut(lacksMeaning, "MaxPool's indices are those of the image, XNNPACK's of the window")
	}
	im.out(0, im.back(im.g.MaxPool2D(x, w.pool())))
}

func globalAveragePool(im *importer) {
	x := im.in(0)
	im.out(0, im.g.ReduceMean(x, count(len(im.shape(x)))[2:], true))
}

func globalMaxPool(im *importer) {
	x := im.toNHWC(im.in(0))
	d := im.shape(x)
	im.out(0, im.back(im.g.MaxPool2D(x, graph.Pool2D{Kernel: [2]int{d[1], d[2]}})))
}

// resize takes the linear modes whose scale is the ratio of the sizes.
func resize(im *importer) {
	im.ignore("cubic_coeff_a", "exclude_outside", "extrapolation_value")
	if mode := im.text("mode", "nearest"); mode != "linear" {
		leaveOut(lacksAttribute, "Resize mode=%s", mode)
	}
	modes := map[string]graph.ResizeMode{
		"half_pixel": graph.HalfPixel, "align_corners": graph.AlignCorners, "asymmetric": graph.Legacy,
	}
	name := im.text("coordinate_transformation_mode", "half_pixel")
	mode, ok := modes[name]
	if !ok {
		leaveOut(lacksAttribute, "Resize coordinate_transformation_mode=%s", name)
	}
	x := im.toNHWC(im.in(0))
	d := im.shape(x)
	size := [2]int{}
	if im.has(3) {
		size = im.two(im.known(3).ints()[2:], 1)
	} else {
		for i, scale := range im.known(2).floats()[2:] {
			size[i] = int(float32(d[1+i]) * scale)
			if float32(size[i]) != float32(d[1+i])*scale {
				leaveOut(lacksAttribute, "Resize scale=%g, not a ratio of sizes", scale)
			}
		}
	}
	im.out(0, im.back(im.g.ResizeBilinear2D(x, size[0], size[1], mode)))
}

// lrn sums the squares of the channels around each with a convolution over the channels, which then are an image's height.
func lrn(im *importer) {
	x := im.in(0)
	size := im.int("size", 0)
	dims := im.shape(x)
	image := im.g.Reshape(im.g.Square(x), dims[0], dims[1], graph.Shape(dims[2:]).Elements(), 1)
	ones := im.g.Constant(slices.Repeat([]float32{1}, size), 1, size, 1, 1)
	sum := im.g.Conv2D(image, ones, graph.None, graph.Conv2D{
		Padding: graph.Padding{Top: (size - 1) / 2, Bottom: size / 2},
	})
	scaled := im.g.Multiply(sum, im.scalar(x, im.float("alpha", 0.0001)/float32(size)))
	base := im.g.Reshape(im.g.Add(scaled, im.scalar(x, im.float("bias", 1))), dims...)
	im.out(0, im.g.Divide(x, im.g.Pow(base, im.scalar(x, im.float("beta", 0.75)))))
}

// argMax finds the maximum of columns, each an image that one window of argmax pooling covers.
func (im *importer) argMax(negate bool) {
	x := im.in(0)
	dims := slices.Clone(im.shape(x))
	a := axis(im.int("axis", 0), len(dims))
	im.only("select_last_index", 0)
	if negate {
		x = im.g.Negate(x)
	}
	perm := append(slices.Delete(count(len(dims)), a, a+1), a)
	n := dims[a]
	column := im.reshape(im.transpose(x, perm), []int{graph.Shape(dims).Elements() / n, n, 1, 1})
	_, index := im.g.ArgMaxPool2D(column, graph.ArgMaxPool2D{Kernel: [2]int{n, 1}})
	if dims[a] = 1; im.int("keepdims", 1) == 0 {
		dims = slices.Delete(dims, a, a+1)
	}
	im.outAs(0, im.reshape(index, dims), elemInt64)
}

// maxUnpool: ONNX's indices count the elements of the result from its first on, XNNPACK's those of a window by columns. Where a
// larger result is asked for, the rest of it is 0.
func maxUnpool(im *importer) {
	x, w, index := im.toNHWC(im.in(0)), im.window(nil), im.known(1)
	if w.stride != w.kernel || w.before != w.after || w.before != [2]int{} {
		leaveOut(lacksAttribute, "MaxUnpool with windows that overlap, or pads")
	}
	d := im.shape(x)
	places := &tensor{elem: elemInt64, dims: index.dims}
	plane, width := d[1]*w.kernel[0]*d[2]*w.kernel[1], d[2]*w.kernel[1]
	for i := range index.count() {
		at := index.int(i) % plane
		row, column := at/width%w.kernel[0], at%width%w.kernel[1]
		places.data = binary.LittleEndian.AppendUint64(places.data, uint64(column*w.kernel[0]+row))
	}
	y := im.g.Unpool2D(x, im.bind(places.permute(0, 2, 3, 1).int32s(), plain[elemInt32]), graph.Unpool2D{Kernel: w.kernel})
	if im.has(2) {
		size, d := im.known(2).ints(), im.shape(y)
		y = im.g.Pad(y, make([]int, 4), []int{0, size[2] - d[1], size[3] - d[2], 0}, 0)
	}
	im.out(0, im.back(y))
}
