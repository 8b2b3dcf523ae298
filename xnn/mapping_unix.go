//go:build unix

package xnn

import (
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// mapFile maps size bytes of f for reading.
func mapFile(f *os.File, size int64) (*mapping, error) {
	if size > math.MaxInt {
		return nil, errors.ErrUnsupported
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	return &mapping{b}, nil
}

func (m *mapping) close() {
	if m != nil && m.bytes != nil {
		// Fails only for an address that is not mapped.
		_ = unix.Munmap(m.bytes)
		m.bytes = nil
	}
}
