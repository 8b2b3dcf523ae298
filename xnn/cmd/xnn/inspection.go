package main

import (
	"math"
	"slices"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

// inspection is what xnn inspect --json prints. Keys may be added, none is taken away.
type inspection struct {
	File         string         `json:"file"`
	FileBytes    int            `json:"file_bytes"`
	Version      string         `json:"version"`
	RunsHere     bool           `json:"runs_here"`
	Reason       string         `json:"reason,omitempty"`
	Inputs       []external     `json:"inputs"`
	Outputs      []external     `json:"outputs"`
	Operators    []operator     `json:"operators"`
	Values       []value        `json:"values"`
	Nodes        []node         `json:"nodes"`
	Constants    []constant     `json:"constants"`
	Arenas       arenas         `json:"arenas"`
	Parameters   parameters     `json:"parameters"`
	MultiplyAdds int            `json:"multiply_adds"`
	Flushed      int            `json:"flushed"`
	Memory       *memory        `json:"memory,omitempty"`
	Totals       map[string]int `json:"totals"`
}

// external is an input or output, by its index in call order.
type external struct {
	Index int       `json:"index"`
	Value uint32    `json:"value"`
	Name  string    `json:"name,omitempty"`
	DType string    `json:"dtype"`
	Quant *quant    `json:"quant,omitempty"`
	Shape xnn.Shape `json:"shape"`
	Bytes int       `json:"bytes"`

	typ string
}

// operator is the nodes of one kind.
type operator struct {
	Operator     string `json:"operator"`
	Nodes        int    `json:"nodes"`
	Parameters   int    `json:"parameters"`
	MultiplyAdds int    `json:"multiply_adds"`
}

type value struct {
	ID       uint32    `json:"id"`
	Name     string    `json:"name,omitempty"`
	DType    string    `json:"dtype"`
	Quant    *quant    `json:"quant,omitempty"`
	Shape    xnn.Shape `json:"shape"`
	Bytes    int       `json:"bytes"`
	Use      string    `json:"use"`                // input, output, input+output, constant or internal
	Constant int       `json:"constant,omitempty"` // index of the constant it shows

	typ string
}

// quant is how integers stand for real numbers: one scale and zero point, or so many scales along a dimension, or found at run
// time for each row of so many inner dimensions.
type quant struct {
	Scale     single `json:"scale,omitempty"`
	ZeroPoint int    `json:"zero_point,omitempty"`
	Scales    int    `json:"scales,omitempty"`
	Axis      int    `json:"axis,omitempty"`
	Block     int    `json:"block,omitempty"`
	Inner     int    `json:"inner,omitempty"`
}

type node struct {
	Node         uint32         `json:"node"`
	Operator     string         `json:"operator"`
	Settings     map[string]any `json:"settings,omitempty"` // of the operator
	Inputs       []uint32       `json:"inputs"`
	Outputs      []uint32       `json:"outputs"`
	DebugHandle  uint32         `json:"debug_handle"`
	MultiplyAdds int            `json:"multiply_adds,omitempty"`

	settings string
}

type constant struct {
	Index    int `json:"index"`
	Bytes    int `json:"bytes"`    // in the file
	Reserved int `json:"reserved"` // in memory, those of the file and zeros
}

// arenas are the sizes in mem_buffer_sizes that are not of constants.
type arenas struct {
	Declared uint32   `json:"declared_bytes"`
	Needed   *int     `json:"needed_bytes"` // nil where it cannot be told
	Spare    []uint32 `json:"spare_bytes"`
}

// parameters are the elements of constants that nodes read.
type parameters struct {
	Count   int               `json:"count"`
	Bytes   int               `json:"bytes"`
	ByDType []dtypeParameters `json:"by_dtype"` // most bytes first
}

type dtypeParameters struct {
	DType string `json:"dtype"`
	Count int    `json:"count"`
	Bytes int    `json:"bytes"`
}

// memory is what a model with one session holds.
type memory struct {
	Constants int64 `json:"constants_bytes"` // that are not packed
	Weights   int64 `json:"weights_bytes"`   // packed for the kernels
	Arena     int64 `json:"arena_bytes"`
	Tensors   int64 `json:"tensors_bytes"` // inputs and outputs
	Other     int64 `json:"other_bytes"`   // descriptors
	Total     int64 `json:"total_bytes"`
}

// describe lists the parts of a graph.
func describe(g *graph.Graph) *inspection {
	r := &inspection{
		Version: g.Version, Flushed: g.Flushed,
		Inputs: externals(g, g.Inputs), Outputs: externals(g, g.Outputs),
		Values: []value{}, Nodes: []node{}, Constants: []constant{},
		Arenas: arenas{Declared: g.ArenaBytes, Spare: list(g.SpareBuffers)},
	}
	bytes := map[string]int{}
	for i, use := range usesOf(g) {
		v := &g.Values[i]
		bytes[use] = saturate(bytes[use], v.Bytes())
		r.Values = append(r.Values, value{v.Ref, v.Name, v.DType.String(), quantOf(v.Quant), list(v.Shape), v.Bytes(), use, v.Constant,
			typeOf(v.Type)})
	}
	r.addNodes(g)
	r.addParameters(g)
	constantBytes := 0
	for i := 1; i < len(g.Constants); i++ {
		c := g.Constants[i]
		r.Constants = append(r.Constants, constant{i, c.Len(), c.Size()})
		constantBytes += c.Size()
	}
	r.Totals = map[string]int{
		"values": len(r.Values), "nodes": len(r.Nodes), "constants": len(r.Constants), "constant_bytes": constantBytes,
		"input_bytes":  saturate(bytes["input"], bytes["input+output"]),
		"output_bytes": saturate(bytes["output"], bytes["input+output"]), "internal_bytes": bytes["internal"],
	}
	return r
}

// usesOf tells of each value what it is.
func usesOf(g *graph.Graph) []string {
	uses := make([]string, len(g.Values))
	for _, id := range g.Inputs {
		uses[id] = "input"
	}
	for _, id := range g.Outputs {
		if uses[id] == "" || uses[id] == "output" {
			uses[id] = "output"
		} else {
			uses[id] = "input+output"
		}
	}
	for i := range g.Values {
		switch {
		case g.Values[i].Constant != 0:
			uses[i] = "constant"
		case uses[i] == "":
			uses[i] = "internal"
		}
	}
	return uses
}

func (r *inspection) addNodes(g *graph.Graph) {
	work := xnn.MultiplyAdds(g)
	byKind := map[string]*operator{}
	r.Operators = []operator{}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		settings := settingsOf(n.Op)
		r.Nodes = append(r.Nodes, node{n.Ref, n.Op.Kind(), settings.values(), refs(g, n.Inputs), refs(g, n.Outputs), n.DebugHandle,
			work[i], settings.String()})
		o := byKind[n.Op.Kind()]
		if o == nil {
			o = &operator{Operator: n.Op.Kind()}
			byKind[o.Operator] = o
		}
		o.Nodes++
		o.MultiplyAdds = saturate(o.MultiplyAdds, work[i])
		for _, id := range n.Inputs {
			if v := &g.Values[id]; v.Constant != 0 {
				o.Parameters = saturate(o.Parameters, v.Shape.Elements())
			}
		}
		r.MultiplyAdds = saturate(r.MultiplyAdds, work[i])
	}
	for _, o := range byKind {
		r.Operators = append(r.Operators, *o)
	}
	slices.SortFunc(r.Operators, func(a, b operator) int {
		switch {
		case a.MultiplyAdds != b.MultiplyAdds:
			return b.MultiplyAdds - a.MultiplyAdds
		case a.Nodes != b.Nodes:
			return b.Nodes - a.Nodes
		case a.Operator < b.Operator:
			return -1
		}
		return 1
	})
}

