package schema

// tagSlot is the slot of a union's tag: flatc places it right before the value's.
func (fd *field) tagSlot() uint16 { return fd.slot - sizeVEntry }

// union checks a union whose value's offset is at pos, or absent where pos is 0. A tag goes with a value, unless limits allow
// it none, and no tag with none.
func (v *verifier) union(t tableAt, fd *field, pos int64) *fault {
	at, f := v.slot(t, fd.tagSlot(), 1)
	if f != nil {
		return f
	}
	var tag uint8
	if at != 0 {
		tag = v.buf[at]
	}
	switch {
	case tag == 0 && pos == 0:
		return nil
	case tag == 0:
		return faultf("union has a value and no tag")
	case pos == 0 && v.limits.EmptyUnions:
		return nil
	case pos == 0:
		return faultf("union has tag %d and no value", tag)
	}
	return v.member(pos, v.d.unions[fd.typ.index], tag)
}

// member checks the value of a union, its offset at pos. What an unknown tag stands for cannot be checked beyond the
// offset: the reader knows the tag as little and must refuse or skip it.
func (v *verifier) member(pos int64, u union, tag uint8) *fault {
	target, f := v.follow(pos)
	if f != nil {
		return f
	}
	m, known := u[tag]
	if !known {
		return v.visit(1)
	}
	return v.target(target, m)
}

// unionVector checks a vector of unions: two vectors of one length, tags and offsets.
func (v *verifier) unionVector(t tableAt, fd *field, pos int64) *fault {
	at, f := v.slot(t, fd.tagSlot(), sizeOffset)
	if f != nil {
		return f
	}
	switch {
	case at == 0 && pos == 0:
		return nil
	case at == 0:
		return faultf("vector of unions has values and no tags")
	case pos == 0:
		return faultf("vector of unions has tags and no values")
	}
	at, f = v.follow(at)
	if f != nil {
		return f
	}
	tags, ntags, f := v.extent(at, 1, "vector of tags")
	if f != nil {
		return f
	}
	pos, f = v.follow(pos)
	if f != nil {
		return f
	}
	values, n, f := v.extent(pos, sizeOffset, "vector of unions")
	if f != nil {
		return f
	}
	if n != ntags {
		return faultf("vector of unions has %d tags and %d values", ntags, n)
	}
	u := v.d.unions[fd.typ.index]
	for i := range n {
		if f := v.element(values+i*sizeOffset, u, v.buf[tags+i]); f != nil {
			return f.inElement(i)
		}
	}
	return nil
}

// element checks one value of a vector of unions. NONE has an element like any other; writers leave its offset 0.
func (v *verifier) element(pos int64, u union, tag uint8) *fault {
	if tag != 0 {
		return v.member(pos, u, tag)
	}
	if f := v.visit(1); f != nil {
		return f
	}
	if v.u32(pos) == 0 {
		return nil
	}
	_, f := v.follow(pos)
	return f
}
