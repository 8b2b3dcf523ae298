package graph

import "fmt"

// DType is the type of a tensor's elements. Its numbers are this package's own; every file format maps by name.
type DType uint8

// The element types. Zero is no type. Those that begin with Q are integers that stand for real numbers; see Quant.
const (
	InvalidDType DType = iota
	Float32            // IEEE 754 single precision
	Float16            // IEEE 754 half precision
	BFloat16           // the upper half of a Float32
	Int32              // plain signed integers: indices and bits
	QInt8              // signed 8 bits, one scale and zero point for all
	QUInt8             // unsigned 8 bits, one scale and zero point for all
	QInt32             // signed 32 bits, one scale for all: biases
	QCInt8             // signed 8 bits, a scale for each channel: weights
	QCInt32            // signed 32 bits, a scale for each channel: biases
	QCInt4             // 4 bits, a scale for each channel: weights
	QBInt4             // 4 bits, a scale for each block of a channel: weights
	QDInt8             // signed 8 bits, scale and zero point found at run time, for each row
)

// quantKind is what a type needs of a Quant.
type quantKind uint8

const (
	quantNone quantKind = iota
	quantTensor
	quantChannel
	quantBlock
	quantDynamic
)

var dtypes = [...]struct {
	name  string
	bits  int
	quant quantKind
}{
	InvalidDType: {"invalid", 0, quantNone},
	Float32:      {"fp32", 32, quantNone},
	Float16:      {"fp16", 16, quantNone},
	BFloat16:     {"bf16", 16, quantNone},
	Int32:        {"int32", 32, quantNone},
	QInt8:        {"qint8", 8, quantTensor},
	QUInt8:       {"quint8", 8, quantTensor},
	QInt32:       {"qint32", 32, quantTensor},
	QCInt8:       {"qcint8", 8, quantChannel},
	QCInt32:      {"qcint32", 32, quantChannel},
	QCInt4:       {"qcint4", 4, quantChannel},
	QBInt4:       {"qbint4", 4, quantBlock},
	QDInt8:       {"qdint8", 8, quantDynamic},
}

// String gives the type's usual short name, such as fp32.
func (t DType) String() string {
	if int(t) < len(dtypes) {
		return dtypes[t].name
	}
	return fmt.Sprintf("dtype(%d)", uint8(t))
}

// Size is the number of bytes of one element, 0 for an invalid type and for one of which two share a byte.
func (t DType) Size() int { return t.bits() / 8 }

func (t DType) bits() int {
	if int(t) < len(dtypes) {
		return dtypes[t].bits
	}
	return 0
}

func (t DType) quant() quantKind {
	if int(t) < len(dtypes) {
		return dtypes[t].quant
	}
	return quantNone
}

// weightsOnly tells types that only constants have.
func (t DType) weightsOnly() bool {
	k := t.quant()
	return k == quantChannel || k == quantBlock
}
