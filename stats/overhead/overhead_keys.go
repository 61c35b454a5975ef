package overhead

import (
	"cmp"
	"context"
	"slices"

	"tracekit/spill"
	"tracekit/stats/fit"
	"tracekit/stats/numbers"
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
