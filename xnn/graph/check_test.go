package graph_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// sum is Y=X+C with X fp32[3] (0), C (1), Y (2), made without the builder so that any of it can be made wrong.
func sum() *graph.Graph {
	t := graph.Type{DType: graph.Float32, Shape: graph.Shape{3}}
	return &graph.Graph{
		Values:    []graph.Value{{Type: t, Ref: 10}, {Type: t, Constant: 1, Ref: 11}, {Type: t, Ref: 12}},
		Nodes:     []graph.Node{{Op: graph.Binary{Func: graph.Add}, Inputs: []graph.ID{0, 1}, Outputs: []graph.ID{2}, Ref: 5}},
		Inputs:    []graph.ID{0},
		Outputs:   []graph.ID{2},
		Constants: []graph.Constant{{}, {Data: make([]byte, 12)}},
	}
}

func TestCheckAccepts(t *testing.T) {
	require.NoError(t, sum().Check())
	for name, change := range map[string]func(*graph.Graph){
		"empty graph":             func(g *graph.Graph) { *g = graph.Graph{} },
		"long constant":           func(g *graph.Graph) { g.Constants[1].Data = make([]byte, 16) },
		"constant of zeros":       func(g *graph.Graph) { g.Constants[1] = graph.Constant{Data: []byte{}, Reserve: 12} },
		"one output twice":        func(g *graph.Graph) { g.Outputs = []graph.ID{2, 2} },
		"input is output":         func(g *graph.Graph) { g.Outputs = []graph.ID{2, 0} },
		"entry 0 is never read":   func(g *graph.Graph) { g.Constants[0] = graph.Constant{Data: make([]byte, 9), Reserve: 1} },
		"value nobody touches":    func(g *graph.Graph) { g.Values = append(g.Values, g.Values[0]) },
		"result nobody reads":     func(g *graph.Graph) { g.Outputs = nil },
		"constant nobody touches": func(g *graph.Graph) { g.Constants = append(g.Constants, graph.Constant{}) },
	} {
		g := sum()
		change(g)
		require.NoError(t, g.Check(), name)
	}
}

