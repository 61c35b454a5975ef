package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/report/unit"
	"tracekit/trace"
)

var trainingWorkers = &Table{Key: "training_workers", Tab: "training", Title: "Slowdown by worker", Path: "more.training.workers[]",
	What: "workers",
	Note: "The least of the slowdowns of its data-parallel rank, its stage and, if there are several, its tensor-parallel rank. Excess: " +
		"computation time beyond that of peers, workers of the same stage. Gain: by which a step is shorter without that, in the mean.",
	Columns: []Column{
		{Key: "rank", Title: "rank", Unit: unit.Rank},
		{Key: "dp_rank", Title: "dp rank", Unit: unit.Plain},
		{Key: "tp_rank", Title: "tp rank", Unit: unit.Plain},
		{Key: "stage", Title: "stage", Unit: unit.Plain},
		{Key: "slowdown", Title: "slowdown", Unit: unit.Ratio, Term: "slowdown", Bar: true},
		{Key: "excess", Title: "excess", Unit: unit.Share},
		{Key: "gain_ns", Title: "gain", Unit: unit.Time},
		{Key: "evidence", Title: "evidence", Unit: unit.Remarks},
	}}

var trainingTypes = &Table{Key: "training_types", Tab: "training", Title: "Slowdown by type of operation", Path: "training.by_type[]",
	Note: "All other types have equal durations. Of a communication the duration is its transfer.",
	Columns: []Column{
		{Key: "type", Title: "type"},
		{Key: "operations", Title: "operations", Unit: unit.Count},
		{Key: "equal_ns", Title: "equal duration", Unit: unit.Time},
		{Key: "slowdown", Title: "slowdown", Unit: unit.Ratio, Term: "slowdown", Bar: true},
	}}

var (
	trainingRanks  = trainingGroups("ranks", "data-parallel rank", "dp_rank")
	trainingLanes  = trainingGroups("lanes", "tensor-parallel rank", "tp_rank")
	trainingStages = trainingGroups("stages", "stage", "stage")
)

func trainingGroups(key, of, block string) *Table {
	return &Table{Key: "training_" + key, Tab: "training", Title: "Slowdown by " + of, Path: "training.by_" + block + "[]", What: "rows",
		Columns: []Column{
			{Key: "number", Title: "number", Unit: unit.Plain},
			{Key: "slowdown", Title: "slowdown", Unit: unit.Ratio, Term: "slowdown", Bar: true},
		}}
}

var trainingBubbles = &Table{Key: "training_bubbles", Tab: "training", Title: "Pipeline bubbles", Path: "training.bubbles[]",
	Note: "Time of a step in which nothing runs on a stage, a mean over its workers. The schedule's part stays where all are equal.",
	Columns: []Column{
		{Key: "stage", Title: "stage", Unit: unit.Plain},
		{Key: "share", Title: "share of step", Unit: unit.Share},
		{Key: "bubble_ns", Title: "bubble", Unit: unit.Time, Term: "pipeline bubble", Bar: true},
		{Key: "schedule_ns", Title: "schedule", Unit: unit.Time},
		{Key: "warm_up_ns", Title: "warm-up", Unit: unit.Time},
		{Key: "cool_down_ns", Title: "cool-down", Unit: unit.Time},
		{Key: "rest_ns", Title: "rest", Unit: unit.Time},
	}}

var trainingGroupsFound = &Table{Key: "training_process_groups", Title: "Process groups", Path: "training.structure.groups[]",
	What: "kinds of groups", Note: "Known by their name or those of processes, by what they communicate when (use), or by their members.",
	Columns: []Column{
		{Key: "role", Title: "for"},
		{Key: "by", Title: "known by"},
		{Key: "groups", Title: "groups", Unit: unit.Count},
		{Key: "ranks", Title: "ranks of each", Unit: unit.Count},
		{Key: "example", Title: "example"},
	}}

var trainingSteps = &Table{Key: "training_steps", Tab: "training", Title: "Slowest steps", Path: "training.by_step[]", What: "steps",
	Note: "Excess: of the worker that computes longest beyond its peers in this step.",
	Columns: []Column{
		{Key: "step", Title: "step", Unit: unit.Plain},
		{Key: "step_ns", Title: "time", Unit: unit.Time, Bar: true},
		{Key: "slowdown", Title: "slowdown", Unit: unit.Ratio, Term: "slowdown"},
		{Key: "rank", Title: "slowest rank", Unit: unit.Rank},
		{Key: "excess", Title: "excess", Unit: unit.Share},
	}}

