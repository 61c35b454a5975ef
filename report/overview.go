package report

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/stats/numbers"
	"tracekit/trace"
)

// An Overview is the first screen of an analysis: the trace, doubts, what to fix, how efficient the run is, where the time goes, and which
// command shows more. It has at most 40 lines. What to fix comes first: a reader finds cause, rank and place within the first lines.
type Overview struct {
	*Sections
	WithStartup bool      // startup is a part of the run as any other
	Terminal    io.Writer // shows bars; nil: W is no terminal
	Colors      bool      // of the terminal
	Path        string    // of the trace, for commands

	screen
}

// Print prints the screen.
func (o *Overview) Print() {
	o.Sites = o.Located()
	o.screen = screen{w: o.W, width: min(o.Width, screenWidth), bars: o.Terminal != nil, colors: o.Colors && o.Terminal != nil}
	if o.Terminal != nil {
		o.w = o.Terminal
	}
	fix, unclear, waiting, kernels, time := o.fix(), o.notExplained(), o.waiting(), o.kernelClasses(),
		o.portions("WHERE THE TIME GOES", o.splitTime(!o.WithStartup))
	devices, more := o.deviceTimes(), o.more()
	blocks := []*block{o.title(), fix, o.trainingLoss(), unclear, o.efficiency(), devices, time, waiting, kernels, o.regions(), o.fileTimes(),
		o.estimated(), more}
	o.print(blocks, kernels, waiting, unclear, time, devices, fix, more)
}

// title says which trace it is, and what of it or of the measurement is doubtful.
func (o *Overview) title() *block {
	t := o.Analysis.Trace
	b := &block{}
	if line := RebuiltLine("", t.Rebuilt); line != "" {
		b.add(o.warning(line)...)
	}
	what := "   " + strings.Join(slices.DeleteFunc([]string{o.Writer, ranksOf(o.Analysis), words.Time(t.DurationNs), o.soundness()},
		func(s string) bool { return s == "" }), "   ")
	b.add(cut(cut(words.TraceName(t.Path), max(leastName, o.width-utf8.RuneCountInString(what)))+what, o.width))
	if s := o.Analysis.Selection; s != nil {
		said := fmt.Sprintf("Selection: %s, from %s to %s. All figures are of this part.", cmp.Or(rankList(s.Ranks), "all ranks"),
			words.Time(s.FromNs-t.StartNs), words.Time(s.ToNs-t.StartNs))
		if o.Analysis.Diagnosis != nil && o.Analysis.Efficiency != nil && s.ToNs-s.FromNs < t.DurationNs {
			said += " Network and order of messages need the whole run."
		}
		if o.Analysis.Diagnosis != nil && len(s.Ranks) > 0 {
			said = strings.Replace(said, "All figures are", "Figures are", 1) + " Causes and savings are of the run of all ranks."
		}
		b.add(o.wrapped(said, 0, 2)...)
	}
	if line := cutLine(t.Reduced); line != "" {
		b.add(o.warning(line)...)
	}
	for _, lines := range doubtLines(o.Analysis.Doubts) {
		b.add(o.warning(lines[0])...)
		for _, line := range lines[1:] {
			b.add(o.wrapped(line, 4, 2)...)
		}
	}
	if t.Events == 0 {
		b.add(o.warning(o.noEvents())...)
	}
	b.items = append(b.items, o.losses()...)
	b.least = len(b.items)
	return b
}

// cutLine says that the trace is what is left of another one; "" if it is not.
func cutLine(cut *document.Reduced) string {
	if cut == nil {
		return ""
	}
	so := "figures and causes are of what is left"
	if cut.LeftOut != nil {
		so = "no efficiency, no causes"
	}
	return fmt.Sprintf("%s of the time was cut from this trace (%s): %s.", words.Share(cut.CutShare), strings.Join(cut.By, "; "), so)
}

