package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"tracekit/cmd/tracekit/internal/cli"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/plots"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/analysis"
	"tracekit/stats/studies/headers"
)

// headersOptions are the dependencies and flags of headers.
type headersOptions struct {
	mergeFlags
	selectFlags
	gateFlags
	paths      []string
	layout     int
	mask       []string
	transfers  string
	monitoring time.Duration
	top        int
	output     string
	force      bool

	pair   [2]uint32
	format plots.Format
}

func newHeaders(io *streams, run func(context.Context, *streams, *headersOptions) error) *cobra.Command {
	opts := &headersOptions{}
	cmd := &cobra.Command{
		Use:   "headers TRACE...",
		Short: "Compare what hosts do with what the messages that they wait for were held up by",
		Long: `Headers replays what IMPuLSE measures: every message carries a header of a few counters,
which say how the time on the path that led to this message was spent. A rank that waits
for a message takes over its header; so the headers at the end of the run tell what it was
made of, while the profile of a host says mostly that it waited.

Printed are both views side by side, also by size of message; the header of each rank at the end
of the run, with eight explicit counters; how far the last one is from the critical path, which
knows everything; and what two ranks would see that sample the whole run in rounds.

A trace has no time of the wire and none of copying: these are derived, by lines through the
smallest times over the bytes.`,
		Example: `  tracekit headers traces.otf2
  tracekit headers traces.otf2 -o views.png
  tracekit headers --mask wire --mask 'compute: solve' traces.otf2
  tracekit headers --json --fail-if 'path.error_share>0.1' traces.otf2`,
		Args: cobra.MinimumNArgs(1),
		RunE: validated(io, opts, &opts.paths, run),
	}
	opts.addFlags(cmd.Flags())
	return cmd
}

func (o *headersOptions) addFlags(set *pflag.FlagSet) {
	o.mergeFlags.add(set)
	o.selectFlags.add(set)
	o.gateFlags.add(set)
	cli.Var(set, &o.layout, cli.Choice(int(headers.Layout92), int(headers.Layout96)), "layout", "92", "`bytes` of a header: 92, with a "+
		"hop count, or 96, with a counter for the monitoring's own time instead")
	cli.Var(set, &o.mask, cli.Repeated(cli.Text()), "mask", "", "`metric` that gets no counter of its own, such as wire or 'compute: "+
		"solve'; repeatable")
	cli.Var(set, &o.transfers, cli.Choice("model", "trace"), "transfers", "model", "time of a message's way in the headers: of the "+
		"`model`, as a rank could know it, or of the trace")
	cli.Var(set, &o.monitoring, cli.Duration(time.Second), "monitoring", "", "`time` that the monitoring would cost each message (the "+
		"paper: 3.6us); it is no part of the other times")
	cli.Var(set, &o.pair, cli.Parsed(parsePair), "sample", "", "the two `ranks` that sample, such as 0,15 (default: two that lie "+
		"opposite)")
	cli.Var(set, &o.top, cli.Int(1, math.MaxInt), "top", "10", "`rows` of the tables of ranks and of sampling")
	cli.VarP(set, &o.output, cli.File("png", "svg"), "output", "o", "", "also draw both views into this `file`, .png or .svg")
	set.BoolVar(&o.force, "force", false, "overwrite the file if it exists")
}

// validate checks every flag before any file is opened.
func (o *headersOptions) validate() (err error) {
	if err := validate(&o.mergeFlags, &o.selectFlags); err != nil {
		return err
	}
	if o.output == "" {
		return nil
	}
	if o.format, err = plots.FormatOf(o.output); err != nil {
		return usageError{err}
	}
	return checkFile(o.output, o.force)
}

// parsePair reads two ranks such as "0,15"; nothing is twice the same.
func parsePair(s string) (pair [2]uint32, err error) {
	if s == "" {
		return pair, nil
	}
	words := strings.Split(s, ",")
	for i := 0; i < len(words) && len(words) == 2 && err == nil; i++ {
		var r uint64
		r, err = strconv.ParseUint(strings.TrimSpace(words[i]), 10, 31)
		pair[i] = uint32(r)
	}
	if err != nil || len(words) != 2 || pair[0] == pair[1] {
		return pair, errors.New("want two different ranks such as 0,15")
	}
	return pair, nil
}

