package schema

import (
	_ "embed"
	"strings"
	"sync"
)

// Description is what the verifier knows of a FlatBuffer schema: the tables, the fields in them and where each keeps its
// place in the vtable. It is immutable and safe for concurrent use.
//
// It is read from flatc's binary schema rather than generated as Go source: flatc writes the file itself, with no second
// generator to trust, it costs microseconds to read once, and any other schema's .bfbs can be verified against in a test
// without code.
type Description struct {
	ident  string // file identifier the schema declares, or ""
	root   int    // index into tables
	tables []table
	unions []union
}

// table is one table of the schema.
type table struct {
	name   string
	fields []field // by slot; deprecated ones left out, since no accessor exists that could read them
}

// field is one field of a table. A union is one field here: the tag stands in the slot before.
type field struct {
	name     string
	slot     uint16 // byte offset in the vtable
	required bool
	vector   bool // a vector of typ instead of one
	typ      typ
}

// typ is what a field, a vector's element or a union's member is.
type typ struct {
	kind  kind
	size  uint32 // kindInline: bytes
	index int    // kindTable: into tables; kindUnion: into unions
}

// kind is how a thing is stored.
type kind uint8

const (
	kindNone   kind = iota // a union's tag that stands for nothing
	kindInline             // in place: a scalar, an enum, a struct with whatever it nests
	kindString             // behind an offset
	kindTable              // behind an offset
	kindUnion              // behind an offset, its kind told by a tag
)

// union maps a tag to the member it stands for. A tag that is not in it is one of a newer schema.
type union map[uint8]typ

// inlineSize is the number of bytes t occupies where it is used: itself, or an offset to it.
func (t typ) inlineSize() uint32 {
	if t.kind == kindInline {
		return t.size
	}
	return sizeOffset
}

// bareName strips the namespace.
func bareName(name string) string {
	return name[strings.LastIndexByte(name, '.')+1:]
}

//go:embed xnngraph.bfbs
var xnngraphSchema []byte

// XNNGraph describes schema/xnngraph.fbs.
func XNNGraph() *Description { return xnngraphDescription() }

var xnngraphDescription = sync.OnceValue(func() *Description {
	d, err := ParseDescription(xnngraphSchema)
	if err != nil {
		panic("schema: the embedded xnngraph.bfbs cannot be read: " + err.Error()) // a build fault, no input reaches this
	}
	return d
})
