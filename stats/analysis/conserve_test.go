package analysis_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// analyzed merges a source and analyses it.
func analyzed(t testing.TB, src trace.Source, clock merge.ClockMode, opts analysis.Options) (*trace.Trace, *analysis.Result) {
	t.Helper()
	tr, err := merge.Merge(context.Background(), src, merge.Options{Clock: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	a, err := analysis.Analyze(context.Background(), tr, opts)
	if err != nil {
		t.Fatal(err)
	}
	return tr, a
}

// conserved checks what must hold of every analysis of a whole trace: parts sum to wholes.
func conserved(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	var exclusive, paths, spans int64
	for _, r := range a.Profile {
		exclusive += r.ExclusiveNs
	}
	for _, r := range a.CallPaths {
		paths += r.ExclusiveNs
	}
	for _, s := range tr.Span {
		if s.Events > 0 {
			spans += s.Last - s.First
		}
	}
	gaps := gapsOf(t, tr)
	covered := inNs(tr, spans-gaps)
	if abs(covered-exclusive) > slack(tr, len(a.Profile)) || abs(covered-paths) > slack(tr, len(a.CallPaths)) {
		t.Errorf("exclusive times sum to %d by region and %d by call path; regions cover %d", exclusive, paths, covered)
	}
	var critical int64
	for _, r := range a.CriticalPath.Regions {
		critical += r.TimeNs
		if r.ImbalanceNs < 0 || r.ImbalanceNs > r.TimeNs {
			t.Errorf("the imbalance of %s%s is %d of %d on the path", r.Region, r.Operation, r.ImbalanceNs, r.TimeNs)
		}
	}
	if critical != a.CriticalPath.LengthNs || critical != a.Trace.DurationNs {
		t.Errorf("the critical path sums to %d, its length is %d, the run takes %d", critical, a.CriticalPath.LengthNs, a.Trace.DurationNs)
	}
	segmentsJoin(t, a)
	treed(t, tr, a)
	for _, c := range a.Collectives {
		if c.SkewNs+c.TransferNs+c.CompletionNs != c.TimeNs {
			t.Errorf("%+v: parts do not sum to the time", c)
		}
	}
	for _, l := range a.Lines {
		if l.OwnNs < -1 || l.OwnNs+l.LatePartnerNs+l.ImbalanceNs+l.TransferNs+l.UnexplainedNs != l.TimeNs {
			t.Errorf("%+v: parts do not sum to the time", l)
		}
	}
	matrixSums(t, tr, a)
	waitsFit(t, tr, a)
	delaysSum(t, a)
	segmentsCover(t, tr, a)
}

// segmentsCover checks that the segments of a location are all its time, from the begin of the run
// to its last event, and its waits those of its calls.
func segmentsCover(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	first, _ := scope.Run(tr)
	for l, s := range a.Segments {
		if s.Len() == 0 {
			continue // it is not analyzed, or has no calls
		}
		var all, waits, ofCalls int64
		for x := range s.Between(trace.None, trace.None) {
			if all += x.Time; x.Path == profile.PathWait {
				waits += x.Time
			}
		}
		for i := range s.Len() {
			ofCalls += s.Wait(uint32(i))
		}
		if all != tr.Span[l].Last-first || waits != ofCalls {
			t.Errorf("location %d: segments have %d ticks, %d of them waits; it has %d, its calls wait %d", l, all, waits, tr.Span[l].Last-first,
				ofCalls)
		}
	}
}

// delaysSum checks that every wait has a cause or is unexplained (DEFINITIONS 2.3), and that
// rows sum to totals. Costs are fractions of ticks, so that each may be 1 ns off.
func delaysSum(t *testing.T, a *analysis.Result) {
	t.Helper()
	var explained, rows int64
	for k, w := range a.WaitStates.All {
		x := a.DelayTotals[k]
		if k.Info().Caused && abs(x.ShortNs+x.LongNs+x.UnexplainedNs-w.TimeNs) > 2 {
			t.Errorf("%s: the causes %+v do not sum to %d", k, x, w.TimeNs)
		}
		if k.Info().Caused && (w.DirectNs < 0 || w.IndirectNs < 0 || w.PropagatingNs < 0 || w.TerminalNs < 0) {
			t.Errorf("%s: %+v", k, *w.Causes)
		}
	}
	for _, x := range a.DelayTotals {
		explained += x.ShortNs + x.LongNs
	}
	for _, d := range a.Delays {
		rows += d.TotalNs
		var by, ranks int64
		for _, ns := range d.By {
			by += ns
		}
		for _, r := range d.Ranks {
			ranks += r.TimeNs
		}
		if abs(by-d.TotalNs) > 1 || abs(ranks-d.TotalNs) > 1 {
			t.Errorf("%s %s costs %d: %d by wait state, %d by rank", d.Region, d.Operation, d.TotalNs, by, ranks)
		}
	}
	if abs(rows-explained) > int64(len(a.Delays)+len(a.DelayTotals)) {
		t.Errorf("places cost %d, the waits explained are %d", rows, explained)
	}
}

// explained checks that every wait of a sound trace has a cause.
func explained(t *testing.T, a *analysis.Result) {
	t.Helper()
	for k, x := range a.DelayTotals {
		if behind := a.WaitStates[waitstate.LateReceiverBehindLateSender].Count; x.UnexplainedNs > 0 && behind == 0 {
			t.Errorf("%s: %d ns have no cause", waitstate.Kind(k), x.UnexplainedNs)
		}
	}
}

// inNs returns a time in ticks in ns.
func inNs(tr *trace.Trace, ticks int64) int64 {
	q := new(big.Int).Mul(big.NewInt(ticks), big.NewInt(1_000_000_000))
	return q.Quo(q, new(big.Int).SetUint64(tr.Defs.Clock.Resolution)).Int64()
}

// slack returns by how much a sum of rows may differ from the whole: not at all, unless
// each row was rounded down to a ns.
func slack(tr *trace.Trace, rows int) int64 {
	if tr.Defs.Clock.Resolution == 1_000_000_000 {
		return 0
	}
	return int64(rows)
}

// gapsOf returns the time outside any region, found by following the call stacks.
func gapsOf(t *testing.T, tr *trace.Trace) int64 {
	var gaps int64
	for l, s := range tr.Span {
		var open []trace.RegionID
		last := s.First
		for b, err := range tr.Source.Events(context.Background(), trace.LocationID(l)) {
			if err != nil {
				t.Fatal(err)
			}
			for i, region := range b.Flow.Region {
				at := max(last, tr.Clock.Maps[l].At(b.Flow.Time[i]))
				if len(open) == 0 {
					gaps += at - last
				}
				last = at
				if b.Flow.Kind[i].Enters() {
					open = append(open, region)
					continue
				}
				for k := len(open) - 1; k >= 0; k-- {
					if open[k] == region {
						open = open[:k]
						break
					}
				}
			}
		}
		if len(open) == 0 && s.Events > 0 {
			gaps += s.Last - last
		}
	}
	return gaps
}

// segmentsJoin checks that the critical path has no gaps and never runs backwards.
func segmentsJoin(t *testing.T, a *analysis.Result) {
	t.Helper()
	end := a.Trace.EndNs
	for i := range a.Path.Len() {
		s := a.Path.At(i)
		if s.ToNs != end || s.FromNs >= s.ToNs {
			t.Fatalf("segment %d of the critical path is %+v, the one after it begins at %d", i, s, end)
		}
		end = s.FromNs
	}
}

// matrixSums checks the communication matrix and the histograms against the totals.
func matrixSums(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	m := a.Messages
	var cells, sizes, latencies [2]uint64
	var latency, wait int64
	for _, c := range a.CommMatrix {
		cells[0], cells[1] = cells[0]+c.Count, cells[1]+c.Bytes
		latency, wait = latency+c.TimeNs, wait+c.WaitNs
	}
	for _, c := range m.Sizes {
		sizes[0], sizes[1] = sizes[0]+c.Count, sizes[1]+c.Bytes
	}
	for _, c := range m.Latencies {
		latencies[0], latencies[1] = latencies[0]+c.Count, latencies[1]+c.Bytes
	}
	if want := [2]uint64{m.Count, m.Bytes}; cells != want || sizes != want || latencies != want {
		t.Errorf("messages and bytes: %v; matrix %v, sizes %v, latencies %v", want, cells, sizes, latencies)
	}
	if m.Latency != nil && abs(latency/int64(m.Count)-m.Latency.Mean) > 1+slack(tr, 1) {
		t.Errorf("latencies in the matrix have the mean %d, all messages %d", latency/int64(m.Count), m.Latency.Mean)
	}
	w := a.WaitStates
	if all := w[waitstate.LateSender].TimeNs + w[waitstate.LateReceiver].TimeNs +
		w[waitstate.LateReceiverBehindLateSender].TimeNs; abs(all-wait) > 2+slack(tr, len(a.CommMatrix)) {
		t.Errorf("waits in the matrix are %d, late senders and receivers %d", wait, all)
	}
}

// A callKey names a call.
type callKey struct {
	location trace.LocationID
	call     uint32
}

// partsOf returns begin and end of the parts in collectives that calls begin.
func partsOf(tr *trace.Trace) map[callKey][][2]int64 {
	parts := make(map[callKey][][2]int64)
	for i := range tr.Members.Len() {
		m := tr.Members.At(i)
		key := callKey{m.Location, m.Call}
		parts[key] = append(parts[key], [2]int64{m.Begin, m.End})
	}
	return parts
}

// waitsFit checks that no call waits longer than it lasts, that waits end when their cause
// begins (or with the call, if clocks disagree), and that they sum to the wait states. What
// begins and ends is a call or its part in a collective.
func waitsFit(t *testing.T, tr *trace.Trace, a *analysis.Result) {
	t.Helper()
	var sum int64
	parts := partsOf(tr)
	for l, waits := range a.Waits {
		for i := range waits.Len() {
			w, c := waits.At(i), tr.Calls[l].At(i)
			if w.Time < 0 || w.From < c.Enter && w.Time > 0 || w.Time > c.Leave-w.From && w.Time > 0 || (w.Time > 0) != (w.Kind != waitstate.None) {
				t.Fatalf("call %d of location %d lasts %d and waits %+v", i, l, c.Leave-c.Enter, w)
			}
			if w.Time == 0 {
				continue
			}
			if w.Kind != waitstate.AtStartup {
				sum += w.Time
			}
			if w.Call != trace.None {
				cause := tr.Calls[w.Location].At(int(w.Call)).Enter
				own := append(parts[callKey{trace.LocationID(l), uint32(i)}], [2]int64{c.Enter, c.Leave})
				begins := append(parts[callKey{w.Location, w.Call}], [2]int64{cause, cause})
				if !slices.ContainsFunc(own, func(own [2]int64) bool {
					return own[0] == w.From && slices.ContainsFunc(begins, func(b [2]int64) bool { return w.From+w.Time == min(b[0], own[1]) })
				}) {
					t.Fatalf("call %d of location %d waits %+v for what begins at %d", i, l, w, cause)
				}
			}
		}
	}
	var states int64
	for k, w := range a.WaitStates.All {
		if k.Info().Caused {
			states += w.TimeNs
		}
	}
	if sum = inNs(tr, sum); abs(states-sum) > slack(tr, 9) {
		t.Errorf("wait states sum to %d, the waits of calls to %d", states, sum)
	}
}

// TestRealArchivesAreConserved checks every real archive, whatever is wrong with it.
func TestRealArchivesAreConserved(t *testing.T) {
	for _, name := range []string{"pipit-pingpong", "sst-macro-test", "tracer-stencil4d-32", "npb-lu-S-4", "npb-mg-W-8",
		"npb-mg-S-4-user-run1",
		"npb-cg-W-8-run1", "npb-bt-S-16", "npb-ft-W-4", "lulesh-8x2"} {
		for _, clock := range []merge.ClockMode{merge.ClockAuto, merge.ClockOffsets, merge.ClockNone} {
			t.Run(name, func(t *testing.T) {
				tr := merged(t, sharedArchive(t, name), clock)
				a, err := analysis.Analyze(context.Background(), tr, analysis.Options{})
				if err != nil {
					t.Fatal(err)
				}
				conserved(t, tr, a)
			})
		}
	}
}

// TestCallsInCalls: a collective that is made of others, which are recorded within it, waits at most as long as
// it takes with them, and its imbalance is at most what it has of the critical path.
func TestCallsInCalls(t *testing.T) {
	tr, a := analyzed(t, tracetest.MustParse(t, `
location 0 rank=0
  0 Enter main ; 40 Enter MPI_Allreduce ; 40 MpiCollectiveBegin ; 41 Enter MPI_Reduce ; 41 MpiCollectiveBegin
  42 MpiCollectiveEnd Reduce root=0 received=8 ; 43 Leave MPI_Reduce ; 50 Enter MPI_Bcast ; 50 MpiCollectiveBegin
  51 MpiCollectiveEnd Bcast root=0 sent=8 ; 51 Leave MPI_Bcast ; 52 MpiCollectiveEnd Allreduce root=none sent=8 received=8
  52 Leave MPI_Allreduce
  70 Enter MPI_Recv ; 102 MpiRecv from=1 tag=1 bytes=8 ; 103 Leave MPI_Recv ; 120 Leave main
location 1 rank=1
  0 Enter main ; 10 Enter MPI_Allreduce ; 10 MpiCollectiveBegin ; 11 Enter MPI_Reduce ; 11 MpiCollectiveBegin
  12 MpiCollectiveEnd Reduce root=0 sent=8 ; 12 Leave MPI_Reduce ; 13 Enter MPI_Bcast ; 13 MpiCollectiveBegin
  60 MpiCollectiveEnd Bcast root=0 received=8 ; 60 Leave MPI_Bcast ; 61 MpiCollectiveEnd Allreduce root=none sent=8 received=8
  62 Leave MPI_Allreduce
  100 Enter MPI_Send ; 101 MpiSend to=0 tag=1 bytes=8 ; 105 Leave MPI_Send ; 120 Leave main
`), merge.ClockNone, analysis.Options{})
	conserved(t, tr, a)
}
