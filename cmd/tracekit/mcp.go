package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	stdio "io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/trace"
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
			err := newAgentServer().Run(c.Context(), &mcp.IOTransport{Reader: stdio.NopCloser(io.In), Writer: unclosed{io.Bytes}})
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

// oneOrMore is a list of texts, which may come as a text alone.
type oneOrMore []string

func (l *oneOrMore) UnmarshalJSON(from []byte) error {
	if text := ""; json.Unmarshal(from, &text) == nil {
		*l = oneOrMore{text}
		return nil
	}
	return json.Unmarshal(from, (*[]string)(l))
}

// schemas describe what JSON does not say of types.
var schemas = map[reflect.Type]*jsonschema.Schema{
	reflect.TypeFor[oneOrMore](): {Types: []string{"array", "string"}, Items: &jsonschema.Schema{Type: "string"}},
}

// What the tools take.
type (
	agentInfo struct {
		Trace  oneOrMore `json:"trace" jsonschema:"paths of the files of one trace, mostly one"`
		Counts bool      `json:"counts,omitempty" jsonschema:"also count all events by kind"`
		Page   int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
	agentAnalyze struct {
		Trace    oneOrMore `json:"trace" jsonschema:"paths of the files of one trace, mostly one"`
		Sections oneOrMore `json:"sections,omitempty" jsonschema:"details instead of the first screen, by the names that its DETAILS list"`
		Ranks    string    `json:"ranks,omitempty" jsonschema:"only these ranks, such as 0-3,8"`
		From     string    `json:"from,omitempty" jsonschema:"start of the part to analyze, such as 10% or 1.5s"`
		To       string    `json:"to,omitempty" jsonschema:"end of the part to analyze"`
		Page     int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
	agentExplain struct {
		Term  string    `json:"term,omitempty" jsonschema:"a word of a report; no trace is needed"`
		Trace oneOrMore `json:"trace,omitempty" jsonschema:"paths of the files of one trace"`
		Cause int       `json:"cause,omitempty" jsonschema:"number of a cause under WHAT TO FIX: its evidence"`
		Wait  string    `json:"wait,omitempty" jsonschema:"a wait to follow to its origin: RANK@TIME or a place; default: the longest"`
		Page  int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
	agentWhatif struct {
		Trace       oneOrMore `json:"trace" jsonschema:"paths of the files of one trace"`
		Scale       []string  `json:"scale,omitempty" jsonschema:"multiply the time at a place: PLACE=FACTOR[@RANKS]"`
		Balance     []string  `json:"balance,omitempty" jsonschema:"places where each rank gets the mean time; a place is a region, an operation such as MPI_Recv, or a line such as halo.c:80"`
		Cap         []string  `json:"cap,omitempty" jsonschema:"places whose calls take their necessary time at most"`
		Network     string    `json:"network,omitempty" jsonschema:"ideal, or latency=1us,bandwidth=25GB"`
		RankSpeed   []string  `json:"rank_speed,omitempty" jsonschema:"speed of computation: RANKS=FACTOR, where 2 is twice as fast"`
		Nonblocking []string  `json:"nonblocking,omitempty" jsonschema:"places where blocking calls overlap with the work behind them"`
		Order       []string  `json:"order,omitempty" jsonschema:"places that receive in the order of arrival"`
		Page        int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
	agentCompare struct {
		A        oneOrMore `json:"a,omitempty" jsonschema:"paths of runs before the change; a trace each"`
		Baseline string    `json:"baseline,omitempty" jsonschema:"file of the tool baseline with the runs before the change, instead of a"`
		B        oneOrMore `json:"b" jsonschema:"paths of runs after the change; a trace each"`
		Page     int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
	agentBaseline struct {
		File    string    `json:"file" jsonschema:"path of the baseline"`
		Runs    oneOrMore `json:"runs,omitempty" jsonschema:"paths of runs to add, a trace each; without: show what the file has"`
		Replace bool      `json:"replace,omitempty" jsonschema:"replace the runs of the file instead of adding to them"`
		Page    int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
	agentSQL struct {
		Traces oneOrMore `json:"traces" jsonschema:"paths of traces; tables of several are a.calls, b.calls, ..."`
		One    bool      `json:"one_trace,omitempty" jsonschema:"the paths are the files of one trace"`
		Query  string    `json:"query" jsonschema:"one SELECT in the SQL of SQLite; select name from sqlite_schema lists tables and views"`
		Page   int       `json:"page,omitempty" jsonschema:"page of a long answer, from 1"`
	}
)

// newAgentServer returns the server, whose tools are commands.
func newAgentServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tracekit", Title: "tracekit", Version: version()}, &mcp.ServerOptions{
		Instructions: `Analyzes traces of MPI and multi-GPU programs. Begin with analyze: its first screen names what to fix and who makes others wait. ` +
			`Go on with its sections, explain for evidence, whatif before advising a change, sql for figures that no section has. ` +
			`Savings are upper limits. Repeat what an answer says under "Evidence lacks".`,
	})
	a := new(agent)
	add(s, reads, "info", "Show what a trace contains: format, ranks, threads, time span, notes.",
		func(ctx context.Context, in agentInfo) (string, error) {
			text, f, err := a.do(ctx, in.Page, with("info").flag("counts", in.Counts).paths(in.Trace))
			if err != nil {
				return "", err
			}
			return paged(text, lacks(f.findings), in.Page) // records were not compared with each other
		})
	add(s, reads, "analyze", "Show where the time goes, what to fix, which place or rank makes others wait, and what a fix would save.",
		func(ctx context.Context, in agentAnalyze) (string, error) {
			return a.run(ctx, in.Page, with("analyze").text("section", strings.Join(in.Sections, ",")).text("ranks", in.Ranks).
				text("from", in.From).text("to", in.To).paths(in.Trace))
		})
	add(s, reads, "explain", "Explain a term of the reports, the evidence of a cause, or one wait back to its origin.", a.explain)
	add(s, reads, "whatif", "Predict the run time after a change by replay; without a change, list what saves most.",
		func(ctx context.Context, in agentWhatif) (string, error) {
			return a.run(ctx, in.Page, with("whatif").text("scale", in.Scale...).text("balance", in.Balance...).text("cap", in.Cap...).
				text("network", in.Network).text("rank-speed", in.RankSpeed...).text("nonblocking", in.Nonblocking...).
				text("order", in.Order...).paths(in.Trace))
		})
	add(s, reads, "compare", "Show what changed between runs, and whether it is noise.",
		func(ctx context.Context, in agentCompare) (string, error) {
			if in.Baseline != "" && len(in.A) > 0 {
				return "", errors.New("the runs before the change are in a or in baseline: choose one")
			}
			line := with("compare").text("baseline", in.Baseline)
			if in.Baseline == "" {
				line = line.text("runs", fmt.Sprint(len(in.A)))
			}
			return a.run(ctx, in.Page, line.paths(append(slices.Clone(in.A), in.B...)))
		})
	add(s, writes, "baseline", "Keep figures of runs in a small text file, for compare; three or more runs show the noise.",
		func(ctx context.Context, in agentBaseline) (string, error) {
			return a.run(ctx, in.Page, with("baseline").flag("replace", in.Replace).paths([]string{in.File}, in.Runs...))
		})
	add(s, reads, "sql", "Answer a query on tables of the trace: calls, waits, messages, collectives, visits, kernels, and delays, "+
		"the places that make others wait.", func(ctx context.Context, in agentSQL) (string, error) {
		return a.run(ctx, in.Page, with("sql").text("format", "csv").flag("one-trace", in.One).paths(in.Traces, in.Query))
	})
	return s
}

// What a tool does to files.
const (
	reads  = false
	writes = true
)

func add[In any](s *mcp.Server, write bool, name, about string, call func(context.Context, In) (string, error)) {
	closed := false
	schema, err := jsonschema.For[In](&jsonschema.ForOptions{TypeSchemas: schemas})
	if err != nil {
		panic(err) // of a type of ours
	}
	tool := &mcp.Tool{Name: name, Description: about, InputSchema: schema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: !write, IdempotentHint: !write, DestructiveHint: &write, OpenWorldHint: &closed}}
	mcp.AddTool(s, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		text, err := call(ctx, in)
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
}

// A commandLine is a command with its flags, and behind them, so that none is taken for a flag, its arguments.
type commandLine []string

func with(command string) commandLine { return commandLine{command, "--quiet"} }

func (c commandLine) flag(name string, set bool) commandLine {
	if set {
		c = append(c, "--"+name)
	}
	return c
}

func (c commandLine) text(name string, values ...string) commandLine {
	for _, v := range values {
		if v != "" {
			c = append(c, "--"+name+"="+v)
		}
	}
	return c
}

func (c commandLine) paths(paths []string, more ...string) commandLine {
	return append(append(append(c, "--"), paths...), more...)
}

// An agent asks one command at a time. It keeps the last answer, whose further pages may be wanted.
type agent struct {
	mu   sync.Mutex
	line commandLine // of the last command that was done
	text string
	found
}

// found is what a command has found.
type found struct {
	document any
	findings []document.Finding
}

// do runs a command and returns what it prints and has found. For a further page of the last answer it runs nothing.
func (a *agent) do(ctx context.Context, page int, line commandLine) (string, found, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if page > 1 && slices.Equal(line, a.line) {
		return a.text, a.found, nil
	}
	a.line, a.text, a.found = nil, "", found{}
	const width = 100
	var out, errs bytes.Buffer
	var f found
	streams := &cli.Streams{Out: &out, Err: &errs, Width: width, Found: func(d any, findings []document.Finding) { f = found{d, findings} }}
	if code := cli.Execute(ctx, streams, line, newRoot); code != 0 {
		said, _, _ := strings.Cut(errs.String(), "\nSee 'tracekit ")
		return "", f, errors.New(strings.TrimPrefix(strings.TrimSpace(said), "tracekit: "))
	}
	a.line, a.text, a.found = line, out.String(), f
	return a.text, f, nil
}

// run answers with a page of what a command prints.
func (a *agent) run(ctx context.Context, page int, line commandLine) (string, error) {
	text, f, err := a.do(ctx, page, line)
	if err != nil {
		return "", err
	}
	end := evidence(f)
	if doc, ok := f.document.(*outcome.SQL); ok && len(doc.Notes) > 0 {
		end = "\n" + strings.Join(doc.Notes, "\n") + "\n" + end
	}
	return paged(text, end, page)
}

func (a *agent) explain(ctx context.Context, in agentExplain) (string, error) {
	switch {
	case in.Term != "":
		return explainTerm(in.Term, in.Page)
	case in.Cause == 0:
		line := with("explain").paths(in.Trace)
		if in.Wait != "" {
			line = append(line, in.Wait)
		}
		return a.run(ctx, in.Page, line)
	}
	_, f, err := a.do(ctx, in.Page, with("analyze").paths(in.Trace))
	if err != nil {
		return "", err
	}
	var causes []cause.Cause
	if result, ok := f.document.(*analysis.Result); ok {
		causes, _ = report.Listed(result.Diagnosis, false)
	}
	if in.Cause < 1 || in.Cause > len(causes) {
		return "", fmt.Errorf("there is no cause %d: the first screen of analyze lists %d", in.Cause, len(causes))
	}
	rows, err := json.MarshalIndent(causes[in.Cause-1], "", " ")
	if err != nil {
		return "", err
	}
	return paged(string(rows), evidence(f), in.Page)
}

// explainTerm says what the terms mean that have a word in them.
func explainTerm(word string, page int) (string, error) {
	var b strings.Builder
	for _, t := range report.Terms() {
		if strings.Contains(strings.ToLower(t.Word), strings.ToLower(word)) {
			fmt.Fprintf(&b, "%s: %s", t.Word, t.Meaning)
			if t.Section != "" {
				fmt.Fprintf(&b, " (docs/DEFINITIONS.md %s)", t.Section)
			}
			b.WriteString("\n")
		}
	}
	if b.Len() == 0 {
		return "", fmt.Errorf("the reports have no term %q", word)
	}
	return paged(b.String(), "", page)
}

// evidence says what of an analyzed trace makes answers doubtful, or that nothing does.
func evidence(f found) string {
	if lacking := lacks(f.findings); lacking != "" {
		return lacking
	}
	doubtful := false
	switch doc := f.document.(type) {
	case *analysis.Result:
		doubtful = len(doc.Doubts) > 0
	case *outcome.SQL:
		doubtful = slices.ContainsFunc(doc.Notes, func(n string) bool { return strings.Contains(n, report.Doubtful) })
	}
	if doubtful {
		return "\nEvidence lacks: the measurement is doubtful.\n"
	}
	return "\nEvidence: no record of the trace is missing or contradicts another.\n"
}

// lacks says what of a trace makes answers doubtful, in at most half a page.
func lacks(findings []document.Finding) string {
	const most, longest = 5, pageBytes / 12
	var b strings.Builder
	shown := 0
	for _, f := range findings {
		if f.Severity == trace.SeverityInfo.String() {
			continue
		}
		if shown++; shown == 1 {
			b.WriteString("\nEvidence lacks:\n")
		}
		if shown <= most {
			said := text.Plain(f.Text)
			if len(said) > longest {
				said = said[:whole(said, longest)] + "…"
			}
			fmt.Fprintf(&b, "* %s (%s): %s\n", f.Code, words.Count(f.Count), said)
		}
	}
	if shown > most {
		fmt.Fprintf(&b, "* %s: analyze with sections notes\n", words.Plural(shown-most, "further finding", "further findings"))
	}
	return b.String()
}

// whole returns the length of the first bytes of a text, at most so many, that cut no character.
func whole(text string, most int) int {
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}

// A page has at most so many bytes, and at most so many tokens.
const (
	pageBytes  = 4000
	pageTokens = 2000
)

// tokens returns how many tokens the first bytes of a text have, and how many bytes those are: all, unless there are more than most tokens.
// A token is up to three digits, four letters or eight blanks or hyphens, or one other character; characters of three bytes or more count
// twice. The vocabularies of agents need about as many for tables, and fewer for prose.
func tokens(text string, most int) (count, size int) {
	kind, run := rune(0), 0 // of the last token
	for i, r := range text {
		k, longest := rune(-1), 1
		switch {
		case '0' <= r && r <= '9':
			k, longest = '0', 3
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z':
			k, longest = 'a', 4
		case r == ' ' || r == '-':
			k, longest = r, 8
		}
		if run++; k == kind && run <= longest {
			continue
		}
		kind, run = k, 1
		n := 1
		if utf8.RuneLen(r) > 2 {
			n = 2
		}
		if count+n > most {
			return count, i
		}
		count += n
	}
	return count, len(text)
}

// paged returns a page of an answer, with its end behind it, and says how to get the others.
func paged(text, end string, page int) (string, error) {
	page = max(1, page)
	used, _ := tokens(end, pageTokens)
	for number := 1; ; number++ {
		_, room := tokens(text[:min(len(text), pageBytes-len(end)-200)], pageTokens-used-50)
		cut := len(text)
		if cut > room {
			if cut = strings.LastIndexByte(text[:room], '\n') + 1; cut == 0 {
				cut = whole(text, room)
			}
		}
		if number < page && cut == len(text) {
			return "", fmt.Errorf("the answer has %s", words.Plural(number, "page", "pages"))
		}
		if number < page {
			text = text[cut:]
			continue
		}
		rest := ""
		if cut < len(text) {
			rest = fmt.Sprintf("\n%d more lines: page %d has the next ones.\n", strings.Count(text[cut:], "\n"), page+1)
		}
		return text[:cut] + rest + end, nil
	}
}
