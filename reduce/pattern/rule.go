package pattern

import (
	"context"

	"tracekit/reduce"
	"tracekit/trace"
)

// ruleName is what traces call the rule that cut them.
const ruleName = "repeating patterns"

// A Rule cuts what repeats, as a rule of reduce. Found is what it has found.
type Rule struct {
	Options Options
	Found   *Result
}

// Name implements reduce.Rule.
func (r *Rule) Name() string { return ruleName }

// Cuts implements reduce.SpanRule.
func (r *Rule) Cuts(ctx context.Context, t *trace.Trace, jobs int) (*reduce.Cuts, error) {
	o := r.Options
	o.Jobs = jobs
	found, err := Find(ctx, t, o)
	if err != nil {
		return nil, err
	}
	r.Found = found
	return found.Cuts, nil
}

// Mark implements reduce.WholeRule.
func (r *Rule) Mark(properties map[string]string) {
	if x := r.Found.Repeats; x != nil {
		properties[trace.PropertyRepeats] = x.Encode()
		properties[trace.PropertyCut] = encodeStretches(x.Clock, x.Stretches())
	}
}
