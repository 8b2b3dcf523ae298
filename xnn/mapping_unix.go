//go:build unix

package xnn

import (
	"errors"
	"math"
	"os"
	"unsafe"

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

// forget lets the kernel have the pages of data back, which will hardly be read again.
func (m *mapping) forget(data []byte) {
	page := uintptr(os.Getpagesize())
	start := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	first := (start + page - 1) &^ (page - 1)
	if end := (start + uintptr(len(data))) &^ (page - 1); first < end {
		// A wish: where it is not granted the pages stay.
		_ = unix.Madvise(data[first-start:end-start], unix.MADV_DONTNEED)
	}
}

func (m *mapping) close() {
	if m != nil && m.bytes != nil {
		// Fails only for an address that is not mapped.
		_ = unix.Munmap(m.bytes)
		m.bytes = nil
	}
}
