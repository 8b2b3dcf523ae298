package graph

import (
	"math"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

// constants reads the table of constants: constant_data, which tells where they lie behind the FlatBuffer, or constant_buffer,
// which holds them. Entry 0 of either is no constant.
func (r *reader) constants() error {
	behind, within := 0, r.file.ConstantBufferLength()
	if r.dialect != dialectSeed { // whatever the seed has there was not verified
		behind = r.file.ConstantDataLength()
	}
	if behind > 1 && within > 1 {
		return r.errorf("constant_data has %d entries and constant_buffer has %d, only one of them can have any past entry 0",
			behind, within)
	}
	r.entries = max(behind, within)
	if r.entries > 1 {
		r.g.Constants = make([]Constant, r.entries)
	}
	for i := 1; i < r.entries; i++ {
		if behind > 1 {
			if err := r.constantBehind(i); err != nil {
				return err
			}
			continue
		}
		var b xnngraph.Buffer
		r.file.ConstantBuffer(&b, i)
		r.g.Constants[i].Data = b.StorageBytes()
	}
	for i := range r.file.MemBufferSizesLength() {
		switch size := r.file.MemBufferSizes(i); {
		case i == 0:
			r.g.ArenaBytes = size
		case i >= r.entries:
			r.g.SpareBuffers = append(r.g.SpareBuffers, size)
		case int64(size) != int64(len(r.g.Constants[i].Data)):
			r.g.Constants[i].Reserve = size
		}
	}
	return nil
}

// constantBehind reads entry i of constant_data.
func (r *reader) constantBehind(i int) error {
	const elsewhere = math.MaxUint64
	var c xnngraph.ConstantDataOffset
	r.file.ConstantData(&c, i)
	offset, size := c.Offset(), c.Size()
	region := uint64(len(r.parts.constants))
	switch {
	case len(c.NamedKey()) > 0:
		r.outside[i] = true
		return nil
	case offset == elsewhere:
		return r.errorf("constant_data[%d] lies outside the file, but has no named_key", i)
	case !r.parts.header:
		return r.errorf("constant_data[%d] lies behind the FlatBuffer, but the file has no %s header that tells where", i, headerMark)
	case offset > region || size > region-offset:
		return r.errorf("constant_data[%d], %d bytes at byte %d, leaves the region of %d bytes", i, size, offset, region)
	}
	end := offset + size
	r.g.Constants[i].Data = r.parts.constants[offset:end:end]
	return nil
}

// constant checks an index into the table of constants.
func (r *reader) constant(field string, index uint32) (int, *schema.Error) {
	if uint64(index) >= uint64(max(1, r.entries)) {
		return 0, r.errorf("%s %d is outside the table of %d entries", field, index, r.entries)
	}
	if r.outside[int(index)] {
		const most = 200 // bytes of a name, which can be as long as the file
		var c xnngraph.ConstantDataOffset
		r.file.ConstantData(&c, int(index))
		key := c.NamedKey()
		return 0, r.unsupported("%s %d: the constant lies outside the file, under the name %q", field, index, key[:min(len(key), most)])
	}
	return int(index), nil
}
