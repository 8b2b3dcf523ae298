package graph

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
)

func (w *weightRewriter) integers(weights []float32, shape Shape, axis int) (Type, []byte, error) {
	if w.o.DType == QBInt4 {
		return QuantizeBlocks(weights, shape, w.o.Block)
	}
	return QuantizeChannels(weights, shape, axis, QCInt8)
}

// apply gives the node in this place its new filter and an input that is quantised at run time, or says why that cannot be.
func (w *weightRewriter) apply(at int, how weighted, t Type, raw []byte) string {
	g, n := w.g, w.nodes[at]
	x, filter := g.Values[n.Inputs[0]], g.Values[n.Inputs[1]]
	// A value, and a constant, that are not the graph's yet.
	in := []Value{{Type: Type{QDInt8, x.Shape, &Quant{Inner: how.inner}}}, {Type: t, Constant: 1, Name: filter.Name}}
	var bias []byte
	if len(n.Inputs) > 2 {
		b := g.Values[n.Inputs[2]]
		if b.DType == Float16 {
			for _, f := range g.floats(&b) {
				bias = binary.LittleEndian.AppendUint32(bias, math.Float32bits(f))
			}
			b.DType, b.Constant = Float32, 1
		}
		in = append(in, b)
	}
	if _, err := infer(how.op, in, []Value{g.Values[n.Outputs[0]]}); err != nil {
		return reason(err)
	}
	ids := slices.Clone(n.Inputs)
	ids[1] = g.ConstantOf(t, raw)
	g.Values[ids[1]].Name = filter.Name
	if bias != nil {
		ids[2] = g.ConstantOf(in[2].Type, bias)
		g.Values[ids[2]].Name = in[2].Name
	}
	key := dynamicValue{n.Inputs[0], how.inner}
	quantized, there := w.dynamic[key]
	if !there {
		quantized = g.add(in[0].Type, 0)
		w.dynamic[key] = quantized
		convert := Node{Op: Unary{Func: Convert}, Inputs: []ID{key.of}, Outputs: []ID{quantized}, DebugHandle: n.DebugHandle}
		w.nodes = slices.Insert(w.nodes, at, convert)
		at++
	}
	ids[0] = quantized
	w.nodes[at].Op, w.nodes[at].Inputs = how.op, ids
	return ""
}

// reason is what an error found, without where.
func reason(err error) string {
	if e := (*schema.Error)(nil); errors.As(err, &e) {
		return e.Detail
	}
	return err.Error()
}

// lossOf is the norm of what numbers changed by, over their norm.
func lossOf(before, after []float32) float64 {
	lost, all := 0., 0.
	for i, f := range before {
		d := float64(f) - float64(after[i])
		lost, all = lost+d*d, all+float64(f)*float64(f)
	}
	if all == 0 {
		return 0
	}
	return math.Sqrt(lost / all)
}

func scaleBytes(t Type) int {
	if t.DType == QBInt4 {
		return 2 * len(t.Quant.Scales)
	}
	return 4 * len(t.Quant.Scales)
}

// turned is a matrix of this shape with its rows as columns.
func turned(data []float32, shape Shape) []float32 {
	rows, columns := shape[0], shape[1]
	out := make([]float32, len(data))
	for r := range rows {
		for c := range columns {
			out[c*rows+r] = data[r*columns+c]
		}
	}
	return out
}

// floats are the elements of a constant of Float32 or Float16. What its bytes do not say is zero.
func (g *Graph) floats(v *Value) []float32 {
	data := make([]byte, v.Bytes())
	g.Constants[v.Constant].CopyTo(data)
	out := make([]float32, v.Shape.Elements())
	for i := range out {
		if v.DType == Float16 {
			out[i] = Half(binary.LittleEndian.Uint16(data[2*i:])).Float32()
		} else {
			out[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	}
	return out
}
