// Package doubts finds signs that a measurement does not show the program as it runs undisturbed (DEFINITIONS 2.17).
package doubts

import (
	"context"
	"slices"

	"tracekit/document/doubt"
	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// Find returns the doubts; none if there are no signs. Errors are those of ctx.
func Find(ctx context.Context, t *trace.Trace, jobs int) (out []doubt.Sign, err error) {
	kinds := [...]func(*trace.Trace) *doubt.Sign{timeSlices, slowCollectives, slowData}
	found, err := engine.Map(ctx, jobs, len(kinds), func(_ context.Context, i int) (*doubt.Sign, error) { return kinds[i](t), nil })
	for _, d := range found {
		if d != nil {
			out = append(out, *d)
		}
	}
	return out, err
}

const looked = 1 << 14 // rows that are looked at, evenly over the run

// sample calls take with about so many rows of some tables, evenly.
func sample[T any](tables []*spill.Table[T], rows int, take func(*T)) {
	n := 0
	for _, x := range tables {
		n += x.Len()
	}
	step, next := max(1, n/rows), 0
	for _, x := range tables {
		for ; next < x.Len(); next += step {
			take(x.Ptr(next))
		}
		next -= x.Len()
	}
}

// How durations of calls lie where processes wait for a core: at multiples of the time slice of a scheduler, several of them.
const (
	leastCalls    = 50 // that last as long as a slice
	longest       = 64 // slices
	near          = 20 // a multiple is hit within this part of a slice, on both sides: one in ten hits by chance
	onMultiples   = 0.4
	multiples     = 4    // that are hit often
	oftenMultiple = 0.03 // of all hits
)

// slices of the Linux kernel, ns: at 250, 100 and 1000 interrupts a second.
var timeSlicesNs = [3]int64{4_000_000, 10_000_000, 1_000_000}

// timeSlices looks for calls of MPI that last multiples of a time slice.
func timeSlices(t *trace.Trace) *doubt.Sign {
	var counts [len(timeSlicesNs)]struct { // by slice: calls that may be a multiple, those that are, and these by how many slices they last
		all, hits int
		at        [longest + 1]int
	}
	sample(t.Calls, 4*looked, func(c *trace.Call) {
		if c.Open {
			return
		}
		ns := t.Defs.Clock.Nanoseconds(c.Leave - c.Enter)
		for i, slice := range timeSlicesNs {
			if ns < slice/2 || ns >= longest*slice {
				continue
			}
			n := &counts[i]
			if n.all++; (ns+slice/near)%slice < 2*slice/near {
				n.hits++
				n.at[(ns+slice/near)/slice]++
			}
		}
	})
	for i, slice := range timeSlicesNs {
		n, often := &counts[i], 0
		for _, calls := range n.at {
			if float64(calls) >= oftenMultiple*float64(n.hits) && calls > 0 {
				often++
			}
		}
		if share := float64(n.hits) / float64(max(1, n.all)); n.all >= leastCalls && share >= onMultiples && often >= multiples {
			return &doubt.Sign{Kind: doubt.TimeSlices, Instances: uint64(n.all), SliceNs: slice, Share: &share}
		}
	}
	return nil
}

const (
	tiny           = 1 << 10   // bytes a rank: such a collective takes as long as the latency of a network
	leastInstances = 20        // of an operation, messages of a pair of ranks
	fast           = 100_000   // ns: as one in ten is
	slow           = 1_000_000 // ns: as half of them are
)

// slowCollectives looks for small collectives that take long though all ranks are there, while others of the same operation do not.
func slowCollectives(t *trace.Trace) (found *doubt.Sign) {
	byOp := make(map[trace.CollectiveOp][]int64)
	sample([]*spill.Table[trace.Collective]{t.Collectives}, looked, func(c *trace.Collective) {
		if p := c.Op.Pattern(); c.Count < 2 || c.Count < c.Size || c.Mismatch || p != trace.PatternBarrier && p != trace.PatternAllToAll {
			return
		}
		first := t.Members.At(int(c.First))
		last, left := first.Begin, first.End
		for k := range c.Count {
			m := t.Members.Ptr(int(c.First + k))
			if m.Sent > tiny || m.Received > tiny || t.Defs.Locations[m.Location].Kind != trace.LocationCPUThread {
				return
			}
			last, left = max(last, m.Begin), max(left, m.End)
		}
		byOp[c.Op] = append(byOp[c.Op], t.Defs.Clock.Nanoseconds(left-last))
	})
	for op, ns := range byOp {
		slices.Sort(ns)
		d := doubt.Sign{Kind: doubt.SlowCollectives, Operation: "MPI_" + op.String(), Instances: uint64(len(ns))}
		d.FastNs, d.MedianNs = ns[len(ns)/10], ns[len(ns)/2]
		if len(ns) >= leastInstances && d.FastNs <= fast && d.MedianNs >= slow &&
			(found == nil || d.Instances > found.Instances || d.Instances == found.Instances && d.Operation < found.Operation) {
			found = &d
		}
	}
	return found
}
