package delays

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"tracekit/document/field"
	"tracekit/document/waitstate"
	"tracekit/stats/numbers"
	"tracekit/stats/profile"
	"tracekit/stats/scope"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A Link is one wait in the chain that leads from a wait back to its origin: a call of Rank waits for one of Cause. Since OpenedNs, when
// the two last met, the cause has spent more time in the places of Longer, and has waited itself for WaitedNs.
type Link struct {
	Kind      string     `json:"kind"` // key of the wait state, or wait_at_startup
	Rank      field.Rank `json:"rank"`
	Operation field.Name `json:"operation"`
	field.SourceLine
	StartNs  int64      `json:"start_ns"`
	TimeNs   int64      `json:"time_ns"`
	Cause    LinkCause  `json:"cause"`
	OpenedNs int64      `json:"opened_ns"`
	WaitedNs int64      `json:"waited_ns"`
	Longer   []LinkTime `json:"longer"` // the place with the most first
}

// A LinkCause is the call that is waited for.
type LinkCause struct {
	Rank      field.Rank `json:"rank"`
	Operation field.Name `json:"operation"` // null: recorded outside any call
	field.SourceLine
	EnterNs int64 `json:"enter_ns"`
}

// A LinkTime is by how much longer the cause was at a place than the one that waits.
type LinkTime struct {
	field.SourceLine
	Operation field.Name `json:"operation"`
	TimeNs    int64      `json:"time_ns"`
}

// chainLength bounds the links of a chain.
const chainLength = 1000

// Explain follows a wait back to its origin: from each wait to the longest one that its cause had since the two last met. It ends where
// what the cause did explains more than the cause's own waits. The call must wait, and the analysis be of the whole run.
func Explain(ctx context.Context, t *trace.Trace, found waits.ByCall, segments []*profile.Segments, l trace.LocationID, call uint32,
	jobs int) ([]Link, error) {
	s, err := scope.New(t, scope.Selection{})
	if err != nil {
		return nil, err
	}
	w := &waits.Finder{T: t, Scope: &s, Jobs: jobs, Calls: found}
	d := NewFinder(w)
	d.Segments = segments
	if err := d.Order(ctx, w); err != nil {
		return nil, err
	}
	if d.meetings, err = newMeetings(ctx, t, jobs); err != nil {
		return nil, err
	}
	p := profile.New(t, &s, nil, nil)
	links, scratch := []Link{}, d.newComparing()
	for at := (waits.CallKey{Location: l, Call: call}); len(links) < chainLength && ctx.Err() == nil; {
		row, ok := d.find(at)
		if !ok {
			break
		}
		c := d.newComparisons(row, row+1)
		d.compare(c, 0, scratch)
		k, wait := c.waits[0], d.waits.Ptr(row)
		links = append(links, d.link(p, wait, &k, c.excess[0]))
		next, found := d.longest(wait.cause, k.opened.cause)
		if !found || k.wait <= k.delay {
			break
		}
		at = next
	}
	return links, ctx.Err()
}

// find returns the row of the wait of a call; of two, that of the longer one.
func (d *Finder) find(at waits.CallKey) (row int, ok bool) {
	c := d.callWaits[at.Location].Of(int(at.Call))
	if c == nil {
		return 0, false
	}
	end := c.From + c.Time
	first := sort.Search(d.waits.Len(), func(i int) bool { return d.waits.Ptr(i).end >= end })
	for i := first; i < d.waits.Len() && d.waits.Ptr(i).end == end; i++ {
		if d.waits.Ptr(i).at == at {
			return i, true
		}
	}
	return 0, false
}

// longest returns the call with the longest wait of a location between an opening and a call.
func (d *Finder) longest(until waits.CallKey, opened uint32) (at waits.CallKey, ok bool) {
	if until.Call == trace.None {
		return at, false
	}
	best, table := int64(0), d.callWaits[until.Location]
	for i := int(until.Call) - 1; i >= 0 && (opened == trace.None || i > int(opened)); i-- {
		if c := table.Of(i); c != nil && c.Time > best {
			best, at = c.Time, waits.CallKey{Location: until.Location, Call: uint32(i)}
		}
	}
	return at, best > 0
}

