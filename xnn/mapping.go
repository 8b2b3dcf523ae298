package xnn

import (
	"os"
	"unsafe"
)

// constantAlign is what constants used in place need at least.
const constantAlign = 16

// mapping is a file in memory. A nil one holds nothing.
type mapping struct {
	bytes []byte
}

// holds reports whether data lies in the mapping such that kernels can use it where it is: aligned, and with extra
// readable bytes behind it. The kernel fills the last page of a mapping up with zeros.
func (m *mapping) holds(data []byte, extra int) bool {
	if m == nil || len(data) == 0 {
		return false
	}
	start := uintptr(unsafe.Pointer(unsafe.SliceData(m.bytes)))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	page := uintptr(os.Getpagesize())
	end := (start + uintptr(len(m.bytes)) + page - 1) &^ (page - 1)
	return at >= start && at%constantAlign == 0 && at+uintptr(len(data)+extra) <= end
}
