package reconstruct

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/spill"
	"tracekit/trace"
)

// A Model is what was learned of a trace: all that its events are rebuilt from.
type Model struct {
	Name      string // of the file that holds it
	Info      trace.Info
	Defs      *trace.Defs
	Findings  []trace.Finding
	Locations []formulae.Location
	Form      sequence.Form
	Durations formulae.Durations
	Seed      uint64 // of the order in which times are drawn from laws

	// Prepare completes the trees of locations that have a sequence, and Close ends what these are read from; nil: nothing is left to do.
	Prepare func(context.Context) error
	Close   func() error
}

// A Source is a trace whose events are rebuilt from formulae.
type Source struct {
	model Model
	info  trace.Info
	defs  *trace.Defs
	ranks *partners.Ranks
	jobs  int
	store *spill.Store // of fixes
	own   bool         // Close closes it

	mu    sync.Mutex
	short map[trace.LocationID]uint64 // events that are missing, of locations that were read

	once   sync.Once
	places [][]place
	fixes  []*spill.Table[fix]
	stuck  uint64
	err    error
}

// batchEvents is the number of events in a batch that is delivered.
const batchEvents = 4096

// NewSource returns the trace that a model describes. So many locations as there are jobs,
// below 1 one per processor, are rebuilt at the same time before the first event is
// delivered. When the events that waited happened is then kept in the store, which is to be
// closed after the Source; nil: it has one of its own. The times of rebuilt events are
// corrected already. The properties say that the trace was rebuilt, from what, and what was
// not learned.
func NewSource(m Model, jobs int, store *spill.Store) *Source {
	rebuilt := *m.Defs
	rebuilt.Locations = slices.Clone(m.Defs.Locations)
	for l := range rebuilt.Locations {
		rebuilt.Locations[l].ClockOffsets = nil
	}
	info := m.Info
	info.Properties = maps.Clone(info.Properties)
	if info.Properties == nil {
		info.Properties = make(map[string]string)
	}
	info.Properties[trace.PropertyReconstructed] = "true"
	info.Properties[trace.PropertyRebuiltFrom] = m.from()
	if a := formulae.Approximations(formulae.UnlearnedOf(m.Defs, m.Locations)); len(a) > 0 {
		info.Properties[trace.PropertyApproximate] = strings.Join(a, "; ")
	}
	own := store == nil
	if own {
		store = spill.NewStore(spill.DefaultBudget(), "")
	}
	return &Source{model: m, info: info, defs: &rebuilt, ranks: partners.RanksOf(m.Defs), jobs: jobs, store: store, own: own,
		short: make(map[trace.LocationID]uint64)}
}

// Exact reports whether events of a location are kept as they were recorded, so that formulae are to be learned of them.
func (m *Model) Exact() bool {
	return slices.ContainsFunc(m.Locations, func(l formulae.Location) bool { return l.Sequence != nil })
}

// from says what a trace is rebuilt from.
func (m *Model) from() string {
	kinds := ""
	if m.Form.Paper {
		kinds = " of the paper's kinds"
	}
	return fmt.Sprintf("%s: formulae%s of %d terms, durations %s", m.Name, kinds, m.Form.Memory(), m.Durations)
}

// Model returns what the events are rebuilt from.
func (s *Source) Model() *Model { return &s.model }

// align replays all locations once, so that times are consistent across ranks.
func (s *Source) align(ctx context.Context) error {
	s.once.Do(func() {
		if s.model.Prepare != nil {
			if s.err = s.model.Prepare(ctx); s.err != nil {
				return
			}
		}
		s.places = placesOf(s.model.Locations)
		r := newReplay(s.ranks, s.model.Locations, s.places, func(l int) stepper {
			return stepsOf(s.ranks, trace.LocationID(l), &s.model.Locations[l])
		}, s.model.Seed, math.MaxUint64, s.jobs)
		r.store = s.store
		if s.stuck, s.err = r.run(ctx); s.err == nil {
			s.err = s.store.Err()
		}
		for l := range r.locations {
			s.fixes = append(s.fixes, r.locations[l].fixes.Sealed())
		}
	})
	return s.err
}

// Events implements trace.Source.
func (s *Source) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(l) >= len(s.model.Locations) {
			return
		}
		if err := s.align(ctx); err != nil {
			yield(nil, err)
			return
		}
		if s.model.Locations[l].Sequence != nil {
			s.recorded(ctx, l, yield)
			return
		}
		location, clock := &s.model.Locations[l], s.clock(l)
		r := newRebuilder(s.ranks, l, location)
		var b trace.Batch
		var seq uint64
		for more := true; more; {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			b.Reset(l, seq)
			for range batchEvents {
				var e event
				if e, more = r.next(); !more {
					break
				}
				e.time = clock.next(e.item.index)
				e.add(&b)
				seq++
			}
			if b.Len() > 0 && !yield(&b, nil) {
				return
			}
		}
		s.ended(l, seq)
	}
}

// A clock says when the events of a location happen, one after the other.
type clock struct {
	timing
	places []place
	fixes  spill.Cursor[fix]
	left   int // fixes
	at     int // of these, the next one
}