// noEvents says that there is nothing to analyze, and what was passed over.
func (o *Overview) noEvents() string {
	for _, f := range o.Analysis.Findings {
		if f.Code == string(trace.CodeUnknownRecord) {
			return "No events were read: " + f.Text + "."
		}
	}
	return "The trace has no events."
}

// soundness says that the trace is sound, if it is.
func (o *Overview) soundness() string {
	if o.Analysis.Trace.Events == 0 || len(o.Analysis.Doubts) > 0 || o.Analysis.Trace.Reduced != nil || o.Analysis.Trace.Rebuilt != nil ||
		slices.ContainsFunc(o.Analysis.Findings, func(f document.Finding) bool { return f.Severity != "info" }) {
		return ""
	}
	return "sound"
}

// warning is a line that a reader must not miss.
func (o *Overview) warning(line string) []string {
	lines := o.wrapped(line, 2, 2)
	lines[0] = "▲" + lines[0][1:]
	for i := range lines {
		lines[i] = o.paint(red, lines[i])
	}
	return lines
}

// losses are the findings that change what can be concluded: contradictions, each, and what is lost, together. Of contradictions those of
// events come first: definitions that contradict each other change names, or what is left out.
func (o *Overview) losses() (items [][]string) {
	const errors = 2
	var lost []document.Finding
	var partial [][]string // ranks are
	shown := 0
	findings := slices.Clone(o.Analysis.Findings)
	slices.SortStableFunc(findings, func(a, b document.Finding) int { return cmp.Compare(ofDefinitions(a), ofDefinitions(b)) })
	for _, f := range findings {
		switch {
		case f.Severity == "error" && shown < errors:
			lines := o.warning(words.Capital(f.Text) + ".")
			if try := trace.Code(f.Code).Try(); try != "" {
				lines = append(lines, o.wrapped("Try: "+try, 4, 2)...)
			}
			items = append(items, lines)
			shown++
		case f.Code == string(trace.CodeMissingRank), f.Code == string(trace.CodeEarlyEnd), f.Code == string(trace.CodeOpenEpoch):
			partial = append(partial, o.warning(words.Capital(f.Text)+"."))
		case f.Severity != "info":
			lost = append(lost, f)
		}
	}
	for n := len(lost); n > 0; n-- { // as many as two lines hold
		said := "Data are lost or doubtful: " + LossesOf(lost[:n])
		if more := len(lost) - n; more > 0 {
			said += fmt.Sprintf("; %d more: --section notes", more)
		}
		if n == 1 || strings.Count(text.Wrap("▲ "+said+".", o.width, 2), "\n") < 2 {
			items = append(items, o.warning(said+"."))
			break
		}
	}
	return append(items, partial...)
}

// ofDefinitions is 1 for a finding about definitions, 0 for others.
func ofDefinitions(f document.Finding) int {
	switch trace.Code(f.Code) {
	case trace.CodeDuplicateDefinition, trace.CodeBadDefinition:
		return 1
	}
	return 0
}

// LossesOf says what findings that are more than information mean, with their counts; nothing if there are none.
func LossesOf(findings []document.Finding) string {
	var lost []string
	for _, f := range findings {
		if f.Severity == "info" {
			continue
		}
		what := trace.Code(f.Code).Brief()
		if f.Count > 1 {
			what += fmt.Sprintf(" (%s times)", words.Count(f.Count))
		}
		lost = append(lost, what)
	}
	return strings.Join(lost, "; ")
}

// ranksOf tells how many ranks there are, or processes if nothing says that they are ranks; nothing of a single one.
func ranksOf(a *document.Analysis) string {
	switch t := a.Trace; {
	case t.Processes < 2:
		return ""
	case t.Unranked && a.Training == nil:
		return processes(t)
	default:
		return strings.Replace(processes(t), "processes", "ranks", 1)
	}
}

// rankList names ranks, or says how many there are.
func rankList(ranks []uint32) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	if len(ranks) == 0 {
		return ""
	}
	return words.Plural(len(ranks), "rank", "ranks")
}

