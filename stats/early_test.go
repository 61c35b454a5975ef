package stats_test

import (
	"context"
	"iter"
	"slices"
	"testing"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A cutSource lacks all but the first events of some locations, as files that are cut off do.
type cutSource struct {
	trace.Source
	left map[trace.LocationID]int
}

func (s *cutSource) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	left, cut := s.left[l]
	if !cut {
		return s.Source.Events(ctx, l)
	}
	return func(yield func(*trace.Batch, error) bool) {
		left := left
		for b, err := range s.Source.Events(ctx, l) {
			if err != nil || left < b.Len() {
				if err == nil && left > 0 {
					b = first(b, left)
				}
				if err != nil || left > 0 {
					yield(b, err)
				}
				return
			}
			if left -= b.Len(); !yield(b, nil) {
				return
			}
		}
	}
}

// first returns a batch of the first n events of another.
func first(b *trace.Batch, n int) *trace.Batch {
	part := *b
	part.Order = b.Order[:n]
	flow := &part.Flow
	k, _ := slices.BinarySearch(flow.Seq, b.First+uint64(n))
	flow.Seq, flow.Time, flow.Kind, flow.Region = flow.Seq[:k], flow.Time[:k], flow.Kind[:k], flow.Region[:k]
	flow.Context, flow.Unwind = flow.Context[:min(k, len(flow.Context))], flow.Unwind[:min(k, len(flow.Unwind))]
	return &part
}

// halves cuts the second half of the events of some ranks off.
func halves(tr *trace.Trace, src trace.Source, ranks ...int) trace.Source {
	s := &cutSource{src, map[trace.LocationID]int{}}
	for _, r := range ranks {
		l := tr.World[r]
		s.left[l] = int(tr.Span[l].Events / 2)
	}
	return s
}

// TestEarlyEnd states that a rank of which half is recorded does not count as one that is fast: balance and causes of a run are about those
// of all of it, whichever rank is cut off but the culprit.
func TestEarlyEnd(t *testing.T) {
	balanced := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 60, Threads: 1, Seed: 1})
	planted := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 60, Threads: 1, Seed: 1,
		Plant: samples.Plant{Imbalance: 20000}})
	for _, src := range []trace.Source{balanced, planted} {
		tr, whole := analyzed(t, src)
		want := whole.Diagnosis[0]
		for r := range 8 {
			_, a := analyzed(t, halves(tr, src, r))
			if !slices.ContainsFunc(a.Findings, func(f document.Finding) bool { return f.Code == string(trace.CodeEarlyEnd) && f.Count == 1 }) {
				t.Errorf("rank %d is cut off: findings are %v", r, a.Findings)
			}
			e := a.Efficiency
			if len(e.UsefulNs) != 7 || len(e.EndEarly) != 1 || int(e.EndEarly[0].Rank) != r {
				t.Errorf("rank %d is cut off: efficiencies are of %d ranks, and leave out %v", r, len(e.UsefulNs), e.EndEarly)
			}
			if b := *e.LoadBalance / *whole.Efficiency.LoadBalance; (b < 0.97 || b > 1.03) && !slices.Contains(want.Ranks, uint32(r)) {
				t.Errorf("rank %d is cut off: the load balance is %.1f %% of that of the whole run", r, 100*b)
			}
			if c := a.Diagnosis[0]; c.Kind != want.Kind || c.Region != want.Region || !slices.Equal(c.Ranks, want.Ranks) {
				t.Errorf("rank %d is cut off: cause 1 is %q, want %q", r, c.Headline, want.Headline)
			}
		}
	}
}

// TestMostEndEarly states that there are neither efficiencies nor causes where most ranks end early, but of the part that all are in.
func TestMostEndEarly(t *testing.T) {
	src := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 60, Threads: 1, Seed: 1,
		Plant: samples.Plant{Imbalance: 20000}})
	tr, _ := analyzed(t, src)
	cut, a := analyzed(t, halves(tr, src, 0, 1, 2, 3, 4))
	if a.Efficiency != nil || a.Diagnosis != nil || a.CriticalPath != nil {
		t.Error("5 of 8 ranks are cut off, and there are efficiencies, causes or a critical path")
	}
	end := scope.Instant{Kind: scope.AfterNs, Ns: cut.Span[cut.World[0]].Last - cut.Span[cut.World[0]].First - 50000}
	part, err := stats.Analyze(t.Context(), cut, analysis.Options{To: end}, true)
	if err != nil {
		t.Fatal(err)
	}
	if e := part.Efficiency; e == nil || len(e.UsefulNs) != 8 || len(part.Diagnosis) == 0 ||
		!slices.Equal(part.Diagnosis[0].Ranks, []uint32{7}) {
		t.Errorf("the part that all ranks are in has efficiencies %v and causes %v", e, part.Diagnosis)
	}
}

// TestOnlyEarlyRankThere states that a place at which only a rank that ends early works is no cause: there is nobody to compare it with.
func TestOnlyEarlyRankThere(t *testing.T) {
	src := tracetest.MustParse(t, `
location 0 rank=0
  0 Enter main ; 10 Enter MPI_Recv ; 500 MpiRecv from=1 bytes=8 ; 500 Leave MPI_Recv ; 1000 Leave main
location 1 rank=1
  0 Enter main ; 10 Enter special ; 490 Leave special ; 490 Enter MPI_Send ; 490 MpiSend to=0 bytes=8 ; 495 Leave MPI_Send ; 600 Enter main
location 2 rank=2
  0 Enter main ; 1000 Leave main
`)
	_, a := analyzed(t, src)
	for _, c := range a.Diagnosis {
		if c.Region == "special" {
			t.Errorf("cause %q", c.Headline)
		}
	}
}

// TestRanksWithoutMasters states that ranks none of whose locations is defined, as a damaged definition leaves them, are no reason to fail.
func TestRanksWithoutMasters(t *testing.T) {
	for _, program := range []string{"halo", "collectives"} {
		for _, ranks := range [][]uint32{nil, {1, 2}} {
			tr := statstest.Merged(t, statstest.Generated(t, samples.Options{Program: program, Ranks: 4, Iterations: 5, Threads: 2, Seed: 1,
				Plant: samples.Plant{Imbalance: 5000}}), merge.Options{Clock: merge.ClockNone})
			for i := range tr.World {
				tr.World[i] = trace.None
			}
			for l := range tr.Rank {
				tr.Rank[l] = trace.None
			}
			o := analysis.Options{Ranks: ranks, Overhead: &overhead.Options{PerCall: true}}
			if _, err := stats.Analyze(t.Context(), tr, o, true); err != nil {
				t.Errorf("%s: %v", program, err)
			}
		}
	}
}
