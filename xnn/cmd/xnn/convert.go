package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/xnngo/xnngo/xnn"
	"github.com/xnngo/xnngo/xnn/graph"
)

func newConvert() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "convert IN OUT",
		Short: "Write a model as an XNNGraph file, and make its weights integers",
		Long: help(`Write a model of any format that xnn reads as an XNNGraph file. It computes the same, to the bit; names of
values are lost.

With --weights, fully connected nodes, convolutions and transposed convolutions multiply with integers instead, where that
pays and loses little: with int8 weights that have a scale for each output channel, or, of fully connected nodes only, with
int4 weights that have one for each --block input channels. Their inputs are quantised at each run, with a scale for each row
or image. These stay as they are: nodes with fewer than --min-weights
weights, depthwise convolutions, nodes whose weights would lose
more than a twentieth of their norm (int8) or a fifth (int4), and those that --keep names: by their number as xnn inspect has
it, their operator, or the name of a value that they write. With --max-change, so do the most sensitive of the others, until
no output changes by more than this share of its largest magnitude on the inputs below; it tries each node alone, which takes
as many runs.

Then the model of before and that of after run on the same inputs: those of files, and random ones for the rest. It tells the
size of the files, the memory that one session takes, the time of a run, measured in turns, the largest and the mean change of
each output, and what became of each node.

` + inputHelp + ` Random values lie in --range, too, where that is given. ` + randomHelp + `

With --json the keys are in, out, file_bytes (before, after), and with --weights memory_bytes and run_ns (before, after),
threads, outputs as xnn verify has them, and nodes, each with node, operator, weights, loss, before_bytes, after_bytes and
kept, the reason where it stayed.`),
		Example: `  xnn convert face.tflite face.xnn
  xnn convert --weights int8 encoder.tflite encoder8.xnn -i 0=x.npy
  xnn convert --weights int8 --max-change 0.02 -i 0=photo.jpg hand.tflite hand8.xnn
  xnn convert --weights int4 --keep 0,FullyConnectedTransposed model.xnn model4.xnn`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return fmt.Errorf("%s takes IN and OUT, got %d arguments", cmd.Name(), len(args))
			}
			return nil
		},
	}
	var flags inputFlags
	flags.add(cmd)
	c := converter{}
	cmd.Flags().StringVar(&c.weights, "weights", "", "make weights integers: `int8` or int4")
	cmd.Flags().StringSliceVar(&c.keep, "keep", nil, "nodes that stay as they are: numbers, operators, names (`LIST`)")
	cmd.Flags().IntVar(&c.options.Block, "block", 32, "input channels that share a scale of int4 weights (`N`)")
	cmd.Flags().IntVar(&c.options.MinWeights, "min-weights", graph.LeastWeights, "the least weights of a node that change (`N`)")
	cmd.Flags().Float64Var(&c.maxChange, "max-change", 0,
		"the most an output may change by, as a share of its largest magnitude (`P`)")
	threads := threadsFlag(cmd)
	d := timeFlag(cmd)
	asJSON := jsonFlag(cmd)
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		if err := c.check(cmd); err != nil {
			return err
		}
		if err := checkTime(*d); err != nil {
			return err
		}
		var err error
		if c.inputs, err = flags.parse(cmd); err != nil {
			return err
		}
		c.inputs.seed = &flags.seed
		c.in, c.out, c.time, c.threads = args[0], args[1], *d, int(*threads)
		return nil
	}
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		r, err := c.convert(cmd.Context())
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

// converter is what xnn convert was told.
type converter struct {
	in, out string
	weights string
	keep    []string
	options graph.WeightOptions
	// maxChange is the most an output may change by, as a share of its largest magnitude; 0 does not limit that.
	maxChange float64
	inputs    *inputs
	threads   int
	time      time.Duration
}

// check holds the flags against each other, and fills in what they mean.
func (c *converter) check(cmd *cobra.Command) error {
	switch c.weights {
	case "":
		var err error
		cmd.Flags().Visit(func(f *pflag.Flag) {
			if f.Name != "json" && f.Name != "weights" && err == nil {
				err = fmt.Errorf("--%s is about --weights", f.Name)
			}
		})
		return err
	case "int8":
		c.options.DType = graph.QCInt8
	case "int4":
		c.options.DType = graph.QBInt4
	default:
		return fmt.Errorf("--weights %q: int8 or int4 is needed", c.weights)
	}
	if c.options.Block < 1 || c.options.Block%32 != 0 {
		return fmt.Errorf("--block %d: a multiple of 32 is needed", c.options.Block)
	}
	if c.options.MinWeights < 1 {
		return fmt.Errorf("--min-weights %d: at least 1 is needed", c.options.MinWeights)
	}
	if !(c.maxChange >= 0) {
		return fmt.Errorf("--max-change %g: zero or more is needed", c.maxChange)
	}
	return nil
}

