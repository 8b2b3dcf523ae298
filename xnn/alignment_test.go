package xnn

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/xnngo/xnngo/xnn/graph"
)

// TestFileAtAnyAddress: constants lie where the bytes of the file happen to lie.
func TestFileAtAnyAddress(t *testing.T) {
	data := addConst(3).bytes()
	for k := range 64 {
		at := make([]byte, len(data)+64)[k : k+len(data)]
		copy(at, data)
		require.Equal(t, [][]float32{{11, 22, 33}}, run(t, opened(t, loaded(t, at)), []float32{1, 2, 3}), "offset %d", k)
	}
	// A string, as go:embed gives it, lies in memory that cannot be written.
	text := string(data)
	m := loaded(t, unsafe.Slice(unsafe.StringData(text), len(text)))
	require.Equal(t, [][]float32{{11, 22, 33}}, run(t, opened(t, m), []float32{1, 2, 3}))
}

// TestMappedConstantAtAnyOffset: in a mapped file the constant moves through all alignments, and to the end of the file.
func TestMappedConstantAtAnyOffset(t *testing.T) {
	nothingHeld(t)
	dir := t.TempDir()
	for k := range 20 {
		f := addConst(3)
		f.version = "0123456789012345678901234567"[:k+1] // written after the constant, hence before it in the file
		path := filepath.Join(dir, fmt.Sprint(k))
		require.NoError(t, os.WriteFile(path, f.bytes(), 0o600))
		for _, opts := range [][]Option{nil, {WithCopy()}} {
			m, err := Open(path, opts...)
			require.NoError(t, err)
			require.Equal(t, [][]float32{{11, 22, 33}}, run(t, opened(t, m), []float32{1, 2, 3}))
			require.NoError(t, m.Close())
		}
	}
}

// TestConstantsBehindTheFlatBuffer: those of a mapped file are used where they are, the last one at its end, too.
func TestConstantsBehindTheFlatBuffer(t *testing.T) {
	nothingHeld(t)
	const n = 1 << 19
	c := ramp(n)
	g := graph.New()
	x := g.Multiply(g.Input(graph.Float32, n), g.Constant([]float32{2}))
	g.Output(g.Maximum(x, g.Constant(c, n)))
	data, err := g.Marshal()
	require.NoError(t, err)
	require.Equal(t, "XH00", string(data[4:8]))
	path := filepath.Join(t.TempDir(), "model.xnn")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	want := ramp(n)
	want[0], want[1] = 6, 2
	for name, opts := range map[string][]Option{"mapped": nil, "read": {WithCopy()}} {
		m, err := Open(path, opts...)
		require.NoError(t, err)
		if opts == nil {
			require.Zero(t, MemStats().Constants, name)
		} else {
			require.GreaterOrEqual(t, MemStats().Constants, int64(4*n), name)
		}
		in := make([]float32, n)
		in[0], in[1], in[n-1] = 3, 1, 0
		require.Equal(t, [][]float32{want}, run(t, opened(t, m), in), name)
		require.NoError(t, m.Close())
	}
	require.Equal(t, [][]float32{want}, run(t, opened(t, loaded(t, data)), append([]float32{3, 1}, make([]float32, n-2)...)))
}

// TestOddTensors: the caller's slices may lie at odd addresses, which only unsafe code makes.
func TestOddTensors(t *testing.T) {
	if instrumented {
		t.Skip("checkptr forbids what this test does before it comes to the code under test")
	}
	m := loaded(t, addConst(3).bytes())
	for _, k := range []int{1, 2, 3} {
		block := make([]byte, 64)
		odd := func(at int) []float32 { return unsafe.Slice((*float32)(unsafe.Pointer(&block[at+k])), 3) }
		x, y := odd(0), odd(32)
		copy(x, []float32{1, 2, 3})
		require.NoError(t, m.RunInto(t.Context(), []*Tensor{NewTensor(y, 3)}, []*Tensor{NewTensor(x, 3)}))
		require.Equal(t, []float32{11, 22, 33}, y)
	}
}

