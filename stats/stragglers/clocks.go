package stragglers

import (
	"context"
	"math"

	"tracekit/document/training"
	"tracekit/trace"
)

// FindIn does what Find does, in a reconciled trace, and says what the error of its clocks may explain.
func FindIn(ctx context.Context, t *trace.Trace, jobs int) (*training.Job, *Pipeline, error) {
	doc, p, err := Find(ctx, Source(t), jobs)
	if a := t.Clock.Alignment; err == nil && a != nil {
		doubt(doc, t.Defs.Clock.Nanoseconds(a.MaxBound))
	}
	return doc, p, err
}

// FindRecorded does what Find does in a trace that is not reconciled. ok is false if its clocks contradict each other, so that figures
// need a correction. The errors are those of Find.
func FindRecorded(ctx context.Context, src trace.Source, jobs int) (doc *training.Job, ok bool, err error) {
	doc, _, backward, err := find(ctx, src, jobs)
	return doc, !backward, err
}

// doubt marks what a step is longer by, as a whole and by group, if clocks that are off by a bound in ns may explain it. On a path of
// operations the errors of clocks cancel but for those of the first and the last.
func doubt(doc *training.Job, bound int64) {
	doc.ClockErrorNs = 2 * bound
	within := func(slowdown float64) bool {
		return math.Abs(slowdown-1)*float64(doc.EqualNs) <= float64(doc.ClockErrorNs)
	}
	doc.WithinClockError = within(doc.Slowdown)
	for _, rows := range [][]training.GroupSlow{doc.ByDP, doc.ByTP, doc.ByStage} {
		for i := range rows {
			rows[i].WithinClockError = within(rows[i].Slowdown)
		}
	}
	for i := range doc.ByWorker {
		doc.ByWorker[i].WithinClockError = within(doc.ByWorker[i].Slowdown)
	}
	for i := range doc.ByType {
		doc.ByType[i].WithinClockError = within(doc.ByType[i].Slowdown)
	}
}