func runHeaders(ctx context.Context, io *streams, opts *headersOptions) error {
	t, err := opts.open(ctx, io, opts.paths...)
	if err != nil {
		return err
	}
	defer t.Source.Close()
	a, err := opts.analyze(ctx, io, t, analysis.Options{From: opts.from, To: opts.to, Top: 1})
	if err != nil {
		return err
	}
	p, err := headers.Make(ctx, t, a, headers.Options{Jobs: opts.jobs, Layout: headers.Layout(opts.layout), Mask: opts.mask,
		Exact: opts.transfers == "trace", MonitoringNs: opts.monitoring.Nanoseconds(), Ranks: opts.ranks, Pair: opts.pair})
	if err != nil {
		return err
	}
	if opts.output != "" {
		figure, err := viewsPlot(report.PictureTitle(t.Source.Info()), p)
		if err != nil {
			return err
		}
		if err := writeFigure(ctx, opts.output, opts.force, opts.format, figure); err != nil {
			return err
		}
	}
	return opts.finish(io, p, func() { printHeaders(io, opts, p, a) }, p.Findings, opts.gate(p))
}

// A viewGroup is a column of the table by size, and a colour of the picture: metrics of one kind.
type viewGroup struct {
	title   string
	group   plots.Group
	color   color.Color // nil: one of the group's
	metrics []string    // names, or kinds of regions; nil: all that are in no other group
}

// viewGroups returns the groups, from the bottom of a bar to its top. Only a run that calls the
// runtime of an accelerator has a group of such calls.
func viewGroups(p *headers.Profile) []viewGroup {
	groups := []viewGroup{
		{"compute", plots.User, nil, nil},
		{"accelerator", plots.GPU, nil, []string{headers.Accelerator}},
		{"copy", plots.IO, nil, []string{"copy"}},
		{"wire", plots.Threads, nil, []string{"wire"}},
		{"overhead", plots.MPI, nil, []string{"send overhead", "receive overhead"}},
		{"collective", plots.MPI, nil, []string{"collective"}},
		{"other MPI", plots.MPI, nil, []string{"startup", "other MPI"}},
		{"unexplained", plots.System, nil, []string{"unexplained"}},
		{"waiting", plots.System, color.White, []string{"wait"}}, // as in the space-time diagram
	}
	if !slices.ContainsFunc(slices.Concat(p.Host, p.Message), groups[1].holds) {
		groups = slices.Delete(groups, 1, 2)
	}
	return groups
}

// holds reports whether a row is in a group that has names.
func (g viewGroup) holds(row headers.MetricRow) bool {
	kind, _, _ := headers.Region(row.Metric)
	return slices.Contains(g.metrics, cmp.Or(kind, row.Metric))
}

// grouped adds up rows by group.
func grouped(groups []viewGroup, rows []headers.MetricRow) []float64 {
	out := make([]float64, len(groups))
	for _, row := range rows {
		at := max(0, slices.IndexFunc(groups, func(g viewGroup) bool { return g.holds(row) }))
		if row.Share != nil {
			out[at] += *row.Share
		}
	}
	return out
}

// viewsPlot draws both views of the run and of each class of sizes: the paper's second figure.
func viewsPlot(title string, p *headers.Profile) (*plots.Figure, error) {
	d := plots.BarsData{Title: "What hosts do, and what messages wait for: " + title, XLabel: "bytes of a message", Y: plots.Axis{Label: "share of the time", Unit: plots.Share},
		Note: "Left of each pair: the hosts; right: the path that led to the message (run: to its end). Wire and copying are derived."}
	groups := viewGroups(p)
	for _, g := range groups {
		d.Categories = append(d.Categories, plots.Category{Name: g.title, Group: g.group, Color: g.color})
	}
	add := func(name string, host, message []headers.MetricRow) {
		d.Groups = append(d.Groups, plots.BarGroup{Name: name, Bars: [][]float64{grouped(groups, host), grouped(groups, message)}})
	}
	add("run", p.Host, p.Message)
	for _, s := range p.Sizes {
		add(sizeName(s.From, s.To), s.Host, s.Message)
	}
	return plots.Bars(d)
}

// sizeName names a class of sizes by its least size.
func sizeName(from, to uint64) string {
	if to <= from+1 {
		return words.Bytes(from)
	}
	number, unit, _ := strings.Cut(words.Bytes(from), " ")
	number, _, _ = strings.Cut(number, ".") // a power of two
	return "≥ " + number + " " + unit
}

func printHeaders(io *streams, opts *headersOptions, p *headers.Profile, a *analysis.Result) {
	selected := a.Analysis
	selected.Selection = p.Selection
	r := &report.Sections{W: io.Out, Width: io.Width, Top: opts.top, Analysis: &selected, Writer: writtenBy(a.Trace.Format, a.Trace.Creator)}
	r.Sites = r.Located()
	r.Header()
	r.Findings()
	printViews(r, p)
	printSizes(r, p)
	printRanks(r, p)
	printSampling(r, p)
	printModel(r, p)
	if opts.output != "" {
		fmt.Fprintf(io.Out, "\nPicture: %s\n", opts.output)
	}
	fmt.Fprintln(io.Out, "\n'tracekit help terms' explains the words of this report.")
}

