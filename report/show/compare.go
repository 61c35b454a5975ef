package show

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tracekit/document"
	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/stats/compare"
)

// Compare prints how two sides differ, with Top rows in each table.
func Compare(out *report.Sections, doc *outcome.Compare) {
	w := out.W
	out.Marks = true
	report.PrintRebuilt(out.W, "A is ", doc.A.Rebuilt)
	report.PrintRebuilt(out.W, "B is ", doc.B.Rebuilt)
	for _, s := range []struct {
		name, path string
		runs       int
		events     uint64
		duration   int64
	}{{"A", doc.A.Path, doc.RunsA, doc.A.Events, doc.A.DurationNs}, {"B", doc.B.Path, doc.RunsB, doc.B.Events, doc.B.DurationNs}} {
		more := ""
		if s.runs > 1 {
			more = fmt.Sprintf(", first of %d runs", s.runs)
		}
		if s.name == "A" && doc.Baseline != "" {
			more += ", from " + doc.Baseline
		}
		fmt.Fprintln(w, text.Wrap(fmt.Sprintf("%s  %s%s: %s events, %s", s.name, s.path, more, words.Count(s.events), words.Time(s.duration)),
			out.Width, 3))
	}
	if few := fewRuns(doc.RunsA); few != "" && doc.Baseline != "" {
		fmt.Fprintln(w, text.Wrap("! Baseline: "+few, out.Width, 2))
	}
	for _, reason := range doc.Comparable.Reasons {
		fmt.Fprintln(w, text.Wrap("! The runs differ in shape: "+reason, out.Width, 2))
	}
	fmt.Fprintln(w, text.Wrap(verdict(doc), out.Width, 0))
	for _, l := range losses(doc) {
		fmt.Fprintln(w, text.Wrap(fmt.Sprintf("! %s: %s.", l.said, l.lost), out.Width, 2))
	}
	printEfficiencies(out, doc)
	printChanges(out, doc)
	out.Table(results, report.RowsOf(doc.Results))
	if doc.Paired != nil {
		records(out, &doc.Records)
	}
	report.PrintFindings(w, out.Width, "Findings in A", doc.FindingsA)
	report.PrintFindings(w, out.Width, "Findings in B", doc.FindingsB)
}

// loss says that data of a side are lost, and which.
type loss struct{ said, lost string }

// losses are those of both sides.
func losses(doc *outcome.Compare) (out []loss) {
	for i, findings := range [][]document.Finding{doc.FindingsA, doc.FindingsB} {
		if lost := report.LossesOf(findings); lost != "" {
			out = append(out, loss{fmt.Sprintf("Data of %c are lost or doubtful, which may be the difference", 'A'+i), lost})
		}
	}
	return out
}

// verdict says in a sentence or two whether the runs differ.
func verdict(doc *outcome.Compare) string {
	r, judged := doc.Run, 0
	for i := range doc.Changes {
		if doc.Changes[i].Significant != nil {
			judged++
		}
	}
	text := fmt.Sprintf("Total rank time: %s in both.", words.Nanoseconds(r.A))
	if r.Change == nil && r.B != r.A {
		text = fmt.Sprintf("A has no time at all, B has %s.", words.Nanoseconds(r.B))
	}
	if r.Change != nil && r.B != r.A {
		change := fmt.Sprintf("%+.1f %%", 100**r.Change)
		switch {
		case math.Abs(*r.Change) < 0.0005:
			change = "less than 0.1 % apart"
		case *r.Change >= manyTimes:
			change = fmt.Sprintf("×%.3g", *r.Change+1)
		}
		text = fmt.Sprintf("Total rank time: %s in A, %s in B (%s", words.Nanoseconds(r.A), words.Nanoseconds(r.B), change)
		switch {
		case !doc.Comparable.Alike:
			text += "). The runs differ in shape: this does not tell which is faster."
		case r.Significant == nil:
			text += "). Too few iterations tell whether that is noise."
		case *r.Significant:
			text += ", beyond noise)."
		default:
			text += ", within noise)."
		}
	}
	switch {
	case judged == 0:
		return text + " No place has iterations enough to judge by."
	case doc.Significant == 0 && r.BeyondNoise():
		return text + fmt.Sprintf(" It is spread out: none of %s changed by more than noise alone.",
			words.Plural(judged, "time of places", "times of places"))
	case doc.Significant == 0:
		return text + fmt.Sprintf(" None of %s changed by more than noise.", words.Plural(judged, "time of places", "times of places"))
	}
	return text + fmt.Sprintf(" %d of %s changed by more than noise.", doc.Significant,
		words.Plural(judged, "time of places", "times of places"))
}

