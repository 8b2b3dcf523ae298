package schema

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// handmade is an XNNGraph put together byte by byte: version "ab", and one tensor value of dims [3,4].
func handmade() []byte {
	b := make([]byte, 104)
	u16 := func(at int, values ...uint16) {
		for i, v := range values {
			binary.LittleEndian.PutUint16(b[at+2*i:], v)
		}
	}
	u32 := func(at int, values ...uint32) {
		for i, v := range values {
			binary.LittleEndian.PutUint32(b[at+4*i:], v)
		}
	}
	u32(0, 24)                  // root
	u16(4, 12, 16, 4, 0, 8, 12) // vtable of the graph: version, xnodes (absent), xvalues, num_externs
	u16(16, 8, 12, 4, 8)        // vtable of the XValue: tag, value
	u32(24, 20, 12, 16, 1)      // the graph: vtable at 4, version at 40, xvalues at 48, num_externs
	u32(40, 2)                  // the version
	copy(b[44:], "ab\x00")
	u32(48, 1, 4)         // xvalues: one, at 56
	u32(56, 40, 1, 16)    // the XValue: vtable at 16, tag 1, value at 80
	u16(68, 10, 12, 8, 0) // vtable of the tensor: datatype, num_dims (absent),
	u16(76, 4)            // dims
	u32(80, 12, 8, 1)     // the tensor: vtable at 68, dims at 92, datatype 1
	u32(92, 2, 3, 4)      // dims: two
	return b
}

func put16(at int, v uint16) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint16(b[at:], v); return b }
}

func put32(at int, v uint32) func([]byte) []byte {
	return func(b []byte) []byte { binary.LittleEndian.PutUint32(b[at:], v); return b }
}

func cut(n int) func([]byte) []byte { return func(b []byte) []byte { return b[:n] } }

func both(edits ...func([]byte) []byte) func([]byte) []byte {
	return func(b []byte) []byte {
		for _, edit := range edits {
			b = edit(b)
		}
		return b
	}
}

func TestVerifyRejects(t *testing.T) {
	const tensor = "XNNGraph.xvalues[0].xvalue"
	for _, c := range []struct {
		name string
		edit func([]byte) []byte
		want string // the whole Detail
	}{
		{"no file", func([]byte) []byte { return nil }, "XNNGraph: head of the file needs 4 bytes at byte 0, the file has 0"},
		{"three bytes", cut(3), "XNNGraph: head of the file needs 4 bytes at byte 0, the file has 3"},
		{"root 0", put32(0, 0), "XNNGraph: offset at byte 0 is 0, it must point past itself"},
		{"root outside", put32(0, 104), "XNNGraph: offset 104 at byte 0 leaves the file of 104 bytes"},
		{"root far outside", put32(0, 4294967295), "XNNGraph: offset 4294967295 at byte 0 leaves the file of 104 bytes"},
		{"root in the head", put32(0, 2), "XNNGraph: root offset 2 points into the head of 4 bytes"},
		{"root at the end", put32(0, 101), "XNNGraph: table needs 4 bytes at byte 101, the file has 104"},
		{"vtable before the file", put32(24, 25), "XNNGraph: vtable needs 4 bytes at byte -1, the file has 104"},
		{"vtable after the file", put32(24, 0xffffffb0), "XNNGraph: vtable needs 4 bytes at byte 104, the file has 104"},
		{"vtable far away", put32(24, 0x80000000), "XNNGraph: vtable needs 4 bytes at byte 2147483672, the file has 104"},
		{"vtable of odd length", put16(4, 13), "XNNGraph: vtable at byte 4 is 13 bytes long, needed an even number of at least 4"},
		{"vtable of length 2", put16(4, 2), "XNNGraph: vtable at byte 4 is 2 bytes long, needed an even number of at least 4"},
		{"vtable too long", put16(4, 102), "XNNGraph: vtable needs 102 bytes at byte 4, the file has 104"},
		{"table of 2 bytes", put16(6, 2), "XNNGraph: table at byte 24 is 2 bytes long, needed at least 4"},
		{"table too long", put16(6, 81), "XNNGraph: table needs 81 bytes at byte 24, the file has 104"},
		{"field past its table", put16(8, 13),
			"XNNGraph.version: field of 4 bytes at byte 13 of a table of 16 bytes, needed between byte 4 and its end"},
		{"field in the head of its table", put16(8, 3),
			"XNNGraph.version: field of 4 bytes at byte 3 of a table of 16 bytes, needed between byte 4 and its end"},
		{"scalar past its table", put16(14, 65535),
			"XNNGraph.num_externs: field of 4 bytes at byte 65535 of a table of 16 bytes, needed between byte 4 and its end"},
		{"string outside", put32(28, 76), "XNNGraph.version: offset 76 at byte 28 leaves the file of 104 bytes"},
		{"string without its length", put32(28, 73), "XNNGraph.version: string needs 4 bytes at byte 101, the file has 104"},
		{"string too long", put32(40, 61),
			"XNNGraph.version: string of 61 elements of 1 bytes at byte 44 leaves the file of 104 bytes"},
		{"string far too long", put32(40, 4294967295),
			"XNNGraph.version: string of 4294967295 elements of 1 bytes at byte 44 leaves the file of 104 bytes"},
		{"string without end", put32(40, 1), "XNNGraph.version: string of 1 bytes at byte 44 ends in byte 0x62, needed 0"},
		{"string up to the end of the file", put32(40, 60),
			"XNNGraph.version: end of the string needs 1 bytes at byte 104, the file has 104"},
		{"vector outside", put32(32, 4294967295), "XNNGraph.xvalues: offset 4294967295 at byte 32 leaves the file of 104 bytes"},
		{"vector too long", put32(48, 14),
			"XNNGraph.xvalues: vector of 14 elements of 4 bytes at byte 52 leaves the file of 104 bytes"},
		{"vector whose size wraps", put32(48, 0x40000001),
			"XNNGraph.xvalues: vector of 1073741825 elements of 4 bytes at byte 52 leaves the file of 104 bytes"},
		{"element 0", put32(52, 0), "XNNGraph.xvalues[0]: offset at byte 52 is 0, it must point past itself"},
		{"element outside", put32(52, 52), "XNNGraph.xvalues[0]: offset 52 at byte 52 leaves the file of 104 bytes"},
		{"tag past its table", put16(20, 12),
			"XNNGraph.xvalues[0].xvalue_type: field of 1 bytes at byte 12 of a table of 12 bytes, needed between byte 4 and its end"},
		{"value without tag", put16(20, 0), tensor + ": union has a value and no tag"},
		{"value with tag NONE", put32(60, 0), tensor + ": union has a value and no tag"},
		{"tag without value", put16(22, 0), tensor + ": union has tag 1 and no value"},
		{"value outside", put32(64, 40), tensor + ": offset 40 at byte 64 leaves the file of 104 bytes"},
		{"unknown tag, value outside", both(put32(60, 200), put32(64, 40)),
			tensor + ": offset 40 at byte 64 leaves the file of 104 bytes"},
		{"scalar vector too long", put32(92, 3),
			tensor + ".dims: vector of 3 elements of 4 bytes at byte 96 leaves the file of 104 bytes"},
		{"scalar vector whose size wraps", put32(92, 0x40000001),
			tensor + ".dims: vector of 1073741825 elements of 4 bytes at byte 96 leaves the file of 104 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Verify(c.edit(handmade()), XNNGraph(), Limits{})
			var e *Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.want, e.Detail)
			require.Equal(t, StageVerify, e.Stage)
			require.ErrorIs(t, err, ErrFormat)
		})
	}
}

