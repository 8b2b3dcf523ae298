package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/xnngo/xnngo/xnn"
)

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the versions of this program and of XNNPACK",
		Args:  cobra.NoArgs,
		RunE: does(func(cmd *cobra.Command, _ []string) error {
			version := "unknown"
			if info, ok := debug.ReadBuildInfo(); ok {
				version = info.Main.Version
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "xnn %s, XNNPACK %s, %s/%s, %s\n", version, xnn.XNNPACKVersion, runtime.GOOS,
				runtime.GOARCH, runtime.Version())
			return err
		}),
	}
}