var efficiencies = &report.Table{Key: "efficiencies", Columns: []report.Column{
	{Unit: unit.Label, Value: report.Of(func(e *compare.Efficiency) any { return strings.ReplaceAll(e.Name, "_", " ") })},
	{Key: "a", Title: "A", Unit: unit.Points},
	{Key: "b", Title: "B", Unit: unit.Points},
	{Key: "change", Title: "points", Unit: unit.Gained},
	{Key: "noise", Title: "± noise", Unit: unit.Points},
}}

func printEfficiencies(out *report.Sections, doc *outcome.Compare) {
	t := *efficiencies
	if !slices.ContainsFunc(doc.Efficiencies, func(e compare.Efficiency) bool { return e.Noise != nil }) {
		t.Columns = t.Columns[:len(t.Columns)-1]
	}
	t.Title = "Efficiencies in %, "
	ofThreads := func(e compare.Efficiency) bool { return e.Name == "thread_efficiency" }
	switch threads := slices.ContainsFunc(doc.Efficiencies, ofThreads); {
	case doc.Startup || threads && len(doc.Efficiencies) == 1:
		t.Title += "whole run"
	case threads:
		t.Title += "MPI_Init to MPI_Finalize (threads: whole run)"
	default:
		t.Title += "MPI_Init to MPI_Finalize"
	}
	out.Table(&t, report.RowsOf(doc.Efficiencies))
}

// changesTable makes a table of changes, whose values have the mark of a model where their side was rebuilt.
func changesTable(doc *outcome.Compare, title, note string) *report.Table {
	side := func(rebuilt *document.Rebuilt, ns func(*compare.Change) float64) func(report.Row) any {
		return report.Of(func(c *compare.Change) any { return report.Mark(rebuilt) + words.Nanoseconds(ns(c)) })
	}
	return &report.Table{Key: "changes", Title: title, Note: note, Columns: []report.Column{
		{Title: "place", Value: report.Of(func(c *compare.Change) any { return words.Place(c.SourceLine) })},
		{Title: "operation", Value: report.Of(func(c *compare.Change) any { return cmp.Or(string(c.Operation), "(outside MPI)") })},
		{Title: "what", Value: report.Of(func(c *compare.Change) any { return quantity(c) })},
		{Title: "A", Unit: unit.Remarks, Value: side(doc.A.Rebuilt, func(c *compare.Change) float64 { return c.A })},
		{Title: "B", Unit: unit.Remarks, Value: side(doc.B.Rebuilt, func(c *compare.Change) float64 { return c.B })},
		{Title: "change", Unit: unit.Remarks, Value: report.Of(func(c *compare.Change) any { return changeText(c) })},
		{Key: "noise", Title: "± noise", Unit: unit.Share},
		{Key: "weight_ns", Title: "weight", Unit: unit.Mean},
		{Title: "ranks", Value: report.Of(func(c *compare.Change) any { return rankList(c.Ranks) })},
	}}
}

// printChanges prints the changes that count and, below them, the largest of the others.
func printChanges(out *report.Sections, doc *outcome.Compare) {
	count, rest := split(doc.Changes)
	out.Table(changesTable(doc, "What changed, more than noise: sums over ranks, the heaviest first",
		"Weight: size of the change; outside MPI, plus the change of waits that the place causes. Waits come last, because they follow "+
			"from other changes."), report.RowsOf(count[:min(out.Top, len(count))]))
	out.Table(changesTable(doc, "Within noise, too small, or too rare to judge (largest first)", ""),
		report.RowsOf(rest[:min(out.Top, len(rest))]))
}

// split returns the changes that count and, of the others, those in which anything changed.
func split(changes []compare.Change) (count, rest []compare.Change) {
	for _, c := range changes {
		switch {
		case c.BeyondNoise():
			count = append(count, c)
		case c.A != c.B:
			rest = append(rest, c)
		}
	}
	return count, rest
}

// quantity writes what of a place changed.
func quantity(c *compare.Change) string {
	if c.Kind == compare.KindWait {
		return "wait"
	}
	return "own time"
}

// manyTimes is the change from which on it is told as a factor, not in per cent.
const manyTimes = 10

// changeText writes the change of a place.
func changeText(c *compare.Change) string {
	if c.Change == nil {
		return "new"
	}
	return signedShare(*c.Change)
}

