package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/report"
	"tracekit/report/show"
	"tracekit/stats/compare"
)

type baselineOptions struct {
	cli.MergeFlags
	file    string
	replace bool
	top     int

	kept *compare.Baseline
}

func newBaseline(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "baseline FILE [TRACE...]",
		Short: "Keep figures of runs in a file, for compare --baseline",
		Long: `Baseline keeps what a comparison needs of runs of one program in a file: small, in text, a figure a
line, to be kept with the source code. Each trace is a run. Runs are added to those of a file that
exists; --replace drops the old ones. Without a trace it prints what the file has.

Use three or more runs: without repetition nobody knows how much runs differ by themselves. A run
counts once, and all runs have the same shape: ranks, regions, communicators. A run that lost data
is marked in all comparisons; --strict does not write it.`,
		Example: `  tracekit baseline baseline.json before-1 before-2 before-3
  tracekit baseline baseline.json
  tracekit compare --baseline baseline.json after-1`,
		Args: cobra.MinimumNArgs(1),
	}, &baselineOptions{}, runBaseline)
}

func (o *baselineOptions) Add(set *pflag.FlagSet) {
	o.MergeFlags.Add(set)
	set.BoolVar(&o.replace, "replace", false, "replace the runs of FILE instead of adding to them")
	flags.Top(set, &o.top, "10")
}

// Keep takes the name of the file, and the traces.
func (o *baselineOptions) Keep(args []string) { o.file, o.Paths = args[0], args[1:] }

func (o *baselineOptions) Validate() error {
	if err := o.MergeFlags.Validate(); err != nil {
		return err
	}
	if o.replace && len(o.Paths) == 0 {
		return cli.Usagef("--replace: name the traces of the new baseline")
	}
	kept, err := readBaseline(o.file)
	newer := errors.Is(err, compare.ErrVersion) && o.replace
	switch {
	case len(o.Paths) > 0 && errors.Is(err, fs.ErrNotExist), newer, err == nil && o.replace:
		o.kept = compare.NewBaseline(o.Clock, o.MinLatency)
		return nil
	case err != nil:
		return cli.Usagef("%s: %w", o.file, err)
	}
	if o.kept = kept; len(o.Paths) > 0 {
		if err := kept.Alike(o.Clock, o.MinLatency); err != nil {
			return cli.Usagef("%s: %w", o.file, err)
		}
	}
	return nil
}

// readBaseline reads a file. What is no file, and might never end, is refused.
func readBaseline(path string) (*compare.Baseline, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, errors.New("not a baseline: it is no regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return compare.ReadBaseline(f)
}

func runBaseline(ctx context.Context, io *cli.Streams, opts *baselineOptions) error {
	reading := &compareOptions{MergeFlags: opts.MergeFlags}
	for _, path := range opts.Paths {
		side, err := sampleSide(ctx, io, reading, []string{path})
		if err != nil {
			return err
		}
		if err := opts.kept.Add(side.samples[0]); err != nil {
			return fmt.Errorf("%s is not written: %w", opts.file, err)
		}
	}
	var findings []document.Finding
	for _, s := range opts.kept.Samples() {
		findings = append(findings, s.Findings...)
	}
	lost := report.LossesOf(findings)
	if len(opts.Paths) > 0 && (lost == "" || !opts.Strict) {
		if err := cli.WriteAtomically(ctx, opts.file, true, opts.kept.Write); err != nil {
			return err
		}
	}
	err := opts.Finish(io, opts.kept, func() { show.Baseline(io.Sections(opts.top), opts.file, opts.kept) }, findings)
	if err != nil && len(opts.Paths) > 0 && lost != "" && opts.Strict {
		return fmt.Errorf("%s is not written: %w", opts.file, err)
	}
	return err
}