// good is the parallel efficiency from which on no factor of it is named as the problem.
const good = 0.8

// efficiency shows the factors of the parallel efficiency of processes, or of threads where nobody calls MPI.
func (o *Overview) efficiency() *block {
	b := &block{heading: "EFFICIENCY"}
	ratio := func(label string, x *float64, remark string) { b.add(o.row(label, words.ShareOrDash(x), x, remark)) }
	if o.Analysis.Efficiency == nil {
		t := o.Analysis.Threads
		if t == nil {
			return nil
		}
		b.about = fmt.Sprintf("%s, %s", words.Plural(t.Threads, "thread", "threads"), words.Time(o.runtime()))
		ratio("parallel efficiency", t.Efficiency.Parallel, "")
		if t.ParallelRegions > 0 {
			ratio("  parallel regions", t.Efficiency.Region, "")
			ratio("  serial parts", t.Efficiency.Serial, "")
		}
		b.least = len(b.items)
		return b
	}
	if e := o.Analysis.Efficiency; e.Hidden() {
		b.add(o.wrapped("Unknown: "+hiddenBy(e), 2, 2)...)
		b.least = len(b.items)
		return b
	}
	if o.Analysis.OnlyStartup() {
		return nil
	}
	r, without := o.ratios(!o.WithStartup)
	b.about = fmt.Sprintf("%s, %s", o.whole(), words.Time(r.RuntimeNs))
	if without {
		b.about = fmt.Sprintf("MPI_Init to MPI_Finalize, %s (startup and end: %s)", words.Time(r.RuntimeNs),
			words.Time(o.Analysis.Efficiency.RuntimeNs-r.RuntimeNs))
	}
	leaves := []*float64{r.LoadBalance, r.SerializationEfficiency, r.TransferEfficiency}
	if r.SerializationEfficiency == nil {
		leaves[1] = r.CommunicationEfficiency
	}
	var worst *float64
	if r.ParallelEfficiency != nil && *r.ParallelEfficiency < good {
		for _, x := range leaves {
			if x != nil && (worst == nil || *x < *worst) {
				worst = x
			}
		}
	}
	mark := func(x *float64) string {
		if x != nil && x == worst {
			return "◀ largest loss"
		}
		return ""
	}
	modelled := Mark(o.Analysis.Trace.Rebuilt)
	ratio("parallel efficiency", r.ParallelEfficiency, "")
	ratio("  load balance", r.LoadBalance, mark(r.LoadBalance))
	ratio("  communication", r.CommunicationEfficiency, mark(r.CommunicationEfficiency))
	if r.SerializationEfficiency != nil {
		ratio("    "+modelled+"serialization", r.SerializationEfficiency, mark(r.SerializationEfficiency))
		ratio("    "+modelled+"transfer", r.TransferEfficiency, mark(r.TransferEfficiency))
	} else if why := splitUnknown(o.Analysis.Efficiency, r); why != "" {
		b.add(o.wrapped(why, 4, 4)...)
	}
	if t := o.Analysis.Threads; t != nil {
		of := "threads (whole run)" // startup included
		if o.Analysis.Selection != nil {
			of = "threads"
		}
		ratio(of, t.Efficiency.Thread, "")
	}
	b.least = len(b.items)
	return b
}

// hiddenBy says why no ratio is known.
func hiddenBy(e *document.Efficiency) string {
	of, what := e.WorkerThreads, "wait %s for other ranks"
	ns := of.WaitNs
	if ns < of.IncompleteCallsNs {
		ns, what = of.IncompleteCallsNs, "spend %s in calls that wait for unknown ranks"
	}
	return fmt.Sprintf("worker threads "+what+", and no record says when main threads wait for them.", words.Time(ns))
}

