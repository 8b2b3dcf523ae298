//go:build amd64 || arm64

package schema

import (
	"encoding/binary"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// 2 GiB - 1 is the largest FlatBuffer. Memory is mapped and hardly touched, so the test needs none to speak of.
func TestVerifyLargestFile(t *testing.T) {
	const size = math.MaxInt32
	b, err := syscall.Mmap(-1, 0, size+1, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		t.Skip("no room for a mapping of 2 GiB:", err)
	}
	defer func() { require.NoError(t, syscall.Munmap(b)) }()

	// The file's tables at the very end, where a signed sum of positions is one step from wrapping.
	small := handmade()
	at := (size - len(small)) &^ 3
	copy(b[at:], small)
	binary.LittleEndian.PutUint32(b, uint32(at+24))
	require.NoError(t, Verify(b[:size], XNNGraph(), Limits{}))
	require.NotZero(t, walkXNNGraph(b[:size]))

	binary.LittleEndian.PutUint32(b[at+24:], uint32(1)<<31) // a vtable 2 GiB after its table
	requireDetail(t, Verify(b[:size], XNNGraph(), Limits{}), "XNNGraph: vtable needs 4 bytes at byte 42949",
		"the file has 2147483647")
	requireDetail(t, Verify(b, XNNGraph(), Limits{}), "XNNGraph: file of 2147483648 bytes, a FlatBuffer has at most 2147483647")
}
