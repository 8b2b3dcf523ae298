package tflite_test

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
	"github.com/xnngo/xnngo/xnn/internal/tfbuild"
	"github.com/xnngo/xnngo/xnn/tflite"
)

type (
	file   = tfbuild.File
	tensor = tfbuild.Tensor
	op     = tfbuild.Op
	fields = tfbuild.Fields
)

func real(name string, shape ...int) tensor {
	return tensor{Name: name, Type: wire.TensorTypeFLOAT32, Shape: shape}
}

func numbers(name string, values ...float32) tensor {
	return tensor{Name: name, Type: wire.TensorTypeFLOAT32, Shape: []int{len(values)}, Data: values}
}

func whole(name string, values ...int32) tensor {
	return tensor{Name: name, Type: wire.TensorTypeINT32, Shape: []int{len(values)}, Data: values}
}

func scalar(name string, value int32) tensor {
	return tensor{Name: name, Type: wire.TensorTypeINT32, Data: []int32{value}, Scalar: true}
}

// adding is x + c, of which a test changes something.
func adding() file {
	return file{
		Tensors: []tensor{real("x", 2, 3), numbers("c", 10, 20, 30), real("y", 2, 3)},
		Inputs:  []int{0}, Outputs: []int{2},
		Ops: []op{{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, Fields: fields{0: int8(0)}, In: []int{0, 1},
			Out: []int{2}}},
	}
}

// chain is a file of operators over tensors; the first is the input, the last the output.
func chain(tensors []tensor, ops ...op) file {
	return file{Tensors: tensors, Inputs: []int{0}, Outputs: []int{len(tensors) - 1}, Ops: ops}
}

func read(t *testing.T, f file) *graph.Graph {
	t.Helper()
	g, err := tflite.Unmarshal(f.Bytes())
	require.NoError(t, err)
	return g
}

// kinds are the operators of a graph, in order.
func kinds(g *graph.Graph) (list []string) {
	for i := range g.Nodes {
		list = append(list, g.Nodes[i].Op.Kind())
	}
	return list
}

func TestNamesAndPlaces(t *testing.T) {
	g := read(t, adding())
	require.Equal(t, "tfbuild", g.Version)
	require.Equal(t, []string{"Add"}, kinds(g))
	for i, name := range []string{"x", "c", "y"} {
		var found *graph.Value
		for k := range g.Values {
			if g.Values[k].Name == name {
				found = &g.Values[k]
			}
		}
		require.NotNil(t, found, name)
		require.EqualValues(t, i, found.Ref)
	}
	x, y := g.Values[g.Inputs[0]], g.Values[g.Outputs[0]]
	require.Equal(t, "x", x.Name)
	require.Equal(t, "y", y.Name)
	require.Equal(t, graph.Shape{2, 3}, y.Shape)
}

