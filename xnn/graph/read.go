package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"

	flatbuffers "github.com/google/flatbuffers/go"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

const (
	invalidID  = math.MaxUint32 // XNN_INVALID_VALUE_ID: the value is not external
	maxExterns = 4096
	flagInput  = 1
	flagOutput = 2
)

// Unmarshal reads an XNNGraph file and checks the graph. The graph's constants share the bytes of data, which must not
// change while it is used. An error says what is wrong and where: ErrFormat where the file is malformed, the other
// sentinels of package schema where the graph in it is.
func Unmarshal(data []byte) (*Graph, error) {
	if err := schema.Verify(data, schema.XNNGraph(), schema.Limits{}); err != nil {
		return nil, err
	}
	r := reader{
		dialect: dialectOf(data),
		file:    xnngraph.GetRootAsXNNGraph(data, 0),
		g:       &Graph{},
		ids:     map[uint32]ID{},
	}
	r.g.Version = string(r.file.Version())
	for _, step := range []func() error{r.constants, r.values, r.externals, r.nodes, r.g.Check} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return r.g, nil
}

// reader turns one file into a graph.
type reader struct {
	dialect dialect
	file    *xnngraph.XNNGraph
	g       *Graph
	ids     map[uint32]ID // id_out to value

	exts []external // in file order
}

// external is a value that the caller sees.
type external struct {
	id         ID
	externalID uint32
	flags      uint32
}

func (r *reader) errorf(format string, args ...any) *schema.Error {
	return schema.Errorf(schema.StageCheck, schema.ErrGraph, format, args...)
}

func (r *reader) constants() error {
	n := r.file.ConstantBufferLength()
	if n > 0 {
		r.g.Constants = make([]Constant, n)
	}
	for i := 1; i < n; i++ {
		var b xnngraph.Buffer
		r.file.ConstantBuffer(&b, i)
		r.g.Constants[i].Data = b.StorageBytes()
	}
	for i := range r.file.MemBufferSizesLength() {
		switch size := r.file.MemBufferSizes(i); {
		case i == 0:
			r.g.ArenaBytes = size
		case i < n:
			r.g.Constants[i].Reserve = size
		default:
			r.g.SpareBuffers = append(r.g.SpareBuffers, size)
		}
	}
	return nil
}

func (r *reader) values() error {
	if n := r.file.NumExterns(); n > maxExterns {
		return r.errorf("num_externs is %d, at most %d are supported", n, maxExterns)
	}
	for i := range r.file.XvaluesLength() {
		var x xnngraph.XValue
		r.file.Xvalues(&x, i)
		v, quant, err := r.tensor(&x)
		if err != nil {
			return schema.Errorf(schema.StageCheck, schema.ErrFormat, "xvalues[%d]: %v", i, err)
		}
		if err := r.value(v, quant); err != nil {
			return err.AtValue(v.IdOut())
		}
	}
	return nil
}

// tensor opens the two kinds of value.
func (r *reader) tensor(x *xnngraph.XValue) (*xnngraph.XNNTensorValue, *xnngraph.XNNQuantizedTensorValue, error) {
	var t flatbuffers.Table
	var v xnngraph.XNNTensorValue
	kind := x.XvalueType()
	switch ok := x.Xvalue(&t); {
	case ok && kind == xnngraph.XValueUnionXNNTensorValue:
		v.Init(t.Bytes, t.Pos)
		return &v, nil, nil
	case ok && kind == xnngraph.XValueUnionXNNQuantizedTensorValue && r.dialect != dialectSeed:
		var q xnngraph.XNNQuantizedTensorValue
		q.Init(t.Bytes, t.Pos)
		if q.TensorValue(&v) == nil {
			return nil, nil, errors.New("has no tensor_value")
		}
		return &v, &q, nil
	}
	return nil, nil, fmt.Errorf("is of the unknown kind %v", kind)
}

func (r *reader) value(v *xnngraph.XNNTensorValue, quantized *xnngraph.XNNQuantizedTensorValue) *schema.Error {
	ref, ext, flags := v.IdOut(), v.ExternalId(), v.Flags()
	id := ID(len(r.g.Values))
	if ref == invalidID {
		return r.errorf("id_out %d means no value", ref)
	}
	if _, twice := r.ids[ref]; twice {
		return r.errorf("id_out %d is defined twice", ref)
	}
	r.ids[ref] = id

	dtype, ok := r.dialect.dtype(v.Datatype())
	if !ok {
		return r.errorf("datatype %d is not known", int16(v.Datatype()))
	}
	quant, err := r.quant(dtype, quantized)
	if err != nil {
		return err
	}
	n := v.DimsLength()
	if int64(v.NumDims()) != int64(n) {
		return r.errorf("num_dims is %d, dims has %d entries", v.NumDims(), n)
	}
	if n > MaxRank {
		return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, "num_dims is %d, at most %d are supported", n, MaxRank)
	}
	shape := make(Shape, n)
	for i := range shape {
		shape[i] = int(v.Dims(i))
	}
	constant := v.ConstantBufferIdx()
	if int64(constant) >= max(1, int64(len(r.g.Constants))) {
		return r.errorf("constant_buffer_idx %d is outside the table of %d entries", constant, len(r.g.Constants))
	}

	switch {
	case flags&^(flagInput|flagOutput) != 0:
		return r.errorf("flags %#x, only 1 (input) and 2 (output) are known", flags)
	case ext == invalidID && flags != 0:
		return r.errorf("flags %d make it external, but external_id is %d", flags, ext)
	case ext != invalidID && flags == 0:
		return r.errorf("external_id %d, but flags 0 make it internal", ext)
	case ext != invalidID && ext >= r.file.NumExterns():
		return r.errorf("external_id %d is not below num_externs %d", ext, r.file.NumExterns())
	case ext != invalidID && constant != 0:
		return r.errorf("external_id %d, but constant_buffer_idx %d makes it a constant", ext, constant)
	}
	if ext != invalidID {
		r.exts = append(r.exts, external{id, ext, flags})
	}
	r.g.Values = append(r.g.Values, Value{Type: Type{dtype, shape, quant}, Constant: int(constant), Ref: ref})
	return nil
}

