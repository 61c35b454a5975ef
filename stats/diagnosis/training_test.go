package diagnosis

import (
	"strings"
	"testing"

	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/document/waitstate"
	"tracekit/stats/analysis"
)

// TestSlowHostOfWorker: rank 1 takes longer, but its device computes as long as that of rank 0: its host is late, and where is said. That
// it is slow in one step alone is said, too.
func TestSlowHostOfWorker(t *testing.T) {
	gain := int64(60)
	slow := training.Worker{Rank: 1, DP: 1, Excess: 0.6, GainNs: &gain, Pattern: training.SlowAlways, Slow: 10}
	job := &training.Job{Steps: 10, DPRanks: 2, StepNs: 160, EqualNs: 130, ByStep: []training.StepSlow{{Step: 5, Rank: 1, Excess: 6}}}
	a := &analysis.Result{}
	a.DevicePath = &accelerator.Path{Rows: []accelerator.PathRow{{Kind: "host", Name: "prepare", MaxRank: 1, MaxNs: 50}}}
	for _, c := range []struct {
		pattern   string
		slow      int
		computes  int64 // rank 1
		headline  string
		text, try string // parts
	}{
		{training.SlowAlways, 10, 100, "Rank 1 is always slow", "its host launches late, mostly in prepare (50", "between launches"},
		{training.SlowAlways, 10, 160, "Rank 1 is always slow", "It computes 60.0 % longer", "less work"},
		{training.SlowAtRandom, 1, 160, "Rank 1 is slow in step 5", "much longer in step 5 alone", "in that step"},
	} {
		slow.Pattern, slow.Slow = c.pattern, c.slow
		job.ByWorker = []training.Worker{slow, {}}
		a.Devices = []accelerator.Device{{Times: accelerator.Times{ComputeNs: 100}},
			{Rank: 1, Times: accelerator.Times{ComputeNs: c.computes}}}
		found := trainingFinder{a: a, t: job, run: 1600}.workers()
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		x := &found[0]
		if x.Advise(false); x.Headline != c.headline || !strings.Contains(x.Text, c.text) || !strings.Contains(x.Try, c.try) {
			t.Errorf("%s: %s Try: %s", x.Headline, x.Text, x.Try)
		}
	}
}

// TestSlowTogether: two of four workers are slow. If one alone is mended the other keeps the step as long, so that they are one cause. That
// the queues of their devices are empty, or that one of them loads data, is the same loss and no cause beside it.
func TestSlowTogether(t *testing.T) {
	none, both := int64(0), int64(60)
	job := &training.Job{Steps: 10, DPRanks: 4, StepNs: 160, EqualNs: 130, TogetherNs: &both}
	a := &analysis.Result{}
	a.Training = job
	a.Trace.DurationNs, a.DevicePath = 1600, &accelerator.Path{Rows: []accelerator.PathRow{{Kind: "loading", MaxRank: 3, MaxNs: 700}}}
	for rank := range field.Rank(4) {
		w := training.Worker{Rank: rank, DP: int(rank)}
		if rank > 1 {
			w.Excess, w.GainNs, w.Pattern, w.Slow = 0.6, &none, training.SlowAlways, 10
		}
		job.ByWorker = append(job.ByWorker, w)
		a.Devices = append(a.Devices, accelerator.Device{Rank: rank, Times: accelerator.Times{ComputeNs: 100}})
	}
	gain := int64(500)
	beside := func(kind cause.Kind, key string, ranks ...uint32) cause.Cause {
		return cause.Cause{Kind: kind, Ranks: ranks, GainNs: &gain, Evidence: map[string]float64{key: 700}}
	}
	a.Diagnosis = []cause.Cause{beside(cause.DeviceIdle, "host_bound_ns", 2, 3), beside(cause.DataLoading, "critical_path_ns", 3),
		beside(cause.DeviceIdle, "host_bound_ns", 1)}
	OfTraining(a)
	if len(a.Diagnosis) != 2 || a.Diagnosis[0].Headline != "Ranks 2 and 3 are always slow" || *a.Diagnosis[0].GainNs != 600 ||
		a.Diagnosis[1].Ranks[0] != 1 {
		t.Errorf("%+v", a.Diagnosis)
	}
	a.Devices[3].ComputeNs, a.Diagnosis = 160, nil
	if OfTraining(a); len(a.Diagnosis) != 1 || !strings.Contains(a.Diagnosis[0].Text, "The kernels of rank 2 do not") {
		t.Errorf("%+v", a.Diagnosis)
	}
	a.Devices[3].ComputeNs = 100
	for i := range job.ByWorker {
		job.ByWorker[i] = training.Worker{Rank: field.Rank(i), Excess: 0.1, GainNs: &none, Pattern: training.SlowAtRandom, Slow: 2}
	}
	a.Diagnosis = []cause.Cause{beside(cause.DeviceIdle, "host_bound_ns")}
	if OfTraining(a); len(a.Diagnosis) != 1 || a.Diagnosis[0].Headline != "A different rank is slow in each slow step" {
		t.Errorf("%+v", a.Diagnosis)
	}
}

// TestLateInTurn: four ranks make others wait equally. None is named, and nothing is said of what they compute.
func TestLateInTurn(t *testing.T) {
	a := &analysis.Result{}
	a.Trace.DurationNs, a.Trace.Processes, a.DevicePath = 1000, 4, &accelerator.Path{}
	for rank := range field.Rank(4) {
		a.Devices = append(a.Devices, accelerator.Device{Rank: rank, Device: "gpu", Times: accelerator.Times{ComputeNs: 100, BusyNs: 900},
			IdleCauses: accelerator.IdleCauses{CollectiveWaitNs: 100}, Straggler: &accelerator.Straggler{Count: 9, CausedNs: 100, ComesLast: 3}})
	}
	found := OfDevices(a)
	if len(found) != 1 || found[0].Headline != "A different rank comes late to collectives each time" || len(found[0].Ranks) > 0 ||
		strings.Contains(found[0].Text, "compute time") || *found[0].GainNs != 100 {
		t.Errorf("%+v", found)
	}
}

