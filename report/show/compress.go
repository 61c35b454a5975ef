package show

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"tracekit/document/outcome"
	"tracekit/document/words"
	"tracekit/formulae"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/report/unit"
)

// Compress prints what a compressed file, of a name, has of the trace.
func Compress(out *report.Sections, doc *outcome.Compress, output string) {
	s, w := doc.Sizes, out.W
	report.PrintRebuilt(out.W, "Compressed was a trace that was ", doc.Rebuilt)
	fmt.Fprintf(w, "%s: %s of %s", text.Plain(output), words.Bytes(uint64(s.File)), words.Bytes(uint64(s.Trace)))
	if s.File > 0 {
		fmt.Fprintf(w, ", %.1f to 1", float64(s.Trace)/float64(s.File))
	}
	fmt.Fprintln(w)
	fmt.Fprintf(w, "  structure %s, times %s, definitions %s", words.Bytes(uint64(s.Structure)),
		words.Bytes(uint64(s.Times)), words.Bytes(uint64(s.Definitions)))
	if s.Bound != nil {
		fmt.Fprintf(w, "; bound for any length of a run with these formulae %s", words.Bytes(uint64(*s.Bound)))
	}
	fmt.Fprintf(w, "\n  %s with %s\n", words.Plural(doc.Ranks.Ranks, "location", "locations"),
		words.Plural(doc.Ranks.RankClasses, "different sequence of events", "different sequences of events"))
	if doc.Error.Time.Max > 0 {
		fmt.Fprintf(w, "  times are off by at most %s, %s in the mean\n", words.Time(doc.Error.Time.Max),
			words.Nanoseconds(doc.Error.Time.Mean))
	}
	if x := doc.Exact; x != nil {
		fmt.Fprintf(w, "  events kept exactly at %s of %s, formulae at the others; %s of %s exact\n", words.Count(x.Locations),
			words.Plural(doc.Ranks.Ranks, "location", "locations"), words.Count(x.Kept), words.Plural(int(x.Messages), "message", "messages"))
	}
	printStatistics(doc, w)
	if l := doc.Learned; l != nil {
		out.Table(learnedTable, learnedRows(l))
		heading := "Not learned; the file keeps it as it is"
		if doc.Statistics != nil {
			heading = lostHeading
		}
		printUnlearned(out, heading, doc.Unlearned)
		if doc.Unseen > 0 {
			said := fmt.Sprintf("Not looked at for formulae: %s (leaves without an enter, or beyond what is kept of a call tree)",
				words.Plural(int(doc.Unseen), "event", "events"))
			fmt.Fprintf(w, "\n%s\n", text.Wrap(said, out.Width, 2))
		}
	}
	printByMemory(out, doc.ByMemory, "static", func(s formulae.NamedShare) float64 { return s.Static })
	printByMemory(out, doc.ByMemory, "dynamic", func(s formulae.NamedShare) float64 { return s.Dynamic })
	report.PrintFindings(w, out.Width, "Findings", doc.Findings)
}

// printStatistics says what stat mode kept of durations and fields, and what it lost.
func printStatistics(doc *outcome.Compress, w io.Writer) {
	s := doc.Statistics
	if s == nil {
		return
	}
	d := s.Durations
	fmt.Fprintf(w, "  %s of waiting for partners left out, to be made again\n", words.Time(s.WaitedNs))
	if s.Guessed > 0 {
		fmt.Fprintf(w, "  %s whose partners or tags were not learned: they will be guessed\n",
			words.Plural(int(s.Guessed), "message", "messages"))
	}
	if d.Kept == formulae.Laws.String() {
		fmt.Fprintf(w, "  durations: fitted laws for %s of the calls and %s of the time, quantiles of samples for %s and %s, means for the "+
			"rest\n", words.Share(d.Fitted.Calls), words.Share(d.Fitted.Time), words.Share(d.Sampled.Calls), words.Share(d.Sampled.Time))
	}
	if f := s.Fields; f.Constructs > 0 {
		fmt.Fprintf(w, "  %s of arguments and attributes, %s learned\n", words.Plural(int(f.Constructs), "sequence", "sequences"),
			words.Share(f.Static))
	}
	if s.Disordered > 0 {
		fmt.Fprintf(w, "  %s whose order was not learned: it will be made up\n", words.Plural(int(s.Disordered), "event", "events"))
	}
	if s.DroppedEvents+s.DroppedAttributes > 0 {
		fmt.Fprintf(w, "  not kept: %s, %s\n", words.Plural(int(s.DroppedEvents), "event", "events"),
			words.Plural(int(s.DroppedAttributes), "attribute", "attributes"))
	}
}

