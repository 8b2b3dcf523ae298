package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/xnn/graph"
)

// An array of float32 fills inputs of other types, by the nearest that they hold; integers come back as they are stored.
func TestNpyTypes(t *testing.T) {
	path := model(t, func(g *graph.Graph) {
		for _, typ := range []graph.Type{
			{DType: graph.Float16}, {DType: graph.BFloat16}, {DType: graph.Int32},
			{DType: graph.QInt8, Quant: &graph.Quant{Scale: 0.5, ZeroPoint: -3}}, {DType: graph.QUInt8, Quant: &graph.Quant{Scale: 2, ZeroPoint: 7}},
		} {
			typ.Shape = graph.Shape{4}
			g.Output(g.InputOf(typ))
		}
	})
	args := []string{"run", path}
	dir := t.TempDir()
	x := savedNpy(t, []float32{1.26, -300, 0, 2.5}, 4)
	for _, name := range []string{"0", "1", "2", "3", "4"} {
		args = append(args, "-i", name+"="+x, "-o", name+"="+filepath.Join(dir, name+".npy"))
	}
	var r runResult
	toolJSON(t, &r, args...)
	require.Equal(t, []float32{1.2597656, -300, 0, 2.5}, singles(r.Outputs[0].First))
	require.Equal(t, []float32{1.2578125, -300, 0, 2.5}, singles(r.Outputs[1].First))
	require.Equal(t, []float32{1, -300, 0, 2}, singles(r.Outputs[2].First), "ties to even")
	require.Equal(t, []float32{1.5, -62.5, 0, 2.5}, singles(r.Outputs[3].First))
	require.Equal(t, []float32{2, -14, 0, 2}, singles(r.Outputs[4].First))

	// What was written is read again, of the same bits.
	var again runResult
	args = []string{"run", path}
	for _, name := range []string{"0", "1", "2", "3", "4"} {
		args = append(args, "-i", name+"="+filepath.Join(dir, name+".npy"))
	}
	toolJSON(t, &again, args...)
	require.Equal(t, r.Outputs, again.Outputs)
	for name, descr := range map[string]string{"0": "<f2", "1": "<f4", "2": "<i4", "3": "|i1", "4": "|u1"} {
		require.Contains(t, header(t, filepath.Join(dir, name+".npy")), "'descr': '"+descr+"'")
	}
	wrong := filepath.Join(dir, "3.npy")
	require.Contains(t, fails(t, "run", path, "--seed", "1", "-i", "4="+wrong), "it holds qint8[4], input 4 takes quint8(2,7)[4] ('|u1')")
}
