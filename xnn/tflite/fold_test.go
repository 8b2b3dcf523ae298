package tflite_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
	"github.com/xnngo/xnngo/xnn/tflite"
)

// folded reads a file whose only operator at run time adds a constant, the last tensor that the operators make, to the input, and
// gives the constant. The shape of the sum is that of both.
func folded(t *testing.T, made []tensor, ops ...op) []float32 {
	t.Helper()
	last := made[len(made)-1]
	f := file{Inputs: []int{0}, Tensors: append([]tensor{real("x", last.Shape...)}, made...)}
	n := len(f.Tensors)
	f.Tensors = append(f.Tensors, real("y", last.Shape...))
	f.Outputs = []int{n}
	f.Ops = append(ops, op{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, In: []int{0, n - 1}, Out: []int{n}})
	g := read(t, f)
	require.Equal(t, []string{"Add"}, kinds(g))
	v := g.Values[g.Nodes[0].Inputs[1]]
	require.Equal(t, graph.Float32, v.DType)
	require.True(t, v.Shape.Equal(last.Shape), "%v", v.Shape)
	data := g.Constants[v.Constant].Bytes()
	list := make([]float32, len(data)/4)
	for i := range list {
		list[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
	}
	return list
}

func matrix(t tensor, shape ...int) tensor {
	t.Shape = shape
	return t
}

func integers(name string, typ wire.TensorType, scale []float32, zero []int64, axis int, data any, shape ...int) tensor {
	return tensor{Name: name, Type: typ, Shape: shape, Data: data, Scale: scale, Zero: zero, Axis: axis}
}

func TestDequantize(t *testing.T) {
	dequantize := func(c tensor) []float32 {
		return folded(t, []tensor{c, real("w", c.Shape...)}, op{Code: wire.BuiltinOperatorDEQUANTIZE, In: []int{1}, Out: []int{2}})
	}
	halves := tensor{Name: "h", Type: wire.TensorTypeFLOAT16, Shape: []int{4}, Data: []uint16{0x3c00, 0xc100, 0x0001, 0x7bff}}
	require.Equal(t, []float32{1, -2.5, 0x1p-24, 65504}, dequantize(halves))
	require.Equal(t, []float32{-1, 0.5, 64},
		dequantize(integers("q", wire.TensorTypeINT8, []float32{0.5}, []int64{-1}, 0, []int8{-3, 0, 127}, 3)))
	require.Equal(t, []float32{-5, 0, 122.5},
		dequantize(integers("u", wire.TensorTypeUINT8, []float32{0.5}, []int64{10}, 0, []uint8{0, 10, 255}, 3)))
	require.Equal(t, []float32{1, 20, 3, 40},
		dequantize(integers("c", wire.TensorTypeINT8, []float32{1, 10}, []int64{0, 0}, 1, []int8{1, 2, 3, 4}, 2, 2)))
	require.Equal(t, []float32{1, 2, 30, 40},
		dequantize(integers("r", wire.TensorTypeINT8, []float32{1, 10}, []int64{0}, 0, []int8{1, 2, 3, 4}, 2, 2)))
	// Two in a byte, the first in the lower half; no padding between rows.
	require.Equal(t, []float32{1, -1, 7, -8, 3},
		dequantize(integers("n", wire.TensorTypeINT4, []float32{1}, []int64{0}, 0, []uint8{0xf1, 0x87, 0x03}, 5)))
}

// TestDensify: rows, columns and blocks, by hand.
func TestDensify(t *testing.T) {
	densify := func(s tfbuild.Sparsity, data []float32, shape ...int) []float32 {
		c := matrix(numbers("s", data...), shape...)
		c.Sparsity = &s
		return folded(t, []tensor{c, real("w", shape...)}, op{Code: wire.BuiltinOperatorDENSIFY, In: []int{1}, Out: []int{2}})
	}
	require.Equal(t, []float32{0, 1, 0, 2, 0, 3}, densify(tfbuild.Sparsity{Order: []int{0, 1}, Dims: []tfbuild.Dim{
		{Size: 2}, {Segments: []int32{0, 1, 3}, Indices: []int32{1, 0, 2}}}}, []float32{1, 2, 3}, 2, 3))
	// By columns: the second dimension is passed through first.
	require.Equal(t, []float32{0, 1, 0, 2, 0, 3}, densify(tfbuild.Sparsity{Order: []int{1, 0}, Dims: []tfbuild.Dim{
		{Size: 3}, {Segments: []uint8{0, 1, 2, 3}, Indices: []uint8{1, 0, 1}}}}, []float32{2, 1, 3}, 2, 3))
	// A sparse dimension behind a sparse one.
	require.Equal(t, []float32{0, 0, 0, 0, 5, 6}, densify(tfbuild.Sparsity{Order: []int{0, 1}, Dims: []tfbuild.Dim{
		{Segments: []uint16{0, 1}, Indices: []uint16{2}}, {Segments: []uint16{0, 2}, Indices: []uint16{0, 1}}}}, []float32{5, 6}, 3, 2))
	// Blocks of 2 by 2, stored row by row, of a 4 by 4 matrix: at the upper right and the lower left.
	require.Equal(t, []float32{
		0, 0, 1, 2,
		0, 0, 3, 4,
		5, 6, 0, 0,
		7, 8, 0, 0,
	}, densify(tfbuild.Sparsity{Order: []int{0, 1, 2, 3}, Blocks: []int{0, 1}, Dims: []tfbuild.Dim{
		{Size: 2}, {Segments: []int32{0, 1, 2}, Indices: []int32{1,
			0}}, {Size: 2}, {Size: 2}}}, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 4))
	// The same, each block column by column.
	require.Equal(t, []float32{
		0, 0, 1, 3,
		0, 0, 2, 4,
		5, 7, 0, 0,
		6, 8, 0, 0,
	}, densify(tfbuild.Sparsity{Order: []int{0, 1, 3, 2}, Blocks: []int{0, 1}, Dims: []tfbuild.Dim{
		{Size: 2}, {Segments: []int32{0, 1, 2}, Indices: []int32{1,
			0}}, {Size: 2}, {Size: 2}}}, []float32{1, 2, 3, 4, 5, 6, 7, 8}, 4, 4))
}

func TestSparseErrors(t *testing.T) {
	good := func() tfbuild.Sparsity {
		return tfbuild.Sparsity{Order: []int{0, 1}, Dims: []tfbuild.Dim{{Size: 2},
			{Segments: []int32{0, 1, 3}, Indices: []int32{1, 0, 2}}}}
	}
	for says, change := range map[string]func(s *tfbuild.Sparsity, c *tensor){
		"traversal_order has 1 entries":        func(s *tfbuild.Sparsity, _ *tensor) { s.Order = []int{0} },
		"traversal_order[1] is 0":              func(s *tfbuild.Sparsity, _ *tensor) { s.Order = []int{0, 0} },
		"traversal_order[1] is 2":              func(s *tfbuild.Sparsity, _ *tensor) { s.Order = []int{0, 2} },
		"dim_metadata 1":                       func(s *tfbuild.Sparsity, _ *tensor) { s.Dims = s.Dims[:1] },
		"dense_size is 3, dimension 0 needs 2": func(s *tfbuild.Sparsity, _ *tensor) { s.Dims[0].Size = 3 },
		"array_segments of dimension 1 has 2":  func(s *tfbuild.Sparsity, _ *tensor) { s.Dims[1].Segments = []int32{0, 3} },
		"array_segments of dimension 1 has 3":  func(s *tfbuild.Sparsity, _ *tensor) { s.Dims[1].Segments = []int32{0, 1, 4} },
		"array_segments[2] of dimension 1 is 3": func(s *tfbuild.Sparsity, _ *tensor) {
			s.Dims[1] = tfbuild.Dim{Segments: []int32{0, 9, 3}, Indices: []int32{0, 1, 2}}
		},
		"array_indices[1] of dimension 1 is 3":      func(s *tfbuild.Sparsity, _ *tensor) { s.Dims[1].Indices = []int32{1, 3, 2} },
		"array_indices[2] of dimension 1 is 0":      func(s *tfbuild.Sparsity, _ *tensor) { s.Dims[1].Indices = []int32{1, 0, 0} },
		"array_indices[0] of dimension 1 is -1":     func(s *tfbuild.Sparsity, _ *tensor) { s.Dims[1].Indices = []int32{-1, 0, 2} },
		"2 elements are stored in 8 bytes":          func(_ *tfbuild.Sparsity, c *tensor) { c.Data = []float32{1, 2} },
		"block dimension 0, 2 of dimension 1":       func(s *tfbuild.Sparsity, _ *tensor) { *s = blocks(2) },
		"block dimension 0, 0 of dimension 1":       func(s *tfbuild.Sparsity, _ *tensor) { *s = blocks(0) },
		"sparse elements of INT4 are not supported": func(_ *tfbuild.Sparsity, c *tensor) { c.Type = wire.TensorTypeINT4 },
	} {
		s, c := good(), matrix(numbers("s", 1, 2, 3), 2, 3)
		change(&s, &c)
		c.Sparsity = &s
		f := chain([]tensor{real("x", 2, 3), c, real("y", 2, 3)},
			op{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, In: []int{0, 1}, Out: []int{2}})
		_, err := tflite.Unmarshal(f.Bytes())
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "value 1 (s)")
	}
}

