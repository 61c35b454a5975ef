package pattern

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"tracekit/formulae/partners"
	"tracekit/spill"
	"tracekit/trace"
)

// A replay lets all masters go through what was cut together. An interval lasts as long as its law says. A record that completes a
// message or a blocking collective comes after those are ready that it waits for (DEFINITIONS.md 2.1, 2.2).
//
// Times are those since the first base of a run, as if all clocks were one. Messages of a channel are received in the order in which they
// were sent; those under way at the beginning of a run were sent before it. Products are rounded (float64) before they are added, so that
// all processors make the same times.
type replay struct {
	repeats  *Repeats
	src      trace.Source
	store    *spill.Store
	ranks    *partners.Ranks
	lanes    []*lane
	rows     []int     // of each cut instance
	count    []int     // rows of each variant
	bases    []float64 // of every Stride-th instance, and of the end, run after run, as Location.Times
	channels map[channel]int
	queues   []queue
	meetings map[meeting]*gathering
	free     map[trace.CommID]bool // nobody waits at collectives any more, in this run
	run      int
	first    int // instance of the run
	stored   int

	mutex sync.Mutex
	done  bool
}

// mostStored is how many times a replay finds at most: few bytes may stand for any number of iterations.
const mostStored = 1 << 27

// A lane is a master in a replay.
type lane struct {
	*Location
	id          trace.LocationID
	column      int
	models      [][]step
	whole       []float64 // of each model: its length without waits
	completions []int     // of each model
	before      []map[int]underway
	at          *spill.Table[float64] // of each cut instance: when it begins, then of each completion
	ordinals    map[trace.CommID]int

	instance, place int // of the run; that come next
	now, entered    float64
	pace            float64
	asleep          bool // in the list of what it waits for
}

// A step is a record of a kept interval, as far as a replay needs it.
type step struct {
	kind       trace.Kind
	gap        float64 // before it
	channel    int     // of a message; -1: nobody waits for it
	comm       trace.CommID
	op         trace.CollectiveOp
	rank, root uint32
	size       uint32 // of a collective that is waited for; 0: it is not
}

// completes reports whether the time of a step is kept.
func (p *step) completes() bool {
	return p.kind == trace.KindMpiRecv || p.kind == trace.KindMpiIrecv || p.kind == trace.KindCollectiveEnd
}

// A channel is what messages go through in order.
type channel struct {
	comm          trace.CommID
	from, to, tag uint32
}

// An underway is the messages that are sent before a run and not received: how many more than before the run before, and when the
// last was sent.
type underway struct {
	count int
	last  float64
}

// A queue is the messages of a channel.
type queue struct {
	early   int     // sent before the run
	earlyAt float64 // at the latest
	sent    []float64
	waiting int  // lane; -1: none
	free    bool // nobody waits any more, in this run
}

// A meeting is a collective: the ordinal-th on its communicator in a run.
type meeting struct {
	comm    trace.CommID
	ordinal int
}

// A gathering is who came to a meeting. It is forgotten once all have gone on.
type gathering struct {
	entered map[uint32]float64
	latest  float64
	waiting []int
	gone    int
}

func newReplay(src trace.Source, r *Repeats, store *spill.Store) *replay {
	return &replay{repeats: r, src: src, store: store, ranks: partners.RanksOf(src.Defs()), channels: make(map[channel]int)}
}

// finish replays all runs, once.
func (r *replay) finish(ctx context.Context) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.done {
		return nil
	}
	r.lanes, r.rows, r.bases, r.queues, r.stored = nil, nil, nil, nil, 0
	for c, l := range r.repeats.masters() {
		x := &lane{Location: &r.repeats.Locations[l], id: l, column: c, at: spill.NewTable[float64](r.store)}
		r.lanes = append(r.lanes, x)
		if err := r.load(ctx, x); err != nil {
			return err
		}
	}
	draws := r.repeats.draws()
	r.count = nil
	for _, rows := range draws.rows {
		r.count = append(r.count, len(rows))
	}
	for g, v := range r.repeats.Which {
		r.rows = append(r.rows, draws.next(v, g))
	}
	for r.run, r.first = 0, 0; r.run < len(r.repeats.Runs); r.run++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.begin()
		for i := range r.lanes {
			r.move(i)
		}
		for r.giveUp() {
		}
		r.end()
		r.first += r.repeats.Runs[r.run]
		if r.stored > mostStored {
			return fmt.Errorf("%s: the laws are of too many iterations: %w", r.src.Info().Path, errOther)
		}
	}
	for _, x := range r.lanes {
		x.at = x.at.Sealed()
	}
	r.done = true
	return r.store.Err()
}

