package show

import (
	"fmt"
	"math"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/reduce"
	"tracekit/reduce/pattern"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/measurement"
	"tracekit/topology"
)

// Reduce prints what was cut from a trace, and what that changes, with Top rows in each table.
func Reduce(out *report.Sections, doc *outcome.Reduce) {
	w := out.W
	report.PrintRebuilt(out.W, "", doc.Trace.Rebuilt)
	verb := "would be left"
	if doc.Out != "" {
		verb = "are left"
	}
	fmt.Fprintln(w, text.Wrap(fmt.Sprintf("%s: %s of %s records %s (%s)", doc.Trace.Path, words.Count(doc.Records.After),
		words.Count(doc.Records.Before), verb, words.PartOf(int64(doc.Records.After), int64(doc.Records.Before))), out.Width, 2))
	text.Line(w, "Rules: %s", strings.Join(doc.Rules, "; "))
	fmt.Fprintf(w, "Ranks: %s of %s\n", words.Count(doc.Ranks.After), words.Count(doc.Ranks.Before))
	if doc.Out != "" {
		text.Line(w, "Written: %s (%s), %s of %s", doc.Out, doc.Format, words.Bytes(uint64(*doc.Bytes.After)),
			words.Bytes(uint64(*doc.Bytes.Before)))
		Lost(w, doc.Lost, "not in it: %s %s")
	}
	if doc.Target != nil {
		printTarget(out, doc.Target)
	}
	out.Table(&report.Table{Key: "by_rule", Title: "What the rules cut",
		Note: "Each rule counts separately; several rules may cut one record.",
		Columns: []report.Column{
			{Key: "rule", Title: "rule"},
			{Key: "records", Title: "records", Unit: unit.Count},
			{Title: "share", Unit: unit.Remarks, Value: report.Of(func(r *reduce.RuleCut) any {
				return words.PartOf(int64(r.Records), int64(doc.Records.Before))
			})},
		}}, report.RowsOf(doc.ByRule))
	if k := doc.Kept; k != (reduce.Kept{}) {
		fmt.Fprintln(w)
		if k.Calls > 0 {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("Kept all the same: %s with %s, so that no message loses one end and no collective some of its "+
				"members.", words.Plural(int(k.Calls), "call", "calls"), words.Plural(int(k.Records), "record", "records")), out.Width, 0))
		}
		if k.Messages+k.Partial > 0 {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("Gone with the ranks: both ends of %s with ranks that stay; their members of %s.",
				words.Plural(int(k.Messages), "message", "messages"), words.Plural(int(k.Partial), "collective",
					"collectives")), out.Width, 0))
		}
	}
	if doc.Text != "" {
		fmt.Fprintf(w, "\nWhat the rules say\n")
		for _, line := range strings.Split(strings.TrimRight(doc.Text, "\n"), "\n") {
			text.Line(w, "  %s", line)
		}
	}
	printPatterns(out, doc.Found, doc.Patterns)
	printPatternTimes(out, doc.Times)
	if doc.GridAsked {
		printHops(out, doc.Topology, doc.Hops)
	}
	printBuffers(out, &doc.Model)
	printCertificate(out, doc)
	if len(doc.NewFindings) > 0 {
		report.PrintFindings(w, out.Width, "Findings in the reduced trace that are not in the full one", doc.NewFindings)
	}
	if len(doc.Findings) > 0 {
		report.PrintFindings(w, out.Width, "Findings", doc.Findings)
	}
}

// Difference writes by how much a figure differs.
func Difference(f reduce.Figure) string {
	switch {
	case f.Difference == nil && f.Full == nil:
		return "new"
	case f.Difference == nil:
		return "from 0"
	case f.Reduced == nil && f.Full != nil:
		return "gone"
	case *f.Difference > 0:
		return "+" + words.Share(*f.Difference)
	}
	return words.Share(*f.Difference)
}

// figureText formats a figure by the name of its key.
func figureText(metric string, v *float64) string {
	switch {
	case v == nil:
		return "–"
	case strings.HasSuffix(metric, "_ns") || strings.HasSuffix(metric, "bytes") && *v >= 0:
		return words.OfResult(metric, *v)
	case strings.HasSuffix(metric, "share") || strings.HasSuffix(metric, "efficiency") || strings.HasSuffix(metric, "load_balance"):
		return words.Share(*v)
	case *v == math.Trunc(*v) && math.Abs(*v) < 1<<53:
		return words.Count(int64(*v))
	}
	return words.Number(v)
}

var buffers = &report.Table{Key: "model", Title: "What the measurement would have cost", Columns: []report.Column{
	{Key: "name", Unit: unit.Label},
	{Key: "records", Title: "records", Unit: unit.Count},
	{Key: "bytes", Title: "data", Unit: unit.Bytes},
	{Key: "flushes", Title: "flushes", Unit: unit.Count},
	{Title: "run time", Unit: unit.Remarks, Value: report.Of(func(e *measurement.Effect) any { return "+" + words.ShareOrDash(e.Share) })},
}}

