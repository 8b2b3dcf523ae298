package xnn

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestHalfPrecisionOperators takes PyTorch's cases in half precision: the same operands in single, which a graph then makes
// halves, have the same results. Negation, which is exact, follows each, so that there is something to compute behind those
// that only move numbers.
func TestHalfPrecisionOperators(t *testing.T) {
	nothingHeld(t)
	ran, families := map[string]int{}, 0
	for _, family := range torchFamilies {
		t.Run(family.name, func(t *testing.T) {
			for _, c := range torchCases(t, family.name) {
				if c.Op == "Convert" || c.P.Dynamic != 0 || c.In[0].DType != "fp16" {
					continue
				}
				t.Run(c.Op+" "+c.Name, func(t *testing.T) { c.checkHalf(t, ran) })
			}
			families++
		})
	}
	if families < len(torchFamilies) {
		return // not all were asked for
	}
	for _, kind := range graph.Operators() {
		wanted, cases := false, 0
		for _, s := range graph.Signatures(kind) {
			if name := kind + " " + s.String(); s.In[0] == Float16 && torchUncovered[name] == "" {
				wanted, cases = true, cases+ran[name]
			}
		}
		require.Equal(t, wanted, cases > 0, "%s has %d cases", kind, cases)
	}
}

// checkHalf runs the case in half precision, from operands of single, and counts the signatures of its nodes.
func (c *torchCase) checkHalf(t *testing.T, ran map[string]int) {
	single := *c
	single.In, single.Out = inSingle(c.In), inSingle(c.Out)
	g, err := single.graph()
	require.NoError(t, err)
	for i, id := range g.Outputs {
		if g.Values[id].DType == Float32 {
			g.Outputs[i] = g.Negate(id)
		}
	}
	half, err := graph.HalfPrecision(g)
	require.NoError(t, err)
	for _, n := range half.Nodes {
		ran[signature(half, &n)]++
	}
	requireHalf(t, half)
	file, err := half.Marshal()
	require.NoError(t, err)
	outs, err := single.run(compiled(t, g, WithPrecision(Float16)), WithThreads(1))
	require.NoError(t, err)
	again, err := single.run(loaded(t, file), WithThreads(1))
	require.NoError(t, err)
	require.Equal(t, outs, again, "read back from a file")
	for i, want := range c.Out {
		got := outs[i]
		if want.DType == "fp16" {
			got = negated(got)
		}
		c.compare(t, "in half precision", want, got)
	}
}

// requireHalf holds all nodes to half precision, but for those that convert, and filters.
func requireHalf(t *testing.T, g *graph.Graph) {
	t.Helper()
	for _, n := range g.Nodes {
		for _, id := range slices.Concat(n.Inputs, n.Outputs) {
			v := &g.Values[id]
			require.True(t, v.DType != Float32 || v.Constant != 0 || n.Op.Kind() == "Convert", "%s of %v", n.Op.Kind(), v)
		}
	}
}

// inSingle are tensors with numbers of single precision where they were of half.
func inSingle(list []*torchTensor) []*torchTensor {
	list = slices.Clone(list)
	for i, x := range list {
		if x == nil || x.DType != "fp16" {
			continue
		}
		y := *x
		y.DType, y.Fill, y.Data = "fp32", nil, nil
		stored := x.bytes()
		for k := 0; k < len(stored); k += 2 {
			f := graph.Half(binary.LittleEndian.Uint16(stored[k:])).Float32()
			y.Data = binary.LittleEndian.AppendUint32(y.Data, math.Float32bits(f))
		}
		list[i] = &y
	}
	return list
}

// negated are the negated numbers of single precision, which halves have, as such.
func negated(data []byte) []byte {
	var list []byte
	for i := 0; i < len(data); i += 4 {
		f := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
		list = binary.LittleEndian.AppendUint16(list, uint16(graph.HalfOf(-f)))
	}
	return list
}