// load reads what is kept of a master, and what of its messages is under way at each run.
func (r *replay) load(ctx context.Context, x *lane) error {
	x.models = make([][]step, len(x.Kept))
	x.before = make([]map[int]underway, len(r.repeats.Runs))
	kept, run := 0, 0
	starts := r.starts(x)
	for b, err := range r.src.Events(ctx, x.id) {
		if err != nil {
			return err
		}
		for seq, row := range b.Events {
			for kept < len(x.Kept) && seq >= x.Kept[kept].First+x.Kept[kept].Events {
				kept++
			}
			for run < len(x.At) && x.At[run] <= seq {
				run++
			}
			p := r.stepOf(x, b, row)
			if run < len(x.At) && p.channel >= 0 {
				u := x.before[run][p.channel]
				if u.count++; p.kind == trace.KindMpiRecv || p.kind == trace.KindMpiIrecv {
					u.count -= 2
				} else {
					u.last = float64(b.Time(row) - starts[run])
				}
				if x.before[run] == nil {
					x.before[run] = make(map[int]underway)
				}
				x.before[run][p.channel] = u
			}
			if kept < len(x.Kept) && seq >= x.Kept[kept].First {
				p.gap = float64(x.Kept[kept].Gaps[len(x.models[kept])]) / gapUnit
				x.models[kept] = append(x.models[kept], p)
			}
		}
	}
	for k, m := range x.models {
		whole := float64(x.Kept[k].Gaps[len(m)]) / gapUnit
		for i := range m {
			whole += m[i].gap
		}
		x.whole = append(x.whole, whole)
		completions := 0
		for i := range m {
			if m[i].completes() {
				completions++
			}
		}
		x.completions = append(x.completions, completions)
	}
	return nil
}

// starts returns the first base of each run in the clock of a master.
func (r *replay) starts(x *lane) (out []int64) {
	at := 0
	for _, n := range r.repeats.Runs {
		out = append(out, x.Times[at])
		at += r.repeats.timesOf(n)
	}
	return out
}

// stepOf returns what a record says to a replay.
func (r *replay) stepOf(x *lane, b *trace.Batch, row trace.Row) step {
	p, k := step{kind: kindOf(b, row), channel: -1}, row.First
	switch p.kind {
	case trace.KindMpiSend, trace.KindMpiIsend, trace.KindMpiRecv, trace.KindMpiIrecv:
		self, size, ok := r.ranks.Rank(x.id, uint32(b.P2P.Comm[k]))
		if !ok || b.P2P.Peer[k] >= size {
			return p
		}
		c := channel{b.P2P.Comm[k], self, b.P2P.Peer[k], b.P2P.Tag[k]}
		if p.completes() {
			c.from, c.to = c.to, c.from
		}
		id, known := r.channels[c]
		if !known {
			id = len(r.channels)
			r.channels[c] = id
		}
		p.channel = id
	case trace.KindCollectiveEnd:
		p.comm, p.op, p.root = b.Coll.Comm[k], b.Coll.Op[k], b.Coll.Root[k]
		if rank, size, ok := r.ranks.Rank(x.id, uint32(p.comm)); ok && rank < size {
			p.rank, p.size = rank, size
		}
	}
	return p
}

// begin begins a run.
func (r *replay) begin() {
	for len(r.queues) < len(r.channels) {
		r.queues = append(r.queues, queue{})
	}
	for c := range r.queues {
		q := &r.queues[c]
		*q = queue{early: q.early, earlyAt: math.Inf(-1), sent: q.sent[:0], waiting: -1}
	}
	r.meetings, r.free = make(map[meeting]*gathering), make(map[trace.CommID]bool)
	for _, x := range r.lanes {
		for c, u := range x.before[r.run] {
			q := &r.queues[c]
			q.early += u.count
			if u.last != 0 {
				q.earlyAt = max(q.earlyAt, u.last)
			}
		}
		x.ordinals = make(map[trace.CommID]int)
		x.instance, x.place, x.asleep = 0, 0, false
		x.now = float64(x.Ends[2*r.run] - r.starts(x)[r.run])
		x.entered = x.now
	}
	for range r.repeats.timesOf(r.repeats.Runs[r.run]) {
		r.bases = append(r.bases, math.Inf(1))
	}
}

