package show

import (
	"cmp"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/sample"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/studies/sampling"
)

// Sample prints what configurations of sampling would have seen, with Top rows in each table.
func Sample(r *report.Sections, d *sampling.Document, clock document.Clock) {
	r.Analysis = &document.Analysis{Trace: d.Trace, Selection: d.Selection, Clock: clock, Findings: d.Findings}
	results := d.Results()
	r.Sites = slices.ContainsFunc(d.Categories, func(c sample.CategoryRow) bool {
		return c.Send != nil && (c.Send.Region != "" || c.Send.File != "")
	})
	r.Header()
	r.Findings()
	printPopulation(r, d)
	if d.Population.Messages > 0 {
		r.Table(configurations, rowsOf(results))
		printSampleEstimates(r, results)
		printSampledRanks(r, results)
		for _, x := range results {
			if x.Settings.Analysis != sampling.Off.String() {
				printCategories(r, x)
			}
		}
		printAnalyses(r, results)
		printCosts(r, d)
		printPlan(r, d.Plan)
		printSweep(r, d.Sweep)
	}
}

func printPopulation(r *report.Sections, d *sampling.Document) {
	p := d.Population
	if p.Messages == 0 {
		r.Line("There is nothing to sample: no point-to-point message takes part.")
		return
	}
	r.Line("Population: %s with %s, in %s, sent by %s", words.Plural(int(p.Messages), "message", "messages"), words.Bytes(p.Bytes),
		words.Plural(p.Categories, "category", "categories"), words.Plural(len(d.Sampled.Ranks), "rank", "ranks"))
	if x := d.Restriction; x != nil {
		r.Line("Restricted: %s take no part", words.Plural(int(x.Skipped), "send", "sends"))
	}
	if p.Unmatched > 0 {
		r.Line("%s: nothing can be learned of them, sampled or not", words.Plural(int(p.Unmatched), "send that nobody receives",
			"sends that nobody receives"))
	}
	if p.Pooled > 0 {
		r.Line("%s in pooled categories: a rank has too many to tell all apart", words.Plural(int(p.Pooled), "message", "messages"))
	}
}

var configurations = &report.Table{Key: "configurations", Title: "Configurations",
	Note: "Categories: share that was seen. Messages: share in seen categories. After a pause: share of sampled messages, and of " +
		"all. Latency, bytes: error of sampled means. p: χ² test against a random sample.",
	Columns: []report.Column{
		{Key: "configuration", Title: "configuration"},
		{Key: "sampled.messages", Title: "sampled", Unit: unit.Count},
		{Key: "sampled.share", Title: "share", Unit: unit.Share},
		{Key: "coverage.categories", Title: "categories", Unit: unit.Share},
		{Key: "coverage.messages", Title: "messages", Unit: unit.Share},
		{Title: "after pause", Unit: unit.Share, Modelled: true,
			Value: report.Of(func(x *sampling.Result) any { return x.Bias.AfterPause.Sampled })},
		{Title: "of all", Unit: unit.Share, Value: report.Of(func(x *sampling.Result) any { return x.Bias.AfterPause.Population })},
		{Title: "latency", Unit: unit.Remarks, Modelled: true, Value: report.Of(func(x *sampling.Result) any { return off(x.Bias.MeanError) })},
		{Title: "bytes", Unit: unit.Remarks, Value: report.Of(func(x *sampling.Result) any { return off(x.Bias.MeanBytesError) })},
		{Title: "p", Unit: unit.Remarks, Value: report.Of(func(x *sampling.Result) any { return probability(x.Bias.PValue) })},
		{Title: "like random", Value: report.Of(func(x *sampling.Result) any { return likeRandom(x) })},
	}}

// likeRandom says whether a sample is like a random one.
func likeRandom(x *sampling.Result) string {
	switch b := x.Bias.Biased; {
	case b != nil && *b:
		return "no: biased"
	case b != nil:
		return "yes"
	case x.Sampled.Messages == x.Population.Messages:
		return "all sampled"
	case x.Sampled.Messages == 0:
		return "none sampled"
	}
	return "too few to tell"
}

