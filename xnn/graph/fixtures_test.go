package graph_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema/xnngraph"
	"github.com/xnngo/xnngo/xnn/graph"
)

const testdata = "../../schema/testdata/"

// fixture is a graph that a file of another writer's making must be read as.
type fixture struct {
	name  string // in testdata, without the extension
	build func(g *graph.Graph)
	// foreign: our writer says the same in other words.
	foreign bool
}

func (f fixture) graph(t testing.TB) *graph.Graph {
	g := graph.New()
	f.build(g)
	require.NoError(t, g.Check(), f.name)
	return g
}

func (f fixture) file(t testing.TB) []byte {
	data, err := os.ReadFile(testdata + f.name + ".bin")
	require.NoError(t, err)
	return data
}

// fixtureTable has all of them; each file of the package's tests that has some adds them.
var fixtureTable []fixture

// outs declares outputs.
func outs(g *graph.Graph, ids ...graph.ID) {
	for _, id := range ids {
		g.Output(id)
	}
}

// TestFixturesRead reads what flatc made of JSON, and compares it with what the builder makes.
func TestFixturesRead(t *testing.T) {
	for _, f := range fixtureTable {
		t.Run(f.name, func(t *testing.T) {
			g, err := graph.Unmarshal(f.file(t))
			require.NoError(t, err)
			require.Equal(t, canonical(f.graph(t)), canonical(g))
		})
	}
}

// TestFixturesAreComplete: there is a file for each node table that the package reads, and a row for each file.
func TestFixturesAreComplete(t *testing.T) {
	rows := map[string]bool{}
	unseen := graph.Tags()
	dialects := map[string]string{"executorch": "ExecuTorch", "ours": "xnngo"}
	for _, f := range fixtureTable {
		require.False(t, rows[f.name], "%s twice", f.name)
		rows[f.name] = true
		file := xnngraph.GetRootAsXNNGraph(f.file(t), 0)
		for i := range file.XnodesLength() {
			var x xnngraph.XNode
			file.Xnodes(&x, i)
			if tag := x.XnodeType(); dialects[filepath.Dir(f.name)] == unseen[tag] || unseen[tag] == "seed" {
				delete(unseen, tag)
			}
		}
	}
	require.Empty(t, unseen, "node tables without a file")
	for dir := range dialects {
		files, err := filepath.Glob(testdata + dir + "/*.bin")
		require.NoError(t, err)
		for _, f := range files {
			require.True(t, rows[dir+"/"+strings.TrimSuffix(filepath.Base(f), ".bin")], "no row for %s", f)
		}
	}
}

// TestFixturesWritten lets flatc, with a schema that is not ours, read what Marshal writes: it must find what stands in the JSON
// that the fixture was made of.
func TestFixturesWritten(t *testing.T) {
	needFlatc(t)
	schemas := map[string]string{"executorch": testdata + "executorch/executorch.fbs", "ours": "../../schema/xnngraph.fbs"}
	for _, f := range fixtureTable {
		if f.foreign {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			theirs, ours := f.file(t), marshalled(t, f.graph(t))
			require.Equal(t, string(theirs[4:8]), string(ours[4:8]), "the file identifier")
			schema := schemas[filepath.Dir(f.name)]
			require.Equal(t, flatcJSON(t, schema, theirs), flatcJSON(t, schema, ours))
		})
	}
}

// needFlatc skips a test where flatc is missing.
func needFlatc(t *testing.T) {
	if _, err := exec.LookPath("flatc"); err != nil {
		t.Skip("flatc is not installed: apt-get install flatbuffers-compiler")
	}
}

// flatcJSON is what flatc reads in a file with this schema.
func flatcJSON(t testing.TB, schema string, data []byte) any {
	dir := t.TempDir()
	path := filepath.Join(dir, "g.bin")
	require.NoError(t, os.WriteFile(path, data, 0o600))
	out, err := exec.Command("flatc", "--json", "--raw-binary", "--strict-json", "--defaults-json", "-o", dir, schema,
		"--", path).CombinedOutput()
	require.NoError(t, err, "%s", out)
	text, err := os.ReadFile(filepath.Join(dir, "g.json"))
	require.NoError(t, err)
	var v any
	require.NoError(t, json.Unmarshal(text, &v), "%s", text)
	return v
}

// TestFixturesRoundTrip: written and read again they are the same graphs, and writing is stable.
func TestFixturesRoundTrip(t *testing.T) {
	for _, f := range fixtureTable {
		g := f.graph(t)
		roundTrip(t, g, f.name)
	}
}

// roundTrip writes g, reads it and writes it again.
func roundTrip(t testing.TB, g *graph.Graph, what string) {
	t.Helper()
	file := marshalled(t, g)
	flat, _ := graph.Split(file)
	require.LessOrEqual(t, len(flat), g.Bound(), what)
	again, err := graph.Unmarshal(file)
	require.NoError(t, err, what)
	require.Equal(t, withoutRefs(g), withoutRefs(again), what)
	same := marshalled(t, again)
	require.Equal(t, file, same, "%s: writing is stable", what)
}

func marshalled(t testing.TB, g *graph.Graph) []byte {
	t.Helper()
	file, err := g.Marshal()
	require.NoError(t, err)
	return file
}

// withoutRefs is a checked graph but for the names of values and nodes in messages. The shape of a scalar is nil.
func withoutRefs(g *graph.Graph) *graph.Graph {
	c := g.Clone()
	for i := range c.Values {
		c.Values[i].Ref = 0
		if len(c.Values[i].Shape) == 0 {
			c.Values[i].Shape = nil
		}
	}
	for i := range c.Nodes {
		c.Nodes[i].Ref = 0
	}
	return c
}

// tableOf gives the node table of the first node of a FlatBuffer.
func tableOf(t testing.TB, flat []byte) flatbuffers.Table {
	var x xnngraph.XNode
	require.True(t, xnngraph.GetRootAsXNNGraph(flat, 0).Xnodes(&x, 0))
	var table flatbuffers.Table
	require.True(t, x.Xnode(&table))
	return table
}
