package xnn

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// seeds are valid files to start from: made here, by the module's own writer, and by flatc.
func seeds(t testing.TB) [][]byte {
	tap := file{externs: 4, outputs: []uint32{2, 3, 2}, values: []value{input(0, 3), input(1, 3), output(2, 3), output(3, 3)},
		nodes: []node{{a: 0, b: 1, out: 2}, {a: 2, b: 0, out: 3}}}
	r := rand.New(rand.NewPCG(7, 7))
	d := randomDAG(r)
	all := [][]byte{addConst(3).bytes(), chained(4096, 4, 4).bytes(), tap.bytes(), halfFile(5).bytes(), fiveTimes(9).bytes(),
		pair(dims(2, 1, 2, 1, 2, 1), dims(1, 2, 1, 2, 1, 2), dims(2, 2, 2, 2, 2, 2)).bytes(), threeAdds().bytes(),
		d.file(r, d.evaluate(d.randomInputs(r)), 0).bytes()}
	built, err := d.builder(d.randomInputs(r)).Marshal()
	require.NoError(t, err)
	all = append(all, built)
	paths, err := filepath.Glob(filepath.Join(fixtures, "*.bin"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, p := range paths {
		data, err := os.ReadFile(p)
		require.NoError(t, err)
		all = append(all, data)
	}
	all = append(all, operatorFiles(t)...)
	for _, data := range all {
		if full := inflated(data); full != nil {
			all = append(all, full)
		}
	}
	return append(all, behindHeader(t))
}

// operatorFiles hold every operator that a file can, with every combination of element types that it takes.
func operatorFiles(t testing.TB) [][]byte {
	var all [][]byte
	for _, dir := range []string{"executorch", "ours"} {
		paths, err := filepath.Glob(filepath.Join(fixtures, "..", dir, "*.bin"))
		require.NoError(t, err)
		require.NotEmpty(t, paths)
		for _, p := range paths {
			data, err := os.ReadFile(p)
			require.NoError(t, err)
			g, err := graph.Unmarshal(data)
			require.NoError(t, err, p)
			all = append(all, data)
			for _, s := range graph.Signatures(g.Nodes[len(g.Nodes)-1].Op.Kind()) {
				if other := retyped(g, s); other != nil {
					data, err := other.Marshal()
					require.NoError(t, err, p)
					all = append(all, data)
				}
			}
		}
	}
	for _, build := range quantisedAtRunTime {
		g := graph.New()
		build(g)
		data, err := g.Marshal()
		require.NoError(t, err)
		all = append(all, data)
	}
	return all
}

// quantisedAtRunTime are the combinations that retyped does not come to.
var quantisedAtRunTime = []func(g *graph.Graph){
	func(g *graph.Graph) {
		w := weights(g, graph.QCInt4, graph.Quant{Scales: []float32{1, 2, 3, 4}, Axis: 1}, 2, 4)
		g.Output(g.FullyConnectedTransposed(rows(g, graph.Float32, 3, 2), w, graph.None))
		bias := g.Constant([]float32{1, 2, 3, 4}, 4)
		g.Output(g.FullyConnectedTransposed(rows(g, graph.Float32, 3, 2), w, bias, graph.As(graph.Float16)))
	},
	func(g *graph.Graph) {
		w := weights(g, graph.QBInt4, graph.Quant{Scales: []float32{1, 2, 3, 4}, Block: 32}, 2, 64)
		g.Output(g.FullyConnected(rows(g, graph.Float16, 3, 64), w, graph.None, graph.As(graph.Float16)))
	},
	func(g *graph.Graph) {
		w := weights(g, graph.QCInt8, graph.Quant{Scales: []float32{1, 2, 3}, Axis: 1}, 4, 3)
		g.Output(g.BatchMatMul(rows(g, graph.Float32, 2, 5, 4), w))
	},
	func(g *graph.Graph) {
		w := weights(g, graph.QCInt8, graph.Quant{Scales: []float32{1, 2, 3}}, 3, 4)
		g.Output(g.BatchMatMulTransposed(rows(g, graph.Float32, 2, 5, 4), w))
	},
}

// rows is an input that is quantised row by row.
func rows(g *graph.Graph, t graph.DType, dims ...int) graph.ID {
	return g.Convert(g.Input(t, dims...), graph.Dynamic(1))
}

func weights(g *graph.Graph, t graph.DType, q graph.Quant, dims ...int) graph.ID {
	return g.ConstantOf(graph.Type{DType: t, Shape: dims, Quant: &q}, bytes.Repeat([]byte{0x88}, graph.Shape(dims).Elements()))
}

// retyped is g with other types of the operands and results of its last node, nil where it does not take them as they are.
func retyped(g *graph.Graph, s graph.Signature) *graph.Graph {
	g = g.Clone()
	n := &g.Nodes[len(g.Nodes)-1]
	for i, id := range n.Inputs {
		retype(g, id, s.In[min(i, len(s.In)-1)])
	}
	for i, id := range n.Outputs {
		retype(g, id, s.Out[min(i, len(s.Out)-1)])
	}
	for i, id := range n.Inputs { // what only a node can make
		if g.Values[id].DType == graph.QDInt8 && len(g.Nodes) == 1 {
			if i > 0 {
				return nil
			}
			from := g.Values[id]
			from.DType, from.Quant = graph.Float32, nil
			g.Values = append(g.Values, from)
			made := graph.ID(len(g.Values) - 1)
			for j, in := range g.Inputs {
				if in == id {
					g.Inputs[j] = made
				}
			}
			g.Nodes = append([]graph.Node{{Op: graph.Unary{Func: graph.Convert}, Inputs: []graph.ID{made}, Outputs: []graph.ID{id}}}, *n)
			break
		}
	}
	for axis := range graph.MaxRank {
		c := g.Clone()
		for i := range c.Values {
			scaleOf(&c.Values[i], axis)
		}
		if c.Check() == nil {
			return c
		}
	}
	return nil
}

func retype(g *graph.Graph, id graph.ID, t graph.DType) {
	v := &g.Values[id]
	v.DType, v.Quant = t, nil
	if v.Constant != 0 {
		c := &g.Constants[v.Constant]
		*c = graph.Constant{Data: make([]byte, 4*v.Shape.Elements())}
		for i := range c.Data {
			c.Data[i] = 0x88
		}
	}
}

// scaleOf gives a value scales as its type needs them: those of weights along an axis.
func scaleOf(v *graph.Value, axis int) {
	switch v.DType {
	case graph.QInt8, graph.QUInt8:
		v.Quant = &graph.Quant{Scale: 0.5}
	case graph.QInt32:
		v.Quant = &graph.Quant{Scale: 0.25}
	case graph.QDInt8:
		v.Quant = &graph.Quant{Inner: 1}
		if len(v.Shape) == 4 {
			v.Quant.Inner = 3
		}
	case graph.QCInt8, graph.QCInt4, graph.QCInt32:
		if v.DType == graph.QCInt32 {
			axis = 0
		}
		v.Quant = &graph.Quant{Axis: axis}
		for axis < len(v.Shape) && len(v.Quant.Scales) < v.Shape[axis] {
			scale := float32(0.5)
			if v.DType == graph.QCInt32 {
				scale = 0.25
			}
			v.Quant.Scales = append(v.Quant.Scales, scale)
		}
	}
}

// behindHeader is a file whose constants lie behind the FlatBuffer, as Marshal writes it.
func behindHeader(t testing.TB) []byte {
	g := graph.New()
	x := g.Multiply(g.Input(graph.Float32, 3), g.Constant([]float32{1, 2, 3}, 3))
	g.Constant(make([]float32, 1<<18), 1<<18)
	g.Output(x)
	data, err := g.Marshal()
	require.NoError(t, err)
	require.Equal(t, "XH00", string(data[4:8]))
	return data
}

// TestHostileSeedsAreComplete: each operator is among them with each combination of element types that it takes.
func TestHostileSeedsAreComplete(t *testing.T) {
	missing := map[string][]graph.Signature{}
	for _, kind := range graph.Operators() {
		missing[kind] = graph.Signatures(kind)
	}
	for _, data := range operatorFiles(t) {
		g, err := graph.Unmarshal(data)
		require.NoError(t, err)
		for _, n := range g.Nodes {
			kind := n.Op.Kind()
			missing[kind] = slices.DeleteFunc(missing[kind], func(s graph.Signature) bool {
				has := func(ids []graph.ID, types []graph.DType) bool {
					for i, id := range ids {
						if g.Values[id].DType != types[min(i, len(types)-1)] {
							return false
						}
					}
					return true
				}
				return has(n.Inputs, s.In) && has(n.Outputs, s.Out)
			})
		}
	}
	for kind, list := range missing {
		require.Empty(t, list, kind)
	}
}