// TestErrors: each file is right but for one thing, and the error names the operator, the tensor and what was found.
func TestErrors(t *testing.T) {
	relu := op{Code: wire.BuiltinOperatorRELU, In: []int{0}, Out: []int{2}}
	for name, c := range map[string]struct {
		change func(f *file)
		kind   error
		says   string
		node   int64
		value  int64
	}{
		"version":         {func(f *file) { f.Version = 2 }, schema.ErrUnsupported, "version 2", -1, -1},
		"input outside":   {func(f *file) { f.Inputs[0] = 7 }, schema.ErrGraph, "input 0 is tensor 7 of 3", -1, -1},
		"output outside":  {func(f *file) { f.Outputs[0] = -1 }, schema.ErrGraph, "output 0 is tensor -1 of 3", -1, -1},
		"operand outside": {func(f *file) { f.Ops[0].In[1] = 3 }, schema.ErrGraph, "ADD: operand 1 is tensor 3 of 3", 0, -1},
		"operand -2":      {func(f *file) { f.Ops[0].In[1] = -2 }, schema.ErrGraph, "ADD: operand 1 is tensor -2 of 3", 0, -1},
		"result outside":  {func(f *file) { f.Ops[0].Out[0] = -1 }, schema.ErrGraph, "ADD: result 0 is tensor -1 of 3", 0, -1},
		"operand missing": {func(f *file) { f.Ops[0].In[1] = -1 }, schema.ErrGraph, "ADD: operand 1 is not there", 0, -1},
		"too few operands": {func(f *file) { f.Ops[0].In = []int{0} }, schema.ErrGraph,
			"ADD: 1 operands and 1 results, needed 2 and 1", 0, -1},
		"input twice":    {func(f *file) { f.Inputs = []int{0, 0} }, schema.ErrGraph, "(x): listed twice as an input", -1, 0},
		"constant input": {func(f *file) { f.Inputs = []int{0, 1} }, schema.ErrGraph, "input 1 has data", -1, 1},
		"computed input": {func(f *file) { f.Inputs = []int{0, 2} }, schema.ErrGraph, "input 1 is written by operator 0", -1, 2},
		"written twice": {func(f *file) { f.Ops = append(f.Ops, relu) }, schema.ErrGraph,
			"RELU: writes what operator 0 writes already", 1, 2},
		"writes a constant": {func(f *file) { f.Ops[0].Out = []int{2, 1} }, schema.ErrGraph, "", 0, -1},
		"without data": {func(f *file) { f.Tensors[1].Data = nil }, schema.ErrGraph, "(c): ADD: it is read, but has no data", 0,
			1},
		"unordered": {func(f *file) {
			f.Tensors = append(f.Tensors, real("z", 2, 3))
			f.Ops = []op{{Code: wire.BuiltinOperatorRELU, In: []int{2}, Out: []int{3}}, f.Ops[0]}
			f.Outputs[0] = 3
		}, schema.ErrGraph, "(y): RELU: it is read before operator 1 writes it", 0, 2},
		"nobody writes": {func(f *file) { f.Ops = nil }, schema.ErrGraph, "(y): it is read, but has no data", -1, 2},
		"short data": {func(f *file) { f.Tensors[1].Shape = []int{4} }, schema.ErrGraph,
			"(c): ADD: FLOAT32[4] needs 16 bytes, buffer 1 has 12", 0, 1},
		"rank": {func(f *file) { f.Tensors[0].Shape = []int{1, 1, 1, 1, 1, 2, 3} }, schema.ErrUnsupported,
			"(x): 7 dimensions, at most 6", -1, 0},
		"open size": {func(f *file) { f.Tensors[0].Shape = []int{-1, 3} }, schema.ErrShape,
			"(x): dimension 0 is -1: it looks unset or dynamic", -1, 0},
		"overflow": {func(f *file) { f.Tensors[0].Shape = []int{1 << 30, 1 << 30, 1 << 30} }, schema.ErrShape, "overflows",
			-1, 0},
		"type": {func(f *file) { f.Tensors[0].Type = wire.TensorTypeSTRING }, schema.ErrUnsupported,
			"(x): elements of STRING", -1, 0},
		"bool": {func(f *file) { f.Tensors[0].Type = wire.TensorTypeBOOL }, schema.ErrUnsupported,
			"(x): elements of BOOL", -1, 0},
		"int16": {func(f *file) { f.Tensors[2].Type = wire.TensorTypeINT16 }, schema.ErrUnsupported,
			"(y): ADD: elements of INT16", 0, 2},
		"variable": {func(f *file) { f.Tensors[0].Variable = true }, schema.ErrUnsupported, "(x): it is a variable", -1, 0},
		"mixed types": {func(f *file) { f.Tensors[0].Type = wire.TensorTypeINT32 }, schema.ErrUnsupported,
			"Add does not take int32, fp32", 0, -1},
		"declared shape": {func(f *file) { f.Tensors[2].Shape = []int{3, 3} }, schema.ErrShape,
			"(y): ADD: the result is declared [3,3], computed [2,3]", 0, 2},
		"signature": {func(f *file) { f.Tensors[0].Signature = []int{-1} }, schema.ErrGraph,
			"(x): shape_signature has 1 entries", -1, 0},
		"other signature": {func(f *file) { f.Tensors[0].Signature = []int{-1, 4} }, schema.ErrGraph,
			"dimension 1 is 4 in shape_signature and 3 in shape", -1, 0},
		"activation": {func(f *file) { f.Ops[0].Fields[0] = int8(5) }, schema.ErrUnsupported,
			"ADD: fused_activation_function SIGN_BIT", 0, -1},
		"activation 9": {func(f *file) { f.Ops[0].Fields[0] = int8(9) }, schema.ErrUnsupported,
			"fused_activation_function ActivationFunctionType(9)", 0, -1},
		"other options": {func(f *file) { f.Ops[0].Kind = wire.BuiltinOptionsMulOptions }, schema.ErrGraph,
			"ADD: builtin_options are MulOptions, needed AddOptions", 0, -1},
		"unknown option": {func(f *file) { f.Ops[0].Fields[2] = int8(1) }, schema.ErrUnsupported,
			"ADD: its options have a field 2, which is not known", 0, -1},
		"custom options": {func(f *file) { f.Ops[0].Blob = []byte{1} }, schema.ErrUnsupported, "ADD: it has custom options", 0, -1},
		"other options' tag": {func(f *file) { f.Ops[0].Other = map[int]int8{11: 3} }, schema.ErrUnsupported, "builtin_options_2", 0,
			-1},
		"unsupported": {func(f *file) {
			f.Tensors = append(f.Tensors, real("z", 2, 3))
			f.Outputs[0] = 3
			f.Ops[0].Code = wire.BuiltinOperatorLSTM
			f.Ops = append(f.Ops, op{Code: wire.BuiltinOperatorCUSTOM, Custom: "Mine", In: []int{2}, Out: []int{3}})
		}, schema.ErrUnsupported, "operators that are not supported: CUSTOM Mine (1), LSTM (1)", -1, -1},
		"unknown operator": {func(f *file) { f.Ops[0].Code = 300 }, schema.ErrUnsupported, "BuiltinOperator(300) (1)", -1, -1},
		"maximum of rows": {func(f *file) { f.Ops[0].Code = wire.BuiltinOperatorREDUCE_MAX }, schema.ErrUnsupported,
			"REDUCE_MAX (1)", -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			f := adding()
			c.change(&f)
			_, err := tflite.Unmarshal(f.Bytes())
			require.ErrorIs(t, err, c.kind)
			require.ErrorContains(t, err, c.says)
			var e *schema.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, c.node, e.Node, "node of %v", err)
			require.Equal(t, c.value, e.Value, "value of %v", err)
		})
	}
}

