package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"tracekit/plots"
	"tracekit/reconstruct"
	"tracekit/stats"
	"tracekit/trace"
)

// compareSchema names the JSON document of compare.
const compareSchema = "tracekit.compare/1"

type compareOptions struct {
	mergeFlags
	gateFlags
	a, b   string
	repeat string
	outDir string
	force  bool
	top    int
}

func newCompare(io *streams, run func(context.Context, *streams, *compareOptions) error) *cobra.Command {
	opts := &compareOptions{}
	cmd := &cobra.Command{
		Use:   "compare A B",
		Short: "Say how two traces differ, record by record and in their results",
		Long: `Compare pairs the records of two traces of the same program (or of a trace and its
reconstruction), and prints by how much their positions and the blocks between them
differ, what is missing on either side, and how the results of both analyses differ.

Spreads are 2 √(ln 2) σ; the full width at half maximum of a Gaussian stands beside them.
With --repeat C, a repeated run of A, quality factors are printed: the spread of C against
A divided by that of B against A.`,
		Example: `  tracekit compare run1/traces.otf2 run2/traces.otf2
  tracekit compare traces.otf2 run.tkf --repeat run2/traces.otf2 -o differences/`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			opts.a, opts.b = args[0], args[1]
			if err := opts.validate(); err != nil {
				return err
			}
			return run(c.Context(), io, opts)
		},
	}
	set := cmd.Flags()
	opts.mergeFlags.add(set)
	opts.gateFlags.add(set)
	set.StringVar(&opts.repeat, "repeat", "", "a repeated run of A: the `trace` that quality factors refer to")
	set.StringVarP(&opts.outDir, "output", "o", "", "also write document and plots into this `directory`")
	set.BoolVar(&opts.force, "force", false, "replace what tracekit wrote into the directory before, and nothing else")
	set.IntVar(&opts.top, "top", 10, "`rows` of each table")
	return cmd
}

func (o *compareOptions) validate() error {
	if err := validate(&o.mergeFlags, &o.gateFlags); err != nil {
		return err
	}
	o.traces = 2
	if o.repeat != "" {
		o.traces = 3
	}
	if o.top < 1 {
		return usagef("--top %d: want at least 1", o.top)
	}
	if o.outDir != "" {
		return checkReportDir(o.outDir, o.force)
	}
	return nil
}

// A compareDocument says how two traces differ. Times are in ns; differences are B - A.
type compareDocument struct {
	Schema   string          `json:"schema"`
	A        stats.TraceInfo `json:"a"`
	B        stats.TraceInfo `json:"b"`
	Records  pairedRecords   `json:"records"`
	Position *spread         `json:"position"` // null: no record is paired
	Block    *spread         `json:"block"`
	Quality  *quality        `json:"quality,omitempty"`
	Results  []resultChange  `json:"results"`
	Profile  []regionChange  `json:"profile"`

	FindingsA []stats.Finding `json:"findings_a"`
	FindingsB []stats.Finding `json:"findings_b"`
}

// pairedRecords counts the records; First are places of the first ones without a partner.
type pairedRecords struct {
	Paired uint64       `json:"paired"`
	OnlyA  uint64       `json:"only_a"`
	OnlyB  uint64       `json:"only_b"`
	FirstA *stats.Place `json:"first_a"`
	FirstB *stats.Place `json:"first_b"`
}

// A spread describes a distribution of differences.
type spread struct {
	Count  uint64  `json:"count"`
	Min    int64   `json:"min_ns"`
	Mean   float64 `json:"mean_ns"`
	Max    int64   `json:"max_ns"`
	Sigma  float64 `json:"sigma_ns"`
	Spread float64 `json:"spread_ns"` // 2 √(ln 2) σ
	FWHM   float64 `json:"fwhm_ns"`   // 2 √(2 ln 2) σ
}

// quality holds the quality factors against a repeated run; null if B has no spread.
type quality struct {
	Repeat         string   `json:"repeat"`
	PositionSpread float64  `json:"position_spread_ns"` // of the repeated run
	BlockSpread    float64  `json:"block_spread_ns"`
	PositionFactor *float64 `json:"position_factor"`
	BlockFactor    *float64 `json:"block_factor"`
}

// A resultChange is one number of both analyses, named by its path in their documents.
type resultChange struct {
	Name   string   `json:"name"`
	A      float64  `json:"a"`
	B      float64  `json:"b"`
	Change *float64 `json:"change"` // (B - A) / A; null if A is 0

	// What a model made of a trace that was rebuilt; see stats.Rebuilt.
	ModelledA bool `json:"modelled_a"`
	ModelledB bool `json:"modelled_b"`
}

// A regionChange is the exclusive time of one region in both.
type regionChange struct {
	Region string `json:"region"`
	A      int64  `json:"a_ns"`
	B      int64  `json:"b_ns"`
}

// side is one of the traces, opened, reconciled and analysed.
type side struct {
	t *trace.Trace
	a *stats.Analysis
}

func (s *side) close() { s.t.Source.Close() }

