package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func newInspect() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "inspect MODEL",
		Short: "Show what is in a model, and draw it",
		Long: help(`Show what is in a model: its version, inputs, outputs, operators, nodes, values, constants, and what it takes.

Values and nodes are called by their ids in the file. Parameters are the elements of constants that nodes read; multiply-adds
are those of products with filters and matrices. The activation arena is entry 0 of the file's mem_buffer_sizes, 0 where the
file leaves its size open; what a session needs depends on this machine, and on the shapes, which --shape changes. A model
that is right but cannot run here is shown, too, with the reason. With --precision fp16 it is what the model becomes then, its
values and nodes numbered anew.

With --svg a picture of the graph, with shapes on its edges, for which Graphviz's program dot must be installed.

With --json the keys are file, file_bytes, version, runs_here, reason (only where it does not run), inputs, outputs,
operators, values, nodes, constants, arenas (declared_bytes, needed_bytes or null, spare_bytes), parameters, multiply_adds,
flushed (subnormal weights that were made zero), memory (only where it runs) and totals.`),
		Example: `  xnn inspect model.xnn
  xnn inspect face.tflite --svg face.svg
  xnn inspect model.xnn --shape 0=8x224x224x3
  xnn inspect model.xnn --json | jq .totals`,
	})
	asJSON := jsonFlag(cmd)
	picture := cmd.Flags().String("svg", "", "draw the graph into `FILE`")
	precision := precisionFlag(cmd, "show what the model is in `fp16`, or in fp32")
	given := cmd.Flags().StringArray("shape", nil, "another shape of an input, as in 0=1x224x224x3 (`N=SHAPE`)")
	var shapes map[int]xnn.Shape
	cmd.PreRunE = func(*cobra.Command, []string) error {
		var err error
		shapes, err = parseShapes(*given)
		return err
	}
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		g, size, err := readGraph(args[0])
		if err != nil {
			return err
		}
		if err := reshapeGraph(g, shapes); err != nil {
			return about(args[0], err)
		}
		if g, err = precision.apply(g); err != nil {
			return about(args[0], err)
		}
		if *picture != "" {
			return drawGraph(cmd.Context(), *picture, g)
		}
		r := describe(g)
		r.File, r.FileBytes = args[0], size
		r.try(g)
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), r)
		}
		return r.print(cmd.OutOrStdout())
	})
	return cmd
}

// parseShapes reads the N=SHAPE arguments of --shape.
func parseShapes(args []string) (map[int]xnn.Shape, error) {
	shapes := map[int]xnn.Shape{}
	for _, arg := range args {
		number, text, ok := strings.Cut(arg, "=")
		n, err := strconv.ParseUint(number, 10, 31)
		shape := xnn.Shape{}
		for _, word := range strings.Split(text, "x") {
			d, e := strconv.ParseUint(word, 10, 32)
			if e != nil {
				err = e
			}
			shape = append(shape, int(d))
		}
		if !ok || err != nil {
			return nil, fmt.Errorf("--shape %q: N=SHAPE is needed, as in 0=1x224x224x3", arg)
		}
		if _, twice := shapes[int(n)]; twice {
			return nil, fmt.Errorf("--shape: %d is given twice", n)
		}
		shapes[int(n)] = shape
	}
	return shapes, nil
}

// reshapeGraph gives inputs other shapes, and all other values what follows from them.
func reshapeGraph(g *graph.Graph, given map[int]xnn.Shape) error {
	if len(given) == 0 {
		return nil
	}
	inputs := make([]xnn.Shape, len(g.Inputs))
	for i, id := range g.Inputs {
		inputs[i] = g.Values[id].Shape
	}
	for _, i := range sortedKeys(given) {
		if i >= len(inputs) {
			return fmt.Errorf("there is no input %d, the model has %d", i, len(inputs))
		}
		inputs[i] = given[i]
	}
	shapes, err := g.Infer(inputs)
	if err != nil {
		return err
	}
	for i := range g.Values {
		g.Values[i].Shape = shapes[i]
	}
	return nil
}

// readGraph reads a model of any format, and gives the size of its file.
func readGraph(path string) (*graph.Graph, int, error) {
	size := 0
	g, err := wait("read "+path, func() (*graph.Graph, error) {
		data, err := readModel(path)
		if err != nil {
			return nil, err
		}
		size = len(data)
		return xnn.Read(data)
	})
	return g, size, about(path, err)
}

// maxPiped bounds what is read of a file that does not tell its size.
const maxPiped = 1 << 31

func readModel(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return os.ReadFile(path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPiped+1))
	if err == nil && len(data) > maxPiped {
		err = fmt.Errorf("%s: it is no regular file and larger than 2 GiB", path)
	}
	return data, err
}

// try makes a session, without running it, and notes what it takes, or why there can be none.
func (r *inspection) try(g *graph.Graph) {
	fail := func(err error) { r.Reason = oneLine(err.Error()) }
	m, err := xnn.Compile(g)
	if err != nil {
		fail(err)
		return
	}
	defer m.Close()
	n, err := m.ArenaBytes(nil)
	if err != nil {
		fail(err)
		return
	}
	r.Arenas.Needed = &n
	s, err := m.NewSession()
	if err != nil {
		fail(err)
		return
	}
	defer s.Close()
	held := xnn.MemStats()
	r.Memory = &memory{held.Constants, held.Weights, held.Arenas, held.Tensors, held.XNNPACK + held.Bridge, held.Total}
	r.RunsHere = true
}
