package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNetworks: a network read from TensorFlow Lite's format computes what XNNPACK does with all of it at once, and what ONNX
// Runtime does with its twin, within 1e-4 relative plus 1e-4 absolute, on one thread and on two.
func TestNetworks(t *testing.T) {
	p := testPeer(t)
	for _, n := range networks() {
		t.Run(n.name(), func(t *testing.T) {
			err := n.open()
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip(err)
			}
			require.NoError(t, err)
			defer n.drop()
			for _, threads := range []int{1, 2} {
				e, err := newEngine(n, threads)
				require.NoError(t, err)
				cs, err := e.columns(p)
				require.NoError(t, err)
				require.NoError(t, cs.check(n.want(), n.agree))
				wrong := bytes.Clone(n.want())
				wrong[len(wrong)-1] ^= 0x40 // of an exponent, or a byte
				require.Error(t, cs.check(wrong, n.agree), "a wrong output must be seen")
				cs.close()
			}
			if n.twin && p == nil {
				t.Skipf("%s names no library: ./build.sh bench --peers fetches ONNX Runtime", peerVariable)
			}
		})
	}
}

// TestModelsMissing: what was not fetched is said, with what fetches it.
func TestModelsMissing(t *testing.T) {
	t.Setenv("XNNGO_CACHE", t.TempDir())
	for _, n := range networks() {
		err := n.open()
		require.ErrorIs(t, err, fs.ErrNotExist)
		require.ErrorContains(t, err, n.file+".tflite")
		require.ErrorContains(t, err, "./build.sh models fetches it")
	}
}

// TestModelsBounds: each bound is about the cases it names.
func TestModelsBounds(t *testing.T) {
	r := &report{bounds: modelsBounds()}
	for _, v := range r.judge() {
		require.Equal(t, notRun, v.Result, v.Claim)
	}
	// One thread: C 100, Session 101 after 5 of an empty call, ONNX Runtime 140; two threads: 100, 140, 182.
	m := &measured{keys: []key{cgo1, c1, session1, peer1, {colC, 2}, session2, {colPeer, 2}}, allocs: make([]int64, 7),
		rounds: [][]float64{{5, 100, 106, 140, 100, 140, 182}}}
	load := &measured{keys: []key{{colLoad, 1}, peer1}, rounds: [][]float64{{50, 40}}}
	encoders := &measured{keys: []key{{colFP32, 1}, {colInt8, 1}}, rounds: [][]float64{{310, 100}}}
	r.results = []result{{detector, &network{file: detector}, m}, {"other", &network{file: "other"}, m}, {"load/other", nil, load},
		{"load/" + detector, nil, load}, {encoderCase, nil, encoders}}
	type answer struct {
		result, measured string
		cases            int
	}
	var got []answer
	for _, v := range r.judge() {
		got = append(got, answer{v.Result, v.Measured, v.Cases})
	}
	require.Equal(t, []answer{{pass, "1.32x", 1}, {pass, "1.01x", 1}, {pass, "1.30x", 1}, {miss, "1.35x", 1}, {miss, "0.80x", 1},
		{pass, "3.10x", 1}, {pass, "0", 2}}, got)
}

// TestAgree on floats a little apart, more than that, and none.
func TestAgree(t *testing.T) {
	floats := func(values ...float32) (b []byte) {
		for _, x := range values {
			b = binary.NativeEndian.AppendUint32(b, math.Float32bits(x))
		}
		return b
	}
	within := func(want float64) float64 { return 1 + want }
	require.Equal(t, 0.5, furthest(floats(4, 8), floats(3, 9.25), func(want float64) float64 { return 2.5 }))
	require.Zero(t, furthest(floats(3, 1), floats(3, 1), within))
	require.Equal(t, 0.75, furthest(floats(3, 4), floats(3, 1), func(want float64) float64 { return 1 + 3*want }))
	require.Equal(t, math.Inf(1), furthest(floats(float32(math.NaN())), floats(1), within))
}
