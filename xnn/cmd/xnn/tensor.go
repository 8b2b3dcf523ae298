package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// firstCount is how many elements of an output are shown.
const firstCount = 6

// numbers are the real numbers that a tensor's elements stand for, whatever its type is.
type numbers struct {
	count int
	at    func(i int) float64
	// set stores the nearest number that the type has.
	set func(i int, f float64)
}

func numbersOf(t *xnn.Tensor) numbers {
	count := t.Shape().Elements()
	switch t.DType() {
	case xnn.Float32:
		data := xnn.Data[float32](t)
		return numbers{count, func(i int) float64 { return float64(data[i]) }, func(i int, f float64) { data[i] = float32(f) }}
	case xnn.Float16:
		data := xnn.Data[xnn.Half](t)
		return numbers{count, func(i int) float64 { return float64(data[i].Float32()) },
			func(i int, f float64) { data[i] = graph.HalfOf(float32(f)) }}
	case xnn.BFloat16:
		data := xnn.Data[xnn.BFloat](t)
		return numbers{count, func(i int) float64 { return float64(data[i].Float32()) },
			func(i int, f float64) { data[i] = graph.BFloatOf(float32(f)) }}
	case xnn.Int32:
		return integers(xnn.Data[int32](t), 1, 0, math.MinInt32, math.MaxInt32)
	case xnn.QInt8:
		return integers(xnn.Data[int8](t), t.Quant().Scale, t.Quant().ZeroPoint, math.MinInt8, math.MaxInt8)
	default: // there is one more type that inputs and outputs can have
		return integers(xnn.Data[uint8](t), t.Quant().Scale, t.Quant().ZeroPoint, 0, math.MaxUint8)
	}
}

// integers are numbers stored as integers: scale * (stored - zero). NaN becomes the zero point.
func integers[T int32 | int8 | uint8](data []T, scale float32, zero int, least, most float64) numbers {
	return numbers{
		len(data),
		func(i int) float64 { return float64(scale) * float64(int(data[i])-zero) },
		func(i int, f float64) {
			if f != f {
				f = 0
			}
			data[i] = T(max(least, min(most, math.RoundToEven(f/float64(scale))+float64(zero))))
		},
	}
}

// copyNumbers gives dst the numbers of src, which has as many.
func copyNumbers(dst, src *xnn.Tensor) {
	if dst.DType() == src.DType() && dst.Quant().Equal(src.Quant()) {
		copy(dst.Bytes(), src.Bytes())
		return
	}
	to, from := numbersOf(dst), numbersOf(src)
	for i := range to.count {
		to.set(i, from.at(i))
	}
}

// summary describes an output by the real numbers it stands for. Min, Max and Mean are of the elements that are not NaN, nil
// where there are none.
type summary struct {
	Index    int       `json:"index"`
	DType    string    `json:"dtype"`
	Shape    xnn.Shape `json:"shape"`
	Elements int       `json:"elements"`
	Min      *single   `json:"min"`
	Max      *single   `json:"max"`
	Mean     *double   `json:"mean"`
	NaN      int       `json:"nan"`
	First    []single  `json:"first"`
}

func summarize(index int, t *xnn.Tensor) summary {
	values := numbersOf(t)
	s := summary{Index: index, DType: t.DType().String(), Shape: list(t.Shape()), Elements: values.count, First: []single{}}
	lo, hi, sum, n := single(math.Inf(1)), single(math.Inf(-1)), double(0), 0
	for i := range values.count {
		f := single(values.at(i))
		if i < firstCount {
			s.First = append(s.First, f)
		}
		if f != f { // NaN
			s.NaN++
			continue
		}
		lo, hi, sum, n = min(lo, f), max(hi, f), sum+double(f), n+1
	}
	if n > 0 {
		mean := sum / double(n)
		s.Min, s.Max, s.Mean = &lo, &hi, &mean
	}
	return s
}

// meanText is the mean for a table, in as many digits as are good to read.
func (s *summary) meanText() string {
	if s.Mean == nil {
		return "-"
	}
	return fmt.Sprintf("%.7g", float64(*s.Mean))
}

func (s *summary) firstValues() string {
	if s.Elements == 0 {
		return "-"
	}
	words := make([]string, len(s.First))
	for i, v := range s.First {
		words[i] = v.String()
	}
	if s.Elements > len(s.First) {
		words = append(words, "...")
	}
	return strings.Join(words, " ")
}

// randomHelp words what fillRandom does.
const randomHelp = `Random values are the same on every machine, from PCG(seed, N) of Go's math/rand/v2 for input N: uniform
in [-1, 1), multiples of 2^-23 (fp32), 2^-10 (fp16) or 2^-7 (bf16); all integers of a quantised type; whole numbers from 0 to
127 (int32).`

// fillRandom gives an input reproducible values, as randomHelp describes them. All of them are exact, so that no rounding of a
// machine's own comes in.
func fillRandom(t *xnn.Tensor, seed uint64, input int) {
	r := rand.NewPCG(seed, uint64(input))
	switch t.DType() {
	case xnn.Float32:
		for i, data := 0, xnn.Data[float32](t); i < len(data); i++ {
			data[i] = float32(r.Uint64()>>40)/(1<<23) - 1
		}
	case xnn.Float16:
		for i, data := 0, xnn.Data[xnn.Half](t); i < len(data); i++ {
			data[i] = graph.HalfOf(float32(r.Uint64()>>53)/(1<<10) - 1)
		}
	case xnn.BFloat16:
		for i, data := 0, xnn.Data[xnn.BFloat](t); i < len(data); i++ {
			data[i] = graph.BFloatOf(float32(r.Uint64()>>56)/(1<<7) - 1)
		}
	case xnn.Int32:
		for i, data := 0, xnn.Data[int32](t); i < len(data); i++ {
			data[i] = int32(r.Uint64() >> 57)
		}
	default:
		for i, data := 0, t.Bytes(); i < len(data); i++ {
			data[i] = byte(r.Uint64() >> 56)
		}
	}
}

// fillSpan gives an input reproducible values in a range: uniform, then rounded to what its type has.
func fillSpan(t *xnn.Tensor, seed uint64, input int, r span) {
	random, values := rand.NewPCG(seed, uint64(input)), numbersOf(t)
	for i := range values.count {
		values.set(i, r.lo+(r.hi-r.lo)*float64(random.Uint64()>>11)/(1<<53))
	}
}