func (c *converter) convert(ctx context.Context) (*conversion, error) {
	g, size, err := readGraph(c.in)
	if err != nil {
		return nil, err
	}
	r := &conversion{In: c.in, Out: c.out, File: change[int]{Before: size}}
	if c.weights != "" {
		if g, err = c.quantize(ctx, g, r); err != nil {
			return nil, err
		}
	}
	file, err := g.Marshal()
	if err != nil {
		return nil, about(c.in, err)
	}
	r.File.After = len(file)
	return r, writeFile(c.out, func(w io.Writer) error {
		_, err := w.Write(file)
		return err
	})
}

// quantize gives the graph with integers for weights, and tells what that changes.
func (c *converter) quantize(ctx context.Context, g *graph.Graph, r *conversion) (*graph.Graph, error) {
	var err error
	if c.options.Keep, err = keeper(g, c.keep); err != nil {
		return nil, fmt.Errorf("%s: %w", c.in, err)
	}
	var sensitive map[uint32]float64
	if c.maxChange > 0 {
		if sensitive, err = c.keepSensitive(ctx, g); err != nil {
			return nil, fmt.Errorf("%s: %w", c.in, err)
		}
	}
	var changes []graph.WeightChange
	q, err := wait("quantize", func() (*graph.Graph, error) {
		q, list, err := graph.QuantizeWeights(g, c.options)
		changes = list
		return q, err
	})
	if err != nil {
		return nil, about(c.in, err)
	}
	for _, n := range changes {
		if harm, ok := sensitive[n.Node]; ok {
			n.Kept = fmt.Sprintf("it alone would change an output by %.2g %% of its peak", 100*harm)
		}
		r.Nodes = append(r.Nodes, weightsNode{n.Node, n.Kind, n.Filter.Shape.Elements(), double(digits(n.Loss, 3)), n.Before, n.After,
			oneLine(n.Kept)})
	}
	if !slices.ContainsFunc(changes, func(n graph.WeightChange) bool { return n.Kept == "" }) {
		return nil, errors.New(c.in + ": " + nothingChanged(r.Nodes))
	}
	return q, about(c.in, c.measure(ctx, g, q, r))
}

// nothingChanged says why no node has other weights now.
func nothingChanged(nodes []weightsNode) string {
	if len(nodes) == 0 {
		return "no node multiplies with constant weights"
	}
	n := slices.MaxFunc(nodes, func(a, b weightsNode) int { return a.Weights - b.Weights })
	return fmt.Sprintf("all %d nodes with weights stay; that with most, node %d %s, since %s", len(nodes), n.Node, n.Operator,
		n.Kept)
}

// keeper tells the nodes that a list names.
func keeper(g *graph.Graph, names []string) (func(*graph.Node) bool, error) {
	named := func(n *graph.Node, name string) bool {
		return name == n.Op.Kind() || name == fmt.Sprint(n.Ref) ||
			slices.ContainsFunc(n.Outputs, func(id graph.ID) bool { return name == g.Values[id].Name })
	}
	keep := map[uint32]bool{}
	for _, name := range names {
		found := false
		for i := range g.Nodes {
			if n := &g.Nodes[i]; named(n, name) {
				keep[n.Ref], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("--keep %q: no node has this number, operator or output", name)
		}
	}
	return func(n *graph.Node) bool { return keep[n.Ref] }, nil
}

// measure runs both graphs and notes their memory, time and differences.
func (c *converter) measure(ctx context.Context, before, after *graph.Graph, r *conversion) error {
	var models [2]*xnn.Model
	var held [2]int
	for i, g := range []*graph.Graph{before, after} {
		m, err := wait("load", func() (*xnn.Model, error) { return xnn.Compile(g) })
		if err != nil {
			return err
		}
		defer m.Close()
		models[i] = m
		if held[i], err = memoryOf(g); err != nil {
			return err
		}
	}
	r.Memory = &change[int]{held[0], held[1]}
	p, err := newPair(models[0], models[1], c.inputs, xnn.WithThreads(c.threads))
	defer p.close()
	if err != nil {
		return err
	}
	if err := p.run(0); err != nil {
		return err
	}
	r.Outputs = make([]difference, len(models[0].Outputs()))
	if err := p.compare(r.Outputs, 0, 0); err != nil {
		return err
	}
	b := newTimeBar("measure", 2*c.time)
	t, err := compare(ctx, c.time, []func() error{p.a.Run, p.b.Run}, b.elapsed)
	b.clear()
	if err != nil {
		return err
	}
	r.Run, r.Threads = &change[int]{int(wholeNS(t[0].p50)), int(wholeNS(t[1].p50))}, p.a.Threads()
	return nil
}

// memoryOf is what a model of a graph takes with one session.
func memoryOf(g *graph.Graph) (int, error) {
	before := xnn.MemStats().Total
	m, err := xnn.Compile(g)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	if _, err := m.NewSession(xnn.WithThreads(1)); err != nil {
		return 0, err
	}
	return int(xnn.MemStats().Total - before), nil
}