// splitUnknown says why serialization and transfer are not known; "" if there is no such reason.
func splitUnknown(e *document.Efficiency, r *document.Ratios) string {
	share := func(ns int64) string {
		return words.Share(float64(ns) / float64(r.RuntimeNs) / float64(len(r.UsefulNs)))
	}
	switch {
	case e.IncompleteCallsNs > 0:
		return fmt.Sprintf("serialization and transfer unknown: calls that take %s of rank time wait for unknown ranks.",
			share(e.IncompleteCallsNs))
	case e.UnselectedWaitNs > 0:
		return fmt.Sprintf("serialization and transfer unknown: ranks wait %s of their time for others that are not selected.",
			share(e.UnselectedWaitNs))
	}
	return ""
}

// portions lists the parts of a whole, the largest first, those that are too small to see left out.
func (o *Overview) portions(heading string, s *Split) *block {
	if s == nil {
		return nil
	}
	b := &block{heading: heading, about: s.About, least: 3}
	for _, p := range s.Parts {
		if p.Share >= leastShare {
			b.add(o.row(p.Label, words.Share(p.Share), &p.Share, ""))
		}
	}
	return b
}

// Listed returns the causes that the first screen numbers, and those that it leaves out because they are of startup.
func Listed(causes []cause.Cause, withStartup bool) (listed, startup []cause.Cause) {
	for _, c := range causes {
		if !withStartup && c.Kind == cause.Startup {
			startup = append(startup, c)
		} else {
			listed = append(listed, c)
		}
	}
	return listed, startup
}

// fix lists what to fix.
func (o *Overview) fix() *block {
	if o.Analysis.Diagnosis == nil {
		return nil
	}
	b := &block{heading: Mark(o.Analysis.Trace.Rebuilt) + "WHAT TO FIX", least: 1}
	var startup []string
	causes, left := Listed(o.Analysis.Diagnosis, o.WithStartup)
	for _, c := range left {
		startup = append(startup, startupPart(&c))
	}
	const shown = 3
	for i, c := range causes[:min(shown, len(causes))] {
		lines := []string{o.ends(fmt.Sprintf(" %d  %s", i+1, c.Headline), saving(&c))}
		said := o.wrapped(c.Text, 4, 2)
		if where := o.where(&c, c.Headline+" "+strings.Join(said, " ")); where != "" {
			lines = append(lines, o.wrapped("Where: "+where+".", 4, 2)...)
		}
		lines = append(lines, said...)
		if c.Try != "" {
			for _, line := range o.wrapped("Try: "+c.Try, 4, 2) {
				lines = append(lines, o.paint(green, line))
			}
		}
		b.add(lines...)
	}
	if len(causes) == 0 {
		b.add(o.wrapped(o.nothing(len(startup) > 0), 2, 2)...)
	}
	if len(causes) > 0 && causes[0].GainNs != nil {
		b.right = "saves at most"
	}
	b.ending = func(shown int) (tail []string) {
		if rest := len(causes) - shown; rest > 0 {
			tail = o.wrapped(fmt.Sprintf("%d more: --section causes. Savings overlap: do not add them.", rest), 4, 1)
		} else if len(causes) > 1 {
			tail = append(tail, "    Savings overlap: do not add them.")
		}
		if len(startup) > 0 {
			tail = append(tail, o.wrapped("Startup is left out: "+strings.Join(startup, ", ")+" (--with-startup).", 4, 2)...)
		}
		return tail
	}
	b.tail = b.ending(min(shown, len(causes)))
	return b
}