var learnedTable = &report.Table{Key: "learned",
	Title: "Learned: static is the share of constructs, dynamic weighs them by how often they took place",
	Columns: []report.Column{
		{Title: "sequences", Value: report.Of(func(s *formulae.NamedShare) any { return s.Name })},
		{Key: "constructs", Title: "constructs", Unit: unit.Count},
		{Key: "static", Title: "static", Unit: unit.Share},
		{Key: "dynamic", Title: "dynamic", Unit: unit.Share},
		{Key: "by_kind.identity", Title: "identity", Unit: unit.Count},
		{Key: "by_kind.general", Title: "general", Unit: unit.Count},
		{Key: "by_kind.iteration", Title: "iteration", Unit: unit.Count},
		{Key: "by_kind.cycle", Title: "cycle", Unit: unit.Count},
		{Key: "by_kind.failed", Title: "not learned", Unit: unit.Count},
	}}

// learnedRows are the categories that have any construct.
func learnedRows(l *formulae.Learned) []report.Row {
	return report.RowsOf(slices.DeleteFunc(withPaper(l), func(s formulae.NamedShare) bool { return s.Constructs == 0 }))
}

// withPaper returns the shares of all categories, after the paper's six these together.
func withPaper(l *formulae.Learned) []formulae.NamedShare {
	const papers = 6 // categories, the first ones
	return slices.Insert(l.All(), papers, formulae.NamedShare{Name: "all these", Share: &l.Paper})
}

// lostHeading is said of what a file of formulae alone does not hold.
const lostHeading = "Not learned: what is rebuilt there is not what was recorded"

// printUnlearned lists what was not learned.
func printUnlearned(out *report.Sections, heading string, list []formulae.Unlearned) {
	out.Table(&report.Table{Key: "unlearned", Title: heading, Columns: []report.Column{
		{Key: "category", Title: "sequences"},
		{Title: "call path", Value: report.Of(func(u *formulae.Unlearned) any {
			return atSite(cmp.Or(strings.Join(u.CallPath, "/"), "(location)"), u.Site)
		})},
		{Title: "locations", Unit: unit.Count, Value: report.Of(func(u *formulae.Unlearned) any { return len(u.Locations) })},
		{Key: "values", Title: "values", Unit: unit.Count},
		{Title: "learned before", Unit: unit.Share, Value: report.Of(func(u *formulae.Unlearned) any {
			return float64(u.Described) / float64(max(u.Values, 1))
		})},
		{Key: "messages", Title: "of messages", Unit: unit.Share},
		{Key: "bytes", Title: "of bytes", Unit: unit.Share},
	}}, report.RowsOf(list))
}

// A memoryRow is what was learned of a category with each memory allowed.
type memoryRow struct {
	Name   string    `json:"name"`
	Shares []float64 `json:"shares"`
}

// printByMemory prints a row for each category and a column for each memory allowed.
func printByMemory(out *report.Sections, rows []formulae.MemoryRow, what string, share func(formulae.NamedShare) float64) {
	t := &report.Table{Title: "Learned share (" + what + ") against the memory allowed, in terms",
		Columns: []report.Column{{Key: "name", Title: "sequences"}}}
	var list []memoryRow
	for i := range rows {
		t.Columns = append(t.Columns, report.Column{Key: fmt.Sprintf("shares.%d", i), Title: strconv.Itoa(rows[i].Terms), Unit: unit.Share})
		for _, s := range withPaper(&rows[i].Learned) {
			if s.Constructs == 0 {
				continue
			}
			at := slices.IndexFunc(list, func(r memoryRow) bool { return r.Name == s.Name })
			if at < 0 {
				at, list = len(list), append(list, memoryRow{Name: s.Name})
			}
			list[at].Shares = append(list[at].Shares, share(s))
		}
	}
	out.Table(t, report.RowsOf(list))
}

// atSite returns a name with where it is called, if that is known.
func atSite(name, site string) string {
	if site == "" {
		return name
	}
	return name + " (" + site + ")"
}
