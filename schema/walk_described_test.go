package schema

import (
	flatbuffers "github.com/google/flatbuffers/go"
)

// walkDescribed reads all of a file the way generated accessors do, with the methods of FlatBuffers' own Table, led by a
// description. It covers schemas flatc makes no Go for.
func walkDescribed(b []byte, d *Description) sum {
	w := describedWalk{d: d, b: b}
	w.table(flatbuffers.GetUOffsetT(b), d.root)
	return w.s
}

type describedWalk struct {
	s sum
	d *Description
	b []byte
}

func (w *describedWalk) table(pos flatbuffers.UOffsetT, index int) {
	t := flatbuffers.Table{Bytes: w.b, Pos: pos}
	for _, f := range w.d.tables[index].fields {
		at := flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(f.slot)))
		if at == 0 {
			continue
		}
		switch {
		case f.vector:
			tags := flatbuffers.UOffsetT(0)
			if f.typ.kind == kindUnion {
				tags = t.Vector(flatbuffers.UOffsetT(t.Offset(flatbuffers.VOffsetT(f.tagSlot()))))
			}
			first := t.Vector(at)
			for i := range flatbuffers.UOffsetT(t.VectorLen(at)) {
				elem, place := f.typ, first+i*flatbuffers.UOffsetT(f.typ.inlineSize())
				if elem.kind == kindUnion {
					elem = w.member(f.typ.index, w.b[tags+i])
				}
				w.value(place, elem)
			}
		case f.typ.kind == kindUnion:
			tag := t.GetByteSlot(flatbuffers.VOffsetT(f.tagSlot()), 0)
			w.value(pos+at, w.member(f.typ.index, tag))
		default:
			w.value(pos+at, f.typ)
		}
	}
}

// member is what a tag stands for; a struct there lies behind an offset as tables do.
func (w *describedWalk) member(index int, tag uint8) typ {
	m := w.d.unions[index][tag]
	if m.kind == kindInline {
		m.index = behindOffset
	}
	return m
}

const behindOffset = -1

func (w *describedWalk) value(pos flatbuffers.UOffsetT, t typ) {
	table := flatbuffers.Table{Bytes: w.b}
	switch {
	case t.kind == kindInline && t.index == behindOffset:
		pos = table.Indirect(pos)
		w.s.bytes(w.b[pos : pos+flatbuffers.UOffsetT(t.size)])
	case t.kind == kindInline:
		w.s.bytes(w.b[pos : pos+flatbuffers.UOffsetT(t.size)])
	case t.kind == kindString:
		w.s.bytes([]byte(table.String(pos)))
	case t.kind == kindTable:
		w.table(table.Indirect(pos), t.index)
	}
}
