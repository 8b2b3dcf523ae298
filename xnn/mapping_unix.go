//go:build unix

package xnn

import (
	"errors"
	"math"
	"os"
	"syscall"
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

// ownFile is an error for a file that others than this user and root may have written.
func ownFile(info os.FileInfo) error {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || info.Mode().Perm()&0o022 != 0 || s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return errNotOwn(info)
	}
	return nil
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
