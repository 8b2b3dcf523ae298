package graph_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"
	"unsafe"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
	"github.com/xnngo/xnngo/xnn/graph"
)

// framed puts a header before a FlatBuffer and constants behind it, as ExecuTorch's exporter does: the FlatBuffer at byte 32, the
// constants at the next multiple of 16.
func framed(flat, constants []byte) []byte {
	padded := append(flat[:len(flat):len(flat)], make([]byte, -len(flat)&15)...)
	file := append([]byte("\x00\x00\x00\x00XH00\x1e\x00"), make([]byte, 22)...)
	binary.LittleEndian.PutUint32(file[10:], 32)
	binary.LittleEndian.PutUint32(file[14:], uint32(len(flat)))
	binary.LittleEndian.PutUint32(file[18:], uint32(32+len(padded)))
	binary.LittleEndian.PutUint64(file[22:], uint64(len(constants)))
	return append(append(file, padded...), constants...)
}

// addBehind is y = x + c, c of three numbers behind the FlatBuffer, which is flatc's.
func addBehind(t testing.TB) []byte {
	data, err := os.ReadFile(testdata + "executorch/bad/constant_data_without_header.bin")
	require.NoError(t, err)
	return data
}

func TestHeader(t *testing.T) {
	want := graph.New()
	want.Output(want.Add(want.Input(graph.Float32, 3), want.Constant([]float32{10, 20, 30}, 3)))
	require.NoError(t, want.Check())
	file := framed(addBehind(t), little(10, 20, 30))
	for name, edit := range map[string]func([]byte) []byte{
		"as ExecuTorch writes it": func(b []byte) []byte { return b },
		"the older identifier":    func(b []byte) []byte { copy(b[32+4:], "XN00"); return b },
		"our identifier":          func(b []byte) []byte { copy(b[32+4:], "XNNG"); return b },
		"a longer header":         func(b []byte) []byte { b[8] = 32; return b },
		"bytes behind":            func(b []byte) []byte { return append(b, 1, 2, 3) },
		"a gap between": func(b []byte) []byte {
			at := binary.LittleEndian.Uint32(b[18:])
			binary.LittleEndian.PutUint32(b[18:], at+5)
			return append(append(b[:at:at], 1, 2, 3, 4, 5), little(10, 20, 30)...)
		},
	} {
		g, err := graph.Unmarshal(edit(append([]byte(nil), file...)))
		require.NoError(t, err, name)
		require.Equal(t, canonical(want), canonical(g), name)
	}

	// Without constants the region is empty and may lie at the very end.
	data, err := os.ReadFile(testdata + "executorch/abs.bin")
	require.NoError(t, err)
	_, err = graph.Unmarshal(framed(data, nil))
	require.NoError(t, err)
}

