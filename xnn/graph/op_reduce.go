package graph

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Reduce takes the elements along some dimensions together.
type Reduce struct {
	Func ReduceFunc
	// Axes are the dimensions, each once, in any order.
	Axes []int
	// KeepDims: the result keeps the dimensions, of size 1.
	KeepDims bool
	Range    Range
}

// ReduceFunc is what a Reduce computes of the elements it takes together.
type ReduceFunc string

// The reductions.
const (
	ReduceMean ReduceFunc = "ReduceMean"
	ReduceSum  ReduceFunc = "ReduceSum"
)

// Kind is the function's name.
func (o Reduce) Kind() string { return string(o.Func) }

func (o Reduce) limits() Range { return o.Range }

func (o Reduce) withLimits(r Range) Op {
	o.Range = r
	return o
}

func (o Reduce) infer(in, out []Value) ([]Shape, error) {
	x := &in[0]
	if len(o.Axes) == 0 {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrGraph, "%s: no axes", o.Func)
	}
	if err := checkAxes(string(o.Func), o.Axes, len(x.Shape)); err != nil {
		return nil, err
	}
	if err := checkScales(in, out); err != nil {
		return nil, err
	}
	var shape Shape
	reduced := 1
	for i, d := range x.Shape {
		switch {
		case !slices.Contains(o.Axes, i):
			shape = append(shape, d)
			continue
		case o.KeepDims:
			shape = append(shape, 1)
		}
		reduced *= d
	}
	// XNNPACK adds integers of 8 bits up in 32, and writes nothing where there are none.
	const mostIntegers = 1 << 23
	switch {
	case reduced == 0 && shape.Elements() > 0:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s of no elements: %v over %v", o.Func, x.Shape, o.Axes).
			AtValue(x.Ref)
	case x.Quant != nil && reduced > mostIntegers:
		return nil, schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "%s of %d elements of %v, at most %d are supported",
			o.Func, reduced, x.DType, mostIntegers).AtValue(x.Ref)
	}
	return []Shape{shape}, nil
}

// ReduceMean appends a node that takes the mean over the axes of x, which the result keeps with size 1 or loses. Negative axes
// count from the end. The mean over height and width of [batch, height, width, channels] is global average pooling.
func (g *Graph) ReduceMean(x ID, axes []int, keepDims bool, opts ...Option) ID {
	return g.reduce(ReduceMean, x, axes, keepDims, opts)
}

// ReduceSum appends a node that sums over the axes of x, which the result keeps with size 1 or loses. Negative axes count from
// the end.
func (g *Graph) ReduceSum(x ID, axes []int, keepDims bool, opts ...Option) ID {
	return g.reduce(ReduceSum, x, axes, keepDims, opts)
}

func (g *Graph) reduce(f ReduceFunc, x ID, axes []int, keepDims bool, opts []Option) ID {
	return g.apply1(Reduce{Func: f, Axes: fromEnd(axes, g.rank(x)), KeepDims: keepDims}, []ID{x}, opts)
}

// flagKeepDims is XNN_FLAG_KEEP_DIMS.
const flagKeepDims = 0x40

func (o Reduce) flags() uint32 {
	if o.KeepDims {
		return flagKeepDims
	}
	return 0
}

// globalPool is ExecuTorch's table for the mean over height and width.
var globalPool = form{
	tag:     xnngraph.XNodeUnionXNNGlobalAvgPooling2d,
	dialect: dialectExecuTorch,
	limits:  true,
	fits: func(op Op, in, _ []Value) bool {
		return slices.Equal(op.(Reduce).Axes, []int{1, 2}) && len(in[0].Shape) == 4
	},
	decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
		var n xnngraph.XNNNode1x1
		n.Init(t.Bytes, t.Pos)
		return Reduce{Func: ReduceMean, Axes: []int{1, 2}, KeepDims: n.Flags()&flagKeepDims != 0},
			[]operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}},
			onlyFlags("GlobalAvgPooling2d", n.Flags(), flagKeepDims)
	},
	encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
		xnngraph.XNNNode1x1Start(b)
		xnngraph.XNNNode1x1AddInputId(b, in[0])
		xnngraph.XNNNode1x1AddOutputId(b, out[0])
		xnngraph.XNNNode1x1AddFlags(b, op.(Reduce).flags())
		return xnngraph.XNNNode1x1End(b)
	},
}

func init() {
	for f, tag := range map[ReduceFunc]xnngraph.XNodeUnion{
		ReduceMean: xnngraph.XNodeUnionReduceMean,
		ReduceSum:  xnngraph.XNodeUnionReduceSum,
	} {
		var forms []form
		if f == ReduceMean {
			forms = append(forms, globalPool)
		}
		register(operator{
			op:      Reduce{Func: f},
			inputs:  exactly(1),
			outputs: exactly(1),
			types:   sameType(1, movedDTypes),
			forms: append(forms, form{
				tag:     tag,
				dialect: dialectOurs,
				decode: func(t flatbuffers.Table) (Op, []operand, []operand, *schema.Error) {
					var n xnngraph.Reduce
					n.Init(t.Bytes, t.Pos)
					axes, err := readList(string(f), "axes", n.AxesLength(), n.Axes, noCount)
					if err == nil {
						err = onlyFlags(string(f), n.Flags(), flagKeepDims)
					}
					return Reduce{Func: f, Axes: axes, KeepDims: n.Flags()&flagKeepDims != 0},
						[]operand{{"input_id", n.InputId()}}, []operand{{"output_id", n.OutputId()}}, err
				},
				encode: func(b *flatbuffers.Builder, op Op, in, out []uint32) flatbuffers.UOffsetT {
					o := op.(Reduce)
					axes := writeList(b, o.Axes)
					xnngraph.ReduceStart(b)
					xnngraph.ReduceAddAxes(b, axes)
					xnngraph.ReduceAddInputId(b, in[0])
					xnngraph.ReduceAddOutputId(b, out[0])
					xnngraph.ReduceAddFlags(b, o.flags())
					return xnngraph.ReduceEnd(b)
				},
			}),
		})
	}
}
