package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/scaling"
)

type scalingOptions struct {
	mergeFlags
	gateFlags
	runs   []string
	mode   string
	at     int
	outDir string
	force  bool
	top    int
}

func newScaling(io *streams, run func(context.Context, *streams, *scalingOptions) error) *cobra.Command {
	opts := &scalingOptions{}
	cmd := &cobra.Command{
		Use:   "scaling RUN...",
		Short: "Say how a program scales, from runs of several sizes",
		Long: `Scaling puts the efficiencies of several runs of one program side by side, as BSC's
modelfactors does, with the scalability of its computation and, where hardware counters were
recorded, what that is made of: instructions, instructions per cycle, frequency.

For each call path it finds how the time of a process grows with their number, p: a
constant and terms p^(i/j) log2(p)^k, chosen by leaving each size out in turn. The places
that take most with --at processes come first, with the interval in which 95 of 100
measurements would lie if the form is right.

Runs of one size are repetitions: their mean counts. Two sizes give the table, three the
first models, five some that can be trusted.`,
		Example: `  tracekit scaling run-1.otf2 run-2.otf2 run-4.otf2 run-8.otf2 run-16.otf2
  tracekit scaling --at 1024 -o scaling/ epoch_*proc.prv.gz`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.runs, run),
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	cli.Var(set, &opts.mode, cli.Choice("auto", "strong", "weak"), "scaling", "auto", "what stays the `same`: strong, the problem; "+
		"weak, the work of a rank; auto finds out")
	cli.Var(set, &opts.at, cli.Int(0, mostProcesses), "at", "0", "`processes` that places are predicted for (default: twice the most "+
		"of the runs)")
	cli.VarP(set, &opts.outDir, cli.Directory(), "output", "o", "", "also write document and plots into this `directory`")
	set.BoolVar(&opts.force, "force", false, "replace what tracekit wrote into the directory before, and nothing else")
	cli.Var(set, &opts.top, cli.Int(1, math.MaxInt), "top", "10", "`rows` of each table")
	return cmd
}

// mostProcesses bounds what a model is asked for.
const mostProcesses = 1 << 30

func (o *scalingOptions) validate() error {
	if err := o.mergeFlags.validate(); err != nil {
		return err
	}
	switch {
	case o.outDir != "":
		return checkReportDir(o.outDir, o.force)
	}
	return nil
}

// A scalingDocument is a scaling.Scaling with what is wrong with its traces.
type scalingDocument struct {
	*scaling.Scaling
	Findings []runFinding `json:"findings"`
}

// A runFinding is a finding in one of several traces.
type runFinding struct {
	Path string `json:"path"`
	document.Finding
}

func runScaling(ctx context.Context, io *streams, opts *scalingOptions) error {
	doc := &scalingDocument{Findings: []runFinding{}}
	var analyses []*analysis.Result
	var findings []document.Finding
	for _, path := range opts.runs {
		a, err := analyzeRun(ctx, io, &opts.mergeFlags, path)
		if err != nil {
			return err
		}
		analyses = append(analyses, a)
		for _, f := range a.Findings {
			doc.Findings = append(doc.Findings, runFinding{path, f})
		}
		findings = append(findings, a.Findings...)
	}
	var err error
	if doc.Scaling, err = scaling.New(ctx, analyses, scaling.Options{Mode: scaling.Mode(opts.mode), At: opts.at, Jobs: opts.jobs}); err != nil {
		return err
	}
	if opts.outDir != "" {
		if err := writeScaling(ctx, opts, doc); err != nil {
			return err
		}
	}
	return opts.finish(io, doc, func() { doc.print(io, opts.top) }, findings, opts.gate(doc))
}

// analyzeRun analyses one of several traces, whose tables are given back.
func analyzeRun(ctx context.Context, io *streams, flags *mergeFlags, path string) (*analysis.Result, error) {
	t, err := flags.open(ctx, io, path)
	if err != nil {
		return nil, err
	}
	a, err := flags.analyze(ctx, io, t, analysis.Options{Top: 1})
	if err = errors.Join(err, t.Source.Close()); err != nil {
		return nil, err
	}
	*a = analysis.Result{Analysis: a.Analysis} // the tables lie in the store
	a.CriticalPath = nil
	return a, nil
}

