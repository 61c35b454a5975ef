package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/cmd/tracekit/internal/prompt"
	"tracekit/trace"
)

// A sqlRequest is a line that a program writes to sql --requests: a query, with the file that gets the rows, or flags of analyze.
type sqlRequest struct {
	Query    string   `json:"query"`
	Out      string   `json:"out"`
	Analysis []string `json:"analysis"` // nil: none is wanted
}

// mostRequest is how long a request may be, in bytes.
const mostRequest = 16 << 20

// A sqlReply is the line that answers a request. An error does not end the answering.
type sqlReply struct {
	Answer any    `json:"answer,omitempty"` // a document
	Error  string `json:"error,omitempty"`
	Code   int    `json:"exit_code"` // that the command would end with
}

// answer answers requests, a line each, after an empty reply that says that the traces are read.
func (o *sqlOptions) answer(ctx context.Context, io *cli.Streams, q *queried) error {
	if io.In == nil {
		return cli.Usagef("sql --requests: there is no standard input")
	}
	o.Force = true // files that the program has made itself
	lines := bufio.NewScanner(io.In)
	lines.Buffer(nil, mostRequest)
	out := json.NewEncoder(io.Out)
	for err := out.Encode(sqlReply{}); err == nil && lines.Scan(); {
		var reply sqlReply
		var failed error
		if reply.Answer, failed = o.request(ctx, io, q, lines.Bytes()); ctx.Err() != nil {
			return ctx.Err()
		}
		if failed != nil {
			reply.Error, reply.Code = cli.Said(failed)
		}
		if err = out.Encode(reply); err != nil {
			return err
		}
	}
	return prompt.Scanned(lines, mostRequest)
}

func (o *sqlOptions) request(ctx context.Context, io *cli.Streams, q *queried, line []byte) (any, error) {
	var r sqlRequest
	if json.Unmarshal(line, &r) != nil {
		return nil, errors.New("the request is no JSON object with query, out or analysis")
	}
	if r.Analysis != nil {
		return o.analysis(ctx, io, q.traces[0], r.Analysis)
	}
	if r.Query == "" {
		return nil, errors.New("the request has neither query nor analysis")
	}
	file := o.FileFlags
	file.Output = r.Out
	if err := file.RefuseInput(o.Paths); err != nil {
		return nil, err
	}
	if err := file.Validate(); err != nil {
		return nil, err
	}
	db, err := q.tables(ctx, io, o)
	if err != nil {
		return nil, err
	}
	doc, err := o.ask(ctx, io, db, r.Query, r.Out)
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// analysis analyses a trace, which is not read anew, as flags of analyze say, of which those that open a trace or write
// have no effect.
func (o *sqlOptions) analysis(ctx context.Context, io *cli.Streams, t *trace.Trace, args []string) (any, error) {
	var with analyzeOptions
	set := pflag.NewFlagSet("analyze", pflag.ContinueOnError)
	set.Usage = func() {}
	with.addAnalysis(set)
	if err := set.Parse(args); errors.Is(err, pflag.ErrHelp) || err == nil && set.NArg() > 0 {
		return nil, cli.Usagef("analysis takes flags of analyze only, such as --ranks=0-3")
	} else if err != nil {
		return nil, cli.Usagef("%w", flags.Error(err))
	}
	if err := with.Validate(); err != nil {
		return nil, err
	}
	profile, err := cli.ReadProfile(with.profile)
	if err != nil {
		return nil, err
	}
	if err := with.Choose(ctx, t, o.Jobs); err != nil {
		return nil, err
	}
	with.Jobs, with.Quiet, with.JSON = o.Jobs, o.Quiet, false // the reply is the document
	a, err := analyzeTrace(ctx, io, &with, t, profile)
	if err != nil {
		return nil, err
	}
	return &a.Analysis, with.Finish(io, nil, func() {}, a.Findings, with.Gate(a))
}
