package graph_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/xnn/graph"
)

// parameterWords have an entry for each exported field of an operator, arrays, lists and structs within one as a whole: what an
// error says of a value that cannot be right, or one of the words between bars. Nothing: there is no value that is wrong in
// itself.
var parameterWords = map[string]string{
	"ArgMaxPool2D.Kernel": "kernel", "ArgMaxPool2D.Padding.Bottom": "padding", "ArgMaxPool2D.Padding.Left": "padding",
	"ArgMaxPool2D.Padding.Right": "padding", "ArgMaxPool2D.Padding.Top": "padding", "ArgMaxPool2D.SamePadding": "",
	"Attention.Cap":          "cap",
	"BatchMatMul.Transposed": "",
	"Binary.Func":            "Nonsense", "Binary.Range.Max": "limits", "Binary.Range.Min": "limits",
	"Concat.Axis":     "axis",
	"Conv2D.Dilation": "dilation", "Conv2D.GroupInputs": "input channels", "Conv2D.GroupOutputs": "output channels",
	"Conv2D.Groups": "groups", "Conv2D.Kernel": "kernel", "Conv2D.Padding.Bottom": "padding",
	"Conv2D.Padding.Left": "padding", "Conv2D.Padding.Right": "padding", "Conv2D.Padding.Top": "padding",
	"Conv2D.Range.Max": "limits", "Conv2D.Range.Min": "limits", "Conv2D.SamePadding": "", "Conv2D.Stride": "stride",
	"ConvTranspose2D.Adjustment": "adjustment", "ConvTranspose2D.Dilation": "dilation",
	"ConvTranspose2D.GroupInputs": "input channels", "ConvTranspose2D.GroupOutputs": "output channels",
	"ConvTranspose2D.Groups": "groups", "ConvTranspose2D.Kernel": "kernel",
	"ConvTranspose2D.Padding.Bottom": "padding", "ConvTranspose2D.Padding.Left": "padding",
	"ConvTranspose2D.Padding.Right": "padding", "ConvTranspose2D.Padding.Top": "padding",
	"ConvTranspose2D.Range.Max": "limits", "ConvTranspose2D.Range.Min": "limits", "ConvTranspose2D.Stride": "stride",
	"DepthToSpace2D.BlockSize": "block_size",
	"DepthwiseConv2D.Channels": "channels", "DepthwiseConv2D.Dilation": "dilation",
	"DepthwiseConv2D.Kernel": "kernel", "DepthwiseConv2D.Multiplier": "multiplier",
	"DepthwiseConv2D.Padding.Bottom": "padding", "DepthwiseConv2D.Padding.Left": "padding",
	"DepthwiseConv2D.Padding.Right": "padding", "DepthwiseConv2D.Padding.Top": "padding",
	"DepthwiseConv2D.Range.Max": "limits", "DepthwiseConv2D.Range.Min": "limits", "DepthwiseConv2D.SamePadding": "",
	"DepthwiseConv2D.Stride": "stride",
	"EvenSplit.Axis":         "axis",
	"ExpandDims.Axes":        "axis",
	"FullyConnected.Flatten": "", "FullyConnected.Range.Max": "limits", "FullyConnected.Range.Min": "limits",
	"FullyConnected.Transposed":      "",
	"FullyConnectedSparse.Range.Max": "limits", "FullyConnectedSparse.Range.Min": "limits",
	"Pad.Post": "after", "Pad.Pre": "before", "Pad.Value": "",
	"Pool2D.Dilation": "dilation", "Pool2D.Func": "Nonsense", "Pool2D.Kernel": "kernel",
	"Pool2D.Padding.Bottom": "padding", "Pool2D.Padding.Left": "padding", "Pool2D.Padding.Right": "padding",
	"Pool2D.Padding.Top": "padding", "Pool2D.Range.Max": "limits", "Pool2D.Range.Min": "limits",
	"Pool2D.SamePadding": "", "Pool2D.Stride": "stride",
	"Reduce.Axes": "axis", "Reduce.Func": "Nonsense", "Reduce.KeepDims": "", "Reduce.Range.Max": "limits",
	"Reduce.Range.Min":        "limits",
	"Reshape.Dims":            "dimension",
	"ResizeBilinear2D.Height": "height", "ResizeBilinear2D.Mode": "mode", "ResizeBilinear2D.Width": "width",
	"RotaryEmbedding.MaxTokens": "max_tokens",
	"Slice.Offsets":             "offset", "Slice.Sizes": "elements",
	"SpaceToDepth2D.BlockSize": "block_size",
	"Transpose.Perm":           "axis",
	"Unary.Alpha":              "alpha|negative_slope", "Unary.Func": "Nonsense",
	"Unary.Range.Max": "limits", "Unary.Range.Min": "limits",
	"Unpool2D.Kernel": "kernel", "Unpool2D.Padding.Bottom": "padding", "Unpool2D.Padding.Left": "padding",
	"Unpool2D.Padding.Right": "padding", "Unpool2D.Padding.Top": "padding",
}

// impossible are values of a field of this type that no operator can have.
func impossible(v reflect.Value) []any {
	switch v.Kind() {
	case reflect.Int:
		return []any{-1, math.MinInt, math.MaxInt}
	case reflect.Float32:
		return []any{noNumber}
	case reflect.String:
		return []any{"Nonsense"}
	}
	return nil
}

