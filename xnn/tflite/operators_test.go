package tflite_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/tflite"
)

func filled(t tensor) tensor {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	switch t.Type {
	case wire.TensorTypeINT8, wire.TensorTypeUINT8:
		t.Data = make([]byte, n)
	case wire.TensorTypeINT32:
		t.Data = make([]int32, n)
	default:
		t.Data = make([]float32, n)
	}
	return t
}

func int8s(scale float32, zero int64, shape ...int) tensor {
	return tensor{Type: wire.TensorTypeINT8, Shape: shape, Scale: []float32{scale}, Zero: []int64{zero}}
}

// single is a file of one operator; tensors without data are inputs, out is the output.
func single(o op, in []tensor, out ...tensor) file {
	var f file
	for i, t := range in {
		o.In = append(o.In, i)
		if t.Data == nil {
			f.Inputs = append(f.Inputs, i)
		}
		f.Tensors = append(f.Tensors, t)
	}
	for _, t := range out {
		f.Outputs, o.Out = append(f.Outputs, len(f.Tensors)), append(o.Out, len(f.Tensors))
		f.Tensors = append(f.Tensors, t)
	}
	f.Ops = []op{o}
	return f
}

// operatorCase is a file of one operator that is right, and what may be wrong with it.
type operatorCase struct {
	name string
	op   op
	in   []tensor
	out  []tensor
	bad  []bad
}

// What is wrong where it is not that something is unsupported.
var wrong, shape = schema.ErrGraph, schema.ErrShape

// bad is what may be wrong with an operator.
type bad struct {
	name    string
	options fields         // in place of those that are right
	tensors map[int]tensor // in place of those that are right
	blob    []byte         // custom options
	says    string         // part of the error
	kind    error          // ErrUnsupported unless set
	node    int64          // that the error is about
}

// TestOperatorErrors: every option with a value that cannot be honoured, and every operand that does not fit, is an error that
// says so. Each file is right but for that.
func TestOperatorErrors(t *testing.T) {
	for _, c := range slices.Concat(imageOperators(), rowOperators(), shapeOperators()) {
		t.Run(c.name, func(t *testing.T) {
			_, err := tflite.Unmarshal(single(c.op, c.in, c.out...).Bytes())
			require.NoError(t, err, "the file that is right")
			for _, b := range c.bad {
				f := single(c.op, c.in, c.out...)
				for at, t := range b.tensors {
					f.Tensors[at] = t
				}
				f.Inputs = nil
				for i := range c.in {
					if f.Tensors[i].Data == nil {
						f.Inputs = append(f.Inputs, i)
					}
				}
				o := &f.Ops[0]
				if b.options != nil {
					o.Fields = maps.Clone(c.op.Fields)
					if o.Fields == nil {
						o.Fields = fields{}
					}
					maps.Copy(o.Fields, b.options)
				}
				if b.blob != nil {
					o.Blob = b.blob
				}
				_, err := tflite.Unmarshal(f.Bytes())
				if b.kind == nil {
					b.kind = schema.ErrUnsupported
				}
				require.ErrorIs(t, err, b.kind, b.name)
				require.ErrorContains(t, err, b.says, b.name)
				var e *schema.Error
				require.ErrorAs(t, err, &e)
				require.Equal(t, b.node, e.Node, "%s: %v", b.name, err)
			}
		})
	}
}

// scaled are weights with a scale for each index along the wrong dimension.
func scaled(channels, axis int) tensor {
	w := filled(int8s(0.1, 0, channels, 3, 3, 4))
	w.Scale, w.Zero, w.Axis = []float32{1, 1, 1}, []int64{0, 0, 0}, axis
	return w
}

func perChannel(shape ...int) tensor {
	x := int8s(1, 0, shape...)
	x.Scale, x.Zero, x.Axis = []float32{1, 1, 1, 1}, []int64{0, 0, 0, 0}, 3
	return x
}

