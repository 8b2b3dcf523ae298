package schema

import (
	_ "embed"
	"slices"
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

//go:embed tflite.bfbs
var tfliteSchema []byte

// XNNGraph describes schema/xnngraph.fbs.
func XNNGraph() *Description { return xnngraphDescription() }

// XNNGraphSeed describes the part of schema/xnngraph.fbs that a file without an identifier can hold. Fields that came later are a
// newer writer's there, of any type, and left alone.
func XNNGraphSeed() *Description { return seedDescription() }

var seedDescription = sync.OnceValue(func() *Description {
	return XNNGraph().without("XNNTensorValue.dq_datatype", "XNode.output_min_max", "XNNGraph.constant_data")
})

// without is d but for some fields, each named table.field.
func (d *Description) without(fields ...string) *Description {
	c := *d
	c.tables = slices.Clone(d.tables)
	for i := range c.tables {
		t := &c.tables[i]
		t.fields = slices.DeleteFunc(slices.Clone(t.fields), func(f field) bool {
			return slices.Contains(fields, bareName(t.name)+"."+f.name)
		})
	}
	return &c
}

var xnngraphDescription = embedded("xnngraph.bfbs", xnngraphSchema)

// TFLite describes schema/tflite.fbs.
func TFLite() *Description { return tfliteDescription() }

var tfliteDescription = embedded("tflite.bfbs", tfliteSchema)

// embedded reads a schema of ours when it is first asked for.
func embedded(name string, bfbs []byte) func() *Description {
	return sync.OnceValue(func() *Description {
		d, err := ParseDescription(bfbs)
		if err != nil {
			panic("schema: the embedded " + name + " cannot be read: " + err.Error()) // a build fault, no input reaches this
		}
		return d
	})
}
