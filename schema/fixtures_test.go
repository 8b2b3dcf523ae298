package schema

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema/xnngraph"
)

// Files flatc made with the authors' schema pass, the ones with a fault in the graph too: the fault is not the format's.
func TestVerifyOtherWritersFiles(t *testing.T) {
	count := 0
	for _, name := range graphFiles(t) {
		b := file(t, name)
		require.NoError(t, Verify(b, XNNGraph(), Limits{}), name)
		walkXNNGraph(b)
		count++
	}
	require.Greater(t, count, 250)
}

// graphFiles are the XNNGraph files of testdata, of all dialects, right ones and wrong ones.
func graphFiles(t testing.TB) []string {
	var all []string
	for _, dir := range []string{"xnngraph", "xnngraph/bad", "executorch", "executorch/bad", "ours"} {
		names, err := filepath.Glob("testdata/" + dir + "/*.bin")
		require.NoError(t, err)
		require.NotEmpty(t, names)
		all = append(all, names...)
	}
	return all
}

// Every JSON has its binary, and every wrong one a line that says what is wrong with it.
func TestFixturesAreComplete(t *testing.T) {
	bare := func(pattern string) []string {
		names, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for i, name := range names {
			names[i] = strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
		}
		return names
	}
	for _, dir := range []string{"xnngraph", "xnngraph/bad", "executorch", "executorch/bad", "ours"} {
		require.Equal(t, bare("testdata/"+dir+"/*.json"), bare("testdata/"+dir+"/*.bin"))
	}
	readme := string(file(t, "testdata/xnngraph/README.md"))
	for _, name := range bare("testdata/xnngraph/*.json") {
		require.Contains(t, readme, "| `"+name+"` |")
	}
	for _, dir := range []string{"xnngraph/bad", "executorch/bad"} {
		var listed []string
		for line := range strings.Lines(string(file(t, "testdata/"+dir+"/expect.tsv"))) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
			require.Len(t, columns, 3, line)
			require.Contains(t, []string{"ErrFormat", "ErrGraph", "ErrShape", "ErrUnsupported"}, columns[1], line)
			listed = append(listed, columns[0])
		}
		require.ElementsMatch(t, bare("testdata/"+dir+"/*.json"), listed)
	}
}

// The accessors read what the JSON of const says, whose every field is set.
func TestAccessorsReadOtherWritersFile(t *testing.T) {
	b := file(t, "testdata/xnngraph/const.bin")
	require.NoError(t, Verify(b, XNNGraph(), Limits{}))
	g := xnngraph.GetRootAsXNNGraph(b, 0)
	require.Equal(t, "5f1c2b8d9e7a60413c2d4e6f8091a2b3c4d5e6f7", string(g.Version()))
	require.EqualValues(t, 2, g.NumExterns())
	require.Equal(t, 3, g.XvaluesLength())
	var x xnngraph.XValue
	require.True(t, g.Xvalues(&x, 0))
	var v xnngraph.XNNTensorValue
	table := v.Table()
	require.True(t, x.Xvalue(&table))
	v.Init(table.Bytes, table.Pos)
	require.Equal(t, xnngraph.XNNDatatypexnn_datatype_fp32, v.Datatype())
	require.EqualValues(t, 1, v.NumDims())
	require.EqualValues(t, 3, v.Dims(0))
	require.EqualValues(t, 1, v.ConstantBufferIdx())
	require.Equal(t, uint32(4294967295), v.ExternalId())
	require.EqualValues(t, 2, v.IdOut())
	var c xnngraph.Buffer
	require.True(t, g.ConstantBuffer(&c, 0))
	require.Nil(t, c.StorageBytes())
	require.True(t, g.ConstantBuffer(&c, 1))
	require.Equal(t, []byte{0, 0, 0x20, 0x41, 0, 0, 0xa0, 0x41, 0, 0, 0xf0, 0x41}, c.StorageBytes()) // 10, 20, 30
}

// The committed files are those of their schemas. With another flatc, or none, the script says so and compares nothing.
func TestGenerated(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no shell to run generate.sh")
	}
	// The test cache sees only what this process reads: without this a changed schema would still count as passed.
	require.NoError(t, filepath.WalkDir(".", func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		_, err = os.ReadFile(path)
		return err
	}))
	out, err := exec.Command("/bin/sh", "generate.sh", "--check").CombinedOutput()
	require.NoError(t, err, "%s", out)
	if len(out) > 0 {
		t.Logf("%s", out)
	}
}
