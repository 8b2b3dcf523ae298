package xnn

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// chained is Y = ((X+B)+B)+X with two intermediate values and X, B f32[rows,cols]; arena is entry 0 of mem_buffer_sizes.
func chained(arena, rows, cols uint32) file {
	return file{externs: 3, sizes: []uint32{arena},
		values: []value{input(0, rows, cols), input(1, rows, cols), output(2, rows, cols), inner(3, rows, cols),
			inner(4, rows, cols)},
		nodes: []node{{a: 0, b: 1, out: 3}, {a: 3, b: 1, out: 4}, {a: 4, b: 0, out: 2}}}
}

// checkChained runs it: 2x + 2b.
func checkChained(t *testing.T, s *Session) {
	t.Helper()
	n := len(Data[float32](s.Input(0)))
	want := ramp(n)
	for i := range want {
		want[i] = 2*want[i] + 2000
	}
	require.Equal(t, want, run(t, s, ramp(n), same(n, 1000))[0])
}

// needed is what the plan of a file needs on this machine.
func needed(t *testing.T, f file, shapes ...Shape) int {
	t.Helper()
	n, err := loaded(t, f.bytes()).ArenaBytes(shapes)
	require.NoError(t, err)
	return n
}

// TestArenaHasTheDeclaredSize, and XNNPACK keeps its intermediate values in it: the sums that only they hold are found there.
func TestArenaHasTheDeclaredSize(t *testing.T) {
	nothingHeld(t)
	need := needed(t, chained(0, 16, 16))
	require.GreaterOrEqual(t, need, 16*16*4, "one intermediate value at least")
	for _, size := range []int{need, need + 1, need + 4095, 2 * need, 1 << 20} {
		m := loaded(t, chained(uint32(size), 16, 16).bytes())
		before := MemStats().Arenas
		s := opened(t, m)
		require.Equal(t, size, s.ArenaBytes())
		arena := s.core.arena.memory.Bytes()
		require.Len(t, arena, size)
		require.Zero(t, uintptr(unsafe.Pointer(&arena[0]))%64)
		grown := MemStats().Arenas - before
		require.GreaterOrEqual(t, grown, int64(size))
		require.Less(t, grown, int64(size+2*4096), "no second arena")
		for i := range arena {
			arena[i] = 0xEE
		}
		checkChained(t, s)
		require.NotEqual(t, -1, findFloats(arena, func(i int) float32 { return float32(i) + 2000 }, 16*16),
			"the last intermediate value is not in the arena of %d bytes", size)
		for i := need; i < size; i++ {
			require.Equal(t, byte(0xEE), arena[i], "byte %d of %d, past the plan", i, size)
		}
	}
}

// findFloats finds n floats in a block of bytes, at multiples of 4.
func findFloats(block []byte, want func(i int) float32, n int) int {
	for at := 0; at+4*n <= len(block); at += 4 {
		found := 0
		for found < n && math.Float32frombits(binary.LittleEndian.Uint32(block[at+4*found:])) == want(found) {
			found++
		}
		if found == n {
			return at
		}
	}
	return -1
}

// TestArenaOneByteShort fails with both sizes named, leaves nothing, and nothing crashes after it.
func TestArenaOneByteShort(t *testing.T) {
	nothingHeld(t)
	need := needed(t, chained(0, 16, 16))
	for _, size := range []int{need - 1, need / 2, 1} {
		m := loaded(t, chained(uint32(size), 16, 16).bytes())
		before := MemStats()
		for range 3 {
			s, err := m.NewSession()
			require.Nil(t, s)
			failed(t, err, ErrArenaTooSmall, fmt.Sprintf(" %d ", need), fmt.Sprintf(" %d", size))
			require.Equal(t, before, MemStats())
		}
		x := NewTensor(ramp(256), 16, 16)
		_, err := m.Run(t.Context(), x, x)
		failed(t, err, ErrArenaTooSmall)
		require.Equal(t, before, MemStats())
		n, err := m.ArenaBytes(nil)
		require.NoError(t, err)
		require.Equal(t, need, n, "it can still be asked what would be enough")
		require.NoError(t, m.Close())
	}
	// Another model is not disturbed.
	checkChained(t, opened(t, loaded(t, chained(uint32(need), 16, 16).bytes())))
}

