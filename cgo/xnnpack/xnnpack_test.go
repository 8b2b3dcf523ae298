package xnnpack_test

import (
	"errors"
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/cgo/xnnpack"
)

// TestMain demands that whatever the tests made is gone when they are done.
func TestMain(m *testing.M) {
	if err := xnnpack.Init(); err != nil {
		panic(err)
	}
	code := m.Run()
	for purpose, held := range xnnpack.Stats() {
		if held != (xnnpack.Held{}) {
			println("memory left for purpose", purpose, "bytes", held.Bytes, "blocks", held.Blocks)
			code = 1
		}
	}
	os.Exit(code)
}

func TestMemory(t *testing.T) {
	before := xnnpack.Stats()[xnnpack.Tensors]
	for _, size := range []int{0, 1, 63, 64, 65, 4096, 1 << 20} {
		m, err := xnnpack.Alloc(xnnpack.Tensors, size)
		require.NoError(t, err)
		require.Zero(t, uintptr(m.Pointer())%64)
		require.Len(t, m.Bytes(), size)
		tail := unsafe.Slice((*byte)(m.Pointer()), size+xnnpack.ExtraBytes())
		for _, b := range tail {
			require.Zero(t, b)
		}
		held := xnnpack.Stats()[xnnpack.Tensors]
		require.Equal(t, before.Blocks+1, held.Blocks)
		require.GreaterOrEqual(t, held.Bytes-before.Bytes, int64(size+xnnpack.ExtraBytes()))
		m.Free()
		m.Free() // the zero value
		require.Equal(t, before, xnnpack.Stats()[xnnpack.Tensors])
	}
	_, err := xnnpack.Alloc(xnnpack.Tensors, 1<<62)
	require.ErrorIs(t, err, xnnpack.OutOfMemory)
	_, err = xnnpack.Alloc(xnnpack.Tensors, -1)
	require.ErrorIs(t, err, xnnpack.OutOfMemory)
}

func TestErrorsCarryTheMessage(t *testing.T) {
	sub, err := xnnpack.NewSubgraph(2)
	require.NoError(t, err)
	defer sub.Close()
	define := func(tensor xnnpack.Tensor) error {
		_, err := sub.Define(tensor)
		return err
	}
	require.NoError(t, define(xnnpack.Tensor{Type: xnnpack.Float32, Dims: []int{2}, Flags: xnnpack.ExternalInput}))
	require.NoError(t, define(xnnpack.Tensor{Type: xnnpack.Float16, Dims: []int{2}, Flags: xnnpack.ExternalInput, ExternalID: 1}))
	for _, c := range []struct {
		err    error
		status xnnpack.Status
		text   string
	}{
		{define(xnnpack.Tensor{Type: xnnpack.Float32, Flags: 1, ExternalID: 9}), xnnpack.InvalidParameter, "external ID 9"},
		{define(xnnpack.Tensor{Type: xnnpack.Float32, Dims: make([]int, 7)}), xnnpack.UnsupportedParameter, "dimensions"},
		{define(xnnpack.Tensor{Type: 3}), xnnpack.InvalidParameter, "scale"},
		{sub.Binary(xnnpack.Add, 0, 1, 0), xnnpack.InvalidParameter, "mismatch"},
		{sub.Binary(xnnpack.Add, 0, 77, 0), xnnpack.InvalidParameter, "77"},
	} {
		require.ErrorIs(t, c.err, c.status)
		require.ErrorContains(t, c.err, c.text)
		require.ErrorContains(t, c.err, c.status.Error())
		require.NotContains(t, c.err.Error(), "/home", "no path of the machine that built it")
		require.Regexp(t, `\(xnn_\w+, [\w/.-]*src/`, c.err.Error(), "XNNPACK says where")
		var x *xnnpack.Error
		require.True(t, errors.As(c.err, &x))
	}
	require.Equal(t, "xnn_status(77)", xnnpack.Status(77).Error())
}

// add makes a runtime of out = ((a + b) + a) + b: two intermediate values.
func add(t *testing.T, pool *xnnpack.Pool, dims ...int) *xnnpack.Runtime {
	sub, err := xnnpack.NewSubgraph(3)
	require.NoError(t, err)
	defer sub.Close()
	ids := make([]uint32, 5)
	for i := range ids {
		tensor := xnnpack.Tensor{Type: xnnpack.Float32, Dims: dims}
		switch i {
		case 0, 1:
			tensor.Flags, tensor.ExternalID = xnnpack.ExternalInput, i
		case 2:
			tensor.Flags, tensor.ExternalID = xnnpack.ExternalOutput, i
		}
		ids[i], err = sub.Define(tensor)
		require.NoError(t, err)
	}
	require.NoError(t, sub.Binary(xnnpack.Add, ids[0], ids[1], ids[3]))
	require.NoError(t, sub.Binary(xnnpack.Add, ids[3], ids[0], ids[4]))
	require.NoError(t, sub.Binary(xnnpack.Add, ids[4], ids[1], ids[2]))
	rt, err := xnnpack.NewRuntime(sub, nil, nil, pool, true, 3)
	require.NoError(t, err)
	return rt
}

