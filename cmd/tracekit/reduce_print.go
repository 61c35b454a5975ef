package main

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"tracekit/document/words"
	"tracekit/reduce"
	"tracekit/report"
	"tracekit/report/text"
)

// A requirement is a bound for the differences of the figures of a certificate.
type requirement struct {
	text  string
	path  string // of figures: a path and all below it; "": all figures
	limit float64
	equal bool // the limit itself is allowed
}

var requirementForm = regexp.MustCompile(`^\s*(.*[^<=\s])\s*(<=|<)\s*([0-9.eE+-]+)\s*(%?)\s*$`)

func parseRequirement(s string) (requirement, error) {
	m := requirementForm.FindStringSubmatch(s)
	if m == nil {
		return requirement{}, errors.New("want 'difference<1%', or a path into the document of analyze in place of difference")
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(limit) || limit < 0 {
		return requirement{}, fmt.Errorf("%q is no share", m[3])
	}
	if m[4] == "%" {
		limit /= 100
	}
	r := requirement{text: s, path: m[1], limit: limit, equal: m[2] == "<="}
	if r.path == "difference" {
		r.path = ""
	}
	return r, nil
}

// covers reports whether a requirement is about a figure.
func (r requirement) covers(metric string) bool {
	rest, ok := strings.CutPrefix(metric, r.path)
	return ok && (r.path == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// holds reports whether a figure is as good as required.
func (r requirement) holds(f reduce.Figure) bool {
	if f.Difference == nil {
		return false
	}
	d := math.Abs(*f.Difference)
	return d < r.limit || r.equal && d == r.limit
}

// failing returns a line for each requirement that does not hold.
func (doc *reduceDocument) failing(requirements []requirement) (reasons []string, err error) {
	for _, r := range requirements {
		covered, worse, worst := 0, 0, ""
		for _, f := range doc.Certificate {
			if !r.covers(f.Metric) {
				continue
			}
			covered++
			if !r.holds(f) {
				if worse++; worse == 1 {
					worst = f.Metric + " by " + differenceText(f)
				}
			}
		}
		if covered == 0 {
			return nil, usagef("--require %s: the certificate has no figure %s", r.text, r.path)
		}
		if worse > 0 {
			reasons = append(reasons, fmt.Sprintf("--require %s: %s of %s differ by more; the worst is %s",
				r.text, words.Count(worse), words.Plural(covered, "figure", "figures"), worst))
		}
	}
	return reasons, nil
}

func differenceText(f reduce.Figure) string {
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

func (doc *reduceDocument) print(io *streams, opts *reduceOptions) {
	w, top := io.Out, opts.top
	report.PrintRebuilt(io.Out, "", doc.Trace.Rebuilt)
	verb := "would be left"
	if doc.Out != "" {
		verb = "are left"
	}
	text.Line(w, "%s: %s of %s records %s (%s)", doc.Trace.Path, words.Count(doc.Records.After), words.Count(doc.Records.Before), verb,
		words.PartOf(int64(doc.Records.After), int64(doc.Records.Before)))
	text.Line(w, "Rules: %s", strings.Join(doc.Rules, "; "))
	fmt.Fprintf(w, "Ranks: %s of %s\n", words.Count(doc.Ranks.After), words.Count(doc.Ranks.Before))
	if doc.Out != "" {
		text.Line(w, "Written: %s (%s), %s of %s", doc.Out, doc.Format, words.Bytes(uint64(*doc.Bytes.After)), words.Bytes(uint64(*doc.Bytes.Before)))
		for _, what := range sortedKeys(doc.Lost) {
			text.Line(w, "  not in it: %s %s", words.Count(doc.Lost[what]), what)
		}
	}
	if doc.Target != nil {
		doc.Target.print(io)
	}
	g := &text.Grid{Heading: "What the rules cut", Titles: []string{"<rule", "records", "share"}}
	g.Note("Each rule for itself; a record may be cut by several.")
	for _, r := range doc.ByRule {
		g.Add(r.Rule, words.Count(r.Records), words.PartOf(int64(r.Records), int64(doc.Records.Before)))
	}
	g.Print(w, io.Width)
	if k := doc.Kept; k != (reduce.Kept{}) {
		fmt.Fprintln(w)
		if k.Calls > 0 {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("Kept all the same: %s with %s, so that no message loses one end and no collective some of its members.",
				words.Plural(int(k.Calls), "call", "calls"), words.Plural(int(k.Records), "record", "records")), io.Width, 0))
		}
		if k.Messages+k.Partial > 0 {
			fmt.Fprintln(w, text.Wrap(fmt.Sprintf("Gone with the ranks: both ends of %s with ranks that stay; their members of %s.",
				words.Plural(int(k.Messages), "message", "messages"), words.Plural(int(k.Partial), "collective", "collectives")), io.Width, 0))
		}
	}
	if doc.Text != "" {
		fmt.Fprintf(w, "\nWhat the rules say\n")
		for _, line := range strings.Split(strings.TrimRight(doc.Text, "\n"), "\n") {
			text.Line(w, "  %s", line)
		}
	}
	opts.printPatterns(io, doc.Patterns, top)
	opts.printHops(io, doc.Hops, top)
	doc.Model.print(io)
	doc.printCertificate(io, top)
	if len(doc.NewFindings) > 0 {
		report.PrintFindings(w, io.Width, "Findings in the reduced trace that are not in the full one", doc.NewFindings)
	}
	if len(doc.Findings) > 0 {
		report.PrintFindings(w, io.Width, "Findings", doc.Findings)
	}
}

// print shows what measuring would have cost, beside what the paper has measured.
func (m *bufferModel) print(io *streams) {
	g := &text.Grid{Heading: "What the measurement would have cost", Titles: []string{"<", "records", "data", "flushes", "run time"}}
	g.Note(fmt.Sprintf("A model: records of %s in buffers of %s, %s for each flush of a full one, %s for each record; the disk takes %s a second from all. "+
		"Flushes are those of the rank with the most, run time is by how much the run is longer at least.",
		words.Bytes(uint64(m.Record)), words.Bytes(uint64(m.Bytes)), words.Nanoseconds(m.Flush*1e9), words.Nanoseconds(m.Event*1e9), words.Bytes(uint64(m.Disk))))
	for _, e := range []struct {
		name string
		reduce.Effect
	}{{"full", m.Before}, {"reduced", m.After}} {
		g.Add(e.name, words.Count(e.Records), words.Bytes(e.Bytes), words.Count(e.Flushes), "+"+words.ShareOrDash(e.Share))
	}
	g.Note("Measured on Blue Gene/L (Chung et al., 2006): +100 % at 1,024 processes with everything traced; +10 % at any number with the rule of " +
		"repeating patterns on SOR, 40 times fewer data on SAGE; 1,000 times fewer data with about 100 ranks kept.")
	g.Print(io.Out, io.Width)
}

func (b *targetBlock) print(io *streams) {
	g := &text.Grid{Heading: fmt.Sprintf("Tried for at most %s", words.Plural(int(b.Records), "record", "records")), Titles: []string{"<kind", "<mildest that fits", "records", "error"}}
	g.Note("The error is that of the certificate. Kinds that are never that small have none.")
	for _, x := range b.Tries {
		g.Add(x.Family, strings.Join(x.Rules, "; "), words.Count(x.Records), words.ShareOrDash(x.Error))
	}
	g.Print(io.Out, io.Width)
}

func (doc *reduceDocument) printCertificate(io *streams, top int) {
	if doc.Error == nil {
		return
	}
	printCertificate(io, "Certificate: figures of analyze, the worst first", "reduced", doc.Certificate, doc.Error, top)
	if doc.Again != nil {
		printCertificate(io, "Certificate of what --regenerate makes of it", "made again", doc.Again.Certificate, &doc.Again.Error, top)
	}
}

// printCertificate prints a certificate of a trace that a word tells from the full one.
func printCertificate(io *streams, heading, which string, figures []reduce.Figure, mean *float64, top int) {
	same, within := 0, 0
	for _, f := range figures {
		switch w := f.Weight(); {
		case w == 0:
			same++
		case w <= 0.01:
			within++
		}
	}
	g := &text.Grid{Heading: heading, Titles: []string{"<figure", "full", which, "difference"}}
	g.Note(fmt.Sprintf("Of %s %s the same and %s within 1 %%. Error: %s, the mean of the differences, each at most 100 %%, "+
		"without figures that are 0 in both.",
		words.Plural(len(figures), "figure", "figures"), are(same), are(within), words.ShareOrDash(mean)))
	var shown []reduce.Figure
	for _, f := range figures {
		if f.Weight() > 0 && len(shown) < top {
			shown = append(shown, f)
		}
	}
	if len(shown) == 0 {
		shown = figures[:min(1, len(figures))]
	}
	for _, f := range shown {
		g.Add(f.Metric, figureText(f.Metric, f.Full), figureText(f.Metric, f.Reduced), differenceText(f))
	}
	g.Print(io.Out, io.Width)
	g = &text.Grid{Heading: "Headlines", Titles: []string{"<figure", "full", which, "difference"}}
	for _, name := range headlines {
		for _, f := range figures {
			if f.Metric == name {
				g.Add(f.Metric, figureText(f.Metric, f.Full), figureText(f.Metric, f.Reduced), differenceText(f))
			}
		}
	}
	g.Print(io.Out, io.Width)
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
