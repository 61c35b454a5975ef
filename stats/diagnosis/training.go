package diagnosis

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/document/words"
	"tracekit/stats/analysis"
	"tracekit/trace"
)

// mostOfLoss is the share of what unequal workers cost: who has that is why others wait.
const mostOfLoss = 0.5

// OfTraining adds to the causes of a training job its slow workers or, where none is slow for itself, its long last stage. Of those that
// say that ranks come late, what these do not explain is left.
func OfTraining(a *analysis.Result) {
	f := trainingFinder{a: a, t: a.Training, run: runOf(a)}
	if f.t == nil || f.run == 0 || f.t.WithinClockError {
		return
	}
	found := f.workers()
	if len(found) == 0 {
		found = f.lastStage()
	}
	if len(found) == 0 {
		a.Diagnosis = f.gained(a.Diagnosis)
		return
	}
	gain := int64(0)
	for _, c := range found {
		gain += gainOf(c)
	}
	rest := f.besideWorkers(found, slices.Clone(a.Diagnosis))
	if float64(gain) >= mostOfLoss*f.loss()*float64(f.t.Steps) {
		rest = slices.DeleteFunc(rest, func(c cause.Cause) bool { return effect(&found[0], &c) })
	}
	for i := range found { // that the host of a worker launches late is said once
		rest = slices.DeleteFunc(rest, func(c cause.Cause) bool { return f.starved(&found[i], &c) })
	}
	a.Diagnosis = Join(found, rest)
}

// effect reports whether a cause only says that devices wait for late ranks, which then is evidence of the cause why these are.
func effect(of, late *cause.Cause) bool {
	const key = "collective_wait_ns"
	ns, ok := late.Evidence[key]
	if !ok || late.Kind != cause.Imbalance {
		return false
	}
	of.Text += fmt.Sprintf(" An effect: devices wait %s for late ranks in collectives.", words.Time(int64(ns)))
	of.Evidence[key], of.WaitsCausedNs = ns, of.WaitsCausedNs+late.WaitsCausedNs
	return true
}

// starved reports whether a cause says that the hosts of slow workers launch too slowly, or load data meanwhile, which then is evidence of
// the cause that they do.
func (f trainingFinder) starved(of, idle *cause.Cause) bool {
	if _, onHosts := idle.Evidence["loading_ns"]; onHosts && idle.Kind == cause.DataLoading {
		return f.loads(of, idle.Region)
	}
	if _, late := of.Evidence["kernels_excess"]; !late {
		return false
	}
	theirs := func(r uint32) bool { _, found := slices.BinarySearch(of.Ranks, r); return found }
	ns, empty := idle.Evidence["host_bound_ns"]
	switch path := idle.Evidence["critical_path_ns"]; {
	case idle.Kind == cause.DataLoading && 2*path >= float64(gainOf(*of)) && slices.ContainsFunc(f.a.DevicePath.Rows,
		func(r accelerator.PathRow) bool {
			return r.Kind == "loading" && float64(r.MaxNs) >= culprit*path && theirs(uint32(r.MaxRank))
		}):
		of.Evidence["loading_ns"] = path
	case empty && len(idle.Ranks) > 0 && !slices.ContainsFunc(idle.Ranks, func(r uint32) bool { return !theirs(r) }),
		// either one device at a time has nothing to do, or all wait on their hosts for the workers
		empty && len(idle.Ranks) == 0 && float64(gainOf(*of)) >= culprit*min(ns, float64(gainOf(*idle))):
		of.Evidence["host_bound_ns"] = ns
	default:
		return false
	}
	of.Text += " " + idle.Text
	return true
}

