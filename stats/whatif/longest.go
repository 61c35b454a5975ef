package whatif

import (
	"math"
	"sort"

	"tracekit/trace"
)

// A route is the longest path of a replay, and what the network adds to it.
type route struct {
	latencies   float64 // by how many ticks it is longer if each message takes a tick longer
	bytes       float64 // by how many if each byte does
	messages    uint64  // on it
	collectives uint64  // on it that the network makes longer
	rounded     [2]int  // those whose times are rounded if a message, and a byte, takes some ticks longer
}

// A tracer follows the longest path of a replay back from its end.
//
// A location is followed back to the latest row that has waited, and from there the call that it waited for: so what the
// network adds to the path is the sum over the flights by which it changes location, and over the own times between.
type tracer struct {
	*replay
	plan *plan
	out  route
}

// lastEnd returns the location that ends last, of those with these ends, and its end, at least the begin of the run.
func (m *Model) lastEnd(ends func(trace.LocationID) int64) (at trace.LocationID, end int64) {
	at, end = trace.None, m.first
	for l := range m.locations {
		if m.t.Span[l].Events == 0 || m.aside[l] {
			continue
		}
		if last := ends(trace.LocationID(l)); last > end {
			at, end = trace.LocationID(l), last
		}
	}
	return at, end
}

// longest returns the longest path of a replay that has kept waits and transfers.
func (r *replay) longest(p *plan) route {
	x := &tracer{replay: r, plan: p}
	l, _ := r.lastEnd(r.end)
	if l == trace.None {
		return x.out
	}
	if at := r.master[l]; at != trace.None {
		l = at
	}
	for call := uint32(r.t.Calls[l].Len()); l != trace.None; {
		l, call = x.back(l, call)
	}
	return x.out
}

// back follows a location back from the Enter of a call, or from its end, and returns the call that it waited for last; None
// if there is none.
func (x *tracer) back(l trace.LocationID, call uint32) (trace.LocationID, uint32) {
	loc := &x.in.locations[l]
	i := sort.Search(loc.rows.Len(), func(i int) bool {
		r := loc.rows.Ptr(i)
		return r.call > call || r.call == call && !r.before
	})
	for i--; i >= 0; i-- {
		r := loc.rows.At(i)
		if !r.before {
			x.transfer(x.in.transfers[l].At(int(r.call)))
		}
		wait := x.waits[l].At(i)
		if wait == 0 {
			continue
		}
		met := x.in.clocks[l].At(int(r.call))
		if !r.before {
			met += wait
		}
		return x.cause(loc, r, loc.rowAfter(i), met)
	}
	return trace.None, 0
}

// transfer adds what the network makes an own time longer.
func (x *tracer) transfer(flight uint32) {
	if flight > 0 {
		x.add(&x.network.flights[flight])
	}
}

// lag adds what the network makes the lag of a flight longer. Behind the flights of the network are those of calls that overlap,
// whose time on it is in their lags.
func (x *tracer) lag(flight uint32) {
	n := uint32(len(x.network.flights))
	if f := &x.network.flights[flight%n]; flight >= n || !f.inOwn() {
		x.add(f)
	}
}

func (x *tracer) add(f *flight) {
	w := x.plan.wires
	latencies := w.latencies(x.network, f)
	if latencies == 0 {
		return
	}
	x.out.latencies += latencies
	x.out.bytes += latencies * float64(f.bytes)
	if f.kind == collective {
		x.out.collectives++
	} else {
		x.out.messages++
	}
	if latencies != math.Trunc(latencies) {
		x.out.rounded[0]++
	}
	if f.bytes > 0 {
		x.out.rounded[1]++
	}
}

// cause returns the call for which a row waits until met.
func (x *tracer) cause(loc *location, r, after row, met int64) (l trace.LocationID, call uint32) {
	arrives := func(member uint32) (trace.LocationID, uint32, int64, bool) {
		m, ok := x.arriving(member)
		if !ok {
			return trace.None, 0, 0, false
		}
		return m.Location, m.Call, x.schedule.At(m.Location, m.Call) + m.Head, true
	}
	l, call, _, flight := x.latest(loc, r, after, met, x.in.flights, x.schedule.At, arrives)
	x.lag(flight)
	return l, call
}

// latest returns the call that a row needs latest, when that need is met, and its flight. The times of entering calls are given, and by
// which calls members arrive, and when. What is met later than the row waits is not looked for.
func (m *Model) latest(loc *location, r, after row, met int64, flights []flight, enter func(trace.LocationID, uint32) int64,
	arrive func(member uint32) (trace.LocationID, uint32, int64, bool)) (l trace.LocationID, call uint32, latest int64, flight uint32) {
	l, latest = trace.None, math.MinInt64
	for k := r.needs; k < after.needs && latest < met; k++ {
		n := loc.needs.Ptr(int(k))
		if at := enter(n.location, n.call) + flights[n.flight].lag; at > latest {
			l, call, latest, flight = n.location, n.call, at, n.flight
		}
	}
	if !r.before {
		for k := r.parts; k < after.parts && latest < met; k++ {
			p := loc.parts.Ptr(int(k))
			from, begin, at := m.lastOf(p, enter, arrive)
			if at += flights[p.flight].lag - p.head; from != trace.None && at > latest {
				l, call, latest, flight = from, begin, at, p.flight
			}
		}
	}
	return l, call, latest, flight
}

// lastOf returns the call by which the last one arrives for whom a part of a collective waits, and when.
func (m *Model) lastOf(p *part, enter func(trace.LocationID, uint32) int64,
	arrive func(member uint32) (trace.LocationID, uint32, int64, bool)) (l trace.LocationID, call uint32, at int64) {
	l, at = trace.None, math.MinInt64
	see := func(other trace.LocationID, c uint32, t int64) {
		if t > at {
			l, call, at = other, c, t
		}
	}
	if k := int(p.instance) - m.t.Collectives.Len(); k >= 0 { // nothing but a call on each location says who takes part
		for other := range m.locations {
			if i := startup(m.t.Calls[other], startups[k]); i >= 0 {
				see(trace.LocationID(other), uint32(i), enter(trace.LocationID(other), uint32(i)))
			}
		}
		return l, call, at
	}
	c := m.t.Collectives.Ptr(int(p.instance))
	end := c.First + c.Count
	if p.does&awaits == 0 {
		if end = c.First; p.does&follows != 0 {
			end = p.member
		}
	}
	for k := c.First; k < end; k++ {
		if other, c, t, ok := arrive(k); ok {
			see(other, c, t)
		}
	}
	return l, call, at
}
