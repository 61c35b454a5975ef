package reduce

import (
	"context"
	"fmt"
	"strings"

	"tracekit/engine"
	"tracekit/trace"
)

// A Rule decides what of a trace is cut: ranks, or calls, or spans that it finds by itself.
type Rule interface {
	// Name is what reports call the rule.
	Name() string
}

// A RankRule keeps some ranks and drops the others.
type RankRule interface {
	Rule

	// Ranks returns by world rank which are kept.
	Ranks(ctx context.Context, t *trace.Trace, jobs int) ([]bool, error)
}

// A CallRule decides call by call. All such rules share one decoding pass.
type CallRule interface {
	Rule

	// Judge returns the judge of a location, nil if nothing of it is cut. Judges of
	// different locations are made and asked at the same time.
	Judge(t *trace.Trace, l trace.LocationID) (Judge, error)
}

// A SpanRule finds the spans that it cuts in passes of its own.
type SpanRule interface {
	Rule

	// Cuts returns what is cut, settled.
	Cuts(ctx context.Context, t *trace.Trace, jobs int) (*Cuts, error)
}

// A beginner is a CallRule that wants to know how many locations there are before it is
// asked for judges.
type beginner interface {
	begin(locations int)
}

// A WholeRule is a SpanRule that leaves messages, requests and collectives whole by itself. It
// is applied alone: what another rule cuts might part what it has balanced.
type WholeRule interface {
	SpanRule

	// Share returns the time of the intervals that are cut, as a share of all time of locations from which some are.
	Share(t *trace.Trace) float64

	// Mark adds to the properties of the reduced trace how what was cut is made again.
	Mark(properties map[string]string)
}

// A finisher is a CallRule that has more to say when all calls have been judged: which ranks
// are kept.
type finisher interface {
	finish(ctx context.Context, t *trace.Trace, jobs int) ([]bool, error)
}

// Options says how rules are applied.
type Options struct {
	Jobs     int
	Progress *engine.Progress
}

// A Reduction is what rules make of a trace.
type Reduction struct {
	Cuts   *Cuts // consistent
	ByRule []RuleCut
	Kept   Kept
	Before uint64 // records
	Ranks  []bool // by world rank: it is kept

	whole WholeRule // nil: none was applied
	share float64   // of the time that was cut: see trace.PropertyCutShare
}

// A RuleCut says how many records a rule alone cuts.
type RuleCut struct {
	Rule    string `json:"rule"`
	Records uint64 `json:"records"`
}