// where names the ranks and the place of a cause, as far as the lines that are shown of its evidence do not.
func (o *Overview) where(c *cause.Cause, shown string) string {
	shown = strings.Join(strings.Fields(strings.ToLower(shown)), " ")
	has := func(what string) bool { return strings.Contains(shown, strings.ToLower(what)) }
	var parts []string
	if n := len(c.Ranks); n > 0 && n < o.Analysis.Trace.Processes-o.Analysis.Trace.ProcessesMissing && !has(words.Ranks(c.Ranks)) {
		parts = append(parts, words.Ranks(c.Ranks))
	}
	name, place := string(c.Operation), words.Call(words.KernelName(string(c.Operation)), c.SourceLine)
	if name == "" || c.Kind == cause.DeviceIdle && c.Region != "" {
		name, place = string(c.Region), words.Sentence(c.SourceLine)
	}
	if _, ending := c.Evidence["after_last_work_ns"]; c.Kind == cause.DeviceIdle && !ending {
		if strings.Contains(strings.ToLower(name), "launchkernel") { // all kernels are launched by that
			name = ""
		}
		place = "before work launched by " + words.Brief(name)
	}
	if c.Line > 0 && c.LineOf == "" {
		name = fmt.Sprintf("%s:%d", path.Base(string(c.File)), c.Line)
	}
	if name != "" && !strings.HasPrefix(name, "(") && !has(words.Brief(name)) && !has(words.KernelName(name)) {
		parts = append(parts, place)
	}
	return strings.Join(parts, ", ")
}

// notExplained says which time in calls no cause has, and why that is.
func (o *Overview) notExplained() *block {
	lines := unclassifiedLines(o.Analysis)
	if lines == nil {
		return nil
	}
	b := &block{least: 1, whole: true}
	b.add(o.wrapped(lines[0], 0, 2)...)
	if len(lines) > 2 { // what is known of it
		b.add(o.wrapped(lines[1], 4, 2)...)
	}
	b.tail = o.wrapped(lines[len(lines)-1], 4, 2) // what to do
	return b
}

// startupPart names what is left out.
func startupPart(c *cause.Cause) string {
	name := string(c.Operation)
	switch {
	case c.Region == field.NotRecorded:
		name = "different starts of ranks"
	case name == "":
		name = "devices"
	}
	return fmt.Sprintf("%s %s", name, words.Time(int64(c.Evidence["critical_path_ns"])))
}

// saving is what mending a cause saves at most.
func saving(c *cause.Cause) string {
	if c.GainNs == nil || c.GainShare == nil {
		return "unknown"
	}
	return fmt.Sprintf("%s  %7s", words.Time(*c.GainNs), "("+words.Share(*c.GainShare)+")")
}

// nothing says that there is nothing to fix.
func (r *Sections) nothing(startup bool) string {
	what := "Nothing"
	if startup {
		what = "Nothing, startup aside"
	}
	switch u := r.Analysis.Unclassified; {
	case r.Analysis.Trace.Reduced != nil:
		what += ", in what is left of the trace"
	case u != nil && len(u.Incomplete) > 0 || slices.ContainsFunc(r.Analysis.Findings, func(f document.Finding) bool {
		return f.Code == string(trace.CodeOpenEpoch)
	}):
		what += ", in what is recorded"
	}
	switch {
	case r.Analysis.OnlyStartup():
		return what + ": no rank is between MPI_Init and MPI_Finalize here."
	case len(r.Analysis.Devices) > 0:
		return what + ": hosts, gaps, communication and copies have less than 1 % of the critical path. Devices compute."
	case r.Analysis.Efficiency == nil:
		return what + ": serial parts and barriers of threads take less than 1 %."
	}
	return what + ": no tried change saves 1 % of the run."
}

