package overhead

import (
	"cmp"
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/stats/fit"
	"tracekit/stats/scope"
	"tracekit/trace"
)

// Bounds of memory: samples of at most 2^14 distinct durations (16 bytes each) for a
// thousand keys; if there are more, they are kept by size class, of which there are about
// 50 for each operation, role and number of processes.
const (
	sampleLimit = 1 << 14
	keyLimit    = 1 << 10
)

// sample collects the durations of all keys.
func (o *Finder) sample(ctx context.Context) (*samples, error) {
	return engine.Fold(ctx, o.Jobs, len(o.T.Calls), o.newSamples, func(s *samples, l int) error {
		s.location(ctx, trace.LocationID(l))
		return nil
	}, (*samples).combine)
}

// location collects the durations of a location's calls.
func (s *samples) location(ctx context.Context, l trace.LocationID) {
	w := s.newCommWalk(ctx, l)
	for w.advance() {
		for k := range w.Ahead {
			c := &w.Ahead[k]
			if !w.Communicates(c) || !w.Scope.Overlaps(l, c.Enter, c.Leave) || !w.whole(c) {
				continue
			}
			time := w.rate.Ns(c.Leave - c.Enter)
			if s.cloud != nil {
				s.cloud.add(s.op[w.T.Tree.Region(c.Path)].op, c.Enter, time)
			}
			if cause := w.waitOf[k]; cause > 0 && !s.withWaits {
				time -= w.waited(time, cause)
			}
			kind := callKind{w.T.Tree.Region(c.Path), w.processes(c), w.size[k]}
			x := s.sampled[c.Path].Of(kind)
			if x == nil {
				x = s.find(c.Path, kind)
			}
			x.Add(time)
			if s.keep > 0 {
				s.keepFirst(kind, timedCall{l, uint32(w.First + k), c.Enter, time})
			}
		}
	}
}

// samples holds the durations of some calls by key, and of each key the first ones in
// order of locations and rows.
type samples struct {
	*Finder
	byKey   map[commKey]*fit.Sample
	order   map[commKey][]timedCall
	classes bool               // there are too many keys: sizes are size classes
	sampled []memo[fit.Sample] // by call path
	cloud   *cloud             // nil: not asked for
}

// A timedCall is a duration in ns of a call that begins at a tick.
type timedCall struct {
	location trace.LocationID
	row      uint32
	enter    int64
	time     int64
}

func compareCalls(a, b timedCall) int {
	return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.row, b.row))
}

func (o *Finder) newSamples() *samples {
	s := &samples{Finder: o, byKey: make(map[commKey]*fit.Sample), order: make(map[commKey][]timedCall),
		sampled: make([]memo[fit.Sample], len(o.T.Tree.Nodes))}
	if o.points {
		s.cloud = newCloud(scope.Run(o.T))
	}
	return s
}

// find looks up the sample for calls of a path.
func (s *samples) find(path trace.PathID, k callKind) *fit.Sample {
	x := s.of(s.keyOf(k))
	return s.sampled[path].keep(k, x)
}

// classed returns the key, or its size class if there are too many keys.
func (s *samples) classed(k commKey) commKey {
	if s.classes {
		k.bytes = uint64(fit.SizeClass(int64(k.bytes)))
	}
	return k
}

// keepFirst keeps the first calls of a key. A goroutine meets locations in any order.
func (s *samples) keepFirst(kind callKind, c timedCall) {
	k := s.classed(s.keyOf(kind))
	list := s.order[k]
	if at, _ := slices.BinarySearchFunc(list, c, compareCalls); at < s.keep {
		list = slices.Insert(list, at, c)
		s.order[k] = list[:min(len(list), s.keep)]
	}
}

// of returns the sample of a key.
func (s *samples) of(k commKey) *fit.Sample {
	k = s.classed(k)
	x := s.byKey[k]
	if x == nil && len(s.byKey) == keyLimit && !s.classes {
		s.coarsen()
		return s.of(k)
	}
	if x == nil {
		x = &fit.Sample{Limit: sampleLimit, Class: s.classes}
		s.byKey[k] = x
	}
	return x
}

// coarsen joins the keys of a size class. That all of them are joined makes the result
// depend on the calls alone, not on who has met them in which order.
func (s *samples) coarsen() {
	fine, order := s.byKey, s.order
	s.byKey, s.order, s.classes = make(map[commKey]*fit.Sample), make(map[commKey][]timedCall), true
	clear(s.sampled)
	s.take(fine, order)
}

// take adds samples, which are not used any more.
func (s *samples) take(byKey map[commKey]*fit.Sample, order map[commKey][]timedCall) {
	for k, x := range byKey {
		s.of(k).Take(x)
	}
	for k, calls := range order {
		k = s.classed(k)
		all := append(s.order[k], calls...)
		slices.SortFunc(all, compareCalls)
		s.order[k] = all[:min(len(all), s.keep)]
	}
}

func (s *samples) combine(o *samples) *samples {
	if o.classes && !s.classes {
		s.coarsen()
	}
	s.take(o.byKey, o.order)
	s.cloud.combine(o.cloud)
	return s
}

// named returns the samples under the names of their operations.
func (s *samples) named() map[fit.Key]*fit.Sample {
	out := make(map[fit.Key]*fit.Sample, len(s.byKey))
	for k, x := range s.byKey {
		out[s.fitKey(k)] = x
	}
	return out
}
