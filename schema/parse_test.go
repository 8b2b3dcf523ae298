package schema

import (
	"bytes"
	"math/rand/v2"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"
)

// The descriptions of our schema, field by field: slots are 4 + 2 * field id. The seed's is a part of the whole.
func TestParseXNNGraph(t *testing.T) {
	names := func(fields []field) []string {
		var list []string
		for _, f := range fields {
			list = append(list, f.name)
		}
		return list
	}
	scalar := func(name string, slot uint16, size uint32) field {
		return field{name: name, slot: slot, typ: typ{kind: kindInline, size: size}}
	}
	scalars := func(name string, slot uint16, size uint32) field {
		return field{name: name, slot: slot, vector: true, typ: typ{kind: kindInline, size: size}}
	}
	for _, d := range []*Description{XNNGraph(), XNNGraphSeed()} {
		tables, seed := map[string][]field{}, d == XNNGraphSeed()
		for _, table := range d.tables {
			tables[bareName(table.name)] = table.fields
		}
		name := func(t typ) string { return bareName(d.tables[t.index].name) }
		require.Equal(t, []field{scalars("storage", 4, 1)}, tables["Buffer"])
		require.Equal(t, []field{scalar("input1_id", 4, 4), scalar("input2_id", 6, 4), scalar("output_id", 8, 4),
			scalar("flags", 10, 4)}, tables["XNNNode2x1"])

		value := []field{scalar("datatype", 4, 2), scalar("num_dims", 6, 4), scalars("dims", 8, 4),
			scalar("constant_buffer_idx", 10, 4), scalar("external_id", 12, 4), scalar("flags", 14, 4), scalar("id_out", 16, 4)}
		if !seed {
			value = append(value, scalar("dq_datatype", 18, 2))
		}
		require.Equal(t, value, tables["XNNTensorValue"])

		node := tables["XNode"]
		require.Equal(t, []string{"xnode_type", "xnode", "debug_handle"}, names(node[:3]))
		require.Equal(t, kindUnion, node[1].typ.kind)
		members := d.unions[node[1].typ.index]
		require.Equal(t, kindTable, members[1].kind)
		require.Equal(t, "XNNNode2x1", name(members[1]))
		require.NotContains(t, members, uint8(48), "numbers up to 127 are ExecuTorch's to give")
		require.NotContains(t, members, uint8(127))
		require.Contains(t, members, uint8(128))
		if seed {
			require.Len(t, node, 3)
		} else {
			require.Equal(t, "OutputMinMax", name(node[3].typ))
		}

		graph := tables["XNNGraph"]
		require.Equal(t, field{name: "version", slot: 4, typ: typ{kind: kindString}}, graph[0])
		require.Equal(t, "XNode", name(graph[1].typ))
		require.Equal(t, "XValue", name(graph[2].typ))
		require.Equal(t, []field{scalar("num_externs", 10, 4), scalars("input_ids", 12, 4), scalars("output_ids", 14, 4)}, graph[3:6])
		require.Equal(t, "Buffer", name(graph[6].typ))
		require.Equal(t, scalars("mem_buffer_sizes", 18, 4), graph[7])
		if seed {
			require.Len(t, graph, 8)
		} else {
			require.Equal(t, "constant_data", graph[8].name)
			require.Equal(t, "ConstantDataOffset", name(graph[8].typ))
		}
	}
}

func TestParseHerd(t *testing.T) {
	d := described(t, "herd")
	require.Empty(t, d.ident)
	fields := d.tables[d.root].fields
	require.Equal(t, kindUnion, fields[1].typ.kind)
	require.True(t, fields[1].vector)
	beast := d.unions[fields[1].typ.index]
	require.Equal(t, []kind{kindTable, kindTable, kindInline, kindString},
		[]kind{beast[1].kind, beast[2].kind, beast[3].kind, beast[4].kind})
	require.EqualValues(t, 16, beast[3].size) // ulong, three ushorts, two bytes of padding
}

