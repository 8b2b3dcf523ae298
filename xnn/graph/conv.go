package graph

import (
	"fmt"

	"github.com/xnngo/xnngo/schema"
)

// Images are tensors [batch, height, width, channels].

// Padding is how many rows and columns a window may reach past the edges of an image.
type Padding struct{ Top, Right, Bottom, Left int }

// along is the padding before and behind dimension i: 0 is height, 1 is width.
func (p Padding) along(i int) (before, behind int) {
	if i == 0 {
		return p.Top, p.Bottom
	}
	return p.Left, p.Right
}

const (
	// maxSpan bounds what a window is made of, so that XNNPACK's sums of them stay in 32 bits.
	maxSpan = 1 << 30
	// maxKernel bounds the elements of a window. XNNPACK counts them in 32 bits and divides by their number in fp32.
	maxKernel = 1 << 24
)

// window slides over an image. Pairs are of height and width.
type window struct {
	kernel, stride, dilation [2]int
	padding                  Padding
	same                     bool // the padding follows from the image, as TensorFlow's SAME
}

// flagSame is XNN_FLAG_TENSORFLOW_SAME_PADDING.
const flagSame = 4

func (w window) flags() uint32 {
	if w.same {
		return flagSame
	}
	return 0
}

// check reports parameters that no image could make right.
func (w window) check() *schema.Error {
	for _, f := range []struct {
		name  string
		pair  [2]int
		least int
	}{
		{"kernel", w.kernel, 1}, {"stride", w.stride, 1}, {"dilation", w.dilation, 1},
		{"padding (top and left)", [2]int{w.padding.Top, w.padding.Left}, 0},
		{"padding (bottom and right)", [2]int{w.padding.Bottom, w.padding.Right}, 0},
	} {
		if err := checkPair(f.name, f.pair, f.least); err != nil {
			return err
		}
	}
	if w.kernel[0]*w.kernel[1] >= maxKernel {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "kernel is %s, of 2^24 elements or more", times(w.kernel))
	}
	if w.same && w.padding != (Padding{}) {
		return schema.Errorf(schema.StageCheck, schema.ErrGraph, "padding is %+v, but SAME padding follows from the image", w.padding)
	}
	return nil
}

// checkPair bounds a parameter that has one number for height and one for width.
func checkPair(name string, pair [2]int, least int) *schema.Error {
	for _, v := range pair {
		if v < least || v > maxSpan {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s is %s, each from %d to %d", name, times(pair), least, maxSpan)
		}
	}
	return nil
}

// times words a pair as 3x5.
func times(pair [2]int) string { return fmt.Sprintf("%dx%d", pair[0], pair[1]) }

// extent is how many rows or columns the window spans.
func (w window) extent(i int) int { return (w.kernel[i]-1)*w.dilation[i] + 1 }

// paddingOf is the padding of an image of this shape.
func (w window) paddingOf(image Shape) Padding {
	if !w.same {
		return w.padding
	}
	var before, behind [2]int
	for i := range 2 {
		n := image[1+i]
		total := max(0, (ceilDiv(n, w.stride[i])-1)*w.stride[i]+w.extent(i)-n)
		before[i], behind[i] = total/2, total-total/2
	}
	return Padding{Top: before[0], Right: behind[1], Bottom: behind[0], Left: before[1]}
}

// slide gives the number of places the window takes down and across an image.
func (w window) slide(image *Value) (places [2]int, err *schema.Error) {
	p := w.paddingOf(image.Shape)
	for i, name := range []string{"height", "width"} {
		before, behind := p.along(i)
		n := image.Shape[1+i]
		if n+before+behind < w.extent(i) {
			return places, schema.Errorf(schema.StageCheck, schema.ErrShape,
				"%s %d with padding %d and %d is less than the %d of the window",
				name, n, before, behind, w.extent(i)).AtValue(image.Ref)
		}
		places[i] = (n+before+behind-w.extent(i))/w.stride[i] + 1
	}
	return places, nil
}

// checkOverlap asks that every place of the window has something of the image in it, as pooling needs.
func (w window) checkOverlap() *schema.Error {
	for i, name := range []string{"height", "width"} {
		if before, behind := w.padding.along(i); max(before, behind) >= w.extent(i) {
			return schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
				"padding %d and %d of the %s is not less than the %d of the window", before, behind, name, w.extent(i))
		}
	}
	return nil
}

// checkImage asks for an image with rows and columns, and with so many channels unless that is negative.
func checkImage(x *Value, channels int) *schema.Error {
	s := x.Shape
	switch {
	case len(s) != 4:
		return schema.Errorf(schema.StageCheck, schema.ErrShape, "%v is not [batch, height, width, channels]", s).AtValue(x.Ref)
	case s[1] == 0 || s[2] == 0:
		return schema.Errorf(schema.StageCheck, schema.ErrShape, "%v has no rows or columns", s).AtValue(x.Ref)
	case channels >= 0 && s[3] != channels:
		return schema.Errorf(schema.StageCheck, schema.ErrShape, "%v has %d channels, the parameters say %d", s, s[3],
			channels).AtValue(x.Ref)
	}
	return nil
}

// orElse puts a default in place of zeros.
func orElse(pair, def [2]int) [2]int {
	for i := range pair {
		if pair[i] == 0 {
			pair[i] = def[i]
		}
	}
	return pair
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
