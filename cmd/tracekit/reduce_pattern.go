package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/words"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/topology"
	"tracekit/trace"
)

// repeatFlags are the flags of reduce about what repeats.
type repeatFlags struct {
	repeating  bool
	marker     string
	instances  int
	distance   int
	regenerate bool

	rule *pattern.Rule // nil: not asked for
}

func (f *repeatFlags) add(set *pflag.FlagSet) {
	set.BoolVar(&f.repeating, "repeating", false, "cut the iterations that repeat others, on all ranks; --regenerate makes them again")
	cli.Var(set, &f.marker, cli.Text(), "repeating-marker", "auto", "where an iteration begins: auto (the call site that lets most be "+
		"cut), the name of a `region` or of an MPI collective, or a time such as 10ms")
	cli.Var(set, &f.instances, cli.Int(1, math.MaxInt), "repeating-keep", strconv.Itoa(pattern.DefaultKeep), "`number` of iterations "+
		"of each kind that are kept")
	set.IntVar(&f.distance, "repeating-distance", -1, "iterations are alike if their numbers of calls of each MPI function differ by this `number` at most (default: if all calls, partners and sizes are the same)")
	set.BoolVar(&f.regenerate, "regenerate", false, "make what --repeating cut from a trace again, and write it to -o")
}

func (f *repeatFlags) validate() error {
	if !f.repeating && (f.marker != "auto" || f.instances != pattern.DefaultKeep || f.distance >= 0) {
		return usagef("--repeating-marker, --repeating-keep and --repeating-distance say how --repeating works: add it")
	}
	f.rule = nil
	if f.repeating {
		marker, err := pattern.ParseMarker(f.marker)
		if err != nil {
			return usagef("--repeating-marker: %w", err)
		}
		f.rule = &pattern.Rule{Options: pattern.Options{Marker: marker, Keep: f.instances}}
		if f.distance >= 0 {
			f.rule.Options.Alike, f.rule.Options.Distance = pattern.ByDistance, uint64(f.distance)
		}
	}
	return nil
}

// gridFlags are the flags of reduce about where ranks are.
type gridFlags struct {
	where string
	block string
	torus bool

	topology *topology.Topology // once a trace is open
	asked    bool               // the topology is known from more than the numbers of ranks
}

func (f *gridFlags) add(set *pflag.FlagSet) {
	set.StringVar(&f.where, "topology", "", "where ranks are: a `file`, a grid such as 8x8x16 in row order, or the name of one of the trace's topologies (default: the trace's Cartesian topology, else ranks in a row)")
	cli.Var(set, &f.block, cli.Text(), "block", "", "keep the ranks in this `part` of the topology, such as 0-3,0-3,5 or *,0")
	set.BoolVar(&f.torus, "torus", false, "hops lead over the edges of the topology as well, in all dimensions")
}

func (f *gridFlags) validate() error {
	if f.block == "" {
		return nil
	}
	if _, err := topology.ParseBlock(f.block, nil); err != nil {
		return usageError{err}
	}
	return nil
}

// find finds the topology of a trace.
func (f *gridFlags) find(d *trace.Defs) (err error) {
	ranks := len(d.World())
	f.topology, f.asked = topology.OfTrace(d, f.where), true
	if f.topology == nil && f.where == "" {
		f.topology, f.asked = topology.Row(ranks), false
	}
	if f.topology == nil {
		if sizes, ok := parseGrid(f.where); ok {
			f.topology, err = topology.Grid(sizes, ranks)
		} else {
			f.topology, err = readTopology(f.where, ranks)
		}
		if err != nil {
			return usageError{fmt.Errorf("--topology: %w", err)}
		}
	}
	return nil
}

// hops is the topology as rule files see it.
func (f *gridFlags) hops() reduce.Topology {
	if f.topology == nil {
		return nil
	}
	return f.topology.Wrapped(f.torus)
}

func parseGrid(text string) (sizes []int, ok bool) {
	for _, part := range strings.Split(text, "x") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil, false
		}
		sizes = append(sizes, n)
	}
	return sizes, true
}

func readTopology(file string, ranks int) (*topology.Topology, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return topology.Read(in, file, ranks)
}