// blocks are those of so many columns, of a matrix of three.
func blocks(size int) tfbuild.Sparsity {
	return tfbuild.Sparsity{Order: []int{0, 1, 2}, Blocks: []int{1}, Dims: []tfbuild.Dim{
		{Size: 2}, {Segments: []int32{0, 1, 2}, Indices: []int32{0, 0}}, {Size: size}}}
}

// TestFold: what depends on constants alone is computed while reading.
func TestFold(t *testing.T) {
	abc := matrix(numbers("c", 1, 2, 3, 4, 5, 6), 2, 3)
	ints := func(name string, shape ...int) tensor {
		return tensor{Name: name, Type: wire.TensorTypeINT32, Shape: shape}
	}
	toReal := func(from, to int) op {
		return op{Code: wire.BuiltinOperatorCAST, In: []int{from}, Out: []int{to}}
	}
	require.Equal(t, []float32{1, 4, 2, 5, 3, 6}, folded(t, []tensor{abc, whole("p", 1, 0), real("w", 3, 2)},
		op{Code: wire.BuiltinOperatorTRANSPOSE, In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6}, folded(t, []tensor{abc, whole("p", 3, -1), real("w", 3, 2)},
		op{Code: wire.BuiltinOperatorRESHAPE, In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{3, 1, 6, 4},
		folded(t, []tensor{abc, whole("b", 0, -1), whole("e", 0, 0), whole("s", 1, -2), real("w", 2, 2)},
			op{Code: wire.BuiltinOperatorSTRIDED_SLICE, Kind: wire.BuiltinOptionsStridedSliceOptions,
				Fields: fields{0: 1, 1: 3}, In: []int{1, 2, 3, 4}, Out: []int{5}}))
	require.Equal(t, []float32{2, 3}, folded(t, []tensor{abc, whole("b", 0, 1), whole("s", 1, -1), real("w", 1, 2)},
		op{Code: wire.BuiltinOperatorSLICE, In: []int{1, 2, 3}, Out: []int{4}}))
	require.Equal(t, []float32{1, 2, 3, 9, 4, 5, 6, 8}, folded(t, []tensor{abc, matrix(numbers("d", 9, 8), 2, 1), real("w", 2, 4)},
		op{Code: wire.BuiltinOperatorCONCATENATION, Kind: wire.BuiltinOptionsConcatenationOptions, Fields: fields{0: 1},
			In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{1, 2, 3, 4, 5, 6, 9, 8, 7},
		folded(t, []tensor{abc, matrix(numbers("d", 9, 8, 7), 1, 3), real("w", 3, 3)},
			op{Code: wire.BuiltinOperatorCONCATENATION, Kind: wire.BuiltinOptionsConcatenationOptions, In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{1, 9, 2, 8, 3, 7}, folded(t, []tensor{numbers("c", 1, 2, 3), numbers("d", 9, 8, 7), real("w", 3, 2)},
		op{Code: wire.BuiltinOperatorPACK, Kind: wire.BuiltinOptionsPackOptions, Fields: fields{0: 2, 1: 1}, In: []int{1, 2},
			Out: []int{3}}))
	require.Equal(t, []float32{3, 1, 1, 6, 4, 4}, folded(t, []tensor{abc, whole("i", 2, 0, 0), real("w", 2, 3)},
		op{Code: wire.BuiltinOperatorGATHER, Kind: wire.BuiltinOptionsGatherOptions, Fields: fields{0: 1}, In: []int{1, 2},
			Out: []int{3}}))
	require.Equal(t, []float32{1, 1, 1, 2, 2, 2}, folded(t,
		[]tensor{matrix(numbers("c", 1, 2), 2, 1), whole("s", 2, 3), real("w", 2, 3)},
		op{Code: wire.BuiltinOperatorBROADCAST_TO, In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{7, 7, 7}, folded(t, []tensor{whole("s", 3),
		{Name: "v", Type: wire.TensorTypeFLOAT32, Data: []float32{7}, Scalar: true}, real("w", 3)},
		op{Code: wire.BuiltinOperatorFILL, In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{5, 3, 1}, folded(t, []tensor{scalar("a", 5), scalar("b", 0), scalar("s", -2), ints("r", 3),
		real("w", 3)},
		op{Code: wire.BuiltinOperatorRANGE, In: []int{1, 2, 3}, Out: []int{4}}, toReal(4, 5)))
	require.Equal(t, []float32{11, 22, 33, 14, 25, 36}, folded(t, []tensor{abc, numbers("d", 10, 20, 30), real("w", 2, 3)},
		op{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, In: []int{1, 2}, Out: []int{3}}))
	require.Equal(t, []float32{0.5, 1}, folded(t, []tensor{numbers("c", 4, 1), real("w", 2)},
		op{Code: wire.BuiltinOperatorRSQRT, In: []int{1}, Out: []int{2}}))
	require.Equal(t, []float32{12, 12}, folded(t, []tensor{whole("a", 3, 4), whole("b", 4, 3), ints("p", 2), real("w", 2)},
		op{Code: wire.BuiltinOperatorMUL, Kind: wire.BuiltinOptionsMulOptions, In: []int{1, 2}, Out: []int{3}}, toReal(3, 4)))
	// The shape of an input is a constant, too, where the file leaves none of it open: here [3].
	require.Equal(t, []float32{3, 1, 3}, folded(t, []tensor{ints("s", 1), ints("r"), ints("e", 1), ints("l", 3), real("w", 3)},
		op{Code: wire.BuiltinOperatorSHAPE, In: []int{0}, Out: []int{1}},
		op{Code: wire.BuiltinOperatorRANK, In: []int{0}, Out: []int{2}},
		op{Code: wire.BuiltinOperatorPACK, Kind: wire.BuiltinOptionsPackOptions, Fields: fields{0: 1}, In: []int{2}, Out: []int{3}},
		op{Code: wire.BuiltinOperatorCONCATENATION, Kind: wire.BuiltinOptionsConcatenationOptions, In: []int{1, 3, 1},
			Out: []int{4}}, toReal(4, 5)))
}

// TestOpenSizes: where the file leaves a batch size open, the graph takes any, through shapes that are computed from shapes.
func TestOpenSizes(t *testing.T) {
	open := func(t tensor) tensor {
		t.Signature = append([]int{}, t.Shape...)
		t.Signature[0] = -1
		return t
	}
	ints := func(name string, shape ...int) tensor {
		return tensor{Name: name, Type: wire.TensorTypeINT32, Shape: shape}
	}
	f := chain([]tensor{
		open(real("x", 1, 3, 4)), ints("shape", 3), whole("begin", 0), whole("end", 1), whole("stride",
			1), ints("batch"), scalar("12", 12),
		ints("target", 2), open(real("flat", 1, 12)), scalar("axis", 1), open(real("wide", 1, 1, 12)), open(real("y", 1, 12)),
	},
		op{Code: wire.BuiltinOperatorSHAPE, In: []int{0}, Out: []int{1}},
		op{Code: wire.BuiltinOperatorSTRIDED_SLICE, Kind: wire.BuiltinOptionsStridedSliceOptions, Fields: fields{4: 1},
			In: []int{1, 2, 3, 4}, Out: []int{5}},
		op{Code: wire.BuiltinOperatorPACK, Kind: wire.BuiltinOptionsPackOptions, Fields: fields{0: 2}, In: []int{5, 6}, Out: []int{7}},
		op{Code: wire.BuiltinOperatorRESHAPE, In: []int{0, 7}, Out: []int{8}},
		op{Code: wire.BuiltinOperatorEXPAND_DIMS, In: []int{8, 9}, Out: []int{10}},
		op{Code: wire.BuiltinOperatorSQUEEZE, Kind: wire.BuiltinOptionsSqueezeOptions, Fields: fields{0: []int32{1}}, In: []int{10},
			Out: []int{11}},
	)
	g := read(t, f)
	for _, batch := range []int{1, 4, 2, 100, 0, 3} {
		shapes, err := g.Infer([]graph.Shape{{batch, 3, 4}})
		require.NoError(t, err)
		require.Equal(t, graph.Shape{batch, 12}, shapes[g.Outputs[0]])
	}

	// What would freeze it is refused.
	f.Ops[3] = op{Code: wire.BuiltinOperatorTRANSPOSE, In: []int{0, 1}, Out: []int{8}}
	_, err := tflite.Unmarshal(f.Bytes())
	require.ErrorIs(t, err, schema.ErrUnsupported)
	require.ErrorContains(t, err, "TRANSPOSE: operand 1 follows from a size that the file leaves open")
}
