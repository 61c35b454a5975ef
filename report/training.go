package report

import (
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
		"computation time beyond that of peers, workers of the same stage.",
	Columns: []Column{
		{Key: "rank", Title: "rank", Unit: unit.Rank},
		{Key: "dp_rank", Title: "dp rank", Unit: unit.Plain},
		{Key: "tp_rank", Title: "tp rank", Unit: unit.Plain},
		{Key: "stage", Title: "stage", Unit: unit.Plain},
		{Key: "slowdown", Title: "slowdown", Unit: unit.Ratio, Term: "slowdown", Bar: true},
		{Key: "excess", Title: "excess", Unit: unit.Share},
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
	What: "kinds of groups", Note: "Known by their name, by what they communicate when (use), or by their members.",
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
	switch w.Pattern {
	case training.SlowAlways:
		return "always slow"
	case training.SlowSince:
		return fmt.Sprintf("slow since step %d: excess %s, %s before", *w.Step, words.Share(*w.After), words.Share(*w.Before))
	case training.SlowUntil:
		return fmt.Sprintf("slow until step %d: excess %s, then %s", *w.Step, words.Share(*w.Before), words.Share(*w.After))
	case training.SlowAtRandom:
		return fmt.Sprintf("%s, in %d of %s", w.AtRandom(), w.Slow, words.Plural(steps, "step", "steps"))
	}
	return ""
}

// trainingFacts are sentences on what the job loses, the most important first.
func trainingFacts(t *training.Job) []string {
	if t.WithinClockError { // which otherFacts say first
		return append(otherFacts(t), lossFacts(t)...)
	}
	return append(lossFacts(t), otherFacts(t)...)
}

// lossFacts say what mending the slowest workers or the last stage would gain.
func lossFacts(t *training.Job) []string {
	facts := []string{} // the page wants a list also where there is nothing to tell
	if orZero(t.MW) >= 0.5 && t.Slowdown >= 1.01 {
		facts = append(facts, replacing(t))
	}
	// One slow worker makes its stage slow; other workers of the stage show that it is not the stage.
	worker := t.DPRanks > 1 && orZero(t.MW) >= 0.5
	if t.Stages > 1 && !worker && orZero(t.MS) >= 0.5 && t.Slowdown >= 1.01 {
		facts = append(facts, fmt.Sprintf("The last stage computes too long: equal stages would end %s of the loss. Move layers to other stages.",
			shareOfLoss(t.MS)))
	}
	return facts
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
		facts = append(facts, fmt.Sprintf("%s left out: not all stages of their data-parallel rank are recorded.", RanksNamed(s.LeftOut)))
	}
	if t.LeftOut > 0 {
		facts = append(facts, fmt.Sprintf("%s left out: other operations than in the others.",
			words.Plural(t.LeftOut, "step is", "steps are")))
	}
	return facts
}

// replacing says which workers are slow, of a single one since when, and what others in their place would gain. Of many workers, some of
// the slowest may be as fast as their peers.
func replacing(t *training.Job) string {
	gain := float64(t.StepNs - t.MendedNs)
	slow, since, who, its, are := slowOf(t), "", RanksNamed(t.Slowest), "their", "They are"
	if len(t.Slowest) == 1 {
		its, are = "its", "It is"
	}
	if len(slow) > 0 && len(slow) < len(t.Slowest) {
		var ranks []field.Rank
		for _, w := range slow {
			ranks = append(ranks, w.Rank)
		}
		since = words.Capital(RanksNamed(ranks)) + " are slow. "
		who = fmt.Sprintf("the slowest %d workers", len(t.Slowest))
		are = words.Capital(who) + " are"
	}
	if len(slow) == 1 {
		gain = float64(*slow[0].GainNs)
		since, who, its = fmt.Sprintf("Rank %s is %s. ", words.Rank(slow[0].Rank), slowWhen(slow[0])), "it", "its"
	}
	return fmt.Sprintf("%sIf %s computed as long as %s peers, a step would be %s shorter (%s). %s the reason for %s of the loss.", since, who,
		its, words.Time(int64(gain)), words.PartOfFloat(gain, float64(t.StepNs)), are, shareOfLoss(t.MW))
}

// slowWhen says when a slow worker is slow.
func slowWhen(w *training.Worker) string {
	switch w.Pattern {
	case training.SlowSince:
		return fmt.Sprintf("slow since step %d", *w.Step)
	case training.SlowUntil:
		return fmt.Sprintf("slow until step %d", *w.Step)
	case training.SlowAtRandom:
		return w.AtRandom()
	}
	return "always slow"
}

// slowOf returns which of the slowest workers are slower than their peers by more than chance; none if ranks are not known.
func slowOf(t *training.Job) (out []*training.Worker) {
	for i := range t.ByWorker[:min(len(t.ByWorker), len(t.Slowest))] {
		w := &t.ByWorker[i]
		if w.Rank == trace.None {
			return nil
		}
		if w.Pattern != "" {
			out = append(out, w)
		}
	}
	if len(out) == 1 && out[0].GainNs == nil { // which only the first ones have
		return nil
	}
	return out
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
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
	said := fmt.Sprintf("Training: %s: a step takes %s, %s with equal workers, slowdown %.3f.", jobSize(t),
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
	b := &block{heading: "TRAINING", least: 3, about: jobSize(t)}
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
