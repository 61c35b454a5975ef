// Command tracekit analyses traces of MPI and multi-GPU programs after their run: is the
// trace sound, where does the time go, which source line wastes it, why, and what would
// fixing it gain. See "tracekit help" or the README.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, osStreams(), os.Args[1:])
	stop()
	os.Exit(code)
}

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
	fmt.Fprintf(io.Err, "tracekit: %s\n", inWords(err))
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

'tracekit help terms' explains the words of the reports.

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
		addCompletion(c)
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

// commands returns the subcommands in the order of the help text.
func commands(io *streams) []*cobra.Command {
	return []*cobra.Command{
		newInfo(io, runInfo),
		newAnalyze(io, runAnalyze),
		newWhatif(io, runWhatif),
		newExplain(io, runExplain),
		newFit(io, runFit),
		newSpacetime(io, runSpacetime),
		newCompare(io, runCompare),
		newCompress(io, runCompress),
		newFormulae(io, runFormulae),
		newReconstruct(io, runConvert),
		newConvert(io, runConvert),
		newGenerate(io, runGenerate),
		newMan(io),
		newTerms(),
	}
}

// newMan makes the command that writes the manual pages of all commands. Their date is
// left out, so that the same program writes the same pages.
func newMan(io *streams) *cobra.Command {
	return &cobra.Command{
		Use:   "man DIR",
		Short: "Write manual pages",
		Long:  "Man writes a manual page for each command into a directory, such as ~/.local/share/man/man1.",
		Args:  cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			epoch := time.Unix(0, 0).UTC()
			header := &doc.GenManHeader{Section: "1", Source: "tracekit", Date: &epoch}
			c.Root().DisableAutoGenTag = true
			return doc.GenManTree(c.Root(), header, args[0])
		},
	}
}