// A patternRow is a pattern in the document of reduce.
type patternRow struct {
	Site        string `json:"site"`
	First       int    `json:"first"` // interval, from 0
	FirstNs     int64  `json:"first_ns"`
	PeriodNs    int64  `json:"period_ns"`
	Instances   int    `json:"instances"`
	Kept        int    `json:"kept"`
	Regenerated int    `json:"regenerated"` // that regenerate makes again
}

// patternsOf makes the rows of what was found, and says where intervals begin.
func (f *repeatFlags) patternsOf() (rows []patternRow) {
	if f.rule == nil || f.rule.Found == nil {
		return nil
	}
	site := f.site()
	for _, p := range f.rule.Found.Patterns {
		rows = append(rows, patternRow{site, p.First, p.FirstNs, p.PeriodNs, p.Instances, p.Kept, p.Regenerated})
	}
	return rows
}

// site says where intervals begin.
func (f *repeatFlags) site() string {
	s := f.rule.Found.Site
	if s.Operation == "" {
		return f.rule.Options.Marker.String()
	}
	text := s.Operation
	if s.Region != "" {
		text += " in " + s.Region
	}
	if s.File != "" {
		text += ", " + s.File
		if s.Line > 0 {
			text += ":" + strconv.Itoa(int(s.Line))
		}
	}
	return text
}

// printPatterns prints what repeats.
func (f *repeatFlags) printPatterns(io *streams, rows []patternRow, top int) {
	if f.rule == nil || f.rule.Found == nil {
		return
	}
	found := f.rule.Found
	if len(rows) == 0 {
		fmt.Fprintln(io.Out, "\n"+text.Wrap("Nothing repeats: there is no call site that all ranks arrive at in turn with the same calls between. Try --repeating-marker.", io.Width, 0))
		return
	}
	g := &text.Grid{Heading: "What repeats", Titles: []string{"first", "at", "period", "instances", "kept", "cut"}}
	g.Note(fmt.Sprintf("%s of each rank, from one %s to the next; a pattern is of all ranks together. First: the number of its first interval, from 0. Period: the mean length, over ranks.",
		words.Plural(found.Intervals, "interval", "intervals"), f.site()))
	for _, p := range rows[:min(top, len(rows))] {
		g.Add(words.Count(p.First), words.Time(p.FirstNs), words.Time(p.PeriodNs), words.Count(p.Instances), words.Count(p.Kept), words.Count(p.Regenerated))
	}
	g.Print(io.Out, io.Width)
	var notes []string
	odd := 0
	for _, p := range rows {
		if p.Instances == 1 {
			odd++
		}
	}
	if len(rows) > top {
		notes = append(notes, words.Plural(len(rows)-top, "more pattern", "more patterns"))
	}
	if odd > 0 {
		notes = append(notes, words.Plural(odd, "interval is", "intervals are")+" like no other")
	}
	if found.Refused > 0 {
		notes = append(notes, words.Plural(found.Refused, "interval repeats", "intervals repeat")+" others but must stay, since messages, requests or collectives reach across")
	}
	if len(notes) > 0 {
		fmt.Fprintln(io.Out, text.Wrap(strings.Join(notes, "; ")+".", io.Width, 0))
	}
}

// printHops prints how far messages go.
func (f *gridFlags) printHops(io *streams, rows []topology.Average, top int) {
	if !f.asked || len(rows) == 0 {
		return
	}
	g := &text.Grid{Heading: "How far messages go", Titles: []string{"rank", "hops", "with wrap-around", "sent"}}
	g.Note(fmt.Sprintf("By %s: Σ hops·bytes / Σ bytes of what a rank sends.", f.topology))
	for _, r := range rows[:min(top, len(rows))] {
		g.Add(words.Count(r.Rank), words.Number(r.Average), words.Number(r.Torus), words.Bytes(r.Bytes))
	}
	g.Print(io.Out, io.Width)
	if len(rows) > top {
		fmt.Fprintln(io.Out, words.Plural(len(rows)-top, "more rank", "more ranks")+" (--top).")
	}
}

// An againBlock is the certificate of what --regenerate makes of a reduced trace; reduced
// stands for regenerated in it.
type againBlock struct {
	Error       float64         `json:"error"`
	Certificate []reduce.Figure `json:"certificate"`
}

