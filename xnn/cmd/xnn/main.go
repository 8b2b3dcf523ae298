// Xnn runs, inspects, measures, compares and converts models: XNNGraph files and those of TensorFlow Lite. Run xnn help for its
// commands.
//
// It exits with 0 when all went well, with 1 and one line on standard error for a bad model or a failed run, and with 2 for
// a command line it does not understand.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// graceTime is how long an interrupted command may take to remove its temporary files. A run inside XNNPACK cannot be
// stopped, so it is not waited for.
const graceTime = 500 * time.Millisecond

func main() { os.Exit(execute()) }

func execute() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	done := make(chan int, 1)
	go func() { done <- report(newRoot().ExecuteContextC(ctx)) }()
	select {
	case status := <-done:
		return status
	case <-ctx.Done():
	}
	select {
	case status := <-done:
		return status
	case <-time.After(graceTime):
		return report(nil, ctx.Err())
	}
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "xnn",
		Short: "Run, inspect, measure, compare and convert models",
		Example: `  xnn inspect model.xnn
  xnn run model.xnn -i 0=x.npy -o 0=y.npy
  xnn bench model.xnn --time 5s --json`,
		SilenceErrors:         true,
		SilenceUsage:          true,
		DisableFlagsInUseLine: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(cmd.ErrOrStderr())
			if err := cmd.Help(); err != nil {
				return err
			}
			return errors.New("a command is needed")
		},
	}
	root.AddCommand(newRun(), newInspect(), newBench(), newProfile(), newVerify(), newConvert(), newOperators(), newVersion())
	return root
}

// failure is an error of a command line that was understood. All other errors are about the command line.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// does is a cobra command's RunE, whose errors are failures.
func does(run func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if err := run(cmd, args); err != nil {
			return failure{err}
		}
		return nil
	}
}

// report prints a command's error and gives the exit status for it.
func report(cmd *cobra.Command, err error) int {
	var f failure
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "xnn: interrupted")
		return exitFailed
	case errors.As(err, &f):
		fmt.Fprintln(os.Stderr, "xnn: "+oneLine(f.Error()))
		return exitFailed
	}
	fmt.Fprintf(os.Stderr, "xnn: %s\nsee %s --help\n", strings.TrimSpace(err.Error()), cmd.CommandPath())
	return exitUsage
}

// oneLine escapes what would break a line or a terminal; file names and XNNPACK's messages may hold anything.
func oneLine(s string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(s) {
		if unicode.IsControl(r) {
			q := fmt.Sprintf("%q", r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// about adds the file an error of the library is about. Errors of the file system name it themselves.
func about(path string, err error) error {
	if e := (*xnn.Error)(nil); errors.As(err, &e) {
		return fmt.Errorf("%s: %w", path, err)
	}
	return err
}

// oneModel is the arguments of a command that takes one model, and completes its name.
func oneModel(cmd *cobra.Command) *cobra.Command {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s takes one MODEL, got %d arguments", cmd.Name(), len(args))
		}
		return nil
	}
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
	return cmd
}

// threadsFlag adds -t. The library says which numbers are possible.
func threadsFlag(cmd *cobra.Command) *uint16 {
	return cmd.Flags().Uint16P("threads", "t", 0, "number of threads (`N`), one for each physical core if 0")
}

// weightsFlag adds --weights-cache.
func weightsFlag(cmd *cobra.Command) *string {
	return cmd.Flags().String("weights-cache", "", "keep packed weights in a folder, for a faster load the next time (`DIR`)")
}

// jsonFlag adds --json.
func jsonFlag(cmd *cobra.Command) *bool {
	return cmd.Flags().Bool("json", false, "print JSON")
}