// fieldsOf calls f with the path to each exported field of a struct that is not one itself, and with each element of arrays and
// lists.
func fieldsOf(v reflect.Value, path string, f func(path string, field reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fieldsOf(v.Field(i), path+"."+v.Type().Field(i).Name, f)
			}
		}
	case reflect.Array, reflect.Slice:
		for i := range v.Len() {
			fieldsOf(v.Index(i), path, f)
		}
	default:
		f(path, v)
	}
}

func says(err error, words string) bool {
	return slices.ContainsFunc(strings.Split(words, "|"), func(word string) bool { return strings.Contains(err.Error(), word) })
}

// TestEveryParameter puts into every parameter of every operator what it cannot be, one at a time, and wants an error that names
// the node and the parameter.
func TestEveryParameter(t *testing.T) {
	seen, words := map[reflect.Type]bool{}, map[string]bool{}
	for _, f := range fixtureTable {
		for i := range f.graph(t).Nodes {
			op := reflect.TypeOf(f.graph(t).Nodes[i].Op)
			count := 0
			fieldsOf(reflect.ValueOf(f.graph(t).Nodes[i].Op), op.Name(), func(string, reflect.Value) { count++ })
			seen[op] = true
			for field := range count {
				tries := 1
				for try := 0; try < tries; try++ {
					g := f.graph(t)
					changed := reflect.New(op).Elem()
					changed.Set(reflect.ValueOf(g.Clone().Nodes[i].Op))
					n, name, value := 0, "", any(nil)
					fieldsOf(changed, op.Name(), func(path string, v reflect.Value) {
						if n == field {
							bad := impossible(v)
							name, tries = path, len(bad)
							if len(bad) > 0 {
								value = bad[try]
								v.Set(reflect.ValueOf(value).Convert(v.Type()))
							}
						}
						n++
					})
					word, known := parameterWords[name]
					words[name] = true
					require.True(t, known, "%s has no entry", name)
					if value == nil || word == "" {
						continue
					}
					g.Nodes[i].Op = changed.Interface().(graph.Op)
					err := g.Check()
					var e *schema.Error
					if !errors.As(err, &e) || e.Node != int64(i) || !says(err, word) {
						t.Errorf("%s, %s = %v: %v", f.name, name, value, err)
					}
				}
			}
		}
	}
	for op := range graph.OpTypes() {
		require.True(t, seen[op], "no fixture has an operator of type %s", op)
		// Lists that no fixture fills would be left out.
		for i := range op.NumField() {
			if op.Field(i).Type.Kind() == reflect.Slice {
				require.True(t, words[op.Name()+"."+op.Field(i).Name], "no fixture has %s.%s", op.Name(), op.Field(i).Name)
			}
		}
	}
	for name := range parameterWords {
		require.True(t, words[name], "there is no %s", name)
	}
}

// TestEveryOperand takes operands and results away from every operator, and gives it more, and some of other types.
func TestEveryOperand(t *testing.T) {
	kinds := map[string]bool{}
	for _, f := range fixtureTable {
		for i, node := range f.graph(t).Nodes {
			kinds[node.Op.Kind()] = true
			rejects := func(what string, change func(g *graph.Graph, n *graph.Node), word string) {
				g := f.graph(t)
				change(g, &g.Nodes[i])
				err := g.Check()
				var e *schema.Error
				if !errors.As(err, &e) || !says(err, word) || e.Node != int64(i) && e.Value < 0 {
					t.Errorf("%s, node %d, %s: %v", f.name, i, what, err)
				}
			}
			rejects("no operand", func(_ *graph.Graph, n *graph.Node) { n.Inputs = nil }, "operand|input")
			rejects("no result", func(_ *graph.Graph, n *graph.Node) { n.Outputs = nil }, "result|output|no node writes it")
			rejects("a result more", func(g *graph.Graph, n *graph.Node) {
				g.Values = append(g.Values, graph.Value{Type: fp32(1)})
				n.Outputs = append(slices.Clone(n.Outputs), graph.ID(len(g.Values)-1))
			}, "result|output|equal parts")
			if node.Op.Kind() != "Concat" {
				rejects("six operands more", func(_ *graph.Graph, n *graph.Node) {
					n.Inputs = append(slices.Clone(n.Inputs), slices.Repeat(n.Inputs[:1], 6)...)
				}, "operand|input")
			}
			for j, id := range append(slices.Clone(node.Inputs), node.Outputs...) {
				if id == graph.None || len(graph.Signatures(node.Op.Kind())) == 0 {
					continue
				}
				// No element type has this number.
				rejects(fmt.Sprint("operand ", j, " of no type"), func(g *graph.Graph, _ *graph.Node) {
					g.Values[id].Type = graph.Type{DType: 99, Shape: g.Values[id].Shape}
				}, "type|99")
			}
			for j, id := range node.Inputs {
				if !graph.Static(node.Op.Kind(), j) || id == graph.None {
					continue
				}
				rejects(fmt.Sprint("operand ", j, " is no constant"), func(g *graph.Graph, _ *graph.Node) {
					g.Values[id].Constant = 0
					g.Inputs = append(g.Inputs, id)
				}, "constant")
			}
		}
	}
	for _, kind := range graph.Operators() {
		require.True(t, kinds[kind], "no fixture has %s", kind)
	}
}
