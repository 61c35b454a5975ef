package stragglers

import (
	"math"
	"slices"

	"tracekit/document/training"
)

// A bubbles holds the time in which nothing runs, by stage: sums over steps and data-parallel ranks.
type bubbles struct {
	*run
	total   []float64
	ideal   []float64 // of one step
	warm    []float64
	cool    []float64
	nodes   [][]int // by worker
	scratch []interval
}

// An interval is when an operation runs: a communication once all of its group are there.
type interval struct {
	from, to float64
	kind     kind
}

// newBubbles replays all steps, as recorded and once with equal durations, and finds when nothing runs.
func newBubbles(r *replayer) *bubbles {
	b := &bubbles{run: r.newRun(), total: make([]float64, r.stages), ideal: make([]float64, r.stages), warm: make([]float64, r.stages),
		cool: make([]float64, r.stages), nodes: make([][]int, len(r.ranks))}
	for n, w := range r.by {
		b.nodes[w] = append(b.nodes[w], n)
	}
	for s := range r.steps {
		length := b.replay(r.took[s])
		for w := range b.nodes {
			idle, _, _ := b.idle(w, r.took[s], length)
			b.total[w%r.stages] += idle
		}
	}
	equal := make([]float64, len(r.kind))
	for n, k := range r.kind {
		equal[n] = r.equal[k]
	}
	length := b.replay(equal)
	for w := range b.nodes {
		idle, warm, cool := b.idle(w, equal, length)
		s := w % r.stages
		b.ideal[s], b.warm[s], b.cool[s] = b.ideal[s]+idle, b.warm[s]+warm, b.cool[s]+cool
	}
	return b
}

// idle returns how long nothing runs on a worker in the last replay, and of that before the first backward computation and after the
// last forward one.
func (b *bubbles) idle(w int, took []float64, length float64) (idle, warm, cool float64) {
	runs := b.scratch[:0]
	backward, forward := length, 0.0
	for _, n := range b.nodes[w] {
		from := b.ends[n] - max(0, took[n])
		runs = append(runs, interval{from, b.ends[n], b.kind[n]})
		switch b.kind[n] {
		case backwardCompute:
			backward = min(backward, from)
		case forwardCompute:
			forward = max(forward, b.ends[n])
		}
	}
	slices.SortFunc(runs, func(x, y interval) int {
		switch {
		case x.from < y.from:
			return -1
		case x.from > y.from:
			return 1
		}
		return 0
	})
	at := 0.0
	gap := func(to float64) {
		if to <= at {
			return
		}
		idle += to - at
		warm += max(0, min(to, backward)-at)
		cool += max(0, to-max(at, forward, backward))
	}
	for _, x := range runs {
		gap(x.from)
		at = max(at, x.to)
	}
	gap(length)
	b.scratch = runs
	return idle, warm, cool
}

// rows describes the bubbles of the stages.
func (b *bubbles) rows(recorded []float64) (out []training.Bubble) {
	whole := mean(recorded)
	ns := func(v float64) int64 { return int64(math.Round(v)) }
	for s := range b.total {
		each := b.total[s] / float64(b.dps*len(b.steps))
		schedule := b.ideal[s] / float64(b.dps)
		row := training.Bubble{Stage: int(b.stageNumber[s]), BubbleNs: ns(each), ScheduleNs: ns(schedule),
			WarmUpNs: ns(b.warm[s] / float64(b.dps)), CoolDownNs: ns(b.cool[s] / float64(b.dps))}
		row.RestNs = row.BubbleNs - row.ScheduleNs
		if whole > 0 {
			row.Share = each / whole
		}
		out = append(out, row)
	}
	return out
}
