package schema

import (
	"bytes"
	"encoding/binary"
	"os"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema/testdata/zoo"
)

// described reads testdata/NAME.bfbs.
func described(t testing.TB, name string) *Description {
	t.Helper()
	d, err := ParseDescription(file(t, "testdata/"+name+".bfbs"))
	require.NoError(t, err)
	return d
}

func file(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	require.NoError(t, err)
	return b
}

// built finishes a Zoo whose only cage holds the lion, or whatever else offset is, under tag.
func built(b *flatbuffers.Builder, tag zoo.Animal, offset flatbuffers.UOffsetT) []byte {
	zoo.CageStart(b)
	zoo.CageAddAnimalType(b, tag)
	zoo.CageAddAnimal(b, offset)
	cage := zoo.CageEnd(b)
	zoo.ZooStartCagesVector(b, 1)
	b.PrependUOffsetT(cage)
	cages := b.EndVector(1)
	zoo.ZooStart(b)
	zoo.ZooAddCages(b, cages)
	b.FinishWithFileIdentifier(zoo.ZooEnd(b), []byte("ZOO1"))
	return b.FinishedBytes()
}

// pride builds a lion with n cubs that are one and the same lion, and so on for levels levels.
func pride(b *flatbuffers.Builder, levels, n int) flatbuffers.UOffsetT {
	zoo.LionStart(b)
	lion := zoo.LionEnd(b)
	for range levels - 1 {
		zoo.LionStartCubsVector(b, n)
		for range n {
			b.PrependUOffsetT(lion)
		}
		cubs := b.EndVector(n)
		zoo.LionStart(b)
		zoo.LionAddCubs(b, cubs)
		lion = zoo.LionEnd(b)
	}
	return lion
}

func TestVerifyDepth(t *testing.T) {
	d := described(t, "zoo")
	lions := func(levels int) []byte {
		b := flatbuffers.NewBuilder(0)
		return built(b, zoo.AnimalLion, pride(b, levels, 1))
	}
	// The zoo and the cage are two levels.
	require.NoError(t, Verify(lions(62), d, Limits{}))
	requireDetail(t, Verify(lions(63), d, Limits{}), "nested deeper than 64 tables")
	require.NoError(t, Verify(lions(3), d, Limits{Depth: 5}))
	requireDetail(t, Verify(lions(4), d, Limits{Depth: 5}),
		"Zoo.cages[0].animal.cubs[0].cubs[0].cubs[0]: nested deeper than 5 tables")
	// A limit beyond the stack's is cut rather than trusted.
	require.NoError(t, Verify(lions(9_998), d, Limits{Depth: 1 << 30}))
	requireDetail(t, Verify(lions(9_999), d, Limits{Depth: 1 << 30}), "nested deeper than 10000 tables")
}

// Depth counts the levels above a table, not the tables beside it.
func TestVerifyDepthIsGivenBack(t *testing.T) {
	b := flatbuffers.NewBuilder(0)
	buf := built(b, zoo.AnimalLion, pride(b, 2, 100))
	require.NoError(t, Verify(buf, described(t, "zoo"), Limits{Depth: 4}))
	requireDetail(t, Verify(buf, described(t, "zoo"), Limits{Depth: 3}), "nested deeper than 3 tables")
}

func TestVerifyTables(t *testing.T) {
	d := described(t, "zoo")
	b := flatbuffers.NewBuilder(0)
	// 1 zoo, 1 cage, 1 lion and 7 cubs.
	buf := built(b, zoo.AnimalLion, pride(b, 2, 7))
	require.NoError(t, Verify(buf, d, Limits{Tables: 10}))
	requireDetail(t, Verify(buf, d, Limits{Tables: 9}), "Zoo.cages[0].animal.cubs[6]", "more than 9")

	// 60 levels of two cubs each that are the same: 2 KB of file, 2^60 paths.
	b = flatbuffers.NewBuilder(0)
	buf = built(b, zoo.AnimalLion, pride(b, 60, 2))
	require.Less(t, len(buf), 4096)
	requireDetail(t, Verify(buf, d, Limits{}), "more than 1000000")
}

// Strings count too: a vector of them is as long as the file says, and many tables can share it.
func TestVerifyCountsStrings(t *testing.T) {
	d := described(t, "zoo")
	buf := file(t, "testdata/zoo.bin")
	// Tables: a zoo, 4 cages, 4 lions, 1 bird, 4 keepers. Strings: the zoo's, the bird's and 4 keepers' names, 3 tags.
	require.NoError(t, Verify(buf, d, Limits{Tables: 23}))
	requireDetail(t, Verify(buf, d, Limits{Tables: 22}), "more than 22")
}

func TestVerifyIdentifier(t *testing.T) {
	d := described(t, "zoo")
	buf := file(t, "testdata/zoo.bin")
	buf[7] = '2'
	requireDetail(t, Verify(buf, d, Limits{}), `Zoo: file identifier "ZOO2" at byte 4, the schema's is "ZOO1"`)
	requireDetail(t, Verify(buf[:7], d, Limits{}), "Zoo: head of the file needs 8 bytes at byte 0, the file has 7")
}