func TestParseZoo(t *testing.T) {
	d := described(t, "zoo")
	require.Equal(t, "ZOO1", d.ident)
	for _, table := range d.tables {
		for _, f := range table.fields {
			require.NotEqual(t, "old", f.name, "a deprecated field")
		}
	}
}

func TestParseDescriptionRejects(t *testing.T) {
	for name, b := range map[string][]byte{
		"nothing":        nil,
		"text":           []byte("table T { x:int; } root_type T;"),
		"another format": handmade(),
		"cut":            xnngraphSchema[:len(xnngraphSchema)/2],
	} {
		_, err := ParseDescription(b)
		require.ErrorIs(t, err, ErrFormat, name)
	}
}

// reflected finds the table of a reflection field by its schema name and gives the place of one of its slots.
func reflected(t *testing.T, bfbs []byte, object, name string, slot flatbuffers.VOffsetT) int {
	t.Helper()
	schema := record{flatbuffers.Table{Bytes: bfbs, Pos: flatbuffers.GetUOffsetT(bfbs)}}
	for _, o := range schema.list(schemaObjects) {
		if bareName(o.text(objectName)) != object {
			continue
		}
		for _, f := range o.list(objectFields) {
			if f.text(fieldName) == name {
				require.NotZero(t, f.Offset(slot))
				return int(f.Pos) + int(f.Offset(slot))
			}
		}
	}
	require.Fail(t, "no such field")
	return 0
}

func TestParseDescriptionRejectsWhatTheVerifierReliesOn(t *testing.T) {
	place := func(object, name string) int {
		return reflected(t, xnngraphSchema, object, name, fieldOffset)
	}
	typeOf := func(object, name string, slot flatbuffers.VOffsetT) int {
		at := reflected(t, xnngraphSchema, object, name, fieldType)
		r := flatbuffers.Table{Bytes: xnngraphSchema, Pos: flatbuffers.UOffsetT(at) + flatbuffers.GetUOffsetT(xnngraphSchema[at:])}
		require.NotZero(t, r.Offset(slot))
		return int(r.Pos) + int(r.Offset(slot))
	}
	for _, c := range []struct {
		name string
		edit func([]byte) []byte
		want string
	}{
		{"odd slot", put16(place("XNNNode2x1", "flags"), 11), "binary schema: xnngraph.XNNNode2x1.flags has vtable offset 11"},
		{"slot in the head of the vtable", put16(place("XNNNode2x1", "flags"), 2), "xnngraph.XNNNode2x1.flags has vtable offset 2"},
		{"union away from its tag", put16(place("XNode", "xnode"), 10), "xnngraph.XNode.xnode has no tag in the slot before it"},
		{"union of no enum", put32(typeOf("XNode", "xnode", typeIndex), 99), "index 99 is no union"},
		{"union of an enum", put32(typeOf("XNode", "xnode", typeIndex), 0), "index 0 is no union"},
		{"table of no object", put32(typeOf("XNNGraph", "xnodes", typeIndex), 99), "index 99 is no object"},
		{"unknown type", func(b []byte) []byte { b[typeOf("XNNNode2x1", "input2_id", typeBase)] = 18; return b },
			"has a type without a form: 18"},
	} {
		_, err := ParseDescription(c.edit(bytes.Clone(xnngraphSchema)))
		requireDetail(t, err, c.want)
	}
}

// Whatever a binary schema says, the description it gives never leads the verifier to a panic.
func TestParseDescriptionMutations(t *testing.T) {
	files := [][]byte{handmade(), file(t, "testdata/zoo.bin"), file(t, "testdata/herd.bin")}
	parsed := 0
	for i, bfbs := range [][]byte{xnngraphSchema, file(t, "testdata/zoo.bfbs"), file(t, "testdata/herd.bfbs")} {
		r := rand.New(rand.NewPCG(2, uint64(i)))
		for range 10_000 {
			d, err := ParseDescription(mutate(r, bfbs))
			if err != nil {
				continue
			}
			parsed++
			for _, b := range files {
				if Verify(b, d, Limits{}) == nil {
					walkDescribed(b, d)
				}
			}
		}
	}
	require.NotZero(t, parsed)
}
