package report

import (
	"fmt"
	"slices"
	"strings"

	"tracekit/document"
	"tracekit/document/field"
	"tracekit/document/words"
	"tracekit/report/text"
	"tracekit/trace"
)

var trainingWorkers = &Table{Key: "training_workers", Title: "Slowdown by worker", Path: "training.by_worker[]", What: "workers",
	Note: "The lesser of the slowdowns of its data-parallel rank and of its stage. Excess: computation time beyond that of peers, workers " +
		"of the same stage.",
	Columns: []Column{
		{Key: "rank", Title: "rank", Unit: Rank},
		{Key: "dp_rank", Title: "dp rank", Unit: Plain},
		{Key: "stage", Title: "stage", Unit: Plain},
		{Key: "slowdown", Title: "slowdown", Unit: Ratio, Term: "slowdown"},
		{Key: "excess", Title: "excess", Unit: Share},
		{Key: "evidence", Title: "evidence", Unit: Remarks},
	}}

var trainingTypes = &Table{Key: "training_types", Title: "Slowdown by type of operation", Path: "training.by_type[]",
	Note: "All other types have equal durations. Of a communication the duration is its transfer.",
	Columns: []Column{
		{Key: "type", Title: "type"},
		{Key: "operations", Title: "operations", Unit: Count},
		{Key: "equal_ns", Title: "equal duration", Unit: Time},
		{Key: "slowdown", Title: "slowdown", Unit: Ratio, Term: "slowdown"},
	}}

var trainingGroups = &Table{Key: "training_groups", Columns: []Column{
	{Key: "number", Title: "number", Unit: Plain},
	{Key: "slowdown", Title: "slowdown", Unit: Ratio, Term: "slowdown"},
}}

var trainingBubbles = &Table{Key: "training_bubbles", Title: "Pipeline bubbles", Path: "training.bubbles[]",
	Note: "Time of a step in which nothing runs on a stage, a mean over its workers. The schedule's part stays where all are equal.",
	Columns: []Column{
		{Key: "stage", Title: "stage", Unit: Plain},
		{Key: "share", Title: "share of step", Unit: Share},
		{Key: "bubble_ns", Title: "bubble", Unit: Time, Term: "pipeline bubble"},
		{Key: "schedule_ns", Title: "schedule", Unit: Time},
		{Key: "warm_up_ns", Title: "warm-up", Unit: Time},
		{Key: "cool_down_ns", Title: "cool-down", Unit: Time},
		{Key: "rest_ns", Title: "rest", Unit: Time},
	}}

var trainingSteps = &Table{Key: "training_steps", Title: "Slowest steps", Path: "training.by_step[]", What: "steps",
	Columns: []Column{
		{Key: "step", Title: "step", Unit: Plain},
		{Key: "step_ns", Title: "time", Unit: Time},
		{Key: "slowdown", Title: "slowdown", Unit: Ratio, Term: "slowdown"},
	}}

// evidence is what text adds to the row of a worker.
type evidence struct {
	Evidence string `json:"evidence"`
}

// slowEvidence says how a worker is slow, "" if it is not.
func slowEvidence(w *document.Worker, steps int) string {
	switch w.Pattern {
	case document.SlowAlways:
		return "always slow"
	case document.SlowSince:
		return fmt.Sprintf("slow since step %d: excess %s, %s before", *w.Step, words.Share(*w.After), words.Share(*w.Before))
	case document.SlowUntil:
		return fmt.Sprintf("slow until step %d: excess %s, then %s", *w.Step, words.Share(*w.Before), words.Share(*w.After))
	case document.SlowAtRandom:
		return fmt.Sprintf("slow at random, in %d of %s", w.Slow, words.Plural(steps, "step", "steps"))
	}
	return ""
}

