package main

import (
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func newInspect() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what is in a model",
		Long: `Show what is in a model: its version, inputs, outputs, values, nodes, constants and arenas.

Values and nodes are called by their ids in the file. The activation arena is entry 0 of the file's mem_buffer_sizes, 0
where the file leaves its size open; what a session needs depends on this machine. A model that is right but cannot run here
is shown, too, with the reason.

With --json the keys are file, file_bytes, version, runs_here, reason (only where it does not run), inputs, outputs, values,
nodes, constants, arenas (declared_bytes, needed_bytes or null, spare_bytes) and totals.`,
		Example: `  xnn inspect model.xnn
  xnn inspect model.xnn --json | jq .totals`,
	})
	asJSON := jsonFlag(cmd)
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		r, err := inspect(args[0])
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return r.print(cmd.OutOrStdout())
	})
	return cmd
}

// inspection is what xnn inspect --json prints. Keys may be added, none is taken away.
type inspection struct {
	File      string         `json:"file"`
	FileBytes int            `json:"file_bytes"`
	Version   string         `json:"version"`
	RunsHere  bool           `json:"runs_here"`
	Reason    string         `json:"reason,omitempty"`
	Inputs    []external     `json:"inputs"`
	Outputs   []external     `json:"outputs"`
	Values    []value        `json:"values"`
	Nodes     []node         `json:"nodes"`
	Constants []constant     `json:"constants"`
	Arenas    arenas         `json:"arenas"`
	Totals    map[string]int `json:"totals"`
}

// external is an input or output, by its index in call order.
type external struct {
	Index int       `json:"index"`
	Value uint32    `json:"value"`
	DType string    `json:"dtype"`
	Shape xnn.Shape `json:"shape"`
	Bytes int       `json:"bytes"`
}

type value struct {
	ID       uint32    `json:"id"`
	DType    string    `json:"dtype"`
	Shape    xnn.Shape `json:"shape"`
	Bytes    int       `json:"bytes"`
	Use      string    `json:"use"`                // input, output, input+output, constant or internal
	Constant int       `json:"constant,omitempty"` // index of the constant it shows
}

type node struct {
	Node        uint32   `json:"node"`
	Operator    string   `json:"operator"`
	Inputs      []uint32 `json:"inputs"`
	Outputs     []uint32 `json:"outputs"`
	DebugHandle uint32   `json:"debug_handle"`
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

func inspect(path string) (*inspection, error) {
	data, err := readModel(path)
	if err != nil {
		return nil, err
	}
	g, err := graph.Unmarshal(data)
	if err != nil {
		return nil, about(path, err)
	}
	r := describe(g)
	r.File, r.FileBytes = path, len(data)
	if r.Arenas.Needed, err = try(data); err != nil {
		r.Reason = oneLine(err.Error())
	}
	r.RunsHere = err == nil
	return r, nil
}

// readModel reads a file, but no more than a FlatBuffer can hold.
func readModel(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, math.MaxInt32+1))
	if err == nil && len(data) > math.MaxInt32 {
		err = fmt.Errorf("%s: it is larger than 2 GiB, more than the format allows", path)
	}
	return data, err
}

// try makes a session, without running it, and gives the size of the arena it needs, nil where that cannot be told. The error
// is why there can be no session.
func try(data []byte) (*int, error) {
	m, err := xnn.Load(data)
	if err != nil {
		return nil, err
	}
	defer m.Close()
	n, err := m.ArenaBytes(nil)
	if err != nil {
		return nil, err
	}
	s, err := m.NewSession()
	if err != nil {
		return &n, err
	}
	return &n, s.Close()
}

// describe lists the parts of a graph.
func describe(g *graph.Graph) *inspection {
	r := &inspection{
		Version: g.Version,
		Inputs:  externals(g, g.Inputs), Outputs: externals(g, g.Outputs),
		Values: []value{}, Nodes: []node{}, Constants: []constant{},
		Arenas: arenas{Declared: g.ArenaBytes, Spare: list(g.SpareBuffers)},
	}
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
	bytes := map[string]int{}
	for i := range g.Values {
		v := &g.Values[i]
		switch {
		case v.Constant != 0:
			uses[i] = "constant"
		case uses[i] == "":
			uses[i] = "internal"
		}
		bytes[uses[i]] = saturate(bytes[uses[i]], v.Bytes())
		r.Values = append(r.Values, value{v.Ref, v.DType.String(), list(v.Shape), v.Bytes(), uses[i], v.Constant})
	}
	for _, n := range g.Nodes {
		r.Nodes = append(r.Nodes, node{n.Ref, n.Op.Kind(), refs(g, n.Inputs), refs(g, n.Outputs), n.DebugHandle})
	}
	constantBytes := 0
	for i := 1; i < len(g.Constants); i++ {
		c := g.Constants[i]
		r.Constants = append(r.Constants, constant{i, len(c.Data), c.Size()})
		constantBytes += c.Size()
	}
	r.Totals = map[string]int{
		"values": len(r.Values), "nodes": len(r.Nodes), "constants": len(r.Constants), "constant_bytes": constantBytes,
		"input_bytes":  saturate(bytes["input"], bytes["input+output"]),
		"output_bytes": saturate(bytes["output"], bytes["input+output"]), "internal_bytes": bytes["internal"],
	}
	return r
}

func externals(g *graph.Graph, ids []graph.ID) []external {
	out := make([]external, len(ids))
	for i, id := range ids {
		v := &g.Values[id]
		out[i] = external{i, v.Ref, v.DType.String(), list(v.Shape), v.Bytes()}
	}
	return out
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
