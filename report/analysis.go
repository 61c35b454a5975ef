package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/counter"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/trace"
)

// Sections prints an analysis for people: the most important first, the top rows of each
// table, units scaled.
type Sections struct {
	W        io.Writer
	Width    int
	Top      int
	Analysis *document.Analysis
	Writer   string // the format of the trace, and what wrote it
	Sites    bool   // it is known of some call where it is made
	Marks    bool   // what has the mark of a model keeps it, whatever the analysis is of
}

// Grid begins a table.
func (r *Sections) Grid(heading string, titles ...string) *text.Grid {
	return &text.Grid{Heading: heading, Titles: titles}
}

// Show prints a table. What in its heading, titles and rows has the mark of a model is marked if the trace was rebuilt.
func (r *Sections) Show(g *text.Grid) {
	if !r.Marks && (r.Analysis == nil || r.Analysis.Trace.Rebuilt == nil) {
		unmark(g)
	}
	g.Print(r.W, r.Width)
}

// Line prints a sentence.
func (r *Sections) Line(format string, args ...any) {
	fmt.Fprintln(r.W, text.Wrap(fmt.Sprintf(format, args...), r.Width, 2))
}

// calls names what the tables of calls hold: where nobody calls MPI, those of other
// libraries that pass messages.
func (r *Sections) calls() string {
	if r.Analysis.Efficiency == nil {
		return "Communication calls"
	}
	return "MPI calls"
}

// whole returns what the figures are of: the whole run, or a part of it.
func (r *Sections) whole() string {
	if r.Analysis.Selection != nil {
		return "selection"
	}
	return "whole run"
}

// Of tells how many rows a table shows when it does not show all.
func (r *Sections) Of(total int, what string) string {
	if total <= r.Top {
		return ""
	}
	return fmt.Sprintf(" (top %d of %s %s)", r.Top, words.Count(total), what)
}

// Located reports whether it is known of any call where it is made.
func (r *Sections) Located() bool {
	return slices.ContainsFunc(r.Analysis.CallSites, func(c document.CallSiteRow) bool { return c.Region != "" || c.File != "" })
}

// where names what the rows of tables of calls are.
func (r *Sections) where() string {
	if !r.Sites {
		return "function"
	}
	return "source line"
}

// place names a source line; nothing where no call has one, so that the column goes.
func (r *Sections) place(s field.SourceLine) string {
	if s.Region == "" && s.File == "" && !r.Sites {
		return ""
	}
	return words.Place(s)
}

// Header says which trace it is, of which part of it the figures are, and what was done about clocks.
func (r *Sections) Header() {
	t := r.Analysis.Trace
	if line := RebuiltLine("", t.Rebuilt); line != "" {
		text.Line(r.W, "%s", line)
	}
	text.Line(r.W, "%s", t.Path)
	r.Line("%s; %s, %s, %s; run time %s", r.Writer,
		processes(t), words.Plural(t.Locations, "location", "locations"),
		words.Plural(int(t.Events), "event", "events"), words.Time(t.DurationNs))
	if s := r.Analysis.Selection; s != nil {
		ranks := "all ranks"
		if len(s.Ranks) > 0 {
			ranks = words.Plural(len(s.Ranks), "rank", "ranks")
		}
		r.Line("Selection: %s, from %s to %s after the start; all figures are of this part", ranks,
			words.Time(s.FromNs-t.StartNs), words.Time(s.ToNs-t.StartNs))
	}
	r.clock()
	if len(r.Analysis.CallSites) > 0 && !r.Sites {
		r.Line("Source lines: the trace records neither lines nor calling regions of MPI calls.")
	}
}

// processes tells how many ranks there are, and of how many.
func processes(t document.TraceInfo) string {
	if t.ProcessesMissing > 0 {
		return fmt.Sprintf("%d of %s", t.Processes-t.ProcessesMissing, words.Plural(t.Processes, "process", "processes"))
	}
	return words.Plural(t.Processes, "process", "processes")
}

func (r *Sections) clock() {
	r.Line("Clock: %s", ClockLine(&r.Analysis.Clock))
}