func (r *inspection) addParameters(g *graph.Graph) {
	r.Parameters.ByDType = []dtypeParameters{}
	seen := make([]bool, len(g.Values))
	for i := range g.Nodes {
		for _, id := range g.Nodes[i].Inputs {
			v := &g.Values[id]
			if v.Constant == 0 || seen[id] {
				continue
			}
			seen[id] = true
			name := v.DType.String()
			at := slices.IndexFunc(r.Parameters.ByDType, func(p dtypeParameters) bool { return p.DType == name })
			if at < 0 {
				at = len(r.Parameters.ByDType)
				r.Parameters.ByDType = append(r.Parameters.ByDType, dtypeParameters{DType: name})
			}
			p := &r.Parameters.ByDType[at]
			p.Count, p.Bytes = saturate(p.Count, v.Shape.Elements()), saturate(p.Bytes, v.Bytes())
			r.Parameters.Count = saturate(r.Parameters.Count, v.Shape.Elements())
			r.Parameters.Bytes = saturate(r.Parameters.Bytes, v.Bytes())
		}
	}
	slices.SortStableFunc(r.Parameters.ByDType, func(a, b dtypeParameters) int { return b.Bytes - a.Bytes })
}

func externals(g *graph.Graph, ids []graph.ID) []external {
	out := make([]external, len(ids))
	for i, id := range ids {
		v := &g.Values[id]
		out[i] = external{i, v.Ref, v.Name, v.DType.String(), quantOf(v.Quant), list(v.Shape), v.Bytes(), typeOf(v.Type)}
	}
	return out
}

func quantOf(q *graph.Quant) *quant {
	if q == nil {
		return nil
	}
	return &quant{single(q.Scale), q.ZeroPoint, len(q.Scales), q.Axis, q.Block, q.Inner}
}

// typeOf words a type without its shape: quint8(0.5,128).
func typeOf(t graph.Type) string {
	text := t.String()
	return text[:len(text)-len(t.Shape.String())]
}

// refs are the ids of values in their file.
func refs(g *graph.Graph, ids []graph.ID) []uint32 {
	out := make([]uint32, len(ids))
	for i, id := range ids {
		out[i] = g.Values[id].Ref
	}
	return out
}

// saturate adds sizes, each of which may be as large as an address.
func saturate(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}
