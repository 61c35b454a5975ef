package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/cmd/tracekit/internal/flags"
	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/engine"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/report/show"
	"tracekit/stats/analysis"
	"tracekit/stats/measurement"
	"tracekit/stats/studies/sampling"
	"tracekit/topology"
	"tracekit/trace"
)

// reduceSchema names the JSON document of reduce.
const reduceSchema = "tracekit.reduce/1"

type reduceOptions struct {
	cli.MergeFlags
	cli.SelectFlags
	cli.GateFlags
	repeatFlags
	gridFlags
	cli.OutFlags

	files, keep        []string
	functions, without []string
	shorter            time.Duration
	busy, empty        bool
	neighbours         int
	slowest            int

	certificate bool
	overhead    bool
	diagnose    bool
	top         int

	costs        measurement.Costs
	requirements []reduce.Requirement
	targetBytes  int64  // 0: none
	mostRecords  uint64 // 0: none
}

func newReduce(io *cli.Streams) *cobra.Command {
	return cli.New(io, &cobra.Command{
		Use:   "reduce TRACE... [-o OUT]",
		Short: "Write a smaller trace by rules, with a certificate of errors",
		Long: `Reduce writes a smaller trace that is still sound: no message loses one end, and no collective
loses some of its members. Calls that are kept for this reason keep their enclosing regions.
Communication with dropped ranks disappears on both sides, and is counted.

Rules can be combined; the trace loses everything that any rule cuts. A rule file in Starlark
defines trace_event(id), io_event(id), output_trace(rank) or output_text(). --keep takes an expression of rank,
ranks, mpi, bytes, seconds, time, count, caller, file and line. docs/reference/reduce.md describes both.

The certificate compares every figure of 'tracekit analyze' for the full and the reduced trace,
largest difference first. Without -o nothing is written.`,
		Example: `  tracekit reduce traces.otf2 -o small --keep 'rank < 32 and mpi != "MPI_Iprobe"'
  tracekit reduce traces.otf2 -o small --rules first.star --require 'difference<1%'
  tracekit reduce traces.otf2 -o small --shorter 5us --busy
  tracekit reduce traces.otf2 -o small --target 200kB
  tracekit reduce traces.otf2 -o small --repeating
  tracekit reduce small -o again --regenerate`,
		Args: cobra.MinimumNArgs(1),
	}, &reduceOptions{}, runReduce)
}

func (o *reduceOptions) Add(set *pflag.FlagSet) {
	cli.Add(set, &o.MergeFlags, &o.SelectFlags, &o.GateFlags, &o.repeatFlags, &o.gridFlags)
	flags.Var(set, &o.files, flags.Repeated(flags.File("star")), "rules", "", "a rule `file` in Starlark; repeatable")
	flags.Var(set, &o.keep, flags.Repeated(flags.Text()), "keep", "", "`expression` that is true for MPI calls to keep, such as 'rank < "+
		"32 and mpi != \"MPI_Iprobe\"'; repeatable")
	flags.Var(set, &o.functions, flags.List(flags.Text()), "functions", "", "keep only MPI calls of these `functions`, and MPI_Init and "+
		"MPI_Finalize")
	flags.Var(set, &o.without, flags.List(flags.Text()), "without", "", "cut the calls of these MPI `functions`")
	set.BoolVar(&o.busy, "busy", false, "cut MPI calls that communicate nothing: unsuccessful tests and probes, MPI_Comm_rank and "+
		"similar")
	flags.Var(set, &o.shorter, flags.Duration(math.MaxInt64), "shorter", "", "cut calls shorter than this `time` that communicate nothing")
	set.BoolVar(&o.empty, "empty", false, "cut regions of the program in which no MPI call is kept")
	set.IntVar(&o.neighbours, "neighbours", -1, "keep this `rank` and the ranks it exchanges messages with")
	flags.Var(set, &o.slowest, flags.Int(0, math.MaxInt), "slowest", "0", "keep this `number` of ranks, those with most time in MPI calls")
	flags.Var(set, &o.targetBytes, flags.Size(), "target", "", "find the reduction to this `size` with the smallest error")
	flags.Var(set, &o.mostRecords, flags.Parsed(parseRecords), "target-events", "", "find the reduction to this `number` of records "+
		"with the smallest error, such as 1e6")
	cli.AddMeasurement(set, &o.costs, measurement.Assumed())
	flags.Var(set, &o.requirements, flags.Repeated(flags.Parsed(reduce.ParseRequirement)), "require", "", "exit with 4 unless this `condition` "+
		"on the certificate holds, such as 'difference<1%' or 'efficiency<1%'; repeatable")
	set.BoolVar(&o.certificate, "certificate", true, "compare the analyses of both traces; --certificate=false skips it and saves time")
	addPartFlags(set, &o.overhead, &o.diagnose)
	flags.Top(set, &o.top, "10")
	o.AddOut(set, "`trace` to write")
}

