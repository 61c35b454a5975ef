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
	printStatistics(doc, w)
	if l := doc.Learned; l != nil {
		learnedGrid(l).Print(w, out.Width)
		heading := "Not learned; the file keeps it as it is"
		if doc.Statistics != nil {
			heading = lostHeading
		}
		unlearnedGrid(heading, doc.Unlearned).Print(w, out.Width)
		if doc.Unseen > 0 {
			fmt.Fprintf(w, "\nNot looked at for formulae: %s (leaves without an enter, or beyond what is kept of a location's call tree)\n",
				words.Plural(int(doc.Unseen), "event", "events"))
		}
	}
	byMemoryGrid(doc.ByMemory, "static", func(s formulae.NamedShare) float64 { return s.Static }).Print(w, out.Width)
	byMemoryGrid(doc.ByMemory, "dynamic", func(s formulae.NamedShare) float64 { return s.Dynamic }).Print(w, out.Width)
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
		fmt.Fprintf(w, "  durations: fitted laws for %s of the calls and %s of the time, quantiles of samples for %s and %s, means for the rest\n",
			words.Share(d.Fitted.Calls), words.Share(d.Fitted.Time), words.Share(d.Sampled.Calls), words.Share(d.Sampled.Time))
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

func learnedGrid(l *formulae.Learned) *text.Grid {
	g := &text.Grid{Heading: "Learned: static is the share of constructs, dynamic weighs them by how often they took place",
		Titles: []string{"<sequences", "constructs", "static", "dynamic", "identity", "general", "iteration", "cycle", "not learned"}}
	for _, s := range withPaper(l) {
		if s.Constructs == 0 {
			continue
		}
		k := s.ByKind
		g.Add(s.Name, words.Count(s.Constructs), words.Share(s.Static), words.Share(s.Dynamic), words.Count(k.Identity),
			words.Count(k.General), words.Count(k.Iteration), words.Count(k.Cycle), words.Count(k.Failed))
	}
	return g
}

// withPaper returns the shares of all categories, after the paper's six these together.
func withPaper(l *formulae.Learned) []formulae.NamedShare {
	const papers = 6 // categories, the first ones
	return slices.Insert(l.All(), papers, formulae.NamedShare{Name: "all these", Share: &l.Paper})
}

// lostHeading is said of what a file of formulae alone does not hold.
const lostHeading = "Not learned: what is rebuilt there is not what was recorded"

// unlearnedGrid lists what was not learned.
func unlearnedGrid(heading string, list []formulae.Unlearned) *text.Grid {
	g := &text.Grid{Heading: heading,
		Titles: []string{"<sequences", "<call path", "locations", "values", "learned before", "of messages", "of bytes"}}
	for _, u := range list {
		g.Add(u.Category, atSite(cmp.Or(strings.Join(u.CallPath, "/"), "(location)"), u.Site), words.Count(len(u.Locations)),
			words.Count(u.Values),
			words.Share(float64(u.Described)/float64(max(u.Values, 1))), words.Share(u.Messages), words.Share(u.Bytes))
	}
	return g
}

// byMemoryGrid has a row for each category and a column for each memory allowed.
func byMemoryGrid(rows []formulae.MemoryRow, what string, share func(formulae.NamedShare) float64) *text.Grid {
	g := &text.Grid{Heading: "Learned share (" + what + ") against the memory allowed, in terms", Titles: []string{"<sequences"}}
	lines := map[string][]string{}
	var names []string
	for i := range rows {
		g.Titles = append(g.Titles, strconv.Itoa(rows[i].Terms))
		for _, s := range withPaper(&rows[i].Learned) {
			if s.Constructs == 0 {
				continue
			}
			if lines[s.Name] == nil {
				names = append(names, s.Name)
				lines[s.Name] = []string{s.Name}
			}
			lines[s.Name] = append(lines[s.Name], words.Share(share(s)))
		}
	}
	for _, name := range names {
		g.Add(lines[name]...)
	}
	return g
}

// atSite returns a name with where it is called, if that is known.
func atSite(name, site string) string {
	if site == "" {
		return name
	}
	return name + " (" + site + ")"
}
