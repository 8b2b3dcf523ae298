package graph

import "fmt"

// DType is the type of a tensor's elements. Its numbers are this package's own; every file format maps by name.
type DType uint8

// The element types. Zero is no type.
const (
	InvalidDType DType = iota
	Float32            // IEEE 754 single precision
	Float16            // IEEE 754 half precision
	QInt8              // signed 8 bits with one scale and zero point
	QInt32             // signed 32 bits with one scale
)

var dtypes = [...]struct {
	name string
	size int
}{
	InvalidDType: {"invalid", 0},
	Float32:      {"fp32", 4},
	Float16:      {"fp16", 2},
	QInt8:        {"qint8", 1},
	QInt32:       {"qint32", 4},
}

// String gives the type's usual short name, such as fp32.
func (t DType) String() string {
	if int(t) < len(dtypes) {
		return dtypes[t].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(t))
}

// Size is the number of bytes of one element, 0 for an invalid type.
func (t DType) Size() int {
	if int(t) < len(dtypes) {
		return dtypes[t].size
	}
	return 0
}
