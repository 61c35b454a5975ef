package delays

import (
	"context"
	"slices"
	"sort"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// meetings finds the last collective in which two locations have synchronised.
type meetings struct {
	t     *trace.Trace
	binds *spill.Table[bool]           // by collective: it lets nobody go before all are there
	comms map[trace.CommID][]attendant // by location: who takes part
	init  []uint32                     // by location: the call of MPI_Init; None: not recorded
}

// An attendant is a location with its place among the members of a communicator's instances.
type attendant struct {
	location trace.LocationID
	place    uint32
}

func newMeetings(ctx context.Context, t *trace.Trace, jobs int) (*meetings, error) {
	m := &meetings{t: t, binds: spill.NewZeros[bool](t.Store, t.Collectives.Len()), comms: make(map[trace.CommID][]attendant)}
	for _, calls := range t.Calls {
		i := trace.FindStartup(calls, trace.ClassInit)
		m.init = append(m.init, uint32(i)) // -1 is None
	}
	n := t.Collectives.Len()
	_, err := engine.Map(ctx, jobs, (n+waits.InstanceChunk-1)/waits.InstanceChunk, func(_ context.Context, k int) (struct{}, error) {
		for i := k * waits.InstanceChunk; i < min((k+1)*waits.InstanceChunk, n); i++ {
			m.binds.Set(i, m.synchronises(t.Collectives.Ptr(i)))
		}
		return struct{}{}, nil
	})
	for _, rows := range t.Collectives.Rows {
		for i := range rows {
			if _, known := m.comms[rows[i].Comm]; !known && rows[i].Count == rows[i].Size {
				m.comms[rows[i].Comm] = m.attendants(&rows[i])
			}
		}
	}
	return m, err
}

// synchronises reports whether nobody ends a collective before the last has begun it.
func (m *meetings) synchronises(c *trace.Collective) bool {
	switch c.Op.Pattern() {
	case trace.PatternAllToAll, trace.PatternBarrier, trace.PatternFence:
	default:
		return false
	}
	for k := c.First; k < c.First+c.Count; k++ {
		if x := m.t.Members.Ptr(int(k)); x.Call == trace.None || x.Call != x.Done {
			return false
		}
	}
	return c.Count > 1 && m.t.Together(c)
}

func (m *meetings) attendants(c *trace.Collective) []attendant {
	out := make([]attendant, c.Count)
	for k := range out {
		out[k] = attendant{m.t.Members.Ptr(int(c.First) + k).Location, uint32(k)}
	}
	slices.SortFunc(out, func(a, b attendant) int { return int(a.location) - int(b.location) })
	return out
}

// member returns the call with which a location takes part in an instance.
func (m *meetings) member(c *trace.Collective, l trace.LocationID) (call uint32, ok bool) {
	in := m.comms[c.Comm]
	if k := sort.Search(len(in), func(i int) bool {
		return in[i].location >= l
	}); k < len(in) && in[k].location == l && in[k].place < c.Count {
		if x := m.t.Members.Ptr(int(c.First + in[k].place)); x.Location == l {
			return x.Call, true
		}
	}
	if c.Count == c.Size && in != nil {
		return 0, false
	}
	for k := c.First; k < c.First+c.Count; k++ {
		if x := m.t.Members.Ptr(int(k)); x.Location == l {
			return x.Call, true
		}
	}
	return 0, false
}

// last returns the later of a known opening of a wait and the last collective before it in
// which both took part. Next is where it was looked for last for the location: waits come in order of their
// ends, those of a location mostly in order of its calls.
func (m *meetings) last(w *delayedWait, next *int) opening {
	found := w.opened
	if a, b := m.init[w.at.Location], m.init[w.cause.Location]; a != trace.None && b != trace.None && a < w.at.Call && b < w.cause.Call {
		found = found.later(opening{a, b})
	}
	parts := m.t.Parts[w.at.Location]
	*next = m.before(parts, *next, w.at.Call)
	for k := *next - 1; k >= 0; k-- {
		p := parts.Ptr(k)
		call := m.t.Members.Ptr(int(p.Member)).Call
		if found.at != trace.None && call <= found.at {
			break
		}
		if !m.binds.At(int(p.Collective)) {
			continue
		}
		if other, ok := m.member(m.t.Collectives.Ptr(int(p.Collective)), w.cause.Location); ok && other < w.cause.Call {
			return opening{call, other}
		}
	}
	return found
}

// near is how far parts are looked through one by one.
const near = 4

// before returns how many parts a location begins before a call; guess is about where they end.
func (m *meetings) before(parts *spill.Table[trace.Part], guess int, call uint32) int {
	begins := func(k int) bool { return m.t.Members.Ptr(int(parts.Ptr(k).Member)).Call < call }
	if guess == 0 || begins(guess-1) {
		for k := guess; k < guess+near; k++ {
			if k == parts.Len() || !begins(k) {
				return k
			}
		}
	}
	return sort.Search(parts.Len(), func(k int) bool { return !begins(k) })
}
