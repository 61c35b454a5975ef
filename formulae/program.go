package formulae

import (
	"context"
	"sync"

	"tracekit/engine"
	"tracekit/formulae/internal/pack"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/merge"
	"tracekit/spill"
	"tracekit/trace"
)

// Options of Learn. The zero value learns means with the paper's memory.
type Options struct {
	Form      sequence.Form
	Durations Durations
	Jobs      int              // locations at the same time; below 1: one per processor
	Progress  *engine.Progress // counts events; may be nil
	Store     *spill.Store     // of the tables of the merged trace; nil: one of its own

	// LateEvents is how many events of a location count for Location.Late.
	LateEvents uint64
	// Beside returns what else is done with the batches of a location, and then once all are there; nil: nothing.
	Beside func(l trace.LocationID) (batch func(*trace.Batch), end func())
}

// A Program is what was learned of a trace: its formulae, location by location.
type Program struct {
	Locations []Location
	Learned   *Learned
	Unlearned []Unlearned
	Report    *StatReport
	Whole     []bool // by location: the tree has a place for all that it may need

	lost []StatReport // by location: what formulae lose of it
}

// Exact takes back what the report says that formulae lose of a location: its events are kept as they were.
func (p *Program) Exact(l trace.LocationID) {
	r, lost := p.Report, &p.lost[l]
	r.Guessed -= lost.Guessed
	r.Disordered -= lost.Disordered
	r.DroppedEvents -= lost.DroppedEvents
	r.AddedEvents -= lost.AddedEvents
	r.DroppedAttributes -= lost.DroppedAttributes
}

// Learn makes the call trees of all locations. It reconciles the trace first, to separate waiting
// from the time that calls need. Errors are those of the source and of the context.
func Learn(ctx context.Context, src trace.Source, opts Options) (*Program, error) {
	t, err := merge.Merge(ctx, src, merge.Options{Jobs: opts.Jobs, Store: opts.Store, Progress: opts.Progress})
	if err != nil {
		return nil, err
	}
	if opts.Store == nil {
		defer t.Store.Close()
	}
	ranks := partners.RanksOf(t.Defs)
	waits, err := partners.Find(ctx, t, ranks, opts.LateEvents, opts.Jobs)
	if err != nil {
		return nil, err
	}
	stage := learning{form: opts.Form, clock: t.Clock.Maps, waits: waits, laws: opts.Durations == Laws, beside: opts.Beside,
		outliers: outliersOf(len(t.Defs.Locations))}
	parts, err := stage.run(ctx, src, opts)
	if err == nil {
		err = t.Store.Err()
	}
	if err != nil {
		return nil, err
	}
	p := &Program{Report: reportOf(parts, src.Defs().Clock, opts.Durations)}
	for i := range parts {
		p.lost = append(p.lost, parts[i].part.StatReport)
		p.Locations = append(p.Locations, parts[i].Location)
		p.Locations[i].Late = waits.Late(trace.LocationID(i))
		p.Whole = append(p.Whole, parts[i].whole)
	}
	p.Learned, p.Unlearned = LearnedOf(p.Locations), UnlearnedOf(src.Defs(), p.Locations)
	return p, err
}

// A Forest makes of finished call trees what was learned. It keeps each different tree once,
// so that memory grows with what differs between locations and not with their number. It may
// be used by several goroutines.
type Forest struct {
	ranks *partners.Ranks
	mu    sync.Mutex
	trees map[string]*Tree // by how they are packed
}

// NewForest returns a forest for the locations of a trace.
func NewForest(defs *trace.Defs) *Forest {
	return &Forest{ranks: partners.RanksOf(defs), trees: make(map[string]*Tree)}
}

// Location returns what the finished call tree of a location has learned.
func (f *Forest) Location(t *CallTree, l trace.LocationID) Location {
	out := t.location(f.ranks, l)
	key := pack.PackPlain(out.Tree, TreeLayout())
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.trees[string(key)]; ok {
		out.Tree = known
	} else {
		f.trees[string(key)] = out.Tree
	}
	return out
}

// A learning is the stage that makes the call trees of locations.
type learning struct {
	form  sequence.Form
	clock []trace.ClockMap   // by location; nil: times as recorded
	waits *partners.Releases // nil: waiting is own time
	laws  bool               // whether intervals get laws

	outliers int // of a location that are looked for

	beside func(l trace.LocationID) (batch func(*trace.Batch), end func())
}

// A learned is what a location's call tree has learned, and its part of the report.
type learned struct {
	Location
	part  statPart
	whole bool
}

// run learns all locations.
func (s learning) run(ctx context.Context, src trace.Source, opts Options) ([]learned, error) {
	forest := NewForest(src.Defs())
	return engine.Each(ctx, src, engine.Options{Jobs: opts.Jobs, Progress: opts.Progress},
		func(_ context.Context, l trace.LocationID, b engine.Batches) (learned, error) {
			t, err := s.tree(l, b)
			if err != nil {
				return learned{}, err
			}
			return learned{forest.Location(t, l), t.part(), t.items < mostItems && len(t.nodes) < mostNodes}, nil
		})
}

// tree makes the call tree of a location.
func (s learning) tree(l trace.LocationID, batches engine.Batches) (*CallTree, error) {
	t := NewCallTree(s.form)
	t.sampling, t.outliers = s.laws, newOutliers(s.outliers)
	if s.waits != nil {
		t.waits = s.waits.Cursor(l)
	}
	if s.clock != nil && !s.clock[l].Identity() {
		c := s.clock[l].Cursor()
		t.clock = &c
	}
	also, end := func(*trace.Batch) {}, func() {}
	if s.beside != nil {
		also, end = s.beside(l)
	}
	for b, err := range batches {
		if err != nil {
			return nil, err
		}
		t.Add(b)
		also(b)
	}
	end()
	t.Finish()
	t.ranked = t.outliers.rank()
	if s.laws {
		t.fitLaws()
	}
	return t, nil
}
