package schema

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// subject is a valid file with the description it goes with and a way to read all of it.
type subject struct {
	name string
	buf  []byte
	d    *Description
	walk func([]byte)
}

// subjects gives files of several schemas. Each is walked by the accessors flatc generated, where it generates any, and
// by the schema.
func subjects(t testing.TB) []subject {
	t.Helper()
	var list []subject
	add := func(name string, d *Description, walk func([]byte) sum) {
		list = append(list, subject{name, file(t, name), d, func(b []byte) {
			if walk != nil {
				walk(b)
			}
			walkDescribed(b, d)
		}})
	}
	names, err := filepath.Glob("testdata/xnngraph/*.bin")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range []string{"conv_2d", "static_constant_pad", "concatenate5", "dynamic_qbint4", "foreign_scale_bf16",
		"bad/constant_data_elsewhere"} {
		names = append(names, "testdata/executorch/"+name+".bin")
	}
	for _, name := range append(names, "testdata/ours/even_split.bin", "testdata/ours/reduce_mean.bin") {
		add(name, XNNGraph(), walkXNNGraph)
	}
	add("testdata/zoo.bin", described(t, "zoo"), walkZoo)
	add("testdata/herd.bin", described(t, "herd"), nil)
	add("xnngraph.bfbs", reflectionDescription(), nil)
	return list
}

// try walks b when the verifier lets it pass, and reports whether it did. The copy ends where its array ends, so that a
// read past the file is a panic.
func (s subject) try(b []byte) bool {
	b = bytes.Clone(b)
	b = b[:len(b):len(b)]
	if Verify(b, s.d, Limits{}) != nil {
		return false
	}
	s.walk(b)
	return true
}

func TestMutations(t *testing.T) {
	rounds := 5_000
	if testing.Short() {
		rounds = 1_000
	}
	for _, s := range subjects(t) {
		t.Run(filepath.Base(s.name), func(t *testing.T) {
			require.True(t, s.try(s.buf))
			for n := range s.buf {
				s.try(s.buf[:n])
			}
			b := bytes.Clone(s.buf)
			for bit := range 8 * len(b) {
				b[bit/8] ^= 1 << (bit % 8)
				s.try(b)
				b[bit/8] ^= 1 << (bit % 8)
			}
			passed, r := 0, rand.New(rand.NewPCG(1, uint64(len(b))))
			for range rounds {
				if s.try(mutate(r, s.buf)) {
					passed++
				}
			}
			require.NotZero(t, passed, "no mutation passed: the walk was never tried")
			require.Less(t, passed, rounds, "every mutation passed: the verifier rejects nothing")
		})
	}
}

// interesting are the values that break bounds checks.
var interesting = []uint32{0, 1, 2, 3, 4, 8, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x3fffffff, 0x40000000,
	0x7ffffff0, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffc, 0xffffffff}

// mutate gives a copy of b with one to four changes: a bit, a byte, a word set, nudged or copied from elsewhere, a cut.
func mutate(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(4) {
		if len(b) < 8 {
			break
		}
		at := r.IntN(len(b) - 4)
		word := at &^ 3
		switch r.IntN(7) {
		case 0:
			b[at] ^= 1 << r.IntN(8)
		case 1:
			b[at] = byte(r.Uint32())
		case 2:
			binary.LittleEndian.PutUint32(b[word:], interesting[r.IntN(len(interesting))])
		case 3:
			binary.LittleEndian.PutUint16(b[at&^1:], uint16(interesting[r.IntN(len(interesting))]))
		case 4:
			copy(b[word:word+4], b[r.IntN(len(b)-4)&^3:])
		case 5:
			binary.LittleEndian.PutUint32(b[word:], binary.LittleEndian.Uint32(b[word:])+uint32(r.IntN(33))-16)
		case 6:
			if r.IntN(4) == 0 {
				b = b[:at]
			}
		}
	}
	return b
}
