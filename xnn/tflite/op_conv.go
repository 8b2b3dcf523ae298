package tflite

import (
	"encoding/binary"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorCONV_2D] = &handler{
		options: wire.BuiltinOptionsConv2DOptions, fields: 7, in: arity{2, 3}, out: arity{1, 1}, build: buildConv,
	}
	handlers[wire.BuiltinOperatorDEPTHWISE_CONV_2D] = &handler{
		options: wire.BuiltinOptionsDepthwiseConv2DOptions, fields: 7, in: arity{2, 3}, out: arity{1, 1}, build: buildDepthwise,
	}
	handlers[wire.BuiltinOperatorTRANSPOSE_CONV] = &handler{
		options: wire.BuiltinOptionsTransposeConvOptions, fields: 5, in: arity{3, 4}, out: arity{1, 1}, build: buildConvTranspose,
	}
	customs["Convolution2DTransposeBias"] = &handler{in: arity{3, 3}, out: arity{1, 1}, build: buildConvTransposeBias}
}

// padded tells whether the padding is SAME. A kernel of one pixel needs none.
func (n *node) padded(p wire.Padding, kernel [2]int) bool {
	switch p {
	case wire.PaddingSAME:
		return kernel != [2]int{1, 1}
	case wire.PaddingVALID:
	default:
		n.keep(n.unsupported("padding %v is not known", p))
	}
	return false
}

// images are an operand and a filter of images, with a filter of four dimensions.
func (n *node) images(x, filter graph.ID) (xt, ft graph.Type, err error) {
	xt, ft = n.typeOf(x), n.typeOf(filter)
	if n.err != nil {
		return xt, ft, n.err
	}
	if len(xt.Shape) != 4 || len(ft.Shape) != 4 {
		return xt, ft, n.invalid("operand %v and filter %v, both need four dimensions", xt.Shape, ft.Shape)
	}
	return xt, ft, nil
}

// biasType holds the type in which products are added up to what they are added up in.
func (n *node) biasType(t wire.TensorType) {
	if t != wire.TensorTypeFLOAT32 && t != wire.TensorTypeINT32 {
		n.keep(n.unsupported("quantized_bias_type is %v", t))
	}
}

func buildConv(n *node) error {
	var o wire.Conv2DOptions
	n.options(&o)
	n.biasType(o.QuantizedBiasType())
	x := n.value(0)
	filter := n.filter(1, n.typeOf(x), 0, true)
	xt, ft, err := n.images(x, filter)
	if err != nil {
		return err
	}
	channels, each := xt.Shape[3], ft.Shape[3]
	if each == 0 || channels%each != 0 || ft.Shape[0]%max(1, channels/each) != 0 {
		return n.invalid("the filter %v does not divide the channels of %v into groups", ft.Shape, xt.Shape)
	}
	groups := max(1, channels/each)
	bias := n.bias(2, xt, ft, ft.Shape[0])
	if xt.DType == graph.Float32 && ft.DType == graph.QCInt8 {
		x = n.quantisedAtRunTime(x, 3)
	}
	kernel := [2]int{ft.Shape[1], ft.Shape[2]}
	return n.emit(graph.Conv2D{
		SamePadding: n.padded(o.Padding(), kernel),
		Stride:      [2]int{int(o.StrideH()), int(o.StrideW())},
		Dilation:    [2]int{int(o.DilationHFactor()), int(o.DilationWFactor())},
		Groups:      groups,
		Kernel:      kernel,
		GroupInputs: each, GroupOutputs: ft.Shape[0] / groups,
	}, o.FusedActivationFunction(), x, filter, bias)
}

func buildDepthwise(n *node) error {
	var o wire.DepthwiseConv2DOptions
	n.options(&o)
	x := n.value(0)
	filter := n.filter(1, n.typeOf(x), 3, false)
	xt, ft, err := n.images(x, filter)
	if err != nil {
		return err
	}
	channels := xt.Shape[3]
	if channels == 0 || ft.Shape[3]%channels != 0 {
		return n.invalid("the filter %v is not several for each channel of %v", ft.Shape, xt.Shape)
	}
	if m := int(o.DepthMultiplier()); m != 0 && m != ft.Shape[3]/channels {
		return n.invalid("depth_multiplier is %d, the filter %v makes %d of each channel", m, ft.Shape, ft.Shape[3]/channels)
	}
	kernel := [2]int{ft.Shape[1], ft.Shape[2]}
	return n.emit(graph.DepthwiseConv2D{
		SamePadding: n.padded(o.Padding(), kernel),
		Stride:      [2]int{int(o.StrideH()), int(o.StrideW())},
		Dilation:    [2]int{int(o.DilationHFactor()), int(o.DilationWFactor())},
		Kernel:      kernel,
		Channels:    channels,
		Multiplier:  ft.Shape[3] / channels,
	}, o.FusedActivationFunction(), x, filter, n.bias(2, xt, ft, ft.Shape[3]))
}