// Validate checks every flag before any file is opened.
func (o *reduceOptions) Validate() (err error) {
	if err := cli.Validate(&o.MergeFlags, &o.SelectFlags, &o.repeatFlags, &o.gridFlags); err != nil {
		return err
	}
	switch {
	case len(o.requirements) > 0 && !o.certificate:
		return cli.Usagef("--require needs the certificate, which --certificate=false skips")
	case o.targetBytes > 0 && o.mostRecords > 0:
		return cli.Usagef("--target and --target-events: use one of them")
	}
	rules, err := o.rules(nil)
	if err != nil {
		return err
	}
	search := o.targetBytes > 0 || o.mostRecords > 0
	if o.regenerate {
		if len(rules) > 0 || search || o.Out == "" {
			return cli.Usagef("--regenerate takes -o TRACE and no rules: it only restores what was cut")
		}
	} else if len(rules) == 0 && !search {
		return cli.Usagef("no rule given: use --keep, --ranks, --from, --repeating, --target or another rule ('tracekit reduce " +
			"--help')")
	}
	if o.repeating && len(rules) > 1 {
		return cli.Usagef("--repeating cannot be combined with other rules; reduce the reduced trace again")
	}
	if len(rules) > 0 && search {
		return cli.Usagef("--target and --target-events cannot be combined with rules: they choose them")
	}
	return o.OutFlags.Validate()
}

// rules returns the rules that are asked for. Without a trace it checks what can be checked.
func (o *reduceOptions) rules(t *trace.Trace) (rules []reduce.Rule, err error) {
	script := reduce.ScriptOptions{Costs: o.costs, Topology: o.hops()}
	if o.Timed() {
		rules = append(rules, reduce.Window{From: o.From, To: o.To})
	}
	if len(o.Ranks) > 0 {
		rules = append(rules, reduce.Ranks{What: "ranks " + o.Given("ranks"), Keep: o.Ranks})
	}
	if o.rule != nil {
		rules = append(rules, o.rule)
	}
	if o.block != "" {
		b, err := topology.ParseBlock(o.block, o.topology)
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		rules = append(rules, b)
	}
	if o.neighbours >= 0 {
		rules = append(rules, reduce.Neighbours{Rank: uint32(o.neighbours)})
	}
	if o.slowest > 0 {
		rules = append(rules, reduce.Slowest{N: o.slowest})
	}
	for _, f := range []reduce.Functions{{Names: o.functions, Only: true}, {Names: o.without}} {
		if len(f.Names) == 0 {
			continue
		}
		if t != nil {
			if err := f.Check(t); err != nil {
				return nil, cli.Usagef("%w", err)
			}
		}
		rules = append(rules, f)
	}
	if o.busy {
		rules = append(rules, reduce.Idle{})
	}
	if o.shorter > 0 {
		rules = append(rules, reduce.Shorter{Ns: o.shorter.Nanoseconds()})
	}
	for _, text := range o.keep {
		r, err := reduce.NewExpression(text, script)
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		rules = append(rules, r)
	}
	files, err := ruleFiles(o.files)
	if err != nil {
		return nil, err
	}
	made, err := scripts(files, script)
	if err != nil {
		return nil, err
	}
	rules = append(rules, made...)
	if o.empty {
		rules = append(rules, reduce.Empty{})
	}
	return rules, nil
}

// A ruleFile is a rule file and its content.
type ruleFile struct {
	name   string
	source []byte
}

// ruleFiles reads rule files.
func ruleFiles(names []string) (files []ruleFile, err error) {
	for _, name := range names {
		source, err := readRules(name)
		if err != nil {
			return nil, err
		}
		files = append(files, ruleFile{name, source})
	}
	return files, nil
}

