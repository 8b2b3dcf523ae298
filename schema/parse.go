package schema

import (
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"
)

// ParseDescription reads a schema from what `flatc -b --schema` writes. Bytes that are no binary schema, or one that uses
// what Go's FlatBuffers runtime cannot read (64-bit offsets), give an ErrFormat.
func ParseDescription(bfbs []byte) (*Description, error) {
	if err := Verify(bfbs, reflectionDescription(), Limits{}); err != nil {
		return nil, err
	}
	p := parser{tableIndex: map[flatbuffers.UOffsetT]int{}}
	p.schema = record{flatbuffers.Table{Bytes: bfbs, Pos: flatbuffers.GetUOffsetT(bfbs)}}
	p.objects, p.enums = p.schema.list(schemaObjects), p.schema.list(schemaEnums)
	return p.description()
}

// parser turns reflection's objects and enums, verified, into tables and unions. Structs become sizes.
type parser struct {
	schema         record
	objects, enums []record
	tableIndex     map[flatbuffers.UOffsetT]int // place of an object in the file to its index in tables
	err            error                        // the first fault
}

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = Errorf(StageVerify, ErrFormat, "binary schema: "+format, args...)
	}
}

func (p *parser) description() (*Description, error) {
	d := &Description{ident: p.schema.text(schemaIdent)}
	if n := len(d.ident); n != 0 && n != sizeIdent {
		p.fail("file identifier %q has %d bytes, needed %d", d.ident, n, sizeIdent)
	}
	// Unions and tables keep the indexes they have among enums and objects: what is neither stays empty.
	for i, o := range p.objects {
		p.tableIndex[o.Pos] = i
		d.tables = append(d.tables, table{name: o.text(objectName)})
		if o.flag(objectIsStruct) {
			continue
		}
		d.tables[i].fields = p.fields(o, d.tables[i].name)
	}
	for _, e := range p.enums {
		d.unions = append(d.unions, p.union(e))
	}
	root, ok := p.schema.child(schemaRoot)
	if ok {
		d.root, ok = p.tableIndex[root.Pos]
	}
	if !ok || root.flag(objectIsStruct) {
		p.fail("no root table")
	}
	if p.err != nil {
		return nil, p.err
	}
	return d, nil
}

// fields reads an object's fields. A union's tag is a plain byte among them, or a vector of bytes; that it stands in the
// slot before its value is checked here, since the verifier relies on it.
func (p *parser) fields(o record, name string) []field {
	var fields []field
	tags := map[uint16]bool{} // slot of each tag: whether it is a vector
	for _, r := range o.list(objectFields) {
		if r.flag(fieldDeprecated) {
			continue
		}
		f := field{name: r.text(fieldName), slot: r.GetUint16Slot(fieldOffset, 0), required: r.flag(fieldRequired)}
		if f.slot < sizeVHead || f.slot%sizeVEntry != 0 {
			p.fail("%s.%s has vtable offset %d", name, f.name, f.slot)
		}
		if r.flag(fieldOffset64) {
			p.fail("%s.%s has a 64-bit offset", name, f.name)
		}
		t, _ := r.child(fieldType)
		base := t.base(typeBase)
		if f.vector = base == baseVector; f.vector {
			base = t.base(typeElement)
		}
		if base == baseUType {
			tags[f.slot] = f.vector
		}
		if f.typ = p.typ(base, t); f.typ.kind == kindNone {
			p.fail("%s.%s has a type without a form: %d", name, f.name, base)
		}
		fields = append(fields, f)
	}
	for _, f := range fields {
		if f.typ.kind != kindUnion {
			continue
		}
		if vector, found := tags[f.tagSlot()]; !found || vector != f.vector {
			p.fail("%s.%s has no tag in the slot before it", name, f.name)
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return int(a.slot) - int(b.slot) })
	return fields
}

// union reads an enum that is one, and gives nil for any other.
func (p *parser) union(e record) union {
	if !e.flag(enumIsUnion) {
		return nil
	}
	u := union{}
	for _, member := range e.list(enumValues) {
		tag := member.GetInt64Slot(enumValValue, 0)
		if tag == 0 {
			continue // NONE
		}
		base := baseNone
		t, ok := member.child(enumValUnionType)
		if ok {
			base = t.base(typeBase)
		}
		switch {
		case tag < 0 || tag > 255:
			p.fail("%s.%s has tag %d", e.text(enumName), member.text(enumValName), tag)
		case base != baseObject && base != baseString:
			p.fail("%s.%s is neither table, struct nor string", e.text(enumName), member.text(enumValName))
		default:
			u[uint8(tag)] = p.typ(base, t)
		}
	}
	return u
}

// typ reads a Type whose base type, or whose element's, is base. A kindNone tells of one that has no place in a table.
func (p *parser) typ(base baseType, t record) typ {
	index := int(t.GetInt32Slot(typeIndex, -1))
	switch base {
	case baseString:
		return typ{kind: kindString}
	case baseUnion:
		if index < 0 || index >= len(p.enums) || !p.enums[index].flag(enumIsUnion) {
			p.fail("index %d is no union", index)
			return typ{}
		}
		return typ{kind: kindUnion, index: index}
	case baseObject:
		if index < 0 || index >= len(p.objects) {
			p.fail("index %d is no object", index)
			return typ{}
		}
		o := p.objects[index]
		if !o.flag(objectIsStruct) {
			return typ{kind: kindTable, index: index}
		}
		size := o.GetInt32Slot(objectByteSize, 0)
		if size <= 0 {
			p.fail("struct %s has %d bytes", o.text(objectName), size)
			return typ{}
		}
		return typ{kind: kindInline, size: uint32(size)}
	}
	if size := base.size(); size != 0 {
		return typ{kind: kindInline, size: size}
	}
	return typ{}
}
