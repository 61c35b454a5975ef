// Package agent answers agents: a server of the Model Context Protocol whose tools are commands. Answers come in short pages, which end
// with what they rest on.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/outcome"
	"tracekit/report"
	"tracekit/stats/analysis"
)

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

// NewServer returns a server, of a version of tracekit, whose tools are commands that a function runs.
func NewServer(version string, command Command) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "tracekit", Title: "tracekit", Version: version}, &mcp.ServerOptions{
		Instructions: `Analyzes traces of MPI and multi-GPU programs. Begin with analyze: its first screen names what to fix and who makes others wait. ` +
			`Go on with its sections, explain for evidence, whatif before advising a change, sql for figures that no section has. ` +
			`Savings are upper limits. Repeat what an answer says under "Evidence lacks".`,
	})
	a := &agent{command: command}
	add(s, reads, "info", "Show what a trace contains: format, ranks, threads, time span, notes.",
		func(ctx context.Context, in agentInfo) (string, error) {
			answer, err := a.do(ctx, in.Page, with("info").flag("counts", in.Counts).paths(in.Trace))
			if err != nil {
				return "", err
			}
			return paged(answer.Text, lacks(answer.Findings), in.Page) // records were not compared with each other
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

// A Command runs a line of words as tracekit does. Its error is for people.
type Command func(ctx context.Context, line []string) (Answer, error)

// An Answer is what a command prints and has found.
type Answer struct {
	Text     string
	Document any // as --json prints it; nil: none
	Findings []document.Finding
}

// An agent asks one command at a time. It keeps the last answer, whose further pages may be wanted.
type agent struct {
	command Command

	mu     sync.Mutex
	line   commandLine // of the last command that was done
	answer Answer
}

// do runs a command. For a further page of the last answer it runs nothing.
func (a *agent) do(ctx context.Context, page int, line commandLine) (Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if page > 1 && slices.Equal(line, a.line) {
		return a.answer, nil
	}
	a.line, a.answer = nil, Answer{}
	answer, err := a.command(ctx, line)
	if err == nil {
		a.line, a.answer = line, answer
	}
	return answer, err
}

// run answers with a page of what a command prints.
func (a *agent) run(ctx context.Context, page int, line commandLine) (string, error) {
	answer, err := a.do(ctx, page, line)
	if err != nil {
		return "", err
	}
	end := evidence(answer)
	if doc, ok := answer.Document.(*outcome.SQL); ok && len(doc.Notes) > 0 {
		end = "\n" + strings.Join(doc.Notes, "\n") + "\n" + end
	}
	return paged(answer.Text, end, page)
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
	answer, err := a.do(ctx, in.Page, with("analyze").paths(in.Trace))
	if err != nil {
		return "", err
	}
	var causes []cause.Cause
	if result, ok := answer.Document.(*analysis.Result); ok {
		causes, _ = report.Listed(result.Diagnosis, false)
	}
	if in.Cause < 1 || in.Cause > len(causes) {
		return "", fmt.Errorf("there is no cause %d: the first screen of analyze lists %d", in.Cause, len(causes))
	}
	rows, err := json.MarshalIndent(causes[in.Cause-1], "", " ")
	if err != nil {
		return "", err
	}
	return paged(string(rows), evidence(answer), in.Page)
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
