package graph_test

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

const fixtures = "../../schema/testdata/xnngraph/"

var kinds = map[string]error{
	"ErrFormat": schema.ErrFormat, "ErrGraph": schema.ErrGraph, "ErrShape": schema.ErrShape, "ErrUnsupported": schema.ErrUnsupported,
}

// TestUnmarshalRejects reads files that flatc made wrong, one fault each. The table beside them says what an error must tell.
func TestUnmarshalRejects(t *testing.T) {
	for dir, separator := range map[string]string{fixtures + "bad/": ",", testdata + "executorch/bad/": ";"} {
		table, err := os.ReadFile(dir + "expect.tsv")
		require.NoError(t, err)
		rows := 0
		for row := range strings.Lines(string(table)) {
			if strings.HasPrefix(row, "#") {
				continue
			}
			rows++
			f := strings.Split(strings.TrimSpace(row), "\t")
			require.Len(t, f, 3, row)
			t.Run(f[0], func(t *testing.T) {
				data, err := os.ReadFile(dir + f[0] + ".bin")
				require.NoError(t, err)
				_, err = graph.Unmarshal(data)
				require.NotNil(t, kinds[f[1]], f[1])
				require.ErrorIs(t, err, kinds[f[1]], "%v", err)
				for _, text := range strings.Split(f[2], separator) {
					require.ErrorContains(t, err, text)
				}
			})
		}
		files, err := filepath.Glob(dir + "*.bin")
		require.NoError(t, err)
		require.Equal(t, len(files), rows, "every bad file has a row")
	}
}

func TestUnmarshalAccepts(t *testing.T) {
	files, err := filepath.Glob(fixtures + "*.bin")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		g, err := graph.Unmarshal(data)
		require.NoError(t, err, f)

		// Written and read again it is the same graph, but for the ids.
		again, err := g.Marshal()
		require.NoError(t, err, f)
		g2, err := graph.Unmarshal(again)
		require.NoError(t, err, f)
		require.Equal(t, canonical(g), canonical(g2), f)
		same, err := g2.Marshal()
		require.NoError(t, err)
		require.Equal(t, again, same, "%s: writing is stable", f)
	}
}

// canonical is g without what Marshal may choose.
func canonical(g *graph.Graph) *graph.Graph {
	c := g.Clone()
	for i := range c.Values {
		c.Values[i].Ref = 0
	}
	for i := range c.Nodes {
		c.Nodes[i].Ref = 0
		if p, ok := c.Nodes[i].Op.(graph.Pad); ok && p.Value != p.Value {
			p.Value = 0 // not a number, which does not equal itself
			c.Nodes[i].Op = p
		}
	}
	for i := range c.Constants {
		k := &c.Constants[i]
		k.Reserve = uint32(k.Size())
		if i == 0 {
			*k = graph.Constant{}
		}
	}
	if len(c.Constants) == 0 {
		c.Constants = make([]graph.Constant, 1)
	}
	return c
}

func TestUnmarshalFields(t *testing.T) {
	data, err := os.ReadFile(fixtures + "const.bin")
	require.NoError(t, err)
	g, err := graph.Unmarshal(data)
	require.NoError(t, err)
	require.NotEmpty(t, g.Version)
	require.Len(t, g.Nodes, 1)
	require.Equal(t, "Add", g.Nodes[0].Op.Kind())
	require.NotZero(t, g.Nodes[0].DebugHandle)
	require.Len(t, g.Constants, 2)
	require.Len(t, g.Inputs, 1)
	require.Len(t, g.Outputs, 1)
	c := g.Values[g.Nodes[0].Inputs[1]]
	require.Equal(t, "fp32[3]", c.Type.String())
	require.Equal(t, []float32{10, 20, 30}, floats(g.Constants[c.Constant].Data))
	require.Equal(t, 12, g.Constants[1].Size())
	require.Zero(t, g.Constants[1].Reserve, "mem_buffer_sizes says what the data does")
}

func floats(b []byte) []float32 {
	aligned := append([]byte(nil), b...)
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(aligned))), len(b)/4)
}

