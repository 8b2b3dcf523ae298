package xnn

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// resum makes the checksums of a file of packed weights right, where its table can be found.
func resum(b []byte) {
	le := binary.LittleEndian
	if len(b) < weightsHeader {
		return
	}
	count := min(le.Uint64(b[40:]), uint64(len(b)-weightsHeader)/weightsEntry)
	for i := range count {
		e := b[weightsHeader+i*weightsEntry:]
		if from, size := le.Uint64(e[8:]), le.Uint64(e[16:]); from <= uint64(len(b)) && size <= uint64(len(b))-from {
			le.PutUint32(e[28:], crc32.Checksum(b[from:from+size], castagnoli))
		}
	}
	le.PutUint32(b[56:], tableSum(b, b[weightsHeader:][:count*weightsEntry]))
}

// TestWeightsFileDamaged: what is no file as it was written, or has other weights than the model needs, is made anew, with the
// right answer.
func TestWeightsFileDamaged(t *testing.T) {
	nothingHeld(t)
	data, err := packing().Marshal()
	require.NoError(t, err)
	folder := t.TempDir()
	want, _, err := answered(t, data, "")
	require.NoError(t, err)
	_, _, err = answered(t, data, folder)
	require.NoError(t, err)
	path := keptFile(t, folder)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	le := binary.LittleEndian
	entry := func(b []byte, i int) []byte { return b[weightsHeader+i*weightsEntry:] }
	last := int(le.Uint64(good[40:])) - 1
	add := func(at int, by uint64) func(b []byte) []byte {
		return func(b []byte) []byte {
			le.PutUint64(b[at:], le.Uint64(b[at:])+by)
			return b
		}
	}
	inEntry := func(i, at int, by uint64) func(b []byte) []byte {
		return func(b []byte) []byte {
			e := entry(b, i)[at:]
			le.PutUint64(e, le.Uint64(e)+by)
			return b
		}
	}
	cases := map[string]func(b []byte) []byte{
		"empty":            func(b []byte) []byte { return nil },
		"another kind":     func(b []byte) []byte { return []byte("#!/bin/sh\nexit 1\n") },
		"half a header":    func(b []byte) []byte { return b[:weightsHeader/2] },
		"a header":         func(b []byte) []byte { return b[:weightsHeader] },
		"half a table":     func(b []byte) []byte { return b[:weightsHeader+weightsEntry+8] },
		"cut":              func(b []byte) []byte { return b[:len(b)-1] },
		"cut, and says so": func(b []byte) []byte { return add(48, ^uint64(63))(b)[:len(b)-64] },
		"longer":           func(b []byte) []byte { return append(b, 0) },
		"zeros":            func(b []byte) []byte { clear(b[weightsHeader:]); return b },
		"magic":            add(0, 1), "key": add(8, 1), "no entries": func(b []byte) []byte { le.PutUint64(b[40:], 0); return b },
		"more entries": add(40, 1), "very many": add(40, 1<<60), "one less": add(40, ^uint64(0)),
		"size": add(48, 64), "huge": add(48, 1<<63),
		"another node":  func(b []byte) []byte { le.PutUint64(entry(b, 0), 5<<8); return b },
		"no such node":  func(b []byte) []byte { le.PutUint64(entry(b, 0), 1<<40); return b },
		"another part":  inEntry(0, 0, 1),
		"another seed":  func(b []byte) []byte { entry(b, last)[24] ^= 4; return b },
		"misaligned":    inEntry(1, 8, 4),
		"in the header": func(b []byte) []byte { le.PutUint64(entry(b, 0)[8:], 0); return b },
		"overlap":       func(b []byte) []byte { copy(entry(b, 1)[8:], entry(b, 0)[8:16]); return b },
		"behind":        inEntry(last, 8, 1<<20), "wrapped": inEntry(last, 8, 1<<63), "larger": inEntry(0, 16, 1<<40),
		"to the end": inEntry(last, 16, 64), "wrapped size": inEntry(0, 16, 1<<63),
		"smaller": inEntry(0, 16, ^uint64(63)), "nothing": func(b []byte) []byte { le.PutUint64(entry(b, last)[16:], 0); return b },
		"a few bytes less": inEntry(last, 16, ^uint64(0)),
	}
	for name, damage := range cases {
		for _, sound := range []bool{false, true} {
			b := damage(bytes.Clone(good))
			if sound {
				resum(b)
			}
			require.NoError(t, os.WriteFile(path, b, 0o600))
			bits, found, err := answered(t, data, folder)
			require.NoError(t, err, name)
			require.Equal(t, want, bits, name)
			// A file that is right in itself, but lacks some weights, serves with those that it has.
			lacks := sound && (name == "one less" || name == "another node" || name == "no such node" || name == "another part")
			if !lacks {
				require.False(t, found, name)
				now, err := os.ReadFile(path)
				require.NoError(t, err)
				require.Equal(t, good, now, "%s: made anew", name)
			}
		}
	}
	for i := range good { // every byte, of the checksums, too
		if i >= weightsHeader+(last+1)*weightsEntry && i%101 != 0 {
			continue
		}
		b := bytes.Clone(good)
		b[i] ^= 0x10
		var key [32]byte
		copy(key[:], good[8:40])
		_, err := checkWeights(bytes.NewReader(b), int64(len(b)), key)
		covered := i < 60 || i >= weightsHeader && inWeights(good, i)
		require.Equal(t, covered, err != nil, "byte %d", i)
	}
}