// printBuffers shows what measuring would have cost, beside what the paper has measured.
func printBuffers(out *report.Sections, m *outcome.BufferModel) {
	model := fmt.Sprintf("Model: records of %s in buffers of %s; %s for each flush, %s for each record; disk %s per second for all. "+
		"Flushes: of the rank with the most. Run time: minimum increase.",
		words.Bytes(uint64(m.Record)), words.Bytes(uint64(m.Buffer)), words.Nanoseconds(m.Flush), words.Nanoseconds(m.Event),
		words.Bytes(uint64(m.Disk)))
	out.Table(buffers, []report.Row{{&m.Before, &named{"full"}}, {&m.After, &named{"reduced"}}}, model,
		"Measured on Blue Gene/L (Chung et al., 2006): +100 % at 1,024 processes with everything traced; +10 % at any number with the "+
			"rule of repeating patterns on SOR, 40 times fewer data on SAGE; 1,000 times fewer data with about 100 ranks kept.")
}

func printTarget(out *report.Sections, b *outcome.Target) {
	out.Table(&report.Table{Key: "tries", Title: "Tried for at most " + words.Plural(int(b.Records), "record", "records"),
		Note: "Error: of the certificate, with --require of the figures that it names. Kinds that never reach this size have none. " +
			"Within: estimates from a sample differ by at most this from the run in 95 of 100 samples.", Columns: []report.Column{
			{Key: "family", Title: "kind"},
			{Title: "mildest that fits", Value: report.Of(func(t *reduce.Try) any { return strings.Join(t.Rules, "; ") })},
			{Key: "records", Title: "records", Unit: unit.Count},
			{Key: "error", Title: "error", Unit: unit.Share},
			{Key: "within_share", Title: "within", Unit: unit.Share},
		}}, report.RowsOf(b.Tries))
}

func printCertificate(out *report.Sections, doc *outcome.Reduce) {
	if doc.Error == nil {
		return
	}
	certificate(out, "Certificate: figures of analyze, the worst first", "reduced", doc.Certificate, doc.Error)
	if doc.Again != nil {
		certificate(out, "Certificate of what --regenerate makes of it", "made again", doc.Again.Certificate, &doc.Again.Error)
	}
}

// certificate prints a certificate of a trace that a word tells from the full one.
func certificate(out *report.Sections, heading, which string, figures []reduce.Figure, mean *float64) {
	same, within := 0, 0
	for _, f := range figures {
		switch w := f.Weight(); {
		case w == 0:
			same++
		case w <= 0.01:
			within++
		}
	}
	t := &report.Table{Key: "certificate", Title: heading, Columns: []report.Column{
		{Key: "metric", Title: "figure"},
		{Title: "full", Unit: unit.Remarks, Value: report.Of(func(f *reduce.Figure) any { return figureText(f.Metric, f.Full) })},
		{Title: which, Unit: unit.Remarks, Value: report.Of(func(f *reduce.Figure) any { return figureText(f.Metric, f.Reduced) })},
		{Title: "difference", Unit: unit.Remarks, Value: report.Of(func(f *reduce.Figure) any { return Difference(*f) })},
	}}
	note := fmt.Sprintf("Of %s %s the same and %s within 1 %%. Error: %s, the mean difference, each at most 100 %%. Figures that are "+
		"0 in both are left out.",
		words.Plural(len(figures), "figure", "figures"), are(same), are(within), words.ShareOrDash(mean))
	var shown []reduce.Figure
	for _, f := range figures {
		if f.Weight() > 0 && len(shown) < out.Top {
			shown = append(shown, f)
		}
	}
	if len(shown) == 0 {
		shown = figures[:min(1, len(figures))]
	}
	out.Table(t, report.RowsOf(shown), note)
	t.Title, shown = "Headlines", nil
	for _, name := range headlines {
		for _, f := range figures {
			if f.Metric == name {
				shown = append(shown, f)
			}
		}
	}
	out.Table(t, report.RowsOf(shown), "Of the whole run, startup included.")
}

// headlines are the figures that are shown however good they are.
var headlines = []string{
	"trace.duration_ns", "efficiency.parallel_efficiency", "efficiency.load_balance", "efficiency.communication_efficiency",
	"messages.count", "messages.bytes", "wait_states.late_sender.time_ns", "wait_states.late_receiver.time_ns",
	"wait_states.wait_at_nxn.time_ns", "wait_states.wait_at_barrier.time_ns",
}

func are(n int) string {
	if n == 1 {
		return "1 is"
	}
	return words.Count(n) + " are"
}

var patterns = &report.Table{Key: "patterns", Title: "What repeats", Columns: []report.Column{
	{Key: "first", Title: "first", Unit: unit.Count},
	{Key: "first_ns", Title: "at", Unit: unit.Time},
	{Key: "period_ns", Title: "period", Unit: unit.Time},
	{Key: "instances", Title: "instances", Unit: unit.Count},
	{Key: "kept", Title: "kept", Unit: unit.Count},
	{Key: "regenerated", Title: "cut", Unit: unit.Count},
}}

