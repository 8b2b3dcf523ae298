package xnn

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// torchCase is a line of testdata/torch/*.json; fixture.py there says what its fields are.
type torchCase struct {
	Op, Name string
	In       []*torchTensor
	P        torchParams
	Out      []*torchTensor
	Exact    bool
	Rel, Abs float64
	Why      string
}

// torchTensor is an operand or a result. Its elements come of a generator or are given.
type torchTensor struct {
	DType       string
	Shape       []int
	Scale       float32
	Zero        int
	Scales      []float32
	Axis, Block int
	Const       bool
	Fill        *struct {
		Seed   uint64
		Lo, Hi float64
	}
	Data []byte
}

// torchParams are the parameters of all operators; each case has those of its own.
type torchParams struct {
	Limits             []float32
	Dynamic            int // quantise the first operand at run time, so many inner dimensions at once
	Alpha, Lo, Hi      float32
	Axes               []int
	Keep               bool
	Perm, Dims         []int
	Offsets, Sizes     []int
	Pre, Post          []int
	Value              float32
	Axis, Parts, Block int
	Pad                [4]int // top, right, bottom, left
	Same               bool
	Kernel             [2]int
	Stride, Dilation   [2]int
	Adjust             [2]int
	Groups             int
	Size               [2]int
	Mode               string
	Cap                float32
	Tokens, Heads      int
	Eps                float32
	Seed               uint64
	Drawn              int
	Taps               [][2]float64
}

// torchCases reads a family.
func torchCases(t testing.TB, family string) []*torchCase {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "torch", family+".json"))
	require.NoError(t, err)
	var cases []*torchCase
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, len(data)+1)
	for lines.Scan() {
		var c torchCase
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.DisallowUnknownFields()
		require.NoError(t, d.Decode(&c), "%s: line %d", family, len(cases)+1)
		cases = append(cases, &c)
	}
	require.NoError(t, lines.Err())
	return cases
}

var dtypeByName = func() map[string]graph.DType {
	m := map[string]graph.DType{}
	for t := graph.Float32; t <= graph.QDInt8; t++ {
		m[t.String()] = t
	}
	return m
}()

func (x *torchTensor) typ() graph.Type {
	t := graph.Type{DType: dtypeByName[x.DType], Shape: x.Shape}
	switch {
	case x.Scale != 0:
		t.Quant = &graph.Quant{Scale: x.Scale, ZeroPoint: x.Zero}
	case x.Scales != nil:
		t.Quant = &graph.Quant{Scales: x.Scales, Axis: x.Axis, Block: x.Block}
	}
	return t
}

// bytes are the elements as the graph stores them.
func (x *torchTensor) bytes() []byte {
	elements := x.Data
	t := dtypeByName[x.DType]
	n := count(x.Shape)
	if x.Fill != nil {
		r := splitmix(x.Fill.Seed)
		elements = nil
		for range n {
			switch t {
			case graph.Float32:
				elements = binary.LittleEndian.AppendUint32(elements, math.Float32bits(r.uniform(x.Fill.Lo, x.Fill.Hi)))
			case graph.Float16:
				elements = binary.LittleEndian.AppendUint16(elements, uint16(graph.HalfOf(r.uniform(x.Fill.Lo, x.Fill.Hi))))
			case graph.BFloat16:
				elements = binary.LittleEndian.AppendUint16(elements, uint16(graph.BFloatOf(r.uniform(x.Fill.Lo, x.Fill.Hi))))
			case graph.Int32, graph.QInt32, graph.QCInt32:
				elements = binary.LittleEndian.AppendUint32(elements, uint32(r.between(x.Fill.Lo, x.Fill.Hi)))
			default:
				elements = append(elements, byte(r.between(x.Fill.Lo, x.Fill.Hi)))
			}
		}
	}
	if t == graph.QCInt4 || t == graph.QBInt4 { // two a byte, rows from a byte on
		row := x.Shape[len(x.Shape)-1]
		var packed []byte
		for at := 0; at < n; at += row {
			for i := 0; i < row; i += 2 {
				b := elements[at+i]
				if i+1 < row {
					b |= elements[at+i+1] << 4
				}
				packed = append(packed, b)
			}
		}
		return packed
	}
	return elements
}

// number is element i of a result, quantised ones as they are stored.
func (x *torchTensor) number(data []byte, i int) float64 {
	switch dtypeByName[x.DType] {
	case graph.Float32:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	case graph.Float16:
		return float64(graph.Half(binary.LittleEndian.Uint16(data[2*i:])).Float32())
	case graph.BFloat16:
		return float64(graph.BFloat(binary.LittleEndian.Uint16(data[2*i:])).Float32())
	case graph.Int32:
		return float64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	case graph.QInt8:
		return float64(int8(data[i]))
	}
	return float64(data[i])
}

// splitmix is the state of the generator splitmix64, which fixture.py runs too.
type splitmix uint64

func (s *splitmix) next() uint64 {
	*s += 0x9E3779B97F4A7C15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
	z = (z ^ z>>27) * 0x94D049BB133111EB
	return z ^ z>>31
}

// uniform is a number in [lo, hi) of 24 random bits. The product is rounded before the sum on every processor.
func (s *splitmix) uniform(lo, hi float64) float32 {
	u := float64(s.next()>>40) * 0x1p-24
	return float32(lo + float64((hi-lo)*u))
}

// between is an integer in [lo, hi].
func (s *splitmix) between(lo, hi float64) int64 {
	return int64(lo) + int64(s.next()%uint64(int64(hi)-int64(lo)+1))
}

// TestSplitmix holds the generator to numbers of its authors' program for the seed 1234567.
func TestSplitmix(t *testing.T) {
	s := splitmix(1234567)
	for _, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431} {
		require.Equal(t, want, s.next())
	}
}
