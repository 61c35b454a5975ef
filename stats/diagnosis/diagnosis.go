// Package diagnosis finds what to fix in a run: it takes the places that make others wait,
// asks the calibrated replay what mending each would gain, and ranks them by that.
package diagnosis

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/engine"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/threads"
	"tracekit/stats/whatif"
	"tracekit/trace"
)

// What is worth a word.
const (
	leastGain = 0.01 // of the run: a cause that gains less is none
	doubtful  = 0.1  // of the run: records that begin so late make all other figures doubtful
	most      = 10   // causes
	tried     = 16   // candidates of which the gain is predicted
)

// Find returns the causes, the one with the most gain first; none if nothing is worth fixing. It completes the analysis, which must be of
// the whole run: by the time that no cause may have, and the run time on an ideal network.
func Find(ctx context.Context, t *trace.Trace, a *analysis.Result, jobs int) ([]cause.Cause, error) {
	return FindPart(ctx, t, a, a, math.MinInt64, math.MaxInt64, jobs)
}

// FindPart returns the causes in a part of the run, a window of corrected ticks of which the analysis a is. They count by what the whole
// run would gain if what passes then were mended. Changes that are not of some time, of the network and of the order of messages, are not
// tried.
func FindPart(ctx context.Context, t *trace.Trace, a, whole *analysis.Result, from, to int64, jobs int) ([]cause.Cause, error) {
	f := newFinder(t, a, to)
	if f.run == 0 { // less than a nanosecond
		return []cause.Cause{}, nil
	}
	f.findIncomplete()
	var candidates []candidate
	causes := []cause.Cause{}
	var m *whatif.Model
	find := func(context.Context) error { candidates = f.candidates(); return nil }
	model := func(ctx context.Context) (err error) { m, err = whatif.New(ctx, t, whole, jobs); return err }
	_, replays := f.inCalls()
	var err error
	if replays || f.inefficient() {
		err = engine.Beside(ctx, jobs, find, model)
	} else if err = find(ctx); slices.ContainsFunc(candidates, func(c candidate) bool { return len(c.changes) > 0 }) {
		err = model(ctx)
	}
	if err != nil {
		return nil, err
	}
	if m != nil {
		m.Within(from, to)
		defer m.Release()
	}
	judged, err := f.replay(ctx, m, candidates, replays, jobs)
	if err != nil {
		return nil, err
	}
	if replays {
		for _, c := range f.transfer() {
			said, err := f.judge(ctx, m, c)
			if err != nil {
				return nil, err
			}
			candidates, judged = append(candidates, c), append(judged, said)
		}
	}
	onceEach(candidates, judged)
	explained := int64(0) // of the time in calls
	for _, c := range judged {
		if c != nil {
			causes = append(causes, *c)
			if c.Kind == cause.SlowCalls {
				explained = max(explained, gainOf(*c))
			}
		}
	}
	recorded(causes)
	a.Unclassified = f.unclassified(explained)
	if !slices.ContainsFunc(causes, isFault) {
		lever, err := f.lever()
		if err != nil {
			return nil, err
		}
		causes = append(causes, lever...)
	}
	return Join(causes, nil), nil
}

// replay judges candidates, and beside them the network if that is asked for: replays, of which none needs another. If none of them is
// likely to be a cause, it also tries the levers, which the run is told then.
func (f *finder) replay(ctx context.Context, m *whatif.Model, candidates []candidate, network bool, jobs int) ([]*cause.Cause, error) {
	likely := slices.ContainsFunc(candidates, func(c candidate) bool { return c.cause.Kind != cause.Startup })
	judged := make([]*cause.Cause, len(candidates))
	tasks := []func(context.Context) error{}
	f.halves = sync.OnceValues(func() ([]int64, error) { return f.halved(ctx, m, f.levers(), jobs) })
	if f.inefficient() && !likely {
		tasks = append(tasks, func(context.Context) error { _, err := f.halves(); return err })
	}
	ideal := func(ctx context.Context) error { return f.idealNetwork(ctx, m) }
	known := network && m.Idle(whatif.IdealNetwork()) // once another replay has come to its end
	if network && !known {
		tasks = append(tasks, ideal)
	}
	for i, c := range candidates {
		tasks = append(tasks, func(ctx context.Context) (err error) { judged[i], err = f.judge(ctx, m, c); return err })
	}
	_, err := engine.Map(ctx, jobs, len(tasks), func(ctx context.Context, i int) (struct{}, error) { return struct{}{}, tasks[i](ctx) })
	if err == nil && known {
		err = ideal(ctx)
	}
	return judged, err
}

