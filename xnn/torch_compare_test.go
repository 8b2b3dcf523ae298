package xnn

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// run gives the outputs of a new session for the case's inputs.
func (c *torchCase) run(m *Model, opts ...SessionOption) ([][]byte, error) {
	s, err := m.NewSession(opts...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	i := 0
	for _, x := range c.In {
		if x != nil && !x.Const {
			copy(s.Input(i).Bytes(), x.bytes())
			i++
		}
	}
	for i := range c.Out {
		for j := range s.Output(i).Bytes() {
			s.Output(i).Bytes()[j] = 0x7f // what a run leaves unwritten is no number, or a large one
		}
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	var out [][]byte
	for i := range c.Out {
		out = append(out, bytes.Clone(s.Output(i).Bytes()))
	}
	return out, nil
}

// compare reports elements that are further from PyTorch's than the case allows.
func (c *torchCase) compare(t *testing.T, what string, want *torchTensor, got []byte) {
	t.Helper()
	if len(got) != len(want.Data) {
		t.Errorf("%s: %d bytes, PyTorch's has %d", what, len(got), len(want.Data))
		return
	}
	wrong, shown := 0, ""
	for i := range count(want.Shape) {
		w, g := want.number(want.Data, i), want.number(got, i)
		if !c.close(want.DType, w, g) {
			if wrong++; wrong <= 3 {
				shown += fmt.Sprintf(" [%d] %.9g, PyTorch's %.9g;", i, g, w)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d:%s", what, wrong, count(want.Shape), shown)
	}
}

func (c *torchCase) close(dtype string, want, got float64) bool {
	switch {
	case math.IsNaN(want) || math.IsNaN(got):
		return math.IsNaN(want) && math.IsNaN(got)
	case c.Exact:
		return want == got && math.Signbit(want) == math.Signbit(got)
	case want == got:
		return true
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return false
	}
	rel, abs := 0.0, 0.0 // int32
	switch dtype {
	case "fp32":
		rel, abs = 1e-5, 1e-6
	case "fp16":
		rel, abs = 2e-3, 1e-6
	case "bf16":
		rel, abs = 1.0/128, 1e-30 // a step: XNNPACK cuts the lower half of the bits off instead of rounding
	case "qint8", "quint8":
		abs = 1
	}
	if c.Rel != 0 {
		rel = c.Rel
	}
	if c.Abs != 0 {
		abs = c.Abs
	}
	return math.Abs(want-got) <= abs+rel*math.Abs(want)
}