// move moves a lane on until it waits or ends.
func (r *replay) move(first int) {
	for turn := []int{first}; len(turn) > 0; {
		i := turn[len(turn)-1]
		turn = turn[:len(turn)-1]
		x := r.lanes[i]
		x.asleep = false
		for n := r.repeats.Runs[r.run]; x.instance < n && r.stored <= mostStored; x.instance++ {
			g := r.first + x.instance
			k := x.Models[r.repeats.Which[g]]
			if x.place == 0 {
				x.pace = r.paceOf(x, g)
				r.keep(x, x.now)
				r.arrive(x)
			}
			m := x.models[k]
			for ; x.place < len(m); x.place++ {
				p := &m[x.place]
				if p.completes() {
					ready, ok, woken := r.ready(i, p)
					turn = append(turn, woken...)
					if !ok {
						x.asleep = true
						break
					}
					x.now = max(x.now, ready) + float64(p.gap*x.pace)
					r.keep(x, x.now)
					continue
				}
				x.now += float64(p.gap * x.pace)
				switch {
				case p.kind.Enters():
					x.entered = x.now
				case p.channel >= 0:
					q := &r.queues[p.channel]
					if q.sent = append(q.sent, x.now); q.waiting >= 0 {
						turn = append(turn, q.waiting)
						q.waiting = -1
					}
				}
			}
			if x.asleep {
				break
			}
			x.now += float64(float64(x.Kept[k].Gaps[len(m)]) / gapUnit * x.pace)
			x.place = 0
		}
		if !x.asleep {
			r.arrive(x)
		}
	}
}

// keep keeps a time of a lane.
func (r *replay) keep(x *lane, t float64) {
	if r.stored++; r.stored <= mostStored {
		x.at.Append(t)
	}
}

// arrive notes when a lane arrives at an instance, or at the end of the run, if that is a base.
func (r *replay) arrive(x *lane) {
	n := r.repeats.Runs[r.run]
	k := r.repeats.timesOf(n) - 1
	if x.instance < n {
		if x.instance%r.repeats.Stride != 0 {
			return
		}
		k = x.instance / r.repeats.Stride
	}
	base := &r.bases[len(r.bases)-r.repeats.timesOf(n)+k]
	*base = min(*base, x.now)
}

// paceOf returns by how much an instance lasts longer than its model, waits apart.
func (r *replay) paceOf(x *lane, g int) float64 {
	v := r.repeats.Which[g]
	whole := x.whole[x.Models[v]]
	if whole == 0 {
		return 1
	}
	row, laws := r.rows[g], r.repeats.Laws
	rank := float64(laws.Joint[row*len(r.lanes)+x.column])
	return x.Own[v].quantile((rank+laws.uniform(g, 0))/float64(r.count[v])) / whole
}

// ready returns when those that a completion waits for were ready; ok is false if that is not known yet. Who waited for the lane can go on.
func (r *replay) ready(i int, p *step) (t float64, ok bool, woken []int) {
	if p.channel >= 0 {
		q := &r.queues[p.channel]
		switch {
		case q.early > 0:
			q.early--
			return q.earlyAt, true, nil
		case len(q.sent) > 0:
			t, q.sent = q.sent[0], q.sent[1:]
			return t, true, nil
		case q.free:
			return math.Inf(-1), true, nil
		}
		q.waiting = i
		return 0, false, nil
	}
	if p.size == 0 || r.free[p.comm] {
		return math.Inf(-1), true, nil
	}
	x := r.lanes[i]
	at := meeting{p.comm, x.ordinals[p.comm]}
	m := r.meetings[at]
	if m == nil {
		m = &gathering{entered: make(map[uint32]float64), latest: math.Inf(-1)}
		r.meetings[at] = m
	}
	if _, here := m.entered[p.rank]; !here {
		m.entered[p.rank], m.latest = x.entered, max(m.latest, x.entered)
		woken, m.waiting = m.waiting, nil
	}
	t = math.Inf(-1)
	ok = true
	switch partners.WaitsFor(p.op, p.rank, p.root) {
	case partners.ForAll:
		t, ok = m.latest, len(m.entered) >= int(p.size)
	case partners.ForRoot:
		if p.root < p.size {
			t, ok = m.entered[p.root], has(m.entered, p.root)
		}
	case partners.ForLower:
		for rank := range p.rank {
			if ok = ok && has(m.entered, rank); !ok {
				break
			}
			t = max(t, m.entered[rank])
		}
	}
	if !ok {
		m.waiting = append(m.waiting, i)
		return 0, false, woken
	}
	x.ordinals[p.comm]++
	if m.gone++; m.gone >= int(p.size) {
		delete(r.meetings, at)
	}
	return t, true, woken
}

func has(m map[uint32]float64, k uint32) bool {
	_, ok := m[k]
	return ok
}

