package stats

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"tracekit/document/cause"
	"tracekit/document/words"
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
	if err := diagnose(t, part, func() (_ []cause.Cause, err error) {
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
	for i := range a.Diagnosis {
		outside(&a.Diagnosis[i], opts.Ranks)
	}
	return nil
}

// outside says of a cause which of its ranks are not selected. The part has nothing of them but what others wait.
func outside(c *cause.Cause, selected []uint32) {
	others := slices.DeleteFunc(slices.Clone(c.Ranks), func(r uint32) bool { return len(selected) == 0 || slices.Contains(selected, r) })
	if len(others) == 0 {
		return
	}
	c.Evidence = maps.Clone(c.Evidence)
	c.Evidence["ranks_not_selected"] = float64(len(others))
	is := "is"
	if len(others) > 1 {
		is = "are"
	}
	c.Text = fmt.Sprintf("%s %s not selected, but selected ranks wait: this is of the run of all ranks. %s",
		words.Capital(words.Ranks(others)), is, c.Text)
}
