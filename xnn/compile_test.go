package xnn

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// biased is Y = X + [10 20 30].
func biased() *graph.Graph {
	g := graph.New()
	g.Output(g.Add(g.Input(graph.Float32, 3), g.Constant([]float32{10, 20, 30}, 3)))
	return g
}

// TestCompileCopies: the graph, and the bytes of its constants, may change afterwards.
func TestCompileCopies(t *testing.T) {
	nothingHeld(t)
	g := biased()
	m := compiled(t, g)
	for i := range g.Constants[1].Data {
		g.Constants[1].Data[i] = 0xAA
	}
	g.Values[0].Shape[0] = 1 << 30
	g.Nodes[0].Inputs[0] = 99
	g.Outputs[0] = 77
	require.Equal(t, [][]float32{{11, 22, 33}}, run(t, opened(t, m), []float32{1, 2, 3}))
	types := m.Inputs()
	types[0].Shape[0] = 4
	require.Equal(t, Shape{3}, m.Inputs()[0].Shape)
	again := biased()
	compiled(t, again)
	compiled(t, again)
	_, err := again.Marshal()
	require.NoError(t, err, "compiling takes nothing from the graph")
}

// TestShapesOfTensorsAreCopies: whatever a caller does with what Shape gave, a session keeps to its memory.
func TestShapesOfTensorsAreCopies(t *testing.T) {
	s := opened(t, loaded(t, chained(0, 16, 16).bytes()), WithFixedArena())
	for _, x := range []*Tensor{s.Input(0), s.Input(1), s.Output(0)} {
		x.Shape()[0] = 1 << 20
	}
	failed(t, s.Reshape(Shape{64, 64}, Shape{64, 64}), ErrArenaTooSmall)
	require.NoError(t, s.Run())
	require.NoError(t, s.Reshape(Shape{16, 16}, Shape{16, 16}))
	checkChained(t, s)

	shape := []int{3}
	x := NewTensor(ramp(3), shape...)
	shape[0] = 1 << 20
	y, err := loaded(t, double(3).bytes()).Run(t.Context(), x)
	require.NoError(t, err)
	require.Equal(t, []float32{0, 2, 4}, Data[float32](y[0]))
}

// TestWrongGraphs: importers fill a graph's fields directly, and whatever they fill them with is an error, never a panic.
func TestWrongGraphs(t *testing.T) {
	nothingHeld(t)
	huge := graph.ID(math.MaxUint32)
	for name, spoil := range map[string]func(g *graph.Graph){
		"operand":             func(g *graph.Graph) { g.Nodes[0].Inputs[0] = huge },
		"result":              func(g *graph.Graph) { g.Nodes[0].Outputs[0] = huge },
		"input":               func(g *graph.Graph) { g.Inputs[0] = huge },
		"output":              func(g *graph.Graph) { g.Outputs[0] = huge },
		"no operands":         func(g *graph.Graph) { g.Nodes[0].Inputs = nil },
		"one operand":         func(g *graph.Graph) { g.Nodes[0].Inputs = g.Nodes[0].Inputs[:1] },
		"no result":           func(g *graph.Graph) { g.Nodes[0].Outputs = nil },
		"two results":         func(g *graph.Graph) { g.Nodes[0].Outputs = append(g.Nodes[0].Outputs, g.Nodes[0].Outputs[0]) },
		"no operator":         func(g *graph.Graph) { g.Nodes[0].Op = nil },
		"unknown operator":    func(g *graph.Graph) { g.Nodes[0].Op = graph.Binary{Func: "Odd"} },
		"pointer to operator": func(g *graph.Graph) { g.Nodes[0].Op = &graph.Binary{Func: graph.Add} },
		"nil operator":        func(g *graph.Graph) { g.Nodes[0].Op = (*graph.Binary)(nil) },
		"limits": func(g *graph.Graph) {
			g.Nodes[0].Op = graph.Binary{Func: graph.Add, Range: graph.Range{Min: 1, Max: 1}}
		},
		"dtype":             func(g *graph.Graph) { g.Values[0].DType = 77 },
		"no dtype":          func(g *graph.Graph) { g.Values[0].DType = 0 },
		"negative":          func(g *graph.Graph) { g.Values[0].Shape[0] = -3 },
		"large":             func(g *graph.Graph) { g.Values[0].Shape[0] = math.MaxInt },
		"rank":              func(g *graph.Graph) { g.Values[0].Shape = make(Shape, 7) },
		"negative constant": func(g *graph.Graph) { g.Values[1].Constant = -1 },
		"constant":          func(g *graph.Graph) { g.Values[1].Constant = 2 },
		"no constants":      func(g *graph.Graph) { g.Constants = nil },
		"short constant":    func(g *graph.Graph) { g.Constants[1].Data = g.Constants[1].Data[:11] },
		"no constant data":  func(g *graph.Graph) { g.Constants[1].Data = nil },
		"no values":         func(g *graph.Graph) { g.Values = nil },
		"no inputs":         func(g *graph.Graph) { g.Inputs = nil },
		"constant input":    func(g *graph.Graph) { g.Inputs[0] = 1 },
		"constant output":   func(g *graph.Graph) { g.Outputs[0] = 1 },
		"shape":             func(g *graph.Graph) { g.Values[2].Shape[0] = 4 },
	} {
		t.Run(name, func(t *testing.T) {
			g := biased()
			spoil(g)
			m, err := Compile(g)
			require.Error(t, err)
			require.Nil(t, m)
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotNil(t, e.Kind)
		})
	}
	empty := compiled(t, graph.New())
	y, err := empty.Run(t.Context())
	require.NoError(t, err, "a graph of nothing computes nothing")
	require.Empty(t, y)
}

// TestProfile gives the nodes that ran, under their names in the file, with times of less than the whole.
func TestProfile(t *testing.T) {
	nothingHeld(t)
	f := chained(0, 256, 256)
	// In the file the nodes come last first, with one in between that no output depends on.
	f.values = append(f.values, inner(5, 256, 256))
	f.nodes = []node{{a: 4, b: 0, out: 2, debug: 30}, {a: 0, b: 0, out: 5, debug: 99}, {a: 3, b: 1, out: 4, debug: 20},
		{a: 0, b: 1, out: 3, debug: 10}}
	s := opened(t, loaded(t, f.bytes()), WithProfile())
	for range 3 {
		checkChained(t, s)
		nodes, err := s.Profile()
		require.NoError(t, err)
		require.Len(t, nodes, 3)
		for i, want := range []NodeTime{{Node: 3, DebugHandle: 10}, {Node: 2, DebugHandle: 20}, {Node: 0, DebugHandle: 30}} {
			require.Equal(t, want.Node, nodes[i].Node)
			require.Equal(t, want.DebugHandle, nodes[i].DebugHandle)
			require.Equal(t, "Add", nodes[i].Kind)
			require.False(t, nodes[i].Fused)
			require.Positive(t, nodes[i].Time, "65536 sums take some time")
			require.Less(t, nodes[i].Time.Seconds(), 10.0)
		}
	}
	before := opened(t, loaded(t, f.bytes()), WithProfile())
	_, err := before.Profile()
	require.NoError(t, err, "before the first run there are no times, and no nonsense")
	none := opened(t, loaded(t, file{externs: 1, values: []value{{dims: dims(3), dtype: 1, flags: 3}}}.bytes()), WithProfile())
	nodes, err := none.Profile()
	require.NoError(t, err)
	require.Empty(t, nodes)
}