// A shownWorker is a worker and how it is slow.
type shownWorker struct {
	*training.Worker
	Evidence string `json:"evidence"`
}

// shownWorkers returns the workers of a job, the slowest first.
func shownWorkers(t *training.Job) []shownWorker {
	out := make([]shownWorker, len(t.ByWorker))
	for i := range out {
		out[i] = shownWorker{&t.ByWorker[i], SlowEvidence(&t.ByWorker[i], t.Steps)}
	}
	return out
}

// SlowEvidence says how a worker is slow, "" if it is not.
func SlowEvidence(w *training.Worker, steps int) string {
	if w.Pattern == "" {
		return ""
	}
	said := slowWhen(w, steps)
	switch w.Pattern {
	case training.SlowSince:
		said += fmt.Sprintf(": excess %s, %s before", words.Share(*w.After), words.Share(*w.Before))
	case training.SlowUntil:
		said += fmt.Sprintf(": excess %s, then %s", words.Share(*w.Before), words.Share(*w.After))
	}
	return said
}

// trainingFacts are sentences on what the job loses, the most important first.
func trainingFacts(t *training.Job) []string {
	if t.WithinClockError { // which otherFacts say first
		return append(otherFacts(t), lossFacts(t)...)
	}
	return append(lossFacts(t), otherFacts(t)...)
}

// lossFacts say who is slow, since when, and what a step gains without that; else what the last stage costs.
func lossFacts(t *training.Job) []string {
	facts := slowFacts(t)
	if facts == nil && orZero(t.MW) >= 0.5 && t.Slowdown >= 1.01 && worth(t, t.StepNs-t.MendedNs) {
		facts = append(facts, replacing(t))
	}
	// One slow worker makes its stage slow; other workers of the stage show that it is not the stage.
	worker := len(facts) > 0 || t.DPRanks > 1 && orZero(t.MW) >= 0.5
	if t.Stages > 1 && !worker && orZero(t.MS) >= 0.5 && t.Slowdown >= 1.01 {
		facts = append(facts, fmt.Sprintf("The last stage computes too long: equal stages would end %s of the loss. Move layers to other stages.",
			shareOfLoss(t.MS)))
	}
	if facts == nil {
		facts = []string{"No worker is slow by more than chance."}
		if slices.ContainsFunc(t.ByWorker, func(w training.Worker) bool { return w.Pattern != "" }) {
			facts[0] = "No slow worker costs 1 % of a step."
		}
	}
	return facts
}

// worth reports whether a gain of each step is worth telling: 1 % of it or more.
func worth(t *training.Job, gain int64) bool {
	return gain > 0 && float64(gain) >= 0.01*float64(t.StepNs)
}

// slowFacts say of the workers that are slow by more than chance since when, and what a step gains without that: of each that is worth
// it, the most first; of all, if that is much more.
func slowFacts(t *training.Job) (facts []string) {
	var slow, little []*training.Worker
	for i := range t.ByWorker {
		switch w := &t.ByWorker[i]; {
		case w.GainNs != nil && worth(t, *w.GainNs):
			slow = append(slow, w)
		case w.Pattern != "":
			little = append(little, w)
		}
	}
	slices.SortStableFunc(slow, func(a, b *training.Worker) int { return cmp.Compare(*b.GainNs, *a.GainNs) })
	shorter := func(gain int64) string {
		return fmt.Sprintf("a step would be %s (%s) shorter in the mean", words.Time(gain), words.PartOfFloat(float64(gain), float64(t.StepNs)))
	}
	if all := t.TogetherNs; all != nil && worth(t, *all) && (len(slow) == 0 || *all > 2**slow[0].GainNs) {
		facts = append(facts, fmt.Sprintf("%d workers are slow. If they all computed as long as their peers, %s.", len(slow)+len(little),
			shorter(*all)))
	}
	for _, w := range slow {
		then := ""
		if w.Pattern != training.SlowAlways {
			then = " then"
		}
		facts = append(facts, fmt.Sprintf("%s is %s. If it computed as long as its peers%s, %s.", words.Capital(workerName(w)),
			slowWhen(w, t.Steps), then, shorter(*w.GainNs)))
	}
	if len(slow) > 0 && len(little) > 0 && len(facts) == len(slow) {
		facts = append(facts, words.Plural(len(little), "worker is", "workers are")+" slow as well: see the table.")
	}
	return facts
}

