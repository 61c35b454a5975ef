package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/outcome"
	"tracekit/readers"
	"tracekit/report/show"
	"tracekit/stats/hangs"
)

// hangSchema names the JSON document of hang.
const hangSchema = "tracekit.hang/1"

type hangOptions struct {
	reading cli.ReadFlags // of which --json and --strict are flags
	cli.GateFlags
}

func newHang(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
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
	}, &hangOptions{}, runHang)
}

func (o *hangOptions) Add(set *pflag.FlagSet) {
	set.BoolVar(&o.reading.JSON, "json", false, cli.JSONUsage)
	set.BoolVar(&o.reading.Strict, "strict", false, "exit with 4 if data are lost or doubtful")
	o.GateFlags.Add(set)
}

// Keep takes the dumps.
func (o *hangOptions) Keep(args []string) { o.reading.Keep(args) }

func (o *hangOptions) Validate() error { return nil }

func runHang(_ context.Context, io *cli.Streams, opts *hangOptions) error {
	found, findings, err := hangs.Find(opts.reading.Paths...)
	if err != nil {
		for _, path := range opts.reading.Paths {
			if kind := readers.Kind(path); kind != "" {
				err = fmt.Errorf("%s: this is %s; hang reads dumps of PyTorch's flight recorder", path, kind)
				break
			}
		}
		return cli.NotReadable(err)
	}
	doc := &outcome.Hang{Schema: hangSchema, Result: *found, Findings: findings}
	return opts.reading.Finish(io, doc, func() { show.Hang(io.Sections(0), doc) }, doc.Findings, opts.Gate(doc))
}