// TestArenaGrows with Reshape where it may, and keeps its size where it may not.
func TestArenaGrows(t *testing.T) {
	nothingHeld(t)
	need := needed(t, chained(0, 16, 16))
	big := Shape{64, 64}
	needBig := needed(t, chained(0, 16, 16), big, big)
	require.Equal(t, needBig, needed(t, chained(0, 64, 64)), "shapes decide, wherever they come from")
	m := loaded(t, chained(uint32(need), 16, 16).bytes())

	s := opened(t, m)
	require.NoError(t, s.Reshape(big, big))
	require.Equal(t, needBig, s.ArenaBytes())
	checkChained(t, s)
	require.NoError(t, s.Reshape(Shape{16, 16}, Shape{16, 16}))
	require.Equal(t, needBig, s.ArenaBytes(), "it does not shrink")
	checkChained(t, s)

	fixed := opened(t, m, WithFixedArena())
	checkChained(t, fixed)
	for range 3 {
		before := MemStats()
		failed(t, fixed.Reshape(big, big), ErrArenaTooSmall, fmt.Sprint(needBig), fmt.Sprint(need))
		require.Equal(t, before.Total-before.XNNPACK, MemStats().Total-MemStats().XNNPACK)
		require.Equal(t, need, fixed.ArenaBytes())
		require.Equal(t, Shape{16, 16}, fixed.Output(0).Shape())
		checkChained(t, fixed)
	}
	require.NoError(t, fixed.Reshape(Shape{3, 16}, Shape{3, 16}), "smaller shapes fit")
	checkChained(t, fixed)

	unset := opened(t, loaded(t, chained(0, 16, 16).bytes()), WithFixedArena())
	require.Equal(t, need, unset.ArenaBytes(), "the first plan decides where the file does not")
	failed(t, unset.Reshape(big, big), ErrArenaTooSmall)
	checkChained(t, unset)
}

// TestReshapeOverTheLimit fails before anything is reserved and leaves the session as it was, views included.
func TestReshapeOverTheLimit(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, chained(0, 16, 16).bytes(), WithMemoryLimit(1<<20), withCache(math.MaxInt)) // tiles would fit
	s := opened(t, m)
	checkChained(t, s)
	x, y := Data[float32](s.Input(0)), Data[float32](s.Output(0))
	before, peak := MemStats(), resetPeakRSS()
	// Tensors alone are too much; then tensors fit and the arena does not.
	for _, rows := range []int{1 << 22, 1 << 14, 5000} {
		for range 3 {
			failed(t, s.Reshape(Shape{rows, 16}, Shape{rows, 16}), ErrMemoryLimit)
		}
		require.Equal(t, before.Tensors, MemStats().Tensors)
		require.Equal(t, before.Arenas, MemStats().Arenas)
		require.Same(t, &x[0], &Data[float32](s.Input(0))[0])
		require.Same(t, &y[0], &Data[float32](s.Output(0))[0])
		checkChained(t, s)
	}
	require.Less(t, peakRSS()-peak, int64(32<<20))
	require.NoError(t, s.Reshape(Shape{32, 16}, Shape{32, 16}))
	checkChained(t, s)
}

// TestArenaOverTheLimit: an absurd arena is refused by its number.
func TestArenaOverTheLimit(t *testing.T) {
	nothingHeld(t)
	m := loaded(t, chained(math.MaxUint32, 16, 16).bytes(), WithMemoryLimit(64<<20))
	before, peak := MemStats(), resetPeakRSS()
	_, err := m.NewSession()
	failed(t, err, ErrMemoryLimit, "4294967295", "67108864")
	require.Equal(t, before, MemStats())
	require.Less(t, peakRSS()-peak, int64(32<<20))
}

// TestArenaUnused: a graph without intermediate values needs none, and keeps what its file asks for.
func TestArenaUnused(t *testing.T) {
	f := double(3)
	require.Zero(t, needed(t, f))
	f.sizes = []uint32{4096}
	s := opened(t, loaded(t, f.bytes()))
	require.Equal(t, 4096, s.ArenaBytes())
	require.Equal(t, [][]float32{{2, 4, 6}}, run(t, s, []float32{1, 2, 3}))
}
