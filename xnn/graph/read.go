package graph

import (
	"cmp"
	"math"
	"slices"

	"github.com/xnngo/xnngo/schema"
	"github.com/xnngo/xnngo/schema/xnngraph"
)

const (
	invalidID  = math.MaxUint32 // XNN_INVALID_VALUE_ID: the value is not external
	maxExterns = 4096
	flagInput  = 1
	flagOutput = 2
)

// Unmarshal reads an XNNGraph file of any dialect and checks the graph. The graph's constants share the bytes of data, which
// must not change while it is used. An error says what is wrong and where: ErrFormat where the file is malformed, the other
// sentinels of package schema where the graph in it is.
func Unmarshal(data []byte) (*Graph, error) {
	p, err := split(data)
	if err != nil {
		return nil, err
	}
	d, ok := dialectOf(p.flat)
	if !ok && p.header {
		return nil, schema.Errorf(schema.StageVerify, schema.ErrFormat,
			"the FlatBuffer behind the header has none of the identifiers XN00, XN01 and XNNG")
	}
	description := schema.XNNGraph()
	if d == dialectSeed {
		description = schema.XNNGraphSeed()
	}
	if err := schema.Verify(p.flat, description, schema.Limits{}); err != nil {
		return nil, err
	}
	budget := max(len(data), 1<<16) // more than a file of this size holds in lists of its own
	r := reader{
		dialect:     d,
		parts:       p,
		file:        xnngraph.GetRootAsXNNGraph(p.flat, 0),
		g:           &Graph{},
		ids:         map[uint32]ID{},
		dynamic:     map[uint32]ID{},
		outside:     map[int]bool{},
		scaleBudget: budget, operandBudget: budget,
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
	parts   parts
	file    *xnngraph.XNNGraph
	g       *Graph

	entries int           // of the table of constants
	outside map[int]bool  // constants that lie in another file
	ids     map[uint32]ID // id_out to value
	dynamic map[uint32]ID // id_out of an input that nodes read quantised, to what they read
	exts    []external    // in file order

	// How many may still be read: values and nodes can point at the same lists, so that a small file could ask for a lot.
	scaleBudget, operandBudget int
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

func (r *reader) unsupported(format string, args ...any) *schema.Error {
	return schema.Errorf(schema.StageCheck, schema.ErrUnsupported, format, args...)
}

// externals fills the graph's inputs and outputs, by external_id where the file has no lists.
func (r *reader) externals() error {
	slices.SortFunc(r.exts, func(a, b external) int { return cmp.Compare(a.externalID, b.externalID) })
	for i, e := range r.exts {
		if i > 0 && e.externalID == r.exts[i-1].externalID {
			return r.errorf("external_id %d is taken by value %d already", e.externalID, r.ref(r.exts[i-1].id)).
				AtValue(r.ref(e.id))
		}
	}
	var err *schema.Error
	r.g.Inputs, err = r.order("input_ids", flagInput, r.file.InputIdsLength(), r.file.InputIds)
	if err != nil {
		return err
	}
	r.g.Outputs, err = r.order("output_ids", flagOutput, r.file.OutputIdsLength(), r.file.OutputIds)
	if err != nil {
		return err
	}
	return nil
}

// order gives the externals that have the flag. A list names nothing else. In ExecuTorch's dialect it says no more than that, and
// arguments are in the order of their external_id; in the others it is the order, and names each of them.
func (r *reader) order(field string, flag uint32, n int, at func(int) uint32) ([]ID, *schema.Error) {
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
	if r.dialect == dialectExecuTorch {
		return flagged, nil
	}
	for _, id := range flagged {
		if unlisted[id] {
			return nil, r.errorf("flags say %d, but %s does not name it", flag, field).AtValue(r.ref(id))
		}
	}
	return list, nil
}

// ref is how the file calls a value.
func (r *reader) ref(id ID) uint32 { return r.g.Values[id].Ref }
