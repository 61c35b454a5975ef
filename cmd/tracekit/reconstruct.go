package main

import (
	"context"

	"github.com/spf13/cobra"
)

func newReconstruct(io *streams, run func(context.Context, *streams, *convertOptions) error) *cobra.Command {
	cmd := newConvert(io, run)
	cmd.Use = "reconstruct FILE.tkf -o TRACE"
	cmd.Short = "Write formulae back as a trace"
	cmd.Long = `Reconstruct writes the trace that a .tkf file stands for, in any format that convert
writes: of the lossless mode the very same events, of the stat mode a reconstruction with
the recorded structure and durations that are means or drawn from laws; who completes a
message or takes part in a collective waits for the partners as in the recorded run.`
	cmd.Example = `  tracekit reconstruct run.tkf -o again
  tracekit reconstruct run.tkf -o again.prv`
	output := cmd.Flags().StringP("output", "o", "", "`trace` to write")
	cmd.Args = cobra.ExactArgs(1)
	convert := cmd.RunE
	cmd.RunE = func(c *cobra.Command, args []string) error {
		if *output == "" {
			return usagef("reconstruct: name the trace with -o TRACE")
		}
		return convert(c, append(args, *output))
	}
	return cmd
}