// findings are those of the analysis, and what the comparison has noticed that reads again.
func (s *side) findings() []stats.Finding {
	changed := func(f stats.Finding) bool { return f.Code == string(trace.CodeChangedMeanwhile) }
	if slices.ContainsFunc(s.a.Findings, changed) {
		return s.a.Findings
	}
	return append(slices.Clip(s.a.Findings), stats.FindingRows(changesOf(s.t))...)
}

func openSide(ctx context.Context, io *streams, opts *compareOptions, path string) (*side, error) {
	t, err := opts.open(ctx, io, path)
	if err != nil {
		return nil, err
	}
	s := &side{t: t}
	if s.a, err = stats.Analyze(ctx, t, stats.Options{Jobs: opts.jobs, Top: 1}); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

func runCompare(ctx context.Context, io *streams, opts *compareOptions) error {
	a, err := openSide(ctx, io, opts, opts.a)
	if err != nil {
		return err
	}
	defer a.close()
	b, err := openSide(ctx, io, opts, opts.b)
	if err != nil {
		return err
	}
	defer b.close()
	d, err := compareSides(ctx, io, opts, a, b)
	if err != nil {
		return err
	}
	doc := newCompareDocument(a.a, b.a, d)
	doc.FindingsA, doc.FindingsB = a.findings(), b.findings()
	if opts.repeat != "" {
		if doc.Quality, err = qualityOf(ctx, io, opts, a, d); err != nil {
			return err
		}
	}
	if opts.outDir != "" {
		if err := writeComparison(ctx, opts, doc, d); err != nil {
			return err
		}
	}
	findings := slices.Concat(doc.FindingsA, doc.FindingsB)
	return opts.finish(io, doc, func() { doc.print(io, opts.top) }, findings, opts.gate(doc))
}

func compareSides(ctx context.Context, io *streams, opts *compareOptions, a, b *side) (*reconstruct.Differences, error) {
	bar := startProgress(io, opts.quiet, "comparing")
	defer bar.done()
	return reconstruct.Compare(ctx, a.t, b.t, reconstruct.CompareOptions{Jobs: opts.jobs, Progress: &bar.Progress})
}

func qualityOf(ctx context.Context, io *streams, opts *compareOptions, a *side, d *reconstruct.Differences) (*quality, error) {
	c, err := openSide(ctx, io, opts, opts.repeat)
	if err != nil {
		return nil, err
	}
	defer c.close()
	r, err := compareSides(ctx, io, opts, a, c)
	if err != nil {
		return nil, err
	}
	q := &quality{Repeat: opts.repeat, PositionSpread: r.Position.Spread(), BlockSpread: r.Block.Spread()}
	q.PositionFactor = factor(r.Position.Spread(), d.Position.Spread())
	q.BlockFactor = factor(r.Block.Spread(), d.Block.Spread())
	return q, nil
}

// factor returns reference/spread as the paper's table 6 computes it, nil if there is no
// spread to divide by.
func factor(reference, spread float64) *float64 {
	if spread == 0 {
		return nil
	}
	f := reference / spread
	return &f
}

func newCompareDocument(a, b *stats.Analysis, d *reconstruct.Differences) *compareDocument {
	doc := &compareDocument{
		Schema: compareSchema, A: a.Trace, B: b.Trace,
		Records: pairedRecords{Paired: d.Paired, OnlyA: d.OnlyA, OnlyB: d.OnlyB,
			FirstA: placeOf(d.FirstA), FirstB: placeOf(d.FirstB)},
		Position: spreadOf(d.Position), Block: spreadOf(d.Block),
		Results: []resultChange{}, Profile: []regionChange{},
	}
	doc.addResults(a, b)
	doc.addProfile(a, b)
	return doc
}

func placeOf(p *trace.Place) *stats.Place {
	if p == nil {
		return nil
	}
	l := uint32(p.Location)
	return &stats.Place{Location: &l, Seq: p.Seq}
}

func spreadOf(d *reconstruct.Distribution) *spread {
	if d.N == 0 {
		return nil
	}
	return &spread{Count: d.N, Min: d.Min, Mean: d.Mean(), Max: d.Max, Sigma: d.Sigma(), Spread: d.Spread(), FWHM: d.FWHM()}
}

// addResults lists the headline numbers of both analyses.
func (doc *compareDocument) addResults(a, b *stats.Analysis) {
	add := func(name string, x, y float64) {
		c := resultChange{Name: name, A: x, B: y}
		if x != 0 {
			r := (y - x) / x
			c.Change = &r
		}
		doc.Results = append(doc.Results, c)
	}
	add("trace.duration_ns", float64(a.Trace.DurationNs), float64(b.Trace.DurationNs))
	add("trace.events", float64(a.Trace.Events), float64(b.Trace.Events))
	if x, y := a.Efficiency, b.Efficiency; x != nil && y != nil && x.ParallelEfficiency != nil && y.ParallelEfficiency != nil {
		add("efficiency.parallel_efficiency", *x.ParallelEfficiency, *y.ParallelEfficiency)
	}
	if x, y := a.Messages, b.Messages; x != nil && y != nil {
		add("messages.count", float64(x.Count), float64(y.Count))
		add("messages.bytes", float64(x.Bytes), float64(y.Bytes))
	}
	if x, y := a.WaitStates, b.WaitStates; x != nil && y != nil {
		first := len(doc.Results)
		for k, w := range x.All {
			if other := &y[k]; w.Count+other.Count > 0 {
				add("wait_states."+k.Info().Key+".time_ns", float64(w.TimeNs), float64(other.TimeNs))
			}
		}
		for i := range doc.Results[first:] {
			r := &doc.Results[first+i]
			r.ModelledA, r.ModelledB = a.Trace.Rebuilt != nil, b.Trace.Rebuilt != nil
		}
	}
}

// addProfile lists the regions of both by the size of their change.
func (doc *compareDocument) addProfile(a, b *stats.Analysis) {
	index := make(map[string]int)
	row := func(region string) *regionChange {
		i, ok := index[region]
		if !ok {
			i = len(doc.Profile)
			index[region] = i
			doc.Profile = append(doc.Profile, regionChange{Region: region})
		}
		return &doc.Profile[i]
	}
	for _, p := range a.Profile {
		row(p.Region).A += p.ExclusiveNs
	}
	for _, p := range b.Profile {
		row(p.Region).B += p.ExclusiveNs
	}
	sortByChange(doc.Profile)
}

func (doc *compareDocument) print(io *streams, top int) {
	w := io.Out
	printRebuilt(io, "A is ", doc.A.Rebuilt)
	printRebuilt(io, "B is ", doc.B.Rebuilt)
	printLine(w, "A  %s: %s events, %s", doc.A.Path, formatCount(doc.A.Events), formatTime(doc.A.DurationNs))
	printLine(w, "B  %s: %s events, %s", doc.B.Path, formatCount(doc.B.Events), formatTime(doc.B.DurationNs))
	fmt.Fprintf(w, "Records: %s in both, %s only in A, %s only in B\n",
		formatCount(doc.Records.Paired), formatCount(doc.Records.OnlyA), formatCount(doc.Records.OnlyB))
	g := &grid{heading: "Differences, B - A", titles: []string{"<", "records", "least", "mean", "most", "σ", "spread", "full width at half maximum"}}
	for _, s := range []struct {
		name string
		s    *spread
	}{{"position", doc.Position}, {"block", doc.Block}} {
		if s.s != nil {
			g.add(s.name, formatCount(s.s.Count), formatTime(s.s.Min), nanoseconds(s.s.Mean), formatTime(s.s.Max),
				nanoseconds(s.s.Sigma), nanoseconds(s.s.Spread), nanoseconds(s.s.FWHM))
		}
	}
	g.print(w, io.Width)
	if q := doc.Quality; q != nil {
		printLine(w, "Quality factors against %s: position %s, block %s", q.Repeat, decimal(q.PositionFactor), decimal(q.BlockFactor))
	}
	results := &grid{heading: "Results", titles: []string{"<", "A", "B", "change"}}
	for _, r := range doc.Results {
		x, y := resultText(r.Name, r.A), resultText(r.Name, r.B)
		if r.ModelledA {
			x = modelledMark + x
		}
		if r.ModelledB {
			y = modelledMark + y
		}
		results.add(r.Name, x, y, orDash(r.Change))
	}
	results.print(w, io.Width)
	profile := &grid{heading: "Exclusive time by region, largest change first", titles: []string{"<region", "A", "B", "B - A"}}
	for _, r := range doc.Profile[:min(top, len(doc.Profile))] {
		profile.add(r.Region, formatTime(r.A), formatTime(r.B), formatTime(r.B-r.A))
	}
	profile.print(w, io.Width)
	printFindings(w, io.Width, "Findings in A", doc.FindingsA)
	printFindings(w, io.Width, "Findings in B", doc.FindingsB)
}

// writeComparison writes the document and the histograms of differences.
func writeComparison(ctx context.Context, opts *compareOptions, doc *compareDocument, d *reconstruct.Differences) error {
	figure, err := plots.DifferenceHistograms(plots.DifferencesData{
		Title:    traceName(opts.b) + rebuiltTitle(doc.B) + " against " + traceName(opts.a) + rebuiltTitle(doc.A),
		Position: differencesPlot(d.Position), Block: differencesPlot(d.Block), LogY: true,
	})
	if err != nil {
		return err
	}
	out := newReportDir(opts.outDir)
	out.rebuilt = doc.A.Rebuilt != nil || doc.B.Rebuilt != nil
	out.json("compare.json", doc)
	out.figure("differences", figure)
	return out.close(ctx, opts.jobs, nil)
}

// differencesPlot shows what lies within two spreads of the mean.
func differencesPlot(d *reconstruct.Distribution) plots.Differences {
	const windows = 200
	half := math.Max(2*d.Spread(), 1)
	edges, counts, beyond := d.Histogram(d.Mean()-half, d.Mean()+half, windows)
	return plots.Differences{Edges: edges, Counts: counts, Beyond: beyond, Mean: d.Mean(), Spread: d.Spread()}
}
