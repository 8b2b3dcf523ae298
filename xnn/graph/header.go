package graph

import (
	"encoding/binary"

	"github.com/xnngo/xnngo/schema"
)

// A file can keep its constants behind the FlatBuffer, where they need not stay below its 2 GiB. Such a file begins with a
// header, little-endian, that ExecuTorch's XNNPACK backend brought in:
//
//	 0  4 bytes  zero
//	 4  4 bytes  "XH00"
//	 8  uint16   length of the header, at least 30
//	10  uint32   offset of the FlatBuffer
//	14  uint32   its size
//	18  uint32   offset of the constants
//	22  uint64   their size
const (
	headerMark   = "XH00"
	headerLength = 30
)

// parts are the regions of a file.
type parts struct {
	flat      []byte // the FlatBuffer
	constants []byte // what lies behind it, in a file with a header
	header    bool
}

// split finds the regions of a file. A file without a header is one FlatBuffer.
func split(file []byte) (parts, *schema.Error) {
	if len(file) < 8 || string(file[4:8]) != headerMark {
		return parts{flat: file}, nil
	}
	fail := func(format string, args ...any) (parts, *schema.Error) {
		return parts{}, schema.Errorf(schema.StageVerify, schema.ErrFormat, "header: "+format, args...)
	}
	size := uint64(len(file))
	if size < headerLength {
		return fail("needs %d bytes, the file has %d", headerLength, size)
	}
	le := binary.LittleEndian
	var (
		zero         = le.Uint32(file)
		length       = uint64(le.Uint16(file[8:]))
		flat         = uint64(le.Uint32(file[10:]))
		flatSize     = uint64(le.Uint32(file[14:]))
		constant     = uint64(le.Uint32(file[18:]))
		constantSize = le.Uint64(file[22:])
	)
	flatEnd := flat + flatSize // of 32 bits each: it does not wrap
	switch {
	case zero != 0:
		return fail("begins with %#08x, needed 0", zero)
	case length < headerLength || length > size:
		return fail("is %d bytes long, needed at least %d and no more than the file's %d", length, headerLength, size)
	case flat < length:
		return fail("the FlatBuffer is at byte %d, inside the header of %d bytes", flat, length)
	case flatEnd > size:
		return fail("the FlatBuffer of %d bytes at byte %d leaves the file of %d bytes", flatSize, flat, size)
	case constant < flatEnd:
		return fail("the constants are at byte %d, before the end of the FlatBuffer at byte %d", constant, flatEnd)
	case constant > size || constantSize > size-constant:
		return fail("the constants, %d bytes at byte %d, leave the file of %d bytes", constantSize, constant, size)
	}
	constantEnd := constant + constantSize
	return parts{file[flat:flatEnd:flatEnd], file[constant:constantEnd:constantEnd], true}, nil
}

// Where the regions lie in a file of ours. Constants are used in place when the file is mapped: they begin at cache lines, and
// kernels may read past the end of the last.
const (
	flatOffset    = 32
	regionAlign   = 64
	regionPadding = 128
)

// join makes a file of a FlatBuffer and what lies behind it: the constants, each at its offset in their region.
func join(flat []byte, constants []Constant, offsets []uint64) []byte {
	end := uint64(0)
	if last := len(offsets) - 1; last >= 0 {
		end = offsets[last] + uint64(constants[last].Len()) + regionPadding
	}
	region := alignUp(uint64(flatOffset+len(flat)), regionAlign)
	file := make([]byte, region+end)
	copy(file[4:], headerMark)
	le := binary.LittleEndian
	le.PutUint16(file[8:], headerLength)
	le.PutUint32(file[10:], flatOffset)
	le.PutUint32(file[14:], uint32(len(flat)))
	le.PutUint32(file[18:], uint32(region))
	le.PutUint64(file[22:], end)
	copy(file[flatOffset:], flat)
	for i, c := range constants {
		c.CopyTo(file[region+offsets[i]:][:c.Len()])
	}
	return file
}

// regionOffsets places constants in their region, at cache lines.
func regionOffsets(constants []Constant) []uint64 {
	offsets := make([]uint64, len(constants))
	next := uint64(0)
	for i, c := range constants {
		offsets[i] = next
		next = alignUp(next+uint64(c.Len()), regionAlign)
	}
	return offsets
}

func alignUp(n, align uint64) uint64 { return (n + align - 1) / align * align }