// probability returns a p-value, "-" if there is none.
func probability(p *float64) string {
	if p != nil && *p < 1e-6 {
		return "<1e-6"
	}
	return words.Decimal(p)
}

// off returns a relative error in per cent, with its sign.
func off(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%+.1f %%", 100**x)
}

func printSampleEstimates(r *report.Sections, results []*sampling.Result) {
	g := r.Grid(text.Modelled+"What the sample says of all messages", "<configuration", "<of", "estimate", "95 % from", "to", "truth",
		"error", "<how")
	g.Note("No interval: not valid here. Counted: a counter knows the number of sends. Naive: estimated like counters, without " +
		"justification.")
	for _, x := range results {
		e := &x.Estimates
		number := func(v float64) string { return words.Count(int64(v + 0.5)) }
		for i, row := range []struct {
			of     string
			e      *sample.Estimate
			format func(float64) string
		}{
			{"messages", &e.Messages, number},
			{"bytes", &e.Bytes, func(v float64) string { return words.Bytes(uint64(max(v, 0))) }},
			{"latency", &e.Latency, words.Nanoseconds},
			{"latency, sends counted", e.Counted, words.Nanoseconds},
		} {
			if row.e == nil {
				continue
			}
			cells := []string{"", row.of}
			if i == 0 {
				cells[0] = x.Configuration
			}
			for _, v := range []*float64{row.e.Estimate, row.e.Low, row.e.High} {
				if v == nil {
					cells = append(cells, "-")
				} else {
					cells = append(cells, row.format(*v))
				}
			}
			how := ""
			if i == 0 {
				how = map[sample.Method]string{sample.HorvitzThompson: "Horvitz–Thompson", sample.Counted: "counted",
					sample.Naive: "naive", sample.Nothing: "nothing is sampled"}[e.Method]
			}
			g.Add(append(cells, row.format(float64(row.e.True)), off(row.e.Error), how)...)
		}
	}
	r.Show(g)
}

// A senderRow is what a rank has sampled with each configuration.
type senderRow struct {
	sample.RankRow
	By []uint64 `json:"by"`
}

// printSampledRanks prints the paper's figure 9: messages sampled per rank.
func printSampledRanks(r *report.Sections, results []*sampling.Result) {
	t := &report.Table{Key: "ranks", Title: "Messages sampled by sender", What: "ranks", Columns: []report.Column{
		{Key: "rank", Title: "rank", Unit: unit.Rank},
		{Key: "population", Title: "sent", Unit: unit.Count},
	}}
	rows := make([]senderRow, len(results[0].Sampled.Ranks))
	for n, x := range results {
		t.Columns = append(t.Columns, report.Column{Key: fmt.Sprintf("by.%d", n), Title: x.Configuration, Unit: unit.Count})
		for i, rank := range x.Sampled.Ranks {
			rows[i].RankRow, rows[i].By = rank, append(rows[i].By, rank.Sampled)
		}
	}
	r.Table(t, report.RowsOf(rows))
}

