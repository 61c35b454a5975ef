package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// run executes one command line and returns the exit code.
func run(ctx context.Context, io *streams, args []string) int {
	own, out := *io, &sticky{w: io.Out}
	own.Out = out
	root := newRoot(&own)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if _, _, unknown := root.Find(args); unknown != nil {
		err = usageError{unknown}
	}
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing results: %w", out.err)
	}
	if err == nil {
		return exitDone
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; nothing was left behind")
	}
	fmt.Fprintf(io.Err, "tracekit: %v\n", err)
	if code := exitCode(err); code != exitUsage {
		return code
	}
	fmt.Fprintln(io.Err, "See 'tracekit help' and 'tracekit COMMAND --help'.")
	return exitUsage
}

func newRoot(io *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "tracekit",
		Short: "Analyse traces of MPI and multi-GPU programs",
		Long: `tracekit reads what your site's tools recorded (an OTF2 archive of Score-P, a Paraver
trace of Extrae, a JSON trace of Chrome's format, PyTorch or dftracer) and answers: is the
trace sound, where does the time go, which source line wastes it, why, and what would
fixing it gain. Start with

    tracekit analyze traces.otf2

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 not a trace that can be read; 4 --strict
and data were lost, or a --fail-if condition holds.`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(commands(io)...)
	for _, c := range root.Commands() {
		c.Args = usageArgs(c.Args)
	}
	return root
}

// usageArgs makes a wrong number of arguments a usage error.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if check == nil {
			return nil
		}
		if err := check(c, args); err != nil {
			return usagef("%s: %w", c.Name(), err)
		}
		return nil
	}
}

func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(unknown)"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return strings.TrimPrefix(info.Main.Version, "v") + " (" + s.Value[:12] + ")"
		}
	}
	return info.Main.Version
}
