package schema

// extent checks that the length at pos and as many elements of elem bytes lie inside, without multiplying what could
// overflow. It returns the first element's place and their number.
func (v *verifier) extent(pos int64, elem uint32, what string) (first, n int64, f *fault) {
	if f := v.inside(pos, sizeOffset, what); f != nil {
		return 0, 0, f
	}
	first, n = pos+sizeOffset, int64(v.u32(pos))
	if n > (v.size-first)/int64(elem) {
		return 0, 0, faultf("%s of %d elements of %d bytes at byte %d leaves the file of %d bytes", what, n, elem, first, v.size)
	}
	return first, n, nil
}

// string checks a string and the zero byte after it.
func (v *verifier) string(pos int64) *fault {
	if f := v.visit(1); f != nil {
		return f
	}
	first, n, f := v.extent(pos, 1, "string")
	if f != nil {
		return f
	}
	end := first + n
	if f := v.inside(end, 1, "end of the string"); f != nil {
		return f
	}
	if v.buf[end] != 0 {
		return faultf("string of %d bytes at byte %d ends in byte %#02x, needed 0", n, first, v.buf[end])
	}
	return nil
}

// vector checks the vector behind the offset at pos.
func (v *verifier) vector(pos int64, elem typ) *fault {
	target, f := v.follow(pos)
	if f != nil {
		return f
	}
	first, n, f := v.extent(target, elem.inlineSize(), "vector")
	if f != nil || elem.kind == kindInline {
		return f
	}
	for i := range n {
		if f := v.value(first+i*sizeOffset, elem); f != nil {
			return f.inElement(i)
		}
	}
	return nil
}