// gained returns causes of which the one that says that the slowest worker comes late, by no known time, has what the replay of steps
// gains if it does not. Too few steps may tell that it is slow for itself.
func (f trainingFinder) gained(causes []cause.Cause) []cause.Cause {
	if len(f.t.Slowest) != 1 || f.t.MW == nil || *f.t.MW < mostOfLoss {
		return causes
	}
	out := slices.Clone(causes)
	for i := range out {
		c := &out[i]
		if _, ok := c.Evidence["worker_wait_ns"]; !ok || c.GainNs != nil || len(c.Ranks) != 1 || field.Rank(c.Ranks[0]) != f.t.Slowest[0] {
			continue
		}
		c.Evidence = maps.Clone(c.Evidence)
		if with := f.cause(*c, float64(f.t.StepNs-f.t.MendedNs), "If this rank computed as long as its peers"); len(with) > 0 {
			out[i] = with[0]
		}
	}
	return Join(nil, out)
}

// loads reports whether slow workers make others wait mostly while they load data, which then is evidence of the cause that they are slow.
func (f trainingFinder) loads(of *cause.Cause, loader field.Name) bool {
	in, all := int64(0), int64(0)
	for _, row := range f.a.Delays {
		for _, r := range row.Ranks {
			if _, theirs := slices.BinarySearch(of.Ranks, uint32(r.Rank)); !theirs || row.Region == field.NotRecorded {
				continue
			}
			if all += r.TimeNs; row.Region == loader {
				in += r.TimeNs
			}
		}
	}
	if in == 0 || 2*in < all {
		return false
	}
	of.Evidence["loading_ns"], of.Region = float64(in), loader
	of.Text += fmt.Sprintf(" Most of that passes while %s in %s.", one(of.Ranks, "it is", "they are"), words.Brief(string(loader)))
	return true
}

// A trainingFinder finds the causes of a training job.
type trainingFinder struct {
	a   *analysis.Result
	t   *training.Job
	run int64
}

// loss is what a step is longer by since workers are unequal, ns.
func (f trainingFinder) loss() float64 { return float64(f.t.StepNs - f.t.EqualNs) }

// workers returns the workers that are slow, each with what a step is longer by for its sake alone; all of them as one cause where they
// gain much more together.
func (f trainingFinder) workers() (out []cause.Cause) {
	if all := f.together(); all != nil {
		return all
	}
	for i := range f.t.ByWorker {
		w := &f.t.ByWorker[i]
		if w.GainNs == nil || w.WithinClockError {
			continue
		}
		c := cause.Cause{Ranks: []uint32{}, Evidence: map[string]float64{"slowdown": w.Slowdown, "excess": w.Excess,
			"slow_steps": float64(w.Slow), "dp_rank": float64(w.DP), "stage": float64(w.Stage)}}
		who, longer := fmt.Sprintf("The worker of dp rank %d and stage %d", w.DP, w.Stage), w.Excess
		if w.TP != nil {
			c.Evidence["tp_rank"] = float64(*w.TP)
		}
		if w.Rank != trace.None {
			who, c.Ranks = "Rank "+words.Rank(w.Rank), []uint32{uint32(w.Rank)}
		}
		when, then := "always slow", ""
		switch w.Pattern {
		case training.SlowSince:
			when, longer, then = fmt.Sprintf("slow since step %d", *w.Step), *w.After, fmt.Sprintf(" since then (%s before)", words.Share(*w.Before))
		case training.SlowUntil:
			when, longer, then = fmt.Sprintf("slow until step %d", *w.Step), *w.Before, fmt.Sprintf(" until then (%s after)", words.Share(*w.After))
		case training.SlowAtRandom:
			c.Evidence["random_steps"] = float64(w.Slow)
			when, then = w.AtRandom(), fmt.Sprintf(" in the mean, much longer in %d of %s", w.Slow, words.Plural(f.t.Steps, "step", "steps"))
			if step, ok := f.worstStep(w); ok && w.Slow == 1 {
				when, then = fmt.Sprintf("slow in step %d", step), fmt.Sprintf(" in the mean, much longer in step %d alone", step)
				delete(c.Evidence, "random_steps")
				c.Evidence["slow_step"] = float64(step)
			}
		}
		if w.Step != nil {
			c.Evidence["step"] = float64(*w.Step)
		}
		c.Headline = fmt.Sprintf("%s is %s", who, when)
		c.Text = fmt.Sprintf("It computes %s longer than its peers%s.", words.Share(longer), then)
		if kernels, ok := f.kernels(w); ok && kernels < w.Excess/2 {
			c.Evidence["kernels_excess"] = kernels
			c.Text = fmt.Sprintf("It takes %s longer than its peers%s, but its kernels do not: its host launches late%s.", words.Share(longer), then,
				f.hostOf(w))
		}
		out = append(out, f.cause(c, float64(*w.GainNs), "If it computed as long as they do")...)
	}
	return out
}