// TestLateForMissing: a rank that comes late, but computes no longer than others, may wait for one that is not recorded.
func TestLateForMissing(t *testing.T) {
	for _, missing := range []int{0, 1} {
		a := &analysis.Result{}
		a.Trace.DurationNs, a.Trace.Processes, a.Trace.ProcessesMissing, a.DevicePath = 1000, 2+missing, missing, &accelerator.Path{}
		for rank := range field.Rank(2) {
			a.Devices = append(a.Devices, accelerator.Device{Rank: rank, Device: "gpu", Times: accelerator.Times{ComputeNs: 100, BusyNs: 900},
				IdleCauses: accelerator.IdleCauses{CollectiveWaitNs: 100}, Straggler: &accelerator.Straggler{Count: 9, CausedNs: 200 * int64(rank)}})
		}
		found := OfDevices(a)
		if len(found) != 1 || len(found[0].Ranks) != 1 || strings.Contains(found[0].Text, "may wait for ranks that are not recorded") != (missing > 0) {
			t.Errorf("%d missing: %+v", missing, found)
		}
	}
}

// TestAlone: what a single device communicates with is not recorded, whatever the trace says of ranks.
func TestAlone(t *testing.T) {
	for devices := 1; devices <= 2; devices++ {
		a := &analysis.Result{}
		a.Trace.DurationNs, a.Trace.Processes = 1000, 1
		a.DevicePath = &accelerator.Path{ExposedCommunicationNs: 300,
			Rows: []accelerator.PathRow{{Kind: "communication", Name: "ncclDevKernel_AllReduce", TimeNs: 300, Count: 3}}}
		for range devices {
			a.Devices = append(a.Devices, accelerator.Device{Device: "gpu", Times: accelerator.Times{ComputeNs: 600, BusyNs: 900,
				CommunicationNs: 300, ExposedCommunicationNs: 300}})
		}
		found := OfDevices(a)
		if len(found) != 1 {
			t.Fatalf("%+v", found)
		}
		found[0].Advise(false)
		if alone := found[0].Try == "record all ranks."; alone != (devices == 1) {
			t.Errorf("%d devices: %+v", devices, found[0])
		}
	}
}

// TestMissingMember: where a member of each collective is not recorded, communication may be waiting for it, which its cause says. So it is
// if two of three ranks are there, and if one is.
func TestMissingMember(t *testing.T) {
	for _, recorded := range []field.Rank{2, 1} {
		a := &analysis.Result{}
		a.Trace.DurationNs, a.Trace.Processes = 1000, 3
		a.DevicePath = &accelerator.Path{ExposedCommunicationNs: 300,
			Rows: []accelerator.PathRow{{Kind: "communication", Name: "ncclAllReduce", TimeNs: 300, Count: 3}}}
		for rank := range recorded {
			a.Devices = append(a.Devices, accelerator.Device{Rank: rank, Device: "gpu", Times: accelerator.Times{ComputeNs: 600, BusyNs: 900,
				ExposedCommunicationNs: 300}, Collectives: []accelerator.Collective{{Members: 3, Count: 3, WithWaiting: true}}})
		}
		found := OfDevices(a)
		if len(found) != 1 || found[0].Headline != "Communication, or waits for ranks that are not recorded" ||
			found[0].Evidence["incomplete_collectives"] != 3 {
			t.Fatalf("%+v", found)
		}
		if found[0].Advise(false); found[0].Try != "record all ranks." {
			t.Error(found[0].Try)
		}
	}
}

// TestSlowLoaderOfWorker: rank 1 is slow, and makes others wait for 90 of 100 while it loads its input: that is one cause, which says so.
// Were it slow elsewhere, that all load their input would be another one.
func TestSlowLoaderOfWorker(t *testing.T) {
	for in, want := range map[int64]int{90: 1, 10: 2} {
		gain := int64(60)
		loading := int64(20)
		share := 0.0125
		job := &training.Job{Steps: 10, DPRanks: 2, StepNs: 160, EqualNs: 130, ByWorker: []training.Worker{{Rank: 1, DP: 1, Excess: 0.6,
			GainNs: &gain, Pattern: training.SlowAlways, Slow: 10}, {}}}
		a := &analysis.Result{}
		a.Training, a.Trace.DurationNs = job, 1600
		a.Delays = []waitstate.Delay{{SourceLine: field.SourceLine{Region: "loader"}, Ranks: []field.RankTime{{Rank: 1, TimeNs: in}}},
			{SourceLine: field.SourceLine{Region: "step"}, Ranks: []field.RankTime{{Rank: 1, TimeNs: 100 - in}}}}
		a.Diagnosis = []cause.Cause{{Kind: cause.DataLoading, SourceLine: field.SourceLine{Region: "loader"}, GainNs: &loading, GainShare: &share,
			Evidence: map[string]float64{"loading_ns": 20}}}
		OfTraining(a)
		if len(a.Diagnosis) != want || strings.Contains(a.Diagnosis[0].Text, "Most of that passes while it is in loader.") != (want == 1) {
			t.Errorf("%d in the loader: %+v", in, a.Diagnosis)
		}
	}
}
