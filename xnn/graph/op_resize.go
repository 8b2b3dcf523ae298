package graph

import (
	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// ResizeBilinear2D gives images [batch, height, width, channels] another size by interpolation between the four nearest pixels.
type ResizeBilinear2D struct {
	Height, Width int
	Mode          ResizeMode
}

// ResizeMode says which point of an image a pixel of the result shows, as a number of pixels from the first.
type ResizeMode uint8

// The modes, with ratio = size of the image / size of the result along each dimension.
const (
	// HalfPixel makes the edges coincide: (pixel + 0.5) * ratio - 0.5.
	HalfPixel ResizeMode = iota
	// AlignCorners makes the middles of the corner pixels coincide: pixel * (size of the image - 1) / (size of the result - 1).
	AlignCorners
	// Legacy is pixel * ratio, as in TensorFlow 1.
	Legacy
)

var resizeModes = [...]struct {
	name string
	flag uint32 // XNNPACK's
}{
	HalfPixel:    {"HalfPixel", 0},
	AlignCorners: {"AlignCorners", 8},
	Legacy:       {"Legacy", 4},
}

// String gives the mode's name.
func (m ResizeMode) String() string {
	if int(m) < len(resizeModes) {
		return resizeModes[m].name
	}
	return "unknown"
}

// Kind is ResizeBilinear2D.
func (ResizeBilinear2D) Kind() string { return "ResizeBilinear2D" }

// maxResize bounds sizes to what fp32 counts exactly.
const maxResize = 1<<24 - 1

func (o ResizeBilinear2D) infer(in, _ []Value) ([]Shape, error) {
	x := &in[0]
	if err := checkImage(x, -1); err != nil {
		return nil, err
	}
	if int(o.Mode) >= len(resizeModes) {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "mode %d is not known", o.Mode)
	}
	for i, size := range []int{o.Height, o.Width} {
		name := []string{"height", "width"}[i]
		if size < 1 || size > maxResize {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "the new %s is %d, from 1 to %d", name, size, maxResize)
		}
		if n := x.Shape[1+i]; n > maxResize || !o.Mode.reaches(n, size) {
			return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s %d to %d is more than XNNPACK can count", name, n,
				size).
				AtValue(x.Ref)
		}
	}
	return []Shape{{x.Shape[0], o.Height, o.Width, x.Shape[3]}}, nil
}

// reaches tells whether the last pixel of the result stays in the image: XNNPACK computes the place in fp32, and only where
// edges coincide it brings what rounding led astray back in.
func (m ResizeMode) reaches(from, to int) bool {
	switch {
	case m == HalfPixel || to == 1:
		return true
	case m == AlignCorners:
		scale := float32(from-1) / float32(to-1)
		return float32(to-1)*scale < float32(from)
	}
	scale := float32(from) / float32(to)
	return float32(to-1)*scale < float32(from)
}

// ResizeBilinear2D appends a node that gives images x another height and width. The result keeps the quantisation of x.
func (g *Graph) ResizeBilinear2D(x ID, height, width int, mode ResizeMode, opts ...Option) ID {
	return g.apply1(ResizeBilinear2D{height, width, mode}, []ID{x}, opts)
}

func init() {
	var types []Signature
	for _, t := range []DType{Float32, Float16, QInt8, QUInt8} {
		types = append(types, Signature{[]DType{t}, []DType{t}})
	}
	register(operator{
		op:        ResizeBilinear2D{},
		inputs:    exactly(1),
		outputs:   exactly(1),
		types:     types,
		sameQuant: true,
		forms: []form{{
			tag:     xnngraph.XNodeUnionXNNStaticResizeBilinear2D,
			dialect: dialectExecuTorch,
			decode:  decodeResize,
			encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
				o := op.(ResizeBilinear2D)
				xnngraph.XNNStaticResizeBilinear2DStart(b)
				xnngraph.XNNStaticResizeBilinear2DAddNewHeight(b, uint32(o.Height))
				xnngraph.XNNStaticResizeBilinear2DAddNewWidth(b, uint32(o.Width))
				xnngraph.XNNStaticResizeBilinear2DAddInputId(b, in[0])
				xnngraph.XNNStaticResizeBilinear2DAddOutputId(b, out[0])
				xnngraph.XNNStaticResizeBilinear2DAddFlags(b, resizeModes[o.Mode].flag)
				return xnngraph.XNNStaticResizeBilinear2DEnd(b)
			},
		}},
	})
}

func decodeResize(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
	var n xnngraph.XNNStaticResizeBilinear2D
	n.Init(t.Bytes, t.Pos)
	o := ResizeBilinear2D{Height: int(n.NewHeight()), Width: int(n.NewWidth())}
	in, out := []operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}
	for mode, m := range resizeModes {
		if n.Flags() == m.flag {
			o.Mode = ResizeMode(mode)
			return o, in, out, nil
		}
	}
	return o, in, out, schema.Errorf(schema.StageCheck, schema.ErrUnsupported,
		"ResizeBilinear2D: flags %#x, 8 (align corners) or 4 (legacy) may be set", n.Flags())
}