// certifyAgain compares the analysis of the full trace with that of one in which what was cut
// is made again.
func (o *reduceOptions) certifyAgain(ctx context.Context, io *streams, t *trace.Trace, r *reduce.Reduction, full *analysis.Result) (*againBlock, error) {
	again, err := pattern.Regenerate(r.Source(t.Source), o.rule.Found.Repeats)
	if err != nil {
		return nil, err
	}
	a, err := o.analyzeSource(ctx, io, t, again)
	if err != nil {
		return nil, err
	}
	figures, err := reduce.Certify(full, a, gate.NameOf)
	return &againBlock{reduce.Error(figures), figures}, err
}

// regenerateSchema names the JSON document of reduce --regenerate.
const regenerateSchema = "tracekit.regenerate/1"

// A regenerateDocument says what was made again.
type regenerateDocument struct {
	Schema    string             `json:"schema"`
	In        string             `json:"in"`
	Out       string             `json:"out"`
	Format    string             `json:"out_format"`
	Records   change[uint64]     `json:"records"`
	Intervals int                `json:"intervals"` // of each rank
	Again     int                `json:"regenerated"`
	Clock     *document.Clock    `json:"clock"` // null: times of what was kept are as recorded
	Rebuilt   *document.Rebuilt  `json:"rebuilt"`
	Lost      map[string]uint64  `json:"lost"`
	Findings  []document.Finding `json:"findings"`
}

// runRegenerate makes what was cut again.
func runRegenerate(ctx context.Context, io *streams, opts *reduceOptions) error {
	in, err := opts.readFlags.open(ctx, opts.paths...)
	if err != nil {
		return err
	}
	defer in.Close()
	text := in.Info().Properties[trace.PropertyRepeats]
	if text == "" {
		return usagef("%s does not say what was cut: it is no result of reduce --repeating, or was converted to corrected times since", in.Info().Path)
	}
	repeats, err := pattern.Decode(text, len(in.Defs().Locations))
	if err != nil {
		return fmt.Errorf("%s: %w", in.Info().Path, err)
	}
	again, err := pattern.Regenerate(in.Source, repeats)
	if err != nil {
		return err
	}
	t, err := opts.reconcile(ctx, io, &input{Source: again, store: in.store})
	if err != nil {
		return err
	}
	doc := &regenerateDocument{Schema: regenerateSchema, In: in.Info().Path, Out: opts.out, Format: opts.format,
		Intervals: repeats.Intervals, Again: len(repeats.Which), Rebuilt: document.RebuiltOf(again.Info()), Findings: analysis.FindingRows(t.Findings)}
	t.Release()
	if t.Clock.MaxShift > 0 || readers.Foreign(opts.format) {
		again = pattern.Moved(merge.Corrected(t), t)
		clock := analysis.Clock(t)
		doc.Clock = &clock
	}
	if doc.Records.After, doc.Lost, err = opts.outFlags.write(ctx, io, &opts.readFlags, again, t.Store); err != nil {
		return err
	}
	doc.Records.Before = doc.Records.After - repeats.Events
	return opts.finish(io, doc, func() { doc.print(io) }, doc.Findings)
}

func (doc *regenerateDocument) print(io *streams) {
	text.Line(io.Out, "%s: %s became %s: %s of %s of each rank were made again", doc.Out, words.Plural(int(doc.Records.Before), "record", "records"),
		words.Count(doc.Records.After), words.Count(doc.Again), words.Plural(doc.Intervals, "interval", "intervals"))
	said := "each interval begins when it did; times of what was kept are as recorded"
	if doc.Clock != nil {
		said = report.ClockLine(doc.Clock)
	}
	text.Line(io.Out, "Clock: %s", said)
	text.Line(io.Out, "%s", "Calls, partners, sizes and their order are those of the recorded run; times between the beginnings of intervals are means of those that were kept.")
	for _, what := range sortedKeys(doc.Lost) {
		text.Line(io.Out, "  not in it: %s %s", words.Count(doc.Lost[what]), what)
	}
	if len(doc.Findings) > 0 {
		report.PrintFindings(io.Out, io.Width, "Findings", doc.Findings)
	}
}
