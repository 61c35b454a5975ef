package show

import (
	"fmt"

	"tracekit/document/words"
	"tracekit/report"
	"tracekit/report/text"
	"tracekit/stats/studies/headers"
)

// HeadersComparison prints how two profiles of messages differ, with Top rows in each table.
func HeadersComparison(r *report.Sections, c *headers.Comparison) {
	r.Line("A: %s, %s", c.A.Path, words.Time(c.A.DurationNs))
	r.Line("B: %s, %s", c.B.Path, words.Time(c.B.DurationNs))
	for _, x := range []struct {
		title, note string
		rows        []headers.MetricChange
	}{
		{"Path to the end", "Wall time along awaited messages, to the end of the last rank. * estimated, not recorded.", c.Message},
		{"Transfers on the path beyond what messages need", "", c.Transfers},
		{"Calls on the path beyond what they need", "", c.Calls},
		{"Hosts", "Sums over ranks.", c.Host},
	} {
		if len(x.rows) == 0 {
			continue
		}
		g := r.Grid(text.Modelled+x.title+r.Of(len(x.rows), "metrics"), "<metric", "A", "share", "B", "share", "change")
		if x.note != "" {
			g.Note(x.note)
		}
		for _, m := range x.rows[:min(len(x.rows), r.Top)] {
			g.Add(metricName(m.Metric, m.Derived), words.Time(m.ANs), words.ShareOrDash(m.ShareA), words.Time(m.BNs), words.ShareOrDash(m.ShareB),
				signed(m.ChangeNs))
		}
		r.Show(g)
	}
	if len(c.Counters) > 0 {
		g := r.Grid(text.Modelled+"Headers of the ranks that end last, and the next paths", "<counter", "A", "margin", "B", "margin")
		g.Note("Margin: how much earlier the run would end without the counter, at least. -: no counter of its own.")
		for _, x := range c.Counters {
			g.Add(metricName(x.Metric, x.Derived), words.TimeOrDash(x.ANs), words.TimeOrDash(x.MarginANs), words.TimeOrDash(x.BNs),
				words.TimeOrDash(x.MarginBNs))
		}
		r.Show(g)
	}
	for k, m := range c.Model {
		if m.Wire != nil {
			r.Line("Transfers of %s need at least %s.", []string{"A", "B"}[k], lawOf(m))
		}
	}
}

// lawOf writes the law of transfers.
func lawOf(m headers.Model) string {
	line := func(l headers.LineRow) string {
		return fmt.Sprintf("%s and %s per KiB", words.Nanoseconds(l.FloorNs), words.Nanoseconds(1024*l.PerByteNs))
	}
	if b := m.Bend; b != nil && b.Accepted {
		return fmt.Sprintf("%s up to %s, %s from %s", line(b.Eager), words.Bytes(b.AboveBytes), line(b.Rendezvous), words.Bytes(b.FromBytes))
	}
	return line(*m.Wire)
}
