package xnn

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// numeric is a tensor for a test: its elements as they are stored, and the real numbers that they stand for.
type numeric struct {
	typ   graph.Type
	bytes []byte
	real  []float64
}

// quantized is a type of integers with one scale.
func quantized(t graph.DType, scale float32, zeroPoint int, dims ...int) graph.Type {
	return graph.Type{DType: t, Shape: dims, Quant: &graph.Quant{Scale: scale, ZeroPoint: zeroPoint}}
}

// plain is a type of numbers that stand for themselves.
func plain(t graph.DType, dims ...int) graph.Type { return graph.Type{DType: t, Shape: dims} }

// randomNumeric is a tensor of quarters between -span/4 and span/4, or of integers of all sizes where it is quantised, biases
// aside.
func randomNumeric(r *rand.Rand, t graph.Type, span int) numeric {
	stored := make([]int, t.Shape.Elements())
	for i := range stored {
		switch t.DType {
		case graph.QInt8, graph.QCInt8:
			stored[i] = r.IntN(256) - 128
		case graph.QUInt8:
			stored[i] = r.IntN(256)
		case graph.QInt32, graph.QCInt32:
			stored[i] = r.IntN(4001) - 2000
		default:
			stored[i] = r.IntN(2*span+1) - span
		}
	}
	return numericOf(t, stored)
}

// numericOf is a tensor of these integers, or of quarters of them where it is of real numbers.
func numericOf(t graph.Type, stored []int) numeric {
	n := numeric{typ: t}
	for _, v := range stored {
		switch t.DType {
		case graph.Float32:
			n.bytes = binary.LittleEndian.AppendUint32(n.bytes, math.Float32bits(float32(v)/4))
		case graph.Float16:
			n.bytes = binary.LittleEndian.AppendUint16(n.bytes, uint16(graph.HalfOf(float32(v)/4)))
		case graph.Int32, graph.QInt32, graph.QCInt32:
			n.bytes = binary.LittleEndian.AppendUint32(n.bytes, uint32(int32(v)))
		default:
			n.bytes = append(n.bytes, byte(v))
		}
	}
	if n.bytes == nil {
		n.bytes = []byte{}
	}
	n.real, _ = decodeNumeric(t, n.bytes)
	return n
}

// decodeNumeric gives the real numbers, and the integers where they are stored as such, of a tensor's bytes.
func decodeNumeric(t graph.Type, b []byte) (real []float64, stored []int) {
	n := t.Shape.Elements()
	real, stored = make([]float64, n), make([]int, n)
	inner := 1 // elements from one index along the scales' axis to the next
	if t.Quant != nil && len(t.Quant.Scales) > 0 {
		inner = t.Shape[t.Quant.Axis+1:].Elements()
	}
	for i := range real {
		switch t.DType {
		case graph.Float32:
			real[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])))
			continue
		case graph.Float16:
			real[i] = float64(graph.Half(binary.LittleEndian.Uint16(b[2*i:])).Float32())
			continue
		case graph.QUInt8:
			stored[i] = int(b[i])
		case graph.QInt8, graph.QCInt8:
			stored[i] = int(int8(b[i]))
		default:
			stored[i] = int(int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
		real[i] = float64(stored[i])
		if q := t.Quant; q != nil {
			scale := q.Scale
			if len(q.Scales) > 0 {
				scale = q.Scales[i/inner%len(q.Scales)]
			}
			real[i] = float64(scale) * float64(stored[i]-q.ZeroPoint)
		}
	}
	return real, stored
}

// constant puts the tensor into a graph.
func (n numeric) constant(g *graph.Graph) graph.ID { return g.ConstantOf(n.typ, n.bytes) }

// requireNumeric compares a result with real numbers: fp32 within 1e-5 of them and 1e-6, fp16 within 2e-3, integers within one
// step.
func requireNumeric(t testing.TB, typ graph.Type, got []byte, want []float64, what string) {
	t.Helper()
	require.Equal(t, typ.Shape.Elements(), len(want), what)
	require.Equal(t, typ.Bytes(), len(got), what)
	real, stored := decodeNumeric(typ, got)
	for i, w := range want {
		off, most := math.Abs(real[i]-w), 1e-6+1e-5*math.Abs(w)
		switch typ.DType {
		case graph.Float16:
			most = 2e-3 * max(1, math.Abs(w))
		case graph.QInt8, graph.QUInt8:
			lo, hi := -128.0, 127.0
			if typ.DType == graph.QUInt8 {
				lo, hi = 0, 255
			}
			step := math.RoundToEven(w/float64(typ.Quant.Scale)) + float64(typ.Quant.ZeroPoint)
			off, most = math.Abs(float64(stored[i])-min(max(step, lo), hi)), 1
		}
		if !(off <= most) {
			require.Fail(t, "wrong number", "%s: element %d of %v is %g, want %g", what, i, typ, real[i], w)
		}
	}
}

// runNumeric fills a session's inputs, its outputs with bytes that mean nothing, and runs it.
func runNumeric(t testing.TB, s *Session, inputs ...numeric) [][]byte {
	t.Helper()
	for i, in := range inputs {
		require.Equal(t, in.typ.Shape, s.Input(i).Shape())
		copy(s.Input(i).Bytes(), in.bytes)
	}
	outputs := make([][]byte, len(s.core.outputs))
	for i := range outputs {
		for j := range s.Output(i).Bytes() {
			s.Output(i).Bytes()[j] = 0xA5
		}
	}
	require.NoError(t, s.Run())
	for i := range outputs {
		outputs[i] = append([]byte{}, s.Output(i).Bytes()...)
	}
	return outputs
}

// clampAll limits numbers to a range.
func clampAll(v []float64, r graph.Range) []float64 {
	lo, hi := r.Bounds()
	for i := range v {
		v[i] = min(max(v[i], float64(lo)), float64(hi))
	}
	return v
}

// channelScales are n different scales around one.
func channelScales(n, axis int, scale float32) *graph.Quant {
	q := &graph.Quant{Axis: axis}
	for i := range n {
		q.Scales = append(q.Scales, scale*(1+float32(i%5)/4))
	}
	return q
}
