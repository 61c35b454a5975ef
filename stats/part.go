package stats

import (
	"context"
	"slices"

	"tracekit/document/cause"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/trace"
)

// diagnosePart finds the causes of a part of the run, what all of it would gain if what passes then were mended; of selected ranks those
// of them, and where they wait for others, those that make ranks wait.
func diagnosePart(ctx context.Context, t *trace.Trace, a *analysis.Result, opts analysis.Options, from, to int64) error {
	part := a
	if len(opts.Ranks) > 0 { // others may be why these wait
		var err error
		if part, err = Analyze(ctx, t, analysis.Options{Jobs: opts.Jobs, From: opts.From, To: opts.To, Overhead: opts.Overhead},
			false); err != nil {
			return err
		}
	}
	if err := diagnose(part, func() (_ []cause.Cause, err error) {
		whole := part
		if part.Selection != nil {
			if whole, err = analysis.Analyze(ctx, t, analysis.Options{Jobs: opts.Jobs, Overhead: opts.Overhead}); err != nil {
				return nil, err
			}
		}
		return diagnosis.FindPart(ctx, t, part, whole, from, to, opts.Jobs)
	}); err != nil {
		return err
	}
	a.Doubts = part.Doubts
	forOthers := a.Efficiency != nil && a.Efficiency.UnselectedWaitNs > 0
	a.Diagnosis = slices.DeleteFunc(part.Diagnosis, func(c cause.Cause) bool {
		return len(opts.Ranks) > 0 && len(c.Ranks) > 0 && !(forOthers && c.WaitsCausedNs > 0) && !slices.ContainsFunc(c.Ranks,
			func(r uint32) bool { return slices.Contains(opts.Ranks, r) })
	})
	return nil
}
