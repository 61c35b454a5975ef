package stragglers

import (
	"cmp"
	"context"
	"math"
	"slices"

	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/merge"
	"tracekit/trace"
)

// Find finds what the training job of a trace loses to slow workers, and its pipelines. The error is ErrNoJob if it is no such job, a
// *MissingError if its steps cannot be replayed.
func Find(ctx context.Context, src trace.Source, jobs int) (*training.Job, *Pipeline, error) {
	doc, p, _, err := find(ctx, src, jobs)
	return doc, p, err
}

// find finds also whether clocks contradict each other.
func find(ctx context.Context, src trace.Source, jobs int) (*training.Job, *Pipeline, bool, error) {
	j, r, err := open(ctx, src, jobs)
	if err != nil {
		return nil, nil, false, err
	}
	doc := &training.Job{Steps: len(j.steps), LeftOut: j.leftOut, Unknown: j.unknown, DPRanks: (j.dps + j.lanes - 1) / j.lanes,
		Stages: j.stages, Operations: len(j.steps) * len(r.kind), Structure: j.structure, Missing: j.missing}
	recorded := r.lengths(func(int) bool { return true })
	b := newBubbles(r)
	equal := r.lengths(func(int) bool { return false })
	ideal := mean(equal)
	whole := mean(recorded)
	doc.StepNs, doc.EqualNs, doc.Slowdown = int64(math.Round(whole)), int64(math.Round(ideal)), ratio(whole, ideal)
	slowdown := func(keep func(n int) bool) float64 { return ratio(mean(r.lengths(keep)), ideal) }
	rows := func(groups []group) (out []training.GroupSlow) {
		for _, g := range groups {
			out = append(out, training.GroupSlow{Number: g.number, Slowdown: ratio(mean(r.lengthsOf(g)), ideal)})
		}
		return out
	}
	doc.ByDP, doc.ByStage = rows(r.groups(byDP)), rows(r.groups(byStage))
	if j.lanes > 1 {
		doc.TPRanks, doc.ByTP = j.lanes, rows(r.groups(byLane))
	}
	doc.ByType = r.types(slowdown)
	r.excess = r.excesses()
	order := r.workers(doc)
	r.stepRows(doc, src.Defs().Clock, recorded, ideal)
	doc.MW = gain(whole, ideal, mean(r.lengths(r.without(order[:len(doc.Slowest)]))))
	doc.MendedNs = r.whenMended(order[:len(doc.Slowest)], false)
	var slow []int // in order
	for i := range order {
		if w := &doc.ByWorker[i]; w.Pattern != "" {
			if slow = append(slow, order[i]); len(slow) <= mostMended {
				gain := max(0, doc.StepNs-r.whenMended(order[i:i+1], true)) // what is slow in one operation may be fast in another
				w.GainNs = &gain
			}
		}
	}
	if len(slow) > 1 {
		gain := max(0, doc.StepNs-r.whenMended(slow, true))
		doc.TogetherNs = &gain
	}
	doc.MS = gain(whole, ideal, mean(r.lengths(func(n int) bool { return int(r.by[n])%j.stages != j.stages-1 })))
	doc.Bubbles = b.rows(recorded)
	doc.Sequences = r.sequences()
	return doc, r.pipeline(order, recorded), j.backward, nil
}

// Source returns the source of a reconciled trace whose operations are those of the job: with corrected clocks if a profiler has recorded
// them, or if they were aligned.
func Source(t *trace.Trace) trace.Source {
	if t.Clock.Alignment != nil || !t.Defs.IsTraining() && Profiled(t.Defs) {
		return merge.Corrected(t)
	}
	return t.Source
}

// open reads the job of a trace and prepares its replay.
func open(ctx context.Context, src trace.Source, jobs int) (*job, *replayer, error) {
	var j *job
	var err error
	switch {
	case src.Defs().IsTraining():
		j, err = listed(ctx, src, jobs)
	case Profiled(src.Defs()):
		j, err = profiled(ctx, src, jobs)
	default:
		err = ErrNoJob
	}
	if err != nil {
		return nil, nil, err
	}
	r, err := newReplayer(j, jobs)
	return j, r, err
}

// listed makes the job of operations that a table lists.
func listed(ctx context.Context, src trace.Source, jobs int) (*job, error) {
	ops, unknown, err := collect(ctx, src, jobs)
	if err == nil {
		err = placed(ops)
	}
	if err != nil {
		return nil, err
	}
	lanes, err := columns(ops)
	if err != nil {
		return nil, err
	}
	onlyRanks(ops)
	j, err := newJob(ops, unknown, 1e9/float64(src.Defs().Clock.Resolution))
	if err == nil && lanes > 1 {
		j.share(lanes)
	}
	return j, err
}

// dpOf, laneOf and stageOf return the numbers of a worker.
func (j *job) dpOf(w int) int    { return int(j.dpNumbers[w/j.stages]) / j.lanes }
func (j *job) laneOf(w int) int  { return int(j.dpNumbers[w/j.stages]) % j.lanes }
func (j *job) stageOf(w int) int { return int(j.stageNumber[w%j.stages]) }