// printCategories prints the paper's figure 12: categories with the distribution of their
// latencies in decades, or what STAT knows of them.
func printCategories(r *report.Sections, x *sampling.Result) {
	shown := x.Categories[:min(len(x.Categories), r.Top)]
	titles := []string{"<identifier", "from→to", "bytes", "<sent by", "<received by", "of all", "sampled", text.Modelled + "mean off"}
	var classes []sample.DecadeRow
	for _, c := range shown {
		for _, f := range c.Freq {
			if !slices.ContainsFunc(classes, func(o sample.DecadeRow) bool { return decadeName(o) == decadeName(f) }) {
				classes = append(classes, f)
			}
		}
	}
	slices.SortFunc(classes, func(a, b sample.DecadeRow) int { return cmp.Compare(start(a), start(b)) })
	if x.Settings.Analysis == sampling.Freq.String() {
		for _, f := range classes {
			titles = append(titles, decadeName(f))
		}
	} else {
		titles = append(titles, "mean", text.Modelled+"min", text.Modelled+"max")
	}
	g := r.Grid(fmt.Sprintf("%s%s: categories with the most messages%s", report.Mark(r.Analysis.Trace.Rebuilt), x.Configuration,
		r.Of(len(x.Categories), "categories")), titles...)
	latencies := "of latencies the mean, minimum and maximum"
	if x.Settings.Analysis == sampling.Freq.String() {
		latencies = "how many have a latency in the decade that begins where the column says"
	}
	g.Note("Identifiers: first 8 digits. Share of all messages and of the sample. Error of the sampled mean latency, and " + latencies +
		". Never seen: " + words.Plural(len(x.Bias.NeverSeen), "category", "categories") + ".")
	for _, c := range shown {
		cells := []string{c.ID[:8], words.Rank(c.From) + "→" + words.Rank(c.To), words.Bytes(c.Bytes), siteName(c.Send), receiveName(&c),
			words.Share(c.Share), words.ShareOrDash(c.SampledShare), off(c.MeanError)}
		if x.Settings.Analysis == sampling.Freq.String() {
			for _, class := range classes {
				n := uint64(0)
				for _, f := range c.Freq {
					if decadeName(f) == decadeName(class) {
						n = f.Count
					}
				}
				cells = append(cells, words.Count(n))
			}
		} else if s := c.Stat; s != nil {
			cells = append(cells, words.Time(s.TotalNs/int64(s.Count)), words.Time(s.MinNs), words.Time(s.MaxNs))
		} else {
			cells = append(cells, "-", "-", "-")
		}
		g.Add(cells...)
	}
	r.Show(g)
}

// start returns where a decade begins, -1 for times below 0.
func start(f sample.DecadeRow) int64 {
	if f.From == nil {
		return -1
	}
	return *f.From
}

// decadeName names a decade by its begin.
func decadeName(f sample.DecadeRow) string {
	if f.From == nil {
		return "below 0"
	}
	for _, u := range []struct {
		ns   int64
		unit string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if *f.From >= u.ns {
			return fmt.Sprintf("%d %s", *f.From/u.ns, u.unit)
		}
	}
	return fmt.Sprintf("%d ns", *f.From)
}

// receiveName names the site of a receive: where that is the place of the send, by its operation alone.
func receiveName(c *sample.CategoryRow) string {
	if c.Receive != nil && c.Send != nil && c.Receive.SourceLine == c.Send.SourceLine {
		return string(c.Receive.Operation)
	}
	return siteName(c.Receive)
}

func siteName(s *sample.SiteRow) string {
	if s == nil {
		return "(pooled)"
	}
	name := string(s.Operation)
	if at := words.Place(s.SourceLine); s.Region != "" || s.File != "" {
		name += " in " + at
	}
	return name
}

func printAnalyses(r *report.Sections, results []*sampling.Result) {
	g := r.Grid(text.Modelled+"What the sample alone says of wait states and overhead", "<configuration", "<of", "<where", "estimate",
		"95 % from", "to", "all messages", "in truth")
	g.Note("Sums over ranks. All messages: each counted alone, although a call only waits for the latest one. Overhead: of sending " +
		"and completing calls, with thresholds of the whole trace.")
	orNone := func(v *float64) string {
		if v == nil {
			return "-"
		}
		return words.Nanoseconds(*v)
	}
	for _, x := range results {
		a := x.Analyses
		if a == nil {
			continue
		}
		name := x.Configuration
		for i, row := range []sample.AnalysisRow{a.LateSender, a.LateReceiver} {
			g.Add(name, []string{"late sender", "late receiver"}[i], "", orNone(row.Estimate), orNone(row.Low), orNone(row.High),
				words.Time(row.Messages), words.Time(row.True))
			name = ""
		}
		for _, row := range a.Overhead[:min(len(a.Overhead), r.Top)] {
			g.Add("", "overhead", siteName(&row.SiteRow), orNone(row.Estimate), "-", "-", words.Time(row.Messages), words.Time(row.True))
		}
	}
	r.Show(g)
}

