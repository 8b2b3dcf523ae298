package main

import (
	"fmt"
	"math"

	"github.com/xnngo/xnngo/xnn"
)

// difference is how far two models' values of one output are apart, over all elements and runs.
type difference struct {
	Index    int       `json:"index"`
	Shape    xnn.Shape `json:"shape"`
	Elements int       `json:"elements"` // of all runs
	MaxAbs   extreme   `json:"max_abs"`
	MaxRel   extreme   `json:"max_rel"`
	MeanAbs  double    `json:"mean_abs"`
	// Peak is the largest magnitude of the first model's output, and OfPeak the largest difference over it.
	Peak   double `json:"peak"`
	OfPeak double `json:"of_peak"`
	// Above is how many elements differ by more than the tolerance.
	Above int `json:"above"`
}

// extreme is the element that differs most.
type extreme struct {
	Difference double `json:"difference"`
	At         []int  `json:"at"` // its index along each dimension; empty for a scalar
	Run        int    `json:"run"`
	A          double `json:"a"`
	B          double `json:"b"`
}

// tolerance is what two elements may differ by: so much, and so many times the first's magnitude more.
type tolerance float64

func (t tolerance) allows(a, b float64) bool {
	return apart(a, b) <= float64(t)*(1+math.Abs(a))
}

// apart is |a - b|: 0 for two NaNs and for the same infinity, infinite where only one is such.
func apart(a, b float64) float64 {
	switch d := math.Abs(a - b); {
	case a == b || a != a && b != b:
		return 0
	case d != d || math.IsInf(d, 0):
		return math.Inf(1)
	default:
		return d
	}
}

// add compares an output of both after a run.
func (d *difference) add(a, b *xnn.Tensor, run int, t tolerance) error {
	if !a.Shape().Equal(b.Shape()) {
		return fmt.Errorf("output %d is %v of one and %v of the other", d.Index, a, b)
	}
	if run == 0 {
		d.Shape, d.MaxAbs.At, d.MaxRel.At = list(a.Shape()), []int{}, []int{}
	}
	x, y := numbersOf(a), numbersOf(b)
	sum := float64(d.MeanAbs) * float64(d.Elements)
	for i := range x.count {
		p, q := x.at(i), y.at(i)
		off := apart(p, q)
		sum += off
		if math.Abs(p) > float64(d.Peak) {
			d.Peak = double(math.Abs(p))
		}
		if off == 0 {
			continue
		}
		if !t.allows(p, q) {
			d.Above++
		}
		if off > float64(d.MaxAbs.Difference) {
			d.MaxAbs = extreme{double(off), indexOf(i, a.Shape()), run, double(p), double(q)}
		}
		rel := off / max(math.Abs(p), math.Abs(q))
		if rel != rel {
			rel = 1 // infinitely far apart, or from NaN
		}
		if rel > float64(d.MaxRel.Difference) {
			d.MaxRel = extreme{double(rel), indexOf(i, a.Shape()), run, double(p), double(q)}
		}
	}
	if d.Elements += x.count; d.Elements > 0 {
		d.MeanAbs = double(sum / float64(d.Elements))
	}
	if d.OfPeak = 0; d.MaxAbs.Difference > 0 {
		d.OfPeak = d.MaxAbs.Difference / d.Peak
	}
	return nil
}

// indexOf is the place of an element along each dimension.
func indexOf(i int, shape xnn.Shape) []int {
	at := make([]int, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		at[d], i = i%shape[d], i/shape[d]
	}
	return at
}

// differenceTable tells of the outputs of two models.
func differenceTable(list []difference) *table {
	t := newTable("output", "shape", "largest difference", "of the peak", "at", "first", "second", "largest relative", "at",
		"mean difference")
	for _, d := range list {
		if d.MaxAbs.Difference == 0 {
			t.row(d.Index, d.Shape, "0", "0", "-", "-", "-", "0", "-", "0")
			continue
		}
		t.row(d.Index, d.Shape, short(d.MaxAbs.Difference), short(100*d.OfPeak)+" %", xnn.Shape(d.MaxAbs.At), short(d.MaxAbs.A),
			short(d.MaxAbs.B), short(d.MaxRel.Difference), xnn.Shape(d.MaxRel.At), short(d.MeanAbs))
	}
	return t
}

// short is a number in as many digits as are good to read.
func short(f double) string { return fmt.Sprintf("%.4g", float64(f)) }

// pair is two models with inputs of the same shapes, which may be of other types.
type pair struct {
	a, b   *xnn.Session
	inputs int
	in     *given
	seed   uint64
}

// newPair makes sessions of both, with the inputs that were given; seed is of those that were not. The caller closes the models.
func newPair(a, b *xnn.Model, in *inputs, opts ...xnn.SessionOption) (*pair, error) {
	x, y := a.Inputs(), b.Inputs()
	if len(x) != len(y) || len(a.Outputs()) != len(b.Outputs()) {
		return nil, fmt.Errorf("one has %d inputs and %d outputs, the other %d and %d", len(x), len(a.Outputs()), len(y),
			len(b.Outputs()))
	}
	for i := range x {
		if !x[i].Shape.Equal(y[i].Shape) {
			return nil, fmt.Errorf("input %d is %v of one and %v of the other", i, x[i], y[i])
		}
	}
	if err := in.check(x); err != nil {
		return nil, err
	}
	p := &pair{inputs: len(x), seed: *in.seed}
	var err error
	if p.a, err = a.NewSession(opts...); err != nil {
		return nil, err
	}
	if p.b, err = b.NewSession(opts...); err != nil {
		return nil, err
	}
	p.in, err = in.open(x)
	if err != nil {
		return p, err
	}
	if err := p.in.reshape(p.a, x); err != nil {
		return p, err
	}
	return p, p.in.reshape(p.b, y)
}

func (p *pair) close() {
	if p != nil && p.in != nil {
		p.in.close()
	}
}

// run gives both the same inputs, of a number of runs with other random values each, and runs them.
func (p *pair) run(run int) error {
	seed := p.seed + uint64(run)
	p.in.seed = &seed
	var err error
	if run == 0 {
		err = p.in.fill(p.a)
	} else {
		p.in.fillRest(p.a)
	}
	if err != nil {
		return err
	}
	for i := range p.inputs {
		copyNumbers(p.b.Input(i), p.a.Input(i))
	}
	if err := p.a.Run(); err != nil {
		return err
	}
	return p.b.Run()
}

// compare adds the outputs of a run to what is known of them.
func (p *pair) compare(list []difference, run int, t tolerance) error {
	for i := range list {
		list[i].Index = i
		if err := list[i].add(p.a.Output(i), p.b.Output(i), run, t); err != nil {
			return err
		}
	}
	return nil
}
