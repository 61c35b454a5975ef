package stats

import (
	"context"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/engine"
	"tracekit/trace"
)

// Analyze computes the whole analysis of a trace. It decodes the trace once more; apart
// from that its time grows with the number of calls and messages. Its tables lie in the
// trace's Store. An error means that the options make no sense, that the trace could not
// be read again or that ctx was cancelled.
//
//  1. waits: forward over collectives, then over calls with their messages
//  2. the critical path: backward over the calls that wait; beside it the overhead of calls, if
//     that is asked for: their durations are sampled, laws fitted, and the calls held to them
//     (after the profile if calls of lines are counted: it tells which those are)
//  3. the profile: a decoding pass over all events, which attributes corrected times and
//     the pieces of the path to call paths, and finds the useful time before each call; beside
//     it waits are brought into the order of their ends
//  4. the ideal replay: forward over the calls that wait, with useful times; beside it the
//     delays: backward over all waits, with what each location did between its calls, which the
//     profile has noted
func Analyze(ctx context.Context, t *trace.Trace, opts Options) (*Result, error) {
	if opts.Top == 0 {
		opts.Top = DefaultTop
	}
	s, err := NewScope(t, opts.selection())
	if err != nil {
		return nil, err
	}
	w := newWaiting(t, &s, opts.Jobs, opts.Top)
	w.sync = newSyncTables(t)
	if opts.Overhead != nil {
		w.keepSizes()
		w.messages = newMessagePairs(t)
	}
	if err := w.run(ctx); err != nil {
		return nil, fmt.Errorf("finding wait states: %w", err)
	}
	var o *overheads
	findOverhead := nothing
	if opts.Overhead != nil {
		o = newOverheads(w, *opts.Overhead)
		findOverhead = o.find
	}
	path := newCriticalPath(t, &s, w.calls)
	if err := engine.Beside(ctx, opts.Jobs, path.run, findOverhead); err != nil {
		return nil, fmt.Errorf("finding the critical path and the overhead of calls: %w", err)
	}
	p := newProfiler(t, &s, path.pieces, w.sync.clocks)
	p.segments, p.callWaits = newSegments(t, &s, w.calls), w.calls
	p.watchThreads()
	d := newDelays(w, p.segments)
	var part *profilePart
	order := func(ctx context.Context) error {
		if err := d.order(ctx, w); err != nil {
			return fmt.Errorf("ordering waits: %w", err)
		}
		return nil
	}
	err = engine.Beside(ctx, opts.Jobs, order, func(ctx context.Context) (err error) {
		part, err = p.run(ctx, PassOptions{Selection: opts.selection(), Jobs: opts.Jobs, Beside: opts.Beside, Workers: opts.Workers, Progress: opts.Progress})
		return err
	})
	if err != nil {
		return nil, err
	}
	var noticed []trace.Finding
	for _, b := range opts.Beside {
		findings, err := b.Finish(ctx)
		if err != nil {
			return nil, err
		}
		noticed = append(noticed, findings...)
	}
	processes, err := p.teams(ctx, w)
	if err != nil {
		return nil, err
	}
	for _, pieces := range path.pieces {
		pieces.Release()
	}
	found, err := p.phases(ctx, opts.Jobs)
	if err != nil {
		return nil, fmt.Errorf("finding phases: %w", err)
	}
	if o != nil && opts.Overhead.PerLine {
		o.drawLines(p, part)
		if err := o.charge(ctx); err != nil {
			return nil, fmt.Errorf("finding the overhead of lines: %w", err)
		}
	}
	started, r := p.startups(), newReplay(t, &s, w.sync)
	if err := engine.Beside(ctx, opts.Jobs, r.run, d.run); err != nil {
		return nil, fmt.Errorf("replaying on an ideal network and finding delays: %w", err)
	}
	stuck := r.stuck()
	r.arrivals.Release()
	w.sync.release()

	a := &Result{Analysis: document.Analysis{Schema: document.Schema, Trace: TraceOf(t), Selection: s.Block(t), Coverage: coverage(t), Clock: ClockRow(t)}}
	a.Profile, a.CallPaths = profileRows(p, part), callPathRows(p, part)
	a.CallSites = callSiteRows(p, part, w.bytes)
	a.Messages, a.CommMatrix = w.msgs.result(rate{t.Defs.Clock.Resolution}), w.msgs.matrix(rate{t.Defs.Clock.Resolution})
	a.Collectives = w.colls.rows(rate{t.Defs.Clock.Resolution})
	a.WaitStates = waitRows(w, d, times(s.to-s.from, s.ranks(t)), times(s.to-s.from, threadCount(processes)))
	keys := d.keys()
	a.Delays, a.DelayTotals = delayRows(d, p, keys)
	a.PathCosts = pathCosts(d, p, keys, part, o)
	d.release()
	a.CriticalPath = criticalRows(path, p, part, w.byPath)
	sums := lineSums(p, part, w, o)
	if o != nil {
		a.Overhead, a.RankOverhead, a.LineCalls = o.result(p, sums, s.to-s.from)
		a.CallOverhead = o.byCall
	}
	a.Lines = lineRows(p, sums, o, a.Delays)
	a.Waits, a.Segments, a.Path = w.calls, p.segments, path.segments
	if part.changed || stuck != nil {
		r = nil // what it says is not so
	}
	if callsMPI(t) {
		a.Efficiency = efficiency(p, part, started, r)
	} else {
		stuck = nil
	}
	a.Phases = found
	a.Threads = threadRows(p, processes, a.Efficiency)
	a.Counters = usefulCounters(p, part)
	a.Findings = findings(t, a.Efficiency, slices.Concat(part.findings, stuck, p.ledger.Findings(), noticed))
	return a, t.Store.Err()
}

// nothing is what is done for an analysis that is not asked for.
func nothing(context.Context) error { return nil }