// together returns the slow workers as one cause if none of them has half of what mending all gains: the others still keep their steps
// as long, or each is slow in other steps.
func (f trainingFinder) together() []cause.Cause {
	if f.t.TogetherNs == nil {
		return nil
	}
	excess := 0.0 // the largest
	for i := range f.t.ByWorker {
		w := &f.t.ByWorker[i]
		if w.GainNs != nil && (w.WithinClockError || 2**w.GainNs >= *f.t.TogetherNs) {
			return nil
		}
		if w.Pattern != "" {
			excess = max(excess, w.Excess)
		}
	}
	c := cause.Cause{Ranks: []uint32{}, Evidence: map[string]float64{}}
	patterns, least, steps := make(map[string]bool), excess, 0
	var hosts []uint32 // of workers whose kernels take no longer
	for i := range f.t.ByWorker {
		w := &f.t.ByWorker[i]
		if w.Pattern == "" || 2*w.Excess < excess {
			continue
		}
		if w.Rank == trace.None {
			return nil
		}
		c.Ranks, patterns[w.Pattern], least = append(c.Ranks, uint32(w.Rank)), true, min(least, w.Excess)
		steps += w.Slow
		if kernels, ok := f.kernels(w); ok && kernels < w.Excess/2 {
			hosts = append(hosts, uint32(w.Rank))
		}
	}
	if len(c.Ranks) < 2 {
		return nil
	}
	slices.Sort(c.Ranks)
	c.Evidence["slow_workers"], c.Evidence["excess"] = float64(len(c.Ranks)), excess
	c.Headline = words.Capital(fewRanks(c.Ranks)) + " are slow"
	random := patterns[training.SlowAtRandom]
	if len(patterns) == 1 && random {
		c.Evidence["random_steps"] = float64(steps)
	}
	switch {
	case len(patterns) == 1 && patterns[training.SlowAlways]:
		c.Headline = words.Capital(fewRanks(c.Ranks)) + " are always slow"
	case len(patterns) == 1 && random && 2*len(c.Ranks) > len(f.t.ByWorker):
		c.Headline = "A different rank is slow in each slow step"
	case len(patterns) == 1 && random:
		c.Headline = words.Capital(fewRanks(c.Ranks)) + " are slow at random"
	}
	longer := words.Share(excess)
	if least < 0.9*excess {
		longer = words.Share(least) + " to " + longer
	}
	slices.Sort(hosts)
	switch len(hosts) {
	case 0:
		c.Text = fmt.Sprintf("They compute %s longer than their peers in the mean.", longer)
	case len(c.Ranks):
		c.Text = fmt.Sprintf("They take %s longer than their peers in the mean, but their kernels do not: their hosts launch late.", longer)
	default:
		c.Text = fmt.Sprintf("They take %s longer than their peers in the mean. The kernels of %s do not: %s late.", longer, words.Ranks(hosts),
			one(hosts, "its host launches", "their hosts launch"))
	}
	if len(hosts) > 0 {
		c.Evidence["kernels_excess"], c.Evidence["late_hosts"] = 0, float64(len(hosts))
	}
	return f.cause(c, float64(*f.t.TogetherNs), "If they computed as long as the others")
}