// scripts makes rules of rule files.
func scripts(files []ruleFile, o reduce.ScriptOptions) (rules []reduce.Rule, err error) {
	for _, f := range files {
		r, err := reduce.NewScript(f.name, f.source, o)
		if err != nil {
			return nil, cli.Usagef("%w", err)
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// readRules reads a rule file, of which no more is read than it may have.
func readRules(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	if !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return nil, cli.Usagef("%s is not a rule file", file)
	}
	return os.ReadFile(file)
}

// parseRecords reads a number of records such as 1e6.
func parseRecords(text string) (uint64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || !(n >= 1 && n <= 1<<53) {
		return 0, errors.New("want a number of records such as 1e6")
	}
	return uint64(n), nil
}

func runReduce(ctx context.Context, io *cli.Streams, opts *reduceOptions) error {
	if opts.regenerate {
		return runRegenerate(ctx, io, opts)
	}
	t, err := opts.Open(ctx, io)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	if err := opts.find(t.Defs); err != nil {
		return err
	}
	if err := opts.Choose(ctx, t, opts.Jobs); err != nil {
		return err
	}
	rules, err := opts.rules(t)
	if err != nil {
		return err
	}
	about := t.Source.Info()
	doc := &outcome.Reduce{Schema: reduceSchema, Out: opts.Out, Format: opts.Format, Rules: []string{},
		Bytes: outcome.Change[*int64]{Before: &about.Bytes}, Findings: analysis.FindingRows(t.Findings)}
	var full *analysis.Result
	if opts.certificate || len(rules) == 0 {
		if full, err = opts.analyze(ctx, io, t); err != nil {
			return err
		}
	}
	if len(rules) == 0 {
		if rules, doc.Target, err = opts.search(ctx, io, t, full); err != nil {
			return err
		}
	}
	r, err := opts.apply(ctx, io, t, rules)
	if err != nil {
		return err
	}
	doc.Describe(t, rules, r)
	if opts.rule != nil {
		doc.DescribePatterns(opts.rule)
	}
	doc.GridAsked = opts.asked
	doc.Topology = opts.topology.String()
	if doc.Hops, err = topology.Averages(ctx, t, opts.topology, opts.Jobs); err != nil {
		return err
	}
	if full != nil { // before anything is written: that it cannot be certified leaves nothing behind
		if err := opts.certify(ctx, io, t, r, full, doc); err != nil {
			return err
		}
	}
	if opts.Out != "" {
		if err := opts.write(ctx, io, t, r, doc); err != nil {
			return err
		}
	}
	doc.Count(t, r, &opts.costs)
	return opts.Finish(io, doc, func() { show.Reduce(io.Sections(opts.top), doc) }, doc.Findings, opts.Gate(doc),
		func() ([]string, error) { return failing(doc, opts.requirements) })
}

func (o *reduceOptions) apply(ctx context.Context, io *cli.Streams, t *trace.Trace, rules []reduce.Rule) (*reduce.Reduction, error) {
	r, err := cli.Watch(io, o.Quiet, "reducing", func(p *engine.Progress) (*reduce.Reduction, error) {
		return reduce.Apply(ctx, t, rules, reduce.Options{Jobs: o.Jobs, Progress: p})
	})
	if err == nil {
		err = t.Store.Err()
	}
	return r, err
}

// write writes what is left, at the times of a copy: as recorded, but for formats that know
// one time only.
func (o *reduceOptions) write(ctx context.Context, io *cli.Streams, t *trace.Trace, r *reduce.Reduction, doc *outcome.Reduce) error {
	from := t.Source
	if readers.Foreign(o.Format) {
		from = merge.Corrected(t)
	}
	src := r.Source(from)
	if from != t.Source {
		src = pattern.Moved(src, t)
	}
	_, lost, err := o.WriteTrace(ctx, io, &o.ReadFlags, src, t.Store)
	if err != nil {
		return err
	}
	doc.Lost = lost
	bytes, err := sizeOf(ctx, o.Out)
	doc.Bytes.After = &bytes
	return err
}

// sizeOf returns the size of a trace that was written: of a file, of a directory, or of an
// archive that an anchor names.
func sizeOf(ctx context.Context, path string) (size int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if readers.IsAnchor(path) && !info.IsDir() {
		src, err := readers.Open(ctx, path, readers.OpenOptions{})
		if err != nil {
			return 0, err
		}
		defer src.Close()
		return src.Info().Bytes, nil
	}
	err = filepath.WalkDir(path, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	})
	return size, err
}

// analyze makes the analysis whose figures are certified: that of analyze.
func (o *reduceOptions) analyze(ctx context.Context, io *cli.Streams, t *trace.Trace) (*analysis.Result, error) {
	return analyzeTrace(ctx, io, &analyzeOptions{MergeFlags: o.MergeFlags, overhead: o.overhead, diagnose: o.diagnose, top: 1}, t, nil)
}

// reanalyze analyses what a reduction leaves. The tables that it needs are given back.
func (o *reduceOptions) reanalyze(ctx context.Context, io *cli.Streams, t *trace.Trace, r *reduce.Reduction) (*analysis.Result, error) {
	return o.analyzeSource(ctx, io, t, r.Source(t.Source))
}

func (o *reduceOptions) analyzeSource(ctx context.Context, io *cli.Streams, t *trace.Trace, src trace.Source) (*analysis.Result, error) {
	left, err := o.Reconcile(ctx, io, &cli.Input{Source: src, Store: t.Store})
	if err != nil {
		return nil, err
	}
	defer left.Release()
	return o.analyze(ctx, io, left)
}

// certify compares the analysis of the full trace with that of what is left.
func (o *reduceOptions) certify(ctx context.Context, io *cli.Streams, t *trace.Trace, r *reduce.Reduction, full *analysis.Result,
	doc *outcome.Reduce) error {
	left, err := o.reanalyze(ctx, io, t, r)
	if err != nil {
		return err
	}
	if doc.Certificate, err = reduce.Certify(full, left, gate.NameOf); err != nil {
		return err
	}
	e := reduce.Error(doc.Certificate)
	doc.Error = &e
	doc.NewFindings = slices.DeleteFunc(slices.Clone(left.Findings), func(f document.Finding) bool {
		return slices.ContainsFunc(full.Findings, func(g document.Finding) bool { return g.Code == f.Code && g.Count >= f.Count })
	})
	if o.rule == nil || o.rule.Found.Repeats == nil {
		return nil
	}
	doc.Again, err = o.certifyAgain(ctx, io, t, r, full)
	return err
}

// matters reports whether the error of a reduction is that of a figure: --require names it, or nothing.
func (o *reduceOptions) matters(metric string) bool {
	return len(o.requirements) == 0 || slices.ContainsFunc(o.requirements, func(r reduce.Requirement) bool { return r.Covers(metric) })
}

// patternsTried is how many instances of a pattern are kept at most when a size is to be reached.
const patternsTried = 8

// search chooses rules that reach a size.
func (o *reduceOptions) search(ctx context.Context, io *cli.Streams, t *trace.Trace, full *analysis.Result) ([]reduce.Rule, *outcome.Target,
	error) {
	most := o.mostRecords
	if o.targetBytes > 0 {
		bytes := float64(t.Source.Info().Bytes)
		most = uint64(float64(t.Coverage.EventsRead) * math.Min(float64(o.targetBytes)/math.Max(bytes, 1), 1))
	}
	block := &outcome.Target{Records: most, Bytes: o.targetBytes}
	if t.Coverage.EventsRead <= most {
		return nil, block, fmt.Errorf("the trace is already small enough: it has %s",
			words.Plural(int(t.Coverage.EventsRead), "record", "records"))
	}
	repeating := reduce.Family{Name: "repeating patterns", Settings: patternsTried, Rules: func(i int) []reduce.Rule {
		return []reduce.Rule{&pattern.Rule{Options: pattern.Options{Keep: patternsTried - i}}}
	}}
	rules, tries, err := reduce.Search(ctx, t, append(reduce.Families(t), repeating, sampling.Family(t)), most, reduce.Options{Jobs: o.Jobs},
		func(ctx context.Context, r *reduce.Reduction) (reduce.Verdict, error) {
			left, err := o.reanalyze(ctx, io, t, r)
			if err != nil {
				return reduce.Verdict{}, err
			}
			figures, err := reduce.Certify(full, left, gate.NameOf)
			figures = slices.DeleteFunc(figures, func(f reduce.Figure) bool { return !o.matters(f.Metric) })
			return reduce.Verdict{Error: reduce.Error(figures), Within: left.Trace.Reduced.Within(o.matters), Records: left.Coverage.EventsRead}, err
		})
	block.Tries = tries
	if err == nil && rules == nil {
		least := uint64(math.MaxUint64)
		for _, x := range tries {
			least = min(least, x.Records)
		}
		return nil, block, fmt.Errorf("no reduction is small enough: the smallest has %s, wanted are %s",
			words.Plural(int(least), "record", "records"), words.Count(most))
	}
	return rules, block, err
}
