package stats

import (
	"cmp"
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/trace"
)

// A commKey is what calls must share to be comparable.
type commKey struct {
	op        uint32 // index into overheads.ops, and below it the role
	processes uint32
	bytes     uint64
}

// A callKind is what decides the key of a call.
type callKind struct {
	region    trace.RegionID
	processes uint32
	size      callSize
}

// keyOf returns the key of calls of a kind.
func (o *overheads) keyOf(k callKind) commKey {
	x := &o.op[k.region]
	return commKey{x.op<<roleBits | uint32(k.size.role()&x.roles), k.processes, k.size.bytes()}
}

// Bounds of memory: samples of at most 2^14 distinct durations (16 bytes each) for a
// thousand keys; if there are more, they are kept by size class, of which there are about
// 60 for each operation, role and number of processes.
const (
	sampleLimit = 1 << 14
	keyLimit    = 1 << 10
)

// A commCall is a communication event: a call that communicates, starts or completes a
// request, synchronises or probes, as far as it is selected.
type commCall struct {
	*trace.Call
	row   uint32
	last  rowEnd // of its sends and receives
	kind  callKind
	ticks int64  // duration
	time  int64  // duration in ns
	wait  int64  // of which waiting, in ns
	cause uint32 // row of the wait, plus 1; 0: it does not wait
	whole bool   // neither clipped by the selection nor never left
}

// communicates reports whether a call is a communication event of the selection. MPI_Init and
// MPI_Finalize run once and have no law.
func (w *waiting) communicates(l trace.LocationID, c *trace.Call) bool {
	switch c.Class {
	case trace.ClassNone, trace.ClassInit, trace.ClassFinalize:
		return false
	}
	return w.scope.overlaps(l, c.Enter, c.Leave) && int(c.Region) < len(w.t.Defs.Regions) && int(c.Path) < len(w.t.Tree.Nodes)
}

// A commWalk goes over the calls of a location in order and says what is known of those that
// communicate.
type commWalk struct {
	callWalk
	*overheads
	waits     *WaitTable
	instances spill.Cursor[trace.Collective]

	// Of the calls of the run:
	size   []callSize
	waitOf []uint32 // rows in waits, plus 1
}

func (o *overheads) newCommWalk(ctx context.Context, l trace.LocationID) commWalk {
	return commWalk{callWalk: newCallWalk(ctx, o.t, l), overheads: o, waits: o.calls[l], instances: o.t.Collectives.Cursor()}
}

// advance goes to the next run of calls.
func (w *commWalk) advance() bool {
	if !w.callWalk.advance(never) {
		return false
	}
	w.size, w.waitOf = beside(&w.callWalk, w.sizes[w.l]), beside(&w.callWalk, w.waits.index)
	return true
}

// describe fills in what is known of a call of the run, which communicates.
func (w *commWalk) describe(e *commCall, k int) {
	c := e.Call
	e.kind = callKind{c.Region, 2, w.size[k]}
	if c.Coll != trace.None {
		e.kind.processes = w.instances.Ptr(int(c.Coll)).Size
	}
	e.ticks = w.scope.clip(c.Enter, c.Leave)
	e.time = w.rate.ns(e.ticks)
	e.wait, e.cause = 0, w.waitOf[k]
	if e.cause > 0 {
		x := w.waits.rows.Ptr(int(e.cause - 1))
		e.wait = min(e.time, w.rate.ns(w.scope.clip(x.From, x.From+x.Time)))
	}
	e.whole = !c.Open && e.ticks == c.Leave-c.Enter
}

// sample collects the durations of all keys.
func (o *overheads) sample(ctx context.Context) (*samples, error) {
	return engine.Fold(ctx, o.jobs, len(o.t.Calls), o.newSamples, func(s *samples, l int) error {
		s.location(ctx, trace.LocationID(l))
		return nil
	}, (*samples).combine)
}

// location collects the durations of a location's calls.
func (s *samples) location(ctx context.Context, l trace.LocationID) {
	w, e := s.newCommWalk(ctx, l), new(commCall)
	for w.advance() {
		for k := range w.ahead {
			if e.Call, e.row = &w.ahead[k], uint32(w.first+k); !w.communicates(l, e.Call) {
				continue
			}
			if w.describe(e, k); !e.whole {
				continue
			}
			wait := e.wait
			if s.withWaits {
				wait = 0
			}
			if s.cloud != nil {
				s.cloud.add(s.op[e.Region].op, e.Enter, e.time)
			}
			s.add(e.Path, e.kind, timedCall{l, e.row, e.Enter, e.time - wait})
		}
	}
}

