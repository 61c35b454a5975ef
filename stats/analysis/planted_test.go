package analysis_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// generated returns a generated trace in memory and what is true of it.
func generated(t testing.TB, o samples.Options) (trace.Source, *samples.Truth) {
	t.Helper()
	m, truth, err := samples.InMemory(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return m, truth
}

// TestTruth compares with what the simulator of generated traces knows.
func TestTruth(t *testing.T) {
	plants := []samples.Plant{
		{},
		{LateSender: 30_000, LateReceiver: 20_000, EarlyReduce: 7_000, LateBroadcast: 9_000},
		{Imbalance: 12_345, CriticalPath: 40_000, Lost: 5},
	}
	for _, p := range samples.Programs() {
		for i, plant := range plants {
			for _, ranks := range []int{2, 3, 7, 8} {
				if ranks > 2 {
					plant.WrongOrder = int64(i) * 11_000
				}
				t.Run(fmt.Sprintf("%s/plant=%d/ranks=%d", p.Name, i, ranks), func(t *testing.T) {
					src, truth := generated(t, samples.Options{Program: p.Name, Ranks: ranks, Iterations: 5, Seed: 3, Threads: 1 + i, Plant: plant})
					tr, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
					conserved(t, tr, a)
					explained(t, a)
					if diff := cmp.Diff(truthOf(truth), found(a)); diff != "" {
						t.Errorf("truth is -, analysis is +:\n%s", diff)
					}
				})
			}
		}
	}
}

// TestCulprit: of a program whose last rank computes longer, a region of that rank costs the
// others most, with the other regions more than seven tenths of all waits: in a sweep, ranks
// wait for the wavefront to reach them as well.
func TestCulprit(t *testing.T) {
	for _, p := range samples.Programs() {
		t.Run(p.Name, func(t *testing.T) {
			src, _ := generated(t, samples.Options{Program: p.Name, Ranks: 8, Iterations: 50, Seed: 3, Plant: samples.Plant{Imbalance: 200_000}})
			_, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
			var all, last int64
			for _, d := range a.Delays {
				for _, r := range d.Ranks {
					all += r.TimeNs
					if r.Rank == 7 && d.Operation == "" {
						last += r.TimeNs
					}
				}
			}
			if d := a.Delays[0]; d.Operation != "" || d.MostRank != 7 || last < all/10*7 {
				t.Errorf("%s %s on rank %d costs most; computing on rank 7 costs %d of %d", d.Operation, d.Region, d.MostRank, last, all)
			}
		})
	}
}

// facts is what truth and analysis have in common.
type facts struct {
	Messages, Bytes, UnmatchedSends, UnmatchedReceives, Cancelled, Collectives, Members uint64
	Useful                                                                              []int64
	CriticalPath                                                                        int64
	Waits                                                                               map[string]samples.Wait
	Same, Different                                                                     int64
}

func truthOf(t *samples.Truth) facts {
	w := t.Waits
	return facts{t.Messages, t.Bytes, t.UnmatchedSends, t.UnmatchedReceives, t.Cancelled, t.Collectives, t.CollectiveMembers,
		t.Useful, t.CriticalPathLength, map[string]samples.Wait{
			"late sender": w.LateSender, "late receiver": w.LateReceiver, "behind": w.LateReceiverBehindLateSender, "N×N": w.WaitAtNxN,
			"N×N completion": w.NxNCompletion,
			"barrier":        w.WaitAtBarrier, "barrier completion": w.BarrierCompletion, "broadcast": w.LateBroadcast,
			"reduce": w.EarlyReduce, "scan": w.EarlyScan, "unclassified": w.WaitAtNxNUnclassified,
			"wrong order": {Count: w.WrongOrderSame.Count + w.WrongOrderDifferent.Count, Time: w.WrongOrderSame.Time + w.WrongOrderDifferent.Time},
		}, w.WrongOrderSame.Time, w.WrongOrderDifferent.Time}
}

func found(a *analysis.Result) facts {
	m, w := a.Messages, a.WaitStates
	f := facts{Messages: m.Count, Bytes: m.Bytes, UnmatchedSends: m.UnmatchedSends, UnmatchedReceives: m.UnmatchedReceives,
		Cancelled: m.Cancelled, Useful: a.Efficiency.UsefulNs, CriticalPath: a.CriticalPath.LengthNs,
		Same: *w[waitstate.LateSenderWrongOrder].SameSourceNs, Different: *w[waitstate.LateSenderWrongOrder].DifferentSourceNs}
	for _, c := range a.Collectives {
		f.Collectives += c.Count
		f.Members += c.Members
	}
	wait := func(s waitstate.State) samples.Wait { return samples.Wait{Count: s.Count, Time: s.TimeNs} }
	f.Waits = map[string]samples.Wait{
		"late sender": wait(w[waitstate.LateSender]), "late receiver": wait(w[waitstate.LateReceiver]),
		"behind": wait(w[waitstate.LateReceiverBehindLateSender]), "N×N": wait(w[waitstate.AtNxN]),
		"N×N completion": wait(w[waitstate.NxNCompletion]),
		"barrier":        wait(w[waitstate.AtBarrier]), "barrier completion": wait(w[waitstate.BarrierCompletion]),
		"broadcast": wait(w[waitstate.LateBroadcast]),
		"reduce":    wait(w[waitstate.EarlyReduce]), "scan": wait(w[waitstate.EarlyScan]), "unclassified": wait(w[waitstate.AtNxNUnclassified]),
		"wrong order": wait(w[waitstate.LateSenderWrongOrder]),
	}
	return f
}