func TestHeaderRejects(t *testing.T) {
	flat := addBehind(t)
	file := framed(flat, little(10, 20, 30))
	size, end := uint64(len(file)), uint32(32+len(flat))
	at := binary.LittleEndian.Uint32(file[18:])
	u32 := func(offset int, v uint32) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[offset:], v); return b }
	}
	identifier := func(s string) func([]byte) []byte {
		return func(b []byte) []byte { copy(b[32+4:], s); return b }
	}
	u64 := func(offset int, v uint64) func([]byte) []byte {
		return func(b []byte) []byte { binary.LittleEndian.PutUint64(b[offset:], v); return b }
	}
	for _, c := range []struct {
		name  string
		edit  func([]byte) []byte
		kind  error
		parts []string
	}{
		{"cut in the header", func(b []byte) []byte { return b[:29] }, schema.ErrFormat, []string{"header", "30", "29"}},
		{"only the mark", func(b []byte) []byte { return b[:8] }, schema.ErrFormat, []string{"header", "30", "8"}},
		{"not zero at first", u32(0, 7), schema.ErrFormat, []string{"header", "0x00000007"}},
		{"header too short", func(b []byte) []byte { b[8] = 29; return b }, schema.ErrFormat, []string{"header", "29 bytes", "30"}},
		{"header of no length", func(b []byte) []byte { b[8] = 0; return b }, schema.ErrFormat, []string{"header", "0 bytes"}},
		{"header past the file", func(b []byte) []byte { b[9] = 255; return b }, schema.ErrFormat, []string{"header", "65310"}},
		{"header over the FlatBuffer", func(b []byte) []byte { b[8] = 33; return b }, schema.ErrFormat, []string{"byte 32", "33"}},
		{"FlatBuffer in the header", u32(10, 29), schema.ErrFormat, []string{"FlatBuffer", "29", "30"}},
		{"FlatBuffer at 0", u32(10, 0), schema.ErrFormat, []string{"FlatBuffer", "byte 0"}},
		{"FlatBuffer past the file", u32(10, math.MaxUint32), schema.ErrFormat, []string{"FlatBuffer", "4294967295"}},
		{"FlatBuffer too long", u32(14, uint32(size)), schema.ErrFormat, []string{"FlatBuffer", "leaves the file"}},
		{"FlatBuffer far too long", u32(14, math.MaxUint32), schema.ErrFormat, []string{"FlatBuffer", "4294967295"}},
		{"FlatBuffer empty", func(b []byte) []byte { return u32(18, 32)(u32(14, 0)(b)) }, schema.ErrFormat, []string{"identifiers"}},
		{"FlatBuffer cut", u32(14, 100), schema.ErrFormat, []string{"XNNGraph"}},
		{"constants in the FlatBuffer", u32(18, end-1), schema.ErrFormat, []string{"constants", "before the end of the FlatBuffer"}},
		{"constants at 0", u32(18, 0), schema.ErrFormat, []string{"constants", "byte 0"}},
		{"constants past the file", u32(18, uint32(size+1)), schema.ErrFormat, []string{"constants", "leave the file"}},
		{"constants far past it", u32(18, math.MaxUint32), schema.ErrFormat, []string{"constants", "4294967295"}},
		{"constants too long", u64(22, 13), schema.ErrFormat, []string{"constants", "13 bytes", "leave the file"}},
		{"length that wraps", u64(22, math.MaxUint64), schema.ErrFormat, []string{"constants", "18446744073709551615"}},
		{"length that wraps to the end", u64(22, math.MaxUint64-uint64(at)+1+40), schema.ErrFormat, []string{"leave the file"}},
		{"file cut", func(b []byte) []byte { return b[:len(b)-1] }, schema.ErrFormat, []string{"12 bytes", "leave the file"}},
		{"constants too short", u64(22, 11), schema.ErrGraph, []string{"constant_data[1]", "12 bytes", "region of 11"}},
		{"no constants", u64(22, 0), schema.ErrGraph, []string{"constant_data[1]", "region of 0"}},
		{"a header in a header", identifier("XH00"), schema.ErrFormat, []string{"identifiers"}},
		{"no identifier", identifier("\x00\x00\x00\x00"), schema.ErrFormat, []string{"identifiers"}},
		{"an unknown identifier", identifier("XN02"), schema.ErrFormat, []string{"identifiers"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := graph.Unmarshal(c.edit(append([]byte(nil), file...)))
			require.ErrorIs(t, err, c.kind)
			for _, p := range c.parts {
				require.ErrorContains(t, err, p)
			}
		})
	}
	for n := range file {
		_, err := graph.Unmarshal(file[:n:n])
		require.Error(t, err, "cut at %d", n)
	}
}