// buildConvTranspose: operands are the shape of the result, the filter, the images and the bias.
func buildConvTranspose(n *node) error {
	var o wire.TransposeConvOptions
	n.options(&o)
	n.biasType(o.QuantizedBiasType())
	size, err := n.resultSize(0)
	if err != nil {
		return err
	}
	x := n.value(2)
	filter := n.filter(1, n.typeOf(x), 0, true)
	xt, ft, err := n.images(x, filter)
	if err != nil {
		return err
	}
	same := o.Padding() == wire.PaddingSAME
	n.padded(o.Padding(), [2]int{})
	stride := [2]int{int(o.StrideH()), int(o.StrideW())}
	op := graph.ConvTranspose2D{Stride: stride}
	var before, behind [2]int
	for i := range 2 {
		if stride[i] < 1 {
			return n.invalid("stride is %dx%d", stride[0], stride[1])
		}
		// The padding is that of the convolution which makes images of the operand's size of the result's.
		if kernel := ft.Shape[1+i]; same {
			before[i] = max(0, ((size[i]+stride[i]-1)/stride[i]-1)*stride[i]+kernel-size[i]) / 2
		}
		behind[i] = stride[i]*(xt.Shape[1+i]-1) + ft.Shape[1+i] - before[i] - size[i]
		op.Adjustment[i] = max(0, -behind[i])
		behind[i] = max(0, behind[i])
	}
	op.Padding = graph.Padding{Top: before[0], Left: before[1], Bottom: behind[0], Right: behind[1]}
	return n.emitConvTranspose(op, x, filter, 3, o.FusedActivationFunction())
}

// resultSize reads height and width of a shape that operand i gives. Its batch size may be one that the file leaves open.
func (n *node) resultSize(i int) (size [2]int, err error) {
	c, err := n.constant(i)
	if err != nil {
		return size, err
	}
	if c.shape.Elements() != 4 {
		return size, n.about(i, invalid("the shape of the result has %d sizes, needed 4", c.shape.Elements()))
	}
	list, e := c.ints()
	if e != nil {
		return size, n.about(i, e)
	}
	for k := range size {
		if c.isLoose(1 + k) {
			return size, n.about(i, unsupported("height and width of the result follow from sizes that the file leaves open"))
		}
		if size[k] = list[1+k]; size[k] < 1 || size[k] > 1<<30 {
			return size, n.about(i, invalid("the shape of the result is %v", list))
		}
	}
	return size, nil
}

func (n *node) emitConvTranspose(op graph.ConvTranspose2D, x, filter graph.ID, bias int,
	activation wire.ActivationFunctionType) error {
	xt, ft := n.typeOf(x), n.typeOf(filter)
	op.Dilation, op.Groups = [2]int{1, 1}, 1
	op.Kernel = [2]int{ft.Shape[1], ft.Shape[2]}
	op.GroupInputs, op.GroupOutputs = ft.Shape[3], ft.Shape[0]
	b := n.bias(bias, xt, ft, ft.Shape[0])
	if xt.DType == graph.Float32 && ft.DType == graph.QCInt8 {
		x = n.quantisedAtRunTime(x, 3)
	}
	return n.emit(op, activation, x, filter, b)
}

// buildConvTransposeBias: MediaPipe's custom operator. Operands are the images, the filter and the bias; the result is as large
// as the padding leaves it, which SAME spreads over both edges. The options are three numbers of 32 bits: the padding, 1 for SAME
// and 2 for VALID, and the strides along width and height.
func buildConvTransposeBias(n *node) error {
	b := n.w.CustomOptionsBytes()
	if len(b) != 12 {
		return n.invalid("its options have %d bytes, needed 12", len(b))
	}
	var word [3]int
	for i := range word {
		word[i] = int(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	x := n.value(0)
	filter := n.filter(1, n.typeOf(x), 0, false)
	xt, ft, err := n.images(x, filter)
	if err != nil {
		return err
	}
	if word[0] != 1 && word[0] != 2 {
		return n.unsupported("padding %d is not known", word[0])
	}
	stride := [2]int{word[2], word[1]}
	var cut [2]int
	for i := range cut {
		if stride[i] < 1 {
			return n.invalid("stride is %dx%d", stride[0], stride[1])
		}
		if word[0] == 1 {
			cut[i] = max(0, ft.Shape[1+i]-max(0, xt.Shape[1+i]-1)%stride[i]-1)
		}
	}
	return n.emitConvTranspose(graph.ConvTranspose2D{
		Stride:  stride,
		Padding: graph.Padding{Top: cut[0] / 2, Bottom: cut[0] - cut[0]/2, Left: cut[1] / 2, Right: cut[1] - cut[1]/2},
	}, x, filter, 2, wire.ActivationFunctionTypeNONE)
}
