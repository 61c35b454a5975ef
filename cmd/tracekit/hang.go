package main

import (
	"context"

	"github.com/spf13/cobra"

	"tracekit/document/outcome"
	"tracekit/report/show"
	"tracekit/stats/hangs"
)

// hangSchema names the JSON document of hang.
const hangSchema = "tracekit.hang/1"

type hangOptions struct {
	reading readFlags // of which --json and --strict are flags
	gateFlags
	paths []string
}

func newHang(io *streams, run func(context.Context, *streams, *hangOptions) error) *cobra.Command {
	opts := &hangOptions{}
	cmd := &cobra.Command{
		Use:   "hang DUMP...",
		Short: "Find which rank a stuck PyTorch job waits for",
		Long: `Hang reads dumps of PyTorch's flight recorder, one file for each rank. It says why the job stands
still: which rank has not arrived at which operation, or which ranks disagree. Ranks can disagree
about the operation, the size or type of its data, or the order of operations.

DUMP is a directory of dumps or a file, as pickle or JSON. Its name ends in the rank, such as
nccl_trace_rank_3. A job writes dumps when an operation times out, if it was started with
TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and TORCH_NCCL_DUMP_ON_TIMEOUT=1.

Pickles are read without making objects: what is no plain value is refused.`,
		Example: `  tracekit hang dumps
  tracekit hang --fail-if 'hangs>0' dumps/nccl_trace_rank_*`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.paths, run),
	}
	set := cmd.Flags()
	set.BoolVar(&opts.reading.json, "json", false, "print one JSON document instead of text")
	set.BoolVar(&opts.reading.strict, "strict", false, "exit with 4 if data are lost or doubtful")
	opts.gateFlags.add(set)
	return cmd
}

func (o *hangOptions) validate() error { return nil }

func runHang(_ context.Context, io *streams, opts *hangOptions) error {
	found, findings, err := hangs.Find(opts.paths...)
	if err != nil {
		return unreadableError{err}
	}
	doc := &outcome.Hang{Schema: hangSchema, Result: *found, Findings: findings}
	return opts.reading.finish(io, doc, func() { show.Hang(io.sections(0), doc) }, doc.Findings, opts.gate(doc))
}
