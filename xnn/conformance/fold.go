package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

// fold computes a node while reading, where it is about shapes alone: the shape of a value, a constant of a shape, and integers
// made of those. It tells whether it did. An input of the case is never folded: the graph computes with it.
func (im *importer) fold(n *onnxNode) bool {
	var t *tensor
	switch n.op {
	case "Shape":
		t = im.foldShape(n)
	case "Size":
		t = intTensor([]int{graph.Shape(im.dimsOf(n.inputs[0])).Elements()})
	case "ConstantOfShape":
		t = im.foldConstantOfShape(n)
	default:
		f := folders[n.op]
		if f == nil {
			return false
		}
		operands := make([][]int, len(n.inputs))
		for i, name := range n.inputs {
			v := im.values[name]
			if v == nil || v.fed || v.tensor == nil || v.elem != elemInt64 {
				return false
			}
			operands[i] = v.tensor.ints()
		}
		list := f(operands)
		t = intTensor(list, len(list))
		if n.op != "Concat" && n.op != "Slice" {
			t.dims = im.values[n.inputs[0]].tensor.dims
		}
	}
	if t == nil {
		return false
	}
	im.values[n.outputs[0]] = &value{tensor: t, elem: t.elem, folded: true}
	return true
}

// folds are the operators that only fold computes.
var folds = map[string]bool{"Shape": true, "Size": true, "ConstantOfShape": true}

// folders compute integers. Vectors of one element stand for scalars.
var folders = map[string]func(operands [][]int) []int{
	"Neg":    func(o [][]int) []int { return each(o[0], []int{0}, func(x, _ int) int { return -x }) },
	"Sub":    func(o [][]int) []int { return each(o[0], o[1], func(x, y int) int { return x - y }) },
	"Concat": func(o [][]int) []int { return slices.Concat(o...) },
	"Slice": func(o [][]int) []int {
		from, to := within(o[1][0], len(o[0])), within(o[2][0], len(o[0]))
		return o[0][from:max(from, to)]
	},
}

func each(xs, ys []int, f func(x, y int) int) []int {
	list := make([]int, len(xs))
	for i, x := range xs {
		list[i] = f(x, ys[i%len(ys)])
	}
	return list
}

// dimsOf are the dimensions of any value.
func (im *importer) dimsOf(name string) []int {
	v := im.values[name]
	if v == nil {
		leaveOut(notStatic, "the shape of %q", name)
	}
	if v.tensor != nil {
		return v.tensor.dims
	}
	return im.shape(v.id)
}

func (im *importer) foldShape(n *onnxNode) *tensor {
	dims := im.dimsOf(n.inputs[0])
	from, to := 0, len(dims)
	if a, ok := n.attributes["start"]; ok {
		from = within(a.i, len(dims))
	}
	if a, ok := n.attributes["end"]; ok {
		to = within(a.i, len(dims))
	}
	dims = dims[from:max(from, to)]
	return intTensor(dims, len(dims))
}

func (im *importer) foldConstantOfShape(n *onnxNode) *tensor {
	v := im.values[n.inputs[0]]
	if v == nil || v.tensor == nil {
		return nil
	}
	dims := v.tensor.ints()
	element := floatTensor([]float32{0}, nil)
	if a, ok := n.attributes["value"]; ok {
		element = a.t
	}
	return &tensor{elem: element.elem, dims: dims, data: slices.Repeat(element.data, graph.Shape(dims).Elements())}
}
