package xnn

import (
	"math/rand/v2"
)

// array is a tensor of the reference: plain Go, written from the definition of broadcasting.
type array struct {
	shape []int
	data  []float32
}

func count(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// broadcastShape aligns both shapes at the last dimension; the caller knows that they fit.
func broadcastShape(a, b []int) []int {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		da, db := dimAt(a, i-len(out)+len(a)), dimAt(b, i-len(out)+len(b))
		out[i] = da
		if da == 1 {
			out[i] = db
		}
	}
	return out
}

// dimAt is shape[i], and 1 for the dimensions a shape does not have.
func dimAt(shape []int, i int) int {
	if i < 0 {
		return 1
	}
	return shape[i]
}

// plus is the broadcast sum.
func plus(a, b array) array {
	out := array{shape: broadcastShape(a.shape, b.shape)}
	out.data = make([]float32, count(out.shape))
	index := make([]int, len(out.shape))
	for n := range out.data {
		for i, rest := len(index)-1, n; i >= 0; i-- {
			index[i], rest = rest%out.shape[i], rest/out.shape[i]
		}
		out.data[n] = a.at(index) + b.at(index)
	}
	return out
}

// at is the element that a broadcast to the rank of index shows.
func (a array) at(index []int) float32 {
	at := 0
	for i, d := range a.shape {
		at *= d
		if d != 1 {
			at += index[len(index)-len(a.shape)+i]
		}
	}
	return a.data[at]
}

// dag is a random graph of Adds. Leaves come first in shapes: inputs, then constants; node i makes value len(leaves)+i.
type dag struct {
	inputs    int
	constants []array
	nodes     [][2]int
	outputs   []int

	pinned []int // sizes that constants fix, by dimension of the full shape; 0 where they leave it open
	ranks  []int // of the inputs
}

func randomDAG(r *rand.Rand) *dag {
	d := &dag{inputs: 1 + r.IntN(4), pinned: make([]int, r.IntN(7))}
	rank := len(d.pinned)
	for range d.inputs {
		d.ranks = append(d.ranks, r.IntN(rank+1))
	}
	for range r.IntN(6) {
		shape := make([]int, r.IntN(rank+1))
		for i := range shape {
			shape[i] = 1
			if p := &d.pinned[rank-len(shape)+i]; r.IntN(2) == 0 {
				if *p == 0 {
					*p = 2 + r.IntN(3)
				}
				shape[i] = *p
			}
		}
		d.constants = append(d.constants, randomArray(r, shape))
	}
	// weight bounds how large an element can get: sums stay exact integers, so that any wrong element is a wrong integer.
	leaves := d.inputs + len(d.constants)
	weight := make([]int, leaves)
	for i := range weight {
		weight[i] = 1
	}
	for range 2 + r.IntN(39) {
		// Mostly recent values, so that chains grow long; now and then the same one twice.
		pick := func() int { return max(r.IntN(len(weight)), r.IntN(len(weight))) }
		a, b := pick(), pick()
		if r.IntN(8) == 0 {
			b = a
		}
		if weight[a]+weight[b] > 1<<18 {
			a, b = r.IntN(leaves), r.IntN(leaves)
		}
		d.nodes = append(d.nodes, [2]int{a, b})
		weight = append(weight, weight[a]+weight[b])
	}
	for range 1 + r.IntN(4) {
		// Any value but a constant: nodes mostly, some twice, an input now and then.
		id := leaves + r.IntN(len(d.nodes))
		if r.IntN(10) == 0 {
			id = r.IntN(d.inputs)
		}
		d.outputs = append(d.outputs, id)
	}
	if r.IntN(2) == 0 {
		d.outputs = append(d.outputs, leaves+len(d.nodes)-1)
	}
	return d
}

func randomArray(r *rand.Rand, shape []int) array {
	a := array{shape: shape, data: make([]float32, count(shape))}
	for i := range a.data {
		a.data[i] = float32(r.IntN(33) - 16)
	}
	return a
}

// randomInputs have new sizes for every dimension that no constant fixes, and broadcast where they like.
func (d *dag) randomInputs(r *rand.Rand) []array {
	full := make([]int, len(d.pinned))
	for i, p := range d.pinned {
		full[i] = p
		if p == 0 {
			full[i] = 1 + r.IntN(4)
			if r.IntN(40) == 0 {
				full[i] = 0
			}
		}
	}
	inputs := make([]array, d.inputs)
	for i, rank := range d.ranks {
		shape := append([]int{}, full[len(full)-rank:]...)
		for j := range shape {
			if r.IntN(3) == 0 {
				shape[j] = 1
			}
		}
		inputs[i] = randomArray(r, shape)
	}
	return inputs
}

// evaluate gives every value.
func (d *dag) evaluate(inputs []array) []array {
	values := append(append([]array{}, inputs...), d.constants...)
	for _, n := range d.nodes {
		values = append(values, plus(values[n[0]], values[n[1]]))
	}
	return values
}

// file writes the graph for these inputs, with nodes and values in random order and a value nobody uses. Values are its
// evaluation.
func (d *dag) file(r *rand.Rand, values []array, arena uint32) file {
	first := d.inputs + len(d.constants)
	flags := make([]uint32, len(values))
	for i := range d.inputs {
		flags[i] |= 1
	}
	for _, id := range d.outputs {
		flags[id] |= 2
	}
	// Externals get the first ids, in random order.
	ids := make([]uint32, len(values))
	next, externs := uint32(0), uint32(0)
	for _, external := range []bool{true, false} {
		for _, i := range r.Perm(len(values)) {
			if flags[i] != 0 == external {
				ids[i] = next
				next++
			}
		}
		if external {
			externs = next
		}
	}
	f := file{externs: externs, buffers: [][]byte{nil}, sizes: []uint32{arena}, inputs: []uint32{}, outputs: []uint32{}}
	for i, v := range values {
		w := inner(ids[i], uint32s(v.shape)...)
		if flags[i] != 0 {
			w.flags, w.external = flags[i], ids[i]
		}
		if i >= d.inputs && i < first {
			w.constant = uint32(len(f.buffers))
			f.buffers = append(f.buffers, floats(v.data...))
		}
		f.values = append(f.values, w)
	}
	f.values = append(f.values, inner(next, 7, 5))
	for i, n := range d.nodes {
		f.nodes = append(f.nodes, node{a: ids[n[0]], b: ids[n[1]], out: ids[first+i], debug: uint32(i)})
	}
	r.Shuffle(len(f.values), func(i, j int) { f.values[i], f.values[j] = f.values[j], f.values[i] })
	r.Shuffle(len(f.nodes), func(i, j int) { f.nodes[i], f.nodes[j] = f.nodes[j], f.nodes[i] })
	for i := range d.inputs {
		f.inputs = append(f.inputs, ids[i])
	}
	for _, id := range d.outputs {
		f.outputs = append(f.outputs, ids[id])
	}
	return f
}

func uint32s(shape []int) []uint32 {
	d := make([]uint32, len(shape))
	for i, n := range shape {
		d[i] = uint32(n)
	}
	return d
}
