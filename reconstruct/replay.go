package reconstruct

import (
	"cmp"
	"container/heap"
	"context"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/spill"
	"tracekit/trace"
)

// never is before all times.
const never = math.MinInt64

// A fix is an event that waited for a partner, and when it happened.
type fix struct {
	seq uint64
	at  int64
}

// A channel is what messages go through in order.
type channel struct {
	comm, from, to, tag uint32
}

// A sending is a message on its way: when the call that sends it was entered, and when it was sent.
type sending struct{ entered, at int64 }

// A replay rebuilds all locations together and makes the waiting that durations do not
// hold: a call that partners.Completes messages or takes part in a collective goes on when the last
// of the partners that it waits for is ready, as it did when the durations were learned.
// What can never happen (a receive without a send) does not wait, nor does who receives on
// a communicator where partners are guessed: its waiting is part of its durations.
type replay struct {
	locations []replayed
	sent      map[channel][]sending
	wanted    map[channel]int // location that waits
	meetings  map[instance]*meeting
	ready     []int
	ranks     *partners.Ranks
	guessed   map[uint32]bool // communicators of whose messages not all partners were learned
	inFlight  int             // messages in sent
	store     *spill.Store    // of fixes; nil: they are not kept
	fixed     int             // fixes of all locations, whether they are kept or not
	jobs      int
	lookahead int      // events of a location that are made before they happen
	limit     uint64   // events of a location
	cut       bool     // a location has more
	waiting   waitHeap // all that wait, and some that have gone on; nil until somebody gives up
}

// Bounds of memory, and for fixes of the store: messages that are on their way, fixes, events
// that complete something in one call. What is beyond is not waited for; a trace that comes
// near has some 10^8 events.
const (
	maxInFlight  = 1 << 21
	maxFixes     = 1 << 26
	maxCompleted = 1 << 12
)

// How many events are made before they happen: of all locations, and at least of each.
const (
	maxLookahead   = 1 << 15
	leastLookahead = 1 << 4
)

// A replayed is a location during the replay.
type replayed struct {
	timing
	places   []place
	from     stepper
	location trace.LocationID
	events   []step                  // that were made
	next     int                     // of these, the one that happens next
	last     bool                    // there are no others
	entered  int64                   // time of the last enter
	waited   int64                   // in that call, behind late senders
	late     uint64                  // ticks that all calls so waited
	ordinals map[trace.CommID]uint64 // nil: it has met nobody yet
	fixes    *spill.Table[fix]
	heads    []tally // of the items that complete something

	err       error  // of making events
	completed []step // in the current call, one after the other
	settled   int    // of these: their partners are known
	release   int64  // when the last of those was ready
	arrived   bool   // at the meeting that the location waits for
	waits     bool
	end       bool
}

// A tally sums the time between events before an item, waiting included, but in regime
// partners.Further; in ticks.
type tally struct{ count, time uint64 }

// newReplay returns the replay of the first events of each location, at most limit: of the steps that
// are made for it.
func newReplay(ranks *partners.Ranks, from []formulae.Location, all [][]place, steps func(l int) stepper, seed, limit uint64,
	jobs int) *replay {
	r := &replay{ranks: ranks, guessed: guesses(from), jobs: jobs, limit: limit,
		lookahead: max(maxLookahead/max(len(from), 1), leastLookahead),
		sent:      make(map[channel][]sending), wanted: make(map[channel]int), meetings: make(map[instance]*meeting)}
	r.locations = make([]replayed, len(from))
	r.ready = make([]int, len(from))
	for l := range from {
		heads := 0
		for k := range all[l] {
			if partners.Completes(all[l][k].kind) {
				heads++
			}
		}
		r.locations[l] = replayed{timing: newTiming(trace.LocationID(l), &from[l], all[l], seed), places: all[l], from: steps(l),
			location: trace.LocationID(l), heads: make([]tally, heads), release: never}
		r.ready[l] = l
	}
	return r
}

