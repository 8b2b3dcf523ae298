package schema

import (
	"bytes"
	"testing"

	flatbuffers "github.com/google/flatbuffers/go"
	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema/tflite"
)

// tfliteFile has one operator with options, and a tensor that is sparse.
func tfliteFile() []byte {
	b := flatbuffers.NewBuilder(512)
	tflite.Conv2DOptionsStart(b)
	tflite.Conv2DOptionsAddStrideH(b, 2)
	options := tflite.Conv2DOptionsEnd(b)
	tflite.OperatorStart(b)
	tflite.OperatorAddBuiltinOptionsType(b, tflite.BuiltinOptionsConv2DOptions)
	tflite.OperatorAddBuiltinOptions(b, options)
	operator := tflite.OperatorEnd(b)
	tflite.SubGraphStartOperatorsVector(b, 1)
	b.PrependUOffsetT(operator)
	operators := b.EndVector(1)

	indices := b.CreateByteVector([]byte{1, 2})
	tflite.Uint8VectorStart(b)
	tflite.Uint8VectorAddValues(b, indices)
	vector := tflite.Uint8VectorEnd(b)
	tflite.DimensionMetadataStart(b)
	tflite.DimensionMetadataAddArrayIndicesType(b, tflite.SparseIndexVectorUint8Vector)
	tflite.DimensionMetadataAddArrayIndices(b, vector)
	dimension := tflite.DimensionMetadataEnd(b)
	tflite.SparsityParametersStartDimMetadataVector(b, 1)
	b.PrependUOffsetT(dimension)
	dimensions := b.EndVector(1)
	tflite.SparsityParametersStart(b)
	tflite.SparsityParametersAddDimMetadata(b, dimensions)
	sparsity := tflite.SparsityParametersEnd(b)
	name := b.CreateString("x")
	tflite.TensorStart(b)
	tflite.TensorAddName(b, name)
	tflite.TensorAddSparsity(b, sparsity)
	tensor := tflite.TensorEnd(b)
	tflite.SubGraphStartTensorsVector(b, 1)
	b.PrependUOffsetT(tensor)
	tensors := b.EndVector(1)

	tflite.SubGraphStart(b)
	tflite.SubGraphAddTensors(b, tensors)
	tflite.SubGraphAddOperators(b, operators)
	sub := tflite.SubGraphEnd(b)
	tflite.ModelStartSubgraphsVector(b, 1)
	b.PrependUOffsetT(sub)
	subs := b.EndVector(1)
	tflite.ModelStart(b)
	tflite.ModelAddSubgraphs(b, subs)
	b.FinishWithFileIdentifier(tflite.ModelEnd(b), []byte("TFL3"))
	return b.FinishedBytes()
}

func TestTFLite(t *testing.T) {
	good := tfliteFile()
	require.NoError(t, Verify(good, TFLite(), Limits{}))
	require.Error(t, Verify(good, XNNGraph(), Limits{}))
	bad := bytes.Clone(good)
	bad[7] = '4'
	require.ErrorContains(t, Verify(bad, TFLite(), Limits{}), `file identifier "TFL4" at byte 4, the schema's is "TFL3"`)

	d := TFLite()
	for n := range good {
		if Verify(good[:n:n], d, Limits{EmptyUnions: true}) == nil {
			walkDescribed(good[:n:n], d)
		}
	}
	for bit := range 8 * len(good) {
		bad := bytes.Clone(good)
		bad[bit/8] ^= 1 << (bit % 8)
		if Verify(bad, d, Limits{}) == nil {
			walkDescribed(bad, d)
		}
	}
}

// TestEmptyUnions: a tag without a value is a fault unless it is allowed; a value without a tag is one always.
func TestEmptyUnions(t *testing.T) {
	file := func(tag tflite.BuiltinOptions, value bool) []byte {
		b := flatbuffers.NewBuilder(64)
		tflite.SqueezeOptionsStart(b)
		options := tflite.SqueezeOptionsEnd(b)
		tflite.OperatorStart(b)
		tflite.OperatorAddBuiltinOptionsType(b, tag)
		if value {
			tflite.OperatorAddBuiltinOptions(b, options)
		}
		operator := tflite.OperatorEnd(b)
		tflite.SubGraphStartOperatorsVector(b, 1)
		b.PrependUOffsetT(operator)
		operators := b.EndVector(1)
		tflite.SubGraphStart(b)
		tflite.SubGraphAddOperators(b, operators)
		sub := tflite.SubGraphEnd(b)
		tflite.ModelStartSubgraphsVector(b, 1)
		b.PrependUOffsetT(sub)
		subs := b.EndVector(1)
		tflite.ModelStart(b)
		tflite.ModelAddSubgraphs(b, subs)
		b.FinishWithFileIdentifier(tflite.ModelEnd(b), []byte("TFL3"))
		return b.FinishedBytes()
	}
	for _, allowed := range []bool{false, true} {
		limits := Limits{EmptyUnions: allowed}
		require.NoError(t, Verify(file(tflite.BuiltinOptionsSqueezeOptions, true), TFLite(), limits))
		require.NoError(t, Verify(file(tflite.BuiltinOptionsNONE, false), TFLite(), limits))
		require.ErrorContains(t, Verify(file(tflite.BuiltinOptionsNONE, true), TFLite(), limits), "union has a value and no tag")
		err := Verify(file(tflite.BuiltinOptionsSqueezeOptions, false), TFLite(), limits)
		if allowed {
			require.NoError(t, err)
		} else {
			require.ErrorContains(t, err, "union has tag 30 and no value")
		}
	}
}
