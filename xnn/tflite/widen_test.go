package tflite

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWiden holds every half-precision number, next to all kinds of others, against what IEEE 754 says of it.
func TestWiden(t *testing.T) {
	value := func(h uint16) float64 {
		fraction, sign := float64(h&0x3ff)/1024, 1.0
		if h>>15 == 1 {
			sign = -1
		}
		switch e := int(h >> 10 & 0x1f); {
		case e == 31 && fraction != 0:
			return math.NaN()
		case e == 31:
			return math.Inf(int(sign))
		case e == 0:
			return sign * math.Ldexp(fraction, -14)
		default:
			return sign * math.Ldexp(1+fraction, e-15)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	all := make([]uint16, 1<<16+3*(1<<17)+3) // no multiple of four
	for i := range all {
		all[i] = uint16(i)
		if i >= 1<<16 {
			all[i] = uint16(r.Uint32())
		}
	}
	half, single := make([]byte, 2*len(all)), make([]byte, 4*len(all))
	for i, h := range all {
		binary.LittleEndian.PutUint16(half[2*i:], h)
	}
	widen(single, half)
	for i, h := range all {
		got, want := float64(math.Float32frombits(binary.LittleEndian.Uint32(single[4*i:]))), value(h)
		same := got == want && math.Signbit(got) == math.Signbit(want) || math.IsNaN(got) && math.IsNaN(want)
		require.True(t, same, "%#04x at %d: %v, not %v", h, i, got, want)
	}
}

func BenchmarkWiden(b *testing.B) {
	half, single := make([]byte, 1<<20), make([]byte, 1<<21)
	for i := range half {
		half[i] = byte(i)&0x3f | 0x20
	}
	b.SetBytes(1 << 20)
	for b.Loop() {
		widenSome(single, half)
	}
}
