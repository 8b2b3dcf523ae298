package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// outcome is how a case went: left out, or passed, or failed with an error.
type outcome struct {
	left *leftOut
	err  error
}

// run does a case, in single precision or in half: import, compile, run, compare. Then it runs what the library wrote of the
// graph into a file and read back, which must give the same bits.
func (c *testCase) run(half bool) outcome {
	if c.other {
		return outcome{left: &leftOut{notTensor, c.model.graph.nodes[0].op}}
	}
	im, left, err := importCase(c, half)
	if left != nil {
		return outcome{left: left}
	}
	if err != nil {
		return refusedOr(err)
	}
	m, err := xnn.Compile(im.g)
	if err != nil {
		return refusedOr(err)
	}
	defer m.Close()
	results, err := runModel(m, im.fed)
	if err != nil {
		return refusedOr(err)
	}
	if len(results) != len(c.outputs) {
		return outcome{err: fmt.Errorf("%d outputs, expected %d", len(results), len(c.outputs))}
	}
	for i, r := range results {
		got, err := r.as(c.outputs[i], half)
		if err == nil {
			err = compare(got, c.outputs[i], boundsOf(c.outputs[i].elem, half, im.steps))
		}
		if err != nil {
			return outcome{err: fmt.Errorf("output %d: %w", i, err)}
		}
	}
	return outcome{err: again(im, results)}
}

// refusedOr is a case left out where the library says that it cannot run it, and else one that failed.
func refusedOr(err error) outcome {
	if errors.Is(err, xnn.ErrUnsupported) {
		what := strings.Split(err.Error(), "; it takes")[0] // without the list of what it would take
		return outcome{left: &leftOut{lacksKernel, what[strings.LastIndex(what, ": ")+2:]}}
	}
	return outcome{err: err}
}

// result is an output of a session that is closed.
type result struct {
	dtype graph.DType
	shape graph.Shape
	data  []byte
}

// runModel runs a model on these inputs and copies its outputs.
func runModel(m *xnn.Model, inputs []*tensor) ([]result, error) {
	s, err := m.NewSession()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	for i, t := range inputs {
		if n := copy(s.Input(i).Bytes(), t.data); n != len(t.data) {
			return nil, fmt.Errorf("input %d takes %d bytes, not %d", i, n, len(t.data))
		}
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	results := make([]result, len(m.Outputs()))
	for i := range results {
		t := s.Output(i)
		results[i] = result{t.DType(), slices.Clone(t.Shape()), bytes.Clone(t.Bytes())}
	}
	return results, nil
}

// again runs the graph through a file.
func again(im *importer, want []result) error {
	file, err := im.g.Marshal()
	if err != nil {
		return fmt.Errorf("Marshal: %w", err)
	}
	m, err := xnn.Load(file)
	if err != nil {
		return fmt.Errorf("Load of what Marshal wrote: %w", err)
	}
	defer m.Close()
	results, err := runModel(m, im.fed)
	if err != nil {
		return fmt.Errorf("run of what Marshal wrote: %w", err)
	}
	for i, r := range results {
		if !bytes.Equal(r.data, want[i].data) {
			return fmt.Errorf("output %d: the graph that Marshal wrote gives other numbers", i)
		}
	}
	return nil
}