// printPatterns prints what repeats.
func printPatterns(out *report.Sections, found *pattern.Result, rows []outcome.Pattern) {
	if found == nil {
		return
	}
	if len(rows) == 0 {
		fmt.Fprintln(out.W, "\n"+text.Wrap("Nothing repeats: there is no call site that all ranks arrive at in turn with the same calls "+
			"between. Try --repeating-marker.", out.Width, 0))
		return
	}
	out.Table(patterns, report.RowsOf(rows[:min(out.Top, len(rows))]), fmt.Sprintf("%s of each rank, from one %s to the next. A pattern "+
		"covers all ranks. First: number of its first interval, from 0. Period: mean length over ranks.",
		words.Plural(found.Intervals, "interval", "intervals"), rows[0].Site))
	var notes []string
	odd := 0
	for _, p := range rows {
		if p.Instances == 1 {
			odd++
		}
	}
	if len(rows) > out.Top {
		notes = append(notes, words.Plural(len(rows)-out.Top, "more pattern", "more patterns"))
	}
	if odd > 0 {
		notes = append(notes, words.Plural(odd, "interval is", "intervals are")+" like no other")
	}
	if found.Refused > 0 {
		notes = append(notes, words.Plural(found.Refused, "interval repeats",
			"intervals repeat")+" others but must stay, since messages, requests or collectives reach across")
	}
	if len(notes) > 0 {
		fmt.Fprintln(out.W, text.Wrap(strings.Join(notes, "; ")+".", out.Width, 0))
	}
}

// printPatternTimes says what is kept of the times of what was cut.
func printPatternTimes(out *report.Sections, t *outcome.PatternTimes) {
	if t == nil {
		return
	}
	said := fmt.Sprintf("Times of what was cut: exact, %s.", words.Bytes(uint64(t.Bytes)))
	if t.Kept == "laws" {
		laws := 0
		for _, n := range t.Laws {
			laws += n
		}
		said = fmt.Sprintf("Times of what was cut are modelled: %s and %s of samples say how long iterations last on each rank without waits "+
			"(%s instead of %s; at most %s for any number of iterations; seed %d). Waits follow from messages. A few iterations and the ends stay "+
			"exact. --repeating-times exact keeps all times.",
			words.Plural(laws, "fitted law", "fitted laws"), words.Plural(t.Empirical, "distribution", "distributions"),
			words.Bytes(uint64(t.Bytes)),
			words.Bytes(uint64(t.ExactBytes)), words.Bytes(uint64(t.BoundBytes)), t.Seed)
	}
	fmt.Fprintln(out.W, text.Wrap(said, out.Width, 0))
}

var hops = &report.Table{Key: "hops", Title: "How far messages go", Columns: []report.Column{
	{Key: "rank", Title: "rank", Unit: unit.Count},
	{Key: "average", Title: "hops", Unit: unit.Number},
	{Key: "torus", Title: "with wrap-around", Unit: unit.Number},
	{Key: "bytes", Title: "sent", Unit: unit.Bytes},
}}

// printHops prints how far messages go.
func printHops(out *report.Sections, by string, rows []topology.Average) {
	if len(rows) == 0 {
		return
	}
	out.Table(hops, report.RowsOf(rows[:min(out.Top, len(rows))]), fmt.Sprintf("By %s: Σ hops·bytes / Σ bytes over messages that a rank "+
		"sends.", by))
	if len(rows) > out.Top {
		fmt.Fprintln(out.W, words.Plural(len(rows)-out.Top, "more rank", "more ranks")+" (--top).")
	}
}

// Regenerate prints what was made again.
func Regenerate(out *report.Sections, doc *outcome.Regenerate) {
	text.Line(out.W, "%s: %s became %s: %s of %s of each rank were made again", doc.Out,
		words.Plural(int(doc.Records.Before), "record", "records"),
		words.Count(doc.Records.After), words.Count(doc.Again), words.Plural(doc.Intervals, "interval", "intervals"))
	said := "each interval begins when it did; times of what was kept are as recorded"
	if doc.Drawn {
		said = "when intervals begin is drawn from laws, but at the ends of what was cut; times of what was kept are as recorded"
	}
	if doc.Clock != nil {
		said = report.ClockLine(doc.Clock)
	}
	text.Line(out.W, "Clock: %s", said)
	text.Line(out.W, "%s", "Calls, partners, sizes and their order are those of the recorded run; times between the beginnings of intervals "+
		"are means of those that were kept.")
	Lost(out.W, doc.Lost, "not in it: %s %s")
	if len(doc.Findings) > 0 {
		report.PrintFindings(out.W, out.Width, "Findings", doc.Findings)
	}
}