// TestSessionTensorsAreAligned for the widest vectors, with bytes behind them that kernels may read.
func TestSessionTensorsAreAligned(t *testing.T) {
	for n := range 40 {
		s := opened(t, loaded(t, addConst(n+1).bytes()))
		for _, x := range []*Tensor{s.Input(0), s.Output(0)} {
			require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(x.Bytes())))%64)
			require.Len(t, x.Bytes(), 4*(n+1))
			require.Equal(t, 4*(n+1), cap(x.Bytes()), "append must not write behind the tensor")
			require.Equal(t, n+1, cap(Data[float32](x)))
		}
	}
}

// guarded is size bytes that end where memory may not be read.
func guarded(t *testing.T, size int) []byte {
	page := os.Getpagesize()
	pages := (size + page - 1) / page * page
	b, err := unix.Mmap(-1, 0, pages+page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	require.NoError(t, err)
	require.NoError(t, unix.Mprotect(b[pages:], unix.PROT_NONE))
	t.Cleanup(func() { require.NoError(t, unix.Munmap(b)) })
	return b[pages-size : pages]
}

// TestNothingIsReadBehind: kernels read in vectors, so what they read must be the session's memory and never the caller's
// slices or the file. Both end at a page that faults.
func TestNothingIsReadBehind(t *testing.T) {
	nothingHeld(t)
	for n := 1; n <= 33; n++ {
		x := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(guarded(t, 4*n)))), n)
		y := unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(guarded(t, 4*n)))), n)
		copy(x, ramp(n))
		f := addConst(n)
		f.buffers[1] = floats(make([]float32, n)...)
		data := f.bytes()
		end := guarded(t, len(data)) // a file that ends there, too
		copy(end, data)
		m := loaded(t, end)
		require.NoError(t, m.RunInto(t.Context(), []*Tensor{NewTensor(y, n)}, []*Tensor{NewTensor(x, n)}))
		require.Equal(t, ramp(n), y)

		hx := unsafe.Slice((*Half)(unsafe.Pointer(unsafe.SliceData(guarded(t, 2*n)))), n)
		hm := loaded(t, halfFile(uint32(n)).bytes())
		out, err := hm.Run(t.Context(), NewTensor(hx, n), NewTensor(hx, n))
		require.NoError(t, err)
		require.Equal(t, make([]Half, n), Data[Half](out[0]))
	}
}

// TestNothingIsWrittenBehind: an output that has become larger than the caller's tensor is an error and leaves it alone.
func TestNothingIsWrittenBehind(t *testing.T) {
	m := loaded(t, pair(dims(1, 4), dims(1, 1), dims(1, 4)).bytes())
	block := same(16, -1)
	row, column := NewTensor([]float32{1, 2, 3, 4}, 1, 4), NewTensor([]float32{10, 20, 30, 40}, 4, 1)
	failed(t, m.RunInto(t.Context(), []*Tensor{NewTensor(block[:4], 1, 4)}, []*Tensor{row, column}), ErrShape, "[1,4]", "[4,4]")
	require.Equal(t, same(16, -1), block)
	require.NoError(t, m.RunInto(t.Context(), []*Tensor{NewTensor(block, 4, 4)}, []*Tensor{row, column}))
	require.Equal(t, []float32{11, 12, 13, 14, 21, 22, 23, 24, 31, 32, 33, 34, 41, 42, 43, 44}, block)
}

// TestMappedFileEndsWithItsPage: a constant that ends with the last bytes of the last page has nothing readable behind it,
// and must be copied.
func TestMappedFileEndsWithItsPage(t *testing.T) {
	nothingHeld(t)
	f := addConst(64)
	f.version = ""
	want := run(t, opened(t, loaded(t, f.bytes())), same(64, 1))
	page, found := os.Getpagesize(), 0
	// A FlatBuffer is written from its end: the constant, written first, lies last. Unused sizes move it.
	for pad := 0; pad < page/4; pad++ {
		f.sizes = make([]uint32, 2+pad)
		data := f.bytes()
		if left := (page - len(data)%page) % page; left >= 16 {
			continue
		}
		require.Equal(t, floats(640), data[len(data)-4:])
		found++
		path := filepath.Join(t.TempDir(), "model")
		require.NoError(t, os.WriteFile(path, data, 0o600))
		m, err := Open(path)
		require.NoError(t, err)
		require.Positive(t, MemStats().Constants)
		require.Equal(t, want, run(t, opened(t, m), same(64, 1)))
		require.NoError(t, m.Close())
	}
	require.NotZero(t, found)
}
