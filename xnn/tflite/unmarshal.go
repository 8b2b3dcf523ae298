package tflite

import (
	"errors"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
	wire "github.com/xnngo/xnngo/schema/tflite"
	"github.com/xnngo/xnngo/xnn/graph"
)

// Identifier is what bytes 4 to 7 of such a file read.
const Identifier = "TFL3"

// Is tells whether data is a TensorFlow Lite model by what it begins with.
func Is(data []byte) bool { return len(data) >= 8 && string(data[4:8]) == Identifier }

// Options say how a file is read. The zero value is the usual way.
type Options struct {
	// MemoryLimit bounds the bytes of the constants that are computed while reading. However large, it is at most 64 MiB and 256
	// times the size of the file. 0 means no other limit than that.
	MemoryLimit int64
}

// Unmarshal reads a file and checks the graph. The graph's constants share the bytes of data where they are used as they are, so
// data must not change while the graph is used.
//
// An error says what is wrong and where: its node is the place of the operator in the file's first subgraph, its value the
// tensor's. ErrFormat: the file is malformed. ErrUnsupported: an operator, element type or option that cannot run.
// ErrMemoryLimit: see Options. Other sentinels of package schema: the network is wrong.
func Unmarshal(data []byte) (*graph.Graph, error) { return Options{}.Unmarshal(data) }

// Unmarshal reads a file as the options say; see the function of that name.
func (o Options) Unmarshal(data []byte) (*graph.Graph, error) {
	flat := data[:min(len(data), math.MaxInt32)] // constants may lie behind the FlatBuffer
	if err := schema.Verify(flat, schema.TFLite(), schema.Limits{EmptyUnions: true}); err != nil {
		return nil, err
	}
	im := &importer{
		data:  data,
		model: wire.GetRootAsModel(flat, 0),
		g:     graph.New(),
		left:  64<<20 + 256*int64(len(data)),
		words: max(len(data), 1<<16),
	}
	if o.MemoryLimit > 0 {
		im.left = min(im.left, o.MemoryLimit)
	}
	for _, step := range []func() error{im.open, im.operators, im.recognise, im.plan, im.inputs, im.translate, im.outputs,
		im.g.Check} {
		if err := step(); err != nil {
			return nil, im.named(err)
		}
	}
	return im.g, nil
}

// importer turns one file into a graph.
type importer struct {
	data  []byte
	model *wire.Model
	sub   wire.SubGraph
	g     *graph.Graph

	tensors  []*tensor // by place; nil where nobody asked yet
	nodes    []node    // the operators that an output depends on, in the file's order
	written  map[int]int
	input    map[int]bool
	flexible bool // the file leaves a size open
	extra    int  // values of the graph that are no tensors
	shared   map[sharedKey]graph.ID

	left  int64 // bytes of constants that may still be computed
	words int   // how many numbers may still be read from lists: lists can share their bytes
}

func errorf(kind error, format string, args ...any) *schema.Error {
	return schema.Errorf(schema.StageCheck, kind, format, args...)
}

func unsupported(format string, args ...any) *schema.Error {
	return errorf(schema.ErrUnsupported, format, args...)
}

func invalid(format string, args ...any) *schema.Error {
	return errorf(schema.ErrGraph, format, args...)
}

// named adds the name of the tensor that an error is about.
func (im *importer) named(err error) error {
	var e *schema.Error
	if errors.As(err, &e) && e.Name == "" && e.Value != schema.None && e.Value < int64(len(im.tensors)) {
		if t := im.tensors[e.Value]; t != nil {
			e.Name = t.name
		}
	}
	return err
}