func TestMalformed(t *testing.T) {
	good := adding().Bytes()
	for n := range len(good) - 3 { // the rest is padding
		_, err := tflite.Unmarshal(good[:n:n])
		require.Error(t, err, "cut at %d of %d", n, len(good))
	}
	_, err := tflite.Unmarshal([]byte("\x1c\x00\x00\x00TFL3\x14\x00\x20\x00\x1c\x00\x18\x00\x14\x00\x10\x00"))
	require.ErrorIs(t, err, schema.ErrFormat)
	require.True(t, tflite.Is(good))
	require.False(t, tflite.Is(good[:7]))
	require.False(t, tflite.Is([]byte("\x1c\x00\x00\x00XN01")))
}

// TestTagOnly: writers are known that name a kind of options and leave the options out.
func TestTagOnly(t *testing.T) {
	f := adding()
	f.Ops[0].OnlyTag = true
	require.Equal(t, []string{"Add"}, kinds(read(t, f)))
}

// TestBehind: in files over 2 GiB the data of tensors lie behind the FlatBuffer.
func TestBehind(t *testing.T) {
	f := adding()
	f.Behind = true
	g := read(t, f)
	require.Equal(t, tfbuild.Raw([]float32{10, 20, 30}), g.Constants[1].Data)

	data := f.Bytes()
	_, err := tflite.Unmarshal(data[:len(data)-1])
	require.ErrorIs(t, err, schema.ErrFormat)
	require.ErrorContains(t, err, "leaves the file")
}