func (d *Finder) link(p *profile.Profiler, w *delayedWait, k *comparison, excess []profile.Segment) Link {
	x := scope.NewAxis(d.t)
	call := d.t.Calls[w.at.Location].At(int(w.at.Call))
	at := p.SiteOfPath(call.Path)
	out := Link{Kind: w.kind.Info().Key, Rank: field.Rank(d.t.Rank[w.at.Location]), Operation: field.Name(d.t.Defs.RegionLabel(at.Operation)),
		SourceLine: profile.Spell(d.t.Defs, at.Line), StartNs: x.Instant(w.end - w.time), TimeNs: x.Ns(w.time), WaitedNs: x.Ns(k.wait),
		Cause: LinkCause{Rank: field.Rank(d.t.Rank[w.cause.Location]), EnterNs: x.Instant(w.end)}, OpenedNs: x.Instant(d.scope.From),
		Longer: []LinkTime{}}
	if w.cause.Call != trace.None {
		cause := d.t.Calls[w.cause.Location].At(int(w.cause.Call))
		from := p.SiteOfPath(cause.Path)
		out.Cause.Operation, out.Cause.SourceLine, out.Cause.EnterNs = field.Name(d.t.Defs.RegionLabel(from.Operation)),
			profile.Spell(d.t.Defs, from.Line), x.Instant(cause.Enter)
		if k.opened.at != trace.None {
			out.OpenedNs = x.Instant(min(d.t.Calls[w.at.Location].At(int(k.opened.at)).Leave,
				d.t.Calls[w.cause.Location].At(int(k.opened.cause)).Leave))
		}
	}
	for _, e := range excess {
		place, name := p.PlaceOf(e.Path)
		t := LinkTime{SourceLine: field.SourceLine{Region: field.Name(name)}, TimeNs: x.Ns(e.Time)}
		if name == "" {
			t.SourceLine, t.Operation = profile.Spell(d.t.Defs, place.Line), field.Name(d.t.Defs.RegionLabel(place.Operation))
		}
		out.Longer = append(out.Longer, t)
	}
	slices.SortStableFunc(out.Longer, func(a, b LinkTime) int { return cmp.Compare(b.TimeNs, a.TimeNs) })
	return out
}

// LongestWait returns the call that waits longest among those that are wanted; ok is false if none
// waits.
func LongestWait(waits waits.ByCall, wanted func(trace.PathID, waitstate.Kind) bool) (l trace.LocationID, call uint32, ok bool) {
	longest := int64(0)
	for at, w := range waits {
		for first, index := range w.Index.Rows {
			for i, row := range index {
				if row == 0 {
					continue
				}
				if c := w.Rows.Ptr(int(row - 1)); c.Time > longest && wanted(c.Path, c.Kind) {
					longest, l, call = c.Time, trace.LocationID(at), uint32(first+i)
				}
			}
		}
	}
	return l, call, longest > 0
}

// WaitAt returns the call that waits on a rank at an instant, or else the first that waits after it; ok
// is false if there is none.
func WaitAt(t *trace.Trace, waits waits.ByCall, rank uint32, at scope.Instant) (l trace.LocationID, call uint32, ok bool) {
	first, last := scope.Run(t)
	tick := at.Resolve(numbers.Rate{Resolution: t.Defs.Clock.Resolution}, first, last)
	if int(rank) >= len(t.World) {
		return 0, 0, false
	}
	l = t.World[rank]
	calls := t.Calls[l]
	i := sort.Search(calls.Len(), func(i int) bool { return calls.Ptr(i).Leave >= tick })
	for ; i < calls.Len(); i++ {
		if waits[l].Of(i) != nil {
			return l, uint32(i), true
		}
	}
	return 0, 0, false
}
