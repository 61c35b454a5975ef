package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"tracekit/page"
	"tracekit/viewer"
)

type viewOptions struct {
	analyzeOptions
	port    int
	browser bool
}

func newView(io *streams, run func(context.Context, *streams, *viewOptions) error) *cobra.Command {
	opts := &viewOptions{}
	cmd := &cobra.Command{
		Use:   "view TRACE...",
		Short: "Serve the page of report on this machine, at full resolution",
		Long: `View analyses a trace, makes an index of its timeline, and serves the page that report writes
on this machine alone, with every call at any zoom, however large the trace. It prints the
address, which has a secret in it, and serves until Ctrl-C. Nothing can be changed through it.

On a machine that was reached by ssh it also prints the command that brings the page to
the machine in front of you.`,
		Example: `  tracekit view traces.otf2
  tracekit view --open traces.otf2`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			opts.paths = args
			if err := opts.validate(); err != nil {
				return err
			}
			return run(c.Context(), io, opts)
		},
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.modelFlags.add(set)
	addAnalysisFlags(set, &opts.analyzeOptions)
	set.IntVar(&opts.port, "port", 0, "`port` to serve on (default: a free one)")
	set.BoolVar(&opts.browser, "open", false, "start the browser")
	return cmd
}

// validate checks every flag before any file is opened.
func (o *viewOptions) validate() error {
	if o.port < 0 || o.port > 65535 {
		return usagef("--port %d: want 1 to 65535", o.port)
	}
	o.top = pageRows
	return o.analyzeOptions.validate()
}

func runView(ctx context.Context, io *streams, opts *viewOptions) error {
	profile, err := readProfile(opts.profile)
	if err != nil {
		return err
	}
	t, err := opts.open(ctx, io, opts.paths...)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	a, err := analyzeTrace(ctx, io, &opts.analyzeOptions, t, profile)
	if err != nil {
		return err
	}
	bar := startProgress(io, opts.quiet, "making the index")
	index, timeline, err := page.NewIndex(ctx, t, a, page.Bounds(page.DefaultSize), opts.jobs, &bar.Progress)
	bar.done()
	if err != nil {
		return err
	}
	var b bytes.Buffer
	p := page.Page{Title: pictureTitle(t.Source.Info()), Trace: t, Timeline: timeline, Document: a, Size: page.DefaultSize, Served: true}
	if err := p.Write(&b); err != nil {
		return err
	}
	server, err := viewer.New(b.Bytes(), index, opts.port)
	if err != nil {
		return err
	}
	printLine(io.Out, "%s", server.URL())
	if os.Getenv("SSH_CONNECTION") != "" {
		host, _ := os.Hostname()
		fmt.Fprintf(io.Err, "On the machine in front of you: ssh -N -L %d:127.0.0.1:%d %s, then open the address above.\n", server.Port(), server.Port(), host)
	}
	fmt.Fprintln(io.Err, "Ctrl-C ends it.")
	if opts.browser {
		if err := startBrowser(ctx, server.URL()); err != nil {
			fmt.Fprintf(io.Err, "the browser could not be started: %v\n", err)
		}
	}
	return server.Serve(ctx)
}

// startBrowser opens an address with the program that the system has for it.
func startBrowser(ctx context.Context, url string) error {
	switch runtime.GOOS {
	case "darwin":
		return exec.CommandContext(ctx, "open", url).Start()
	case "windows":
		return exec.CommandContext(ctx, "rundll32", "url.dll,FileProtocolHandler", url).Start()
	}
	return exec.CommandContext(ctx, "xdg-open", url).Start()
}