// run replays all locations. It returns the number of events that could not wait for their partner.
func (r *replay) run(ctx context.Context) (stuck uint64, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for len(r.ready) > 0 {
			turn := r.ready
			r.ready = nil
			if err := r.prepare(ctx, turn); err != nil {
				return 0, err
			}
			for _, l := range turn {
				r.move(l)
			}
		}
		if r.cut || !r.giveUp() {
			break
		}
		stuck++
	}
	for i := range r.locations {
		err = cmp.Or(err, r.locations[i].err)
	}
	return stuck, err
}

// prepare makes the next events of the locations that have used up theirs: most of the work,
// and the part that no location needs another one for.
func (r *replay) prepare(ctx context.Context, turn []int) error {
	var short []int
	for _, i := range turn {
		if r.locations[i].short() {
			short = append(short, i)
		}
	}
	if len(short) == 0 {
		return nil
	}
	_, err := engine.Map(ctx, r.jobs, len(short), func(_ context.Context, k int) (none struct{}, err error) {
		r.locations[short[k]].prepare(r.lookahead)
		return none, nil
	})
	return err
}

// short reports whether events have to be made before the next one can happen.
func (l *replayed) short() bool { return l.next == len(l.events) && !l.last }

// prepare makes n more events, or those that are left.
func (l *replayed) prepare(n int) {
	l.events, l.next = slices.Grow(l.events[:0], n)[:n], 0
	made, err := l.from.steps(l.events)
	l.events, l.last, l.err = l.events[:made], made < n, err
}

// following returns the event that happens next, nil at the end. If need be, events are made
// ahead: in the middle of a call there is no other turn to wait for.
func (l *replayed) following(lookahead int) *step {
	if l.short() {
		l.prepare(lookahead)
	}
	if l.next == len(l.events) {
		return nil
	}
	return &l.events[l.next]
}

// move moves a location on until it waits, ends, or has used up its events.
func (r *replay) move(i int) {
	l := &r.locations[i]
	l.waits = false
	for !l.end {
		switch {
		case len(l.completed) > 0:
			if !r.settle(i) {
				l.waits = true
				r.wait(i)
				return
			}
			continue
		case l.seq >= r.limit:
			r.cut = true
			return
		case l.short():
			r.ready = append(r.ready, i)
			return
		}
		h := l.following(r.lookahead)
		switch {
		case h == nil:
			l.end = true
		case completes(l.places, h):
			l.gather(r.lookahead)
		default:
			l.next++
			r.happen(l, h)
		}
	}
}

// gather collects the events that complete something together.
func (l *replayed) gather(lookahead int) {
	l.completed, l.settled, l.release = l.completed[:0], 0, never
	for len(l.completed) < maxCompleted {
		h := l.following(lookahead)
		if h == nil || !completes(l.places, h) {
			return
		}
		l.completed = append(l.completed, *h)
		l.next++
	}
}

// settle lets the events of a call that complete something happen, once all partners are
// ready; it is false if one is not known to be.
func (r *replay) settle(i int) bool {
	l := &r.locations[i]
	for ; l.settled < len(l.completed); l.settled++ {
		ready, ok := r.partner(i, &l.completed[l.settled])
		if !ok {
			return false
		}
		l.release = max(l.release, ready)
	}
	before := l.now
	for k := range l.completed {
		at := &l.places[l.completed[k].item]
		if k == 0 && l.release >= l.now && !l.completing && r.fixed < maxFixes {
			r.fixed++
			l.regime(at.kind)
			seq := l.seq
			l.now = l.release + max(l.timing.next(at.interval+uint32(partners.Blocked)), 1)
			if r.store != nil {
				spill.Ensure(r.store, &l.fixes).Append(fix{seq, l.now})
			}
		} else {
			l.tick(at.kind, at.interval)
		}
		if k == 0 {
			head := &l.heads[at.head]
			head.count++
			head.time += uint64(l.now - before)
		}
	}
	l.completed = l.completed[:0]
	return true
}

// happen lets an event take place that waits for nobody.
func (r *replay) happen(l *replayed, h *step) {
	if h.item == formulae.NoItem {
		l.outlier()
		return
	}
	at := &l.places[h.item]
	l.tick(at.kind, at.interval)
	switch at.kind {
	case trace.KindMpiSend, trace.KindMpiIsend:
		if c, ok := r.channel(l, h, true); ok && !r.guessed[c.comm] && r.inFlight < maxInFlight {
			r.inFlight++
			r.sent[c] = append(r.sent[c], sending{l.entered, l.now})
			if w, ok := r.wanted[c]; ok {
				delete(r.wanted, c)
				r.ready = append(r.ready, w)
			}
		}
	case trace.KindEnter, trace.KindCallingContextEnter:
		l.entered, l.waited = l.now, 0
	}
}