// TestMarshalForFlatc lets flatc, which shares no code with the writer, read what Marshal writes.
func TestMarshalForFlatc(t *testing.T) {
	needFlatc(t)
	g := graph.New()
	x := g.Input(graph.Float32, 2, 3)
	y := g.Add(g.Add(x, g.Constant([]float32{1, 2, 3}, 3)), g.Constant([]float32{4}))
	g.Output(y)
	g.Output(x)
	g.Version = "v"
	g.ArenaBytes = 4096
	g.Nodes[1].DebugHandle = 7
	file := marshalled(t, g)
	var want any
	require.NoError(t, json.Unmarshal([]byte(`{
		"version": "v",
		"xnodes": [
			{"xnode_type": "XNNAdd", "xnode": {"input1_id": 0, "input2_id": 2, "output_id": 3, "flags": 0}, "debug_handle": 0},
			{"xnode_type": "XNNAdd", "xnode": {"input1_id": 3, "input2_id": 4, "output_id": 1, "flags": 0}, "debug_handle": 7}
		],
		"xvalues": [
			{"xvalue_type": "XNNTensorValue", "xvalue": {"datatype": "xnn_datatype_fp32", "num_dims": 2, "dims": [2, 3],
				"constant_buffer_idx": 0, "external_id": 0, "flags": 3, "dq_datatype": "xnn_datatype_invalid", "id_out": 0}},
			{"xvalue_type": "XNNTensorValue", "xvalue": {"datatype": "xnn_datatype_fp32", "num_dims": 1, "dims": [3],
				"constant_buffer_idx": 1, "external_id": 4294967295, "flags": 0, "dq_datatype": "xnn_datatype_invalid", "id_out": 2}},
			{"xvalue_type": "XNNTensorValue", "xvalue": {"datatype": "xnn_datatype_fp32", "num_dims": 2, "dims": [2, 3],
				"constant_buffer_idx": 0, "external_id": 4294967295, "flags": 0, "dq_datatype": "xnn_datatype_invalid", "id_out": 3}},
			{"xvalue_type": "XNNTensorValue", "xvalue": {"datatype": "xnn_datatype_fp32", "num_dims": 0, "dims": [],
				"constant_buffer_idx": 2, "external_id": 4294967295, "flags": 0, "dq_datatype": "xnn_datatype_invalid", "id_out": 4}},
			{"xvalue_type": "XNNTensorValue", "xvalue": {"datatype": "xnn_datatype_fp32", "num_dims": 2, "dims": [2, 3],
				"constant_buffer_idx": 0, "external_id": 1, "flags": 2, "dq_datatype": "xnn_datatype_invalid", "id_out": 1}}
		],
		"num_externs": 2,
		"input_ids": [0],
		"output_ids": [1, 0],
		"constant_buffer": [{}, {"storage": [0,0,128,63, 0,0,0,64, 0,0,64,64]}, {"storage": [0,0,128,64]}],
		"mem_buffer_sizes": [4096, 12, 4]
	}`), &want))
	require.Equal(t, want, flatcJSON(t, "../../schema/xnngraph.fbs", file))

	// Constants can be used in place.
	g2, err := graph.Unmarshal(file)
	require.NoError(t, err)
	start := uintptr(unsafe.Pointer(unsafe.SliceData(file)))
	for _, c := range g2.Constants[1:] {
		require.Zero(t, (uintptr(unsafe.Pointer(unsafe.SliceData(c.Data)))-start)%16)
	}
}

// TestMutatedRoundTrips: files with one word changed that are still graphs are the same graphs when written and read again.
func TestMutatedRoundTrips(t *testing.T) {
	words := []uint32{0, 1, 2, 3, 5, 8, 1 << 16, 1<<31 - 1, 1 << 31, math.MaxUint32}
	graphs := 0
	for _, f := range fixtureTable {
		data := f.file(t)
		for at := 0; at+4 <= len(data); at += 4 {
			was := binary.LittleEndian.Uint32(data[at:])
			for _, w := range append(words, was-1, was+1, 2*was) {
				binary.LittleEndian.PutUint32(data[at:], w)
				g, err := graph.Unmarshal(data)
				if err != nil {
					continue
				}
				graphs++
				again, err := graph.Unmarshal(marshalled(t, g))
				require.NoError(t, err, "%s, byte %d: %d", f.name, at, w)
				require.Equal(t, canonical(g), canonical(again), "%s, byte %d: %d", f.name, at, w)
			}
			binary.LittleEndian.PutUint32(data[at:], was)
		}
	}
	t.Logf("%d graphs", graphs)
	require.Greater(t, graphs, 1000)
}

// FuzzUnmarshal wants an error or a graph that can be written and read again.
func FuzzUnmarshal(f *testing.F) {
	for _, dir := range []string{"xnngraph", "xnngraph/bad", "executorch", "executorch/bad", "ours"} {
		files, err := filepath.Glob(testdata + dir + "/*.bin")
		require.NoError(f, err)
		for _, name := range files {
			data, err := os.ReadFile(name)
			require.NoError(f, err)
			f.Add(data)
		}
	}
	f.Add(framed(addBehind(f), little(10, 20, 30)))
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := graph.Unmarshal(data)
		if err != nil {
			var e *schema.Error
			require.ErrorAs(t, err, &e)
			require.NotEmpty(t, e.Detail)
			return
		}
		again, err := g.Marshal()
		require.NoError(t, err)
		g2, err := graph.Unmarshal(again)
		require.NoError(t, err)
		require.Equal(t, canonical(g), canonical(g2))
	})
}
