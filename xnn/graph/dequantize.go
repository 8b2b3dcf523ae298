package graph

import (
	"encoding/binary"

	"github.com/xnngo/xnngo/schema"
)

// Dequantize gives the real numbers that the integers of a tensor stand for: scale * (stored - zero point). The type is one of
// those that begin with Q but QDInt8, whose scales are found at run time. A type or a number of bytes that is wrong is
// ErrArgument.
func Dequantize(t Type, data []byte) ([]float32, error) {
	if t.DType.quant() == quantNone || t.DType.quant() == quantDynamic {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "%v holds no integers with scales", t.DType)
	}
	if err := t.check(); err != nil {
		return nil, asArgument(err)
	}
	if err := t.checkQuant(); err != nil {
		return nil, asArgument(err)
	}
	if len(data) != t.Bytes() {
		return nil, schema.Errorf(schema.StageCheck, schema.ErrArgument, "%d bytes, %v has %d", len(data), t, t.Bytes())
	}
	numbers := make([]float32, t.Shape.Elements())
	scale := t.scales()
	for i, code := range t.unpack(data) {
		numbers[i] = float32(float64(scale(i)) * float64(code))
	}
	return numbers, nil
}

// zeroPoint4 is what stands for zero in four bits.
const zeroPoint4 = 8

// pack stores a tensor's integers, less their zero point where two share a byte.
func (t Type) pack(codes []int) []byte {
	raw := make([]byte, t.Bytes())
	switch t.DType.bits() {
	case 8:
		for i, c := range codes {
			raw[i] = byte(c)
		}
	case 32:
		for i, c := range codes {
			binary.LittleEndian.PutUint32(raw[4*i:], uint32(c))
		}
	case 4:
		for i := range raw {
			raw[i] = zeroPoint4<<4 | zeroPoint4 // the rest of a row
		}
		t.eachNibble(func(i, at int, shift uint) {
			raw[at] = raw[at]&^(0xf<<shift) | byte(codes[i]+zeroPoint4)<<shift
		})
	}
	return raw
}

// unpack gives a tensor's integers less their zero point.
func (t Type) unpack(raw []byte) []int {
	codes := make([]int, t.Shape.Elements())
	switch t.DType {
	case QInt8, QCInt8:
		for i := range codes {
			codes[i] = int(int8(raw[i])) - t.Quant.ZeroPoint
		}
	case QUInt8:
		for i := range codes {
			codes[i] = int(raw[i]) - t.Quant.ZeroPoint
		}
	case QInt32, QCInt32:
		for i := range codes {
			codes[i] = int(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case QCInt4, QBInt4:
		t.eachNibble(func(i, at int, shift uint) { codes[i] = int(raw[at]>>shift&0xf) - zeroPoint4 })
	}
	return codes
}

// eachNibble tells where the elements of a tensor lie of which two share a byte: the first in the lower half, each row from a
// byte on.
func (t Type) eachNibble(f func(i, at int, shift uint)) {
	n := t.Shape.Elements()
	if n == 0 {
		return
	}
	row := 1
	if len(t.Shape) > 0 {
		row = t.Shape[len(t.Shape)-1]
	}
	for i := range n {
		column := i % row
		f(i, i/row*((row+1)/2)+column/2, uint(column%2)*4)
	}
}

// scales gives the scale of an element as XNNPACK uses it.
func (t Type) scales() func(i int) float32 {
	q := t.Quant
	switch t.DType.quant() {
	case quantChannel:
		channel := channelOf(t.Shape, q.Axis)
		return func(i int) float32 { return q.Scales[channel(i)] }
	case quantBlock:
		return func(i int) float32 { return BFloatOf(q.Scales[i/q.Block]).Float32() }
	}
	return func(int) float32 { return q.Scale }
}

// channelOf gives the index along axis of an element.
func channelOf(shape Shape, axis int) func(i int) int {
	inner := max(1, shape[axis+1:].Elements())
	return func(i int) int { return i / inner % shape[axis] }
}

// checkPadding holds a matrix of 4-bit weights to zeros where a row of odd length leaves half a byte: XNNPACK multiplies with it.
func (t Type) checkPadding(c Constant) *schema.Error {
	if t.DType.bits() != 4 || len(t.Shape) == 0 || t.Shape[len(t.Shape)-1]%2 == 0 {
		return nil
	}
	row, data := (t.Shape[len(t.Shape)-1]+1)/2, c.Bytes()
	for at := row - 1; at < t.Bytes(); at += row {
		half := byte(0)
		if at < len(data) {
			half = data[at] >> 4
		}
		if half != zeroPoint4 {
			return schema.Errorf(schema.StageCheck, schema.ErrGraph, "row %d of %v ends with half a byte that is %d, zero is %d",
				at/row, t, half, zeroPoint4)
		}
	}
	return nil
}