// derivedMark stands behind metrics that a model made.
const derivedMark = " *"

func metricName(name string, derived bool) string {
	if derived {
		return name + derivedMark
	}
	return name
}

// A viewRow is a metric in both views.
type viewRow struct{ host, path headers.MetricRow }

// viewRows brings the two views of the run together: the largest first, and of computation so
// many regions by name.
func viewRows(p *headers.Profile, top int) (rows []viewRow) {
	index := make(map[string]int)
	at := func(m headers.MetricRow) *viewRow {
		i, ok := index[m.Metric]
		if !ok {
			i, rows = len(rows), append(rows, viewRow{})
			index[m.Metric] = i
		}
		return &rows[i]
	}
	for _, m := range p.Host {
		at(m).host = m
	}
	for _, m := range p.Message {
		at(m).path = m
	}
	weight := func(v viewRow) float64 {
		w := 0.0
		for _, m := range []headers.MetricRow{v.host, v.path} {
			if m.Share != nil {
				w = max(w, *m.Share)
			}
		}
		return w
	}
	slices.SortStableFunc(rows, func(a, b viewRow) int { return cmp.Compare(weight(b), weight(a)) })
	var others viewRow
	regions := 0
	rows = slices.DeleteFunc(rows, func(v viewRow) bool {
		_, _, ok := headers.Region(cmp.Or(v.host.Metric, v.path.Metric))
		if !ok {
			return false
		}
		if regions++; regions <= top {
			return false
		}
		others.host, others.path = addMetric(others.host, v.host), addMetric(others.path, v.path)
		return true
	})
	if regions > top {
		others.host.Metric = words.Plural(regions-top, "region", "regions") + " more"
		rows = append(rows, others)
	}
	return rows
}

func addMetric(a, b headers.MetricRow) headers.MetricRow {
	a.Metric, a.TimeNs = cmp.Or(a.Metric, b.Metric), a.TimeNs+b.TimeNs
	if b.Share != nil {
		sum := *b.Share
		if a.Share != nil {
			sum += *a.Share
		}
		a.Share = &sum
	}
	return a
}

// metricTitle returns the name of a metric for the title of a column, where long names have no
// room.
func metricTitle(name string, derived bool) string {
	const room = 18
	if kind, region, ok := headers.Region(name); ok {
		name = kind + text.ShortenRegion(region, room)
	}
	return metricName(name, derived)
}

// printViews prints the two views of the run side by side.
func printViews(r *report.Sections, p *headers.Profile) {
	g := r.Grid(text.Modelled+"Two views of the run", "<metric", "hosts", "share", "path to the end", "share")
	g.Note("Hosts: sums over ranks. Path: wall time, over the messages that were waited for, to the end of the rank that ends last.")
	g.Note("* derived: the trace does not tell it. Unexplained: what transfers take longer than the fastest like them.")
	cells := func(m headers.MetricRow) []string {
		if m.TimeNs == 0 {
			return []string{"-", "-"}
		}
		return []string{words.Time(m.TimeNs), words.ShareOrDash(m.Share)}
	}
	for _, v := range viewRows(p, r.Top) {
		name := metricName(cmp.Or(v.host.Metric, v.path.Metric), v.host.Derived || v.path.Derived)
		g.Add(slices.Concat([]string{name}, cells(v.host), cells(v.path))...)
	}
	r.Show(g)
}

// printSizes prints both views by size of message.
func printSizes(r *report.Sections, p *headers.Profile) {
	titles, groups := []string{"<bytes", "messages", "<view"}, viewGroups(p)
	for _, g := range groups {
		title := g.title
		if title == "copy" || title == "wire" || title == "unexplained" {
			title += derivedMark
		}
		titles = append(titles, title)
	}
	g := r.Grid(text.Modelled+"Two views by size of message", append(titles, "time")...)
	g.Note("Time since the last merge that ends with such a message: of the host that receives it, and of the path that led to it. What ends in a collective is not here.")
	for _, s := range p.Sizes {
		for i, rows := range [][]headers.MetricRow{s.Host, s.Message} {
			cells := []string{sizeName(s.From, s.To), words.Count(s.Messages), "host"}
			if i == 1 {
				cells = []string{"", "", "message"}
			}
			var sum int64
			for _, row := range rows {
				sum += row.TimeNs
			}
			for _, x := range grouped(groups, rows) {
				cells = append(cells, words.Share(x))
			}
			g.Add(append(cells, words.Time(sum))...)
		}
	}
	r.Show(g)
}

