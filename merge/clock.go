package merge

import (
	"context"
	"fmt"

	"tracekit/spill"
	"tracekit/trace"
)

// A ClockMode says how clocks are to be corrected.
type ClockMode string

// The clock modes.
const (
	// raw or offsets, whichever has fewer violations; found by what happens together if files with clocks of their own contradict each other;
	// the logical clock if any are left, unless the times are rebuilt or the violations are in doubt
	ClockAuto    ClockMode = "auto"
	ClockNone    ClockMode = "none"    // times as recorded
	ClockOffsets ClockMode = "offsets" // measured offsets
	ClockCLC     ClockMode = "clc"     // the logical clock, on the measured offsets where there are any
)

// A clockwork corrects the clocks of a trace.
type clockwork struct {
	trace    *trace.Trace
	parts    []*spill.Table[part]
	ledger   *trace.Ledger
	opts     Options
	measured []trace.ClockMap // by location: what the measured offsets make
	changes  bool             // some of them change something
	found    tally
	doubtful map[channelKey]bool // channels in which something does not fit
}

// A tally counts violations as recorded and with the measured offsets, while messages are
// matched and collectives joined: then the rows are at hand.
type tally struct {
	raw, off census
}

func (t *tally) merge(o *tally) {
	t.raw.merge(&o.raw)
	t.off.merge(&o.off)
}

func newClockwork(t *trace.Trace, ledger *trace.Ledger, opts Options) *clockwork {
	c := &clockwork{trace: t, ledger: ledger, opts: opts, doubtful: make(map[channelKey]bool)}
	c.measured, c.changes = offsetMaps(t.Defs, ledger)
	return c
}

// weigh counts a message if it runs backwards or takes less than the least latency.
func (c *clockwork) weigh(n *tally, from, to trace.LocationID, sent int64, r *trace.Recv) {
	late := sent + c.opts.MinLatency - r.Time
	if late <= 0 && !c.changes {
		return
	}
	place := trace.Place{Location: to, Seq: r.Seq(), Offset: -1}
	n.raw.addMessage(place, late)
	if c.changes {
		n.off.addMessage(place, c.measured[from].At(sent)+c.opts.MinLatency-c.measured[to].At(r.Time))
	}
}

// weighTogether counts a collective, which lies in the given row, if it runs backwards.
func (c *clockwork) weighTogether(n *tally, id uint32, row *trace.Collective) {
	n.raw.addTogether(id, backwards(c.trace, row, asRecorded, c.opts.MinLatency))
	if c.changes {
		n.off.addTogether(id, backwards(c.trace, row, c.offsets, c.opts.MinLatency))
	}
}

// offsets is the timing with the measured offsets.
func (c *clockwork) offsets(l trace.LocationID, t int64) int64 { return c.measured[l].At(t) }

// correct decides what is done about the clocks, makes the maps that do it, and reports it.
func (c *clockwork) correct(ctx context.Context) error {
	t := c.trace
	if !c.changes {
		c.found.off = c.found.raw
	}
	base := c.found.raw
	t.Clock = trace.Clock{Method: trace.ClockNone, MinLatency: c.opts.MinLatency, Maps: make([]trace.ClockMap, len(c.measured))}
	asked := c.opts.Clock == ClockOffsets || c.opts.Clock == ClockCLC
	if c.changes && (asked || c.opts.Clock.auto() && c.found.off.total() <= c.found.raw.total()) {
		base = c.found.off
		t.Clock.Method, t.Clock.Maps = trace.ClockOffsets, c.measured
	}
	left, err := c.aligned(ctx, base)
	if err != nil {
		return err
	}
	after, doubtful, err := c.repair(ctx, left)
	if err != nil {
		return err
	}
	c.report(base, left, after, doubtful)
	return nil
}

// report notes what ran backwards, what aligned clocks have left of it, and what is left at last. Aligned clocks that leave nothing are
// no error: they are as true as their bound says.
func (c *clockwork) report(base, left, after census, doubtful uint64) {
	c.trace.Clock.Messages = trace.Violations{
		Raw: c.found.raw.messages, Offsets: c.found.off.messages, After: after.messages, Max: base.worstMessage}
	c.trace.Clock.Collectives = trace.Violations{
		Raw: c.found.raw.collectives, Offsets: c.found.off.collectives, After: after.collectives, Max: base.worstTogether}
	code := trace.CodeClockViolation
	if c.trace.Clock.Alignment != nil && left.total() == 0 {
		code = trace.CodeClockAligned
	}
	c.ledger.AddN(code, base.total(), base.first(c.trace), c.violated(base, after, doubtful))
}

// violated says how many messages and collectives run backwards, and how many still do.
func (c *clockwork) violated(base, after census, doubtful uint64) string {
	messages, collectives := counted(base.messages, "message"), counted(base.collectives, "collective")
	text := messages + " and " + collectives
	switch {
	case base.collectives == 0:
		text = messages
	case base.messages == 0:
		text = collectives
	}
	if c.opts.MinLatency > 0 {
		text += fmt.Sprintf(" in less than %d ticks", c.opts.MinLatency)
	}
	switch {
	case after.total() == 0:
		text += "; all were corrected"
	case after.total() == base.total():
		text += "; none was corrected"
	default:
		text += fmt.Sprintf("; %d not corrected", after.total())
	}
	if doubtful > 0 {
		text += ": their ranks share a clock, or the match is in doubt"
		if doubtful != after.total() {
			text += fmt.Sprintf(" (%d of them)", doubtful)
		}
	}
	return text
}

