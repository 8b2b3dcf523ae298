package xnn

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// wordsOfInterest are what bounds are forgotten for.
var wordsOfInterest = []uint32{0, 1, 2, 3, 4, 6, 7, 8, 255, 65535, 65536, 1 << 24, 1<<30 - 1, 1 << 30, 1<<31 - 1, 1 << 31,
	math.MaxUint32 - 3, math.MaxUint32 - 1, math.MaxUint32}

// mutate changes a valid file: bits, bytes, whole words, words copied from elsewhere, lengths, pieces of another file.
func mutate(r *rand.Rand, data []byte, other []byte) []byte {
	b := append([]byte{}, data...)
	for range 1 + r.IntN(4) {
		if len(b) < 8 {
			break
		}
		at := r.IntN(len(b))
		word := b[r.IntN(min(len(b), 4096)/4)*4&^3:] // what follows are constants
		switch r.IntN(12) {
		case 0, 1:
			b[at] ^= 1 << r.IntN(8)
		case 2:
			b[at] = byte(r.Uint32())
		case 3, 4:
			binary.LittleEndian.PutUint32(word[:4:4], wordsOfInterest[r.IntN(len(wordsOfInterest))])
		case 5: // an offset that points elsewhere
			binary.LittleEndian.PutUint32(word[:4:4], uint32(r.IntN(len(b)+16)))
		case 6: // a little more or less, as a wrong count is
			binary.LittleEndian.PutUint32(word[:4:4], binary.LittleEndian.Uint32(word[:4])+uint32(r.IntN(9))-4)
		case 7: // a word from elsewhere in the file
			copy(word[:4], b[r.IntN(len(b)/4)*4:])
		case 8:
			b = b[:at]
		case 9, 10: // the same dimension wherever it stands
			if was := binary.LittleEndian.Uint32(word[:4]); was > 1 && was < 1<<16 {
				replaceWords(b, was, sizesOfInterest(was)[r.IntN(len(sizesOfInterest(was)))])
			}
		case 11: // a piece of another file
			if len(other) > 0 {
				from := r.IntN(len(other))
				copy(b[at:], other[from:min(len(other), from+4+r.IntN(60))])
			}
		}
	}
	return b
}

// sizesOfInterest are what a dimension of this size might become: small changes, and sizes at which sums and products wrap.
func sizesOfInterest(was uint32) []uint32 {
	return []uint32{0, 1, was - 1, was + 1, 2 * was, 3 * was, 16, 33, 65, 1000, 1 << 15, 1<<16 + 1, 1 << 20, 1 << 24, 1<<31 - 1,
		1 << 31}
}

// replaceWords replaces every word of this value.
func replaceWords(b []byte, was, is uint32) {
	for at := 0; at+4 <= len(b); at += 4 {
		if binary.LittleEndian.Uint32(b[at:]) == was {
			binary.LittleEndian.PutUint32(b[at:], is)
		}
	}
}
