package measurement

import (
	"context"
	"math"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A Load is the time in ticks that measuring takes on a location. The zero value is none.
//
//	Before: by call, what passes before it is entered: messages leave, and ranks arrive at collectives, so much later
//	Own: by call, what it takes longer
//	After: what passes after the last call
type Load struct {
	Before, Own *spill.Table[int64]
	After       int64
}

// Release gives the memory back.
func (x *Load) Release() {
	if x.Before != nil {
		x.Before.Release()
		x.Own.Release()
	}
}

// Loads are those of all locations.
type Loads []Load

// Release gives the memory back.
func (x Loads) Release() {
	for l := range x {
		x[l].Release()
	}
}

// NewLoad returns a load of a location that has calls, without any time.
func NewLoad(t *trace.Trace, l trace.LocationID) Load {
	n := t.Calls[l].Len()
	return Load{Before: spill.NewZeros[int64](t.Store, n), Own: spill.NewZeros[int64](t.Store, n)}
}

// A Clock turns costs into ticks, such that those of many together are not rounded away.
type Clock struct {
	perNs float64
	ns    float64
	given int64
}

// NewClock returns a clock for a trace.
func NewClock(t *trace.Trace) Clock { return Clock{perNs: float64(t.Defs.Clock.Resolution) / 1e9} }

// Ticks returns the ticks of a cost, with what was left of those before.
func (c *Clock) Ticks(ns float64) int64 {
	c.ns += ns
	total := int64(math.Round(c.ns * c.perNs))
	ticks := total - c.given
	c.given = total
	return ticks
}

// Make returns what records, and messages that are not sampled, cost each location of a trace. Threads that neither send nor receive move
// with their process, and have none. A record costs its time before it is made. Of the records of a call
// some cost before the call is entered: those until its message leaves, its receive is posted or its collective begins. So do header and
// layer of a message.
func Make(ctx context.Context, t *trace.Trace, c *Costs, jobs int) (Loads, error) {
	loads := make(Loads, len(t.Calls))
	var with []trace.LocationID
	for l := range loads {
		if t.Calls[l].Len() > 0 {
			loads[l] = NewLoad(t, trace.LocationID(l))
			with = append(with, trace.LocationID(l))
			if ns := c.Header + c.Layer; ns > 0 {
				c.messages(t, trace.LocationID(l), &loads[l], ns)
			}
		}
	}
	if !c.Records() || with == nil {
		return loads, t.Store.Err()
	}
	_, err := engine.Each(ctx, t.Source, engine.Options{Jobs: jobs, Only: with},
		func(_ context.Context, l trace.LocationID, batches engine.Batches) (struct{}, error) {
			r := recorder{costs: c, calls: t.Calls[l], load: &loads[l], clock: NewClock(t)}
			for b, err := range batches {
				if err != nil {
					return struct{}{}, err
				}
				r.batch(b)
			}
			r.end()
			return struct{}{}, nil
		})
	if err == nil {
		err = t.Store.Err()
	}
	return loads, err
}

// messages adds what each message costs the call that sends it.
func (c *Costs) messages(t *trace.Trace, l trace.LocationID, load *Load, ns float64) {
	clock := NewClock(t)
	for _, rows := range t.Sends[l].Rows {
		for i := range rows {
			if s := &rows[i]; s.Call != trace.None && c.Visible(s.Bytes) {
				*load.Before.Ptr(int(s.Call)) += clock.Ticks(ns)
			}
		}
	}
}

// Visible reports whether costs of a message of a size are to be seen.
func (c *Costs) Visible(bytes uint64) bool { return c.Limit <= 0 || bytes <= uint64(c.Limit) }

// A recorder goes through the records of a location.
type recorder struct {
	costs *Costs
	calls *spill.Table[trace.Call]
	load  *Load
	clock Clock

	records uint64
	next    int   // call
	open    []int // calls that are entered, the innermost last
	depths  []int // of the stack when they were
	depth   int
	gap     int64 // ticks since the last call was entered or left, outside of calls
	inside  int64 // ticks in the innermost call
}

func (r *recorder) batch(b *trace.Batch) {
	for seq, row := range b.Events {
		ns := r.costs.record()
		if r.records++; r.records == 1 {
			ns = 0 // the run begins with it
		}
		if r.costs.Buffer > 0 && r.records%r.costs.perBuffer() == 0 {
			ns += r.costs.Flush
		}
		ticks := r.clock.Ticks(ns)
		departs := false
		switch row.Table {
		case trace.TableFlow:
			r.flow(b.Flow.Kind[row.First].Enters(), seq, ticks)
			continue
		case trace.TableP2P:
			kind := b.P2P.Kind[row.First]
			departs = kind == trace.KindMpiSend || kind.StartsRequest()
		case trace.TableColl:
			kind := b.Coll.Kind[row.First]
			departs = kind == trace.KindCollectiveBegin || kind.StartsRequest()
		}
		r.spend(ticks)
		if n := len(r.open); departs && n > 0 {
			*r.load.Before.Ptr(r.open[n-1]) += r.inside
			r.inside = 0
		}
	}
}

// spend notes time in the innermost call, or outside of any.
func (r *recorder) spend(ticks int64) {
	if len(r.open) > 0 {
		r.inside += ticks
	} else {
		r.gap += ticks
	}
}

func (r *recorder) flow(enters bool, seq uint64, ticks int64) {
	r.spend(ticks)
	if enters {
		r.depth++
		if r.next < r.calls.Len() && r.calls.Ptr(r.next).Seq() == seq {
			*r.load.Before.Ptr(r.next) += r.gap
			r.gap = 0
			if n := len(r.open); n > 0 {
				*r.load.Own.Ptr(r.open[n-1]) += r.inside
			}
			r.inside = 0
			r.open, r.depths = append(r.open, r.next), append(r.depths, r.depth)
			r.next++
		}
		return
	}
	if n := len(r.open); n > 0 && r.depth <= r.depths[n-1] {
		*r.load.Own.Ptr(r.open[n-1]) += r.inside
		r.open, r.depths, r.inside = r.open[:n-1], r.depths[:n-1], 0
	}
	r.depth = max(0, r.depth-1)
}

// end ends a location.
func (r *recorder) end() {
	if n := len(r.open); n > 0 {
		*r.load.Own.Ptr(r.open[n-1]) += r.inside
	}
	r.load.After += r.gap
}
