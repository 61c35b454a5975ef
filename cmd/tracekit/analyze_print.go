package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"tracekit/stats"
)

// A report prints an analysis for people: the most important first, the top rows of each
// table, units scaled.
type report struct {
	w     io.Writer
	width int
	top   int
	a     *stats.Analysis
}

func (r *report) print() {
	r.header()
	r.findings()
	r.efficiency()
	r.waitStates()
	r.criticalPath()
	r.lines()
	r.overhead()
	r.callSites()
	r.profile()
	r.collectives()
	r.messages()
}

func (r *report) grid(heading string, titles ...string) *grid {
	return &grid{heading: heading, titles: titles}
}

// show prints a table.
func (r *report) show(g *grid) {
	if r.a.Trace.Rebuilt != nil {
		g.markModelled()
	}
	g.print(r.w, r.width)
}

// of tells how many rows a table shows when it does not show all.
func (r *report) of(total int, what string) string {
	if total <= r.top {
		return ""
	}
	return fmt.Sprintf(" (top %d of %s %s)", r.top, formatCount(total), what)
}

func (r *report) header() {
	t := r.a.Trace
	if line := rebuiltLine("", t.Rebuilt); line != "" {
		fmt.Fprintln(r.w, line)
	}
	fmt.Fprintf(r.w, "%s\n", t.Path)
	fmt.Fprintf(r.w, "%s; %s, %s, %s; %s\n", writtenBy(t.Format, t.Creator),
		processes(t), plural(t.Locations, "location", "locations"),
		plural(int(t.Events), "event", "events"), formatTime(t.DurationNs))
	if s := r.a.Selection; s != nil {
		ranks := "all ranks"
		if len(s.Ranks) > 0 {
			ranks = plural(len(s.Ranks), "rank", "ranks")
		}
		fmt.Fprintf(r.w, "Selection: %s, %s to %s\n", ranks,
			formatTime(s.FromNs-t.StartNs), formatTime(s.ToNs-t.StartNs))
	}
	r.clock()
}

// processes tells how many ranks there are, and of how many.
func processes(t stats.TraceInfo) string {
	if t.ProcessesMissing > 0 {
		return fmt.Sprintf("%d of %s", t.Processes-t.ProcessesMissing, plural(t.Processes, "process", "processes"))
	}
	return plural(t.Processes, "process", "processes")
}

func (r *report) clock() {
	fmt.Fprintf(r.w, "Clock: %s\n", formatClock(&r.a.Clock))
}

// formatClock says what was done about the clocks, and how many messages run backwards as
// recorded, with the measured offsets and in the end.
func formatClock(c *stats.Clock) string {
	backwards := func(n uint64) string {
		text := plural(int(n), "message runs", "messages run") + " backwards"
		if c.MinLatencyNs > 0 {
			text += " or faster than " + formatTime(c.MinLatencyNs)
		}
		return text
	}
	var b strings.Builder
	left := c.ViolationsAfter
	switch c.Method {
	case "offsets":
		b.WriteString("measured offsets applied")
		if c.ViolationsRaw > 0 {
			fmt.Fprintf(&b, " (%s as recorded)", backwards(c.ViolationsRaw))
		}
	case "clc":
		fmt.Fprintf(&b, "repaired by the logical clock; as recorded %s by up to %s, with the measured offsets %s",
			backwards(c.ViolationsRaw), formatTime(c.MaxViolationNs), formatCount(c.ViolationsOffsets))
	case "offsets+clc":
		fmt.Fprintf(&b, "measured offsets applied, then repaired by the logical clock; as recorded %s, with the offsets %s by up to %s",
			backwards(c.ViolationsRaw), formatCount(c.ViolationsOffsets), formatTime(c.MaxViolationNs))
	default:
		b.WriteString("as recorded")
		if left > 0 {
			fmt.Fprintf(&b, "; %s by up to %s", backwards(left), formatTime(c.MaxViolationNs))
			left = 0
		}
		if c.ViolationsOffsets != c.ViolationsRaw {
			fmt.Fprintf(&b, "; with the measured offsets %s", backwards(c.ViolationsOffsets))
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "; %s still", backwards(left))
	}
	if c.MaxShiftNs > 0 {
		fmt.Fprintf(&b, "; largest shift %s", formatTime(c.MaxShiftNs))
	}
	return b.String()
}

func (r *report) findings() {
	if len(r.a.Findings) == 0 {
		fmt.Fprintln(r.w, "Sound: nothing to report.")
		return
	}
	printFindings(r.w, "Findings", r.a.Findings)
	if c := r.a.Coverage; c.EventsSkipped > 0 {
		fmt.Fprintf(r.w, "%s of %s could not be used.\n", formatCount(c.EventsSkipped), plural(int(c.EventsRead), "event", "events"))
	}
}