// printRanks prints the headers at the end of the run.
func printRanks(r *report.Sections, p *headers.Profile) {
	shown := p.Ranks[:min(len(p.Ranks), r.Top)]
	var metrics, titles []string
	for _, row := range shown {
		for _, c := range row.Counters {
			if !slices.Contains(metrics, c.Metric) {
				metrics, titles = append(metrics, c.Metric), append(titles, metricTitle(c.Metric, c.Derived))
			}
		}
	}
	third := "hops"
	if p.Layout.Bytes == int(headers.Layout96) {
		third = "monitoring"
	}
	g := r.Grid(fmt.Sprintf(text.Modelled+"Headers at the end of the run, %d bytes with %d counters%s", p.Layout.Bytes, p.Layout.Counters, r.Of(len(p.Ranks), "ranks")),
		slices.Concat([]string{"rank", "total", third}, titles, []string{"other"})...)
	g.Note("Wall time, on the path that led to the rank's last event. Hops: messages and acknowledgements that were waited for and, beyond the paper, collectives. -: no counter of its own.")
	for _, row := range shown {
		cells := []string{words.Rank(field.Rank(row.Rank)), words.Time(row.TotalNs), "-"}
		if row.Hops != nil {
			cells[2] = words.Count(*row.Hops)
		} else if row.MonitoringNs != nil {
			cells[2] = words.Time(*row.MonitoringNs)
		}
		for _, name := range metrics {
			cell := "-"
			for _, c := range row.Counters {
				if c.Metric == name {
					cell = words.Time(c.TimeNs)
				}
			}
			cells = append(cells, cell)
		}
		g.Add(append(cells, words.Time(row.OtherNs))...)
	}
	r.Show(g)
	if x := p.Path; x != nil {
		r.Line("Against the critical path: it is %s long; the header of rank %s, which ends last, has %s: %s off. %s of the path it does not name (%s of its own time is in OTHER).",
			words.Time(x.LengthNs), words.Rank(field.Rank(x.Rank)), words.Time(x.HeaderNs), words.ShareOrDash(x.ErrorShare), words.ShareOrDash(x.CompositionErrorShare), words.ShareOrDash(x.OtherShare))
	}
}

// printSampling prints what the two designated ranks read.
func printSampling(r *report.Sections, p *headers.Profile) {
	s := p.Sampling
	if s == nil {
		return
	}
	g := r.Grid(fmt.Sprintf(text.Modelled+"Sampling by rank %d and rank %d, %d and %d hops apart", s.Ranks[0], s.Ranks[1], s.HopLimits[0], s.HopLimits[1]),
		"<round", "readings", "other", "<newly masked", "<counter", "time")
	g.Note("Times are means of the readings, on the path between the two. What is masked is in other.")
	if len(s.Rounds) == 0 {
		fmt.Fprintln(r.W)
		r.Line("Sampling by rank %d and rank %d: no header has come through.", s.Ranks[0], s.Ranks[1])
		return
	}
	var before []string
	for i, round := range s.Rounds {
		masked := slices.DeleteFunc(slices.Clone(round.Masked), func(name string) bool { return slices.Contains(before, name) })
		before = round.Masked
		for k := range max(1, min(len(round.Counters), r.Top), len(masked)) {
			cells := []string{"", "", "", "", "", ""}
			if k == 0 {
				cells = []string{strconv.Itoa(i + 1), words.Count(round.Readings), words.Time(round.OtherNs), "", "", ""}
			}
			if k < len(masked) {
				cells[3] = masked[k]
			}
			if k < min(len(round.Counters), r.Top) {
				c := round.Counters[k]
				cells[4], cells[5] = metricName(c.Metric, c.Derived), words.Time(c.TimeNs)
			}
			g.Add(cells...)
		}
	}
	r.Show(g)
}

// printModel prints what wire and copying were derived from.
func printModel(r *report.Sections, p *headers.Profile) {
	g := r.Grid(text.Modelled+"Derived: what messages cost at least", "<calls", "<side", "floor", "per KiB", "p", "<copying is seen")
	if w := p.Model.Wire; w != nil {
		g.Add("(whole transfer)", "", words.Nanoseconds(w.FloorNs), words.Nanoseconds(1024*w.PerByteNs), "-", "")
	}
	for _, c := range p.Model.Calls {
		p := c.PValue
		g.Add(c.Calls, c.Side, words.Nanoseconds(c.FloorNs), words.Nanoseconds(1024*c.PerByteNs), words.Decimal(&p), yesNo(c.Accepted))
	}
	r.Show(g)
}