func (s *Source) clock(l trace.LocationID) *clock {
	return &clock{timing: newTiming(l, &s.model.Locations[l], s.places[l], s.model.Seed), places: s.places[l], fixes: s.fixes[l].Cursor(),
		left: s.fixes[l].Len()}
}

// next returns the time of the next event, of an item.
func (c *clock) next(item uint32) int64 {
	if item == formulae.NoItem {
		c.outlier()
		return c.now
	}
	at := &c.places[item]
	if c.left > 0 && c.fixes.Ptr(c.at).seq == c.seq {
		c.regime(at.kind)
		c.outlier()
		c.now = c.fixes.Ptr(c.at).at
		c.at, c.left = c.at+1, c.left-1
		return c.now
	}
	return c.tick(at.kind, at.interval)
}

// recorded yields the events of a location that are kept as they were recorded, with the times and metrics that are modelled.
func (s *Source) recorded(ctx context.Context, l trace.LocationID, yield func(*trace.Batch, error) bool) {
	location, clock := &s.model.Locations[l], s.clock(l)
	walk, meters, growth := formulae.Walk(location.Tree), formulae.NewMeters(&location.Times), growthOf(location)
	for next := location.Sequence(); ; {
		b, err := next()
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			yield(nil, err)
			return
		}
		if b == nil {
			return
		}
		walk.Visit(b, func(at trace.Row, item uint32) {
			b.SetTime(at, clock.next(item))
			if at.Table != trace.TableMetric {
				return
			}
			for k := at.First; k < at.End; k++ {
				grown := uint64(0)
				if item != formulae.NoItem {
					grown = growth[item][k-at.First]
				}
				b.Metric.Value[k] = meters.Read(uint32(b.Metric.Metric[k]), k-at.First, b.Metric.Type[k], grown)
			}
		})
		if !yield(b, nil) {
			return
		}
	}
}

// growthOf returns the growth of the members of metrics at each item of a location.
func growthOf(l *formulae.Location) (out [][]uint64) {
	counters := l.Times.Counters
	for n := range l.Tree.Nodes {
		for k := range l.Tree.Nodes[n].Items {
			members := l.Tree.Members(&l.Tree.Nodes[n].Items[k])
			out = append(out, counters[:members])
			counters = counters[members:]
		}
	}
	return out
}

// ended notes that the events of a location end, and how many are missing.
func (s *Source) ended(l trace.LocationID, events uint64) {
	if all := s.model.Locations[l].Tree.Events(); events < all {
		s.mu.Lock()
		s.short[l] = all - events
		s.mu.Unlock()
	}
}

// Info implements trace.Source, and says that the times are rebuilt.
func (s *Source) Info() trace.Info { return s.info }

// Defs implements trace.Source.
func (s *Source) Defs() *trace.Defs { return s.defs }

// Findings implements trace.Source: those of the trace that was learned, and whether the
// rebuilt events fit together.
func (s *Source) Findings() []trace.Finding {
	var l trace.Ledger
	l.Merge(s.model.Findings)
	s.mu.Lock()
	defer s.mu.Unlock()
	for location, missing := range s.short {
		l.Add(trace.CodeCountMismatch, trace.Place{Location: location, File: s.model.Name, Offset: -1},
			fmt.Sprintf("events end %d before the number that the formulae stand for", missing))
	}
	l.AddN(trace.CodeReplayStuck, s.stuck, trace.Nowhere(), fmt.Sprintf("%d rebuilt events have no partner", s.stuck))
	return l.Findings()
}

// Close implements trace.Source.
func (s *Source) Close() error {
	var err error
	if s.own {
		err = s.store.Close()
	}
	if s.model.Close != nil {
		err = errors.Join(err, s.model.Close())
	}
	return err
}

// An event is a rebuilt event: a row of one of the tables.
type event struct {
	table   trace.TableID
	time    int64
	kind    trace.Kind
	region  trace.RegionID
	context trace.CallingContextID
	p2p     trace.P2PRow
	coll    trace.CollRow
	metric  uint32
	fields  []formulae.Field // of the values; members of a metric and arguments come first
	values  []uint64         // one for each field
	item    *itemState
}

// add appends an event to a batch.
func (h *event) add(b *trace.Batch) {
	own := len(h.fields)
	for own > 0 && h.fields[own-1].IsAttribute {
		own--
	}
	for k, f := range h.fields[own:] {
		b.AddAttr(trace.AttributeID(f.Attribute), f.Type, h.values[own+k])
	}
	values := h.values[:own]
	switch {
	case h.table == trace.TableP2P:
		h.p2p.Time = h.time
		b.AddP2P(h.p2p)
	case h.table == trace.TableColl:
		h.coll.Time = h.time
		b.AddColl(h.coll)
	case h.table == trace.TableMetric:
		types := make([]trace.ValueType, own)
		for k := range types {
			types[k] = h.fields[k].Type
		}
		b.AddMetric(h.time, trace.MetricID(h.metric), types, values)
	case h.table == trace.TableOther:
		b.AddOther(h.time, h.kind, values...)
	case h.context != trace.None:
		unwind := uint32(0)
		if len(values) > 0 {
			unwind = uint32(values[0])
		}
		b.AddContext(h.time, h.kind, h.region, h.context, unwind)
	default:
		b.AddFlow(h.time, h.kind, h.region)
	}
}
