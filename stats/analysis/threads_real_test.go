package analysis_test

import (
	"context"
	"math"
	"path/filepath"
	"testing"

	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/trace/tracetest"
)

// TestPypop compares with the efficiencies of OpenMP that pypop publishes of a trace of four
// threads.
func TestPypop(t *testing.T) {
	a := analyzedShared(t, "paraver/openmp_4/omp4.prv.gz")
	e := a.Threads.Efficiency
	near(t, "parallel efficiency", e.Parallel, 0.488539, 1e-6)
	near(t, "region efficiency", e.Region, 0.995565, 1e-6)
	near(t, "serial efficiency", e.Serial, 0.498454, 1e-6)
	near(t, "efficiency of masters", e.Master, *e.Parallel-*e.Region-*e.Serial+2, 1e-9)
}

// TestModelfactors compares with the IPC and frequency that BSC's scripts publish of a series.
func TestModelfactors(t *testing.T) {
	for _, c := range []struct {
		trace    string
		ipc, ghz float64
	}{{"epoch_1proc", 1.872, 2.070}, {"epoch_2proc", 1.870, 2.045}, {"epoch_4proc", 1.867, 2.002}} {
		a := analyzedShared(t, filepath.Join("paraver/epoch_1-2-4", c.trace+".prv.gz"))
		near(t, c.trace+": IPC", a.Counters.IPC, c.ipc, 0.0005)
		near(t, c.trace+": GHz", a.Counters.FrequencyGHz, c.ghz, 0.0005)
	}
}

// TestThreadTimes states that what threads do sums to the run time, and their useful time to
// the efficiencies.
func TestThreadTimes(t *testing.T) {
	for _, name := range []string{"otf2/lulesh-8x2", "paraver/openmp_4/omp4.prv.gz", "paraver/zoo_4/zoo_4.prv"} {
		a := analyzedShared(t, name)
		useful, waits := int64(0), int64(0)
		for _, r := range a.Threads.Rows {
			if sum := r.UsefulNs + r.CommunicationNs + r.BarrierNs + r.WaitingNs + r.SchedulingNs + r.MeasurementNs +
				r.IdleNs; sum != a.Trace.DurationNs {
				t.Errorf("%s: thread %d of rank %d sums to %d ns of %d", name, r.Thread, r.Rank, sum, a.Trace.DurationNs)
			}
			useful, waits = useful+r.UsefulNs, waits+r.TeamWaitNs
		}
		if all := a.WaitStates[waitstate.AtTeamBarrier].TimeNs; max(all-waits, waits-all) > int64(len(a.Threads.Rows)) {
			t.Errorf("%s: threads wait %d ns for their teams, the wait state is %d", name, waits, all)
		}
		e := a.Threads.Efficiency
		near(t, name+": parallel", e.Parallel, float64(useful)/float64(a.Trace.DurationNs)/float64(a.Threads.Threads), 1e-12)
		near(t, name+": process · thread", e.Parallel, *e.Process**e.Thread, 1e-12)
		if a.Threads.UnpairedBarriers > 0 {
			t.Errorf("%s: %d barriers are not passed by all threads of a team", name, a.Threads.UnpairedBarriers)
		}
	}
}

func analyzedShared(t *testing.T, name string) *analysis.Result {
	t.Helper()
	a, err := analysis.Analyze(context.Background(), merged(t, tracetest.Shared(t, name), merge.ClockAuto), analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func near(t *testing.T, what string, got *float64, want, margin float64) {
	t.Helper()
	if got == nil || math.Abs(*got-want) > margin {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}