func TestCheckRejects(t *testing.T) {
	const none = schema.None
	for name, c := range map[string]struct {
		change func(*graph.Graph)
		kind   error
		node   int64
		value  int64
		text   []string
	}{
		"no dtype":            {func(g *graph.Graph) { g.Values[0].DType = 0 }, schema.ErrGraph, none, 10, []string{"0"}},
		"unknown dtype":       {func(g *graph.Graph) { g.Values[0].DType = 99 }, schema.ErrGraph, none, 10, []string{"99"}},
		"quantised":           {func(g *graph.Graph) { g.Values[0].DType = graph.QInt8 }, schema.ErrGraph, none, 10, []string{"qint8", "scale"}},
		"constant outside":    {func(g *graph.Graph) { g.Values[1].Constant = 9 }, schema.ErrGraph, none, 11, []string{"9", "2 entries"}},
		"constant negative":   {func(g *graph.Graph) { g.Values[1].Constant = -1 }, schema.ErrGraph, none, 11, []string{"-1"}},
		"constant short":      {func(g *graph.Graph) { g.Constants[1].Data = make([]byte, 11) }, schema.ErrGraph, none, 11, []string{"12", "11"}},
		"constant absent":     {func(g *graph.Graph) { g.Constants[1] = graph.Constant{Reserve: 12} }, schema.ErrGraph, none, 11, []string{"no data"}},
		"reserve short":       {func(g *graph.Graph) { g.Constants[1].Reserve = 8 }, schema.ErrGraph, none, none, []string{"8", "12"}},
		"input unknown":       {func(g *graph.Graph) { g.Inputs = []graph.ID{7} }, schema.ErrGraph, none, none, []string{"7"}},
		"input twice":         {func(g *graph.Graph) { g.Inputs = []graph.ID{0, 0} }, schema.ErrGraph, none, 10, []string{"twice"}},
		"input constant":      {func(g *graph.Graph) { g.Inputs = []graph.ID{0, 1} }, schema.ErrGraph, none, 11, []string{"constant"}},
		"output unknown":      {func(g *graph.Graph) { g.Outputs = []graph.ID{3} }, schema.ErrGraph, none, none, []string{"3"}},
		"output constant":     {func(g *graph.Graph) { g.Outputs = []graph.ID{1} }, schema.ErrGraph, none, 11, []string{"constant"}},
		"output unwritten":    {func(g *graph.Graph) { g.Nodes = nil }, schema.ErrGraph, none, 12, []string{"no node writes"}},
		"no operator":         {func(g *graph.Graph) { g.Nodes[0].Op = nil }, schema.ErrGraph, 5, none, []string{"operator"}},
		"too few operands":    {func(g *graph.Graph) { g.Nodes[0].Inputs = []graph.ID{0} }, schema.ErrGraph, 5, none, []string{"takes 2", "1"}},
		"too many results":    {func(g *graph.Graph) { g.Nodes[0].Outputs = []graph.ID{2, 3}; g.Values = append(g.Values, g.Values[2]) }, schema.ErrGraph, 5, none, nil},
		"one result twice":    {func(g *graph.Graph) { g.Nodes[0].Outputs = []graph.ID{2, 2} }, schema.ErrGraph, 5, 12, []string{"twice"}},
		"reads unknown":       {func(g *graph.Graph) { g.Nodes[0].Inputs[1] = 77 }, schema.ErrGraph, 5, none, []string{"77"}},
		"writes unknown":      {func(g *graph.Graph) { g.Nodes[0].Outputs[0] = 77 }, schema.ErrGraph, 5, none, []string{"77"}},
		"writes input":        {func(g *graph.Graph) { g.Nodes[0].Outputs[0] = 0 }, schema.ErrGraph, 5, 10, []string{"input"}},
		"writes constant":     {func(g *graph.Graph) { g.Nodes[0].Outputs[0] = 1 }, schema.ErrGraph, 5, 11, []string{"constant"}},
		"two producers":       {func(g *graph.Graph) { g.Nodes = append(g.Nodes, g.Nodes[0]); g.Nodes[1].Ref = 6 }, schema.ErrGraph, 6, 12, []string{"node 5"}},
		"reads what is not":   {func(g *graph.Graph) { g.Values = append(g.Values, g.Values[0]); g.Nodes[0].Inputs[1] = 3 }, schema.ErrGraph, 5, 10, []string{"no node writes"}},
		"needs itself":        {func(g *graph.Graph) { g.Nodes[0].Inputs[1] = 2 }, schema.ErrGraph, 5, 12, []string{"cycle"}},
		"declared otherwise":  {func(g *graph.Graph) { g.Values[2].Shape = graph.Shape{1, 3} }, schema.ErrShape, 5, 12, []string{"[1,3]", "[3]"}},
		"does not broadcast":  {func(g *graph.Graph) { g.Values[0].Shape = graph.Shape{2} }, schema.ErrShape, 5, none, []string{"10 fp32[2]", "11 fp32[3]", "12 fp32[3]"}},
		"mixed dtypes":        {func(g *graph.Graph) { g.Values[0].DType = graph.Float16 }, schema.ErrUnsupported, 5, none, []string{"10 fp16[3]", "11 fp32[3]", "12 fp32[3]"}},
		"too many externals":  {manyInputs, schema.ErrUnsupported, none, none, []string{"4097", "4096"}},
		"rank 7 of a product": {func(g *graph.Graph) { g.Values[2].Shape = make(graph.Shape, 7) }, schema.ErrUnsupported, none, 12, []string{"7", "6"}},
	} {
		g := sum()
		c.change(g)
		err := g.Check()
		require.ErrorIs(t, err, c.kind, name)
		var e *schema.Error
		require.True(t, errors.As(err, &e), name)
		require.Equal(t, schema.StageCheck, e.Stage, name)
		require.Equal(t, c.node, e.Node, "%s: %v", name, err)
		require.Equal(t, c.value, e.Value, "%s: %v", name, err)
		for _, text := range c.text {
			require.ErrorContains(t, err, text, name)
		}
		_, err = g.Marshal()
		require.ErrorIs(t, err, c.kind, name)
	}
}

func manyInputs(g *graph.Graph) {
	for range 4095 {
		g.Inputs = append(g.Inputs, graph.ID(len(g.Values)))
		g.Values = append(g.Values, g.Values[0])
	}
}