// Apply lets rules decide what of a trace is cut, each for itself; what any of them cuts is cut but for what must stay so that messages,
// requests and collectives are whole. It decodes the trace once for all rules that decide call by call. It decodes locations once more in
// which calls are kept inside of what is cut.
func Apply(ctx context.Context, t *trace.Trace, rules []Rule, o Options) (*Reduction, error) {
	n := len(t.Defs.Locations)
	r := &Reduction{Ranks: make([]bool, len(t.World))}
	for rank := range r.Ranks {
		r.Ranks[rank] = true
	}
	cuts := make([]*Cuts, len(rules))
	for i, rule := range rules {
		var err error
		if w, ok := rule.(WholeRule); ok {
			if r.whole = w; len(rules) > 1 {
				return nil, fmt.Errorf("rule %s cannot be combined with others; reduce the reduced trace "+
					"again", rule.Name())
			}
		}
		switch rule := rule.(type) {
		case SpanRule:
			cuts[i], err = rule.Cuts(ctx, t, o.Jobs)
		case RankRule:
			cuts[i] = NewCuts(t.Store, n)
			err = r.ranks(ctx, t, cuts[i], o.Jobs, rule.Ranks)
		default:
			cuts[i] = NewCuts(t.Store, n)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.judge(ctx, t, rules, cuts, o); err != nil {
		return nil, err
	}
	for i, rule := range rules {
		if f, ok := rule.(finisher); ok {
			if err := r.ranks(ctx, t, cuts[i], o.Jobs, f.finish); err != nil {
				return nil, err
			}
		}
	}
	for i, rule := range rules {
		cut := uint64(0)
		for l := range n {
			cut += cuts[i].Records(trace.LocationID(l), t.Span[l].Events)
		}
		r.ByRule = append(r.ByRule, RuleCut{rule.Name(), cut})
	}
	for _, s := range t.Span {
		r.Before += s.Events
	}
	if r.whole != nil {
		r.Cuts = cuts[0]
		r.share = max(r.cutShare(t), r.whole.Share(t))
		return r, nil
	}
	all := union(append(cuts, NewCuts(t.Store, n))...)
	for _, c := range cuts {
		c.Release()
	}
	var err error
	r.Cuts, r.Kept, err = all.Consistent(ctx, t, o.Jobs)
	all.Release()
	if err == nil {
		r.share = r.cutShare(t)
	}
	return r, err
}

// cutShare returns the time of calls that are cut on locations that are kept, as a share of all time of these.
func (r *Reduction) cutShare(t *trace.Trace) float64 {
	cut, whole := 0.0, 0.0
	for l := range t.Calls {
		if r.Cuts.dropped[l] || t.Calls[l].Len() == 0 {
			continue
		}
		at := r.Cuts.cursor(trace.LocationID(l))
		time, all := t.CutTime(trace.LocationID(l), at.cuts)
		cut, whole = cut+float64(time), whole+float64(all)
	}
	return cut / max(1, whole)
}

// ranks drops the ranks that a rule does not keep.
func (r *Reduction) ranks(ctx context.Context, t *trace.Trace, cuts *Cuts, jobs int,
	decide func(context.Context, *trace.Trace, int) ([]bool, error)) error {
	keep, err := decide(ctx, t, jobs)
	if err != nil || keep == nil {
		return err
	}
	cuts.DropRanks(t, func(rank uint32) bool { return int(rank) < len(keep) && !keep[rank] })
	for rank, k := range keep {
		r.Ranks[rank] = r.Ranks[rank] && k
	}
	return nil
}

// judge asks the rules that decide call by call.
func (r *Reduction) judge(ctx context.Context, t *trace.Trace, rules []Rule, cuts []*Cuts, o Options) error {
	var asked []CallRule
	var theirs []*Cuts
	for i, rule := range rules {
		if b, ok := rule.(beginner); ok {
			b.begin(len(t.Defs.Locations))
		}
		if c, ok := rule.(CallRule); ok {
			asked, theirs = append(asked, c), append(theirs, cuts[i])
		}
	}
	if len(asked) == 0 {
		return nil
	}
	for i, rule := range asked {
		if _, empty := rule.(Empty); empty {
			last := len(asked) - 1
			asked[i], asked[last], theirs[i], theirs[last] = asked[last], asked[i], theirs[last], theirs[i]
			break
		}
	}
	f := newFacts(t)
	_, err := engine.Each(ctx, t.Source, engine.Options{Jobs: o.Jobs, Progress: o.Progress},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
			var judges []Judge
			var into []*Cuts
			for i, rule := range asked {
				j, err := rule.Judge(t, l)
				if err != nil {
					return struct{}{}, err
				}
				if j != nil {
					judges, into = append(judges, j), append(into, theirs[i])
				}
			}
			if len(judges) == 0 {
				return struct{}{}, nil
			}
			if err := walk(f, l, batches, judges, into); err != nil {
				return struct{}{}, err
			}
			for _, c := range into {
				c.Settle(l)
			}
			return struct{}{}, nil
		})
	return err
}

// After returns how many records are left; see Cuts.Left.
func (r *Reduction) After(t *trace.Trace) (n uint64) {
	for l := range t.Span {
		n += r.Cuts.Left(trace.LocationID(l), t.Span[l].Events)
	}
	return n
}

// Source returns a trace without what is cut, which says by which rules: the trace that the
// rules were applied to, or one with the same records at other times.
func (r *Reduction) Source(src trace.Source) trace.Source {
	about := src.Info()
	var by []string
	for _, c := range r.ByRule {
		by = append(by, strings.ReplaceAll(c.Rule, ";", ","))
	}
	about.Properties = about.Reduced(by, r.share)
	if r.whole != nil {
		r.whole.Mark(about.Properties)
	}
	return r.Cuts.Source(src, about)
}
