package analysis

import (
	"context"
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/engine"
	"tracekit/stats/critical"
	"tracekit/stats/delays"
	"tracekit/stats/numbers"
	"tracekit/stats/overhead"
	"tracekit/stats/profile"
	"tracekit/stats/replay"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// Analyze analyses a trace, but for what accelerators and files do and for the causes, which stats.Analyze adds. It
// decodes the trace once more; apart from that its time grows with the number of calls and messages. Its tables lie
// in the trace's Store. An error means that the options make no sense, that the trace could not be read again or that
// ctx was cancelled.
//
//  1. waits: forward over collectives, then over calls with their messages
//  2. the critical path: backward over the calls that wait; beside it the overhead of calls, if
//     that is asked for: their durations are sampled, laws fitted, and the calls held to them
//     (after the profile if calls of lines are counted: it tells which those are)
//  3. the profile: a decoding pass over all events. It attributes corrected times and
//     the pieces of the path to call paths, and finds the useful time before each call. Beside
//     it waits are brought into the order of their ends
//  4. the ideal replay: forward over the calls that wait, with useful times; beside it the
//     delays: backward over all waits, with what each location did between its calls, which the
//     profile has noted
func Analyze(ctx context.Context, t *trace.Trace, opts Options) (*Result, error) {
	if opts.Top == 0 {
		opts.Top = DefaultTop
	}
	s, err := scope.New(t, opts.selection())
	if err != nil {
		return nil, err
	}
	w := waits.NewFinder(t, &s, opts.Jobs, opts.Top)
	w.Sync = waits.NewSyncTables(t)
	if opts.Overhead != nil {
		w.KeepSizes()
		w.Messages = waits.NewMessagePairs(t)
	}
	if err := w.Run(ctx); err != nil {
		return nil, fmt.Errorf("finding wait states: %w", err)
	}
	var o *overhead.Finder
	findOverhead := nothing
	if opts.Overhead != nil {
		o = overhead.NewFinder(w, *opts.Overhead)
		findOverhead = o.Find
	}
	path := critical.NewFinder(t, &s, w.Calls)
	if err := engine.Beside(ctx, opts.Jobs, path.Run, findOverhead); err != nil {
		return nil, fmt.Errorf("finding the critical path and the overhead of calls: %w", err)
	}
	p := profile.New(t, &s, path.Pieces, w.Sync.Clocks)
	p.Segments, p.CallWaits = profile.NewSegments(t, &s, w.Calls), w.Calls
	p.Cut()
	p.WatchThreads()
	p.ChargeTeams(w)
	d := delays.NewFinder(w)
	d.Steps = opts.Steps
	var part *profile.Part
	order := func(ctx context.Context) error {
		if err := d.Order(ctx, w); err != nil {
			return fmt.Errorf("ordering waits: %w", err)
		}
		return nil
	}
	err = engine.Beside(ctx, opts.Jobs, order, func(ctx context.Context) (err error) {
		part, err = p.Run(ctx, profile.Options{Selection: opts.selection(), Jobs: opts.Jobs, Observers: opts.Observers, Workers: opts.Workers,
			Progress: opts.Progress})
		return err
	})
	if err != nil {
		return nil, err
	}
	var noticed []trace.Finding
	for _, b := range opts.Observers {
		findings, err := b.Finish(ctx)
		if err != nil {
			return nil, err
		}
		noticed = append(noticed, findings...)
	}
	processes, err := p.Teams(ctx, opts.Jobs)
	if err != nil {
		return nil, err
	}
	for _, pieces := range path.Pieces {
		pieces.Release()
	}
	iterations, err := p.Phases(ctx, opts.Jobs)
	if err != nil {
		return nil, fmt.Errorf("finding phases: %w", err)
	}
	if o != nil && opts.Overhead.PerLine {
		o.DrawLines(p, part)
		if err := o.Charge(ctx); err != nil {
			return nil, fmt.Errorf("finding the overhead of lines: %w", err)
		}
	}
	d.Segments = profile.Delegated(t, p.Segments)
	started, r := p.Startups(), replay.New(t, &s, w.Sync)
	if err := engine.Beside(ctx, opts.Jobs, r.Run, d.Run); err != nil {
		return nil, fmt.Errorf("replaying with zero-cost MPI and finding delays: %w", err)
	}
	stuck := r.Stuck()
	r.Release()
	w.Sync.Release()

	a := &Result{Analysis: document.Analysis{Schema: document.Schema, Trace: Trace(t), Selection: s.Block(t), Coverage: Coverage(t),
		Clock: Clock(t)}}
	rate := numbers.Rate{Resolution: t.Defs.Clock.Resolution}
	linesOf := func(context.Context) error {
		a.WaitStates = delays.WaitRows(w, d, s.RankTime(t), numbers.Times(s.To-s.From, profile.ThreadCount(processes)))
		keys := d.Keys()
		a.Delays, a.DelayTotals = delays.Rows(d, p, keys)
		a.PathCosts = delays.PathCosts(d, p, keys, part, o)
		a.EqualStepNs, a.OutsideSteps = opts.Steps.Equal(t, s.From, s.To)
		d.Release()
		sums := overhead.LineSums(p, part, w, o)
		if o != nil {
			a.Overhead, a.RankOverhead, a.LineCalls = o.Result(p, sums, s.To-s.From)
			a.CallOverhead = o.ByCall
		}
		a.Lines = overhead.LineRows(p, sums, o, a.Delays)
		return nil
	}
	callsMPI := replay.CallsMPI(t)
	pathsOf := func(ctx context.Context) (err error) {
		a.Profile, a.CallPaths = profile.ProfileRows(p, part), profile.CallPathRows(p, part)
		a.CallSites = profile.CallSiteRows(p, part, w.Bytes)
		a.Messages, a.CommMatrix = w.Msgs.Result(rate), w.Msgs.Matrix(rate)
		a.Collectives = w.Colls.Rows(rate)
		a.CriticalPath = critical.Rows(path, p, part, w.ByPath)
		if callsMPI {
			a.Incomplete, err = w.Incomplete(ctx)
		}
		return err
	}
	if err := engine.Beside(ctx, opts.Jobs, linesOf, pathsOf); err != nil {
		return nil, err
	}
	a.Waits, a.Exchanging, a.Segments, a.Delegated, a.Path = w.Calls, w.Exchanging, p.Segments, d.Segments, path.Segments
	if part.Changed || stuck != nil {
		r = nil // what it says is not so
	}
	if callsMPI {
		a.Efficiency = replay.Efficiency(p, part, started, r, a.Incomplete, len(processes) > 0)
	} else {
		stuck = nil
	}
	if a.Phases = iterations; iterations != nil && a.Efficiency != nil && a.Efficiency.Hidden() {
		for i := range iterations.Rows {
			r := &iterations.Rows[i]
			r.ParallelEfficiency, r.LoadBalance, r.CommunicationEfficiency = nil, nil, nil
		}
	}
	a.Threads = profile.ThreadRows(p, processes, a.Efficiency)
	a.Counters = profile.UsefulCounters(p, part)
	a.Findings = Findings(t, a.Efficiency, slices.Concat(part.Findings, stuck, p.Ledger.Findings(), noticed))
	return a, t.Store.Err()
}

// nothing is what is done for an analysis that is not asked for.
func nothing(context.Context) error { return nil }