// workerName names a worker by its rank, if that is known.
func workerName(w *training.Worker) string {
	if w.Rank == trace.None {
		return fmt.Sprintf("the worker of dp rank %d, stage %d", w.DP, w.Stage)
	}
	return "rank " + words.Rank(w.Rank)
}

// otherFacts says how the steps of the job were found, and what is doubtful.
func otherFacts(t *training.Job) (facts []string) {
	if e := t.ClockErrorNs; e > 0 && (t.WithinClockError || float64(e) >= 0.0005*float64(t.EqualNs)) { // which is seen
		fact := fmt.Sprintf("Clocks of hosts were aligned: a slowdown up to %.3f may be their error (%s a step).",
			1+float64(e)/float64(max(1, t.EqualNs)), words.Time(e))
		if t.WithinClockError {
			fact += " All of the loss may."
		}
		facts = append(facts, fact)
	}
	if s := t.Sequences; s != nil && s.Varying {
		facts = append(facts, fmt.Sprintf("Micro-batches take different times, forward and backward alike (correlation %.2f). "+
			"Balance sequence lengths among data-parallel ranks.", s.Correlation))
	}
	if n := len(t.Missing); n > 0 {
		facts = append(facts, fmt.Sprintf("%s not in the trace, the first is stage %d of dp rank %d; their data-parallel ranks are left out.",
			words.Plural(n, "worker is", "workers are"), t.Missing[0].Stage, t.Missing[0].DP))
	}
	if s := t.Structure; s != nil && len(s.LeftOut) > 0 {
		facts = append(facts, fmt.Sprintf("%s left out: not all ranks that work with them are recorded.", RanksNamed(s.LeftOut)))
	}
	if t.LeftOut > 0 {
		facts = append(facts, fmt.Sprintf("%s left out: other operations than in the others.",
			words.Plural(t.LeftOut, "step is", "steps are")))
	}
	return facts
}

// replacing says what others in place of the slowest workers would gain, of which none is slow by more than chance.
func replacing(t *training.Job) string {
	gain := t.StepNs - t.MendedNs
	who, are, its, them := RanksNamed(t.Slowest), "are", "their", "They are"
	if len(t.Slowest) == 1 {
		are, its, them = "is", "its", "It is"
	}
	return fmt.Sprintf("%s %s the slowest, which may be chance. With the times of %s peers, a step would be %s (%s) shorter. "+
		"%s the reason for %s of the loss.", words.Capital(who), are, its, words.Time(gain), words.PartOfFloat(float64(gain), float64(t.StepNs)), them,
		shareOfLoss(t.MW))
}

// slowWhen says when a slow worker is slow.
func slowWhen(w *training.Worker, steps int) string {
	switch w.Pattern {
	case training.SlowSince:
		return fmt.Sprintf("slow since step %d", *w.Step)
	case training.SlowUntil:
		return fmt.Sprintf("slow until step %d", *w.Step)
	case training.SlowAtRandom:
		return fmt.Sprintf("%s, in %d of %s", w.AtRandom(), w.Slow, words.Plural(steps, "step", "steps"))
	}
	return "always slow"
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}

// jobKind says what a job does.
func jobKind(t *training.Job) string {
	if t.Structure != nil && t.Structure.Steps == training.StepsServed {
		return "serving"
	}
	return "training"
}

// jobSize says of how many steps and workers a job is.
func jobSize(t *training.Job) string {
	size := words.Plural(t.Steps, "step", "steps") + " of " + words.Plural(t.DPRanks, "data-parallel rank", "data-parallel ranks")
	if t.TPRanks > 1 {
		size += " × " + words.Plural(t.TPRanks, "tensor-parallel rank", "tensor-parallel ranks")
	}
	return size + " × " + words.Plural(t.Stages, "stage", "stages")
}

// shareOfLoss writes a share of a loss, which may seem to be more than all of it.
func shareOfLoss(x *float64) string { return words.Share(min(1, *x)) }

// RanksNamed names the ranks of the slowest workers, some of many; it only counts them if their ranks are not known.
func RanksNamed(ranks []field.Rank) string {
	var names []string
	if slices.Contains(ranks, trace.None) {
		if len(ranks) == 1 {
			return "the slowest worker"
		}
		return fmt.Sprintf("the %d slowest workers", len(ranks))
	}
	for _, r := range ranks[:min(4, len(ranks))] {
		names = append(names, words.Rank(r))
	}
	if more := len(ranks) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	if len(ranks) == 1 {
		return "rank " + names[0]
	}
	return "ranks " + strings.Join(names, ", ")
}