// partner returns when the partner of a completion was ready, never if it has none; ok is
// false if that is not known yet.
func (r *replay) partner(i int, h *step) (t int64, ok bool) {
	switch r.locations[i].places[h.item].kind {
	case trace.KindMpiRecv, trace.KindMpiIrecv:
		return r.receive(i, h)
	case trace.KindCollectiveEnd:
		return r.meet(i, h)
	}
	return never, true
}

// receive takes the next message of a channel, or notes that the location waits for it.
func (r *replay) receive(i int, h *step) (int64, bool) {
	c, ok := r.channel(&r.locations[i], h, false)
	if !ok || r.guessed[c.comm] {
		return never, true
	}
	q := r.sent[c]
	if len(q) == 0 {
		r.wanted[c] = i
		return 0, false
	}
	r.inFlight--
	if r.sent[c] = q[1:]; len(q) == 1 {
		delete(r.sent, c)
	}
	l := &r.locations[i]
	if wait := q[0].entered - l.entered; wait > l.waited { // of several messages of a call the latest counts
		l.late += uint64(wait - l.waited)
		l.waited = wait
	}
	return q[0].at, true
}

// channel returns the channel of a message event.
func (r *replay) channel(l *replayed, h *step, sends bool) (channel, bool) {
	comm := l.places[h.item].ref
	self, size, ok := r.ranks.Rank(l.location, comm)
	if !ok || h.peer >= size {
		return channel{}, false
	}
	c := channel{comm, self, h.peer, h.tag}
	if !sends {
		c.from, c.to = c.to, c.from
	}
	return c, true
}

// giveUp lets the earliest of the waiting locations go on although its partner never came. It
// returns false if none waits.
func (r *replay) giveUp() bool {
	if r.waiting == nil {
		r.allWaiting()
	}
	first := -1
	for first < 0 {
		if len(r.waiting) == 0 {
			return false
		}
		w := heap.Pop(&r.waiting).(waitingSince)
		if l := &r.locations[w.location]; l.waits && l.now == w.now { // else it has gone on since
			first = w.location
		}
	}
	l := &r.locations[first]
	h := &l.completed[l.settled]
	if at := &l.places[h.item]; at.kind == trace.KindCollectiveEnd {
		l.arrived = false
		l.met(trace.CommID(at.ref))
	} else if c, ok := r.channel(l, h, false); ok {
		delete(r.wanted, c)
	}
	l.settled++
	r.ready = append(r.ready, first)
	return true
}

// A waitingSince is a location that has waited since a time; it may have gone on.
type waitingSince struct {
	now      int64
	location int
}

// wait notes that a location waits, once that is of interest.
func (r *replay) wait(i int) {
	if r.waiting == nil {
		return
	}
	if len(r.waiting) > 2*len(r.locations) {
		r.allWaiting()
		return
	}
	heap.Push(&r.waiting, waitingSince{r.locations[i].now, i})
}

// allWaiting finds all that wait.
func (r *replay) allWaiting() {
	r.waiting = make(waitHeap, 0, len(r.locations))
	for i := range r.locations {
		if l := &r.locations[i]; l.waits {
			r.waiting = append(r.waiting, waitingSince{l.now, i})
		}
	}
	heap.Init(&r.waiting)
}

// A waitHeap holds waiting locations, the earliest first.
type waitHeap []waitingSince

func (h waitHeap) Len() int { return len(h) }

func (h waitHeap) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[i].now, h[j].now), cmp.Compare(h[i].location, h[j].location)) < 0
}

func (h waitHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *waitHeap) Push(x any) { *h = append(*h, x.(waitingSince)) }

// Pop implements heap.Interface.
func (h *waitHeap) Pop() any {
	last := len(*h) - 1
	w := (*h)[last]
	*h = (*h)[:last]
	return w
}