// open finds the first subgraph.
func (im *importer) open() error {
	if v := im.model.Version(); v != 3 {
		return unsupported("the file has version %d of the format, 3 is supported", v)
	}
	if im.model.SubgraphsLength() == 0 {
		return invalid("the file has no subgraph")
	}
	im.model.Subgraphs(&im.sub, 0)
	im.g.Version = shorten(im.model.Description())
	im.tensors = make([]*tensor, im.sub.TensorsLength())
	im.written, im.input, im.shared = map[int]int{}, map[int]bool{}, map[sharedKey]graph.ID{}
	for i := range im.sub.InputsLength() {
		at, err := im.place("input", i, im.sub.Inputs(i))
		if err != nil {
			return err
		}
		im.input[at] = true
	}
	for i := range im.sub.OutputsLength() {
		if _, err := im.place("output", i, im.sub.Outputs(i)); err != nil {
			return err
		}
	}
	return nil
}

// place checks the number of a tensor in a list of the subgraph.
func (im *importer) place(what string, i int, at int32) (int, *schema.Error) {
	if at < 0 || int(at) >= len(im.tensors) {
		return 0, invalid("%s %d is tensor %d of %d", what, i, at, len(im.tensors))
	}
	return int(at), nil
}

// inputs appends the graph's inputs.
func (im *importer) inputs() error {
	for i := range im.sub.InputsLength() {
		t, err := im.tensor(int(im.sub.Inputs(i)))
		if err != nil {
			return err
		}
		if t.constant != nil {
			return invalid("input %d has data, so it is a constant", i).AtValue(t.ref())
		}
		if by, ok := im.written[t.index]; ok {
			return invalid("input %d is written by operator %d", i, by).AtValue(t.ref())
		}
		typ, err := t.graphType()
		if err != nil {
			return err
		}
		if t.has {
			return invalid("listed twice as an input").AtValue(t.ref())
		}
		if err := im.build(nil, t.index, func() { im.define(t, im.g.InputOf(typ)) }); err != nil {
			return err
		}
		im.flexible = im.flexible || t.loose != nil
	}
	return nil
}

// outputs lists the graph's outputs. A constant among them is copied: a graph's outputs are computed.
func (im *importer) outputs() error {
	for i := range im.sub.OutputsLength() {
		t, err := im.tensor(int(im.sub.Outputs(i)))
		if err != nil {
			return err
		}
		id, err := im.value(t)
		if err != nil {
			return err
		}
		if im.g.Values[id].Constant != 0 {
			if err := im.build(nil, t.index, func() { id = im.g.Copy(id) }); err != nil {
				return err
			}
			im.label(id, t.name)
		}
		im.g.Output(id)
	}
	return nil
}

// define says which value of the graph a tensor is.
func (im *importer) define(t *tensor, id graph.ID) {
	if im.g.Err() != nil {
		return
	}
	t.id, t.has = id, true
	v := &im.g.Values[id]
	v.Ref, v.Name = t.ref(), t.name
}

// label calls a value of the graph by a number of its own, past those of the tensors.
func (im *importer) label(id graph.ID, name string) {
	v := &im.g.Values[id]
	v.Ref, v.Name = uint32(len(im.tensors)+im.extra), name
	im.extra++
}

// build runs calls of the graph's builder and tells what went wrong in them, in the file's numbers: those of operator n, if there
// is one, and its operands, else of tensor t, which was to be made.
func (im *importer) build(n *node, t int, calls func()) error {
	calls()
	err := im.g.Err()
	var e *schema.Error
	if !errors.As(err, &e) {
		return err
	}
	if n != nil {
		e.Detail = n.String() + ": " + e.Detail
		e.AtNode(uint32(n.index))
	}
	known := n != nil && slices.Contains(n.in, int(e.Value)) || e.Value >= int64(len(im.tensors))
	if e.Value != schema.None && !known {
		e.AtValue(uint32(t))
	}
	return e
}

// take counts bytes of constants that are about to be made.
func (im *importer) take(n int) *schema.Error {
	if int64(n) > im.left {
		return errorf(schema.ErrMemoryLimit, "constants of %d bytes more are over the limit", n)
	}
	im.left -= int64(n)
	return nil
}

// longestName is how many bytes of a name are kept.
const longestName = 256

func shorten(name []byte) string { return string(name[:min(len(name), longestName)]) }
