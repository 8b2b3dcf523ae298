package schema

import flatbuffers "github.com/google/flatbuffers/go"

// baseType is a BaseType of reflection.fbs.
type baseType uint8

const (
	baseNone   baseType = 0 // also a union member without a type
	baseUType  baseType = 1
	baseDouble baseType = 12
	baseString baseType = 13
	baseVector baseType = 14
	baseObject baseType = 15
	baseUnion  baseType = 16
)

// size is the number of bytes of a scalar, and 0 for all else.
func (b baseType) size() uint32 {
	//                     none utype bool byte ubyte short ushort int uint long ulong float double
	sizes := [...]uint32{0, 1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8}
	if b > baseDouble {
		return 0
	}
	return sizes[b]
}

// Vtable offsets of the fields of FlatBuffers' own reflection.fbs that are read here: 4 + 2 * field id.
const (
	typeBase, typeElement, typeIndex = 4, 6, 8

	enumValName, enumValValue, enumValUnionType = 4, 6, 10

	enumName, enumValues, enumIsUnion = 4, 6, 8

	fieldName, fieldType, fieldOffset = 4, 6, 10

	fieldDeprecated, fieldRequired, fieldOffset64 = 16, 18, 30

	objectName, objectFields, objectIsStruct, objectByteSize = 4, 6, 8, 12

	schemaObjects, schemaEnums, schemaIdent, schemaRoot = 4, 6, 8, 12
)

const reflectionIdent = "BFBS"

// Indexes of reflection's own tables in reflectionDescription.
const (
	reflType = iota
	reflEnumVal
	reflEnum
	reflField
	reflObject
	reflSchema
)

// reflectionDescription describes the part of reflection.fbs that is read, so that binary schemas pass the same verifier
// as every other file.
func reflectionDescription() *Description {
	scalar := func(name string, slot uint16, size uint32) field {
		return field{name: name, slot: slot, typ: typ{kind: kindInline, size: size}}
	}
	text := func(name string, slot uint16, required bool) field {
		return field{name: name, slot: slot, required: required, typ: typ{kind: kindString}}
	}
	child := func(name string, slot uint16, index int, required bool) field {
		return field{name: name, slot: slot, required: required, typ: typ{kind: kindTable, index: index}}
	}
	list := func(name string, slot uint16, index int) field {
		return field{name: name, slot: slot, required: true, vector: true, typ: typ{kind: kindTable, index: index}}
	}
	return &Description{ident: reflectionIdent, root: reflSchema, tables: []table{
		reflType: {"reflection.Type", []field{
			scalar("base_type", typeBase, 1), scalar("element", typeElement, 1), scalar("index", typeIndex, 4)}},
		reflEnumVal: {"reflection.EnumVal", []field{
			text("name", enumValName, true), scalar("value", enumValValue, 8),
			child("union_type", enumValUnionType, reflType, false)}},
		reflEnum: {"reflection.Enum", []field{
			text("name", enumName, true), list("values", enumValues, reflEnumVal), scalar("is_union", enumIsUnion, 1)}},
		reflField: {"reflection.Field", []field{
			text("name", fieldName, true), child("type", fieldType, reflType, true), scalar("offset", fieldOffset, 2),
			scalar("deprecated", fieldDeprecated, 1), scalar("required", fieldRequired, 1),
			scalar("offset64", fieldOffset64, 1)}},
		reflObject: {"reflection.Object", []field{
			text("name", objectName, true), list("fields", objectFields, reflField),
			scalar("is_struct", objectIsStruct, 1), scalar("bytesize", objectByteSize, 4)}},
		reflSchema: {"reflection.Schema", []field{
			list("objects", schemaObjects, reflObject), list("enums", schemaEnums, reflEnum),
			text("file_ident", schemaIdent, false), child("root_table", schemaRoot, reflObject, false)}},
	}}
}

// record reads a table of a verified file by vtable offset.
type record struct{ flatbuffers.Table }

func (r record) flag(slot flatbuffers.VOffsetT) bool { return r.GetBoolSlot(slot, false) }

func (r record) base(slot flatbuffers.VOffsetT) baseType { return baseType(r.GetByteSlot(slot, 0)) }

func (r record) text(slot flatbuffers.VOffsetT) string {
	o := r.Offset(slot)
	if o == 0 {
		return ""
	}
	return r.String(r.Pos + flatbuffers.UOffsetT(o))
}

func (r record) child(slot flatbuffers.VOffsetT) (record, bool) {
	o := r.Offset(slot)
	if o == 0 {
		return record{}, false
	}
	return record{flatbuffers.Table{Bytes: r.Bytes, Pos: r.Indirect(r.Pos + flatbuffers.UOffsetT(o))}}, true
}

func (r record) list(slot flatbuffers.VOffsetT) []record {
	o := flatbuffers.UOffsetT(r.Offset(slot))
	if o == 0 {
		return nil
	}
	records := make([]record, r.VectorLen(o))
	for i := range records {
		at := r.Vector(o) + flatbuffers.UOffsetT(i*flatbuffers.SizeUOffsetT)
		records[i] = record{flatbuffers.Table{Bytes: r.Bytes, Pos: r.Indirect(at)}}
	}
	return records
}