func floats(m xnnpack.Memory) []float32 {
	return unsafe.Slice((*float32)(m.Pointer()), len(m.Bytes())/4)
}

func TestRun(t *testing.T) {
	const n = 1000
	for _, threads := range []int{1, 2} {
		var pool *xnnpack.Pool
		if threads > 1 {
			var err error
			pool, err = xnnpack.AcquirePool(threads)
			require.NoError(t, err)
			again, err := xnnpack.AcquirePool(threads)
			require.NoError(t, err)
			require.Same(t, pool, again)
			again.Release()
		}
		rt := add(t, pool, n)
		arena, err := xnnpack.NewArena()
		require.NoError(t, err)
		plan(t, arena, n, rt)
		shape, err := rt.Shape(2)
		require.NoError(t, err)
		require.Equal(t, []int{n}, shape)
		require.GreaterOrEqual(t, arena.Size(), 4*n)

		var mem [4]xnnpack.Memory
		for i := range mem {
			mem[i], err = xnnpack.Alloc(xnnpack.Tensors, 4*n)
			require.NoError(t, err)
			if i < 3 {
				rt.Bind(uint32(i), mem[i].Pointer())
			}
		}
		program, err := xnnpack.NewProgram([]xnnpack.Step{{Runtime: rt}},
			[]xnnpack.Copy{{To: mem[3].Pointer(), From: mem[2].Pointer(), Size: 4 * n}})
		require.NoError(t, err)
		for i := range n {
			floats(mem[0])[i], floats(mem[1])[i] = float32(i), float32(10*i)
		}
		require.NoError(t, program.Run())
		for i := range n {
			require.Equal(t, float32(22*i), floats(mem[2])[i])
			require.Equal(t, float32(22*i), floats(mem[3])[i])
		}
		times := rt.NodeTimes()
		require.Len(t, times, 3)
		for _, d := range times {
			require.Positive(t, d)
		}
		program.Close()
		program.Close()
		rt.Close()
		rt.Close()
		arena.Free()
		arena.Free()
		pool.Release()
		for i := range mem {
			mem[i].Free()
		}
	}
}

// plan does rounds until the arena fits and reports how many it took.
func plan(t *testing.T, arena *xnnpack.Arena, n int, rts ...*xnnpack.Runtime) (rounds int) {
	for rounds = 1; ; rounds++ {
		require.LessOrEqual(t, rounds, 2)
		arena.Begin()
		for _, rt := range rts {
			require.NoError(t, rt.Reshape(arena, []uint32{0, 1}, [][]int{{n}, {n}}))
		}
		if arena.Needed() <= arena.Size() {
			return rounds
		}
		require.NoError(t, arena.Resize(arena.Needed()))
	}
}

func TestArena(t *testing.T) {
	arena, err := xnnpack.NewArena()
	require.NoError(t, err)
	defer arena.Free()
	one := add(t, nil, 100)
	defer one.Close()
	require.Zero(t, arena.Size())
	require.Equal(t, 2, plan(t, arena, 100, one))
	small := arena.Size()
	require.GreaterOrEqual(t, small, 400)
	require.Equal(t, small, arena.Needed())
	require.Equal(t, 1, plan(t, arena, 100, one), "it fits now")
	require.Equal(t, 2, plan(t, arena, 10_000, one))
	require.Greater(t, arena.Size(), small)
	require.Equal(t, int64(1), xnnpack.Stats()[xnnpack.Arenas].Blocks, "the smaller block is gone")
	require.Equal(t, 1, plan(t, arena, 100, one))
	require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(arena.Bytes())))%4096)
}

