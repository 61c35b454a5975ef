package merge

import (
	"context"
	"maps"

	"tracekit/engine"
	"tracekit/trace"
)

// doubts tells what runs backwards in time although that is hardly the fault of a clock, so that
// no clock should be moved for it:
//
//   - messages and collectives of processes that read the same clock, that of their host;
//   - messages of channels in which something does not fit: ends that nothing matches, or that
//     disagree about the size. Matches are made by counting, so there any one may be wrong.
//
// The nil doubts has none.
type doubts struct {
	trace    *trace.Trace
	at       timing // of the clocks that would be moved
	latency  int64
	clock    []uint64 // by location: whose clock it has; nil: no two the same
	channels map[channelKey]bool
	together map[uint32]bool // rows of collectives
}

// message reports whether a message that runs backwards says nothing about clocks.
func (d *doubts) message(from, to trace.LocationID, s *trace.Send, r *trace.Recv) bool {
	if d == nil || d.at(from, s.Time)+d.latency <= d.at(to, r.Time) {
		return false
	}
	return d.clock != nil && d.clock[from] == d.clock[to] ||
		d.channels[channelKey{s.Comm, d.trace.Rank[from], s.To(d.trace.Rank), s.Tag}]
}

// collective reports whether the collective in a row says nothing about clocks.
func (d *doubts) collective(row uint32) bool { return d != nil && d.together[row] }

// findTogether finds the collectives that run backwards although all members have one clock.
func (d *doubts) findTogether(ctx context.Context, jobs int) (err error) {
	t := d.trace
	start := func() map[uint32]bool { return make(map[uint32]bool) }
	d.together, err = engine.Fold(ctx, jobs, chunks(t.Collectives.Len()), start, func(found map[uint32]bool, k int) error {
		for i := k * chunk; i < min((k+1)*chunk, t.Collectives.Len()); i++ {
			if c := t.Collectives.Ptr(i); binding(c) && d.ofOneClock(c) && backwards(t, c, d.at, d.latency) > 0 {
				found[uint32(i)] = true
			}
		}
		return nil
	}, func(a, b map[uint32]bool) map[uint32]bool { maps.Copy(a, b); return a })
	return err
}

func (d *doubts) ofOneClock(c *trace.Collective) bool {
	first := d.clock[d.trace.Members.Ptr(int(c.First)).Location]
	for i := 1; i < int(c.Count); i++ {
		if d.clock[d.trace.Members.Ptr(int(c.First)+i).Location] != first {
			return false
		}
	}
	return true
}

// hostClocks returns whose clock each location has: that of its host, where the system tree
// tells it, else that of its process.
func hostClocks(d *trace.Defs) []uint64 {
	const process, alone = 1 << 32, 1 << 33
	clock := make([]uint64, len(d.Locations))
	for l := range clock {
		group := d.Process(trace.LocationID(l))
		if int(group) >= len(d.LocationGroups) {
			clock[l] = alone + uint64(l)
			continue
		}
		clock[l] = process + uint64(group)
		if node := d.Node(trace.LocationID(l)); node != trace.None {
			clock[l] = uint64(node)
		}
	}
	return clock
}
