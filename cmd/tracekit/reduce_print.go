package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"tracekit/reduce"
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
		return requirement{}, usagef("--require %q: want 'difference<1%%', or a path into the document of analyze in place of difference", s)
	}
	limit, err := strconv.ParseFloat(m[3], 64)
	if err != nil || math.IsNaN(limit) || limit < 0 {
		return requirement{}, usagef("--require %q: %q is no share", s, m[3])
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
				r.text, formatCount(worse), plural(covered, "figure", "figures"), worst))
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
		return "+" + formatShare(*f.Difference)
	}
	return formatShare(*f.Difference)
}

// figureText formats a figure by the name of its key.
func figureText(metric string, v *float64) string {
	switch {
	case v == nil:
		return "–"
	case strings.HasSuffix(metric, "_ns") || strings.HasSuffix(metric, "bytes") && *v >= 0:
		return resultText(metric, *v)
	case strings.HasSuffix(metric, "share") || strings.HasSuffix(metric, "efficiency") || strings.HasSuffix(metric, "load_balance"):
		return formatShare(*v)
	case *v == math.Trunc(*v) && math.Abs(*v) < 1<<53:
		return formatCount(int64(*v))
	}
	return number(v)
}

func (doc *reduceDocument) print(io *streams, opts *reduceOptions) {
	w, top := io.Out, opts.top
	printRebuilt(io, "", doc.Trace.Rebuilt)
	verb := "would be left"
	if doc.Out != "" {
		verb = "are left"
	}
	printLine(w, "%s: %s of %s records %s (%s)", doc.Trace.Path, formatCount(doc.Records.After), formatCount(doc.Records.Before), verb,
		share(int64(doc.Records.After), int64(doc.Records.Before)))
	printLine(w, "Rules: %s", strings.Join(doc.Rules, "; "))
	fmt.Fprintf(w, "Ranks: %s of %s\n", formatCount(doc.Ranks.After), formatCount(doc.Ranks.Before))
	if doc.Out != "" {
		printLine(w, "Written: %s (%s), %s of %s", doc.Out, doc.Format, formatBytes(uint64(*doc.Bytes.After)), formatBytes(uint64(*doc.Bytes.Before)))
		for _, what := range sortedKeys(doc.Lost) {
			printLine(w, "  not in it: %s %s", formatCount(doc.Lost[what]), what)
		}
	}
	if doc.Target != nil {
		doc.Target.print(io)
	}
	g := &grid{heading: "What the rules cut", titles: []string{"<rule", "records", "share"}}
	g.note("Each rule for itself; a record may be cut by several.")
	for _, r := range doc.ByRule {
		g.add(r.Rule, formatCount(r.Records), share(int64(r.Records), int64(doc.Records.Before)))
	}
	g.print(w, io.Width)
	if k := doc.Kept; k != (reduce.Kept{}) {
		fmt.Fprintln(w)
		if k.Calls > 0 {
			fmt.Fprintln(w, wrap(fmt.Sprintf("Kept all the same: %s with %s, so that no message loses one end and no collective some of its members.",
				plural(int(k.Calls), "call", "calls"), plural(int(k.Records), "record", "records")), io.Width, 0))
		}
		if k.Messages+k.Partial > 0 {
			fmt.Fprintln(w, wrap(fmt.Sprintf("Gone with the ranks: both ends of %s with ranks that stay; their members of %s.",
				plural(int(k.Messages), "message", "messages"), plural(int(k.Partial), "collective", "collectives")), io.Width, 0))
		}
	}
	if doc.Text != "" {
		fmt.Fprintf(w, "\nWhat the rules say\n")
		for _, line := range strings.Split(strings.TrimRight(doc.Text, "\n"), "\n") {
			printLine(w, "  %s", line)
		}
	}
	opts.printPatterns(io, doc.Patterns, top)
	opts.printHops(io, doc.Hops, top)
	doc.Model.print(io)
	doc.printCertificate(io, top)
	if len(doc.NewFindings) > 0 {
		printFindings(w, io.Width, "Findings in the reduced trace that are not in the full one", doc.NewFindings)
	}
	if len(doc.Findings) > 0 {
		printFindings(w, io.Width, "Findings", doc.Findings)
	}
}

// print shows what measuring would have cost, beside what the paper has measured.
func (m *bufferModel) print(io *streams) {
	g := &grid{heading: "What the measurement would have cost", titles: []string{"<", "records", "data", "flushes", "run time"}}
	g.note(fmt.Sprintf("A model: records of %s in buffers of %s, %s for each flush of a full one, %s for each record; the disk takes %s a second from all. "+
		"Flushes are those of the rank with the most, run time is by how much the run is longer at least.",
		formatBytes(uint64(m.Record)), formatBytes(uint64(m.Bytes)), nanoseconds(m.Flush*1e9), nanoseconds(m.Event*1e9), formatBytes(uint64(m.Disk))))
	for _, e := range []struct {
		name string
		reduce.Effect
	}{{"full", m.Before}, {"reduced", m.After}} {
		g.add(e.name, formatCount(e.Records), formatBytes(e.Bytes), formatCount(e.Flushes), "+"+orDash(e.Share))
	}
	g.note("Measured on Blue Gene/L (Chung et al., 2006): +100 % at 1,024 processes with everything traced; +10 % at any number with the rule of " +
		"repeating patterns on SOR, 40 times fewer data on SAGE; 1,000 times fewer data with about 100 ranks kept.")
	g.print(io.Out, io.Width)
}

func (b *targetBlock) print(io *streams) {
	g := &grid{heading: fmt.Sprintf("Tried for at most %s", plural(int(b.Records), "record", "records")), titles: []string{"<kind", "<mildest that fits", "records", "error"}}
	g.note("The error is that of the certificate. Kinds that are never that small have none.")
	for _, x := range b.Tries {
		g.add(x.Family, strings.Join(x.Rules, "; "), formatCount(x.Records), orDash(x.Error))
	}
	g.print(io.Out, io.Width)
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
	g := &grid{heading: heading, titles: []string{"<figure", "full", which, "difference"}}
	g.note(fmt.Sprintf("Of %s %s the same and %s within 1 %%. Error: %s, the mean of the differences, each at most 100 %%, "+
		"without figures that are 0 in both.",
		plural(len(figures), "figure", "figures"), are(same), are(within), orDash(mean)))
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
		g.add(f.Metric, figureText(f.Metric, f.Full), figureText(f.Metric, f.Reduced), differenceText(f))
	}
	g.print(io.Out, io.Width)
	g = &grid{heading: "Headlines", titles: []string{"<figure", "full", which, "difference"}}
	for _, name := range headlines {
		for _, f := range figures {
			if f.Metric == name {
				g.add(f.Metric, figureText(f.Metric, f.Full), figureText(f.Metric, f.Reduced), differenceText(f))
			}
		}
	}
	g.print(io.Out, io.Width)
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
	return formatCount(n) + " are"
}