// behind is a file of y = x + c whose constant_data entry is this.
func behind(offset, size uint64, key string, region []byte) []byte {
	b := flatbuffers.NewBuilder(256)
	list := func(at ...flatbuffers.UOffsetT) flatbuffers.UOffsetT {
		b.StartVector(4, len(at), 4)
		for i := len(at) - 1; i >= 0; i-- {
			b.PrependUOffsetT(at[i])
		}
		return b.EndVector(len(at))
	}
	name := b.CreateString(key)
	entry := func(offset, size uint64, key bool) flatbuffers.UOffsetT {
		xnngraph.ConstantDataOffsetStart(b)
		xnngraph.ConstantDataOffsetAddOffset(b, offset)
		xnngraph.ConstantDataOffsetAddSize(b, size)
		if key {
			xnngraph.ConstantDataOffsetAddNamedKey(b, name)
		}
		return xnngraph.ConstantDataOffsetEnd(b)
	}
	data := list(entry(math.MaxUint64, math.MaxUint64, false), entry(offset, size, key != "")) // entry 0 is not read
	value := func(id, constant, external, flags uint32) flatbuffers.UOffsetT {
		b.StartVector(4, 1, 4)
		b.PrependUint32(3)
		dims := b.EndVector(1)
		xnngraph.XNNTensorValueStart(b)
		xnngraph.XNNTensorValueAddDatatype(b, 1)
		xnngraph.XNNTensorValueAddNumDims(b, 1)
		xnngraph.XNNTensorValueAddDims(b, dims)
		xnngraph.XNNTensorValueAddConstantBufferIdx(b, constant)
		xnngraph.XNNTensorValueAddExternalId(b, external)
		xnngraph.XNNTensorValueAddFlags(b, flags)
		xnngraph.XNNTensorValueAddIdOut(b, id)
		tensor := xnngraph.XNNTensorValueEnd(b)
		xnngraph.XValueStart(b)
		xnngraph.XValueAddXvalueType(b, xnngraph.XValueUnionXNNTensorValue)
		xnngraph.XValueAddXvalue(b, tensor)
		return xnngraph.XValueEnd(b)
	}
	values := list(value(0, 0, 0, 1), value(2, 1, math.MaxUint32, 0), value(1, 0, 1, 2))
	xnngraph.XNNNode2x1Start(b)
	xnngraph.XNNNode2x1AddInput2Id(b, 2)
	xnngraph.XNNNode2x1AddOutputId(b, 1)
	add := xnngraph.XNNNode2x1End(b)
	xnngraph.XNodeStart(b)
	xnngraph.XNodeAddXnodeType(b, xnngraph.XNodeUnionXNNAdd)
	xnngraph.XNodeAddXnode(b, add)
	nodes := list(xnngraph.XNodeEnd(b))
	xnngraph.XNNGraphStart(b)
	xnngraph.XNNGraphAddXnodes(b, nodes)
	xnngraph.XNNGraphAddXvalues(b, values)
	xnngraph.XNNGraphAddNumExterns(b, 2)
	xnngraph.XNNGraphAddConstantData(b, data)
	b.FinishWithFileIdentifier(xnngraph.XNNGraphEnd(b), []byte("XN01"))
	return framed(b.FinishedBytes(), region)
}

// TestConstantsBehind: offsets into the region, and what lies in no region.
func TestConstantsBehind(t *testing.T) {
	region := append(little(1, 2), little(10, 20, 30, 40)...)
	for _, offset := range []uint64{8, 12, 0} {
		g, err := graph.Unmarshal(behind(offset, 12, "", region))
		require.NoError(t, err)
		require.Equal(t, region[offset:offset+12], g.Constants[1].Data)
	}
	g, err := graph.Unmarshal(behind(0, 24, "", region))
	require.NoError(t, err, "more than the value needs")
	require.Equal(t, region, g.Constants[1].Data)
	for _, c := range []struct {
		offset, size uint64
		key          string
		kind         error
		parts        []string
	}{
		{12, 13, "", schema.ErrGraph, []string{"constant_data[1]", "13 bytes at byte 12", "24"}},
		{25, 0, "", schema.ErrGraph, []string{"constant_data[1]", "byte 25", "24"}},
		{math.MaxUint64 - 3, 12, "", schema.ErrGraph, []string{"constant_data[1]", "18446744073709551612"}},
		{8, math.MaxUint64 - 7, "", schema.ErrGraph, []string{"constant_data[1]", "18446744073709551608"}},
		{1 << 63, 1 << 63, "", schema.ErrGraph, []string{"constant_data[1]"}},
		{0, 11, "", schema.ErrGraph, []string{"value 2", "12 bytes", "11"}},
		{24, 0, "", schema.ErrGraph, []string{"value 2", "12 bytes", "0"}},
		{math.MaxUint64, 12, "", schema.ErrGraph, []string{"constant_data[1]", "named_key"}},
		{math.MaxUint64, 12, "a.b", schema.ErrUnsupported, []string{"value 2", "constant_buffer_idx 1", `"a.b"`}},
		{0, 12, "a.b", schema.ErrUnsupported, []string{"value 2", `"a.b"`}},
	} {
		_, err := graph.Unmarshal(behind(c.offset, c.size, c.key, region))
		require.ErrorIs(t, err, c.kind)
		for _, p := range c.parts {
			require.ErrorContains(t, err, p)
		}
	}
}