// giveUp lets a lane go on that waits for what never comes, as nobody does for the like any more in this run. It is false if none waits.
func (r *replay) giveUp() bool {
	first := -1
	for i, x := range r.lanes {
		if x.asleep && (first < 0 || x.now < r.lanes[first].now) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	x := r.lanes[first]
	p := &x.models[x.Models[r.repeats.Which[r.first+x.instance]]][x.place]
	var turn []int
	if p.channel >= 0 {
		q := &r.queues[p.channel]
		q.free, q.waiting = true, -1
		turn = []int{first}
	} else {
		r.free[p.comm] = true
		for at, m := range r.meetings {
			if at.comm == p.comm {
				turn = append(turn, m.waiting...)
				m.waiting = nil
			}
		}
		slices.Sort(turn)
	}
	for _, i := range turn {
		r.move(i)
	}
	return true
}

// end ends a run: what is left of its messages is under way.
func (r *replay) end() {
	for _, x := range r.lanes {
		r.keep(x, x.now)
	}
	for c := range r.queues {
		r.queues[c].early += len(r.queues[c].sent)
	}
}

// A timeline is when the events of a location come, run after run, in its own clock.
type timeline struct {
	replay   *replay
	lane     *lane
	run      int // the next is 1 more
	instance int // of the run, that is made next
	first    int // instance of the run
	base     int // position of the run in bases
	at       int // position in the times of the lane
	times    spill.Cursor[float64]
	end      int64
	last     int64 // time of the last event or begin

	model []step // of the instance that is made
	now   float64
	pace  float64
	next  int // position in the times of its next completion

	longer int64 // by how much the last instance lasts longer than replayed: its last completion waits
	shift  int64
}

// timeline returns that of the master of a location.
func (r *replay) timeline(l trace.LocationID) *timeline {
	master := r.repeats.Locations[l].Master
	x := r.lanes[slices.IndexFunc(r.lanes, func(x *lane) bool { return x.id == master })]
	return &timeline{replay: r, lane: x, times: x.at.Cursor(), run: -1}
}

// begin begins the next run.
func (t *timeline) begin() {
	if runs := t.replay.repeats.Runs; t.run >= 0 {
		t.first += runs[t.run]
		t.base += t.replay.repeats.timesOf(runs[t.run])
		t.at++
	}
	t.run++
	t.instance, t.longer, t.shift = 0, 0, 0
	t.last, t.end = t.lane.Ends[2*t.run], t.lane.Ends[2*t.run+1]
}

// interval goes on to the next instance of the run and returns when it begins and ends.
func (t *timeline) interval() (begin, end int64) {
	r := t.replay
	g := t.first + t.instance
	k := t.lane.Models[r.repeats.Which[g]]
	t.model, t.pace, t.now, t.next = t.lane.models[k], r.paceOf(t.lane, g), *t.times.Ptr(t.at), t.at+1
	t.at += 1 + t.lane.completions[k]
	begin, end = t.local(t.now), t.end
	if t.instance == 0 {
		begin = t.last
	}
	if t.instance++; t.instance < r.repeats.Runs[t.run] {
		end = max(t.local(*t.times.Ptr(t.at)), begin)
	} else {
		t.longer = t.end - t.local(*t.times.Ptr(t.at))
	}
	t.last = begin
	return begin, end
}

// event returns when a record of the instance comes; records are asked for in order.
func (t *timeline) event(i int) int64 {
	if i < len(t.model) {
		if p := &t.model[i]; p.completes() {
			t.now = *t.times.Ptr(t.next)
			if t.next++; t.next == t.at {
				t.shift = t.longer
			}
		} else {
			t.now += float64(p.gap * t.pace)
		}
	}
	t.last = max(t.last, min(t.local(t.now)+t.shift, t.end))
	return t.last
}

// local turns a time of the replay into one of the location, that lies in the run.
func (t *timeline) local(at float64) int64 {
	n := t.replay.repeats.timesOf(t.replay.repeats.Runs[t.run])
	bases, times := t.replay.bases[t.base:t.base+n], t.lane.Times[t.base:t.base+n]
	k, _ := slices.BinarySearch(bases, math.Nextafter(at, math.Inf(1)))
	k = max(k-1, 0)
	local := float64(at - bases[k])
	if k+1 < n && bases[k+1] > bases[k] {
		local *= float64(times[k+1]-times[k]) / (bases[k+1] - bases[k])
	}
	local += float64(times[k])
	switch begin := t.lane.Ends[2*t.run]; {
	case local >= float64(t.end):
		return t.end
	case local > float64(begin):
		return int64(local)
	default:
		return begin
	}
}