// printFindings writes a line for each finding, which is never shortened.
func printFindings(w io.Writer, heading string, findings []stats.Finding) {
	if len(findings) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	for _, f := range findings {
		fmt.Fprintf(w, "  %-5s %s: %s (%s%s)\n", f.Severity, f.Code, f.Text, plural(int(f.Count), "time", "times"), formatPlace(f.First))
	}
}

// formatPlace names where a finding was first met, with the words that introduce it.
func formatPlace(p *stats.Place) string {
	if p == nil {
		return ""
	}
	var parts []string
	if p.Location != nil {
		parts = append(parts, fmt.Sprintf("location %d event %d", *p.Location, p.Seq))
	}
	if p.File != "" {
		at := string(p.File)
		if p.Offset != nil {
			at += fmt.Sprintf(" byte %d", *p.Offset)
		}
		parts = append(parts, at)
	}
	if len(parts) == 0 {
		return ""
	}
	return ", first in " + strings.Join(parts, ", ")
}

func (r *report) efficiency() {
	e := r.a.Efficiency
	if e == nil {
		return
	}
	without := e.WithoutInitFinalize
	g := r.grid("Efficiency", "<", "whole run", "without MPI_Init and MPI_Finalize")
	row := func(name string, get func(*stats.Ratios) string) {
		second := "-"
		if without != nil {
			second = get(without)
		}
		g.add(name, get(&e.Ratios), second)
	}
	ratio := func(get func(*stats.Ratios) *float64) func(*stats.Ratios) string {
		return func(x *stats.Ratios) string { return orDash(get(x)) }
	}
	row("parallel efficiency", ratio(func(x *stats.Ratios) *float64 { return x.ParallelEfficiency }))
	row("  load balance", ratio(func(x *stats.Ratios) *float64 { return x.LoadBalance }))
	row("  communication efficiency", ratio(func(x *stats.Ratios) *float64 { return x.CommunicationEfficiency }))
	row("    serialization efficiency", ratio(func(x *stats.Ratios) *float64 { return x.SerializationEfficiency }))
	row("    transfer efficiency", ratio(func(x *stats.Ratios) *float64 { return x.TransferEfficiency }))
	row("run time", func(x *stats.Ratios) string { return formatTime(x.RuntimeNs) })
	row("useful time, mean over ranks", func(x *stats.Ratios) string { return formatTime(x.UsefulMeanNs) })
	row("  least", func(x *stats.Ratios) string { return formatExtreme(x.UsefulMin) })
	row("  most", func(x *stats.Ratios) string { return formatExtreme(x.UsefulMax) })
	r.show(g)
	if t := e.WorkerThreads; t != nil {
		fmt.Fprintf(r.w, "%s: useful for %s of %s\n", plural(t.Threads, "worker thread", "worker threads"),
			formatTime(t.UsefulNs), formatTime(t.SpanNs))
	}
}

func (r *report) waitStates() {
	s := r.a.WaitStates
	if s == nil {
		return
	}
	g := r.grid("Wait states (share of all ranks' run time)", "<", "calls", "time", "share", "<longest in", "<called from", "rank", "lasting")
	for k, state := range s.All {
		if state.Count == 0 {
			continue
		}
		title := k.String()
		if k.Info().Part {
			title = "  " + title
		}
		row := []string{title, formatCount(state.Count), formatTime(state.TimeNs), orDash(state.Share), "", "", "", ""}
		if len(state.Top) > 0 {
			t := state.Top[0]
			row[4], row[5], row[6], row[7] = t.Operation, place(t.Region, t.File, t.Line), formatRank(t.Rank), formatTime(t.TimeNs)
		}
		g.add(row...)
	}
	if len(g.rows) == 0 {
		fmt.Fprintln(r.w, "\nWait states: none")
		return
	}
	r.show(g)
}

func (r *report) criticalPath() {
	c := r.a.CriticalPath
	if c == nil {
		return
	}
	g := r.grid(fmt.Sprintf("Critical path, %s%s", formatTime(c.LengthNs), r.of(len(c.Regions), "places")),
		"<operation", "<source line", "time", "share", "imbalance")
	for _, p := range c.Regions[:min(r.top, len(c.Regions))] {
		op := string(p.Operation)
		if op == "" && !strings.HasPrefix(string(p.Region), "(") {
			op = "(outside MPI)"
		}
		g.add(op, place(p.Region, p.File, p.Line), formatTime(p.TimeNs), orDash(p.Share), formatTime(p.ImbalanceNs))
	}
	r.show(g)
}

func (r *report) profile() {
	g := r.grid("Time by region"+r.of(len(r.a.Profile), "regions"), "<region", "<paradigm", "visits", "inclusive", "exclusive", "share",
		"least", "on", "mean per rank", "most", "on")
	var total int64
	for _, p := range r.a.Profile {
		total += p.ExclusiveNs
	}
	for _, p := range r.a.Profile[:min(r.top, len(r.a.Profile))] {
		g.add(p.Region, p.Paradigm, formatCount(p.Count), formatTime(p.InclusiveNs), formatTime(p.ExclusiveNs),
			share(p.ExclusiveNs, total), formatTime(p.MinNs), formatRank(p.MinRank),
			formatTime(p.MeanNs), formatTime(p.MaxNs), formatRank(p.MaxRank))
	}
	r.show(g)
	r.counters()
}

