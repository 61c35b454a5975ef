package show

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/figure"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/studies/headers"
)

// Headers prints a profile of messages and the analysis that it was made beside, with Top rows in each table.
func Headers(r *report.Sections, p *headers.Profile, a document.Analysis) {
	a.Selection = p.Selection
	r.Analysis = &a
	r.Sites = r.Located()
	r.Header()
	r.Findings()
	printViews(r, p)
	printBeyond(r, p)
	printSizes(r, p)
	printRanks(r, p)
	printMargins(r, p)
	printSampling(r, p)
	printModel(r, p)
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
	g.Note("Hosts: sums over ranks. Path: wall time along awaited messages, to the end of the last rank.")
	g.Note("* estimated, not recorded.")
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

// evidence says what each part of the excess on the path is.
var evidence = map[string]string{
	"queued":        "Queued: behind earlier messages of the channel or into the receiver.",
	"late progress": "Late progress: until the partner entered MPI; messages of that size need it there.",
	"system": "System: both ranks are on one node, without a network, and in MPI or not needed there; or a call needs no other " +
		"rank.",
	"network or system": "Network or system: both ranks are on two nodes, and in MPI or not needed there.",
}

// printBeyond prints what explains the time that transfers and calls on the path took beyond what they need.
func printBeyond(r *report.Sections, p *headers.Profile) {
	b := p.Beyond
	if b == nil || b.TransfersNs+b.CallsNs == 0 {
		return
	}
	whole := p.Path.LengthNs
	g := r.Grid(text.Modelled+"Time on the path beyond what messages and calls need", "<part", "transfers", "share of path", "calls",
		"share of path")
	add := func(name string, transfers, calls int64) {
		g.Add(name, words.Time(transfers), words.PartOf(transfers, whole), words.Time(calls), words.PartOf(calls, whole))
	}
	for _, x := range b.Parts {
		if x.TransfersNs+x.CallsNs == 0 {
			continue
		}
		add(metricName(x.Metric, true), x.TransfersNs, x.CallsNs)
		if note := evidence[x.Metric]; note != "" {
			g.Note(note)
		}
	}
	add("sum", b.TransfersNs, b.CallsNs)
	r.Show(g)
	for _, m := range b.Missing {
		switch m.Record {
		case headers.MissingNode:
			r.Line("Unexplained for %s: the trace does not record which node the ranks run on.", words.Time(m.TimeNs))
		case headers.MissingProgress:
			r.Line("Unexplained for %s: too few messages show whether one of that size needs its sender or receiver in MPI.", words.Time(m.TimeNs))
		}
	}
	if l := b.Local; l.NeedNs > 0 {
		r.Line("Calls that need no other rank (MPI_Isend, MPI_Irecv): %s calls took %s, %s times their fastest. %s", words.Count(l.Calls),
			words.Time(l.TimeNs), fmt.Sprintf("%.3g", float64(l.TimeNs)/float64(l.NeedNs)), map[bool]string{
				true: "So the system held ranks up.", false: ""}[l.TimeNs >= heldUp*l.NeedNs])
	}
}

// heldUp is how many times what they need local calls take at least where ranks do not run all the time.
const heldUp = 2

// printSizes prints both views by size of message.
func printSizes(r *report.Sections, p *headers.Profile) {
	titles, groups := []string{"<bytes", "messages", "<view"}, figure.ViewGroups(p)
	groups = slices.DeleteFunc(groups, func(g figure.ViewGroup) bool {
		return !slices.ContainsFunc(p.Sizes, func(s headers.SizeRow) bool {
			return slices.ContainsFunc(slices.Concat(s.Host, s.Message), g.Holds)
		})
	})
	for _, g := range groups {
		title := g.Title
		if g.Derived {
			title += derivedMark
		}
		titles = append(titles, title)
	}
	g := r.Grid(text.Modelled+"Two views by size of message", append(titles, "time")...)
	g.Note("Time between merges that end with such a message: of the receiving host, and of the path to it. Intervals that end in a " +
		"collective are not included.")
	for _, s := range p.Sizes {
		for i, rows := range [][]headers.MetricRow{s.Host, s.Message} {
			cells := []string{figure.SizeName(s.From, s.To), words.Count(s.Messages), "host"}
			if i == 1 {
				cells = []string{"", "", "message"}
			}
			var sum int64
			for _, row := range rows {
				sum += row.TimeNs
			}
			for _, x := range figure.Grouped(groups, rows) {
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
	g := r.Grid(fmt.Sprintf(text.Modelled+"Headers at the end of the run, %d bytes with %d counters%s", p.Layout.Bytes, p.Layout.Counters,
		r.Of(len(p.Ranks), "ranks")),
		slices.Concat([]string{"rank", "total", third}, titles, []string{"other"})...)
	g.Note("Wall time on the path to the last event of the rank. Hops: awaited messages, acknowledgements and (not in the paper) " +
		"collectives. -: no counter of its own.")
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
		r.Line("Against the critical path: it is %s long; the header of rank %s, which ends last, has %s: %s off. %s of the path it does not "+
			"name (%s of its own time is in OTHER).",
			words.Time(x.LengthNs), words.Rank(field.Rank(x.Rank)), words.Time(x.HeaderNs), words.ShareOrDash(x.ErrorShare),
			words.ShareOrDash(x.CompositionErrorShare), words.ShareOrDash(x.OtherShare))
	}
}

// printMargins prints the header of the rank that ends last beside the next path.
func printMargins(r *report.Sections, p *headers.Profile) {
	if p.Path == nil {
		return
	}
	g := r.Grid(fmt.Sprintf(text.Modelled+"Header of rank %s and the next path", words.Rank(field.Rank(p.Path.Rank))), "<counter", "time",
		"margin", "of the counter")
	g.Note("Margin: how much earlier the run would end without the counter, at least. Then another path is longer at some merge.")
	for _, row := range p.Ranks {
		if row.Rank != p.Path.Rank {
			continue
		}
		for _, c := range row.Counters {
			g.Add(metricName(c.Metric, c.Derived), words.Time(c.TimeNs), words.Time(*c.MarginNs), words.PartOf(*c.MarginNs, c.TimeNs))
		}
		r.Show(g)
	}
}

// printSampling prints what the two designated ranks read.
func printSampling(r *report.Sections, p *headers.Profile) {
	s := p.Sampling
	if s == nil {
		return
	}
	g := r.Grid(fmt.Sprintf(text.Modelled+"Sampling by rank %d and rank %d, %d and %d hops apart", s.Ranks[0], s.Ranks[1], s.HopLimits[0],
		s.HopLimits[1]),
		"<round", "readings", "other", "<newly masked", "<counter", "time")
	g.Note("Times are means of the readings on the path between the two ranks. Masked metrics are in other.")
	if len(s.Rounds) == 0 {
		fmt.Fprintln(r.W)
		r.Line("Sampling by rank %d and rank %d: no header arrived.", s.Ranks[0], s.Ranks[1])
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

var costs = &report.Table{Key: "calls", Title: "Derived: what messages cost at least", Modelled: true, Columns: []report.Column{
	{Key: "calls", Title: "calls"},
	{Key: "side", Title: "side"},
	{Key: "floor_ns", Title: "floor", Unit: unit.Mean},
	{Title: "per KiB", Unit: unit.Mean, Value: report.Of(func(c *headers.CallRow) any { return 1024 * c.PerByteNs })},
	{Title: "p", Unit: unit.Decimal, Value: report.Of(func(c *headers.CallRow) any {
		if c.Side == "" { // of the wire nothing is tested
			return nil
		}
		return c.PValue
	})},
	{Title: "copying is seen", Value: report.Of(func(c *headers.CallRow) any {
		if c.Side == "" {
			return ""
		}
		return yesNo(c.Accepted)
	})},
}}

// printModel prints what wire and copying were derived from.
func printModel(r *report.Sections, p *headers.Profile) {
	var rows []report.Row
	if w := p.Model.Wire; w != nil {
		rows = append(rows, report.Row{&headers.CallRow{Calls: "(whole transfer)", FloorNs: w.FloorNs, PerByteNs: w.PerByteNs}})
	}
	if b := p.Model.Bend; b != nil && b.Accepted {
		rows = []report.Row{{&headers.CallRow{Calls: "(transfer up to " + words.Bytes(b.AboveBytes) + ", eager)", FloorNs: b.Eager.FloorNs,
			PerByteNs: b.Eager.PerByteNs}},
			{&headers.CallRow{Calls: "(transfer from " + words.Bytes(b.FromBytes) + ", rendezvous)", FloorNs: b.Rendezvous.FloorNs,
				PerByteNs: b.Rendezvous.PerByteNs}}}
	}
	r.Table(costs, append(rows, report.RowsOf(p.Model.Calls)...))
	switch b := p.Model.Bend; {
	case p.Model.Wire == nil:
	case b == nil:
		r.Line("One law for all transfers: there are %d classes of message sizes, and two laws (eager, rendezvous) need %d.", p.Model.Sizes,
			p.Model.SizesForBend)
	case b.Accepted:
		r.Line("The law of transfers changes between %s and %s (F-test: p = %s).", words.Bytes(b.AboveBytes), words.Bytes(b.FromBytes),
			words.Decimal(&b.PValue))
	default:
		r.Line("One law for all transfers: two laws, best with a change between %s and %s, are no better (F-test: p = %s).",
			words.Bytes(b.AboveBytes), words.Bytes(b.FromBytes), words.Decimal(&b.PValue))
	}
}