// ClockLine says what was done about the clocks, and how many messages run backwards as
// recorded, with the measured offsets and in the end.
func ClockLine(c *document.Clock) string {
	backwards := func(n uint64) string {
		text := words.Plural(int(n), "message runs", "messages run") + " backwards"
		if c.MinLatencyNs > 0 {
			text += " or faster than " + words.Time(c.MinLatencyNs)
		}
		return text
	}
	var b strings.Builder
	left := c.ViolationsAfter
	if a := c.Alignment; a != nil {
		violations := func(n uint64) string { return words.Plural(int(n), "clock violation", "clock violations") }
		fmt.Fprintf(&b, "%s aligned by collectives: offsets up to %s, drift up to %.2g ppm, error at most %s; %s before, %s after",
			words.Plural(a.Clocks, "clock", "clocks"), words.Time(a.MaxOffsetNs), a.MaxDriftPPM, words.Time(a.MaxBoundNs),
			violations(a.Before), words.Count(a.Violations))
		if a.Unlinked > 0 {
			fmt.Fprintf(&b, "; %s not linked to the others", words.Plural(a.Unlinked, "clock is", "clocks are"))
		}
		if c.Method == "collectives+clc" {
			fmt.Fprintf(&b, "; the logical clock repairs the rest, by up to %s", words.Time(c.MaxShiftNs))
		}
		return b.String()
	}
	switch c.Method {
	case "offsets":
		b.WriteString("measured offsets applied")
		if c.ViolationsRaw > 0 {
			fmt.Fprintf(&b, " (%s as recorded)", backwards(c.ViolationsRaw))
		}
	case "clc":
		fmt.Fprintf(&b, "repaired by the logical clock; as recorded %s by up to %s", backwards(c.ViolationsRaw),
			words.Time(c.MaxViolationNs))
		if c.ViolationsOffsets != c.ViolationsRaw {
			fmt.Fprintf(&b, ", with the measured offsets %s", words.Count(c.ViolationsOffsets))
		}
	case "offsets+clc":
		fmt.Fprintf(&b, "measured offsets applied, then repaired by the logical clock; as recorded %s, with the offsets %s by up to %s",
			backwards(c.ViolationsRaw), words.Count(c.ViolationsOffsets), words.Time(c.MaxViolationNs))
	default:
		b.WriteString("as recorded")
		if left > 0 {
			fmt.Fprintf(&b, "; %s by up to %s", backwards(left), words.Time(c.MaxViolationNs))
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
		fmt.Fprintf(&b, "; largest shift %s", words.Time(c.MaxShiftNs))
	}
	return b.String()
}

// Findings lists what is wrong with the trace.
func (r *Sections) Findings() {
	if len(r.Analysis.Findings) == 0 {
		if len(r.Analysis.Doubts) == 0 {
			fmt.Fprintln(r.W, "\nSound: nothing to report.")
		}
		return
	}
	PrintFindings(r.W, r.Width, "Findings", r.Analysis.Findings)
	if c := r.Analysis.Coverage; c.EventsSkipped > 0 {
		fmt.Fprintf(r.W, "%s of %s could not be used.\n", words.Count(c.EventsSkipped), words.Plural(int(c.EventsRead), "event", "events"))
	}
}

// PrintFindings writes a line for each finding, which is never shortened.
func PrintFindings(w io.Writer, width int, heading string, findings []document.Finding) {
	if len(findings) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s\n", heading)
	for _, f := range findings {
		said := fmt.Sprintf("  %-5s %s: %s (%s%s)", f.Severity, f.Code, f.Text, words.Plural(int(f.Count), "time", "times"),
			formatPlace(f.First))
		fmt.Fprintln(w, text.Wrap(said, width, 8))
		if try := trace.Code(f.Code).Try(); try != "" {
			fmt.Fprintln(w, text.Wrap("        Try: "+try, width, 8))
		}
	}
}

// formatPlace names where a finding was first met, with the words that introduce it.
func formatPlace(p *field.Place) string {
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

func (r *Sections) efficiency() {
	e := r.Analysis.Efficiency
	if e == nil {
		if cut := r.Analysis.Trace.Reduced; cut != nil && cut.LeftOut != nil {
			fmt.Fprintln(r.W)
			r.Line("%s of the time was cut from this trace (%s). Efficiencies, causes, delays and critical path need the "+
				"whole trace.", words.Share(cut.CutShare), strings.Join(cut.By, "; "))
			r.estimates(cut.Estimates)
		}
		return
	}
	without := e.WithoutInitFinalize
	heading, useful := "Efficiency", "useful time"
	if r.Analysis.Threads != nil {
		heading, useful = "Efficiency of the processes, by their master threads", "outside MPI"
	}
	g := r.Grid(heading, "<", r.whole(), "without startup")
	if without != nil {
		g.Note("Times are wall time. Without startup: from the end of MPI_Init to the start of MPI_Finalize.")
	} else {
		g.Titles = g.Titles[:2]
		g.Note("Times are wall time.")
	}
	row := func(name string, get func(*document.Ratios) string) {
		cells := []string{name, get(&e.Ratios)}
		if without != nil {
			cells = append(cells, get(without))
		}
		g.Add(cells...)
	}
	ratio := func(get func(*document.Ratios) *float64) func(*document.Ratios) string {
		return func(x *document.Ratios) string { return words.ShareOrDash(get(x)) }
	}
	if e.Hidden() {
		g.Note("Ratios are unknown: " + hiddenBy(e))
	}
	if why := splitUnknown(e, cmp.Or(e.WithoutInitFinalize, &e.Ratios)); why != "" {
		g.Note(words.Capital(why))
	}
	row("parallel efficiency", ratio(func(x *document.Ratios) *float64 { return x.ParallelEfficiency }))
	row("  load balance", ratio(func(x *document.Ratios) *float64 { return x.LoadBalance }))
	row("  communication", ratio(func(x *document.Ratios) *float64 { return x.CommunicationEfficiency }))
	row("    "+text.Modelled+"serialization", ratio(func(x *document.Ratios) *float64 { return x.SerializationEfficiency }))
	row("    "+text.Modelled+"transfer", ratio(func(x *document.Ratios) *float64 { return x.TransferEfficiency }))
	whole := func(name, value string) {
		row(name, func(x *document.Ratios) string {
			if x != &e.Ratios {
				return ""
			}
			return value
		})
	}
	if o := e.Offload; o != nil {
		g.Note("Hosts: share of the time outside MPI in which master threads do not just wait for devices.")
		whole("hosts, waits for devices left out", words.ShareOrDash(o.ParallelEfficiency))
		whole("  offload", words.ShareOrDash(o.Efficiency))
	}
	row("run time", func(x *document.Ratios) string { return words.Time(x.RuntimeNs) })
	row("  "+text.Modelled+"with zero-cost MPI", func(x *document.Ratios) string { return words.TimeOrDash(x.ZeroCostRuntimeNs) })
	if e.IdealNetworkNs != nil {
		g.Note("Transfer is computed with zero-cost MPI, where calls only wait. On an ideal network messages take no time, but " +
			"calls keep their own time.")
		whole("  "+text.Modelled+"on an ideal network", words.Time(*e.IdealNetworkNs))
	}
	row(useful+", mean", func(x *document.Ratios) string { return words.Time(x.UsefulMeanNs) })
	row("  least", func(x *document.Ratios) string { return words.Extreme(x.UsefulMin) })
	row("  most", func(x *document.Ratios) string { return words.Extreme(x.UsefulMax) })
	r.Show(g)
	if t := e.WorkerThreads; t != nil && r.Analysis.Threads == nil {
		fmt.Fprintf(r.W, "%s: useful for %s of %s\n", words.Plural(t.Threads, "worker thread", "worker threads"),
			words.Time(t.UsefulNs), words.Time(t.SpanNs))
	}
}

// A keyed row is one of an object: it is named by its key.
type keyed struct {
	Key string `json:"key"`
}

func (r *Sections) waitStates() {
	s := r.Analysis.WaitStates
	if s == nil {
		return
	}
	var rows []Row
	for k, state := range s.All {
		if state.Count > 0 {
			rows = append(rows, Row{state, keyed{k.ShownTitle()}})
		}
	}
	if len(rows) == 0 {
		if len(r.Analysis.CallSites) > 0 {
			fmt.Fprintln(r.W, "\nWait states: none")
		}
		return
	}
	g := r.begin(waitStates, "", rows, "Times are sums over ranks; shares are of the run time of all ranks. The last four columns "+
		"show the longest single wait.")
	if s[waitstate.AtTeamBarrier].Count > 0 {
		g.Note("At barriers of threads, sums and shares cover all threads.")
	}
	if s[waitstate.NxNCompletion].Count > 0 || s[waitstate.BarrierCompletion].Count > 0 {
		g.Note("Completion: time ranks stay in a collective after the first rank has left it.")
	}
	r.Show(g)
}

// estimates prints what the whole run had, as far as the sample tells.
func (r *Sections) estimates(list []*document.Estimate) {
	if len(list) == 0 {
		return
	}
	g := r.Grid("Estimates for the whole run, from the sampled messages")
	g.Note("Intervals exist where messages were sampled at random. They contain the truth in 95 of 100 samples.")
	g.Titles = []string{"<sum over ranks", "sampled", "estimate", "from", "to"}
	for _, e := range list {
		name, sampled, number := r.estimate(e.Key)
		low, high := "-", "-"
		if e.Low != nil && e.High != nil {
			low, high = number(*e.Low), number(*e.High)
		}
		g.Add(name, number(sampled), number(e.Value), low, high)
	}
	r.Show(g)
}

// estimate returns what an estimate is of: its name, its value in the sample, and how such values are written.
func (r *Sections) estimate(key string) (name string, sampled float64, number func(float64) string) {
	count := func(x float64) string { return words.Count(int64(x)) }
	switch key {
	case "messages.count":
		return "messages", float64(r.Analysis.Messages.Count), count
	case "messages.bytes":
		return "bytes", float64(r.Analysis.Messages.Bytes), func(x float64) string { return words.Bytes(uint64(x)) }
	}
	for k, s := range r.Analysis.WaitStates.All {
		if key == "wait_states."+k.Info().Key+".time_ns" {
			return k.Info().Title, float64(s.TimeNs), func(x float64) string { return words.Time(int64(x)) }
		}
	}
	return key, 0, count
}

// diagnosis prints the causes, what is wrong and what mending it would gain.
func (r *Sections) diagnosis() {
	causes := r.Analysis.Diagnosis
	if causes == nil {
		return
	}
	fmt.Fprintf(r.W, "\n%sWhat to fix\n", Mark(r.Analysis.Trace.Rebuilt))
	if s := r.Analysis.Selection; s != nil {
		r.Line("Savings are of the whole run if only this part changes. Network and order of messages need the whole run.")
		if len(s.Ranks) > 0 {
			r.Line("Causes on all ranks that concern the selected ranks are listed.")
		}
	}
	if len(causes) == 0 {
		r.Line("%s", r.nothing(false))
		return
	}
	for i, c := range causes[:min(r.Top, len(causes))] {
		r.cause(i+1, &c)
	}
	if len(causes) > 1 {
		r.Line("Savings overlap: do not add them.")
	}
}

// cause prints one cause: its headline, what shows it, what a change would save, and what to try.
func (r *Sections) cause(n int, c *cause.Cause) {
	fmt.Fprintln(r.W, text.Wrap(fmt.Sprintf("%2d. %s", n, c.Headline), r.Width, 4))
	said := []string{c.Text, c.Change}
	if c.Try != "" {
		said = append(said, "Try: "+c.Try)
	}
	if see := seeCommand(c, r.Analysis, "TRACE"); see != "" {
		said = append(said, "See: "+see)
	}
	for _, line := range said {
		if line != "" {
			fmt.Fprintln(r.W, text.Wrap("    "+line, r.Width, 4))
		}
	}
}

// seeCommand is the command that shows more of a cause, as a shell takes it; "" if there is none.
func seeCommand(c *cause.Cause, a *document.Analysis, trace string) string {
	args := c.See(a.Selection == nil)
	if args == nil {
		return ""
	}
	for i, arg := range args {
		if args[i] = shellWord(arg); args[i] == "" {
			return ""
		}
	}
	return "tracekit " + strings.Join(append(args, trace), " ")
}

// shellWord writes an argument so that a shell takes it as one word; "" if it holds what steers a terminal.
func shellWord(arg string) string {
	if arg != text.Plain(arg) {
		return ""
	}
	if strings.ContainsAny(arg, " '\"$`\\*?[]{}()<>|&;#~!\t\n") {
		return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	return arg
}

// unclassified says after the causes what has none.
func (r *Sections) unclassified() {
	for i, line := range unclassifiedLines(r.Analysis) {
		if i == 0 {
			fmt.Fprintln(r.W)
		} else {
			line = "  " + line
		}
		r.Line("%s", line)
	}
}

// delays prints the places that make others wait.
func (r *Sections) delays() {
	d := r.Analysis.Delays
	if len(d) == 0 {
		return
	}
	total, unexplained := int64(0), int64(0)
	for _, t := range r.Analysis.DelayTotals {
		total += waitsOf(t)
		unexplained += t.UnexplainedNs
	}
	rows := RowsOf(d)
	for i := range rows {
		rows[i] = append(rows[i], partOf(d[i].TotalNs, float64(total)))
	}
	g := r.begin(delays, "", rows, "Sums over ranks: waiting that a place causes on other ranks. At once: the wait when they meet next. "+
		"Later: waits that follow from it. "+r.allWaits())
	if unexplained > 0 {
		g.Add("(unexplained)", "", words.Time(unexplained), "", "", words.PartOf(unexplained, total), "", "")
	}
	r.Show(g)
}

// allWaits says of which waits places have shares: of more than there are wait states, if ranks wait at startup.
func (r *Sections) allWaits() string {
	if startup := waitsOf(r.Analysis.DelayTotals[waitstate.AtStartup]); startup > 0 {
		return "Shares are of all waits, including " + words.Time(startup) + " in MPI_Init and MPI_Finalize."
	}
	return "Shares are of all waits."
}

func waitsOf(t waitstate.DelayTotal) int64 { return t.ShortNs + t.LongNs + t.UnexplainedNs }

func (r *Sections) criticalPath() {
	c := r.Analysis.CriticalPath
	if c == nil || r.Analysis.DevicePath != nil && r.Analysis.Efficiency == nil { // that of devices says more
		return
	}
	if len(r.Analysis.CallSites) == 0 {
		r.alone(c)
		return
	}
	r.Show(r.begin(criticalPath, ", "+words.Time(c.LengthNs), r.rows(criticalPath),
		"Wall time. The chain of activities across ranks that determines how long the "+r.whole()+" takes. "+
			"Imbalance: time of the path minus the mean time of a rank there, without waits."))
}

// alone prints the path of a run in which nobody waits for another: that of one location.
func (r *Sections) alone(c *document.CriticalPath) {
	why := "No communication is recorded"
	if m := r.Analysis.Messages; m != nil && m.Count > 0 {
		why = "Messages are recorded, but not the calls that send and receive them"
	}
	r.Show(r.begin(lastLocation, ", "+words.Time(c.LengthNs), r.rows(lastLocation),
		"Wall time. "+why+": who waits for whom is unknown."))
}

// A shownRegion is the name of a region as text shows it: where several have one name, with their places.
type shownRegion struct {
	Region string `json:"region"`
}

func (r *Sections) profile() {
	var total float64
	names := make(map[string]int)
	for _, p := range r.Analysis.Profile {
		total += float64(p.ExclusiveNs)
		names[p.Region]++
	}
	rows := RowsOf(r.Analysis.Profile)
	for i := range rows {
		p := &r.Analysis.Profile[i]
		name := p.Region
		if names[name] > 1 { // of several regions
			name = words.Place(field.SourceLine{Region: field.Name(name), File: p.File, Line: p.Line})
		}
		rows[i] = Row{shownRegion{name}, p, partOf(p.ExclusiveNs, total)}
	}
	r.Table(profile, rows)
	r.counters()
}

func (r *Sections) counters() {
	r.usefulCounters()
	var rows []Row
	for i := range top(r, r.Analysis.Profile) {
		p := &r.Analysis.Profile[i]
		for k := range p.Counters {
			rates := p.Rates
			if k > 0 {
				rates = counter.Rates{}
			}
			rows = append(rows, Row{&p.Counters[k], rates, p})
		}
	}
	r.Table(counterSums, rows)
}

// usefulCounters prints instructions and cycles of useful time by rank.
func (r *Sections) usefulCounters() {
	c := r.Analysis.Counters
	if c == nil || c.Instructions == nil && c.Cycles == nil {
		return
	}
	rows := []Row{{&c.Totals, keyed{"all ranks"}}}
	for i := range top(r, c.Ranks) {
		rows = append(rows, Row{&c.Ranks[i].Totals, keyed{"rank " + words.Rank(field.Rank(c.Ranks[i].Rank))}})
	}
	t := *usefulCounters
	if r.Analysis.Threads != nil { // of which "useful" says something else
		t.Title, t.Note, t.Columns = "Counters outside MPI", "Sums over the threads of a rank, for time outside MPI between "+
			"samples.",
			slices.Clone(t.Columns)
		t.Columns[1].Title = "outside MPI"
	}
	r.Show(r.begin(&t, r.Of(len(c.Ranks), "ranks"), rows))
}

func (r *Sections) callSites() {
	r.Show(r.begin(callSites, r.calls()+" by "+r.where(), r.rows(callSites)))
}

func (r *Sections) collectives() {
	r.Table(collectives, top(r, r.rows(collectives)))
}

func (r *Sections) messages() {
	m := r.Analysis.Messages
	if m == nil || m.Count+m.UnmatchedSends+m.UnmatchedReceives+m.OutsideSelection+m.Cancelled == 0 {
		return
	}
	text := fmt.Sprintf("Messages: %s, %s between %s", words.Count(m.Count), words.Bytes(m.Bytes),
		words.Plural(len(r.Analysis.CommMatrix), "pair of ranks", "pairs of ranks"))
	if l := m.Latency; l != nil {
		text += fmt.Sprintf("; "+Mark(r.Analysis.Trace.Rebuilt)+
			"latency, from the start of the send to the end of the receive: min %s, median %s, mean %s, p99 %s, max %s", words.Time(l.Min),
			words.Time(l.P50), words.Time(l.Mean), words.Time(l.P99), words.Time(l.Max))
	}
	fmt.Fprintln(r.W)
	r.Line("%s", text)
	for _, c := range []struct {
		n    uint64
		what string
	}{
		{m.UnmatchedSends, "sent, no receive is recorded"}, {m.UnmatchedReceives, "received, no send is recorded"},
		{belowZero(m.Latency), "received before they are sent (latency below 0): clocks disagree, see --clock"},
		{m.Cancelled, "cancelled"}, {m.OutsideSelection, "with a partner outside the selection"},
	} {
		if c.n > 0 {
			fmt.Fprintf(r.W, "  %s %s\n", words.Count(c.n), c.what)
		}
	}
	r.Table(messageSizes, r.rows(messageSizes))
	r.Show(r.begin(pairs, r.Of(len(r.Analysis.CommMatrix), "pairs"), RowsOf(top(r, r.Analysis.CommMatrix)))) // of thousands of ranks
}

func belowZero(l *document.Latency) uint64 {
	if l == nil {
		return 0
	}
	return l.BelowZero
}

func (r *Sections) lines() {
	t := *lines
	t.Title = "What each " + r.where() + " costs"
	g := r.begin(&t, "", r.rows(lines))
	g.Remark(len(g.Rows), func(i int) string {
		return costRemarks(r.Analysis.Overhead, &r.Analysis.Lines[i])
	})
	r.Show(g)
}
