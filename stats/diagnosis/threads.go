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
	add := func(lost float64, headline, text, mended string, c cause.Cause) {
		if lost < leastGain {
			return
		}
		c.Ranks, c.Headline, c.Text = []uint32{}, headline, text
		if t.Processes == 1 && mended != "" {
			gain := int64(lost * run)
			c.GainNs, c.GainShare, c.Change = &gain, &lost, shorter(mended, gain, lost)
		}
		causes = append(causes, c)
	}
	f := t.Efficiency
	switch {
	case f.Serial != nil:
		add(1-*f.Serial, "One thread per process works outside parallel regions",
			fmt.Sprintf("This takes %s of %s.", words.Time(runOf(a)-t.ParallelNs/int64(t.Processes)), words.Time(runOf(a))),
			"If all threads shared that work",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: map[string]float64{"serial_efficiency": *f.Serial, "idle_threads_ns": float64(t.IdleNs)}})
	case f.Parallel != nil:
		headline, text := mostOfRest(t, run)
		add(1-*f.Parallel, headline, working(t)+text, "",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: map[string]float64{"parallel_efficiency": *f.Parallel}})
	}
	if w := &a.WaitStates[waitstate.AtTeamBarrier]; w.Count > 0 && len(w.Top) > 0 && w.Share != nil {
		longest := w.Top[0]
		headline, text := teamWaits(w)
		add(*w.Share, headline, text, "If all threads took the same time",
			cause.Cause{Kind: cause.Imbalance, SourceLine: longest.SourceLine, Operation: field.Name(longest.Operation),
				WaitsCausedNs: w.TimeNs, Evidence: map[string]float64{"waits": float64(w.Count)}})
	}
	forking, locked, delay := int64(0), int64(0), int64(0)
	for _, row := range t.Rows {
		locked, delay = locked+row.WaitingNs, delay+row.LockDelayNs
		if row.Thread == 0 {
			forking += row.SchedulingNs
		}
	}
	if f.Serial != nil {
		add(float64(delay)/run/float64(t.Processes), lockHeadline, fmt.Sprintf("They wait %s.", words.Time(locked)), "If they did not",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: map[string]float64{"lock_wait_ns": float64(locked)}})
	}
	if t.ParallelRegions > 0 {
		mean := forking / int64(t.Processes)
		add(float64(forking)/float64(t.Processes)/run, forkingHeadline, forkingText(mean, t), "If forking and joining took no time",
			cause.Cause{Kind: cause.ThreadIdle, Evidence: forkingEvidence(mean, t)})
	}
	return Join(causes, nil)
}

// working says how much of their time threads work.
func working(t *document.Threads) string {
	return fmt.Sprintf("%d threads work for %.1f %% of their time. ", t.Threads, 100**t.Efficiency.Parallel)
}

// teamWaits says that threads of teams wait for each other.
func teamWaits(w *waitstate.State) (headline, text string) {
	longest := words.Call(w.Top[0].Operation, w.Top[0].SourceLine)
	return "Threads of a team wait for each other at barriers", fmt.Sprintf("They wait %s, longest in %s.", words.Time(w.TimeNs), longest)
}

const lockHeadline = "Threads wait for locks, tasks or each other"

const forkingHeadline = "Forking and joining threads takes long"

// forkingText says what forking and joining threads takes masters in the mean, ns.
func forkingText(mean int64, t *document.Threads) string {
	return fmt.Sprintf("The master thread of a process spends %s on it, for %s in all processes.", words.Time(mean),
		words.Plural(int(t.ParallelRegions), "parallel region", "parallel regions"))
}

func forkingEvidence(mean int64, t *document.Threads) map[string]float64 {
	return map[string]float64{"fork_join_ns": float64(mean), "parallel_regions": float64(t.ParallelRegions)}
}

// mostOfRest says what threads do most of the time in which they do not work.
func mostOfRest(t *document.Threads, run float64) (headline, text string) {
	texts := [...][2]string{{"Threads wait at barriers", "Barriers"}, {lockHeadline, "Waiting"},
		{"Creating and joining threads and tasks takes long", "Scheduling"}, {"Threads have no work", "No work"},
		{"The measurement itself takes long", "Measurement"}}
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
	return texts[most][0], fmt.Sprintf("%s: %.1f %%.", texts[most][1], 100*float64(times[most])/(run*float64(t.Threads)))
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
