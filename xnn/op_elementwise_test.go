package xnn

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// mixture builds random graphs of element-wise nodes of all types, broadcast against each other.
type mixture struct {
	r     *rand.Rand
	g     *graph.Graph
	ids   []graph.ID
	shape Shape // that all broadcast to
}

// type8 is a quantised type, of which all in a graph are one.
var type8 = Quant{Scale: 0.25, ZeroPoint: 3}

func (b *mixture) typ(dims Shape) Type {
	t := Type{DType: []DType{Float32, Float32, Float32, Float16, BFloat16, QInt8, QUInt8, Int32}[b.r.IntN(8)], Shape: dims}
	if t.DType == QInt8 || t.DType == QUInt8 {
		t.Quant = &type8
	}
	return t
}

// dims is a shape that is broadcast to the mixture's.
func (b *mixture) dims() Shape {
	from := b.r.IntN(len(b.shape) + 1)
	if b.r.IntN(2) == 0 {
		from = 0
	}
	dims := append(Shape{}, b.shape[from:]...)
	for i := range dims {
		if b.r.IntN(4) == 0 {
			dims[i] = 1
		}
	}
	return dims
}

func (b *mixture) any() graph.ID { return b.ids[b.r.IntN(len(b.ids))] }

// as gives a value in another type, by way of a conversion where it has not that type.
func (b *mixture) as(id graph.ID, t DType) graph.ID {
	switch {
	case b.g.Values[id].DType == t:
		return id
	case t == QInt8 || t == QUInt8:
		return b.g.Convert(id, graph.Quantized(t, type8.Scale, type8.ZeroPoint))
	}
	return b.g.Convert(id, graph.As(t))
}

// grow appends a node.
func (b *mixture) grow() {
	x := b.any()
	t := b.g.Values[x].DType
	if b.r.IntN(5) == 0 {
		b.ids = append(b.ids, b.as(x, b.typ(nil).DType))
		return
	}
	if b.r.IntN(2) == 0 {
		for {
			c := unaryCases[b.r.IntN(len(unaryCases))]
			for _, s := range graph.Signatures(c.operator()) {
				if s.In[0] == t {
					b.ids = append(b.ids, c.apply(b.g, x))
					return
				}
			}
		}
	}
	for {
		kinds := graph.Operators()
		kind := graph.BinaryFunc(kinds[b.r.IntN(len(kinds))])
		if (kind == graph.Maximum || kind == graph.Minimum) && t != Int32 && t != QInt8 && t != QUInt8 {
			continue // NaN, which some of the others make, may or may not get lost
		}
		for _, s := range graph.Signatures(string(kind)) {
			if method := binaryMethods[kind]; method != nil && s.In[0] == t {
				opts := []graph.Option{}
				if b.r.IntN(4) == 0 {
					opts = append(opts, graph.Limits(-3, 5))
				}
				b.ids = append(b.ids, method(b.g, x, b.as(b.any(), t), opts...))
				return
			}
		}
	}
}

// sameElements compares two tensors bit by bit, but for which of many a NaN is.
func sameElements(t Type, a, b []byte) bool {
	for size := t.DType.Size(); len(a) > 0; a, b = a[size:], b[size:] {
		isNaN := math.IsNaN(meaning(t, a[:size])) && math.IsNaN(meaning(t, b[:size]))
		if !isNaN && !bytes.Equal(a[:size], b[:size]) {
			return false
		}
	}
	return true
}

// TestElementwiseTiled: what runs tile by tile gives the same bits as node by node over whole tensors, whatever the nodes are.
func TestElementwiseTiled(t *testing.T) {
	nothingHeld(t)
	seeds := 300
	if instrumented {
		seeds = 20
	}
	if long {
		seeds = 20000
	}
	tiled := 0
	for seed := range seeds {
		r := rand.New(rand.NewPCG(uint64(seed), 21))
		b := mixture{r: r, g: graph.New(), shape: make(Shape, 1+r.IntN(5))}
		for i := range b.shape {
			b.shape[i] = 1 + r.IntN(9)
		}
		var inputs []reals
		for range 1 + r.IntN(3) {
			typ := b.typ(b.dims())
			b.ids = append(b.ids, b.g.InputOf(typ))
			inputs = append(inputs, uniform(r, typ, -6, 6))
		}
		for range r.IntN(3) {
			typ := b.typ(b.dims())
			b.ids = append(b.ids, b.g.ConstantOf(typ, uniform(r, typ, -6, 6).bytes()))
		}
		for range 2 + r.IntN(20) {
			b.grow()
		}
		for range 1 + r.IntN(3) {
			b.g.Output(b.any())
		}
		b.g.Output(b.ids[len(b.ids)-1])
		for _, id := range b.g.Outputs {
			if b.g.Values[id].Constant != 0 {
				b.g = nil // a constant is no output
				break
			}
		}
		if b.g == nil {
			continue
		}
		m := compiled(t, b.g)
		bits := func(opts ...SessionOption) (list [][]byte) {
			s, err := m.NewSession(opts...)
			require.NoError(t, err)
			defer s.Close()
			for i, x := range inputs {
				copy(s.Input(i).Bytes(), x.bytes())
			}
			require.NoError(t, s.Run())
			for i := range s.core.planned.segments {
				if s.core.planned.segments[i].tiling != nil {
					tiled++
				}
			}
			for i := range s.core.outputs {
				list = append(list, bytes.Clone(s.Output(i).Bytes()))
			}
			return list
		}
		whole := bits(WithThreads(1), withCache(1<<40))
		for _, cache := range []int{1, 40, 300, 2000} {
			for i, got := range bits(WithThreads(1+r.IntN(2)), withCache(cache)) {
				if typ := b.g.Values[b.g.Outputs[i]].Type; !sameElements(typ, whole[i], got) {
					t.Fatalf("seed %d, cache %d: output %d, %v, differs", seed, cache, i, typ)
				}
			}
		}
		require.NoError(t, m.Close())
	}
	t.Logf("%d tiled segments", tiled)
	require.Greater(t, tiled, seeds, "the test is about tiles")
}
