package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/report/text"
)

// Main runs a command line until it is done or a signal asks to stop, which cancels what
// runs so that it cleans up; the exit code is then 128 and the signal's number, as shells have
// it. Signals that whoever started us ignores (nohup) stay ignored.
func Main(io *Streams, args []string, newRoot func(io *Streams, line ...string) *cobra.Command) int {
	signals := slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
	if len(signals) == 0 { // to be notified of none means of all
		return Execute(context.Background(), io, args, newRoot)
	}
	ctx, stop := signal.NotifyContext(context.Background(), signals...)
	defer stop()
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, signals...)
	code := Execute(ctx, io, args, newRoot)
	if code == codeFailed && ctx.Err() != nil {
		return codeSignal + int((<-caught).(syscall.Signal))
	}
	return code
}

// Execute executes one command line and returns the exit code.
func Execute(ctx context.Context, io *Streams, args []string, newRoot func(io *Streams, line ...string) *cobra.Command) int {
	own, out := *io, &sticky{w: io.Out}
	own.Out, own.Err, own.Bar = text.Writer{W: out}, text.Writer{W: io.Err}, io.Err
	own.Bytes = out
	if own.OutTTY {
		own.Terminal = out
	}
	root := newRoot(&own, args...)
	root.SetArgs(args)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		flags.Complete(root)
	}
	err := root.ExecuteContext(ctx)
	command, _, unknown := root.Find(args)
	if unknown != nil {
		what, meant, near := strings.Cut(strings.TrimSpace(unknown.Error()), "\n\nDid you mean this?\n\t")
		if near {
			what += "; did you mean '" + strings.ReplaceAll(meant, "\n\t", "' or '") + "'?"
		} else if _, err := os.Stat(args[0]); err == nil {
			what = fmt.Sprintf("%s is no command; did you mean 'tracekit analyze %s'?", args[0], args[0])
		}
		command, err = root, Usagef("%s", what)
	}
	if err == nil && out.err != nil {
		err = fmt.Errorf("writing results: %w", out.err)
	}
	if err == nil {
		return codeDone
	}
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted; no output was written")
	}
	fmt.Fprintf(own.Err, "tracekit: %s\n", inWords(err))
	if bug := interface{ Stack() string }(nil); errors.As(err, &bug) {
		fmt.Fprintf(own.Err, "This is an error of tracekit's, not of the trace. It happened here:\n%s", bug.Stack())
	}
	if code := exitCode(err); code != codeUsage {
		return code
	}
	fmt.Fprintf(own.Err, "See '%s --help'.\n", command.CommandPath())
	return codeUsage
}
