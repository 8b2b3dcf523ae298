package schema

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Sizes of the pieces every FlatBuffer is made of, in bytes.
const (
	sizeOffset = 4 // uoffset, soffset, a vector's length
	sizeVEntry = 2 // a vtable's entries
	sizeVHead  = 4 // a vtable's own length and the length of its table
	sizeIdent  = 4
	maxFile    = math.MaxInt32 // offsets are signed in places: 2 GiB - 1 is the most a FlatBuffer can hold
)

// Limits bounds the work Verify does. The zero value means the defaults, which are those of Google's C++ verifier.
type Limits struct {
	// Depth is how deep tables may nest; 0 means 64. More than 10,000 counts as 10,000, since each level takes stack.
	Depth int
	// Tables is how many tables, strings and union values may be visited; 0 means 1,000,000. What several offsets share
	// counts each time, so that a small file cannot fan out into endless work.
	Tables int
	// EmptyUnions lets a union have a tag and no value, as Google's C++ verifier does. Accessors tell the two apart.
	EmptyUnions bool
}

const (
	defaultDepth  = 64
	maxDepth      = 10_000
	defaultTables = 1_000_000
)

// Verify proves that whoever walks buf with accessors generated from d's schema stays inside buf: every offset, vtable,
// field, vector, string and union is where the file says and fits. It allocates nothing unless it fails, takes time
// linear in the visits Limits allows, and visits vectors of scalars and structs in one step whatever their length.
//
// It does not judge values (an enum or a boolean out of range is the reader's to refuse), and it asks for no alignment:
// Go's accessors read byte by byte, and real writers misalign (force_align ignored by PyTorch's XNNGraph writer, 8-byte
// scalars displaced by a size prefix). Code that takes a typed view of a vector checks the address itself.
//
// The identifier at bytes 4..7 must be the one the schema declares, where it declares one. A tag unknown to the schema
// is accepted as an opaque value inside the file. Bytes of a nested FlatBuffer are only bytes: verify them on their own.
//
// The error is an *Error of StageVerify and ErrFormat; its Detail names the path, what was found and what was needed.
func Verify(buf []byte, d *Description, limits Limits) error {
	if d == nil {
		return Errorf(StageVerify, ErrArgument, "no description of the schema to verify against")
	}
	if limits.Depth <= 0 {
		limits.Depth = defaultDepth
	}
	if limits.Tables <= 0 {
		limits.Tables = defaultTables
	}
	limits.Depth = min(limits.Depth, maxDepth)
	v := verifier{buf: buf, size: int64(len(buf)), d: d, limits: limits, depth: limits.Depth, visits: limits.Tables}
	if f := v.file(); f != nil {
		slices.Reverse(f.path)
		path := bareName(d.tables[d.root].name) + strings.Join(f.path, "")
		return Errorf(StageVerify, ErrFormat, "%s: %s", path, f.detail)
	}
	return nil
}

// fault is a rejection on its way up. The path is collected while it rises, innermost first, so that a file without
// faults pays nothing for it.
type fault struct {
	path   []string
	detail string
}

func faultf(format string, args ...any) *fault {
	return &fault{detail: fmt.Sprintf(format, args...)}
}

func (f *fault) inField(name string) *fault {
	f.path = append(f.path, "."+name)
	return f
}

func (f *fault) inElement(i int64) *fault {
	f.path = append(f.path, fmt.Sprintf("[%d]", i))
	return f
}

// verifier is one walk over one file. Positions are int64: no sum of a position and an offset can wrap.
type verifier struct {
	buf    []byte
	size   int64
	d      *Description
	limits Limits
	depth  int // levels left
	visits int // visits left
}

// The reads below are only for places already known to lie inside.

func (v *verifier) u16(pos int64) uint16 { return binary.LittleEndian.Uint16(v.buf[pos:]) }
func (v *verifier) u32(pos int64) uint32 { return binary.LittleEndian.Uint32(v.buf[pos:]) }

// inside asks for n bytes at pos.
func (v *verifier) inside(pos, n int64, what string) *fault {
	if pos < 0 || n > v.size || pos > v.size-n {
		return faultf("%s needs %d bytes at byte %d, the file has %d", what, n, pos, v.size)
	}
	return nil
}

// visit takes n visits from the budget.
func (v *verifier) visit(n int64) *fault {
	if n > int64(v.visits) {
		return faultf("more than %d tables, strings and unions", v.limits.Tables)
	}
	v.visits -= int(n)
	return nil
}

// follow gives the place the offset at pos points to, known to be inside the file. Offsets only point forward, and a
// field never overlaps the head of its table, so a walk cannot come back to where it was.
func (v *verifier) follow(pos int64) (int64, *fault) {
	if f := v.inside(pos, sizeOffset, "offset"); f != nil {
		return 0, f
	}
	off := int64(v.u32(pos))
	if off == 0 {
		return 0, faultf("offset at byte %d is 0, it must point past itself", pos)
	}
	if pos+off >= v.size {
		return 0, faultf("offset %d at byte %d leaves the file of %d bytes", off, pos, v.size)
	}
	return pos + off, nil
}

// file checks the head of the file and all that hangs from its root.
func (v *verifier) file() *fault {
	if v.size > maxFile {
		return faultf("file of %d bytes, a FlatBuffer has at most %d", v.size, int64(maxFile))
	}
	head := int64(sizeOffset + len(v.d.ident))
	if f := v.inside(0, head, "head of the file"); f != nil {
		return f
	}
	if found := string(v.buf[sizeOffset:head]); found != v.d.ident {
		return faultf("file identifier %q at byte %d, the schema's is %q", found, sizeOffset, v.d.ident)
	}
	pos, f := v.follow(0)
	if f != nil {
		return f
	}
	if pos < head {
		return faultf("root offset %d points into the head of %d bytes", pos, head)
	}
	return v.table(pos, v.d.root)
}
