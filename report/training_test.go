package report

import (
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/training"
)

// TestWorkerOrStage states that a slow worker of the last stage is not taken for a long last stage where other workers run that stage.
func TestWorkerOrStage(t *testing.T) {
	whole, none := 1.0, 0.0
	for _, c := range []struct {
		dp            int
		worker, stage *float64
		says          bool
	}{{4, &whole, &whole, false}, {4, &none, &whole, true}, {1, &whole, &whole, true}, {4, nil, nil, false}} {
		doc := &training.Job{DPRanks: c.dp, Stages: 2, Slowdown: 1.3, MW: c.worker, MS: c.stage}
		if said := strings.Contains(strings.Join(trainingFacts(doc), " "), "last stage"); said != c.says {
			t.Errorf("%d data-parallel ranks: the last stage is said to be long: %v, want %v", c.dp, said, c.says)
		}
	}
}

// TestSlowWorkersAreNamed states that only workers that are slow are said to be, though the slowest of many are more.
func TestSlowWorkersAreNamed(t *testing.T) {
	share, gain := 0.97, int64(4e6)
	worker := func(rank int, pattern string) training.Worker {
		w := training.Worker{Rank: field.Rank(rank), Pattern: pattern}
		if pattern != "" {
			w.GainNs = &gain
		}
		return w
	}
	of := func(workers ...training.Worker) *training.Job {
		doc := &training.Job{StepNs: 20e6, MendedNs: 15e6, Slowdown: 1.2, MW: &share, ByWorker: workers}
		for _, w := range workers {
			doc.Slowest = append(doc.Slowest, w.Rank)
		}
		return doc
	}
	for _, c := range []struct {
		doc  *training.Job
		want string
	}{
		{of(worker(1, training.SlowAlways), worker(96, ""), worker(113, "")), "Rank 1 is always slow. If it computed as long as its peers, " +
			"a step would be 4.00 ms shorter (20.0 %). The slowest 3 workers are the reason for 97.0 % of the loss."},
		{of(worker(1, training.SlowAlways), worker(9, training.SlowAtRandom), worker(113, "")), "Ranks 1, 9 are slow. If the slowest " +
			"3 workers computed as long as their peers, a step would be 5.00 ms shorter (25.0 %). The slowest 3 workers are the reason for " +
			"97.0 % of the loss."},
		{of(worker(1, ""), worker(9, "")), "If ranks 1, 9 computed as long as their peers, a step would be 5.00 ms shorter (25.0 %). They " +
			"are the reason for 97.0 % of the loss."},
	} {
		if got := replacing(c.doc); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestAlignedClocksAreSaid states that a report says what clocks that were aligned may add to a slowdown, where that is seen or all of it.
func TestAlignedClocksAreSaid(t *testing.T) {
	for _, c := range []struct {
		doc  training.Job
		want string
	}{
		{training.Job{EqualNs: 100e6}, ""},
		{training.Job{EqualNs: 100e6, ClockErrorNs: 40e3}, ""},
		{training.Job{EqualNs: 100e6, ClockErrorNs: 2e6},
			"Clocks of hosts were aligned: a slowdown up to 1.020 may be their error (2.00 ms a step)."},
		{training.Job{EqualNs: 100e6, ClockErrorNs: 40e3, WithinClockError: true},
			"Clocks of hosts were aligned: a slowdown up to 1.000 may be their error (40.0 µs a step). All of the loss may."},
	} {
		if got := strings.Join(otherFacts(&c.doc), " "); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}

// TestAlignmentIsSaid states that a report says which clocks were aligned, how far they were off, and what is left.
func TestAlignmentIsSaid(t *testing.T) {
	clock := document.Clock{Method: "collectives", Alignment: &document.ClockAlignment{Clocks: 4, MaxOffsetNs: 3e6, MaxDriftPPM: 1.5, MaxBoundNs: 2e3,
		Before: 17, Unlinked: 1}}
	want := "4 clocks aligned by collectives: offsets up to 3.00 ms, drift up to 1.5 ppm, error at most 2.00 µs; 17 clock violations before, " +
		"0 after; 1 clock is not linked to the others"
	if got := ClockLine(&clock); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}