// inWeights tells whether a byte is of the table, or of weights.
func inWeights(b []byte, at int) bool {
	le := binary.LittleEndian
	count := int(le.Uint64(b[40:]))
	if at < weightsHeader+count*weightsEntry {
		return true
	}
	for i := range count {
		e := b[weightsHeader+i*weightsEntry:]
		if from := int(le.Uint64(e[8:])); at >= from && at < from+int(le.Uint64(e[16:])) {
			return true
		}
	}
	return false
}

// TestWeightsFileOfOthers is not taken: who may write it could make the model compute anything.
func TestWeightsFileOfOthers(t *testing.T) {
	data, err := packing().Marshal()
	require.NoError(t, err)
	folder := t.TempDir()
	for _, mode := range []os.FileMode{0o600, 0o622, 0o602, 0o644, 0o400} {
		want, _, err := answered(t, data, folder)
		require.NoError(t, err)
		path := keptFile(t, folder)
		require.NoError(t, os.Chmod(path, mode))
		bits, found, err := answered(t, data, folder)
		require.NoError(t, err)
		require.Equal(t, want, bits)
		require.Equal(t, mode&0o022 == 0, found, mode)
	}
	if os.Geteuid() == 0 {
		path := keptFile(t, folder)
		require.NoError(t, os.Chown(path, 12345, -1))
		_, found, err := answered(t, data, folder)
		require.NoError(t, err)
		require.False(t, found)
		_, found, err = answered(t, data, folder)
		require.NoError(t, err)
		require.True(t, found, "made anew")
	}
}

// TestWeightsFileMutated: thousands of changed files, half of them with right checksums, end neither the process nor the right
// answer.
func TestWeightsFileMutated(t *testing.T) {
	nothingHeld(t)
	count := 3000
	if instrumented {
		count = 300
	}
	if long {
		count = 300_000
	}
	data, err := packing().Marshal()
	require.NoError(t, err)
	folder := t.TempDir()
	if inMemory, err := os.MkdirTemp("/dev/shm", "xnn"); err == nil { // where to sync a file takes no time
		t.Cleanup(func() { os.RemoveAll(inMemory) })
		folder = inMemory
	}
	want, _, err := answered(t, data, folder)
	require.NoError(t, err)
	path := keptFile(t, folder)
	good, err := os.ReadFile(path)
	require.NoError(t, err)
	table := weightsHeader + int(binary.LittleEndian.Uint64(good[40:]))*weightsEntry
	r := rand.New(rand.NewPCG(3, 4))
	used := 0
	for i := range count {
		b := bytes.Clone(good)
		for range 1 + r.IntN(3) {
			at := r.IntN(table)
			switch r.IntN(4) {
			case 0:
				b[at] ^= 1 << r.IntN(8)
			case 1:
				b[at] = byte(r.Uint32())
			case 2:
				copy(b[at&^7:table], b[r.IntN(table)&^7:][:8])
			case 3:
				numbers := []uint64{0, 64, 1 << 63, ^uint64(0), uint64(len(b)), uint64(r.IntN(len(b)))}
				binary.LittleEndian.PutUint64(b[at&^7:], numbers[r.IntN(len(numbers))])
			}
		}
		if i%2 == 0 {
			copy(b[:56], good) // so that the table is looked at
			resum(b)
		}
		require.NoError(t, os.WriteFile(path, b, 0o600))
		bits, found, err := answered(t, data, folder)
		require.NoError(t, err)
		if found {
			used++
			// Weights in the place of others of the same size, with right checksums, are what an owner can do to himself.
			if elsewhere(good, b) {
				continue
			}
		}
		require.Equal(t, want, bits, "mutation %d", i)
	}
	require.NotZero(t, used, "no file was right in itself")
}

// elsewhere tells whether an entry that both files have says of another place.
func elsewhere(a, b []byte) bool {
	le := binary.LittleEndian
	places := func(b []byte) map[[3]uint64]uint64 {
		m := map[[3]uint64]uint64{}
		for i := range le.Uint64(b[40:]) {
			e := b[weightsHeader+i*weightsEntry:]
			m[[3]uint64{le.Uint64(e), uint64(le.Uint32(e[24:])), le.Uint64(e[16:])}] = le.Uint64(e[8:])
		}
		return m
	}
	before := places(a)
	for k, at := range places(b) {
		if before[k] != at {
			return true
		}
	}
	return false
}

func FuzzWeightsFile(f *testing.F) {
	folder := f.TempDir()
	m, err := Compile(dense(4, 2), WithWeightsCache(folder))
	require.NoError(f, err)
	require.NoError(f, m.Close())
	good, err := os.ReadFile(keptFile(f, folder))
	require.NoError(f, err)
	f.Add(good, false)
	f.Add(good, true)
	f.Fuzz(func(t *testing.T, b []byte, sound bool) {
		if sound {
			resum(b)
		}
		var key [32]byte
		if len(b) >= weightsHeader {
			copy(key[:], b[8:])
		}
		places, err := checkWeights(bytes.NewReader(b), int64(len(b)), key)
		if err != nil {
			return
		}
		end := uint64(weightsHeader)
		for _, p := range places {
			require.GreaterOrEqual(t, p.offset, end)
			end = p.offset + p.size
			require.LessOrEqual(t, end, uint64(len(b)))
		}
	})
}
