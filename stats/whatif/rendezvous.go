package whatif

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync/atomic"

	"tracekit/trace"
)

// An Undecided is what a run does not show: whether sends from some size on wait for their
// receivers. They do not in the model itself, they do in Other.
//
// An eager send is over with its overhead o, one that waits at max(S+o, P)+w: S is when it is begun, P when its receive is posted, w the
// time on the network. A call that completes it and is entered later than both is left at the same time either way. One that ends before
// max(S, P)+w shows that sends of its size do not wait; one that waits for a receiver, that they do. If no call of a size shows either,
// both models give every time of the run back. On a slower network, or with ranks that come later, they differ.
type Undecided struct {
	Bytes uint64 // from here on
	Other *Model

	// Likely says that the sends do seem to wait: then calls take hardly longer than they need
	// after what they wait for, which without these waits they would do for no reason.
	Likely bool
}

// likely is how much of the time that calls take beyond what they need must be explained by waits
// for receivers if those are to be likely.
const likely = 0.75

// Undecided returns which sends may or may not wait for their receivers, nil if the run shows it
// for all. The other model is the caller's to release.
func (m *Model) Undecided(ctx context.Context) (*Undecided, error) {
	n := m.network.clone()
	if n.hull == nil {
		return nil, nil
	}
	n.lateReceivers = true // look all of them up
	seen, err := m.observeAll(ctx, n, m.waits, math.MaxInt64, true)
	if err != nil {
		return nil, err
	}
	size, ok := n.undecided(seen)
	if !ok {
		return nil, nil
	}
	n.lateReceivers, n.synchronous = m.network.lateReceivers, size
	n.settle()
	other := *m
	other.network, other.locations, other.finishes = n, make([]location, len(m.locations)), new(atomic.Bool)
	if err := other.buildAll(ctx, m.waits); err != nil {
		other.releaseLocations()
		return nil, err
	}
	other.findMasters()
	with, without := other.unexplained(m)
	return &Undecided{Bytes: size, Other: &other, Likely: without > 0 && with <= (1-likely)*without}, nil
}

// undecided returns the smallest size of sends that show neither that they wait nor that they do
// not, above all sizes that do not.
func (n *network) undecided(o *observations) (size uint64, ok bool) {
	eager, open := uint64(0), make(map[uint64]bool)
	for _, f := range n.flights {
		if f.kind != postToSend && f.kind != postToSendWait || f.size >= n.synchronous {
			continue
		}
		passed := f.passed
		if more := o.flights[f.flightKey]; more != nil {
			passed += more.passed
		}
		if passed > 0 {
			eager = max(eager, f.size)
		}
		open[f.size] = true
	}
	maps.DeleteFunc(open, func(size uint64, _ bool) bool { return size <= eager })
	if len(open) == 0 {
		return 0, false
	}
	return slices.Min(slices.Collect(maps.Keys(open))), true
}

// unexplained sums what calls that wait for receivers in this model, in requests that they
// complete, take longer than such calls need: here, and in a model without those waits.
func (m *Model) unexplained(o *Model) (with, without float64) {
	for l := range m.locations {
		x, other := &m.locations[l], o.ownTimes(trace.LocationID(l), 0)
		calls := m.t.Calls[l]
		for i := range x.rows.Len() {
			r, after := x.rows.At(i), x.rowAfter(i)
			waits := false
			for k := r.needs; k < after.needs && !waits; k++ {
				waits = m.network.flights[x.needs.Ptr(int(k)).flight].kind == postToSendWait
			}
			if !waits {
				continue
			}
			c := calls.Ptr(int(r.call))
			with += float64(max(0, c.Leave-c.Enter-r.wait-m.network.floor))
			without += float64(max(0, other.of(r.call)-o.network.floor))
		}
	}
	return with, without
}

func (n *network) clone() *network {
	c := *n
	c.flights = slices.Clone(n.flights)
	return &c
}
