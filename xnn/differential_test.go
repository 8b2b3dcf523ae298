package xnn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestDifferential compares random graphs with the reference bit by bit: as a file and through the builder, in an arena of
// exactly the size needed, and over changes of shape. XNNGO_SEED runs one seed alone.
func TestDifferential(t *testing.T) {
	nothingHeld(t)
	seeds := 200
	if long {
		seeds = 20000
	}
	first := 0
	if s := os.Getenv("XNNGO_SEED"); s != "" {
		first, _ = strconv.Atoi(s)
		seeds = 1
	}
	for seed := first; seed < first+seeds; seed++ {
		differ(t, uint64(seed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func differ(t *testing.T, seed uint64) {
	name := func(what string) string { return fmt.Sprintf("seed %d, %s", seed, what) }
	r := rand.New(rand.NewPCG(seed, 1))
	d := randomDAG(r)
	inputs := d.randomInputs(r)
	values := d.evaluate(inputs)

	m, err := Load(d.file(r, values, 0).bytes())
	require.NoError(t, err, name("load"))
	defer m.Close()
	s, err := m.NewSession()
	require.NoError(t, err, name("session"))
	d.check(t, s, inputs, name("file"))
	need, err := m.ArenaBytes(nil)
	require.NoError(t, err, name("arena"))
	require.Equal(t, need, s.ArenaBytes(), name("arena"))

	if need > 0 {
		exact, err := Load(d.file(r, values, uint32(need)).bytes())
		require.NoError(t, err, name("load"))
		defer exact.Close()
		es, err := exact.NewSession(WithFixedArena())
		// The order of nodes in the file may ask for another plan.
		if !errors.Is(err, ErrArenaTooSmall) {
			require.NoError(t, err, name("exact arena"))
			require.Equal(t, need, es.ArenaBytes(), name("exact arena"))
			d.check(t, es, inputs, name("exact arena"))
		}
	}
	built, err := Compile(d.builder(inputs))
	require.NoError(t, err, name("compile"))
	defer built.Close()
	bs, err := built.NewSession()
	require.NoError(t, err, name("session"))
	d.check(t, bs, inputs, name("builder"))

	for i := range 8 {
		inputs = d.randomInputs(r)
		shapes := make([]Shape, len(inputs))
		for j, in := range inputs {
			shapes[j] = in.shape
		}
		require.NoError(t, s.Reshape(shapes...), name(fmt.Sprintf("reshape %d to %v", i, shapes)))
		d.check(t, s, inputs, name(fmt.Sprintf("reshape %d to %v", i, shapes)))
	}
}

// check runs the session twice, since a second run finds the arena as the first left it.
func (d *dag) check(t *testing.T, s *Session, inputs []array, what string) {
	values := d.evaluate(inputs)
	for range 2 {
		for i, in := range inputs {
			copy(Data[float32](s.Input(i)), in.data)
		}
		for i := range d.outputs {
			fillNaN(Data[float32](s.Output(i)))
		}
		require.NoError(t, s.Run(), what)
		for i, id := range d.outputs {
			want := values[id]
			require.True(t, Shape(want.shape).Equal(s.Output(i).Shape()), "%s: output %d is %v, want %v", what, i, s.Output(i),
				want.shape)
			got := Data[float32](s.Output(i))
			require.Len(t, got, len(want.data), what)
			for j := range got {
				if math.Float32bits(got[j]) != math.Float32bits(want.data[j]) {
					t.Fatalf("%s: output %d, element %d is %g, want %g", what, i, j, got[j], want.data[j])
				}
			}
		}
		for i, in := range inputs {
			require.True(t, equalFloats(in.data, Data[float32](s.Input(i))), "%s: input %d was written", what, i)
		}
	}
}

func equalFloats(a, b []float32) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// builder makes the same graph through package graph.
func (d *dag) builder(inputs []array) *graph.Graph {
	g := graph.New()
	var ids []graph.ID
	for _, in := range inputs {
		ids = append(ids, g.Input(graph.Float32, in.shape...))
	}
	for _, c := range d.constants {
		ids = append(ids, g.Constant(c.data, c.shape...))
	}
	for _, n := range d.nodes {
		ids = append(ids, g.Add(ids[n[0]], ids[n[1]]))
	}
	for _, id := range d.outputs {
		g.Output(ids[id])
	}
	return g
}

// TestShrinkToBroadcast: XNNPACK plans which node may write over its operand when the sizes are equal. T shrinks to a row
// that U broadcasts while U keeps its size, so the plan of the shapes before would write over what is still to be read.
func TestShrinkToBroadcast(t *testing.T) {
	nothingHeld(t)
	// T = X + B, U = T + Z, Y = U + W.
	d := &dag{inputs: 4, nodes: [][2]int{{0, 1}, {4, 2}, {5, 3}}, outputs: []int{6}, pinned: make([]int, 2),
		ranks: []int{2, 2, 2, 2}}
	r := rand.New(rand.NewPCG(1, 2))
	shapes := func(t, u [2]int) []array {
		return []array{randomArray(r, t[:]), randomArray(r, t[:]), randomArray(r, u[:]), randomArray(r, u[:])}
	}
	first := shapes([2]int{8, 40}, [2]int{8, 40})
	s := opened(t, loaded(t, d.file(r, d.evaluate(first), 0).bytes()))
	d.check(t, s, first, "equal sizes")
	steps := [][2][2]int{{{1, 40}, {8, 40}}, {{8, 40}, {8, 40}}, {{8, 1}, {8, 40}}, {{1, 1}, {8, 40}}, {{64, 40}, {64, 40}},
		{{1, 40}, {64, 40}}, {{2, 40}, {2, 40}}, {{1, 40}, {2, 40}}, {{1, 40}, {64, 40}}, {{2, 1}, {2, 40}}}
	for i := range 300 {
		step := steps[i%len(steps)]
		if i >= len(steps) { // random ones, after the listed
			u := [2]int{1 + r.IntN(20), 1 + r.IntN(70)}
			step = [2][2]int{u, u}
			for j := range 2 {
				if r.IntN(2) == 0 {
					step[0][j] = 1
				}
			}
		}
		in := shapes(step[0], step[1])
		var to []Shape
		for _, a := range in {
			to = append(to, a.shape)
		}
		require.NoError(t, s.Reshape(to...))
		d.check(t, s, in, fmt.Sprintf("step %d to %v", i, to))
	}
}