// runSizeName names a size in the head of a column.
func runSizeName(s *scaling.Size) string {
	if s.Threads > s.Processes {
		return fmt.Sprintf("%s (%s threads)", words.Count(s.Processes), words.Count(s.Threads))
	}
	return words.Count(s.Processes)
}

func (doc *scalingDocument) print(io *streams, top int) {
	w := io.Out
	line := func(format string, args ...any) {
		fmt.Fprintln(w, text.Wrap(fmt.Sprintf(format, args...), io.Width, 2))
	}
	switch {
	case len(doc.Sizes) > 1 && doc.Comparable.Alike:
		found := ""
		if doc.Detected {
			found = " (found from the work that they do; --scaling says otherwise)"
		}
		same := "the same problem for all sizes"
		if doc.Mode == scaling.Weak {
			same = "the same work for each process"
		}
		line("%s of %s: %s scaling, %s%s", words.Plural(len(doc.Runs), "run", "runs"), words.Plural(len(doc.Sizes), "size", "sizes"), doc.Mode, same, found)
	default:
		line("%s", words.Plural(len(doc.Runs), "run", "runs"))
	}
	for _, reason := range doc.Comparable.Reasons {
		line("! %s; nothing is said about how they scale", reason)
	}
	for _, note := range doc.Notes {
		line("  %s", note)
	}
	doc.printFactors(io)
	doc.printModels(io, top)
	var findings []document.Finding
	for _, f := range doc.Findings {
		if f.Severity != "info" {
			f.Text = words.TraceName(f.Path) + ": " + f.Text
			findings = append(findings, f.Finding)
		}
	}
	report.PrintFindings(w, io.Width, "Findings", findings)
}

// printFactors prints the table of modelfactors.
func (doc *scalingDocument) printFactors(io *streams) {
	g := &text.Grid{Heading: "Efficiencies and scalabilities by processes", Titles: []string{"<"}}
	if len(doc.Sizes) > 1 && doc.Comparable.Alike {
		g.Note("Scalabilities and speedup refer to the smallest size. In per cent.")
	}
	for i := range doc.Sizes {
		g.Titles = append(g.Titles, runSizeName(&doc.Sizes[i]))
	}
	row := func(name string, text func(*scaling.Size) string) {
		cells, some := []string{name}, false
		for i := range doc.Sizes {
			cell := text(&doc.Sizes[i])
			some = some || cell != "-"
			cells = append(cells, cell)
		}
		if some {
			g.Add(cells...)
		}
	}
	share := func(name string, of func(*scaling.Factors) *float64) {
		row(name, func(s *scaling.Size) string { return fixed(of(&s.Factors), 100, 2) })
	}
	share("global efficiency", func(f *scaling.Factors) *float64 { return f.GlobalEfficiency })
	share("  parallel efficiency", func(f *scaling.Factors) *float64 { return f.ParallelEfficiency })
	share("    process level", func(f *scaling.Factors) *float64 { return f.ProcessEfficiency })
	share("    thread level", func(f *scaling.Factors) *float64 { return f.ThreadEfficiency })
	share("    load balance", func(f *scaling.Factors) *float64 { return f.LoadBalance })
	share("    communication efficiency", func(f *scaling.Factors) *float64 { return f.CommunicationEfficiency })
	share("      serialization", func(f *scaling.Factors) *float64 { return f.SerializationEfficiency })
	share("      transfer", func(f *scaling.Factors) *float64 { return f.TransferEfficiency })
	share("  computation scalability", func(f *scaling.Factors) *float64 { return f.ComputationScalability })
	share("    IPC scalability", func(f *scaling.Factors) *float64 { return f.IPCScalability })
	share("    instruction scalability", func(f *scaling.Factors) *float64 { return f.InstructionScalability })
	share("    frequency scalability", func(f *scaling.Factors) *float64 { return f.FrequencyScalability })
	row("speedup", func(s *scaling.Size) string { return fixed(s.Speedup, 1, 3) })
	row("average IPC", func(s *scaling.Size) string { return fixed(s.IPC, 1, 3) })
	row("average frequency, GHz", func(s *scaling.Size) string { return fixed(s.FrequencyGHz, 1, 3) })
	row("run time", func(s *scaling.Size) string { return words.Time(s.RuntimeNs) })
	row("  runs", func(s *scaling.Size) string {
		if len(doc.Runs) == len(doc.Sizes) {
			return "-"
		}
		return words.Count(s.Runs)
	})
	row("  standard deviation", func(s *scaling.Size) string { return fixed(s.RuntimeSpread, 100, 2) })
	g.Print(io.Out, io.Width)
}

