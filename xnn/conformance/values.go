package conformance

import (
	"slices"

	"github.com/xnngo/xnngo/xnn/graph"
)

// has tells whether the node has operand i.
func (im *importer) has(i int) bool { return i < len(im.node.inputs) && im.node.inputs[i] != "" }

// in is operand i in the graph.
func (im *importer) in(i int) graph.ID {
	if !im.has(i) {
		leaveOut(lacksAttribute, "%s without operand %d", im.node.op, i)
	}
	return im.valueOf(im.node.inputs[i])
}

// ins are all operands in the graph.
func (im *importer) ins() []graph.ID {
	ids := make([]graph.ID, len(im.node.inputs))
	for i := range ids {
		ids[i] = im.in(i)
	}
	return ids
}

// known is operand i as a constant.
func (im *importer) known(i int) *tensor {
	v := im.values[im.node.inputs[i]]
	if v == nil || v.tensor == nil {
		leaveOut(notStatic, "%s operand %d", im.node.op, i)
	}
	return v.tensor
}

// isKnown tells whether operand i can be a constant.
func (im *importer) isKnown(i int) bool {
	v := im.values[im.node.inputs[i]]
	return v != nil && v.tensor != nil
}

// elem is the element type of operand i.
func (im *importer) elem(i int) elem {
	if v := im.values[im.node.inputs[i]]; v != nil {
		return v.elem
	}
	return 0
}

// out makes id the node's result i, of operand 0's element type.
func (im *importer) out(i int, id graph.ID) {
	e := elemFloat
	if im.has(0) {
		e = im.elem(0)
	}
	im.outAs(i, id, e)
}

func (im *importer) outAs(i int, id graph.ID, e elem) {
	if im.wants(i) {
		im.values[im.node.outputs[i]] = &value{id: id, ready: true, elem: e}
	}
}

// wants tells whether anybody asks for the node's result i.
func (im *importer) wants(i int) bool { return i < len(im.node.outputs) && im.node.outputs[i] != "" }

var plain = map[elem]graph.Type{
	elemFloat:    {DType: graph.Float32},
	elemFloat16:  {DType: graph.Float16},
	elemBFloat16: {DType: graph.BFloat16},
	elemInt32:    {DType: graph.Int32},
	elemBool:     {DType: graph.Int32},
	elemInt16:    {DType: graph.Int32},
	elemUint16:   {DType: graph.Int32},
	elemUint32:   {DType: graph.Int32},
	elemInt64:    {DType: graph.Int32},
	elemUint64:   {DType: graph.Int32},
	elemUint8:    {DType: graph.QUInt8, Quant: &graph.Quant{Scale: 1}},
	elemInt8:     {DType: graph.QInt8, Quant: &graph.Quant{Scale: 1}},
}

// typeOf is the type that a tensor of such elements has in the graph, its shape aside.
func (im *importer) typeOf(e elem) graph.Type {
	t, ok := plain[e]
	if !ok {
		leaveOut(lacksElement, "%v", e)
	}
	if im.half && t.DType == graph.Float32 {
		t.DType = graph.Float16
	}
	return t
}

// valueOf is the graph's value for a name.
func (im *importer) valueOf(name string) graph.ID {
	v := im.values[name]
	if v == nil {
		leaveOut(lacksAttribute, "%s without %q", im.node.op, name)
	}
	if v.ready {
		return v.id
	}
	return im.place(v, im.typeOf(v.elem))
}

// quantised is operand i as a tensor of this scale and zero point.
func (im *importer) quantised(i int, scale float32, zero int) graph.ID {
	v := im.values[im.node.inputs[i]]
	t, ok := plain[v.elem]
	if !ok || t.Quant == nil {
		leaveOut(lacksElement, "%v", v.elem)
	}
	t.Quant = &graph.Quant{Scale: scale, ZeroPoint: zero}
	if v.ready && !im.g.Values[v.id].Quant.Equal(t.Quant) {
		leaveOut(lacksMeaning, "%s of a tensor with another quantisation", im.node.op)
	}
	if v.ready {
		return v.id
	}
	return im.place(v, t)
}

// place puts a known value into the graph.
func (im *importer) place(v *value, t graph.Type) graph.ID {
	if len(v.tensor.dims) > graph.MaxRank {
		leaveOut(lacksRank, "%d dimensions", len(v.tensor.dims))
	}
	data := v.tensor
	switch t.DType {
	case graph.Int32:
		data = data.int32s()
	case graph.Float16:
		data = data.halves()
	}
	t.Shape = data.dims
	if v.fed {
		v.id = im.g.InputOf(t)
		im.fed = append(im.fed, data)
	} else {
		v.id = im.g.ConstantOf(t, data.data)
	}
	v.ready = true
	return v.id
}

// shape is that of a value of the graph.
func (im *importer) shape(id graph.ID) []int {
	im.check()
	return im.g.Values[id].Shape
}

// scalar is a constant of x's element type with all its elements f.
func (im *importer) scalar(x graph.ID, f float32, dims ...int) graph.ID {
	im.check()
	n := graph.Shape(dims).Elements()
	switch t := im.g.Values[x].Type; t.DType {
	case graph.Float32:
		return im.g.Constant(slices.Repeat([]float32{f}, n), dims...)
	case graph.Float16:
		return im.g.Constant(slices.Repeat([]graph.Half{graph.HalfOf(f)}, n), dims...)
	case graph.BFloat16:
		return im.g.Constant(slices.Repeat([]graph.BFloat{graph.BFloatOf(f)}, n), dims...)
	case graph.Int32:
		return im.g.Constant(slices.Repeat([]int32{int32(f)}, n), dims...)
	default:
		t.Shape = dims
		return im.g.ConstantOf(t, slices.Repeat([]byte{byte(int(f))}, n))
	}
}

// reals is a constant of these numbers.
func (im *importer) reals(data []float32, dims ...int) graph.ID {
	return im.place(&value{tensor: floatTensor(data, dims)}, im.typeOf(elemFloat))
}

// axis makes a negative axis count from the end.
func axis(a, rank int) int {
	if a < 0 {
		return a + rank
	}
	return a
}

// axesOf are axes in ascending order, each from the front.
func axesOf(axes []int, rank int) []int {
	list := make([]int, len(axes))
	for i, a := range axes {
		list[i] = axis(a, rank)
	}
	slices.Sort(list)
	return list
}

// count is 0, 1, ... n-1.
func count(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}
