package overhead

import (
	"cmp"
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
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
	size      waits.CallSize
}

// keyOf returns the key of calls of a kind.
func (o *Finder) keyOf(k callKind) commKey {
	x := &o.op[k.region]
	return commKey{x.op<<waits.RoleBits | uint32(k.size.Role()&x.roles), k.processes, k.size.Bytes()}
}

// Bounds of memory: samples of at most 2^14 distinct durations (16 bytes each) for a
// thousand keys; if there are more, they are kept by size class, of which there are about
// 50 for each operation, role and number of processes.
const (
	sampleLimit = 1 << 14
	keyLimit    = 1 << 10
)

// A commCall is a communication event of the selection that takes longer than it must, or waits.
type commCall struct {
	*trace.Call
	row   uint32
	last  waits.RowEnd // of its sends and receives
	wait  int64        // of its duration, in ns
	cause uint32       // row of the wait, plus 1; 0: it does not wait
}

// A commWalk goes over the calls of a location in order and says what is known of those that
// communicate.
type commWalk struct {
	waits.CallWalk
	*Finder
	noted     spill.Cursor[waits.Wait]
	instances spill.Cursor[trace.Collective]

	// Of the calls of the run:
	size   []waits.CallSize
	waitOf []uint32 // rows of noted, plus 1
}

func (o *Finder) newCommWalk(ctx context.Context, l trace.LocationID) commWalk {
	return commWalk{CallWalk: waits.NewCallWalk(ctx, o.T, l), Finder: o, noted: o.Calls[l].Rows.Cursor(), instances: o.T.Collectives.Cursor()}
}

// advance goes to the next run of calls.
func (w *commWalk) advance() bool {
	if !w.CallWalk.Advance(numbers.Never) {
		return false
	}
	w.size, w.waitOf = waits.Beside(&w.CallWalk, w.Sizes[w.L]), waits.Beside(&w.CallWalk, w.Calls[w.L].Index)
	return true
}

// whole reports whether a call is neither clipped by the selection nor never left.
func (w *commWalk) whole(c *trace.Call) bool {
	return !c.Open && w.Scope.Clip(c.Enter, c.Leave) == c.Leave-c.Enter
}

// processes returns how many ranks take part in what a call does.
func (w *commWalk) processes(c *trace.Call) uint32 {
	if c.Coll == trace.None {
		return 2
	}
	return w.instances.Ptr(int(c.Coll)).Size
}

// waited returns how much of the time of a call, in ns, it waits, as a row of its location's waits says.
func (w *commWalk) waited(time int64, cause uint32) int64 {
	if cause == 0 {
		return 0
	}
	x := w.noted.Ptr(int(cause - 1))
	return min(time, w.rate.Ns(w.Scope.Clip(x.From, x.From+x.Time)))
}

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

// A memo is what was last looked up for a call path, whose calls are mostly of one kind.
type memo[T any] struct {
	kind  callKind
	value *T // nil: nothing was
}

// Of returns what was looked up last if it was for calls of a kind, else nil.
func (m *memo[T]) Of(k callKind) *T {
	if m.kind == k {
		return m.value
	}
	return nil
}

// keep keeps what was looked up for calls of a kind, and returns it.
func (m *memo[T]) keep(k callKind, value *T) *T {
	*m = memo[T]{k, value}
	return value
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

// take adds samples.
func (s *samples) take(byKey map[commKey]*fit.Sample, order map[commKey][]timedCall) {
	for k, x := range byKey {
		s.of(k).Combine(x)
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

func (o *Finder) fitKey(k commKey) fit.Key {
	return fit.Key{Operation: o.ops[k.op>>waits.RoleBits], Role: waits.Role(k.op & waits.RoleMask).String(), Processes: int(k.processes),
		Bytes: int64(k.bytes)}
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
func (o *Finder) newLimit(k fit.Key) *limit {
	group := o.groupOf(k)
	if group < 0 {
		return &limit{tMax: numbers.Never, group: -1}
	}
	smallest := k
	smallest.Bytes = fit.SizeClass(k.Bytes)
	p := o.profileFor(k)
	t, _ := p.Limit(k)
	least, _ := p.Limit(smallest)
	x := &limit{tMax: t.TMax, transfer: max(0, t.TMax-least.TMax), group: group, unreliable: t.Unreliable, foreign: p != &o.own}
	if !x.foreign {
		x.unreliable = o.groups[group].Unreliable
	}
	return x
}

// groupOf returns the group of a key or, if no whole call has its size, that of the next
// smaller one (which is its size class if there are too many sizes), or of the smallest; -1 if there is none at all.
func (o *Finder) groupOf(k fit.Key) int {
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
func (o *Finder) profileFor(k fit.Key) *fit.Profile {
	if p := o.opts.Profile; p != nil {
		if _, known := p.Limit(k); known {
			return p
		}
	}
	return &o.own
}