// fixed writes a number with a factor and so many decimals, "-" if it is not known.
func fixed(x *float64, factor float64, decimals int) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(factor**x, 'f', decimals, 64)
}

// printModels prints the places that take most at the wanted size.
func (doc *scalingDocument) printModels(io *streams, top int) {
	if doc.At == 0 {
		return
	}
	if m := doc.Runtime; m != nil {
		said := fmt.Sprintf("Run time: %s; with %s processes %s", modelFormula(m), words.Count(doc.At), words.Nanoseconds(m.Predicted))
		if m.Low != nil {
			said += fmt.Sprintf(", 95 of 100 times within %s to %s", words.Nanoseconds(*m.Low), words.Nanoseconds(*m.High))
		}
		fmt.Fprintln(io.Out)
		fmt.Fprintln(io.Out, text.Wrap(said+".", io.Width, 2))
	}
	last := len(doc.Sizes) - 1
	g := &text.Grid{Heading: fmt.Sprintf("Where the time goes with %s processes: time of a process in the mean, without what is called", words.Count(doc.At)),
		Titles: []string{"<place", "with " + runSizeName(&doc.Sizes[last]), "with " + words.Count(doc.At), "share", "at least", "at most", "error", "model"}}
	g.Note("Error: of leave-one-out cross-validation, 0 to 200 %. At least, at most: in 95 of 100 measurements, if the form is right.")
	for i := range doc.Models[:min(top, len(doc.Models))] {
		m := &doc.Models[i]
		low, high := "-", "-"
		if m.Low != nil {
			low, high = words.Nanoseconds(*m.Low), words.Nanoseconds(*m.High)
		}
		g.Add(pathName(&m.PlaceRow), words.Nanoseconds(m.Values[last]), words.Nanoseconds(m.Predicted), words.ShareOrDash(m.Share), low, high, words.Share(m.SMAPE), modelFormula(m))
	}
	g.Print(io.Out, io.Width)
	if len(doc.Unmodelled) == 0 {
		return
	}
	g = &text.Grid{Heading: "Places without a model: they have time in fewer than three sizes", Titles: []string{"<place"}}
	for i := range doc.Sizes {
		g.Titles = append(g.Titles, "with "+runSizeName(&doc.Sizes[i]))
	}
	for i := range doc.Unmodelled[:min(top, len(doc.Unmodelled))] {
		cells := []string{pathName(&doc.Unmodelled[i])}
		for _, v := range doc.Unmodelled[i].Values {
			cells = append(cells, words.Nanoseconds(v))
		}
		g.Add(cells...)
	}
	g.Print(io.Out, io.Width)
}

// modelFormula writes a model with the unit that fits its largest part.
func modelFormula(m *scaling.PlaceModel) string {
	largest := math.Abs(m.Constant)
	for _, t := range m.Terms {
		largest = max(largest, math.Abs(t.Coefficient))
	}
	for _, s := range []struct {
		factor float64
		unit   string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if largest >= s.factor {
			return m.Model.Formula(s.factor, " "+s.unit)
		}
	}
	return m.Model.Formula(1, " ns")
}

// pathName names a call path by its regions, the innermost last.
func pathName(r *scaling.PlaceRow) string {
	name := strings.Join(r.Path, " > ")
	if r.File != "" && r.Line != 0 {
		name += fmt.Sprintf(" (%s:%d)", r.File, r.Line)
	}
	return name
}
