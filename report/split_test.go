package report

import (
	"math"
	"slices"
	"testing"

	"tracekit/document"
	"tracekit/document/accelerator"
	"tracekit/document/waitstate"
)

// TestSplitsAreWhole: the parts of a time are all of it, the largest first, and what ranks wait is no part of what their calls take
// otherwise.
func TestSplitsAreWhole(t *testing.T) {
	states := new(waitstate.States)
	states[waitstate.LateSender].TimeNs, states[waitstate.NxNCompletion].TimeNs = 300, 100 // completion is no waiting
	a := &document.Analysis{
		Trace: document.TraceInfo{Processes: 3, ProcessesMissing: 1, DurationNs: 1000},
		Efficiency: &document.Efficiency{Ratios: document.Ratios{RuntimeNs: 1000, UsefulNs: []int64{500, 300}},
			WithoutInitFinalize: &document.Ratios{RuntimeNs: 900, UsefulNs: []int64{500, 250}}},
		CallSites:  []document.CallSiteRow{{Operation: "MPI_Init", TimeNs: 200}, {Operation: "MPI_Recv", TimeNs: 800}},
		WaitStates: states,
	}
	r := &Sections{Analysis: a}
	shares := func(s *Split) map[string]float64 {
		out, sum, last := make(map[string]float64), 0.0, math.Inf(1)
		for _, p := range s.Parts {
			if p.Share > last {
				t.Errorf("%s is larger than the part before it", p.Label)
			}
			out[p.Label], last = p.Share, p.Share
			sum += p.Share
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: the parts are %g of it", s.Title, sum)
		}
		return out
	}
	whole, without := shares(r.splitTime(false)), shares(r.splitTime(true))
	if whole["MPI_Init, MPI_Finalize"] != 0.1 || whole["waiting in MPI"] != 0.15 || whole["in MPI calls, not waiting"] != 0.25 ||
		whole["computing"] != 0.4 {
		t.Errorf("with startup: %v", whole)
	}
	if without["computing"] != 750.0/1800 || without["waiting in MPI"] != 300.0/1800 || without["in MPI calls, not waiting"] != 500.0/1800 {
		t.Errorf("without startup: %v", without)
	}

	a.Devices = []accelerator.Device{{Times: accelerator.Times{SpanNs: 100, BusyNs: 60, ComputeNs: 30, ExposedCommunicationNs: 20,
		ExposedMemoryNs: 10, IdleNs: 40},
		IdleCauses: accelerator.IdleCauses{HostBoundNs: 25, KernelGapsNs: 10, UnknownNs: 5, CollectiveWaitNs: 15}}}
	if devices := shares(r.splitDevices()); devices["waiting for late ranks"] != 0.15 || devices["communication, not hidden"] != 0.05 {
		t.Errorf("devices: %v", devices)
	}

	// One device of the process works until 100, the other from there to 200: each idles half of the time.
	a.Devices = append(a.Devices, accelerator.Device{StartNs: 100, Times: accelerator.Times{SpanNs: 100, BusyNs: 100, ComputeNs: 100}})
	devices := shares(r.splitDevices())
	if devices["computing"] != 0.325 || devices["idle: not yet or no longer in use"] != 0.5 {
		t.Errorf("devices that work one after the other: %v", devices)
	}
	a.Devices[1].Rank = 1 // another process, which may have begun later
	if devices := shares(r.splitDevices()); devices["computing"] != 0.65 || devices["idle: not yet or no longer in use"] != 0 {
		t.Errorf("devices of two processes: %v", devices)
	}
}

// TestSplitNotes: what devices do besides, and which of them works most, has the base of the split; text and page say it alike.
func TestSplitNotes(t *testing.T) {
	a := &document.Analysis{Trace: document.TraceInfo{Processes: 2, DurationNs: 400}, Devices: []accelerator.Device{
		{Device: "a", Times: accelerator.Times{SpanNs: 200, BusyNs: 150, ComputeNs: 150}},
		{Device: "b", Rank: 1, Times: accelerator.Times{SpanNs: 100, BusyNs: 50, ComputeNs: 50}}}}
	s := (&Sections{Analysis: a}).splitDevices()
	if want := []string{"62.5 % of the run (400 ns) pass before the first or after the last work.",
		"busiest: a (75.0 %), least: b (50.0 %)"}; !slices.Equal(s.Notes, want) {
		t.Errorf("%q", s.Notes)
	}
}
