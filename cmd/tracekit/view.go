package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document/outcome"
	"tracekit/page"
	"tracekit/report/text"
	"tracekit/spill"
	"tracekit/stats/profile"
	"tracekit/trace"
	"tracekit/viewer"
)

// viewSchema names the JSON document of view.
const viewSchema = "tracekit.view/1"

type viewOptions struct {
	runsOptions
	indexFlags
	port    int
	browser bool
}

func newView(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "view TRACE...",
		Short: "Open the page with the timeline at full resolution",
		Long: `View analyzes a trace and serves the page of 'tracekit report' on this machine only. The timeline
has every call at any zoom. View prints the address, which contains a secret, and
serves until Ctrl-C. The page cannot change anything.

Several traces are several runs on one time axis, as in 'tracekit report'.

--keep-index keeps the index, so that the next view of the same trace opens at once. A trace that
has changed gets a new index.

On a machine reached by ssh, view also prints the command that forwards the page to your
machine.`,
		Example: `  tracekit view traces.otf2
  tracekit view --open traces.otf2
  tracekit view --keep-index traces.otf2`,
		Args: cobra.MinimumNArgs(1),
	}, &viewOptions{}, runView)
}

func (o *viewOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.runsOptions, &o.indexFlags)
	flags.Var(set, &o.port, flags.Int(0, 65535), "port", "0", "`port` to serve on (default: a free one)")
	set.BoolVar(&o.browser, "open", false, "start the browser")
}

// Validate checks every flag before any file is opened.
func (o *viewOptions) Validate() error {
	if err := o.runsOptions.Validate(); err != nil {
		return err
	}
	return o.prepare(o.Paths, o.source)
}

func runView(ctx context.Context, io *cli.Streams, opts *viewOptions) error {
	paths, err := opts.runs()
	if err != nil {
		return err
	}
	if len(paths) > 1 && opts.path != "" {
		return cli.Usagef("--keep-index is for one run, these are %d", len(paths))
	}
	store := spill.NewStore(opts.MemoryBytes, "")
	defer store.Close()
	index, kept, doc, err := opts.load(io, store, opts.Jobs)
	if err != nil {
		return err
	}
	if index != nil {
		return serveIndexes(ctx, io, opts, []*page.Index{index}, &kept.Content, doc)
	}
	served := spill.NewStore(opts.MemoryBytes/servedShare, "")
	defer served.Close()
	indexes, content, doc, err := analyzeForView(ctx, io, opts, paths, served)
	if err != nil {
		return err
	}
	return serveIndexes(ctx, io, opts, indexes, content, doc)
}

// servedShare is the share of the memory that indexes are served from: more they do not need, and
// while they are moved there the trace's tables have all of it.
const servedShare = 4

// analyzeForView makes the indexes of runs, in a store, and the page that they are behind. Nothing else
// of the runs is kept.
func analyzeForView(ctx context.Context, io *cli.Streams, opts *viewOptions, paths [][]string, served *spill.Store) ([]*page.Index,
	*page.Content, *outcome.View, error) {
	runs, err := analyzeRuns(ctx, io, opts.analyzeOptions, paths, func(r *shownRun) func(*trace.Trace) profile.Observer {
		return func(t *trace.Trace) profile.Observer {
			r.indexing = page.NewIndexing(t, page.Bounds(page.DefaultSize))
			return r.indexing
		}
	})
	if err != nil {
		return nil, nil, nil, err
	}
	defer closeRuns(runs)
	all, indexes, err := indexRuns(ctx, opts, runs)
	if err != nil {
		return nil, nil, nil, err
	}
	content, err := all.Content(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	doc := &outcome.View{Schema: viewSchema}
	doc.Findings, doc.Rebuilt = foundIn(runs)
	for _, x := range indexes {
		if err := x.Move(served); err != nil {
			return nil, nil, nil, err
		}
	}
	opts.save(ctx, io, indexes[0], content, doc)
	return indexes, content, doc, ctx.Err() // if it ended, nobody was served yet
}

// serveIndexes serves a page and the indexes of its runs until the context ends.
func serveIndexes(ctx context.Context, io *cli.Streams, opts *viewOptions, indexes []*page.Index, content *page.Content,
	doc *outcome.View) error {
	server, err := viewer.New(content.HTML(true), indexes, opts.port)
	if err != nil {
		return err
	}
	doc.URL = server.URL()
	if err := opts.Finish(io, doc, func() {}, doc.Findings); err != nil {
		return errors.Join(err, server.Close())
	}
	if !opts.JSON {
		text.Line(io.Out, "%s", doc.URL)
	}
	if os.Getenv("SSH_CONNECTION") != "" {
		host, _ := os.Hostname()
		fmt.Fprintf(io.Err, "On the machine in front of you: ssh -N -L %d:127.0.0.1:%d %s, then open the address above.\n", server.Port(),
			server.Port(), host)
	}
	fmt.Fprintln(io.Err, "Ctrl-C ends it.")
	if opts.browser {
		if err := startBrowser(ctx, server.URL()); err != nil {
			fmt.Fprintf(io.Err, "the browser could not be started: %v\n", err)
		}
	}
	return server.Serve(ctx)
}

// indexRuns makes the index of each run, and the page that they are behind.
func indexRuns(ctx context.Context, opts *viewOptions, runs []*shownRun) (*page.Several, []*page.Index, error) {
	all := &page.Several{Size: page.DefaultSize * int64(len(runs)), Served: true}
	var indexes []*page.Index
	for _, r := range runs {
		index, timeline, err := r.indexing.Index(ctx, r.a, opts.Jobs)
		if err != nil {
			return nil, nil, err
		}
		p, err := newPage(&opts.pageFlags, r.t, r.a, page.DefaultSize)
		if err != nil {
			return nil, nil, err
		}
		p.Timeline = timeline
		indexes, all.Pages = append(indexes, index), append(all.Pages, p)
	}
	return all, indexes, relate(ctx, all, runs, opts.Jobs)
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