// printCosts prints what sampling would have cost, and what the paper measured.
func printCosts(r *report.Sections, d *sampling.Document) {
	r.Table(&report.Table{Key: "costs", Title: "What sampling would have cost", Columns: []report.Column{
		{Key: "configuration", Title: "configuration"},
		{Title: "small message", Unit: unit.Remarks,
			Value: report.Of(func(x *sampling.Result) any { return microseconds(x.Model.BaselineUs) })},
		{Title: "with sampling", Unit: unit.Remarks,
			Value: report.Of(func(x *sampling.Result) any { return microseconds(x.Model.WithSamplingUs) })},
		{Title: "run time", Unit: unit.Remarks, Value: report.Of(func(x *sampling.Result) any {
			if x.Model.Slowdown == nil {
				return "-"
			}
			return "+" + words.Share(*x.Model.Slowdown-1)
		})},
		{Title: "in the paper", Unit: unit.Remarks, Value: report.Of(func(x *sampling.Result) any {
			if x.Model.PaperUs == nil {
				return "-"
			}
			return microseconds(*x.Model.PaperUs)
		})},
	}}, rowsOf(d.Results()), fmt.Sprintf("%s for each message up to %s, %s for a random number, %s to read the clock; %s if sampled, %s with "+
		"WRITE. Run time: replayed with these costs.", microseconds(d.Costs.Layer/1000), words.Bytes(uint64(d.Costs.Limit)),
		microseconds(d.Costs.Draw/1000), microseconds(d.Costs.Clock/1000),
		microseconds(d.Costs.Sample/1000), microseconds(d.Costs.Write/1000)))
	r.Table(&report.Table{Key: "paper", Title: "The paper's ping-pong of 4 bytes, and this model of it", Columns: []report.Column{
		{Key: "configuration", Title: "configuration"},
		{Title: "measured", Unit: unit.Remarks, Value: report.Of(func(p *sample.PaperRow) any { return microseconds(p.MeasuredUs) })},
		{Title: "model", Unit: unit.Remarks, Value: report.Of(func(p *sample.PaperRow) any { return microseconds(p.ModelUs) })},
	}}, report.RowsOf(d.Paper))
}

// rowsOf makes rows of results.
func rowsOf(results []*sampling.Result) (rows []report.Row) {
	for _, x := range results {
		rows = append(rows, report.Row{x})
	}
	return rows
}

func printPlan(r *report.Sections, p *sampling.Plan) {
	if p == nil {
		return
	}
	rows := p.Rows
	if at := slices.IndexFunc(rows, func(x sampling.PlanRow) bool { return x.Reaches }); at >= 0 {
		rows = rows[max(0, at-r.Top/2):] // around the chosen one
	}
	r.Table(&report.Table{Key: "plan", Title: "Plan: " + p.Goal, Columns: []report.Column{
		{Key: "configuration", Title: "configuration"},
		{Title: "cost", Unit: unit.Remarks, Value: report.Of(func(x *sampling.PlanRow) any { return fmt.Sprintf("%.2f µs", x.CostUs) })},
		{Key: "share", Title: "share", Unit: unit.Share},
		{Key: "messages_error", Title: "messages", Unit: unit.Share},
		{Key: "bytes_error", Title: "bytes", Unit: unit.Share},
		{Key: "latency_error", Title: "latency", Unit: unit.Share},
		{Unit: unit.Label, Value: report.Of(func(x *sampling.PlanRow) any {
			switch {
			case x.Configuration == p.Chosen:
				return "← the cheapest that reaches it"
			case x.Reaches:
				return "reaches it"
			}
			return ""
		})},
	}}, report.RowsOf(rows[:min(len(rows), r.Top)]), fmt.Sprintf("Cheapest first. Cost: mean for a small message. Errors: 19 of %d seeds "+
		"stay within; -: some seeds sample nothing.", p.Seeds))
	if p.Chosen == "" {
		r.Line("No configuration of the grid reaches the goal on this trace.")
	}
}

func microseconds(v float64) string { return fmt.Sprintf("%.1f µs", v) }
