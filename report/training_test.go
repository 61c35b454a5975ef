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

// TestSlowWorkersAreNamed states that workers that are slow are named with what a step gains without that, the most first; that what gains
// less than 1 % of a step is no advice; and that of a worker which is only the slowest it is said that this may be chance.
func TestSlowWorkersAreNamed(t *testing.T) {
	share := 0.97
	worker := func(rank int, pattern string, gain int64) training.Worker {
		w := training.Worker{Rank: field.Rank(rank), Pattern: pattern, Slow: 2}
		if pattern != "" {
			w.GainNs = &gain
		}
		return w
	}
	of := func(together int64, workers ...training.Worker) *training.Job {
		doc := &training.Job{Steps: 20, StepNs: 20e6, MendedNs: 15e6, Slowdown: 1.2, MW: &share, ByWorker: workers, Slowest: []field.Rank{1}}
		if together > 0 {
			doc.TogetherNs, doc.MW = &together, nil
		}
		return doc
	}
	always, random := training.SlowAlways, training.SlowAtRandom
	for _, c := range []struct {
		doc  *training.Job
		want string
	}{
		{of(5e6, worker(7, random, 1e6), worker(1, always, 4e6), worker(9, random, 1000), worker(2, "", 0)),
			"Rank 1 is always slow. If it computed as long as its peers, a step would be 4.00 ms (20.0 %) shorter in the mean. " +
				"Rank 7 is slow at random, in 2 of 20 steps. If it computed as long as its peers then, a step would be 1.00 ms (5.0 %) shorter " +
				"in the mean. 1 worker is slow as well: see the table."},
		{of(6e6, worker(1, always, 0), worker(3, always, 0), worker(4, "", 0)),
			"2 workers are slow. If they all computed as long as their peers, a step would be 6.00 ms (30.0 %) shorter in the mean."},
		{of(1000, worker(1, random, 1000), worker(3, random, 0)), "No slow worker costs 1 % of a step."},
		{of(1, worker(1, "", 0)), "No worker is slow by more than chance."},
		{of(0, worker(1, "", 0), worker(9, "", 0)), "Rank 1 is the slowest, which may be chance. With the times of its peers, a step would be " +
			"5.00 ms (25.0 %) shorter. It is the reason for 97.0 % of the loss."},
	} {
		if got := strings.Join(lossFacts(c.doc), " "); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
	fewer := of(0, worker(1, "", 0))
	if fewer.MendedNs = 21e6; strings.Contains(strings.Join(lossFacts(fewer), " "), "shorter") {
		t.Errorf("a loss is told as a gain: %v", lossFacts(fewer))
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