// chain is n Adds in a row, listed in the given order.
func chain(order ...int) *graph.Graph {
	g := graph.New()
	x := g.Input(graph.Float32, 2)
	v := x
	for range order {
		v = g.Add(v, x)
	}
	g.Output(v)
	nodes := make([]graph.Node, len(order))
	for i, j := range order {
		nodes[i] = g.Nodes[j]
	}
	g.Nodes = nodes
	return g
}

func TestCheckSorts(t *testing.T) {
	refs := func(g *graph.Graph) (r []uint32) {
		for _, n := range g.Nodes {
			r = append(r, n.Ref)
		}
		return r
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		g := chain(order...)
		require.NoError(t, g.Check())
		require.Equal(t, []uint32{0, 1, 2, 3}, refs(g))
	}

	// Independent nodes stay in the order of the file.
	g := graph.New()
	x := g.Input(graph.Float32, 2)
	for range 5 {
		g.Output(g.Add(x, x))
	}
	require.NoError(t, g.Check())
	require.Equal(t, []uint32{0, 1, 2, 3, 4}, refs(g))

	// A cycle is named by one of its own nodes, not by one that waits for it.
	g = chain(3, 2, 1, 0)
	g.Nodes[2].Inputs[0] = g.Nodes[1].Outputs[0] // 1 needs 2, which needs 1; 3 waits for both
	err := g.Check()
	require.ErrorIs(t, err, schema.ErrGraph)
	var e *schema.Error
	require.ErrorAs(t, err, &e)
	require.Contains(t, []int64{1, 2}, e.Node)
}

func TestInfer(t *testing.T) {
	g := graph.New()
	x := g.Input(graph.Float32, 1, 3)
	y := g.Input(graph.Float32, 2, 1)
	z := g.Add(x, y)
	g.Output(z)
	require.NoError(t, g.Check())

	shapes, err := g.Infer([]graph.Shape{{4, 5}, {1, 5}})
	require.NoError(t, err)
	require.Equal(t, graph.Shape{4, 5}, shapes[z])
	require.Equal(t, graph.Shape{2, 3}, g.Values[z].Shape, "the graph keeps its own shapes")

	_, err = g.Infer([]graph.Shape{{4, 5}, {2, 5}})
	require.ErrorIs(t, err, schema.ErrShape)
	_, err = g.Infer([]graph.Shape{{4, 5, 1}, {1, 5}})
	require.ErrorIs(t, err, schema.ErrShape, "another rank")
	_, err = g.Infer([]graph.Shape{{4, 5}})
	require.ErrorIs(t, err, schema.ErrArgument)
	_, err = g.Infer([]graph.Shape{{1 << 31, 1}, {1, 1 << 31}})
	require.ErrorIs(t, err, schema.ErrShape, "the sum is too large")
	_, err = g.Infer([]graph.Shape{{-1, 1}, {1, 1}})
	require.ErrorIs(t, err, schema.ErrShape)
}

func TestBuilderKeepsFirstMistake(t *testing.T) {
	for name, c := range map[string]struct {
		build func(*graph.Graph)
		kind  error
	}{
		"shapes":            {func(g *graph.Graph) { g.Add(g.Input(graph.Float32, 2), g.Input(graph.Float32, 3)) }, schema.ErrShape},
		"dtypes":            {func(g *graph.Graph) { g.Add(g.Input(graph.Float32, 2), g.Input(graph.Float16, 2)) }, schema.ErrUnsupported},
		"another graph's":   {func(g *graph.Graph) { g.Add(g.Input(graph.Float32, 2), 99) }, schema.ErrGraph},
		"constant size":     {func(g *graph.Graph) { g.Constant([]float32{1, 2}, 3) }, schema.ErrShape},
		"constant type":     {func(g *graph.Graph) { g.Constant([]float64{1, 2}, 2) }, schema.ErrArgument},
		"constant nil":      {func(g *graph.Graph) { g.Constant(nil) }, schema.ErrArgument},
		"negative":          {func(g *graph.Graph) { g.Input(graph.Float32, -1) }, schema.ErrShape},
		"output of nothing": {func(g *graph.Graph) { g.Output(4) }, schema.ErrGraph},
	} {
		g := graph.New()
		c.build(g)
		g.Output(g.Add(g.Input(graph.Float32, 7), g.Input(graph.Float32, 5)))
		require.ErrorIs(t, g.Check(), c.kind, name)
		_, err := g.Marshal()
		require.ErrorIs(t, err, c.kind, name)
	}
}
