package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

func newVerify() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "verify A [B] [-i N=FILE]...",
		Short: "Compare the outputs of two models",
		Long: help(`Compare the outputs of two models on the same inputs: those of files, and random ones for the rest.

Inputs must have the same shapes, and may differ in type: the second gets the nearest to the first's that it can hold. Of each
output: the largest difference |a-b|, that over the largest magnitude of the first's, where it is and what both have there,
the largest relative difference |a-b|/max(|a|,|b|) and where, and the mean of |a-b|. The exit status is 1 where an element
differs by more than --tolerance * (1 + |a|).

With --precision fp16 the second computes in half precision where it can; without a B it is A again.

` + inputHelp + ` Random values lie in --range, too, where that is given. ` + randomHelp + ` Each run has a seed one higher.

With --json the keys are runs, tolerance, within, and outputs, each with index, shape, elements, max_abs and max_rel
(difference, at, run, a, b), mean_abs, peak, of_peak and above, the number of elements that differ by more.`),
		Example: `  xnn verify model.tflite model.xnn
  xnn verify model.tflite quantized.xnn --tolerance 0.02 --runs 20
  xnn verify model.tflite quantized.xnn -i 0=photo.jpg --json
  xnn verify model.tflite --precision fp16 --tolerance 0.02`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 && !(len(args) == 1 && cmd.Flags().Changed("precision")) {
				return fmt.Errorf("%s takes two models, or one and --precision, got %d arguments", cmd.Name(), len(args))
			}
			return nil
		},
	}
	var flags inputFlags
	flags.add(cmd)
	threads := threadsFlag(cmd)
	precision := precisionFlag(cmd, "what the second computes in: `fp16`, where there are kernels for it, or fp32")
	runs := cmd.Flags().Int("runs", 1, "how many runs, with other random values each (`N`)")
	allowed := cmd.Flags().Float64("tolerance", 1e-4, "what elements may differ by (`T`)")
	asJSON := jsonFlag(cmd)
	var in *inputs
	cmd.PreRunE = func(cmd *cobra.Command, _ []string) error {
		if *runs < 1 {
			return fmt.Errorf("--runs %d: at least 1 is needed", *runs)
		}
		if !(*allowed >= 0) {
			return fmt.Errorf("--tolerance %g: zero or more is needed", *allowed)
		}
		var err error
		in, err = flags.parse(cmd)
		return err
	}
	cmd.RunE = does(func(cmd *cobra.Command, args []string) error {
		in.seed = &flags.seed
		v := verifier{args[0], args[len(args)-1], precision, in, *runs, tolerance(*allowed), int(*threads)}
		r, err := v.verify(cmd.Context())
		if err != nil {
			return err
		}
		if *asJSON {
			err = printJSON(cmd.OutOrStdout(), r)
		} else {
			err = r.print(cmd.OutOrStdout())
		}
		if err != nil {
			return err
		}
		return r.verdict()
	})
	return cmd
}

// verifier is what xnn verify was told.
type verifier struct {
	a, b      string
	precision *precision // of b
	in        *inputs
	runs      int
	tolerance tolerance
	threads   int
}

// verification is what xnn verify --json prints.
type verification struct {
	Runs      int          `json:"runs"`
	Tolerance double       `json:"tolerance"`
	Within    bool         `json:"within"`
	Outputs   []difference `json:"outputs"`
}

func (v *verifier) verify(ctx context.Context) (*verification, error) {
	both := func(err error) error { return fmt.Errorf("%s and %s: %w", v.a, v.b, err) }
	first, err := openModel(v.a)
	if err != nil {
		return nil, err
	}
	defer first.Close()
	second, err := openModel(v.b, v.precision.option())
	if err != nil {
		return nil, err
	}
	defer second.Close()
	p, err := newPair(first, second, v.in, xnn.WithThreads(v.threads))
	defer p.close()
	if err != nil {
		return nil, both(err)
	}
	runs := v.runs
	if len(v.in.files) == len(first.Inputs()) {
		runs = 1 // all would be the same
	}
	r := &verification{Runs: runs, Tolerance: double(v.tolerance), Outputs: make([]difference, len(first.Outputs()))}
	progress := newBar("verify", int64(runs))
	defer progress.clear()
	for run := range runs {
		if err := p.run(run); err != nil {
			return nil, both(err)
		}
		if err := p.compare(r.Outputs, run, v.tolerance); err != nil {
			return nil, both(err)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		progress.set(int64(run + 1))
	}
	r.Within = r.verdict() == nil
	return r, nil
}

// verdict is the error of outputs that differ by more than the tolerance.
func (r *verification) verdict() error {
	for _, d := range r.Outputs {
		if d.Above > 0 {
			return fmt.Errorf("output %d differs by more than %g * (1 + |a|) in %d of %d elements", d.Index, float64(r.Tolerance),
				d.Above, d.Elements)
		}
	}
	return nil
}

func (r *verification) print(w io.Writer) error { return differenceTable(r.Outputs).print(w) }