// trainingFacts are sentences on what the job loses, the most important first.
func trainingFacts(t *document.Training) (facts []string) {
	if orZero(t.MW) >= 0.5 && t.Slowdown >= 1.01 {
		facts = append(facts, fmt.Sprintf("%s of the loss would be gone if %s ran as fast as the others.", shareOfLoss(t.MW), RanksNamed(t.Slowest)))
	}
	if orZero(t.MS) >= 0.5 && t.Slowdown >= 1.01 {
		facts = append(facts, fmt.Sprintf("The last stage computes too long: equal stages would end %s of the loss. Move layers to other stages.",
			shareOfLoss(t.MS)))
	}
	if s := t.Sequences; s != nil && s.Varying {
		facts = append(facts, fmt.Sprintf("Micro-batches take different times, forward and backward alike (correlation %.2f). "+
			"Balance sequence lengths among data-parallel ranks.", s.Correlation))
	}
	if t.LeftOut > 0 {
		facts = append(facts, fmt.Sprintf("%s left out: other operations than in the first step.",
			words.Plural(t.LeftOut, "step is", "steps are")))
	}
	return facts
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
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
	said := fmt.Sprintf("Training: %s of %s × %s: a step takes %s, %s with equal workers, slowdown %.3f.",
		words.Plural(t.Steps, "step", "steps"), words.Plural(t.DPRanks, "dp rank", "dp ranks"), words.Plural(t.Stages, "stage", "stages"),
		words.Time(t.StepNs), words.Time(t.EqualNs), t.Slowdown)
	fmt.Fprintf(r.W, "\n%s\n", text.Wrap(said, r.Width, 2))
	for _, fact := range trainingFacts(t) {
		fmt.Fprintln(r.W, text.Wrap(fact, r.Width, 2))
	}
	rows := RowsOf(t.ByWorker)
	for i := range rows {
		rows[i] = append(rows[i], &evidence{slowEvidence(&t.ByWorker[i], t.Steps)})
	}
	r.Table(trainingWorkers, rows)
	for _, g := range []struct {
		title string
		rows  []document.GroupSlow
	}{{"Slowdown by data-parallel rank", t.ByDP}, {"Slowdown by stage", t.ByStage}} {
		table := *trainingGroups
		table.Title, table.What = g.title, "rows"
		r.Table(&table, longest(RowsOf(g.rows), "slowdown"))
	}
	r.Table(trainingTypes, RowsOf(t.ByType))
	r.Table(trainingBubbles, RowsOf(t.Bubbles))
	r.Table(trainingSteps, longest(RowsOf(t.ByStep), "step_ns"))
}

// trainingLoss is the part of the first screen about what a training job loses.
func (o *Overview) trainingLoss() *block {
	t := o.Analysis.Training
	if t == nil {
		return nil
	}
	b := &block{heading: "TRAINING", least: 3, about: fmt.Sprintf("%s of %s × %s", words.Plural(t.Steps, "step", "steps"),
		words.Plural(t.DPRanks, "data-parallel rank", "data-parallel ranks"), words.Plural(t.Stages, "stage", "stages"))}
	lost := 0.0
	if t.StepNs > 0 {
		lost = max(0, 1-float64(t.EqualNs)/float64(t.StepNs))
	}
	b.add(o.row("step", words.Time(t.StepNs), nil, ""))
	b.add(o.row("step with equal workers", words.Time(t.EqualNs), nil, fmt.Sprintf("slowdown %.2f", t.Slowdown)))
	b.add(o.row("lost to unequal workers", words.Share(lost), &lost, ""))
	for i := range t.ByWorker[:min(3, len(t.ByWorker))] {
		w := &t.ByWorker[i]
		if said := slowEvidence(w, t.Steps); said != "" && w.Slowdown >= 1.005 {
			who := fmt.Sprintf("dp %d, stage %d", w.DP, w.Stage)
			if w.Rank != trace.None {
				who = fmt.Sprintf("rank %s (%s)", words.Rank(w.Rank), who)
			}
			b.add(o.row(who, fmt.Sprintf("%.2f ×", w.Slowdown), nil, said))
		}
	}
	for _, fact := range trainingFacts(t) {
		b.add(o.wrapped(fact, 2, 2)...)
	}
	return b
}