// samples holds the durations of some calls by key, and of each key the first ones in
// order of locations and rows.
type samples struct {
	*overheads
	byKey   map[commKey]*fit.Sample
	order   map[commKey][]timedCall
	classes bool                // there are too many keys: sizes are size classes
	sampled []memo[*fit.Sample] // by call path
	cloud   *cloud              // nil: not asked for
}

// A timedCall is a duration in ns of a call that begins at a tick.
type timedCall struct {
	location trace.LocationID
	row      uint32
	enter    int64
	time     int64
}

// A memo is what was last looked up for a call path, whose calls are mostly of one kind.
type memo[T any] struct {
	kind  callKind
	known bool
	value T
}

func (o *overheads) newSamples() *samples {
	s := &samples{overheads: o, byKey: make(map[commKey]*fit.Sample), order: make(map[commKey][]timedCall),
		sampled: make([]memo[*fit.Sample], len(o.t.Tree.Nodes))}
	if o.points {
		s.cloud = newCloud(runOf(o.t))
	}
	return s
}

// add counts a call in the sample of its key.
func (s *samples) add(path trace.PathID, k callKind, c timedCall) {
	last := &s.sampled[path]
	if !last.known || last.kind != k {
		*last = memo[*fit.Sample]{k, true, s.of(s.keyOf(k))}
	}
	last.value.Add(c.time)
	if s.keep > 0 {
		s.keepFirst(s.classed(s.keyOf(k)), c)
	}
}

// classed returns the key, or its size class if there are too many keys.
func (s *samples) classed(k commKey) commKey {
	if s.classes {
		k.bytes = uint64(fit.SizeClass(int64(k.bytes)))
	}
	return k
}

// keepFirst keeps the first calls of a key. A goroutine meets locations in ascending order.
func (s *samples) keepFirst(k commKey, c timedCall) {
	if list := s.order[k]; len(list) < s.keep {
		s.order[k] = append(list, c)
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

// take adds samples.
func (s *samples) take(byKey map[commKey]*fit.Sample, order map[commKey][]timedCall) {
	for k, x := range byKey {
		s.of(k).Combine(x)
	}
	for k, calls := range order {
		k = s.classed(k)
		all := append(s.order[k], calls...)
		slices.SortFunc(all, func(a, b timedCall) int {
			return cmp.Or(cmp.Compare(a.location, b.location), cmp.Compare(a.row, b.row))
		})
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

func (o *overheads) fitKey(k commKey) fit.Key {
	return fit.Key{Operation: o.ops[k.op>>roleBits], Role: role(k.op & roleMask).String(), Processes: int(k.processes), Bytes: int64(k.bytes)}
}

// A limit is where necessary time ends for calls of one key.
type limit struct {
	tMax       int64 // ns
	transfer   int64 // ns by which it exceeds that of the smallest size of its class
	group      int   // index into groups; -1: no call of the key was sampled
	unreliable bool  // the trace, or the profile, cannot carry it
	foreign    bool  // it is from the profile that was given
}

// newLimit asks the profile that was given, or else the trace's own. A key of which the
// trace has no whole call has no overhead that we could know of.
func (o *overheads) newLimit(k fit.Key) limit {
	group := o.groupOf(k)
	if group < 0 {
		return limit{tMax: never, group: -1}
	}
	smallest := k
	smallest.Bytes = fit.SizeClass(k.Bytes)
	p := o.profileFor(k)
	t, _ := p.Limit(k)
	least, _ := p.Limit(smallest)
	x := limit{tMax: t.TMax, transfer: max(0, t.TMax-least.TMax), group: group, unreliable: t.Unreliable, foreign: p != &o.own}
	if !x.foreign {
		x.unreliable = o.groups[group].Unreliable
	}
	return x
}

// groupOf returns the group of a key or, if no whole call has its size, that of the next
// smaller one (which is its size class if there are too many sizes), or of the smallest; -1 if there is none at all.
func (o *overheads) groupOf(k fit.Key) int {
	sizes := o.index[withoutBytes(k)]
	if len(sizes) == 0 {
		return -1
	}
	i, found := slices.BinarySearchFunc(sizes, k.Bytes, func(s sizeGroup, bytes int64) int { return cmp.Compare(s.bytes, bytes) })
	if !found {
		i = max(i-1, 0)
	}
	return sizes[i].group
}

func withoutBytes(k fit.Key) fit.Key {
	k.Bytes = 0
	return k
}

// profileFor returns the profile that decides about a key.
func (o *overheads) profileFor(k fit.Key) *fit.Profile {
	if p := o.opts.Profile; p != nil {
		if _, known := p.Limit(k); known {
			return p
		}
	}
	return &o.own
}
