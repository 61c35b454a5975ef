package show

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/compare"
)

// Compare prints how two sides differ, with Top rows in each table.
func Compare(out *report.Sections, doc *outcome.Compare) {
	w := out.W
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
		text.Line(w, "%s  %s%s: %s events, %s", s.name, s.path, more, words.Count(s.events), words.Time(s.duration))
	}
	for _, reason := range doc.Comparable.Reasons {
		fmt.Fprintln(w, text.Wrap("! The runs differ in shape: "+reason, out.Width, 2))
	}
	fmt.Fprintln(w, text.Wrap(verdict(doc), out.Width, 0))
	printEfficiencies(out, doc)
	printChanges(out, doc)
	printResults(out, doc)
	if doc.Paired != nil {
		records(out, &doc.Records)
	}
	report.PrintFindings(w, out.Width, "Findings in A", doc.FindingsA)
	report.PrintFindings(w, out.Width, "Findings in B", doc.FindingsB)
}

// verdict says in a sentence or two whether the runs differ.
func verdict(doc *outcome.Compare) string {
	r, judged := doc.Run, 0
	for i := range doc.Changes {
		if doc.Changes[i].Significant != nil {
			judged++
		}
	}
	text := "All ranks together take as long in both."
	if r.Change == nil && r.B != r.A {
		text = fmt.Sprintf("A has no time at all, B has %s.", words.Nanoseconds(r.B))
	}
	if r.Change != nil && r.B != r.A {
		more := words.Share(math.Abs(*r.Change)) + " more"
		switch {
		case r.B < r.A:
			more = words.Share(math.Abs(*r.Change)) + " less"
		case *r.Change >= manyTimes:
			more = fmt.Sprintf("%.3g times as much", *r.Change+1)
		}
		text = fmt.Sprintf("All ranks together take %s time in B, %s and %s", more, words.Nanoseconds(r.A), words.Nanoseconds(r.B))
		switch {
		case !doc.Comparable.Alike:
			text += "; as the runs differ in shape, this does not tell which is faster."
		case r.Significant == nil:
			text += "; whether that is noise, too few iterations tell."
		case *r.Significant:
			text += ": more than noise."
		default:
			text += ": no more than noise."
		}
	}
	switch {
	case judged == 0:
		return text + " No place has iterations enough to judge by."
	case doc.Significant == 0 && r.Significant != nil && *r.Significant:
		return text + fmt.Sprintf(" It is spread out: none of %s changed by more than noise alone.",
			words.Plural(judged, "time of places", "times of places"))
	case doc.Significant == 0:
		return text + fmt.Sprintf(" None of %s changed by more than noise.", words.Plural(judged, "time of places", "times of places"))
	}
	return text + fmt.Sprintf(" %d of %s changed by more than noise.", doc.Significant,
		words.Plural(judged, "time of places", "times of places"))
}

func printEfficiencies(out *report.Sections, doc *outcome.Compare) {
	heading := "Efficiencies, whole run"
	if !doc.Startup && slices.ContainsFunc(doc.Efficiencies, func(e compare.Efficiency) bool { return e.Name != "thread_efficiency" }) {
		heading = "Efficiencies, MPI_Init to MPI_Finalize (threads: whole run)"
	}
	g := &text.Grid{Heading: heading, Titles: []string{"<", "A", "B", "points"}}
	noise := false
	for _, e := range doc.Efficiencies {
		noise = noise || e.Noise != nil
	}
	if noise {
		g.Titles = append(g.Titles, "± noise")
	}
	for _, e := range doc.Efficiencies {
		cells := []string{strings.ReplaceAll(e.Name, "_", " "), fixed(e.A, 100, 2), fixed(e.B, 100, 2), withSign(e.Change, 100)}
		if noise {
			cells = append(cells, fixed(e.Noise, 100, 2))
		}
		g.Add(cells...)
	}
	g.Print(out.W, out.Width)
}

// withSign writes a number with its sign and two decimals, "-" if it is not known.
func withSign(x *float64, factor float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%+.2f", factor**x)
}

// printChanges prints the changes that count and, below them, the largest of the others.
func printChanges(out *report.Sections, doc *outcome.Compare) {
	titles := []string{"<place", "<operation", "<what", "A", "B", "change", "± noise", "weight", "<ranks"}
	count := &text.Grid{Heading: "What changed, more than noise: sums over ranks, the heaviest first", Titles: titles}
	count.Note("Weight: size of the change; outside MPI, plus the change of waits that the place causes. Waits come last, because " +
		"they follow from other changes.")
	rest := &text.Grid{Heading: "Within noise, too small, or too rare to judge (largest first)", Titles: titles}
	for i := range doc.Changes {
		c := &doc.Changes[i]
		g := rest
		if c.Significant != nil && *c.Significant {
			g = count
		}
		if len(g.Rows) == out.Top || g == rest && c.A == c.B {
			continue
		}
		operation := string(c.Operation)
		if operation == "" {
			operation = "(outside MPI)"
		}
		what := "own time"
		if c.Kind == compare.KindWait {
			what = "wait"
		}
		change := "new"
		if c.Change != nil {
			change = signedShare(*c.Change)
		}
		g.Add(words.Place(c.SourceLine), operation, what, report.Mark(doc.A.Rebuilt)+words.Nanoseconds(c.A),
			report.Mark(doc.B.Rebuilt)+words.Nanoseconds(c.B), change, words.ShareOrDash(c.Noise), words.Nanoseconds(c.WeightNs), rankList(c.Ranks))
	}
	count.Print(out.W, out.Width)
	rest.Print(out.W, out.Width)
}

// manyTimes is the change from which on it is told as a factor, not in per cent.
const manyTimes = 10

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

func printResults(out *report.Sections, doc *outcome.Compare) {
	g := &text.Grid{Heading: "Results", Titles: []string{"<", "A", "B", "change"}}
	for _, r := range doc.Results {
		x, y := words.OfResult(r.Name, r.A), words.OfResult(r.Name, r.B)
		if r.ModelledA {
			x = text.Modelled + x
		}
		if r.ModelledB {
			y = text.Modelled + y
		}
		g.Add(r.Name, x, y, words.ShareOrDash(r.Change))
	}
	g.Print(out.W, out.Width)
}

// records prints the spreads, and the quality factors if there are any.
func records(out *report.Sections, r *outcome.Records) {
	w := out.W
	fmt.Fprintf(w, "\nRecords: %s in both, %s only in A, %s only in B\n",
		words.Count(r.Paired.Paired), words.Count(r.Paired.OnlyA), words.Count(r.Paired.OnlyB))
	g := &text.Grid{Heading: "Differences, B - A", Titles: []string{"<", "records", "least", "mean", "most", "σ", "spread",
		"full width at half maximum"}}
	for _, s := range []struct {
		name string
		s    *outcome.Spread
	}{{"position", r.Position}, {"block", r.Block}} {
		if s.s != nil {
			g.Add(s.name, words.Count(s.s.Count), words.Time(s.s.Min), words.Nanoseconds(s.s.Mean), words.Time(s.s.Max),
				words.Nanoseconds(s.s.Sigma), words.Nanoseconds(s.s.Spread), words.Nanoseconds(s.s.FWHM))
		}
	}
	g.Print(w, out.Width)
	if q := r.Quality; q != nil {
		text.Line(w, "Quality factors against %s: position %s, block %s", q.Repeat, words.Decimal(q.PositionFactor),
			words.Decimal(q.BlockFactor))
	}
}

// fixed writes a number with a factor and so many decimals, "-" if it is not known.
func fixed(x *float64, factor float64, decimals int) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(factor**x, 'f', decimals, 64)
}