// externals fills the graph's inputs and outputs: in the order of the file's lists where there are any, else by
// external_id.
func (r *reader) externals() error {
	slices.SortFunc(r.exts, func(a, b external) int { return int(a.externalID) - int(b.externalID) })
	for i, e := range r.exts {
		if i > 0 && e.externalID == r.exts[i-1].externalID {
			return r.errorf("external_id %d is taken by value %d already", e.externalID, r.ref(r.exts[i-1].id)).
				AtValue(r.ref(e.id))
		}
	}
	var err error
	r.g.Inputs, err = r.order("input_ids", flagInput, r.file.InputIdsLength(), r.file.InputIds)
	if err != nil {
		return err
	}
	r.g.Outputs, err = r.order("output_ids", flagOutput, r.file.OutputIdsLength(), r.file.OutputIds)
	return err
}

// order gives the externals that have the flag. A list must name each of them and nothing else.
func (r *reader) order(field string, flag uint32, n int, at func(int) uint32) ([]ID, error) {
	var flagged []ID
	unlisted := map[ID]bool{}
	for _, e := range r.exts {
		if e.flags&flag != 0 {
			flagged = append(flagged, e.id)
			unlisted[e.id] = true
		}
	}
	if n == 0 {
		return flagged, nil
	}
	has := make(map[ID]bool, len(flagged))
	for _, id := range flagged {
		has[id] = true
	}
	list := make([]ID, n)
	for i := range list {
		ref := at(i)
		id, ok := r.ids[ref]
		switch {
		case !ok:
			return nil, r.errorf("%s[%d] is %d, which no value defines", field, i, ref)
		case !has[id]:
			return nil, r.errorf("in %s[%d], but its flags lack %d", field, i, flag).AtValue(ref)
		}
		list[i] = id
		delete(unlisted, id)
	}
	for _, id := range flagged {
		if unlisted[id] {
			return nil, r.errorf("flags say %d, but %s does not name it", flag, field).AtValue(r.ref(id))
		}
	}
	return list, nil
}

func (r *reader) nodes() error {
	n := r.file.XnodesLength()
	for i := range n {
		var x xnngraph.XNode
		r.file.Xnodes(&x, i)
		var t flatbuffers.Table
		f, ok := forms[x.XnodeType()]
		if !ok || f.dialect > r.dialect || !x.Xnode(&t) {
			return schema.Errorf(schema.StageCheck, schema.ErrFormat, "operator tag %v is not one of the %v dialect", x.XnodeType(), r.dialect).
				AtNode(uint32(i))
		}
		op, in, out, err := f.decode(t)
		if err == nil {
			op, err = r.limit(op, f, x.OutputMinMax(nil))
		}
		if err != nil {
			return err.AtNode(uint32(i))
		}
		node := Node{Op: op, DebugHandle: x.DebugHandle(), Ref: uint32(i)}
		if node.Inputs, err = r.operands(in); err != nil {
			return err.AtNode(uint32(i))
		}
		if node.Outputs, err = r.operands(out); err != nil {
			return err.AtNode(uint32(i))
		}
		r.g.Nodes = append(r.g.Nodes, node)
	}
	return nil
}

// limit gives an operator the limits of its results.
func (r *reader) limit(op Op, f form, m *xnngraph.OutputMinMax) (Op, *schema.Error) {
	if m == nil {
		return op, nil
	}
	limits := Range{m.OutputMin(), m.OutputMax()}
	if lo, hi := limits.Min, limits.Max; math.IsInf(float64(lo), -1) && math.IsInf(float64(hi), 1) {
		return op, nil
	}
	o, ok := op.(ranged)
	if !ok || !f.limits && r.dialect != dialectOurs {
		return nil, r.errorf("%s does not limit its results, output_min_max is [%g, %g]", op.Kind(), limits.Min, limits.Max)
	}
	if limits == (Range{}) { // an empty interval, but also how an operator without limits looks
		return nil, r.errorf("output_min_max is [0, 0]")
	}
	return o.withLimits(limits), nil
}

// operands maps a node's ids to values.
func (r *reader) operands(ops []operand) ([]ID, *schema.Error) {
	ids := make([]ID, len(ops))
	for i, o := range ops {
		id, ok := r.ids[o.id]
		if !ok {
			return nil, r.errorf("%s %d is not defined", o.field, o.id)
		}
		ids[i] = id
	}
	return ids, nil
}

// ref is how the file calls a value.
func (r *reader) ref(id ID) uint32 { return r.g.Values[id].Ref }
