package merge

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"tracekit/codec/model"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Options says how a trace is merged. The zero value corrects clocks as ClockAuto does,
// uses all processors.
type Options struct {
	Jobs       int              // locations decoded at the same time; below 1: one per processor
	Store      *spill.Store     // of the tables; nil: one of spill.DefaultBudget
	Clock      ClockMode        // "": ClockAuto
	Together   bool             // clocks are found by what happens together, before anything else
	MinLatency int64            // ticks that a message takes at least; below that it is a violation
	Progress   *engine.Progress // counts decoded events; may be nil
	Scans      *Scans           // of all locations, which then are not decoded; nil: there are none
}

// Merge decodes a source once, unless its scans are given, and reconciles its locations. The trace holds tables that lie in its Store,
// which the caller closes, whoever made it. An error means that the source could not be read, temporary files not written, ctx was
// cancelled, or there is no such clock mode. A *trace.SyntaxError means that the run is longer than an int64 holds nanoseconds; whatever is
// wrong with the data stands in the trace's findings.
func Merge(ctx context.Context, src trace.Source, opts Options) (*trace.Trace, error) {
	switch opts.Clock {
	case "", ClockAuto, ClockNone, ClockOffsets, ClockCLC:
	default:
		return nil, fmt.Errorf("unknown clock mode %q", opts.Clock)
	}
	store := opts.Store
	if store == nil {
		store = spill.NewStore(spill.DefaultBudget(), "")
	}
	t, err := merge(ctx, src, store, opts)
	if err == nil {
		err = store.Err()
	}
	if err != nil {
		if opts.Store == nil {
			store.Close()
		}
		return nil, err
	}
	return t, nil
}

func merge(ctx context.Context, src trace.Source, store *spill.Store, opts Options) (*trace.Trace, error) {
	f := newFacts(src.Defs())
	scans := opts.Scans
	if scans == nil {
		scanned, err := scan(ctx, src, f, store, engine.Options{Jobs: opts.Jobs, Progress: opts.Progress})
		if err != nil {
			return nil, fmt.Errorf("scanning events: %w", err)
		}
		scans = &Scans{model.Results[located]{Of: scanned}}
	}
	if err := scans.Missing(src.Defs()); err != nil {
		return nil, fmt.Errorf("merging scans: %w", err)
	}
	scanned := scans.Of
	if err := checkSpan(src, scanned); err != nil {
		return nil, err
	}
	var ledger trace.Ledger
	for _, l := range scanned {
		ledger.Merge(l.ledger.Findings())
	}
	if place, text, ok := overflow(src.Defs(), scanned); ok {
		ledger.Add(trace.CodeOverflow, place, text)
	}
	t := settle(src, f, store, scanned)
	missing := t.Missing()
	reportMissing(t, missing, &ledger)
	reportTwins(f.resolver, &ledger)
	clocks := newClockwork(t, &ledger, opts)
	if err := match(ctx, t, scanned, missing, clocks, &ledger, opts.Jobs); err != nil {
		return nil, err
	}
	c := &collector{trace: t, resolver: f.resolver, scanned: scanned, ledger: &ledger, clocks: clocks, jobs: opts.Jobs,
		absent: f.resolver.count(missing)}
	if err := c.collect(ctx); err != nil {
		return nil, err
	}
	for _, l := range scanned {
		clocks.parts = append(clocks.parts, l.parts)
	}
	if err := clocks.correct(ctx); err != nil {
		return nil, err
	}
	if err := apply(ctx, t, scanned, opts.Jobs); err != nil {
		return nil, err
	}
	reportEarly(t, &ledger)
	reportEpochs(t, &ledger)
	ledger.Merge(src.Findings())
	ledger.Merge(scans.Findings)
	t.Findings = ledger.Findings()
	t.Coverage.LocationsTruncated = truncated(t.Findings)
	return t, nil
}

// checkSpan refuses a trace whose run has more nanoseconds, or ticks, than an int64 counts to:
// differences of its times would be anything.
func checkSpan(src trace.Source, scanned []*located) error {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	var from, to int
	for l, s := range scanned {
		if s.span.Events > 0 && s.span.First < first {
			first, from = s.span.First, l
		}
		if s.span.Events > 0 && s.span.Last > last {
			last, to = s.span.Last, l
		}
	}
	if first > last { // no events
		return nil
	}
	ticks, resolution := uint64(last-first), src.Defs().Clock.Resolution // right even if the signed difference is not
	hi, lo := bits.Mul64(ticks, 1e9)
	if ticks <= math.MaxInt64 && hi < resolution {
		if ns, _ := bits.Div64(hi, lo, resolution); ns <= math.MaxInt64 {
			return nil
		}
	}
	years := float64(ticks) / float64(resolution) / (365.25 * 24 * 3600)
	return &trace.SyntaxError{File: src.Info().Path, Offset: -1, Err: fmt.Errorf(
		"its times cannot be true: %.3g years from tick %d, in location %d, to tick %d, in location %d", years, first, from, last, to)}
}

// overflow looks for sums over the run that 64 bits do not hold: of sizes in bytes, of times in
// nanoseconds with a sign. Others are parts of these.
func overflow(d *trace.Defs, scanned []*located) (at trace.Place, text string, found bool) {
	var bytes, times total
	for l, s := range scanned {
		at = trace.Place{Location: trace.LocationID(l), Offset: -1}
		if bytes.add(s.bytes.sum); bytes.overflow || s.bytes.overflow {
			return at, "the messages until here have more than 2^64 bytes", true
		}
		if s.span.Events == 0 {
			continue
		}
		times.add(uint64(s.span.Last - s.span.First)) // right even if the difference of the two is not
		if seconds := float64(times.sum) / float64(max(d.Clock.Resolution, 1)); times.overflow || seconds > math.MaxInt64/1e9 ||
			times.sum > math.MaxInt64 {
			return at, fmt.Sprintf("the locations until here run for %.3g years", seconds/(365.25*24*3600)), true
		}
	}
	return at, "", false
}

// settle makes one trace of the scanned locations: the call trees become one, in order of
// locations. The calls' paths are changed later, together with their times.
func settle(src trace.Source, f *facts, store *spill.Store, scanned []*located) *trace.Trace {
	d := src.Defs()
	t := &trace.Trace{
		Source: src, Defs: d, Tree: trace.NewCallTree(), Store: store,
		World: d.World(), Rank: f.resolver.ranks,
		Collectives: spill.NewTable[trace.Collective](store),
		Members:     spill.NewTable[trace.Member](store),
	}
	for _, l := range scanned {
		l.paths = t.Tree.Merge(l.tree)
		l.tree = nil
		t.Span = append(t.Span, l.span)
		t.Calls = append(t.Calls, l.calls)
		t.Sends = append(t.Sends, l.sends)
		t.Recvs = append(t.Recvs, l.recvs)
		t.Coverage.EventsRead += l.span.Events
		t.Coverage.EventsSkipped += l.skipped
	}
	return t
}
