package stats

import (
	"context"
	"fmt"

	"tracekit/trace"
)

// Analyze computes the whole analysis of a trace. It decodes the trace once more; apart
// from that its time grows with the number of calls and messages. Its tables lie in the
// trace's Store. An error means that the options make no sense, that the trace could not
// be read again or that ctx was cancelled.
//
//  1. waits: forward over collectives, then over calls with their messages
//  2. the critical path: backward over the calls that wait
//  3. the profile: a decoding pass over all events, which attributes corrected times and
//     the pieces of the path to call paths, and finds the useful time before each call
//  4. overhead of calls, if it is asked for
//  5. the ideal replay: forward over the calls that wait, with useful times
func Analyze(ctx context.Context, t *trace.Trace, opts Options) (*Analysis, error) {
	if opts.Top == 0 {
		opts.Top = DefaultTop
	}
	s, err := newScope(t, opts)
	if err != nil {
		return nil, err
	}
	w := newWaiting(t, &s, opts)
	w.sync = newSyncTables(t)
	if opts.Overhead != nil {
		w.keepSizes()
		w.messages = newMessagePairs(t)
	}
	if err := w.run(ctx); err != nil {
		return nil, fmt.Errorf("finding wait states: %w", err)
	}
	path := newCriticalPath(t, &s, w.calls)
	if err := path.run(ctx); err != nil {
		return nil, fmt.Errorf("finding the critical path: %w", err)
	}
	p := newProfiler(t, &s, path.pieces, w.sync.clocks)
	part, err := p.run(ctx, opts)
	if err != nil {
		return nil, err
	}
	for _, pieces := range path.pieces {
		pieces.Release()
	}
	a := &Analysis{Schema: Schema, Trace: traceInfo(t), Selection: s.selection(t), Coverage: coverage(t), Clock: clock(t)}
	a.Profile, a.CallPaths = profileRows(p, part), callPathRows(p, part)
	a.CallSites = callSiteRows(p, part, w.bytes)
	a.Messages, a.CommMatrix = w.msgs.result(rate{t.Defs.Clock.Resolution}), w.msgs.matrix()
	a.Collectives = w.colls.rows(rate{t.Defs.Clock.Resolution})
	a.WaitStates = waitRows(w, (s.to-s.from)*int64(s.ranks(t)))
	a.CriticalPath = criticalRows(path, p, part, w.byPath)
	if err := a.overhead(ctx, p, part, w, opts.Overhead); err != nil {
		return nil, err
	}
	a.Waits = w.calls
	if err := a.efficiencies(ctx, p, part, w.sync); err != nil {
		return nil, err
	}
	a.Findings = findings(t, a.Efficiency, p.stuck)
	return a, t.Store.Err()
}

// overhead adds the overhead of MPI calls, if it is asked for, and the sum of everything
// per source line.
func (a *Analysis) overhead(ctx context.Context, p *profiler, part *profilePart, w *waiting, opts *OverheadOptions) error {
	var o *overheads
	if opts != nil {
		o = newOverheads(w, *opts)
		if err := o.run(ctx); err != nil {
			return fmt.Errorf("finding overhead: %w", err)
		}
	}
	w.releaseSizes()
	sums := lineSums(p, part, w, o)
	if o != nil {
		a.Overhead = o.result(p, sums, p.scope.to-p.scope.from)
	}
	a.Lines = lineRows(p, sums, o)
	return nil
}

// efficiencies replays the run on an ideal network and adds the efficiencies, if anybody
// calls MPI.
func (a *Analysis) efficiencies(ctx context.Context, p *profiler, part *profilePart, sync *syncTables) error {
	defer sync.release()
	if !callsMPI(p.t) {
		return nil
	}
	started := p.startups()
	r := newReplay(p.t, p.scope, sync)
	stuck, at, err := r.run(ctx)
	r.arrivals.Release()
	if err != nil {
		return fmt.Errorf("replaying on an ideal network: %w", err)
	}
	p.stuck = nil
	if stuck != trace.None {
		call := p.t.Calls[stuck].At(int(at))
		p.stuck = &trace.Finding{Code: trace.CodeReplayStuck, Count: 1,
			First: trace.Place{Location: stuck, Seq: call.Seq, Offset: -1},
			Text:  fmt.Sprintf("%s waits for what never happens", p.t.Defs.RegionLabel(call.Region))}
		r = nil
	}
	a.Efficiency = efficiency(p, part, started, r)
	return nil
}
