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

// summary describes an output. Min, Max and Mean are of the elements that are not NaN, nil where there are none.
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
	s := summary{Index: index, DType: t.DType().String(), Shape: list(t.Shape()), First: []single{}}
	lo, hi, sum, n := single(math.Inf(1)), single(math.Inf(-1)), double(0), 0
	add := func(f single) {
		if s.Elements++; s.Elements <= firstCount {
			s.First = append(s.First, f)
		}
		if f != f { // NaN
			s.NaN++
			return
		}
		lo, hi, sum, n = min(lo, f), max(hi, f), sum+double(f), n+1
	}
	for _, f := range xnn.Data[float32](asType(t, xnn.Float32)) {
		add(single(f))
	}
	for _, h := range xnn.Data[xnn.Half](asType(t, xnn.Float16)) {
		add(single(h.Float32()))
	}
	if n > 0 {
		mean := sum / double(n)
		s.Min, s.Max, s.Mean = &lo, &hi, &mean
	}
	return s
}

// asType is t where it has this type, else no tensor.
func asType(t *xnn.Tensor, dtype xnn.DType) *xnn.Tensor {
	if t.DType() != dtype {
		return nil
	}
	return t
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

// fillRandom gives an input reproducible values, as the help of xnn run describes them. All of them are exact, so that no
// rounding of a machine's own comes in.
func fillRandom(t *xnn.Tensor, seed uint64, input int) {
	r := rand.NewPCG(seed, uint64(input))
	floats := xnn.Data[float32](asType(t, xnn.Float32))
	for i := range floats {
		floats[i] = float32(r.Uint64()>>40)/(1<<23) - 1
	}
	halves := xnn.Data[xnn.Half](asType(t, xnn.Float16))
	for i := range halves {
		halves[i] = graph.HalfOf(float32(r.Uint64()>>53)/(1<<10) - 1)
	}
}