// TestSpelledSoftmax: only what is a softmax becomes one.
func TestSpelledSoftmax(t *testing.T) {
	spelled := func() file {
		return file{
			Tensors: []tensor{real("x", 3, 7), real("m", 3, 1), real("d", 3, 7), real("e", 3, 7), real("s", 3, 1), real("y", 3, 7),
				whole("a", -1)},
			Inputs: []int{0}, Outputs: []int{5},
			Ops: []op{
				{Code: wire.BuiltinOperatorREDUCE_MAX, Kind: wire.BuiltinOptionsReducerOptions, Fields: fields{0: true}, In: []int{0, 6},
					Out: []int{1}},
				{Code: wire.BuiltinOperatorSUB, Kind: wire.BuiltinOptionsSubOptions, In: []int{0, 1}, Out: []int{2}},
				{Code: wire.BuiltinOperatorEXP, In: []int{2}, Out: []int{3}},
				{Code: wire.BuiltinOperatorSUM, Kind: wire.BuiltinOptionsReducerOptions, Fields: fields{0: true}, In: []int{3, 6},
					Out: []int{4}},
				{Code: wire.BuiltinOperatorDIV, Kind: wire.BuiltinOptionsDivOptions, In: []int{3, 4}, Out: []int{5}},
			},
		}
	}
	require.Equal(t, []string{"Softmax"}, kinds(read(t, spelled())))
	for name, change := range map[string]func(f *file){
		"another axis": func(f *file) {
			f.Tensors[6].Data = []int32{0}
			f.Tensors[1].Shape, f.Tensors[4].Shape = []int{1, 7}, []int{1, 7}
		},
		"activation":     func(f *file) { f.Ops[4].Fields = fields{0: int8(1)} },
		"sum of another": func(f *file) { f.Ops[3].In[0] = 2 },
		"maximum of another": func(f *file) {
			f.Ops[0].In[0] = 7
			f.Tensors = append(f.Tensors, real("z", 3, 7))
			f.Inputs = []int{0, 7}
		},
	} {
		f := spelled()
		change(&f)
		g, err := tflite.Unmarshal(f.Bytes())
		if err != nil {
			require.ErrorContains(t, err, "REDUCE_MAX (1)", name)
			continue
		}
		require.NotEqual(t, []string{"Softmax"}, kinds(g), name)
	}
	// The difference is wanted, too: it is computed, but for its maximum there is nothing.
	f := spelled()
	f.Outputs = append(f.Outputs, 2)
	_, err := tflite.Unmarshal(f.Bytes())
	require.ErrorContains(t, err, "REDUCE_MAX (1)")
}

// TestSharedWeights: what several operators read is one value, in each form.
func TestSharedWeights(t *testing.T) {
	f := chain([]tensor{real("x", 3, 4), filled(int8s(0.1, 0, 4, 4)), real("m", 3, 4), real("y", 3, 4)},
		op{Code: wire.BuiltinOperatorFULLY_CONNECTED, Kind: wire.BuiltinOptionsFullyConnectedOptions, In: []int{0, 1}, Out: []int{2}},
		op{Code: wire.BuiltinOperatorFULLY_CONNECTED, Kind: wire.BuiltinOptionsFullyConnectedOptions, In: []int{2, 1}, Out: []int{3}})
	g := read(t, f)
	require.Equal(t, []string{"Convert", "FullyConnected", "Convert", "FullyConnected"}, kinds(g))
	require.Equal(t, g.Nodes[1].Inputs[1], g.Nodes[3].Inputs[1])
	require.Equal(t, graph.QCInt8, g.Values[g.Nodes[1].Inputs[1]].DType)
	require.Equal(t, []float32{0.1, 0.1, 0.1, 0.1}, g.Values[g.Nodes[1].Inputs[1]].Quant.Scales)
}

// TestNumbers: the operators have TensorFlow Lite's numbers.
func TestNumbers(t *testing.T) {
	for name, number := range map[string]wire.BuiltinOperator{
		"ADD": 0, "LOGISTIC": 14, "CUSTOM": 32, "PAD": 34, "MEAN": 40, "CAST": 53, "TRANSPOSE_CONV": 67, "SUM": 74, "SQUARE": 92,
		"ABS": 101, "COS": 108, "ROUND": 116, "DENSIFY": 124, "BATCH_MATMUL": 126, "CUMSUM": 128, "REDUCE_ALL": 140, "GELU": 150,
		"SIGN": 158, "RIGHT_SHIFT": 161, "STABLEHLO_ABS": 175, "STABLEHLO_SCATTER": 190, "DILATE": 203, "COMPLEX": 207,
	} {
		require.Equal(t, name, number.String())
	}
}