// by says what workers have in common that are slow together.
type by uint8

const (
	byDP by = iota
	byLane
	byStage
)

// A group are the workers of one number.
type group struct {
	by
	number int
}

// numberOf returns the number of a worker.
func (j *job) numberOf(what by, w int) int {
	switch what {
	case byDP:
		return j.dpOf(w)
	case byLane:
		return j.laneOf(w)
	}
	return j.stageOf(w)
}

// groups returns the groups of all workers, by number.
func (j *job) groups(what by) (out []group) {
	for w := range j.ranks {
		out = append(out, group{what, j.numberOf(what, w)})
	}
	slices.SortFunc(out, func(a, b group) int { return cmp.Compare(a.number, b.number) })
	return slices.Compact(out)
}

// ratio returns a/b, 1 if b is 0.
func ratio(a, b float64) float64 {
	if b <= 0 {
		return 1
	}
	return a / b
}

// gain returns the share of the loss that a change ends, nil if there is none.
func gain(whole, ideal, changed float64) *float64 {
	if whole == ideal {
		return nil
	}
	g := (whole - changed) / (whole - ideal)
	return &g
}

// types returns the slowdown by type, the largest first.
func (r *replayer) types(slowdown func(func(int) bool) float64) (out []training.TypeSlow) {
	var counts [kinds]int
	for _, k := range r.kind {
		counts[k] += len(r.steps)
	}
	for k := range kinds {
		at := slices.IndexFunc(out, func(t training.TypeSlow) bool { return t.Type == k.shown() })
		switch {
		case counts[k] == 0:
		case at >= 0:
			out[at].Operations += counts[k]
			out[at].EqualNs = int64(math.Round(r.equal[k]))
		default:
			out = append(out, training.TypeSlow{Type: k.shown(), Operations: counts[k], EqualNs: int64(math.Round(r.equal[k])),
				Slowdown: slowdown(func(n int) bool { return r.kind[n].shown() == k.shown() })})
		}
	}
	slices.SortStableFunc(out, func(a, b training.TypeSlow) int { return cmp.Compare(b.Slowdown, a.Slowdown) })
	return out
}

// mostMended is of how many slow workers it is replayed what a step gains if they are not slow.
const mostMended = 3

// SlowestShare is the share of workers, at least one, that M_W takes for the slowest.
const SlowestShare = 0.03

// stepRows describes the steps, in order of their numbers.
func (r *replayer) stepRows(doc *training.Job, clock trace.ClockProperties, recorded []float64, ideal float64) {
	tick := 1e9 / float64(clock.Resolution)
	for s, number := range r.steps {
		worst := 0
		for w := range r.excess {
			if r.excess[w][s] > r.excess[worst][s] {
				worst = w
			}
		}
		start := float64(r.begins[s]-clock.GlobalOffset) * tick
		doc.ByStep = append(doc.ByStep, training.StepSlow{Step: int64(number), StepNs: int64(math.Round(recorded[s])),
			Slowdown: ratio(recorded[s], ideal), Rank: field.Rank(r.ranks[worst]), Excess: r.excess[worst][s],
			FromNs: int64(math.Round(start)), ToNs: int64(math.Round(start + slices.Max(r.end[s])))})
	}
}

// workers describes the workers, the slowest first, and returns which they are.
func (r *replayer) workers(doc *training.Job) (order []int) {
	group := func(rows []training.GroupSlow, number int) float64 {
		i, _ := slices.BinarySearchFunc(rows, number, func(g training.GroupSlow, n int) int { return cmp.Compare(g.Number, n) })
		return rows[i].Slowdown
	}
	for w := range r.ranks {
		row := training.Worker{Rank: field.Rank(r.ranks[w]), DP: r.dpOf(w), Stage: r.stageOf(w),
			Slowdown: min(group(doc.ByDP, r.dpOf(w)), group(doc.ByStage, r.stageOf(w)))}
		if r.lanes > 1 {
			lane := r.laneOf(w)
			row.TP, row.Slowdown = &lane, min(row.Slowdown, group(doc.ByTP, lane))
		}
		doc.ByWorker = append(doc.ByWorker, row)
	}
	r.judge(doc.ByWorker)
	for w := range r.ranks {
		order = append(order, w)
	}
	of := slices.Clone(doc.ByWorker)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(of[b].Slowdown, of[a].Slowdown), cmp.Compare(of[a].Rank, of[b].Rank))
	})
	for i, w := range order {
		doc.ByWorker[i] = of[w]
	}
	for _, w := range doc.ByWorker[:Slowest(len(doc.ByWorker), SlowestShare)] {
		doc.Slowest = append(doc.Slowest, w.Rank)
	}
	return order
}

// Slowest returns how many of n workers a share is: one at least, and none that is not whole.
func Slowest(n int, share float64) int { return min(n, max(1, int(share*float64(n)))) }

// without tells of each node whether it is kept as recorded where some workers are as fast as the others.
func (r *replayer) without(workers []int) func(n int) bool {
	slow := r.are(workers)
	return func(n int) bool { return !slow[r.by[n]] }
}
