package xnn

import (
	"math/rand/v2"

	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
)

type tfOp = tfbuild.Op

// tfHalves is a constant of random half-precision numbers.
func tfHalves(shape ...int) tfTensor {
	t := tfFilled(tfF(shape...))
	var data []uint16
	for _, f := range t.Data.([]float32) {
		data = append(data, uint16(graph.HalfOf(f)))
	}
	t.Type, t.Data = wire.TensorTypeFLOAT16, data
	return t
}

// tfSparseRows is a matrix stored as compressed sparse rows.
func tfSparseRows(rows, columns int) tfTensor {
	r := rand.New(rand.NewPCG(5, 5))
	t := tfF(rows, columns)
	segments, indices, data := []int32{0}, []int32{}, []float32{}
	for range rows {
		for c := range columns {
			if r.IntN(3) == 0 {
				indices, data = append(indices, int32(c)), append(data, r.Float32()*2-1)
			}
		}
		segments = append(segments, int32(len(indices)))
	}
	t.Data = data
	t.Sparsity = &tfbuild.Sparsity{Order: []int{0, 1}, Dims: []tfbuild.Dim{{Size: rows}, {Segments: segments, Indices: indices}}}
	return t
}

// tfSparseBlocks is a matrix of which columns come in blocks of four.
func tfSparseBlocks(rows, columns int) tfTensor {
	r := rand.New(rand.NewPCG(6, 6))
	t := tfF(rows, columns)
	segments, indices, data := []int32{0}, []uint8{}, []float32{}
	for range rows {
		for c := range columns / 4 {
			if r.IntN(2) == 0 {
				indices = append(indices, uint8(c))
				for range 4 {
					data = append(data, r.Float32()*2-1)
				}
			}
		}
		segments = append(segments, int32(len(indices)))
	}
	t.Data = data
	t.Sparsity = &tfbuild.Sparsity{Order: []int{0, 1, 2}, Blocks: []int{1},
		Dims: []tfbuild.Dim{{Size: rows}, {Segments: segments, Indices: indices}, {Size: 4}}}
	return t
}

// tfMoreCases are of several operators.
func tfMoreCases() []tfCase {
	fk := wire.BuiltinOptionsFullyConnectedOptions
	named := func(list ...tfTensor) []tfTensor {
		for i := range list {
			list[i].Name = "t" + string(rune('a'+i))
		}
		return list
	}
	densify := func(name string, w tfTensor) tfCase {
		return tfCase{name: name, file: tfbuild.File{
			Tensors: named(tfF(3, 8), w, tfF(5, 8), tfF(3, 5), tfFilled(tfF(5))), Inputs: []int{0}, Outputs: []int{3},
			Ops: []tfOp{
				{Code: wire.BuiltinOperatorDENSIFY, In: []int{1}, Out: []int{2}},
				{Code: wire.BuiltinOperatorFULLY_CONNECTED, Kind: fk, In: []int{0, 2, 4}, Out: []int{3}},
			},
		}}
	}
	spelled := func(name string, withMax bool) tfCase {
		f := tfbuild.File{
			Tensors: named(tfF(3, 7), tfF(3, 1), tfF(3, 7), tfF(3, 7), tfF(3, 1), tfF(3, 7),
				tfInts(-1)), Inputs: []int{0}, Outputs: []int{5},
			Ops: []tfOp{
				{Code: wire.BuiltinOperatorREDUCE_MAX, Kind: wire.BuiltinOptionsReducerOptions, Fields: tfFields{0: true}, In: []int{0, 6},
					Out: []int{1}},
				{Code: wire.BuiltinOperatorSUB, Kind: wire.BuiltinOptionsSubOptions, In: []int{0, 1}, Out: []int{2}},
				{Code: wire.BuiltinOperatorEXP, In: []int{2}, Out: []int{3}},
				{Code: wire.BuiltinOperatorSUM, Kind: wire.BuiltinOptionsReducerOptions, Fields: tfFields{0: true}, In: []int{3, 6},
					Out: []int{4}},
				{Code: wire.BuiltinOperatorDIV, Kind: wire.BuiltinOptionsDivOptions, In: []int{3, 4}, Out: []int{5}},
			},
		}
		if !withMax {
			f.Ops[2].In = []int{0}
			f.Ops = f.Ops[2:]
		}
		return tfCase{name: name, file: f}
	}
	return []tfCase{
		{name: "half weights", file: tfbuild.File{
			Tensors: named(tfF(1, 6, 6, 4), tfHalves(5, 3, 3, 4), tfF(5, 3, 3, 4), tfHalves(5), tfF(5), tfF(1, 6, 6, 5)),
			Inputs:  []int{0}, Outputs: []int{5},
			Ops: []tfOp{
				{Code: wire.BuiltinOperatorDEQUANTIZE, In: []int{1}, Out: []int{2}},
				{Code: wire.BuiltinOperatorDEQUANTIZE, In: []int{3}, Out: []int{4}},
				{Code: wire.BuiltinOperatorCONV_2D, Kind: wire.BuiltinOptionsConv2DOptions, Fields: tfConv(tfSame, 1, 1, 1, 1, 0),
					In: []int{0, 2, 4}, Out: []int{5}},
			},
		}},
		densify("sparse rows", tfSparseRows(5, 8)),
		densify("sparse blocks", tfSparseBlocks(5, 8)),
		spelled("softmax spelled out", true),
		spelled("softmax spelled out without maximum", false),
		{name: "tanh after add", file: tfbuild.File{
			Tensors: named(tfF(2, 3), tfF(2, 3), tfF(2, 3), tfF(2, 3)), Inputs: []int{0, 1}, Outputs: []int{3, 2},
			Ops: []tfOp{
				{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, In: []int{0, 1}, Out: []int{2}},
				{Code: wire.BuiltinOperatorTANH, In: []int{2}, Out: []int{3}},
			},
		}},
		{name: "shape of a shape", file: tfbuild.File{
			Tensors: named(tfF(2, 3, 4), tfI(3), tfInts(0), tfInts(1), tfInts(1), tfI(), tfInt(12), tfI(2), tfF(2, 12)),
			Inputs:  []int{0}, Outputs: []int{8},
			Ops: []tfOp{
				{Code: wire.BuiltinOperatorSHAPE, Kind: wire.BuiltinOptionsShapeOptions, Fields: tfFields{0: wire.TensorTypeINT32},
					In: []int{0}, Out: []int{1}},
				{Code: wire.BuiltinOperatorSTRIDED_SLICE, Kind: wire.BuiltinOptionsStridedSliceOptions, Fields: tfFields{4: 1},
					In: []int{1, 2, 3, 4}, Out: []int{5}},
				{Code: wire.BuiltinOperatorPACK, Kind: wire.BuiltinOptionsPackOptions, Fields: tfFields{0: 2, 1: 0}, In: []int{5, 6},
					Out: []int{7}},
				{Code: wire.BuiltinOperatorRESHAPE, In: []int{0, 7}, Out: []int{8}},
			},
		}},
	}
}
