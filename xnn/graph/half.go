package graph

import "math"

// Half holds the bits of an IEEE 754 half-precision number, the Go element type of a Float16 tensor.
type Half uint16

// HalfOf rounds f to the nearest half, ties to even; what is too large becomes infinite.
func HalfOf(f float32) Half {
	b := math.Float32bits(f)
	sign := Half(b>>16) & 0x8000
	exp, man := int(b>>23&0xff)-127, b&0x7fffff
	switch {
	case exp == 128 && man != 0:
		return sign | 0x7e00 | Half(man>>13)
	case exp > 15:
		return sign | 0x7c00
	case exp >= -14:
		// A carry out of the mantissa moves into the exponent, up to infinity.
		return sign | Half(uint32(exp+15)<<10+roundShift(man, 13))
	case exp >= -25:
		return sign | Half(roundShift(man|0x800000, uint(-exp-1)))
	}
	return sign
}

// roundShift shifts m right by n bits, rounding to nearest, ties to even.
func roundShift(m uint32, n uint) uint32 {
	half := uint32(1) << (n - 1)
	q, rest := m>>n, m&(half<<1-1)
	if rest > half || rest == half && q&1 == 1 {
		q++
	}
	return q
}

// Float32 is the exact value of h.
func (h Half) Float32() float32 {
	sign, exp, man := uint32(h>>15)<<31, uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exp {
	case 0:
		f := float32(man) / (1 << 24)
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | man<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | man<<13)
}

// BFloat holds the upper 16 bits of a single-precision number, the Go element type of a BFloat16 tensor.
type BFloat uint16

// BFloatOf rounds f to the nearest BFloat, ties to even; what is too large becomes infinite.
func BFloatOf(f float32) BFloat {
	b := math.Float32bits(f)
	if f != f {
		return BFloat(b>>16) | 0x40 // stays not a number when its lower half is cut off
	}
	return BFloat(roundShift(b, 16))
}

// Float32 is the exact value of b.
func (b BFloat) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }
