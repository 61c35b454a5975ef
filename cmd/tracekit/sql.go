package main

import (
	"context"
	"errors"
	"fmt"
	stdio "io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/cmd/tracekit/internal/prompt"
	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/engine"
	"tracekit/report/query"
	"tracekit/report/show"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/tempfile"
	"tracekit/trace"
)

type sqlOptions struct {
	cli.MergeFlags
	cli.FileFlags
	format   string // text, csv or arrow
	requests bool
	oneTrace bool // the paths are the files of one
	query    string
}

func newSQL(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "sql TRACE... [QUERY]",
		Short: "Ask questions in SQL",
		Long: `Sql answers a query about a trace: calls, waits, messages, collectives, visits of regions, kernels,
counters and more are tables. Without a query, sql reads queries from standard input, each up to a
semicolon; on a terminal it shows a prompt, where Tab completes names.

Tables of several traces have the names a.calls, b.calls and so on. With --one-trace the paths are
the files of one trace, if the recorder writes one file for each rank. The SQL is that of SQLite.
Queries only read. docs/reference/sql.md lists tables, columns and views.`,
		Example: `  tracekit sql traces.otf2 'select * from late_ranks limit 3'
  tracekit sql traces.otf2 'select name from sqlite_schema'
  tracekit sql before.otf2 after.otf2 'select a.rank, b.wait_ns - a.wait_ns from a.rank_summary a join b.rank_summary b using (rank)'
  tracekit sql traces.otf2 'select * from messages' -o messages.parquet`,
		Args: cobra.MinimumNArgs(1),
	}, &sqlOptions{}, runSQL)
}

func (o *sqlOptions) Add(set *pflag.FlagSet) {
	o.MergeFlags.Add(set)
	flags.Var(set, &o.format, flags.Choice("text", "csv", "arrow"), "format", "text", "print rows as text, csv or arrow: an Arrow IPC stream")
	set.BoolVar(&o.requests, "requests", false, "read requests of programs from standard input, a line of JSON each, and answer with lines")
	set.BoolVar(&o.oneTrace, "one-trace", false, "the paths are the files of one trace")
	o.AddFile(set, "write the rows to this `file`, .parquet, .arrow or .csv", "parquet", "arrow", "csv")
}

// Keep takes the last argument for the query if it is no file.
func (o *sqlOptions) Keep(args []string) {
	o.Paths = args
	if last := len(args) - 1; last > 0 && !o.requests {
		if _, err := os.Stat(args[last]); err != nil {
			o.Paths, o.query = args[:last], args[last]
		}
	}
	if !o.oneTrace {
		o.Traces = len(o.Paths)
	}
}

func (o *sqlOptions) Validate() error {
	if o.format != "text" && (o.JSON || o.requests) {
		return cli.Usagef("--format %s cannot be combined with --json or --requests", o.format)
	}
	if o.requests && (o.query != "" || o.Output != "") {
		return cli.Usagef("--requests takes queries from standard input, and no -o")
	}
	if o.query == "" && o.Output != "" {
		return cli.Usagef("-o needs a query behind the traces")
	}
	if err := o.RefuseInput(o.Paths); err != nil {
		return err
	}
	return cli.Validate(&o.MergeFlags, &o.FileFlags)
}

func runSQL(ctx context.Context, io *cli.Streams, opts *sqlOptions) error {
	q := &queried{findings: []document.Finding{}}
	defer q.close()
	files := 1 // of a trace
	if opts.oneTrace {
		files = len(opts.Paths)
	}
	for paths := range slices.Chunk(opts.Paths, files) {
		t, err := opts.Open(ctx, io, paths...)
		if err != nil {
			return err
		}
		q.traces = append(q.traces, t)
	}
	if opts.requests {
		return opts.answer(ctx, io, q)
	}
	db, err := q.tables(ctx, io, opts)
	if err != nil {
		return err
	}
	if opts.query == "" {
		return opts.converse(ctx, io, db)
	}
	doc, err := opts.ask(ctx, io, db, opts.query, opts.Output)
	if err != nil {
		return err
	}
	doc.Findings = q.findings
	return opts.Finish(io, doc, func() { opts.print(io, doc) }, q.findings)
}

// queried are the traces of queries, and their tables once a query has wanted them.
type queried struct {
	traces   []*trace.Trace
	db       *query.Database
	findings []document.Finding // of what the tables are made of
}

// tables returns the tables of all traces, which it analyzes for the first query.
func (q *queried) tables(ctx context.Context, io *cli.Streams, opts *sqlOptions) (*query.Database, error) {
	if q.db != nil {
		return q.db, nil
	}
	reading := ctx
	if opts.query == "" && !opts.requests {
		reading = context.WithoutCancel(ctx) // tables are read by queries, which are interrupted one by one
	}
	var sources []query.Source
	findings := []document.Finding{}
	for _, t := range q.traces {
		a, err := cli.Watch(io, opts.Quiet, "analyzing", func(p *engine.Progress) (*analysis.Result, error) {
			return stats.Analyze(ctx, t, analysis.Options{Jobs: opts.Jobs, Progress: p}, false)
		})
		if err != nil {
			return nil, err
		}
		sources, findings = append(sources, query.SourceOf(reading, t, a)), append(findings, a.Findings...)
	}
	db, err := query.Open(ctx, sources)
	if err != nil {
		return nil, err
	}
	q.db, q.findings = db, findings
	return db, nil
}

func (q *queried) close() {
	if q.db != nil {
		q.db.Close()
	}
	for _, t := range q.traces {
		t.Source.Close()
	}
}

// ask answers a query, into a file if it has a name, or else onto standard output if that is to be a stream of Arrow IPC.
func (o *sqlOptions) ask(ctx context.Context, io *cli.Streams, db *query.Database, statement, file string) (*outcome.SQL, error) {
	doc := &outcome.SQL{Schema: outcome.SQLSchema, Query: statement, Rows: [][]any{}, Out: file, Findings: []document.Finding{}}
	kind := strings.ToLower(filepath.Ext(file))
	if kind == ".arrow" || file == "" && o.format == "arrow" {
		a, err := db.Answer(ctx, statement)
		if err != nil {
			return nil, err
		}
		if doc.Columns, doc.Notes = a.Columns, db.Notes(); file == "" {
			return doc, a.WriteArrow(tempfile.Cancelable{Context: ctx, Writer: io.Bytes})
		}
		return doc, cli.WriteFileAtomically(file, o.Force, func(f *os.File) error { return a.WriteArrowFile(ctx, f, o.Jobs) })
	}
	err := db.Query(ctx, statement, func(columns []string) error {
		doc.Columns = columns
		return nil
	}, func(row []any) error {
		doc.Rows = append(doc.Rows, append([]any(nil), row...))
		return nil
	})
	doc.Notes = db.Notes()
	if err != nil || file == "" {
		return doc, err
	}
	err = cli.WriteAtomically(ctx, file, o.Force, func(w stdio.Writer) error {
		if kind == ".csv" {
			return show.SQLAsCSV(w, doc)
		}
		return query.WriteParquet(ctx, w, o.Jobs, doc.Columns, doc.Rows)
	})
	doc.Rows = [][]any{}
	return doc, err
}

func (o *sqlOptions) print(io *cli.Streams, doc *outcome.SQL) {
	if o.format == "text" && doc.Out == "" {
		show.SQL(io.Sections(0), doc)
		return
	}
	if o.format == "csv" && doc.Out == "" {
		show.SQLAsCSV(io.Out, doc) // whose errors the stream keeps
	}
	for _, n := range doc.Notes {
		fmt.Fprintln(io.Err, n)
	}
}

const promptHelp = `.tables      list tables and views
.quit        end, as Ctrl-D does
Tab          complete a name
Up, Down     go through earlier lines
Ctrl-C       stop a query
Columns:     select name, type from pragma_table_info('calls');
The meaning of all: docs/reference/sql.md
`

// converse answers the queries of standard input. On a terminal an error does not end it.
func (o *sqlOptions) converse(ctx context.Context, io *cli.Streams, db *query.Database) error {
	if io.In == nil {
		return cli.Usagef("sql: name a query behind the traces")
	}
	read, err := prompt.New(io.In, io.Terminal, func() ([]string, error) {
		names, err := db.Names(ctx)
		return append(names, ".help", ".tables", ".quit", "select", "from", "where", "group by", "order by", "limit", "join", "using", "having",
			"distinct"), err
	})
	if err != nil {
		return err
	}
	for {
		statement, err := read.Next()
		switch strings.TrimSpace(statement) {
		case "":
			if err == nil {
				continue
			}
			return endOf(err)
		case ".quit", ".exit":
			return nil
		case ".help":
			fmt.Fprint(io.Out, promptHelp)
			continue
		case ".tables":
			statement = "select name, type from sqlite_schema order by type, name"
		}
		doc, failed := o.askInterrupted(ctx, io, db, statement, read.Terminal)
		switch {
		case failed == nil && o.JSON:
			failed = cli.PrintJSON(io.Out, 1, doc)
		case failed == nil:
			o.print(io, doc)
		}
		if failed != nil && (!read.Terminal || ctx.Err() != nil && failed != errInterrupted) {
			return failed
		}
		if failed != nil {
			fmt.Fprintln(io.Err, failed)
		}
		if err != nil {
			return endOf(err)
		}
	}
}

var errInterrupted = errors.New("interrupted")

// askInterrupted answers a query. On a terminal an interrupt ends the query alone.
func (o *sqlOptions) askInterrupted(ctx context.Context, io *cli.Streams, db *query.Database, statement string,
	terminal bool) (*outcome.SQL, error) {
	if !terminal {
		return o.ask(ctx, io, db, statement, o.Output)
	}
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), os.Interrupt)
	defer stop()
	doc, err := o.ask(ctx, io, db, statement, o.Output)
	if err != nil && ctx.Err() != nil {
		return nil, errInterrupted
	}
	return doc, err
}

func endOf(err error) error {
	if errors.Is(err, stdio.EOF) {
		return nil
	}
	return err
}