// Training prints what a training job loses to slow workers.
func (r *Sections) Training() {
	t := r.Analysis.Training
	if t == nil {
		return
	}
	said := fmt.Sprintf("%s: %s: a step takes %s, %s with equal workers, slowdown %.3f.", words.Capital(jobKind(t)), jobSize(t),
		words.Time(t.StepNs), words.Time(t.EqualNs), t.Slowdown)
	fmt.Fprintf(r.W, "\n%s\n", text.Wrap(said, r.Width, 2))
	for _, fact := range trainingFacts(t) {
		fmt.Fprintln(r.W, text.Wrap(fact, r.Width, 2))
	}
	workers := *trainingWorkers
	if t.TPRanks <= 1 {
		workers.Columns = slices.DeleteFunc(slices.Clone(workers.Columns), func(c Column) bool { return c.Key == "tp_rank" })
	}
	r.Table(&workers, RowsOf(shownWorkers(t)))
	r.Table(trainingRanks, longest(RowsOf(t.ByDP), "slowdown"))
	if t.TPRanks > 1 {
		r.Table(trainingLanes, longest(RowsOf(t.ByTP), "slowdown"))
	}
	r.Table(trainingStages, longest(RowsOf(t.ByStage), "slowdown"))
	r.Table(trainingTypes, RowsOf(t.ByType))
	r.Table(trainingBubbles, RowsOf(t.Bubbles))
	r.Table(trainingSteps, longest(RowsOf(t.ByStep), "step_ns"))
	if s := t.Structure; s != nil {
		r.Table(trainingGroupsFound, RowsOf(s.Groups))
		for i := range s.Notes {
			fmt.Fprintln(r.W, text.Wrap(unrecorded(&s.Notes[i]), r.Width, 2))
		}
	}
}

// unrecorded says what a profiler has not recorded, and what follows.
func unrecorded(n *training.Unrecorded) string {
	switch n.Record {
	case training.NoBackward:
		return "The backward pass is not recorded: neither its operators nor an annotation. Forward and backward passes count as one computation."
	case training.NoOptimizer:
		return "Optimizer.step is not recorded. What follows the last backward computation counts as optimizer."
	case training.NoGroups:
		return "Process groups are not recorded. All operations count as those of all ranks."
	case training.NoMicroBatches:
		return "Micro-batches are not named. Sends and receives tell them apart."
	case training.NoLaunch:
		return fmt.Sprintf("%d of %d kernels have no recorded launch. Their pass is that of the time at which they start.", n.Count, n.Of)
	case training.NoFiles:
		return fmt.Sprintf("%d of %d ranks are not recorded.", n.Count, n.Of)
	}
	return n.Record
}

// trainingLoss is the part of the first screen about what a training job loses.
func (o *Overview) trainingLoss() *block {
	t := o.Analysis.Training
	if t == nil {
		return nil
	}
	b := &block{heading: strings.ToUpper(jobKind(t)), least: 3, about: jobSize(t)}
	lost := 0.0
	if t.StepNs > 0 {
		lost = max(0, 1-float64(t.EqualNs)/float64(t.StepNs))
	}
	b.add(o.row("step", words.Time(t.StepNs), nil, ""))
	b.add(o.row("step with equal workers", words.Time(t.EqualNs), nil, fmt.Sprintf("slowdown %.2f", t.Slowdown)))
	b.add(o.row("lost to unequal workers", words.Share(lost), &lost, ""))
	facts := trainingFacts(t)
	listed := t.ByWorker[:min(3, len(t.ByWorker))]
	if slices.ContainsFunc(o.Analysis.Diagnosis, func(c cause.Cause) bool { _, ok := c.Evidence["step_gain_ns"]; return ok }) {
		facts, listed = otherFacts(t), nil // what to fix says the rest
	}
	for i := range listed {
		w := &listed[i]
		if said := SlowEvidence(w, t.Steps); said != "" && w.Slowdown >= 1.005 {
			who := fmt.Sprintf("dp %d, stage %d", w.DP, w.Stage)
			if w.Rank != trace.None {
				who = fmt.Sprintf("rank %s (%s)", words.Rank(w.Rank), who)
			}
			b.add(o.row(who, fmt.Sprintf("%.2f ×", w.Slowdown), nil, said))
		}
	}
	for _, fact := range facts {
		b.add(o.wrapped(fact, 2, 2)...)
	}
	return b
}
