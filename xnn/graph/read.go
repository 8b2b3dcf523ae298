package graph

import (
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

// seedDTypes maps the element types of the seed dialect, whose numbers are not those of the schema.
var seedDTypes = map[int16]DType{1: Float32, 2: Float16, 3: QInt8, 4: QInt32}

// Unmarshal reads an XNNGraph file and checks the graph. The graph's constants share the bytes of data, which must not
// change while it is used. An error says what is wrong and where: ErrFormat where the file is malformed, the other
// sentinels of package schema where the graph in it is.
func Unmarshal(data []byte) (*Graph, error) {
	if len(data) >= 8 && slices.Contains([]string{"XN00", "XN01", "XH00"}, string(data[4:8])) {
		return nil, schema.Errorf(schema.StageVerify, schema.ErrUnsupported,
			"the file is of ExecuTorch's dialect (%s), which is not read yet", data[4:8])
	}
	if err := schema.Verify(data, schema.XNNGraph(), schema.Limits{}); err != nil {
		return nil, err
	}
	r := reader{
		file: xnngraph.GetRootAsXNNGraph(data, 0),
		g:    &Graph{},
		ids:  map[uint32]ID{},
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
	file *xnngraph.XNNGraph
	g    *Graph
	ids  map[uint32]ID // id_out to value

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
		var t flatbuffers.Table
		if x.XvalueType() != xnngraph.XValueUnionXNNTensorValue || !x.Xvalue(&t) {
			return schema.Errorf(schema.StageCheck, schema.ErrFormat, "xvalues[%d] is of the unknown kind %v", i, x.XvalueType())
		}
		var v xnngraph.XNNTensorValue
		v.Init(t.Bytes, t.Pos)
		if err := r.value(&v); err != nil {
			return err.AtValue(v.IdOut())
		}
	}
	return nil
}

func (r *reader) value(v *xnngraph.XNNTensorValue) *schema.Error {
	ref, ext, flags := v.IdOut(), v.ExternalId(), v.Flags()
	id := ID(len(r.g.Values))
	if ref == invalidID {
		return r.errorf("id_out %d means no value", ref)
	}
	if _, twice := r.ids[ref]; twice {
		return r.errorf("id_out %d is defined twice", ref)
	}
	r.ids[ref] = id

	dtype, ok := seedDTypes[int16(v.Datatype())]
	if !ok {
		return r.errorf("datatype %d is not known", int16(v.Datatype()))
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
	r.g.Values = append(r.g.Values, Value{Type: Type{dtype, shape}, Constant: int(constant), Ref: ref})
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
		c, ok := codecByTag[x.XnodeType()]
		if !ok || !x.Xnode(&t) {
			return schema.Errorf(schema.StageCheck, schema.ErrFormat, "operator tag %v is not known", x.XnodeType()).AtNode(uint32(i))
		}
		op, in, out, err := c.decode(t)
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