func (r *report) counters() {
	g := r.grid("Counters by region", "<region", "<counter", "samples", "sum", "mean", "minimum", "maximum", "<unit")
	for _, p := range r.a.Profile[:min(r.top, len(r.a.Profile))] {
		for _, c := range p.Counters {
			g.add(p.Region, c.Name, formatCount(c.Samples), number(c.Sum), number(c.Mean), number(c.Min), number(c.Max), c.Unit)
		}
	}
	r.show(g)
}

func (r *report) callSites() {
	g := r.grid("MPI calls by source line"+r.of(len(r.a.CallSites), "sites"), "<operation", "<source line", "calls", "time", "min", "p50", "mean", "p99", "max", "on", "bytes")
	for _, c := range r.a.CallSites[:min(r.top, len(r.a.CallSites))] {
		g.add(c.Operation, place(c.Region, c.File, c.Line), formatCount(c.Calls), formatTime(c.TimeNs), formatTime(c.MinNs),
			formatTime(c.P50Ns), formatTime(c.MeanNs), formatTime(c.P99Ns), formatTime(c.MaxNs), formatRank(c.MaxRank), formatBytes(c.Bytes))
	}
	r.show(g)
}

func (r *report) collectives() {
	g := r.grid("Collectives", "<operation", "instances", "sent", "received", "time", "skew", "transfer", "completion")
	for _, c := range r.a.Collectives[:min(r.top, len(r.a.Collectives))] {
		g.add(c.Operation, formatCount(c.Count), formatBytes(c.BytesSent), formatBytes(c.BytesReceived),
			formatTime(c.TimeNs), formatTime(c.SkewNs), formatTime(c.TransferNs), formatTime(c.CompletionNs))
	}
	r.show(g)
}

func (r *report) messages() {
	m := r.a.Messages
	if m == nil || m.Count+m.UnmatchedSends+m.UnmatchedReceives+m.OutsideSelection+m.Cancelled == 0 {
		return
	}
	fmt.Fprintf(r.w, "\nMessages: %s, %s between %s", formatCount(m.Count), formatBytes(m.Bytes),
		plural(len(r.a.CommMatrix), "pair of ranks", "pairs of ranks"))
	if l := m.Latency; l != nil {
		fmt.Fprintf(r.w, "; "+modelled(r.a.Trace.Rebuilt)+"latency min %s, median %s, mean %s, p99 %s, max %s", formatTime(l.Min),
			formatTime(l.P50), formatTime(l.Mean), formatTime(l.P99), formatTime(l.Max))
	}
	fmt.Fprintln(r.w)
	for _, c := range []struct {
		n    uint64
		what string
	}{
		{m.UnmatchedSends, "sends without a receive"}, {m.UnmatchedReceives, "receives without a send"},
		{m.Cancelled, "cancelled"}, {m.OutsideSelection, "with a partner outside the selection"},
	} {
		if c.n > 0 {
			fmt.Fprintf(r.w, "  %s %s\n", formatCount(c.n), c.what)
		}
	}
	g := r.grid("Message sizes", "from", "to", "messages", "bytes")
	for _, s := range m.Sizes {
		g.add(formatBytes(uint64(s.From)), formatBytes(uint64(s.To)), formatCount(s.Count), formatBytes(s.Bytes))
	}
	r.show(g)
	pairs := r.grid("Heaviest pairs"+r.of(len(r.a.CommMatrix), "pairs"), "from rank", "to rank", "messages", "bytes")
	for _, c := range r.a.CommMatrix[:min(r.top, len(r.a.CommMatrix))] {
		pairs.add(strconv.Itoa(int(c.From)), strconv.Itoa(int(c.To)), formatCount(c.Count), formatBytes(c.Bytes))
	}
	r.show(pairs)
}

func (r *report) lines() {
	g := r.grid("What each source line costs"+r.of(len(r.a.Lines), "lines"), "<operation", "<source line", "calls", "time", "waiting", "overhead", "critical path", "bytes")
	for _, l := range r.a.Lines[:min(r.top, len(r.a.Lines))] {
		overhead := "-"
		if l.OverheadNs != nil {
			overhead = formatTime(*l.OverheadNs)
		}
		g.add(string(l.Operation), place(l.Region, l.File, l.Line), formatCount(l.Calls), formatTime(l.TimeNs),
			formatTime(l.WaitNs), overhead, formatTime(l.CriticalPathNs), formatBytes(l.Bytes))
	}
	g.remark(len(g.rows), func(i int) string {
		if r.a.Lines[i].Unreliable {
			return "overhead unreliable"
		}
		return ""
	})
	r.show(g)
}