// TestUnused: operators and tensors that no output depends on are left out, whatever they are.
func TestUnused(t *testing.T) {
	f := adding()
	f.Tensors = append(f.Tensors, tensor{Name: "text", Type: wire.TensorTypeSTRING, Variable: true}, real("z", 1))
	f.Ops = append(f.Ops, op{Code: wire.BuiltinOperatorLSTM, In: []int{3}, Out: []int{4}})
	g := read(t, f)
	require.Equal(t, []string{"Add"}, kinds(g))
	require.Len(t, g.Values, 3)
}

// TestOutputs: an input may be one, the same tensor twice, and a constant, which the graph has to copy.
func TestOutputs(t *testing.T) {
	f := adding()
	f.Outputs = []int{0, 2, 2, 1}
	g := read(t, f)
	require.Equal(t, g.Inputs[0], g.Outputs[0])
	require.Equal(t, g.Outputs[1], g.Outputs[2])
	require.Equal(t, []string{"Add", "Copy"}, kinds(g))
	require.Equal(t, "c", g.Values[g.Outputs[3]].Name)
}

// TestSubnormals become zeros of the same sign, and are counted.
func TestSubnormals(t *testing.T) {
	f := adding()
	f.Tensors[1].Data = []float32{1e-40, float32(math.Copysign(1e-45, -1)), 0x1p-126}
	g := read(t, f)
	require.Equal(t, 2, g.Flushed)
	require.Equal(t, tfbuild.Raw([]float32{0, float32(math.Copysign(0, -1)), 0x1p-126}), g.Constants[1].Data)
	require.Equal(t, 0, read(t, adding()).Flushed)
}

// TestMemoryLimit: what a file makes of little data is bounded.
func TestMemoryLimit(t *testing.T) {
	halves := make([]uint16, 1000)
	f := chain([]tensor{real("x", 1000), {Name: "h", Type: wire.TensorTypeFLOAT16, Shape: []int{1000}, Data: halves},
		real("w", 1000), real("y", 1000)},
		op{Code: wire.BuiltinOperatorDEQUANTIZE, In: []int{1}, Out: []int{2}},
		op{Code: wire.BuiltinOperatorMUL, Kind: wire.BuiltinOptionsMulOptions, In: []int{0, 2}, Out: []int{3}})
	_, err := tflite.Options{MemoryLimit: 4000}.Unmarshal(f.Bytes())
	require.NoError(t, err)
	_, err = tflite.Options{MemoryLimit: 3999}.Unmarshal(f.Bytes())
	require.ErrorIs(t, err, schema.ErrMemoryLimit)

	fill := chain([]tensor{real("x", 1), whole("dims", 1<<15, 1<<15), numbers("v", 1), real("big", 1<<15, 1<<15),
		real("y", 1<<15, 1<<15)},
		op{Code: wire.BuiltinOperatorFILL, Kind: wire.BuiltinOptionsFillOptions, In: []int{1, 2}, Out: []int{3}},
		op{Code: wire.BuiltinOperatorADD, Kind: wire.BuiltinOptionsAddOptions, In: []int{0, 3}, Out: []int{4}})
	fill.Tensors[2].Shape, fill.Tensors[2].Scalar = nil, true
	_, err = tflite.Unmarshal(fill.Bytes())
	require.True(t, errors.Is(err, schema.ErrMemoryLimit), "%v", err)
}
