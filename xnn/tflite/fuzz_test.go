package tflite_test

import (
	"errors"
	"testing"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/tflite"
)

// FuzzUnmarshal reads whatever comes: an error that says what and where, or a graph that passes its check.
func FuzzUnmarshal(f *testing.F) {
	sparse := matrix(numbers("s", 1, 2, 3, 4), 2, 4)
	s := blocks(2)
	s.Dims[1].Indices = []int32{0, 1}
	sparse.Sparsity = &s
	for _, file := range []file{
		adding(),
		chain([]tensor{real("x", 2, 4), sparse, real("y", 2, 4)},
			op{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, In: []int{0, 1}, Out: []int{2}}),
		single(op{Code: wire.BuiltinOperatorCONV_2D, Kind: wire.BuiltinOptionsConv2DOptions, Fields: fields{0: int8(0), 1: 2, 2: 1}},
			[]tensor{real("x", 1, 5, 4, 2), filled(real("w", 3, 3, 3, 2)), filled(real("b", 3))}, real("y", 1, 5, 2, 3)),
		single(op{Code: wire.BuiltinOperatorFULLY_CONNECTED, Kind: wire.BuiltinOptionsFullyConnectedOptions},
			[]tensor{real("x", 2, 4), filled(int8s(0.1, 0, 3, 4))}, real("y", 2, 3)),
		single(op{Code: wire.BuiltinOperatorSTRIDED_SLICE, Kind: wire.BuiltinOptionsStridedSliceOptions, Fields: fields{0: 1, 4: 2}},
			[]tensor{real("x", 3, 4), whole("b", 0, 1), whole("e", 2, 2), whole("s", 1, 1)}, real("y", 2)),
	} {
		f.Add(file.Bytes())
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := tflite.Options{MemoryLimit: 64 << 20}.Unmarshal(data)
		if err == nil {
			err = g.Check()
		} else if g != nil {
			t.Fatalf("a graph came with %v", err)
		}
		var e *schema.Error
		if err != nil && (!errors.As(err, &e) || e.Kind == nil || e.Detail == "") {
			t.Fatalf("an error without kind or detail: %v", err)
		}
	})
}