func TestVerifyRequired(t *testing.T) {
	d := described(t, "zoo")
	b := flatbuffers.NewBuilder(0)
	zoo.ZooStart(b)
	b.FinishWithFileIdentifier(zoo.ZooEnd(b), []byte("ZOO1"))
	requireDetail(t, Verify(b.FinishedBytes(), d, Limits{}), "Zoo.cages: required, but absent")

	b = flatbuffers.NewBuilder(0)
	zoo.KeeperStart(b)
	keeper := zoo.KeeperEnd(b)
	requireDetail(t, Verify(built(b, zoo.AnimalNamed, keeper), d, Limits{}), "Zoo.cages[0].animal.name: required, but absent")
}

// A struct is checked as one piece: it has to fit where it stands, in a table or in a vector.
func TestVerifyStructs(t *testing.T) {
	d := described(t, "zoo")
	buf := file(t, "testdata/zoo.bin")
	require.NoError(t, Verify(buf, d, Limits{}))
	z := zoo.GetRootAsZoo(buf, 0)
	table := z.Table()

	gate := int(table.Pos) - int(table.GetSOffsetT(table.Pos)) + 4 + 2*7
	short := bytes.Clone(buf)
	size := binary.LittleEndian.Uint16(short[int(table.Pos)-int(table.GetSOffsetT(table.Pos))+2:])
	binary.LittleEndian.PutUint16(short[gate:], size-15) // a Point has 16 bytes
	requireDetail(t, Verify(short, d, Limits{}), "Zoo.gate: field of 16 bytes")

	length := int(table.Vector(flatbuffers.UOffsetT(table.Offset(4+2*3)))) - 4
	long := bytes.Clone(buf)
	binary.LittleEndian.PutUint32(long[length:], uint32((len(buf)-length-4)/48+1)) // a Box has 48 bytes
	requireDetail(t, Verify(long, d, Limits{}), "Zoo.map: vector of", "elements of 48 bytes")
}

// No accessor reads a deprecated field, so that nothing is behind it is no fault.
func TestVerifyLeavesDeprecatedFieldsAlone(t *testing.T) {
	b := flatbuffers.NewBuilder(0)
	b.StartObject(6)
	b.PrependUint32Slot(4, 0xfffffff0, 0) // Cage.old, an offset to nowhere
	cage := b.EndObject()
	zoo.ZooStartCagesVector(b, 1)
	b.PrependUOffsetT(cage)
	cages := b.EndVector(1)
	zoo.ZooStart(b)
	zoo.ZooAddCages(b, cages)
	b.FinishWithFileIdentifier(zoo.ZooEnd(b), []byte("ZOO1"))
	require.NoError(t, Verify(b.FinishedBytes(), described(t, "zoo"), Limits{}))
}

// herd.bin is a vector of five unions (Cow, string, Goat, struct, Cow) with a struct as a union of its own.
func TestVerifyUnionVectors(t *testing.T) {
	d := described(t, "herd")
	good := file(t, "testdata/herd.bin")
	require.NoError(t, Verify(good, d, Limits{}))

	root := flatbuffers.Table{Bytes: good, Pos: flatbuffers.GetUOffsetT(good)}
	vtable := int(root.Pos) - int(root.GetSOffsetT(root.Pos))
	tags := int(root.Vector(flatbuffers.UOffsetT(root.Offset(4))))
	values := int(root.Vector(flatbuffers.UOffsetT(root.Offset(6))))
	leader := int(root.Pos) + int(root.Offset(10))
	put8 := func(at int, v byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] = v; return b }
	}
	for _, c := range []struct {
		name string
		edit func([]byte) []byte
		want string // "" where it is right
	}{
		{"fewer tags", put32(tags-4, 4), "Herd.beasts: vector of unions has 4 tags and 5 values"},
		{"fewer values", put32(values-4, 4), "Herd.beasts: vector of unions has 5 tags and 4 values"},
		{"too many tags", put32(tags-4, 1000), "Herd.beasts_type: vector of 1000 elements of 1 bytes"},
		{"too many values", put32(values-4, 1<<30), "Herd.beasts: vector of unions of 1073741824 elements of 4 bytes"},
		{"no tags", put16(vtable+4, 0), "Herd.beasts: vector of unions has values and no tags"},
		{"no values", put16(vtable+6, 0), "Herd.beasts: vector of unions has tags and no values"},
		{"no leader", both(put16(vtable+8, 0), put16(vtable+10, 0)), "Herd.leader: required, but absent"},
		{"NONE with a value", put8(tags, 0), ""},
		{"NONE without", both(put8(tags, 0), put32(values, 0)), ""},
		{"NONE with a value outside", both(put8(tags, 0), put32(values, 1<<20)), "Herd.beasts[0]: offset 1048576"},
		{"value 0 under a tag", put32(values, 0), "Herd.beasts[0]: offset at byte"},
		{"unknown tag", put8(tags+1, 77), ""},
		{"string for a table", put8(tags+1, 1), "Herd.beasts[1]: vtable needs"},
		{"struct at the end of the file", put32(leader, uint32(len(good)-leader-15)), "Herd.leader: struct needs 16 bytes"},
		{"struct up to the end of the file", put32(leader, uint32(len(good)-leader-16)), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Verify(c.edit(bytes.Clone(good)), d, Limits{})
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			requireDetail(t, err, c.want)
		})
	}
}