// Join returns the causes of both lists that are listed, not nil if there are none: the one with the most gain first, those without a
// known gain last. What equal ones are about decides. That ranks start at different times is one cause, of processes and of devices.
// That a run is inefficient is said where nothing but startup is a cause.
func Join(a, b []cause.Cause) []cause.Cause {
	late := func(c cause.Cause) bool { return c.Kind == cause.Startup && c.Region == field.NotRecorded }
	causes := append(make([]cause.Cause, 0, len(a)+len(b)), a...)
	for _, c := range b {
		if !late(c) || !slices.ContainsFunc(a, late) {
			causes = append(causes, c)
		}
	}
	if slices.ContainsFunc(causes, isFault) {
		causes = slices.DeleteFunc(causes, func(c cause.Cause) bool { return c.Kind == cause.Inefficient })
	}
	slices.SortStableFunc(causes, func(a, b cause.Cause) int {
		return cmp.Or(cmp.Compare(gainOf(b), gainOf(a)), cmp.Compare(b.WaitsCausedNs, a.WaitsCausedNs), byName(a, b), cmp.Compare(a.Text, b.Text))
	})
	return causes[:min(most, len(causes))]
}

// isFault reports whether a cause is one of the run between startup and end, beside which nothing is said of efficiency.
func isFault(c cause.Cause) bool {
	return c.Kind != cause.Startup && c.Kind != cause.Inefficient && (c.Kind != cause.ThreadIdle || c.GainNs != nil)
}

// byName orders causes by what they are about.
func byName(a, b cause.Cause) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Operation, b.Operation), cmp.Compare(a.Region, b.Region),
		cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), slices.Compare(a.Callers, b.Callers), slices.Compare(a.Ranks, b.Ranks))
}

// byBound orders candidates, what may gain most first.
func byBound(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.bound, a.bound), byName(a.cause, b.cause))
}

// judge predicts what mending a candidate would gain; it returns nil if that is not worth it, or
// if the model cannot judge it.
func (f *finder) judge(ctx context.Context, m *whatif.Model, c candidate) (*cause.Cause, error) {
	cause, gain, run := c.cause, c.gain, f.run
	cause.Headline, cause.Text = c.said()
	switch {
	case len(c.changes) > 0:
		p, err := m.Predict(ctx, c.changes...)
		stuck := new(whatif.StuckError)
		switch {
		case errors.As(err, &stuck) && c.needed:
			return nil, nil
		case errors.As(err, &stuck):
			cause.Change = "The saving is unknown: " + err.Error() + "."
			return &cause, nil
		case ctx.Err() != nil:
			return nil, err
		case err != nil:
			return nil, nil
		}
		gain = p.Gain()
	case gain == 0:
		return &cause, nil
	}
	if gain < max(1, c.least, int64(leastGain*float64(run))) {
		return nil, nil
	}
	share := float64(gain) / float64(run)
	cause.GainNs, cause.GainShare = &gain, &share
	cause.Change = f.gains(c, gain, share)
	if c.slow != nil && c.slow[0].rare == nil {
		shared, err := f.shared(ctx, m, c)
		if err != nil {
			return nil, err
		}
		cause.Evidence["shared_gain_ns"] = float64(shared)
	}
	return &cause, nil
}

// shared predicts what is gained if all ranks share what culprits do longer than others, instead of none doing it.
func (f *finder) shared(ctx context.Context, m *whatif.Model, c candidate) (int64, error) {
	var changes []whatif.Change
	for _, s := range c.slow {
		changes = append(changes, whatif.Balance(s.at))
	}
	p, err := m.Predict(ctx, changes...)
	if err != nil {
		return 0, ctx.Err()
	}
	return p.Gain(), nil
}

func gainOf(c cause.Cause) int64 {
	if c.GainNs == nil {
		return 0
	}
	return *c.GainNs
}

// A candidate is a cause whose gain is not known yet.
type candidate struct {
	cause   cause.Cause
	bound   int64           // what it gains at most, ns: see candidate
	needed  bool            // the replay must be able to judge it
	least   int64           // what it must gain, ns
	gain    int64           // if it is known without changes
	changes []whatif.Change // that mend it; empty: none that the replay could judge
	text    string          // evidence
	slow    []slowness      // of culprits, the place that may gain most first
	mended  string          // the change: "If it took no time"
	loss    loss            // of teams of threads, that it has time of
	team    bool            // it has all of that, of all ranks
}