// TestManyConstants: more than 1 MiB of constants lie behind the FlatBuffer, at cache lines, with room for kernels to read past
// the last.
func TestManyConstants(t *testing.T) {
	big := make([]float32, 1<<18)
	for i := range big {
		big[i] = float32(i)
	}
	g := graph.New()
	x := g.Input(graph.Float32, 1<<18)
	y := g.Add(x, g.Constant(big, 1<<18))
	y = g.Multiply(y, g.Constant([]float32{2}))
	y = g.Multiply(y, g.Constant(big[:5], 5, 1))
	g.Output(y)
	g.Constants[2].Reserve = 64
	g.ArenaBytes, g.SpareBuffers, g.Version = 77, []uint32{5, 6}, "v"
	file := marshalled(t, g)
	require.Equal(t, "XH00", string(file[4:8]))
	require.Equal(t, "XN01", string(file[32+4:32+8]))
	require.Equal(t, "ExecuTorch", g.Dialect())
	again, err := graph.Unmarshal(file)
	require.NoError(t, err)
	require.Equal(t, withoutRefs(g), withoutRefs(again))
	start := uintptr(unsafe.Pointer(unsafe.SliceData(file)))
	for _, c := range again.Constants[1:] {
		at := uintptr(unsafe.Pointer(unsafe.SliceData(c.Data))) - start
		require.Zero(t, at%64)
		require.LessOrEqual(t, int(at)+len(c.Data)+128, len(file))
	}
	flat, _ := graph.Split(file)
	require.Less(t, len(flat), 4096)

	// The seed dialect has no word for them, and stays what all readers know.
	g = graph.New()
	g.Output(g.Add(g.Input(graph.Float32, 1<<18), g.Constant(big, 1<<18)))
	file = marshalled(t, g)
	require.Equal(t, "seed", g.Dialect())
	require.NotEqual(t, "XH00", string(file[4:8]))
}

// TestHugeConstants are more than a FlatBuffer can hold.
func TestHugeConstants(t *testing.T) {
	if os.Getenv("XNNGO_LONG") == "" {
		t.Skip("takes 10 GiB of memory: set XNNGO_LONG=1")
	}
	const n = 1100 << 20
	data := make([]byte, 4*n)
	data[len(data)-1] = 0x40
	g := graph.New()
	g.Output(g.Add(g.Input(graph.Float32, n), g.ConstantOf(graph.Type{DType: graph.Float32, Shape: graph.Shape{n}}, data)))
	file := marshalled(t, g)
	require.Equal(t, "XH00", string(file[4:8]))
	again, err := graph.Unmarshal(file)
	require.NoError(t, err)
	require.Len(t, again.Constants[1].Data, len(data))
	require.EqualValues(t, 0x40, again.Constants[1].Data[len(data)-1])
	require.Zero(t, again.Constants[1].Reserve, "32 bits cannot say it")
}
