package xnn

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// evaluate compiles a graph, runs it once and gives the elements of each output, integers as they are stored. Inputs are
// []float32, []Half, []int8 or []uint8.
func evaluate(t testing.TB, g *graph.Graph, inputs ...any) [][]float64 {
	t.Helper()
	m, err := Compile(g)
	require.NoError(t, err)
	defer m.Close()
	s, err := m.NewSession()
	require.NoError(t, err)
	defer s.Close()
	return runOnce(t, s, inputs...)
}

// runOnce is a run of a session with these inputs, outputs as of evaluate.
func runOnce(t testing.TB, s *Session, inputs ...any) [][]float64 {
	t.Helper()
	for i, in := range inputs {
		switch in := in.(type) {
		case []float32:
			require.Equal(t, len(in), copy(Data[float32](s.Input(i)), in))
		case []Half:
			require.Equal(t, len(in), copy(Data[Half](s.Input(i)), in))
		case []int8:
			require.Equal(t, len(in), copy(Data[int8](s.Input(i)), in))
		case []uint8:
			require.Equal(t, len(in), copy(Data[uint8](s.Input(i)), in))
		default:
			require.Fail(t, "no such input", "%T", in)
		}
	}
	for i := range s.core.outputs {
		for j := range s.Output(i).Bytes() {
			s.Output(i).Bytes()[j] = 0xee // what a run does not write is seen
		}
	}
	require.NoError(t, s.Run())
	outputs := make([][]float64, len(s.core.outputs))
	for i := range outputs {
		outputs[i] = elements(t, s.Output(i))
	}
	return outputs
}

// elements gives a tensor's elements as numbers.
func elements(t testing.TB, x *Tensor) []float64 {
	n := x.Shape().Elements()
	list := make([]float64, n)
	for i := range list {
		switch x.DType() {
		case Float32:
			list[i] = float64(Data[float32](x)[i])
		case Float16:
			list[i] = float64(Data[Half](x)[i].Float32())
		case QInt8:
			list[i] = float64(Data[int8](x)[i])
		case QUInt8:
			list[i] = float64(Data[uint8](x)[i])
		default:
			require.Fail(t, "no such output", "%v", x)
		}
	}
	return list
}

// tinyHalf is what half precision may lose besides what it rounds: numbers below 2^-14 are taken for zero.
const tinyHalf = 0x1p-13

// halfRuns tells whether XNNPACK has kernels for half precision on this processor.
func halfRuns(t testing.TB) bool {
	g := graph.New()
	g.Output(g.Softmax(g.Input(Float16, 1)))
	m, err := Compile(g)
	if errors.Is(err, StatusUnsupportedHardware) {
		return false
	}
	require.NoError(t, err)
	m.Close()
	return true
}

// weightsRun tells whether XNNPACK gets weights of k input channels right on this processor; see checkProcessor.
func weightsRun(x, filter graph.DType, k int) bool {
	return checkProcessor(Type{DType: x}, Type{DType: filter, Shape: Shape{1, k}}) == nil
}

// numbers are n random numbers in [-1, 1].
func numbers(r *rand.Rand, n int) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = 2*r.Float32() - 1
	}
	return list
}

// halves rounds to half precision: as a tensor's elements, and as numbers.
func halves(list []float32) ([]Half, []float32) {
	bits, rounded := make([]Half, len(list)), make([]float32, len(list))
	for i, f := range list {
		bits[i] = graph.HalfOf(f)
		rounded[i] = bits[i].Float32()
	}
	return bits, rounded
}

// flipped turns a matrix [rows, columns] over.
func flipped[T any](m []T, rows, columns int) []T {
	list := make([]T, len(m))
	for i := range rows {
		for j := range columns {
			list[j*rows+i] = m[i*columns+j]
		}
	}
	return list
}

// dotRows multiplies each of M rows of x with each of N rows of w, all of K elements, and gives the products and the sums of the
// absolute values of their terms.
func dotRows(x, w []float32, m, n, k int) (sums, sizes []float64) {
	sums, sizes = make([]float64, m*n), make([]float64, m*n)
	for i := range m {
		for j := range n {
			for l := range k {
				p := float64(x[i*k+l]) * float64(w[j*k+l])
				sums[i*n+j] += p
				sizes[i*n+j] += math.Abs(p)
			}
		}
	}
	return sums, sizes
}

// rowQuant is how XNNPACK quantises a row at run time: src/xnnpack/quantization.h, step by step in single precision.
type rowQuant struct {
	codes []float64 // less the zero point
	scale float64
	// unsure counts the elements that may have become one more or one less: XNNPACK rounds after a product that is not the same to
	// the last bit on every processor.
	unsure int
}

func quantizeRow(row []float32) rowQuant {
	least, most := float32(0), float32(0)
	for _, f := range row {
		least, most = min(least, f), max(most, f)
	}
	inverse := float32(1)
	if least != most {
		inverse = 255 / (most - least)
	}
	low, high := least*inverse, most*inverse
	zero := 127 - high
	if -128+low+127+high > 0 {
		zero = -128 - low
	}
	point := math.RoundToEven(float64(max(-128, min(127, zero))))
	scale := 1 / inverse
	q := rowQuant{scale: float64(scale)}
	for _, f := range row {
		v := float64(f * (1 / scale))
		q.codes = append(q.codes, max(-128, min(127, math.RoundToEven(v)+point))-point)
		if d := math.Abs(v - math.Trunc(v)); math.Abs(d-0.5) < 1e-3 {
			q.unsure++
		}
	}
	return q
}

// codes4 reads a matrix of 4-bit weights.
func codes4(data []byte, rows, columns int) []float64 {
	list := make([]float64, 0, rows*columns)
	for i := range rows {
		row := data[i*((columns+1)/2):]
		for j := range columns {
			list = append(list, float64(row[j/2]>>(j%2*4)&0xf)-8)
		}
	}
	return list
}

func codes8(data []byte) []float64 {
	list := make([]float64, len(data))
	for i, b := range data {
		list[i] = float64(int8(b))
	}
	return list
}

func codes32(data []byte) []float64 {
	list := make([]float64, len(data)/4)
	for i := range list {
		list[i] = float64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return list
}

// withinEach compares numbers with what they should be, each within its tolerance.
func withinEach(t testing.TB, want, got, tolerance []float64, what ...any) {
	t.Helper()
	require.Len(t, got, len(want), what...)
	for i := range want {
		if !(math.Abs(want[i]-got[i]) <= tolerance[i]) {
			require.Failf(t, "not near", "%v: element %d of %d is %g, want %g within %g", what, i, len(want), got[i], want[i],
				tolerance[i])
		}
	}
}