// signedShare writes a share with its sign.
func signedShare(x float64) string {
	switch {
	case math.Abs(x) < 0.0005:
		return "0.0 %"
	case x >= manyTimes:
		return fmt.Sprintf("×%.3g", x+1)
	}
	return fmt.Sprintf("%+.1f %%", 100*x)
}

// mostRanks is how many ranges of ranks a cell of a table has.
const mostRanks = 3

// rankList writes ranks as --ranks takes them; none are all.
func rankList(ranks []uint32) string {
	if len(ranks) == 0 {
		return "all"
	}
	var parts []string
	for i := 0; i < len(ranks); {
		k := i
		for k+1 < len(ranks) && ranks[k+1] == ranks[k]+1 {
			k++
		}
		part := strconv.Itoa(int(ranks[i]))
		if k > i {
			part += "-" + strconv.Itoa(int(ranks[k]))
		}
		if parts = append(parts, part); len(parts) > mostRanks {
			return strings.Join(parts[:mostRanks], ",") + ",…"
		}
		i = k + 1
	}
	return strings.Join(parts, ",")
}

// markedResult writes a value of a result, with the mark of a model if one made it.
func markedResult(name string, x float64, modelled bool) string {
	if modelled {
		return text.Modelled + words.OfResult(name, x)
	}
	return words.OfResult(name, x)
}

var results = &report.Table{Key: "results", Title: "Results", Note: "Of the whole run, startup included.", Columns: []report.Column{
	{Key: "name", Unit: unit.Label},
	{Title: "A", Unit: unit.Remarks, Value: report.Of(func(r *outcome.ResultChange) any { return markedResult(r.Name, r.A, r.ModelledA) })},
	{Title: "B", Unit: unit.Remarks, Value: report.Of(func(r *outcome.ResultChange) any { return markedResult(r.Name, r.B, r.ModelledB) })},
	{Key: "change", Title: "change", Unit: unit.Share},
}}

// A named row says what the next one in a chain is of.
type named struct {
	Name string `json:"name"`
}

var spreads = &report.Table{Key: "spreads", Title: "Differences, B - A", Columns: []report.Column{
	{Key: "name", Unit: unit.Label},
	{Key: "count", Title: "records", Unit: unit.Count},
	{Key: "min_ns", Title: "least", Unit: unit.Time},
	{Key: "mean_ns", Title: "mean", Unit: unit.Mean},
	{Key: "max_ns", Title: "most", Unit: unit.Time},
	{Key: "sigma_ns", Title: "σ", Unit: unit.Mean},
	{Key: "spread_ns", Title: "spread", Unit: unit.Mean},
	{Key: "fwhm_ns", Title: "full width at half maximum", Unit: unit.Mean},
}}

// records prints the spreads, and the quality factors if there are any.
func records(out *report.Sections, r *outcome.Records) {
	w := out.W
	fmt.Fprintf(w, "\nRecords: %s in both, %s only in A, %s only in B\n",
		words.Count(r.Paired.Paired), words.Count(r.Paired.OnlyA), words.Count(r.Paired.OnlyB))
	var rows []report.Row
	for i, s := range []*outcome.Spread{r.Position, r.Block} {
		if s != nil {
			rows = append(rows, report.Row{&named{[]string{"position", "block"}[i]}, s})
		}
	}
	out.Table(spreads, rows)
	if q := r.Quality; q != nil {
		text.Line(w, "Quality factors against %s: position %s, block %s", q.Repeat, words.Decimal(q.PositionFactor),
			words.Decimal(q.BlockFactor))
	}
	if r.Statistics != nil {
		out.Table(qualities, report.RowsOf(r.Statistics))
	}
}

var qualities = &report.Table{Key: "statistics",
	Title: "Events, and what statistics of them make again: spreads, and quality factors against both runs",
	Columns: []report.Column{
		{Title: "traces", Value: report.Of(func(q *outcome.QualityRow) any { return q.A + " - " + q.B })},
		{Key: "paired", Title: "paired", Unit: unit.Count},
		{Key: "position_spread_ns", Title: "position", Unit: unit.Mean},
		{Title: "factor", Value: report.Of(func(q *outcome.QualityRow) any { return words.Decimal(q.PositionFactor) })},
		{Key: "block_spread_ns", Title: "block", Unit: unit.Mean},
		{Title: "factor", Value: report.Of(func(q *outcome.QualityRow) any { return words.Decimal(q.BlockFactor) })},
	}}

// fixed writes a number with a factor and so many decimals, "-" if it is not known.
func fixed(x *float64, factor float64, decimals int) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(factor**x, 'f', decimals, 64)
}
