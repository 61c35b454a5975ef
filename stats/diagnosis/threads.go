package diagnosis

import (
	"fmt"
	"slices"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/document/words"
	"tracekit/stats/analysis"
)

// OfThreads returns why a run of threads in which nobody calls MPI is not shorter, the cause
// with the most gain first; none if nothing is worth fixing. The gain of a single process is
// what its efficiencies lack (DEFINITIONS 2.10); of several nothing is known of who waits for whom.
func OfThreads(a *analysis.Result) []cause.Cause {
	t, run := a.Threads, float64(runOf(a))
	causes := []cause.Cause{}
	add := func(lost float64, text, mended string, cause cause.Cause) {
		if lost < leastGain {
			return
		}
		cause.Ranks, cause.Text = []uint32{}, text
		if t.Processes == 1 && mended != "" {
			gain := int64(lost * run)
			cause.GainNs, cause.GainShare = &gain, &lost
			cause.Text += fmt.Sprintf(" %s, the run would take %s (%.1f %%) less.", mended, words.Time(gain), 100*lost)
		}
		causes = append(causes, cause)
	}
	f := t.Efficiency
	switch {
	case f.Serial != nil:
		add(1-*f.Serial, fmt.Sprintf("Outside parallel regions one thread of a process works at a time, for %s of the run's %s.",
			words.Time(runOf(a)-t.ParallelNs/int64(t.Processes)), words.Time(runOf(a))), "If all threads shared that work",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: map[string]float64{"serial_efficiency": *f.Serial, "idle_threads_ns": float64(t.IdleNs)}})
	case f.Parallel != nil:
		add(1-*f.Parallel, fmt.Sprintf("%d threads work for %.1f %% of their time; most of the rest %s.", t.Threads, 100**f.Parallel,
			mostOfRest(t, run)), "",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: map[string]float64{"parallel_efficiency": *f.Parallel}})
	}
	if w := &a.WaitStates[waitstate.AtTeamBarrier]; w.Count > 0 && len(w.Top) > 0 && w.Share != nil {
		longest := w.Top[0]
		add(*w.Share, fmt.Sprintf("Threads of a team wait %s for each other at barriers, the longest time in %s.", words.Time(w.TimeNs),
			words.Call(longest.Operation, longest.SourceLine)),
			"If all took the same time", cause.Cause{Kind: cause.Imbalance, SourceLine: longest.SourceLine, Operation: field.Name(longest.Operation),
				WaitsCausedNs: w.TimeNs, Evidence: map[string]float64{"waits": float64(w.Count)}})
	}
	forking := int64(0)
	for _, row := range t.Rows {
		if row.Thread == 0 {
			forking += row.SchedulingNs
		}
	}
	if t.ParallelRegions > 0 {
		add(float64(forking)/float64(t.Processes)/run, forkingText(forking/int64(t.Processes), t), "If forking and joining took no time",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: forkingEvidence(forking/int64(t.Processes), t)})
	}
	return Join(causes, nil)
}

// forkingText says what forking and joining threads takes masters in the mean, ns.
func forkingText(mean int64, t *document.Threads) string {
	return fmt.Sprintf("Forking and joining threads takes the master of a process %s in the mean, for %d parallel regions of all processes.",
		words.Time(mean), t.ParallelRegions)
}

func forkingEvidence(mean int64, t *document.Threads) map[string]float64 {
	return map[string]float64{"fork_join_ns": float64(mean), "parallel_regions": float64(t.ParallelRegions)}
}

// mostOfRest says what threads do most of the time in which they do not work.
func mostOfRest(t *document.Threads, run float64) string {
	texts := [...]string{"they wait at barriers", "they wait for locks, tasks and each other", "threads and tasks are created and joined",
		"they have no work", "the measurement takes"}
	var times [len(texts)]int64
	for i := range t.Rows {
		r := &t.Rows[i]
		for k, ns := range [...]int64{r.BarrierNs, r.WaitingNs, r.SchedulingNs, r.IdleNs, r.MeasurementNs} {
			times[k] += ns
		}
	}
	most := 0
	for k := range times {
		if times[k] > times[most] {
			most = k
		}
	}
	return fmt.Sprintf("%s (%.1f %%)", texts[most], 100*float64(times[most])/(run*float64(t.Threads)))
}

// forks reports whether most of the time that ranks spend at a place outside parallel regions is that of their masters forking and joining
// threads: what is more than all their useful time outside parallel regions.
func (f *finder) forks(times []int64, ranks []uint32) bool {
	forking, there := 0.0, 0.0
	for _, r := range f.a.Threads.Rows {
		if r.Thread == 0 && int(r.Rank) < len(times) && slices.Contains(ranks, uint32(r.Rank)) {
			time := times[r.Rank]
			forking, there = forking+float64(max(0, min(r.SchedulingNs, time-r.SerialNs))), there+float64(time)
		}
	}
	return forking > mostlyForking*there
}

// mostlyForking is the part of a place's time from which on it is that of forking and joining.
const mostlyForking = 0.5