func TestVerifyAccepts(t *testing.T) {
	for name, edit := range map[string]func([]byte) []byte{
		"as it is":                      both(),
		"unknown tag":                   put32(60, 200),
		"unknown tag, any bytes behind": both(put32(60, 200), put32(64, 39)),
		"no union at all":               both(put16(20, 0), put16(22, 0)),
		"explicit NONE":                 both(put32(60, 0), put16(22, 0)),
		"vtable that ends early":        put16(68, 4),
		"vtable with newer fields":      put16(16, 14), // what follows is then entries beyond the schema, one past the table
		"shared vtable":                 both(put16(16, 6), put16(20, 0)),
		"misaligned scalar":             put16(14, 11),
		"misaligned table":              func(b []byte) []byte { return misaligned(b) },
		"bytes after the last table":    func(b []byte) []byte { return append(b, 1, 2, 3) },
		"empty vector at the very end":  both(put32(92, 0), cut(96)),
		"number no datatype has":        put16(88, 99),
	} {
		t.Run(name, func(t *testing.T) {
			b := edit(handmade())
			require.NoError(t, Verify(b, XNNGraph(), Limits{}))
			walkXNNGraph(b)
		})
	}
}

// misaligned moves everything but the root offset one byte up.
func misaligned(b []byte) []byte {
	moved := append([]byte{25, 0, 0, 0, 0}, b[4:]...)
	return moved
}

// The last byte of the file is in use, so no cut of it may pass.
func TestVerifyTruncated(t *testing.T) {
	b := handmade()
	for n := range b {
		require.Error(t, Verify(b[:n:n], XNNGraph(), Limits{}), "cut to %d bytes", n)
	}
}

func TestVerifyNeedsADescription(t *testing.T) {
	require.ErrorIs(t, Verify(handmade(), nil, Limits{}), ErrArgument)
}

// The description is one value however often it is asked for, and asking is safe from many goroutines.
func TestXNNGraphDescription(t *testing.T) {
	d := XNNGraph()
	require.Same(t, d, XNNGraph())
	require.Equal(t, "xnngraph.XNNGraph", d.tables[d.root].name)
	require.Empty(t, d.ident)
}

func TestVerifyAllocatesNothing(t *testing.T) {
	b, d := handmade(), XNNGraph()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := Verify(b, d, Limits{}); err != nil {
			t.Error(err)
		}
	}))
}

// detail gives the Detail of an *Error, or "" where err is none.
func detail(err error) string {
	var e *Error
	if errors.As(err, &e) {
		return e.Detail
	}
	return ""
}

func requireDetail(t *testing.T, err error, parts ...string) {
	t.Helper()
	require.ErrorIs(t, err, ErrFormat)
	for _, part := range parts {
		require.True(t, strings.Contains(detail(err), part), "%q lacks %q", detail(err), part)
	}
}