// TestArenaOfTwo runs two runtimes in one arena, in turn, and finds the intermediate values of each in a place of its own.
func TestArenaOfTwo(t *testing.T) {
	const n = 1000
	arena, err := xnnpack.NewArena()
	require.NoError(t, err)
	defer arena.Free()
	var mem [3]xnnpack.Memory
	for i := range mem {
		mem[i], err = xnnpack.Alloc(xnnpack.Tensors, 4*n)
		require.NoError(t, err)
		defer mem[i].Free()
	}
	rts := []*xnnpack.Runtime{add(t, nil, n), add(t, nil, n)}
	plan(t, arena, n, rts...)
	for k, rt := range rts {
		defer rt.Close()
		for i := range mem {
			rt.Bind(uint32(i), mem[i].Pointer())
		}
		a, b := floats(mem[0]), floats(mem[1])
		for i := range n {
			a[i], b[i] = float32(1000*(k+1)), 1
		}
		program, err := xnnpack.NewProgram([]xnnpack.Step{{Runtime: rt}}, nil)
		require.NoError(t, err)
		require.NoError(t, program.Run())
		program.Close()
		require.Equal(t, float32(2000*(k+1)+2), floats(mem[2])[n-1])
	}
	var seen [2]int
	for _, f := range unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(arena.Bytes()))), arena.Size()/4) {
		switch f {
		case 1001, 2001: // a + b and (a + b) + a of the first
			seen[0]++
		case 4001:
			seen[1]++
		}
	}
	require.GreaterOrEqual(t, seen[0], n)
	require.GreaterOrEqual(t, seen[1], n)
}

// TestCopyOnly runs a program without steps.
func TestCopyOnly(t *testing.T) {
	var mem [2]xnnpack.Memory
	for i := range mem {
		var err error
		mem[i], err = xnnpack.Alloc(xnnpack.Tensors, 8)
		require.NoError(t, err)
		defer mem[i].Free()
	}
	copy(mem[0].Bytes(), "12345678")
	program, err := xnnpack.NewProgram(nil, []xnnpack.Copy{{To: mem[1].Pointer(), From: mem[0].Pointer(), Size: 8}})
	require.NoError(t, err)
	defer program.Close()
	require.NoError(t, program.Run())
	require.Equal(t, "12345678", string(mem[1].Bytes()))
}

// TestTiles cuts 10 rows of 100 into a grid of 10 by 4 tiles, the last of each row shorter, and lets two lanes share them. Of
// the operands, a moves with both dimensions and b, one row, with the second alone.
func TestTiles(t *testing.T) {
	const rows, width, chunk = 10, 100, 32
	pool, err := xnnpack.AcquirePool(2)
	require.NoError(t, err)
	defer pool.Release()
	arena, err := xnnpack.NewArena()
	require.NoError(t, err)
	defer arena.Free()
	var rts []*xnnpack.Runtime
	for range 2 {
		rts = append(rts, add(t, nil, chunk), add(t, nil, width%chunk))
	}
	for round := range 2 {
		arena.Begin()
		for i, rt := range rts {
			n := []int{chunk, width % chunk}[i%2]
			require.NoError(t, rt.Reshape(arena, []uint32{0, 1}, [][]int{{n}, {n}}))
		}
		if round == 0 {
			require.NoError(t, arena.Resize(arena.Needed()))
		}
	}
	lanes := []xnnpack.Lane{{Full: rts[0], Last: rts[1]}, {Full: rts[2], Last: rts[3]}}
	tiles, err := xnnpack.NewTiles([]int{rows, 4}, lanes, 3, 3, pool)
	require.NoError(t, err)
	var mem [3]xnnpack.Memory
	for i := range mem {
		mem[i], err = xnnpack.Alloc(xnnpack.Tensors, 4*rows*width)
		require.NoError(t, err)
		defer mem[i].Free()
	}
	tiles.Bind(0, mem[0].Pointer(), []int{4 * width, 4 * chunk})
	tiles.Bind(1, mem[1].Pointer(), []int{0, 4 * chunk})
	tiles.Bind(2, mem[2].Pointer(), []int{4 * width, 4 * chunk})
	a, b, out := floats(mem[0]), floats(mem[1]), floats(mem[2])
	for i := range a {
		a[i], b[i] = float32(i), float32(10_000*(i+1))
	}
	program, err := xnnpack.NewProgram([]xnnpack.Step{{Tiles: tiles}}, nil)
	require.NoError(t, err)
	for range 100 {
		clear(out)
		require.NoError(t, program.Run())
		for i := range out {
			require.Equal(t, float32(2*i+20_000*(i%width+1)), out[i])
		}
	}
	times := tiles.NodeTimes()
	require.Len(t, times, 3)
	for _, d := range times {
		require.Positive(t, d)
	}
	program.Close()
	tiles.Close()
	tiles.Close()
	for _, rt := range rts {
		rt.Close()
	}
	require.Positive(t, xnnpack.CacheBytes(1))
	require.Greater(t, xnnpack.CacheBytes(2), xnnpack.CacheBytes(1))
}