// worstStep returns the step in which a worker is the slowest by most.
func (f trainingFinder) worstStep(w *training.Worker) (step int64, ok bool) {
	worst := 0.0
	for _, s := range f.t.ByStep {
		if s.Rank == w.Rank && s.Rank != trace.None && s.Excess > worst {
			step, worst, ok = s.Step, s.Excess, true
		}
	}
	return step, ok
}

// kernels returns by how much longer the devices of a worker compute than those of its peers, as a share; ok is false if that is unknown.
func (f trainingFinder) kernels(w *training.Worker) (excess float64, ok bool) {
	peers := make(map[field.Rank]bool)
	for i := range f.t.ByWorker {
		if p := &f.t.ByWorker[i]; p.Rank != w.Rank && (p.Stage == w.Stage || f.t.DPRanks == 1) {
			peers[p.Rank] = true
		}
	}
	own, others := 0.0, 0.0
	for i := range f.a.Devices {
		switch d := &f.a.Devices[i]; {
		case d.Rank == w.Rank:
			own += float64(d.ComputeNs)
		case peers[d.Rank]:
			others += float64(d.ComputeNs) / float64(len(peers))
		}
	}
	if w.Rank == trace.None || own == 0 || others == 0 {
		return 0, false
	}
	return own/others - 1, true
}

// hostOf says in which function the host of a worker has most of the critical path.
func (f trainingFinder) hostOf(w *training.Worker) string {
	if f.a.DevicePath == nil {
		return ""
	}
	in, most := "", int64(0)
	for _, r := range f.a.DevicePath.Rows {
		if (r.Kind == "host" || r.Kind == "loading") && r.MaxRank == w.Rank && r.MaxNs > most {
			in, most = r.Name, r.MaxNs
		}
	}
	if in == "" || in == field.OutsideRegions {
		return ""
	}
	return fmt.Sprintf(", mostly in %s (%s of the critical path)", words.Brief(in), words.Time(most))
}

// lastStage returns that the last stage computes too long.
func (f trainingFinder) lastStage() []cause.Cause {
	if f.t.Stages < 2 || f.t.MS == nil || *f.t.MS < mostOfLoss {
		return nil
	}
	last := f.t.ByStage[len(f.t.ByStage)-1]
	c := cause.Cause{Ranks: []uint32{}, Evidence: map[string]float64{"slowdown": last.Slowdown, "stage": float64(last.Number)},
		Headline: "The last stage computes too long"}
	for _, w := range f.t.ByWorker {
		if w.Stage == last.Number && w.Rank != trace.None {
			c.Ranks = append(c.Ranks, uint32(w.Rank))
		}
	}
	slices.Sort(c.Ranks)
	c.Text = fmt.Sprintf("Its %s make the others wait.", words.Plural(f.t.DPRanks*max(1, f.t.TPRanks), "worker", "workers"))
	return f.cause(c, min(1, *f.t.MS)*f.loss(), "If it computed as long as other stages")
}

// cause completes a cause by what a step, and all of them, would be shorter; none if that is too little of the run.
func (f trainingFinder) cause(c cause.Cause, gain float64, mended string) []cause.Cause {
	all := min(f.run, int64(math.Round(gain*float64(f.t.Steps))))
	share := float64(all) / float64(f.run)
	if share < leastGain {
		return nil
	}
	c.Kind, c.GainNs, c.GainShare = cause.Imbalance, &all, &share
	c.Evidence["step_gain_ns"] = gain
	c.Text += fmt.Sprintf(" Without that, a step would be %s shorter (%s).", words.Time(int64(gain)),
		words.PartOfFloat(gain, float64(f.t.StepNs)))
	c.Change = fmt.Sprintf("%s, the run would be at most %s (%s) shorter.", mended, words.Time(all), words.Share(share))
	return []cause.Cause{c}
}
