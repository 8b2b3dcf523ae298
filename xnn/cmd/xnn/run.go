package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

func newRun() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "run MODEL [-i N=FILE]... [-o N=FILE.npy]...",
		Short: "Run a model once and describe its outputs",
		Long: help(`Run a model once and describe its outputs.

` + inputHelp + `

With --seed, inputs that are not given get random values. ` + randomHelp + `

Of each output: minimum, maximum and mean of what is not NaN, the number of NaNs where there are any, the first values, all as
the real numbers that a quantised output stands for; files get its integers. With --labels, which has a name on each line, the
--top classes of the first output whose rows have as many elements. With --json the keys are threads, outputs, each with
index, dtype, shape, elements, min, max, mean (null where there are none), nan and first, and classes, with output, row,
class, label and score; NaN and infinities are the strings "NaN", "+Inf" and "-Inf".`),
		Example: `  xnn run model.xnn -i 0=x.npy -i 1=b.npy -o 0=y.npy
  xnn run model.xnn --seed 1 --json
  xnn run classifier.tflite -i 0=photo.jpg --labels labels.txt --softmax
  xnn run network.tflite -i 0=photo.jpg --mean 0.485,0.456,0.406 --std 0.229,0.224,0.225`,
	})
	var in inputFlags
	in.add(cmd)
	outs := cmd.Flags().StringArrayP("output", "o", nil, "write an output to a file, as in 0=y.npy (`N=FILE`)")
	threads := threadsFlag(cmd)
	precision := precisionFlag(cmd, precisionUsage)
	weights := weightsFlag(cmd)
	var r runner
	r.classes.add(cmd)
	asJSON := jsonFlag(cmd)

	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if r.inputs, err = in.parse(cmd); err != nil {
			return err
		}
		if r.outputs, err = parseFiles("-o", *outs); err != nil {
			return err
		}
		r.path, r.threads, r.precision, r.weights = args[0], int(*threads), precision, *weights
		return r.classes.check(cmd)
	}
	cmd.RunE = does(func(cmd *cobra.Command, _ []string) error {
		result, err := r.run(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			return printJSON(cmd.OutOrStdout(), result)
		}
		return result.print(cmd.OutOrStdout())
	})
	return cmd
}

// runner is what xnn run was told.
type runner struct {
	path      string
	inputs    *inputs
	outputs   map[int]string // files, by index
	classes   classFlags
	threads   int
	precision *precision
	weights   string // the folder of packed weights, empty for none
}

// runResult is what xnn run --json prints.
type runResult struct {
	Threads int       `json:"threads"`
	Outputs []summary `json:"outputs"`
	Classes []class   `json:"classes,omitempty"`
}

func (r *runner) run(ctx context.Context) (*runResult, error) {
	labels, err := r.classes.read()
	if err != nil {
		return nil, err
	}
	m, err := openModel(r.path, r.precision.option(), xnn.WithWeightsCache(r.weights))
	if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := r.check(m); err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	files, err := r.inputs.open(m.Inputs())
	defer files.close()
	if err != nil {
		return nil, err
	}
	s, err := m.NewSession(xnn.WithThreads(r.threads))
	if err != nil {
		return nil, about(r.path, err)
	}
	defer s.Close()
	if err := files.reshape(s, m.Inputs()); err != nil {
		return nil, about(r.path, err)
	}
	if err := files.fill(s); err != nil {
		return nil, err
	}
	if err := s.Run(); err != nil {
		return nil, about(r.path, err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result := &runResult{Threads: s.Threads(), Outputs: []summary{}}
	if labels != nil {
		if result.Classes, err = r.classes.best(s, len(m.Outputs()), labels); err != nil {
			return nil, fmt.Errorf("%s: %w", r.path, err)
		}
	}
	for i := range m.Outputs() {
		result.Outputs = append(result.Outputs, summarize(i, s.Output(i)))
		if file, ok := r.outputs[i]; ok {
			if err := writeNpy(file, s.Output(i)); err != nil {
				return nil, err
			}
		}
	}
	return result, nil
}

func (r *runner) check(m *xnn.Model) error {
	for _, i := range sortedKeys(r.outputs) {
		if i >= len(m.Outputs()) {
			return fmt.Errorf("there is no output %d, the model has %d", i, len(m.Outputs()))
		}
	}
	return r.inputs.check(m.Inputs())
}

func (r *runResult) print(w io.Writer) error {
	hasNaN := slices.ContainsFunc(r.Outputs, func(s summary) bool { return s.NaN > 0 })
	header := []string{"output", "dtype", "shape", "min", "max", "mean"}
	if hasNaN {
		header = append(header, "nan")
	}
	t := newTable(append(header, "first values")...)
	for _, s := range r.Outputs {
		row := []any{s.Index, s.DType, s.Shape, optional(s.Min), optional(s.Max), s.meanText()}
		if hasNaN {
			row = append(row, s.NaN)
		}
		t.row(append(row, s.firstValues())...)
	}
	return printTables(w, t, classTable(r.Classes))
}
