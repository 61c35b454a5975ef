package stats_test

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/scope"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// TestPartIsDiagnosed states that all of the run, selected as a part, has the causes of the run, to the nanosecond; that half of it has the
// same cause with about half of the gain; and that ranks have the causes that concern them.
func TestPartIsDiagnosed(t *testing.T) {
	for _, program := range []string{"halo", "sweep", "collectives"} {
		src := statstest.Generated(t, samples.Options{Program: program, Ranks: 8, Iterations: 100, Threads: 1, Seed: 1,
			Plant: samples.Plant{Imbalance: 5000}})
		tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
		causes := func(o analysis.Options) *analysis.Result {
			o.Overhead = &overhead.Options{PerCall: true}
			a, err := stats.Analyze(t.Context(), tr, o, true)
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
		share := func(x float64) scope.Instant { return scope.Instant{Kind: scope.Fraction, Share: x} }
		whole, all := causes(analysis.Options{}), causes(analysis.Options{From: share(0), To: share(1)})
		if len(whole.Diagnosis) == 0 || len(whole.Diagnosis) != len(all.Diagnosis) {
			t.Fatalf("%s: %d causes of the run, %d of all of it as a part", program, len(whole.Diagnosis), len(all.Diagnosis))
		}
		for i := range whole.Diagnosis {
			if a, b := whole.Diagnosis[i], all.Diagnosis[i]; a.Text != b.Text || a.Change != b.Change {
				t.Errorf("%s: %q of the run, %q of all of it as a part", program, a.Text, b.Text)
			}
		}
		first := whole.Diagnosis[0]
		half := causes(analysis.Options{From: share(0.4), To: share(0.9)}).Diagnosis
		if len(half) == 0 || half[0].Kind != first.Kind || half[0].Region != first.Region || 3*(*half[0].GainNs) < *first.GainNs ||
			3*(*half[0].GainNs) > 2**first.GainNs {
			t.Errorf("%s: of half of the run %+v, of all %+v", program, half, first)
		}
		for _, c := range causes(analysis.Options{Ranks: []uint32{first.Ranks[0]}}).Diagnosis[:1] {
			if c.Text != first.Text {
				t.Errorf("%s: rank %d has %q, the run %q", program, first.Ranks[0], c.Text, first.Text)
			}
		}
	}
}

// TestPartWaitsForOthers: ranks that are selected and wait for one that is not have its cause; what they wait is neither serialization nor
// transfer of theirs. It says that the rank is not selected.
func TestPartWaitsForOthers(t *testing.T) {
	src := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 100, Threads: 1, Seed: 1,
		Plant: samples.Plant{Imbalance: 5000}})
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	a, err := stats.Analyze(t.Context(), tr, analysis.Options{Ranks: []uint32{0, 1, 2, 3}, Overhead: &overhead.Options{PerCall: true}}, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Diagnosis) == 0 || a.Diagnosis[0].Kind != cause.Imbalance || !slices.Equal(a.Diagnosis[0].Ranks, []uint32{7}) ||
		!strings.HasPrefix(a.Diagnosis[0].Text, "Rank 7 is not selected") || a.Diagnosis[0].Evidence["ranks_not_selected"] != 1 {
		t.Errorf("causes are %+v", a.Diagnosis)
	}
	if e := a.Efficiency; e.UnselectedWaitNs == 0 || e.ParallelEfficiency == nil || e.SerializationEfficiency != nil ||
		e.TransferEfficiency != nil {
		t.Errorf("efficiencies are %+v", e)
	}
}

// TestPartFromStartup states that it does not matter where in MPI_Init a part begins: it has the efficiencies between MPI_Init and
// MPI_Finalize. A part within MPI_Init has no cause.
func TestPartFromStartup(t *testing.T) {
	tr := statstest.Merged(t, statstest.Generated(t, samples.Options{Program: "halo", Ranks: 4, Iterations: 50, Threads: 1, Seed: 1}),
		merge.Options{Clock: merge.ClockNone})
	first, entered, left := tr.Defs.Clock.GlobalOffset, int64(0), int64(math.MaxInt64)
	for _, l := range tr.World {
		c := tr.Calls[l].At(trace.FindStartup(tr.Calls[l], trace.ClassInit))
		entered, left = max(entered, c.Enter), min(left, c.Leave)
	}
	at := func(tick int64) scope.Instant {
		return scope.Instant{Kind: scope.AfterNs, Ns: tr.Defs.Clock.Nanoseconds(tick - first)}
	}
	part := func(from, to scope.Instant) *analysis.Result {
		a, err := stats.Analyze(t.Context(), tr, analysis.Options{From: from, To: to}, true)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	end := scope.Instant{Kind: scope.Fraction, Share: 0.7}
	want := part(at(first), end).Efficiency.WithoutInitFinalize
	if want == nil || *want.ParallelEfficiency <= 0 {
		t.Fatalf("a part from the begin: %+v", want)
	}
	for _, from := range []int64{entered, (entered + left) / 2, left - 1} {
		if got := part(at(from), end).Efficiency.WithoutInitFinalize; !reflect.DeepEqual(got, want) {
			t.Errorf("from %d ticks: %+v, want %+v", from-first, got, want)
		}
	}
	if a := part(at(entered+1), at(left-1)); !a.OnlyStartup() || len(a.Diagnosis) > 0 {
		t.Errorf("within MPI_Init: %+v, causes %+v", a.Efficiency, a.Diagnosis)
	}
}
