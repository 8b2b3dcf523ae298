package xnn

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// torchFamilies are the files of testdata/torch with cases of operators, and the least number of cases in each.
var torchFamilies = []struct {
	name  string
	least int
}{{"unary", 400}, {"binary", 350}, {"shape", 125}, {"reduce", 100}, {"conv", 180}, {"pool", 150}, {"matmul", 200},
	{"composite", 16}}

// torchRefused are the combinations of operator and element types that PyTorch's side computes and package graph refuses, with
// the reason.
var torchRefused = map[string]string{}

// torchUncovered are signatures without a case, with the reason.
var torchUncovered = map[string]string{
	"FullyConnectedSparse fp32, fp32, fp32 -> fp32": "XNNPACK has no kernels for it here",
	"FullyConnectedSparse fp16, fp32, fp32 -> fp16": "XNNPACK has no kernels for it here",
}

// TestTorch compares operators with PyTorch's results: on one thread, shared among two, and read back from a file.
func TestTorch(t *testing.T) {
	nothingHeld(t)
	ran, refused, families := map[string]int{}, map[string]int{}, 0
	for _, family := range torchFamilies {
		t.Run(family.name, func(t *testing.T) {
			cases := torchCases(t, family.name)
			require.GreaterOrEqual(t, len(cases), family.least)
			byType := map[string]int{}
			for _, c := range cases {
				g, err := c.graph()
				if errors.Is(err, ErrUnsupported) {
					refused[c.types()]++
					if torchRefused[c.types()] == "" {
						t.Errorf("%s %s: %v", c.Op, c.Name, err)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s %s: %v", c.Op, c.Name, err)
					continue
				}
				c.check(t, g)
				byType[c.Out[0].DType]++
				for _, n := range g.Nodes {
					ran[signature(g, &n)]++
				}
			}
			t.Logf("%d cases of %d: %s", sum(byType), len(cases), tally(byType))
			families++
		})
	}
	if families < len(torchFamilies) {
		return // not all were asked for
	}
	t.Logf("%d cases refused: %s", sum(refused), tally(refused))
	for what := range torchRefused {
		require.Positive(t, refused[what], "%s is not refused", what)
	}
	for _, kind := range graph.Operators() {
		for _, s := range graph.Signatures(kind) {
			name := kind + " " + s.String()
			assert.NotEqual(t, ran[name] > 0, torchUncovered[name] != "", "%s has %d cases; without: %s", name, ran[name],
				torchUncovered[name])
		}
	}
}

func sum(counts map[string]int) int {
	n := 0
	for _, c := range counts {
		n += c
	}
	return n
}

func tally(counts map[string]int) string {
	var words []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		words = append(words, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(words, ", ")
}

// types names an operator and the types of the case: Conv2D fp32 fp32 fp32 -> fp32.
func (c *torchCase) types() string {
	words := []string{c.Op}
	for i, x := range c.In {
		switch {
		case x == nil:
		case i == 0 && c.P.Dynamic != 0:
			words = append(words, "qdint8")
		default:
			words = append(words, x.DType)
		}
	}
	return strings.Join(append(words, "->", c.Out[0].DType), " ")
}

// signature is the one that a node has.
func signature(g *graph.Graph, n *graph.Node) string {
	var in, out []graph.DType
	for _, id := range n.Inputs {
		in = append(in, g.Values[id].DType)
	}
	for _, id := range n.Outputs {
		out = append(out, g.Values[id].DType)
	}
	for _, s := range graph.Signatures(n.Op.Kind()) {
		if matches(s.In, in) && matches(s.Out, out) {
			return n.Op.Kind() + " " + s.String()
		}
	}
	return ""
}

func matches(want, have []graph.DType) bool {
	for i, t := range have {
		if t != want[min(i, len(want)-1)] {
			return false
		}
	}
	return true
}

// graph builds the case: operands that are no constants are inputs.
func (c *torchCase) graph() (*graph.Graph, error) {
	g := graph.New()
	var in []graph.ID
	for _, x := range c.In {
		switch {
		case x == nil:
			in = append(in, graph.None)
		case x.Const:
			in = append(in, g.ConstantOf(x.typ(), x.bytes()))
		default:
			in = append(in, g.InputOf(x.typ()))
		}
	}
	var opts []graph.Option
	first, result := c.In[0].typ(), c.Out[0].typ()
	switch {
	case result.Quant != nil && !(first.DType == result.DType && first.Quant.Equal(result.Quant)):
		opts = append(opts, graph.Quantized(result.DType, result.Quant.Scale, result.Quant.ZeroPoint))
	case result.DType != first.DType || c.P.Dynamic != 0:
		opts = append(opts, graph.As(result.DType))
	}
	if l := c.P.Limits; l != nil {
		opts = append(opts, graph.Limits(l[0], l[1]))
	}
	if c.P.Dynamic != 0 {
		in[0] = g.Convert(in[0], graph.Dynamic(c.P.Dynamic))
	}
	call := builderCalls[c.Op]
	if call == nil {
		return nil, fmt.Errorf("no builder method %s", c.Op)
	}
	for _, id := range call(g, in, &c.P, opts...) {
		g.Output(id)
	}
	return g, g.Check()
}

// check runs the graph and compares its outputs with the case's.
func (c *torchCase) check(t *testing.T, g *graph.Graph) {
	t.Helper()
	name := c.Op + " " + c.Name
	m, err := Compile(g)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer m.Close()
	one, err := c.run(m, WithThreads(1))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for i, want := range c.Out {
		if got := g.Values[g.Outputs[i]].Shape; !got.Equal(want.Shape) {
			t.Errorf("%s: output %d is %v, PyTorch's %v", name, i, got, want.Shape)
			return
		}
		c.compare(t, fmt.Sprintf("%s, output %d", name, i), want, one[i])
	}
	// Any amount of work is shared among threads, and cut to tiles, where 1 byte is enough for that.
	two, err := c.run(m, WithThreads(2), sessionOption(func(s *sessionConfig) { s.parallelBytes = 1 }))
	if err != nil {
		t.Errorf("%s, two threads: %v", name, err)
		return
	}
	for i, want := range c.Out {
		c.compare(t, fmt.Sprintf("%s, output %d, two threads", name, i), want, two[i])
	}
	file, err := g.Marshal()
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	loaded, err := Load(file)
	if err != nil {
		t.Errorf("%s, read back: %v", name, err)
		return
	}
	defer loaded.Close()
	again, err := c.run(loaded, WithThreads(1))
	if err != nil {
		t.Errorf("%s, read back: %v", name, err)
		return
	}
	for i := range one {
		if !bytes.Equal(one[i], again[i]) {
			t.Errorf("%s: output %d is another when the graph is read back from a file", name, i)
		}
	}
}
