package schema

// tableAt is a table found in the file: where it and its vtable are.
type tableAt struct {
	pos, vtable int64
	size, vsize int64
}

// table checks the table at pos and everything it leads to.
func (v *verifier) table(pos int64, index int) *fault {
	if f := v.visit(1); f != nil {
		return f
	}
	if v.depth == 0 {
		return faultf("nested deeper than %d tables", v.limits.Depth)
	}
	v.depth--
	t, f := v.open(pos)
	if f != nil {
		return f
	}
	fields := v.d.tables[index].fields
	for i := range fields {
		if f := v.field(t, &fields[i]); f != nil {
			return f.inField(fields[i].name)
		}
	}
	v.depth++ // a fault ends the walk, so only this way out gives the level back
	return nil
}

// open checks a table's head, its vtable and its extent. Entries beyond those the schema knows are a newer writer's and
// are ignored; entries a short vtable lacks are absent fields.
func (v *verifier) open(pos int64) (tableAt, *fault) {
	t := tableAt{pos: pos}
	if f := v.inside(pos, sizeOffset, "table"); f != nil {
		return t, f
	}
	t.vtable = pos - int64(int32(v.u32(pos)))
	if f := v.inside(t.vtable, sizeVHead, "vtable"); f != nil {
		return t, f
	}
	t.vsize, t.size = int64(v.u16(t.vtable)), int64(v.u16(t.vtable+sizeVEntry))
	if t.vsize < sizeVHead || t.vsize%sizeVEntry != 0 {
		return t, faultf("vtable at byte %d is %d bytes long, needed an even number of at least %d", t.vtable, t.vsize, sizeVHead)
	}
	if f := v.inside(t.vtable, t.vsize, "vtable"); f != nil {
		return t, f
	}
	if t.size < sizeOffset {
		return t, faultf("table at byte %d is %d bytes long, needed at least %d", pos, t.size, sizeOffset)
	}
	return t, v.inside(pos, t.size, "table")
}

// slot gives the place of a field of n bytes, or 0 where the table has none: 0 is the file's head and no field's place.
func (v *verifier) slot(t tableAt, slot uint16, n uint32) (int64, *fault) {
	if int64(slot) >= t.vsize {
		return 0, nil
	}
	off := int64(v.u16(t.vtable + int64(slot)))
	switch {
	case off == 0:
		return 0, nil
	case off < sizeOffset || off+int64(n) > t.size:
		return 0, faultf("field of %d bytes at byte %d of a table of %d bytes, needed between byte %d and its end",
			n, off, t.size, sizeOffset)
	}
	return t.pos + off, nil
}

// field checks one field of a table.
func (v *verifier) field(t tableAt, fd *field) *fault {
	n := fd.typ.inlineSize()
	if fd.vector {
		n = sizeOffset
	}
	pos, f := v.slot(t, fd.slot, n)
	if f != nil {
		return f
	}
	if pos == 0 && fd.required {
		return faultf("required, but absent")
	}
	switch {
	case fd.typ.kind == kindUnion && fd.vector:
		return v.unionVector(t, fd, pos)
	case fd.typ.kind == kindUnion:
		return v.union(t, fd, pos)
	case pos == 0:
		return nil
	case fd.vector:
		return v.vector(pos, fd.typ)
	}
	return v.value(pos, fd.typ)
}

// value checks the thing of type typ whose inline part, known to fit, is at pos.
func (v *verifier) value(pos int64, t typ) *fault {
	if t.kind == kindInline {
		return nil
	}
	target, f := v.follow(pos)
	if f != nil {
		return f
	}
	return v.target(target, t)
}

// target checks what an offset led to.
func (v *verifier) target(pos int64, t typ) *fault {
	switch t.kind {
	case kindTable:
		return v.table(pos, t.index)
	case kindString:
		return v.string(pos)
	}
	// A struct as a union's member.
	if f := v.visit(1); f != nil {
		return f
	}
	return v.inside(pos, int64(t.size), "struct")
}
