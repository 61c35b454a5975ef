package main

import (
	"bytes"
	"context"
	"errors"
	stdio "io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"tracekit/agent"
	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
)

func newMCP(io *cli.Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "mcp",
		Short: "Answer the questions of agents",
		Long: `Mcp is a server of the Model Context Protocol on standard input and output. Its tools are info,
analyze, explain, whatif, compare, baseline and sql. Answers have at most 4,000 bytes: a longer one
has further pages, and analyze has sections. Each answer ends with what it rests on, and with what
the trace lacks.

The server reads only files that a call names. It writes temporary data, and the file that a call of
baseline names.`,
		Example: `  claude mcp add tracekit -- tracekit mcp`,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if io.In == nil {
				return cli.Usagef("mcp: there is no standard input")
			}
			err := agent.NewServer(version(), answer).Run(c.Context(), &mcp.IOTransport{Reader: stdio.NopCloser(io.In), Writer: unclosed{io.Bytes}})
			if errors.Is(err, stdio.EOF) {
				return nil
			}
			return err
		},
	}
}

// An unclosed writer is closed by whoever opened it.
type unclosed struct{ stdio.Writer }

func (unclosed) Close() error { return nil }

// answer runs a command for an agent.
func answer(ctx context.Context, line []string) (agent.Answer, error) {
	const width = 100
	var a agent.Answer
	var out, errs bytes.Buffer
	streams := &cli.Streams{Out: &out, Err: &errs, Width: width,
		Found: func(d any, findings []document.Finding) { a.Document, a.Findings = d, findings }}
	if code := cli.Execute(ctx, streams, line, newRoot); code != 0 {
		said, _, _ := strings.Cut(errs.String(), "\nSee 'tracekit ")
		return a, errors.New(strings.TrimPrefix(strings.TrimSpace(said), "tracekit: "))
	}
	a.Text = out.String()
	return a, nil
}
