package formulae

import (
	"context"

	"tracekit/engine"
	"tracekit/merge"
	"tracekit/spill"
	"tracekit/trace"
)

// Options say how a trace is learned. The zero value learns means with the paper's memory.
type Options struct {
	Form      Form
	Durations Durations
	Jobs      int              // locations at the same time; below 1: one per processor
	Progress  *engine.Progress // counts events; may be nil
	Store     *spill.Store     // of the tables of the merged trace; nil: one of its own
}

// A Program is what was learned of a trace: its formulae, location by location.
type Program struct {
	Locations []Location
	Learned   *Learned
	Unlearned []Unlearned
	Report    *StatReport
}

// Learn makes the call trees of all locations. First the trace is reconciled, which tells the
// waiting from the time that calls need.
func Learn(ctx context.Context, src trace.Source, opts Options) (*Program, error) {
	t, err := merge.Merge(ctx, src, merge.Options{Jobs: opts.Jobs, Store: opts.Store, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	if opts.Store == nil {
		defer t.Store.Close()
	}
	ranks := NewRankMap(t.Defs)
	waits, err := findReleases(ctx, t, ranks, opts.Jobs)
	if err != nil {
		return nil, err
	}
	stage := learning{form: opts.Form, clock: t.Clock.Maps, waits: waits, laws: opts.Durations == Laws}
	trees, err := stage.run(ctx, src, opts)
	if err == nil {
		err = t.Store.Err()
	}
	if err != nil {
		return nil, err
	}
	p := &Program{Report: reportOf(trees, src.Defs().Clock, opts.Durations)}
	p.Locations, err = LocationsOf(ctx, src.Defs(), trees, opts.Jobs)
	p.Learned, p.Unlearned = LearnedOf(p.Locations), UnlearnedOf(src.Defs(), p.Locations)
	return p, err
}

// LocationsOf returns what the call trees of all locations learned.
func LocationsOf(ctx context.Context, defs *trace.Defs, trees []*CallTree, jobs int) ([]Location, error) {
	ranks := NewRankMap(defs)
	return engine.Map(ctx, jobs, len(trees), func(_ context.Context, l int) (Location, error) {
		return trees[l].location(ranks, trace.LocationID(l)), nil
	})
}

// A learning is the stage that makes the call trees of locations.
type learning struct {
	form  Form
	clock []trace.ClockMap // by location; nil: times as recorded
	waits *releases        // nil: waiting is own time
	laws  bool             // whether intervals get laws
}

// run makes the call trees of all locations.
func (s learning) run(ctx context.Context, src trace.Source, opts Options) ([]*CallTree, error) {
	return engine.Each(ctx, src, engine.Options{Jobs: opts.Jobs, Progress: opts.Progress},
		func(_ context.Context, l trace.LocationID, b engine.Batches) (*CallTree, error) { return s.tree(l, b) })
}

// tree makes the call tree of a location.
func (s learning) tree(l trace.LocationID, batches engine.Batches) (*CallTree, error) {
	t := NewCallTree(s.form)
	t.sampling = s.laws
	if s.waits != nil {
		t.waits = s.waits.cursor(l)
	}
	if s.clock != nil && !s.clock[l].Identity() {
		c := s.clock[l].Cursor()
		t.clock = &c
	}
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		t.Add(b)
	}
	t.Finish()
	if s.laws {
		t.fitLaws()
	}
	return t, nil
}