// A finder finds candidates.
type finder struct {
	t        *trace.Trace
	a        *analysis.Result
	run      int64        // ns, of the part that is analyzed
	ranks    []uint32     // of the world that are in the trace until the end, ascending: of the others nothing, or not all, is known
	places   []field.Site // by call path
	critical map[field.Site]int64
	unequal  map[field.Site]int64    // what of that is more than as many mean visits take
	slow     map[field.Site]int64    // what calls take beyond what they need and wait, summed over ranks
	parts    map[field.Site][]*place // outside MPI, by caller
	waiting  map[string]bool         // regions in which a host does nothing but wait for an accelerator
	meets    map[string]loss         // regions in which a thread does nothing but wait for others
	serial   whatif.Place            // where masters work, fork and join outside parallel regions; nil: there are none

	incomplete incomplete
	network    *int64                  // ns that the run would be shorter on an ideal network; nil: not known
	halves     func() ([]int64, error) // what levers gain that take half of their time, found once
}

func newFinder(t *trace.Trace, a *analysis.Result, to int64) *finder {
	f := &finder{t: t, a: a, run: runOf(a), places: profile.Sites(t), critical: make(map[field.Site]int64),
		waiting: make(map[string]bool), unequal: make(map[field.Site]int64), slow: make(map[field.Site]int64),
		parts: make(map[field.Site][]*place), meets: make(map[string]loss)}
	early := scope.EndEarly(t, to)
	for r, missing := range t.Missing() {
		if !missing && !early[r] {
			f.ranks = append(f.ranks, uint32(r))
		}
	}
	for id, m := range threads.Meanings(t.Defs) {
		switch label := t.Defs.RegionLabel(trace.RegionID(id)); m.Activity {
		case threads.Barrier:
			f.meets[label] = atBarriers
		case threads.Waiting:
			f.meets[label] = noLoss
		}
	}
	for id, waits := range t.Defs.DeviceWaits() {
		if waits {
			f.waiting[t.Defs.RegionLabel(trace.RegionID(id))] = true
		}
	}
	if a.Threads != nil && a.Threads.ParallelRegions > 0 {
		f.serial, _ = f.inTeams()
	}
	for _, r := range a.CriticalPath.Regions {
		place := field.Site{SourceLine: r.SourceLine, Operation: r.Operation}
		f.critical[place] += r.TimeNs
		f.unequal[place] += r.UnequalNs
	}
	if a.CallOverhead != nil {
		for _, r := range a.Lines {
			f.slow[field.Site{SourceLine: r.SourceLine, Operation: r.Operation}] = r.TransferNs + r.UnexplainedNs
		}
	}
	return f
}

// runOf returns how long the part of the run is that is analyzed.
func runOf(a *analysis.Result) int64 {
	if s := a.Selection; s != nil {
		return s.ToNs - s.FromNs
	}
	return a.Trace.DurationNs
}

// candidates returns what may gain enough, what may gain most first.
func (f *finder) candidates() []candidate {
	if len(f.ranks) == 0 {
		return nil
	}
	var out []candidate
	var calls, waits []waitstate.Delay
	rows := f.worth()
	f.split(rows)
	for _, row := range rows {
		switch {
		case document.StartsUp(string(row.Operation)) || row.Region == field.BufferFlush || row.Region == field.RecordingOff:
		case row.Operation != "":
			calls = append(calls, row)
		case f.waiting[string(row.Region)]:
			waits = append(waits, row)
		default:
			out = append(out, f.computing(row)...)
		}
	}
	out = slices.Concat(joined(out), f.deviceWaits(waits), f.slowCalls(calls))
	out = append(out, f.startup()...)
	out = append(out, f.workers()...)
	out = append(out, f.late()...)
	out = append(out, f.measurement()...)
	if a := f.a; a.Selection == nil {
		out = append(out, f.wrongOrder()...)
		out = append(out, f.slowPhases()...)
	}
	out = append(out, f.teams()...)
	out = slices.DeleteFunc(out, func(c candidate) bool { return c.bound < max(f.least(), c.least) })
	slices.SortStableFunc(out, byBound)
	return out[:min(tried, len(out))]
}

// least is what a cause must gain, ns.
func (f *finder) least() int64 { return int64(leastGain * float64(f.run)) }

// worth returns the places that make others wait and have so much of the critical path that
// they can gain something.
func (f *finder) worth() (out []waitstate.Delay) {
	for _, row := range f.a.Delays {
		if float64(f.critical[placeOf(row)]) >= leastGain*float64(f.run) {
			out = append(out, row)
		}
	}
	return out
}

func placeOf(row waitstate.Delay) field.Site {
	return field.Site{SourceLine: row.SourceLine, Operation: row.Operation}
}

// beside are the places that are none of the call tree.
var beside = map[trace.PathID]string{profile.PathOutside: field.OutsideRegions, profile.PathFlush: field.BufferFlush,
	profile.PathOff: field.RecordingOff}

// site returns the call paths of a place.
func (f *finder) site(place field.Site) whatif.Place {
	return func(p trace.PathID) bool {
		if int(p) >= len(f.places) {
			name, known := beside[p]
			return known && place.Region == field.Name(name)
		}
		return f.places[p] == place
	}
}
