package formulae

import (
	"context"

	"tracekit/trace"
)

// A shift is added to the times of a location from an event on.
type shift struct {
	seq uint64
	by  int64
}

// A channel is what messages go through in order.
type channel struct {
	comm, from, to, tag uint32
}

// An instance is a collective operation: the ordinal-th on its communicator.
type instance struct {
	comm    trace.CommID
	ordinal uint64
}

// A meeting is where the members of an instance wait for each other.
type meeting struct {
	arrived uint32
	latest  int64 // begin of the last member
	waiting []int // locations
}

// A replay rebuilds all locations together and makes their times consistent: a message is
// received after it was sent, no member leaves a collective before the last one has begun.
// Where that does not hold, the clock of the location that is too early is put forward for
// the rest of the run. What can never happen (a receive without a send) does not wait.
type replay struct {
	locations []replayed
	sent      map[channel][]int64
	wanted    map[channel]int // location that waits
	meetings  map[instance]*meeting
	ready     []int
	frame     *frame
	inFlight  int // messages in sent
	shifted   int // shifts of all locations
}

// Bounds of memory: messages that are on their way, and shifts. What is beyond is not
// waited for; a trace that comes near has some 10^8 events.
const (
	maxInFlight = 1 << 24
	maxShifts   = 1 << 26
)

// A replayed is a location during the replay.
type replayed struct {
	*rebuilder
	seq      uint64
	begun    int64 // time of the last begin of a collective
	ordinals map[trace.CommID]uint64
	blocked  *happening // what waits for others
	shifts   []shift
	end      bool
}

// consistent returns the shifts of each location, and the number of events that could not
// wait for their partner.
func consistent(ctx context.Context, f *frame, locations []*rebuilder) (shifts [][]shift, stuck uint64, err error) {
	r := &replay{frame: f, sent: make(map[channel][]int64), wanted: make(map[channel]int), meetings: make(map[instance]*meeting)}
	for i, l := range locations {
		r.locations = append(r.locations, replayed{rebuilder: l, ordinals: make(map[trace.CommID]uint64)})
		r.ready = append(r.ready, i)
	}
	for {
		for len(r.ready) > 0 {
			l := r.ready[len(r.ready)-1]
			r.ready = r.ready[:len(r.ready)-1]
			if err := r.run(ctx, l); err != nil {
				return nil, 0, err
			}
		}
		if !r.release() {
			break
		}
		stuck++
	}
	for i := range r.locations {
		shifts = append(shifts, r.locations[i].shifts)
	}
	return shifts, stuck, nil
}

// run moves a location on until it waits or ends.
func (r *replay) run(ctx context.Context, i int) error {
	l := &r.locations[i]
	if h := l.blocked; h != nil {
		l.blocked = nil
		if !r.allow(i, h) {
			return nil
		}
	}
	for {
		if l.seq%batchEvents == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		h, ok := l.next()
		if !ok {
			l.end = true
			return nil
		}
		if !r.allow(i, &h) {
			return nil
		}
	}
}

// allow lets an event take place, or notes that the location waits.
func (r *replay) allow(i int, h *happening) bool {
	l := &r.locations[i]
	earliest, ok := r.earliest(i, h)
	if !ok {
		kept := *h
		l.blocked = &kept
		return false
	}
	r.happen(l, h, earliest)
	return true
}

// happen puts the clock forward if an event is too early, and counts it.
func (r *replay) happen(l *replayed, h *happening, earliest int64) {
	if d := earliest - l.now; d > 0 && r.shifted < maxShifts {
		r.shifted++
		l.now += d
		total := d
		if n := len(l.shifts); n > 0 {
			total += l.shifts[n-1].by
		}
		l.shifts = append(l.shifts, shift{l.seq, total})
	}
	l.seq++
	switch h.kind {
	case trace.KindMpiSend, trace.KindMpiIsend:
		if c, ok := r.channel(l.location, h, true); ok && r.inFlight < maxInFlight {
			r.inFlight++
			r.sent[c] = append(r.sent[c], l.now)
			if w, ok := r.wanted[c]; ok {
				delete(r.wanted, c)
				r.ready = append(r.ready, w)
			}
		}
	case trace.KindCollectiveBegin:
		l.begun = l.now
	}
}

// earliest returns the time before which an event cannot be; ok is false if that is not
// known yet.
func (r *replay) earliest(i int, h *happening) (t int64, ok bool) {
	switch h.kind {
	case trace.KindMpiRecv, trace.KindMpiIrecv:
		return r.receive(i, h)
	case trace.KindCollectiveEnd:
		return r.meet(i, h)
	}
	return h.time, true
}

// receive takes the next message of a channel, or notes that the location waits for it.
func (r *replay) receive(i int, h *happening) (int64, bool) {
	c, ok := r.channel(r.locations[i].location, h, false)
	if !ok {
		return h.time, true
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
	return q[0] + 1, true
}

// meet lets a member of a collective arrive, or find that all have.
func (r *replay) meet(i int, h *happening) (int64, bool) {
	l := &r.locations[i]
	_, size, ok := r.frame.self(l.location, uint32(h.coll.Comm))
	if !ok {
		return h.time, true
	}
	k := instance{h.coll.Comm, l.ordinals[h.coll.Comm]}
	m := r.meetings[k]
	if m == nil {
		m = &meeting{latest: l.begun}
		r.meetings[k] = m
	}
	if !contains(m.waiting, i) {
		m.arrived++
		m.latest = max(m.latest, l.begun)
		if m.arrived < size {
			m.waiting = append(m.waiting, i)
			return 0, false
		}
		r.ready = append(r.ready, m.waiting...)
	} else if m.arrived < size {
		return 0, false
	}
	l.ordinals[h.coll.Comm]++
	if m.arrived++; m.arrived == 2*size { // all have left
		delete(r.meetings, k)
	}
	return m.latest + 1, true
}

func contains(list []int, v int) bool {
	for _, x := range list {
		if x == v {
			return true
		}
	}
	return false
}

// channel returns the channel of a message event.
func (r *replay) channel(l trace.LocationID, h *happening, sends bool) (channel, bool) {
	self, size, ok := r.frame.self(l, uint32(h.p2p.Comm))
	if !ok || h.p2p.Peer >= size {
		return channel{}, false
	}
	c := channel{uint32(h.p2p.Comm), self, h.p2p.Peer, h.p2p.Tag}
	if !sends {
		c.from, c.to = c.to, c.from
	}
	return c, true
}

// release lets the earliest of the waiting locations go on although what it waits for
// never came; false if none waits.
func (r *replay) release() bool {
	first := -1
	for i := range r.locations {
		l := &r.locations[i]
		if l.blocked != nil && (first < 0 || l.now < r.locations[first].now) {
			first = i
		}
	}
	if first < 0 {
		return false
	}
	l := &r.locations[first]
	h := l.blocked
	l.blocked = nil
	if h.kind == trace.KindCollectiveEnd {
		l.ordinals[h.coll.Comm]++
	} else if c, ok := r.channel(l.location, h, false); ok {
		delete(r.wanted, c)
	}
	r.happen(l, h, h.time)
	r.ready = append(r.ready, first)
	return true
}