// waiting shows the wait states that take most time.
func (o *Overview) waiting() *block {
	w := o.Analysis.WaitStates
	if w == nil || len(o.Analysis.Devices) > 0 && o.Analysis.Efficiency == nil { // devices wait for each other
		return nil
	}
	type state struct {
		waitstate.State
		title string
	}
	var states []state
	var total int64
	for k, s := range w.All {
		if info := k.Info(); info.Caused && !info.Startup && s.TimeNs > 0 {
			states, total = append(states, state{*s, info.Title}), numbers.Plus(total, s.TimeNs)
		}
	}
	if len(states) == 0 {
		return nil
	}
	slices.SortStableFunc(states, func(a, b state) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	b := &block{heading: Mark(o.Analysis.Trace.Rebuilt) + "WAITING", least: 2,
		about: words.Time(total) + o.blame(total) + " (right: longest wait)"}
	for _, s := range states[:min(4, len(states))] {
		remark := ""
		if len(s.Top) > 0 {
			place := s.Top[0].Operation
			if s.Top[0].Region != "" {
				place += " in " + string(s.Top[0].Region)
			}
			remark = fmt.Sprintf("rank %s, %s", words.Rank(s.Top[0].Rank), place)
		}
		if s.ClockError {
			remark += "; within the error of the clocks"
		}
		share := float64(s.TimeNs) / float64(total)
		b.add(o.row(s.title, words.Time(s.TimeNs), &share, remark))
	}
	return b
}

// outstanding is which part of the waiting one rank must cause to be named, and how many times its fair share.
const (
	outstandingPart  = 0.25
	outstandingTimes = 2
)

// blame names the rank that causes most waiting, if it stands out. Waits at startup that follow from a place count as if this rank
// caused all of them, so what is said is the least that it causes of the others.
func (o *Overview) blame(total int64) string {
	by, ranks := make(map[field.Rank]int64), o.Analysis.Trace.Processes-o.Analysis.Trace.ProcessesMissing
	for _, d := range o.Analysis.Delays {
		startup := int64(0)
		for k, ns := range d.By {
			if waitstate.Kind(k).Info().Startup {
				startup = numbers.Plus(startup, ns)
			}
		}
		for _, r := range d.Ranks {
			by[r.Rank] = numbers.Plus(by[r.Rank], max(0, r.TimeNs-startup))
		}
	}
	most, ns := field.Rank(0), int64(0)
	for _, r := range slices.Sorted(maps.Keys(by)) {
		if by[r] > ns {
			most, ns = r, by[r]
		}
	}
	share := float64(ns) / float64(total)
	if words.Rank(most) == "-" || share < outstandingPart || share*float64(ranks) < outstandingTimes {
		return " summed over ranks"
	}
	if share >= 1 {
		return ", all caused by rank " + words.Rank(most)
	}
	return fmt.Sprintf(", at least %.0f %% caused by rank %s", math.Floor(100*share), words.Rank(most))
}

// deviceTimes shows what devices do with their time.
func (o *Overview) deviceTimes() *block {
	s := o.splitDevices()
	b := o.portions("DEVICES", s)
	if b == nil {
		return nil
	}
	for _, note := range s.Notes {
		b.tail = append(b.tail, cut("  "+note, o.width))
	}
	return b
}

// kernelClasses shows which kinds of kernels take the time, and the longest of each.
func (o *Overview) kernelClasses() *block {
	kernels := Kernels(o.Analysis.Devices)
	if len(kernels) == 0 {
		return nil
	}
	type class struct {
		ns      int64
		longest Kernel
	}
	classes, total := make(map[string]*class), int64(0)
	for _, k := range kernels {
		name := k.Class
		if classes[name] == nil {
			classes[name] = &class{longest: k} // the first has most time
		}
		classes[name].ns, total = numbers.Plus(classes[name].ns, k.TimeNs), numbers.Plus(total, k.TimeNs)
	}
	b := &block{heading: "KERNELS", about: "% of executed time", least: 2}
	for _, name := range slices.SortedFunc(maps.Keys(classes), func(x, y string) int {
		return cmp.Or(cmp.Compare(classes[y].ns, classes[x].ns), strings.Compare(x, y))
	}) {
		c := classes[name]
		if share := float64(c.ns) / float64(max(1, total)); share >= 0.01 && len(b.items) < 4 {
			b.add(o.row(name, words.Share(share), &share, words.KernelName(c.longest.Name)))
		}
	}
	return b
}

// fileTimes shows what is done to files, where the trace is about that.
func (o *Overview) fileTimes() *block {
	io, t := o.Analysis.FileIO, o.Analysis.Trace
	if io == nil || len(o.Analysis.Devices) > 0 || o.Analysis.Efficiency != nil {
		return nil
	}
	b := &block{heading: "FILES", least: 3, about: fmt.Sprintf("%s, %s summed over ranks", words.Plural(int(io.Calls), "call", "calls"),
		words.Time(io.TimeNs))}
	for _, op := range io.Operations[:min(4, len(io.Operations))] {
		share := float64(op.TimeNs) / float64(max(1, io.TimeNs))
		remark := words.Plural(int(op.Calls), "call", "calls")
		if op.Bandwidth != nil {
			remark += ", " + words.Bytes(uint64(*op.Bandwidth)) + "/s"
		}
		b.add(o.row(op.Operation, words.Time(op.TimeNs), &share, remark))
	}
	b.tail = o.wrapped(strings.Join(fileVerdict(io, t)[1:], " "), 2, 4)
	if io.Max.Rank != io.Min.Rank {
		b.tail = append(b.tail, cut("  time by rank: most "+words.Extreme(io.Max)+"; least "+words.Extreme(io.Min), o.width))
	}
	if len(io.Files) > 0 && io.Files[0].File != "" {
		b.tail = append(b.tail, cut(fmt.Sprintf("  most on one file: %s, %s", words.Time(io.Files[0].TimeNs), io.Files[0].File), o.width))
	}
	return b
}

// regions shows the functions that take most time, where the trace tells nothing else.
func (o *Overview) regions() *block {
	a := o.Analysis
	if a.Efficiency != nil || len(a.Devices) > 0 || a.FileIO != nil && !besideFiles(a) || a.Training != nil {
		return nil
	}
	total := ownTime(a)
	if total <= 0 {
		return nil
	}
	b := &block{heading: "FUNCTIONS", about: "% of the time in functions, without what they call", least: 3}
	for _, p := range o.ownTimes() {
		share, remark := float64(p.ExclusiveNs)/float64(total), words.Plural(int(p.Count), "visit", "visits")
		if p.Paradigm == "annotation" {
			remark += ", outside recorded functions"
		}
		b.add(o.row(p.Region, words.Share(share), &share, remark))
	}
	if line := longStep(a.Profile); line != "" {
		b.tail = append(b.tail, cut(line, o.width))
	}
	return b
}

// profilerStep begins the names of the steps of a profiler, which have numbers.
const profilerStep = "ProfilerStep#"

// longStep names the step that takes longest, if it stands out: of five or more that are there once it takes twice the median or more.
func longStep(profile []document.ProfileRow) string {
	var steps []document.ProfileRow
	for _, p := range profile {
		if strings.HasPrefix(p.Region, profilerStep) {
			if p.Count != 1 { // of several ranks or threads
				return ""
			}
			steps = append(steps, p)
		}
	}
	slices.SortStableFunc(steps, func(a, b document.ProfileRow) int { return cmp.Compare(a.InclusiveNs, b.InclusiveNs) })
	if len(steps) < 5 {
		return ""
	}
	longest, median := steps[len(steps)-1], steps[len(steps)/2]
	if longest.InclusiveNs < 2*median.InclusiveNs {
		return ""
	}
	return fmt.Sprintf("  %s takes %s, the median of %d steps %s.", longest.Region, words.Time(longest.InclusiveNs), len(steps),
		words.Time(median.InclusiveNs))
}

// ownTimes returns the five regions with the most time without what they call. The steps of a profiler are one.
func (o *Overview) ownTimes() []document.ProfileRow {
	steps := document.ProfileRow{Region: profilerStep, Paradigm: "annotation"}
	rows := slices.DeleteFunc(slices.Clone(o.Analysis.Profile), func(p document.ProfileRow) bool {
		is := strings.HasPrefix(p.Region, profilerStep)
		if is {
			steps.Count, steps.ExclusiveNs = steps.Count+p.Count, numbers.Plus(steps.ExclusiveNs, p.ExclusiveNs)
		}
		return is
	})
	if steps.Count > 0 {
		rows = append(rows, steps)
		slices.SortStableFunc(rows, func(a, b document.ProfileRow) int { return cmp.Compare(b.ExclusiveNs, a.ExclusiveNs) })
	}
	return rows[:min(5, len(rows))]
}

// ownTime is that of all functions without what they call, ns.
func ownTime(a *document.Analysis) (total int64) {
	for _, p := range a.Profile {
		total = numbers.Plus(total, p.ExclusiveNs)
	}
	return total
}

// besideFiles reports whether the run does not wait for files, and something else takes most time.
func besideFiles(a *document.Analysis) bool {
	return filesAside(a.FileIO, a.Trace) && !slices.ContainsFunc(a.FileIO.Operations,
		func(o document.IOOperation) bool { return len(a.Profile) > 0 && o.Operation == a.Profile[0].Region })
}

// functionsAside names the functions that take most time where the run does not wait for files, unless these are calls on files.
func functionsAside(a *document.Analysis) []string {
	total := ownTime(a)
	if total <= 0 || !besideFiles(a) {
		return nil
	}
	var most []string
	for _, p := range a.Profile[:min(3, len(a.Profile))] {
		most = append(most, fmt.Sprintf("%s (%s)", p.Region, words.PartOf(p.ExclusiveNs, total)))
	}
	return []string{fmt.Sprintf("Functions with the most time: %s.", strings.Join(most, ", "))}
}

// estimated shows what the whole run had, as far as a sample tells.
func (o *Overview) estimated() *block {
	cut := o.Analysis.Trace.Reduced
	if cut == nil || len(cut.Estimates) == 0 {
		return nil
	}
	b := &block{heading: "ESTIMATES", about: "of the whole run, from the sampled messages; 95 % intervals", least: len(cut.Estimates)}
	for _, e := range cut.Estimates {
		name, _, number := o.estimate(e.Key)
		between := ""
		if e.Low != nil && e.High != nil {
			between = number(*e.Low) + " to " + number(*e.High)
		}
		b.add(o.row(name, number(e.Value), nil, between))
	}
	return b
}

// more says which commands show more.
func (o *Overview) more() *block {
	b := &block{heading: "DETAILS", whole: true}
	b.add(o.wrapped("--section "+strings.Join(o.present(), ", ")+" or all", 2, 3)...)
	trace := shellWord(o.Path)
	if trace == "" || len(trace) > o.width-46 {
		trace = "TRACE"
	}
	if n := len(o.Analysis.Findings); n > 0 {
		b.about = words.Plural(n, "note", "notes") + " on the trace: --section notes"
	}
	b.tail = append(b.tail, "  open the timeline   tracekit view "+trace)
	waits := o.Analysis.WaitStates != nil && o.Analysis.Efficiency != nil
	if waits {
		b.tail = append(b.tail, "  follow a wait       tracekit explain "+trace)
	}
	if see := o.firstCause(trace); see != "" {
		b.tail = append(b.tail, "  look into cause 1   "+see)
	} else if waits {
		b.tail = append(b.tail, "  try changes         tracekit whatif "+trace)
	}
	return b
}

// firstCause is the command that shows more of the first cause on the screen, "" if none fits on it.
func (o *Overview) firstCause(trace string) string {
	i := slices.IndexFunc(o.Analysis.Diagnosis, func(c cause.Cause) bool { return o.WithStartup || c.Kind != cause.Startup })
	if i < 0 {
		return ""
	}
	for _, name := range []string{trace, "TRACE"} {
		if see := seeCommand(&o.Analysis.Diagnosis[i], o.Analysis, name); len(see) <= o.width-22 {
			return see
		}
	}
	return ""
}
