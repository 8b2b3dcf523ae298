package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

func newRun() *cobra.Command {
	cmd := oneModel(&cobra.Command{
		Use:   "run MODEL [-i N=FILE.npy]... [-o N=FILE.npy]...",
		Short: "Run a model once and describe its outputs",
		Long: `Run a model once and describe its outputs.

Inputs and outputs are numbered from 0 in call order; xnn inspect lists them. Files are little-endian .npy arrays in C
order, '<f4' for fp32 and '<f2' for fp16. An input of another shape than the model's, but of its rank, reshapes the model.

With --seed, inputs that are not given get random values, the same on every machine: uniform in [-1, 1), multiples of 2^-23
(fp32) or 2^-10 (fp16), from PCG(seed, N) of Go's math/rand/v2 for input N.

Of each output: minimum, maximum and mean of what is not NaN, the number of NaNs where there are any, the first values. With
--json the keys are threads and outputs, each with index, dtype, shape, elements, min, max, mean (null where there are none),
nan and first; NaN and infinities are the strings "NaN", "+Inf" and "-Inf".`,
		Example: `  xnn run model.xnn -i 0=x.npy -i 1=b.npy -o 0=y.npy
  xnn run model.xnn --seed 1 --json`,
	})
	ins := cmd.Flags().StringArrayP("input", "i", nil, "read an input from a file, as in 0=x.npy (`N=FILE`)")
	outs := cmd.Flags().StringArrayP("output", "o", nil, "write an output to a file, as in 0=y.npy (`N=FILE`)")
	seed := cmd.Flags().Uint64("seed", 0, "random values for the inputs that are not given (`S`)")
	threads := threadsFlag(cmd)
	asJSON := jsonFlag(cmd)

	var r runner
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		var err error
		if r.inputs, err = parseFiles("-i", *ins); err != nil {
			return err
		}
		if r.outputs, err = parseFiles("-o", *outs); err != nil {
			return err
		}
		if cmd.Flags().Changed("seed") {
			r.seed = seed
		}
		r.path, r.threads = args[0], int(*threads)
		return nil
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
	path            string
	inputs, outputs map[int]string // files, by index
	seed            *uint64
	threads         int
}

// runResult is what xnn run --json prints.
type runResult struct {
	Threads int       `json:"threads"`
	Outputs []summary `json:"outputs"`
}

func (r *runner) run(ctx context.Context) (*runResult, error) {
	m, err := xnn.Open(r.path)
	if err != nil {
		return nil, about(r.path, err)
	}
	defer m.Close()
	if err := r.check(m); err != nil {
		return nil, fmt.Errorf("%s: %w", r.path, err)
	}
	arrays, err := r.openInputs(m.Inputs())
	defer func() {
		for _, a := range arrays {
			a.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	s, err := m.NewSession(xnn.WithThreads(r.threads))
	if err != nil {
		return nil, about(r.path, err)
	}
	defer s.Close()
	if err := r.fill(s, m.Inputs(), arrays); err != nil {
		return nil, err
	}
	if err := s.Run(); err != nil {
		return nil, about(r.path, err)
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	result := &runResult{Threads: s.Threads(), Outputs: []summary{}}
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

// check reports indices that the model does not have and inputs that nothing was said about.
func (r *runner) check(m *xnn.Model) error {
	in, out := m.Inputs(), m.Outputs()
	for _, i := range sortedKeys(r.inputs) {
		if i >= len(in) {
			return fmt.Errorf("there is no input %d, the model has %d", i, len(in))
		}
	}
	for _, i := range sortedKeys(r.outputs) {
		if i >= len(out) {
			return fmt.Errorf("there is no output %d, the model has %d", i, len(out))
		}
	}
	var missing []string
	for i, t := range in {
		if _, ok := r.inputs[i]; !ok && r.seed == nil {
			missing = append(missing, fmt.Sprintf("%d %v", i, t))
		}
	}
	if missing != nil {
		return fmt.Errorf("inputs not given: %s (use -i N=FILE.npy, or --seed for random values)", strings.Join(missing, ", "))
	}
	return nil
}

// openInputs opens the files of the inputs and reads their headers; what it returns is to be closed, in an error's case, too.
func (r *runner) openInputs(types []xnn.Type) (map[int]*npyFile, error) {
	arrays := map[int]*npyFile{}
	for _, i := range sortedKeys(r.inputs) {
		a, err := openNpy(r.inputs[i])
		if err != nil {
			return arrays, err
		}
		arrays[i] = a
		if a.typ.DType != types[i].DType {
			return arrays, fmt.Errorf("%s: it holds %v, input %d takes %v (%s)", r.inputs[i], a.typ, i, types[i],
				npyDescr[types[i].DType])
		}
	}
	return arrays, nil
}

// fill gives the session the shapes of the files, their contents, and random values for the rest.
func (r *runner) fill(s *xnn.Session, types []xnn.Type, arrays map[int]*npyFile) error {
	shapes := make([]xnn.Shape, len(types))
	differs := false
	for i, t := range types {
		shapes[i] = t.Shape
		if a := arrays[i]; a != nil {
			differs = differs || !a.typ.Shape.Equal(t.Shape)
			shapes[i] = a.typ.Shape
		}
	}
	if differs {
		if err := s.Reshape(shapes...); err != nil {
			return about(r.path, err)
		}
	}
	for i := range types {
		if a := arrays[i]; a != nil {
			if err := a.read(s.Input(i).Bytes()); err != nil {
				return err
			}
		} else {
			fillRandom(s.Input(i), *r.seed, i)
		}
	}
	return nil
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
	return t.print(w)
}
