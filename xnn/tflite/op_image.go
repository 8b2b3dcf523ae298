package tflite

import (
	"encoding/binary"
	"math"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

func init() {
	handlers[wire.BuiltinOperatorPAD] = &handler{options: wire.BuiltinOptionsPadOptions, in: arity{2, 2}, out: arity{1, 1},
		build: buildPad}
	handlers[wire.BuiltinOperatorPADV2] = &handler{options: wire.BuiltinOptionsPadV2Options, in: arity{3, 3}, out: arity{1, 1},
		build: buildPad}
	handlers[wire.BuiltinOperatorRESIZE_BILINEAR] = &handler{
		options: wire.BuiltinOptionsResizeBilinearOptions, fields: 4, in: arity{2, 2}, out: arity{1, 1}, build: buildResize,
	}
	handlers[wire.BuiltinOperatorDEPTH_TO_SPACE] = elementwise(wire.BuiltinOptionsDepthToSpaceOptions, 1, func(n *node) graph.Op {
		return graph.DepthToSpace2D{BlockSize: n.blockSize()}
	})
	handlers[wire.BuiltinOperatorSPACE_TO_DEPTH] = elementwise(wire.BuiltinOptionsSpaceToDepthOptions, 1, func(n *node) graph.Op {
		return graph.SpaceToDepth2D{BlockSize: n.blockSize()}
	})
}

func (n *node) blockSize() int {
	var o wire.BlockOptions
	n.options(&o)
	return int(o.BlockSize())
}

func buildPad(n *node) error {
	x := n.value(0)
	list, err := n.ints(1, 2*graph.MaxRank)
	if err != nil {
		return err
	}
	if n.err != nil {
		return n.err
	}
	rank := n.rank(x)
	if len(list) != 2*rank {
		return n.about(1, invalid("%d paddings for %d dimensions", len(list), rank))
	}
	op := graph.Pad{Pre: make([]int, rank), Post: make([]int, rank)}
	for k := range rank {
		op.Pre[k], op.Post[k] = list[2*k], list[2*k+1]
	}
	if len(n.in) > 2 {
		if op.Value, err = n.scalar(2); err != nil {
			return err
		}
	}
	return n.emit(op, wire.ActivationFunctionTypeNONE, x)
}

// scalar is the real number that operand i, a constant of one element, stands for.
func (n *node) scalar(i int) (float32, error) {
	c, err := n.constant(i)
	if err != nil {
		return 0, err
	}
	if count := c.shape.Elements(); count != 1 {
		return 0, n.about(i, invalid("%d elements, one is needed", count))
	}
	f, e := n.im.single(c)
	if e != nil {
		return 0, n.about(i, e)
	}
	return math.Float32frombits(binary.LittleEndian.Uint32(f.bytes())), nil
}

func buildResize(n *node) error {
	var o wire.ResizeBilinearOptions
	n.options(&o)
	size, err := n.ints(1, 2)
	if err != nil {
		return err
	}
	if len(size) != 2 {
		return n.about(1, invalid("%d sizes, a height and a width are needed", len(size)))
	}
	op := graph.ResizeBilinear2D{Height: size[0], Width: size[1], Mode: graph.Legacy}
	switch {
	case o.AlignCorners() && o.HalfPixelCenters():
		return n.invalid("align_corners and half_pixel_centers exclude each other")
	case o.AlignCorners():
		op.Mode = graph.AlignCorners
	case o.HalfPixelCenters():
		op.Mode = graph.HalfPixel
	}
	return n.emit(op, wire.ActivationFunctionTypeNONE, n.value(0))
}