// counted writes how many of some things there are.
func counted(n uint64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// repair runs the logical clock if it is wanted and needed, and returns what is left, and how much
// of what runs backwards it has passed over. Times rebuilt from statistics are no clock's: where
// they run backwards a partner was guessed wrongly, and moving all that follows would make it
// worse. Times that were corrected before stay, too. Unless the logical clock is asked for, that holds for what is in doubt as well.
func (c *clockwork) repair(ctx context.Context, base census) (left census, doubtful uint64, err error) {
	t, about := c.trace, c.trace.Source.Info()
	wanted := c.opts.Clock == ClockCLC || c.opts.Clock.auto() && !about.Reconstructed() &&
		about.Properties[trace.PropertyCorrected] != "true"
	if base.total() == 0 || !wanted {
		return base, 0, nil
	}
	clock := &logicalClock{trace: t, parts: c.parts, maps: t.Clock.Maps, latency: c.opts.MinLatency, jobs: c.opts.Jobs}
	if c.opts.Clock.auto() {
		if clock.doubts, err = c.doubts(ctx); err != nil {
			return base, 0, err
		}
		sure, err := violations(ctx, t, clock.doubts.at, c.opts.MinLatency, c.opts.Jobs, clock.doubts)
		doubtful = base.total() - sure.total()
		if err != nil || sure.total() == 0 {
			return base, doubtful, err
		}
	}
	for _, locs := range byRank(t.Rank, len(t.World)) {
		if len(locs) > 0 {
			clock.domains = append(clock.domains, locs)
		}
	}
	left, err = clock.run(ctx)
	if err == nil && doubtful > 0 {
		left, err = violations(ctx, t, clock.corrected, c.opts.MinLatency, c.opts.Jobs, nil)
	}
	t.Clock.MaxShift = clock.maxShift()
	switch t.Clock.Method {
	case trace.ClockOffsets:
		t.Clock.Method = trace.ClockOffsetsCLC
	case trace.ClockTogether:
		t.Clock.Method = trace.ClockTogetherCLC
	default:
		t.Clock.Method = trace.ClockCLC
	}
	return left, doubtful, err
}

// doubts returns what is in doubt about the clocks that were chosen. Clocks with measured offsets
// are as many as there are offsets.
func (c *clockwork) doubts(ctx context.Context) (*doubts, error) {
	t := c.trace
	maps := t.Clock.Maps
	d := &doubts{trace: t, latency: c.opts.MinLatency, channels: c.doubtful,
		at: func(l trace.LocationID, at int64) int64 { return trace.CorrectOffset(maps[l].Offsets, at) }}
	if t.Clock.Method == trace.ClockNone {
		d.clock = hostClocks(t.Defs)
		return d, d.findTogether(ctx, c.opts.Jobs)
	}
	return d, nil
}

func (m ClockMode) auto() bool { return m == ClockAuto || m == "" }

// offsetMaps returns the clock maps that the measured offsets make; found is false if
// none changes anything. The locations of a process have one clock, so those of its first
// location that has any hold for all of them. Offsets that would make time run backwards
// are not used.
func offsetMaps(d *trace.Defs, ledger *trace.Ledger) (maps []trace.ClockMap, found bool) {
	type process struct {
		group trace.LocationGroupID
		alone trace.LocationID // of no group; else 0
	}
	maps = make([]trace.ClockMap, len(d.Locations))
	owners, measured := make([]process, len(d.Locations)), make(map[process]trace.ClockMap)
	for l, loc := range d.Locations {
		owner := process{group: d.Process(trace.LocationID(l))}
		if owner.group == trace.None {
			owner.alone = trace.LocationID(l)
		}
		owners[l] = owner
		i := firstReversal(loc.ClockOffsets)
		if i > 0 {
			ledger.Add(trace.CodeBadClockOffset, trace.Place{Location: trace.LocationID(l), Offset: -1},
				fmt.Sprintf("offset %d makes time run backwards", i))
		}
		m := trace.ClockMap{Offsets: loc.ClockOffsets}
		if i == 0 && !m.Identity() && measured[owner].Offsets == nil {
			measured[owner], found = m, true
		}
	}
	for l, owner := range owners {
		maps[l] = measured[owner]
	}
	return maps, found
}

// firstReversal returns the first offset at which corrected time would not be later than
// at the one before, 0 if there is none.
func firstReversal(offsets []trace.ClockOffset) int {
	for i := 1; i < len(offsets); i++ {
		a, b := offsets[i-1], offsets[i]
		if b.Time <= a.Time || a.Offset-b.Offset >= b.Time-a.Time {
			return i
		}
	}
	return 0
}

// truncated returns the number of locations whose events end before their time.
func truncated(findings []trace.Finding) (n uint32) {
	for _, f := range findings {
		if f.Code == trace.CodeTruncated || f.Code == trace.CodeCorrupt {
			n += uint32(f.Count)
		}
	}
	return n
}
