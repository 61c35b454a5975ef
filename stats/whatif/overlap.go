package whatif

import (
	"context"
	"errors"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// An overlapped location is one of which some blocking calls are made non-blocking: what they
// need is needed by later calls.
type overlapped struct {
	*plan
	l    trace.LocationID
	out  location
	recv []need // of receives that no call has needed yet
	send []sent
}

// sent is what a send needs, with its call path.
type sent struct {
	path trace.PathID
	need need
}

// moves reports whether a call is one that is made non-blocking.
func (p *plan) moves(l trace.LocationID, call uint32) bool {
	if p.overlap == nil {
		return false
	}
	c := p.t.Calls[l].Ptr(int(call))
	return (c.Class == trace.ClassSend || c.Class == trace.ClassRecv) && p.overlap[p.slot(c.Path)]
}

// rearrange makes calls overlap and lets receives take messages as they come, as the plan wants.
func (p *plan) rearrange(ctx context.Context, in *input) error {
	if p.overlap == nil && p.order == nil {
		return nil
	}
	if p.overlap != nil {
		moved, err := p.overlapAll(ctx, in)
		if err != nil {
			return err
		}
		if moved == 0 {
			return errors.New("no blocking send or receive at this place waits for another rank, so there is nothing to " +
				"overlap (collective " +
				"operations and calls that complete requests cannot be judged)")
		}
	}
	if p.order != nil {
		found := 0
		in.series = make([][]series, len(in.locations))
		for l := range in.locations {
			in.series[l] = p.seriesOf(trace.LocationID(l), &in.locations[l])
			found += len(in.series[l])
		}
		if found == 0 {
			return errors.New("no receives at this place directly follow each other with one message each, so their order " +
				"cannot change (a call " +
				"that completes several takes them as they come)")
		}
	}
	return nil
}

// overlapAll makes calls of all locations overlap, and returns their number.
func (p *plan) overlapAll(ctx context.Context, in *input) (moved int, err error) {
	in.flights = slices.Concat(in.flights, in.flights)
	for i := range p.flights {
		f := &in.flights[len(p.flights)+i]
		f.lag += f.wire - p.network.inLag(f)
	}
	in.locations = slices.Clone(in.locations)
	counts, err := engine.Map(ctx, p.jobs, len(in.locations), func(_ context.Context, l int) (n int, err error) {
		in.locations[l], n = p.overlapOf(trace.LocationID(l))
		return n, nil
	})
	for l, n := range counts {
		if moved += n; n > 0 {
			in.own = append(in.own, in.locations[l])
		}
	}
	return moved, err
}

// overlapOf makes calls of a location overlap.
func (p *plan) overlapOf(l trace.LocationID) (location, int) {
	x, old, moved := &overlapped{plan: p, l: l}, &p.locations[l], 0
	for _, rows := range old.rows.Rows {
		for i := range rows {
			if p.moves(l, rows[i].call) {
				moved++
			}
		}
	}
	if moved == 0 {
		return *old, 0
	}
	x.out = location{rows: spill.NewTable[row](p.t.Store), needs: spill.NewTable[need](p.t.Store), parts: old.parts, clocks: old.clocks,
		end: old.end}
	calls := p.t.Calls[l]
	next := 0 // row of old
	for i := range calls.Len() {
		sends := p.t.Sends[l].Len()
		if i+1 < calls.Len() {
			sends = int(calls.Ptr(i + 1).FirstSend)
		}
		c, r, after := calls.Ptr(i), row{call: uint32(i)}, row{}
		if r.parts = uint32(old.parts.Len()); next < old.rows.Len() {
			r.parts = old.rows.Ptr(next).parts
		}
		is := next < old.rows.Len() && old.rows.Ptr(next).call == uint32(i)
		if is {
			r, after = old.rows.At(next), old.rowAfter(next)
			next++
		}
		x.call(c, r, after, is, int(c.FirstSend) < sends)
	}
	return x.out, moved
}

// call adds the row of a call and, before it, one of what calls before it need.
func (x *overlapped) call(c *trace.Call, r, after row, is, sends bool) {
	before, old := row{call: r.call, needs: uint32(x.out.needs.Len()), parts: r.parts, before: true}, &x.locations[x.l]
	collective := is && after.parts > r.parts
	if sends || collective {
		x.out.needs.AppendRows(x.recv)
		x.recv = x.recv[:0]
	}
	x.send = slices.DeleteFunc(x.send, func(s sent) bool {
		due := collective || s.path == c.Path
		if due {
			x.out.needs.Append(s.need)
		}
		return due
	})
	if x.out.needs.Len() > int(before.needs) {
		x.out.rows.Append(before)
	}
	if !is {
		return
	}
	moves, first := x.moves(x.l, r.call), uint32(x.out.needs.Len())
	for k := r.needs; k < after.needs; k++ {
		n := old.needs.At(int(k))
		later := n
		later.flight += uint32(len(x.flights))
		switch {
		case !moves:
			x.out.needs.Append(n)
		case c.Class == trace.ClassRecv:
			x.recv = append(x.recv, later)
		default:
			x.send = append(x.send, sent{c.Path, later})
		}
	}
	r.needs = first
	x.out.rows.Append(r)
}

// A series are calls of a location, each in a row, that follow each other directly and receive
// one message each.
type series struct{ first, rows int }

// seriesOf finds the series of a location.
func (p *plan) seriesOf(l trace.LocationID, x *location) (out []series) {
	var s series
	last := uint32(0)
	end := func() {
		if s.rows > 1 {
			out = append(out, s)
		}
		s.rows = 0
	}
	for i := range x.rows.Len() {
		r, after := x.rows.At(i), x.rowAfter(i)
		c := p.t.Calls[l].Ptr(int(r.call))
		takesOne := p.order[p.slot(c.Path)] && !r.before && after.needs == r.needs+1 && after.parts == r.parts
		if takesOne {
			kind := p.flights[x.needs.Ptr(int(r.needs)).flight%uint32(len(p.flights))].kind
			takesOne = kind == sendToRecv || kind == sendToRecvBoth || kind == sendToWait
		}
		if !takesOne || s.rows > 0 && r.call != last+1 {
			end()
		}
		if takesOne {
			if s.rows == 0 {
				s.first = i
			}
			s.rows++
		}
		last = r.call
	}
	end()
	return out
}

// inSeries reports whether a row takes messages as they come.
func (r *replay) inSeries(l trace.LocationID, row int) bool {
	k := r.state[l].series
	return r.in.series != nil && k < len(r.in.series[l]) && row >= r.in.series[l][k].first
}

// taken returns when the message is there that the row takes; ok is false, and l waits, while
// one of the series is not sent.
func (r *replay) taken(l trace.LocationID, row int) (at int64, ok bool) {
	s, x := &r.state[l], &r.in.locations[l]
	now := r.in.series[l][s.series]
	if row == now.first {
		s.times = s.times[:0]
		for i := range now.rows {
			t, ok := r.met(l, x.needs.Ptr(int(x.rows.Ptr(now.first+i).needs)))
			if !ok {
				return 0, false
			}
			s.times = append(s.times, t)
		}
		slices.Sort(s.times)
	}
	k := row - now.first
	if k == now.rows-1 {
		s.series++
	}
	return s.times[k], true
}
