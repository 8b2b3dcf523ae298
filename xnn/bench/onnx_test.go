package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/xnngo/xnngo/xnn"
)

// peerVariable names ONNX Runtime's shared library for the tests, as ./build.sh bench --peers fetches it.
const peerVariable = "XNNGO_ONNXRUNTIME"

var small = []spec{
	{same, xnn.Float32, xnn.Shape{5}, xnn.Shape{5}, 3},
	{row, xnn.Float32, xnn.Shape{3, 4}, xnn.Shape{4}, 2},
	{columnwise, xnn.Float32, xnn.Shape{3, 4}, xnn.Shape{3, 1}, 1},
	{scalar, xnn.Float32, xnn.Shape{3, 4}, xnn.Shape{1}, 4},
	{same, xnn.Float16, xnn.Shape{70}, xnn.Shape{70}, 2},
}

// TestColumnsAgree: all columns compute the same graph. ONNX Runtime, where it is there, judges the encoder of its files.
func TestColumnsAgree(t *testing.T) {
	p := testPeer(t)
	subjects := append([]subject{}, smallLayers...)
	for _, s := range small {
		subjects = append(subjects, s)
	}
	for _, s := range subjects {
		for _, threads := range []int{1, 2} {
			e, err := newEngine(s, threads)
			require.NoError(t, err, s.name())
			cs, err := e.columns(p)
			require.NoError(t, err, s.name())
			require.NoError(t, cs.check(s.want(), s.agree), s.name())
			wrong := s.want()
			wrong[0] ^= 1
			require.Error(t, cs.check(wrong, s.agree), "a wrong output must be seen")
			cs.close()
		}
	}
}

// smallLayers have odd sizes, so that dimensions cannot be taken for one another.
var smallLayers = []subject{
	layer{conv, xnn.Shape{1, 8, 5, 3}, xnn.Shape{7, 3, 3, 3}, 2},
	layer{conv, xnn.Shape{1, 4, 6, 5}, xnn.Shape{9, 1, 1, 5}, 1},
	layer{depthwise, xnn.Shape{1, 6, 7, 5}, xnn.Shape{1, 5, 5, 5}, 1},
	layer{fullyConnected, xnn.Shape{3, 5}, xnn.Shape{4, 5}, 1},
}

// TestLayers against values worked out by hand: x is -6 1 -5 2, the filter -2 3 -3 2, the bias -3 -2.
func TestLayers(t *testing.T) {
	for _, c := range []struct {
		layer layer
		want  []float32
	}{
		// -6*-2 + 1*3 - 3, -6*-3 + 1*2 - 2; -5*-2 + 2*3 - 3, -5*-3 + 2*2 - 2
		{layer{fullyConnected, xnn.Shape{2, 2}, xnn.Shape{2, 2}, 1}, []float32{12, 18, 13, 17}},
		// One place, no padding. -6*-2 + 1*3 + -5*-3 + 2*2 - 3
		{layer{conv, xnn.Shape{1, 2, 2, 1}, xnn.Shape{1, 2, 2, 1}, 2}, []float32{31}},
		// Channel 0 is -6 -5, channel 1 is 1 2; their filters -2 -3 and 3 2. The padding is to the right.
		{layer{depthwise, xnn.Shape{1, 1, 2, 2}, xnn.Shape{1, 1, 2, 2}, 1}, []float32{24, 5, 7, 4}},
	} {
		require.Equal(t, xnn.NewTensor(c.want, len(c.want)).Bytes(), c.layer.want(), c.layer.name())
	}
	require.Len(t, layers(), 10)
}

// TestSums against values worked out by hand: a is 0 7 1 8 2 9..., b is 3 8 2 7....
func TestSums(t *testing.T) {
	x := xnn.NewTensor(make([]float32, 4), 4)
	for want, s := range map[[4]float32]spec{
		{6, 23, 5, 22}:  {same, xnn.Float32, xnn.Shape{4}, xnn.Shape{4}, 2},
		{3, 15, 4, 16}:  {row, xnn.Float32, xnn.Shape{2, 2}, xnn.Shape{2}, 1},
		{3, 10, 9, 16}:  {columnwise, xnn.Float32, xnn.Shape{2, 2}, xnn.Shape{2, 1}, 1},
		{9, 16, 10, 17}: {scalar, xnn.Float32, xnn.Shape{4}, xnn.Shape{1}, 3},
	} {
		fill(x, s.sum)
		require.Equal(t, want[:], xnn.Data[float32](x), s.name())
	}
}

// TestONNX is the encoding of one Add of 2 floats, written down from onnx.proto by hand.
func TestONNX(t *testing.T) {
	value := func(name string) string {
		return "\x0a\x01" + name + // name
			"\x12\x0a" + "\x0a\x08" + "\x08\x01" + // type, tensor_type, elem_type FLOAT
			"\x12\x04" + "\x0a\x02" + "\x08\x02" // shape, dim, dim_value 2
	}
	graph := "\x0a\x0e" + "\x0a\x01a" + "\x0a\x01b" + "\x12\x01y" + "\x22\x03Add" + // node
		"\x12\x05chain" +
		"\x5a\x0f" + value("a") + "\x5a\x0f" + value("b") + "\x62\x0f" + value("y")
	want := "\x08\x08" + // ir_version
		"\x3a" + string(protowire.AppendVarint(nil, uint64(len(graph)))) + graph +
		"\x42\x02\x10\x0d" // opset_import, version
	require.Equal(t, want, string(spec{same, xnn.Float32, xnn.Shape{2}, xnn.Shape{2}, 1}.onnx()))
}

// testPeer is ONNX Runtime for the length of a test, nil where it is not there.
func testPeer(t *testing.T) *peer {
	library := os.Getenv(peerVariable)
	if library == "" {
		return nil
	}
	p, err := openPeer(library)
	require.NoError(t, err)
	t.Cleanup(p.close)
	return p
}
