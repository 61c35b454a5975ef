package whatif

import (
	"context"
	"math"
	"slices"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/stats/causal"
	"tracekit/trace"
)

// findRoles finds who waits for whom in each collective, by the rules of wait states
// (DEFINITIONS 2.2). MPI_Init and MPI_Finalize make everyone wait for everyone. It returns how
// long the parts take.
func (m *Model) findRoles(ctx context.Context) (*observations, error) {
	n := m.t.Collectives.Len()
	m.instances = spill.NewZeros[causal.Meeting](m.t.Store, n+2)
	m.members = spill.NewZeros[role](m.t.Store, m.t.Members.Len())
	m.before = spill.NewZeros[int64](m.t.Store, m.t.Members.Len())
	for k, class := range startups {
		for l := range m.t.Calls {
			if i := startup(m.t.Calls[l], class); i >= 0 {
				m.instances.Ptr(n + k).Expect(m.t.Calls[l].Ptr(i).Enter)
			}
		}
	}
	const chunk = 512
	unsized := !m.t.Sized()
	all, err := engine.Fold(ctx, m.jobs, (n+chunk-1)/chunk, func() *rules {
		return &rules{Model: m, seen: newObservations(math.MaxInt64, false), unsized: unsized}
	}, func(r *rules, k int) error {
		for i := k * chunk; i < min((k+1)*chunk, n); i++ {
			r.instance(i)
		}
		return nil
	}, func(a, b *rules) *rules { a.seen.merge(b.seen); return a })
	if err != nil {
		return nil, err
	}
	return all.seen, nil
}

// startups are the classes of calls that synchronise all ranks without a record of it.
var startups = [...]trace.CallClass{trace.ClassInit, trace.ClassFinalize}

// rules finds the roles of one instance after the other.
type rules struct {
	*Model
	in      []member
	seen    *observations
	unsized bool // no size of a collective is recorded: see trace.Trace.Sized
}

// A member is one rank's part in an instance.
type member struct {
	*trace.Member
	row    int
	leave  int64
	second bool // in the second group of an intercommunicator
	moves  bool // something, whatever its sizes say
}

func (m *member) sends() bool     { return m.Sent > 0 || m.moves }
func (m *member) receives() bool  { return m.Received > 0 || m.moves }
func (m *member) transfers() bool { return m.sends() || m.receives() }

func (r *rules) instance(i int) {
	c := r.t.Collectives.Ptr(i)
	r.read(c)
	if len(r.in) < 2 {
		return
	}
	switch {
	case slices.ContainsFunc(r.in, func(m member) bool { return m.Done != m.Call && m.Done != trace.None }):
		for _, m := range r.in {
			r.give(m, arrives|awaits)
		}
	case !c.Mismatch && c.Size > 1:
		r.blocking(c)
	}
	for _, m := range r.in {
		if r.members.At(m.row)&arrives != 0 {
			r.instances.Ptr(i).Expect(m.Begin)
		}
	}
	r.observe(c, r.instances.Ptr(i).Last)
}

func (r *rules) give(m member, does role) { r.members.Set(m.row, r.members.At(m.row)|does) }

// read reads the members whose calls are recorded.
func (r *rules) read(c *trace.Collective) {
	first, inter := uint32(0), false
	if d := r.t.Defs; int(c.Comm) < len(d.Comms) && d.Comms[c.Comm].Inter && int(d.Comms[c.Comm].Group) < len(d.Groups) {
		first, inter = uint32(len(d.Groups[d.Comms[c.Comm].Group].Members)), true
	}
	r.in = r.in[:0]
	for k := int(c.First); k < int(c.First+c.Count); k++ {
		if m := r.t.Members.Ptr(k); m.Call != trace.None {
			r.in = append(r.in, member{Member: m, row: k, leave: m.End, second: inter && m.Rank >= first, moves: r.unsized})
		}
	}
}

// blocking gives the roles of an instance of a blocking operation.
func (r *rules) blocking(c *trace.Collective) {
	switch c.Op.Pattern() {
	case trace.PatternBarrier:
		for _, m := range r.in {
			r.give(m, arrives|awaits)
		}
	case trace.PatternFence:
		if r.t.Together(c) {
			for _, m := range r.in {
				r.give(m, arrives|awaits)
			}
		}
	case trace.PatternAllToAll, trace.PatternSparse:
		r.exchange()
	case trace.PatternOneToAll, trace.PatternAllToOne:
		r.rooted(c)
	case trace.PatternScan:
		last := int64(causal.Anytime)
		for _, m := range r.in {
			if m.transfers() {
				r.give(m, arrives|follows)
				r.before.Set(m.row, last)
				last = max(last, m.Begin)
			}
		}
	}
}

// exchange makes those that transfer something wait for each other. If one of them leaves no
// later than the last arrives, only receivers wait that arrive before the latest sender, and
// for that alone.
func (r *rules) exchange() {
	last := r.latest(func(m member) bool { return m.transfers() })
	if last < 0 {
		return
	}
	if !slices.ContainsFunc(r.in, func(m member) bool { return m.transfers() && m.leave <= r.in[last].Begin }) {
		for _, m := range r.in {
			if m.transfers() {
				r.give(m, arrives|awaits)
			}
		}
		return
	}
	if last = r.latest(func(m member) bool { return m.sends() }); last < 0 {
		return
	}
	r.give(r.in[last], arrives)
	for _, m := range r.in {
		if m.receives() && m.Begin < r.in[last].Begin {
			r.give(m, awaits)
		}
	}
}

// latest returns the index of the member that begins last among those that count, of several
// that of the first location; -1 if none counts.
func (r *rules) latest(counts func(member) bool) int {
	last := -1
	for i, m := range r.in {
		if counts(m) && (last < 0 || m.Begin > r.in[last].Begin || m.Begin == r.in[last].Begin && m.Location < r.in[last].Location) {
			last = i
		}
	}
	return last
}

// rooted makes those apart from the root (on an intercommunicator, in the other group) wait
// for it, or it for them.
func (r *rules) rooted(c *trace.Collective) {
	i := slices.IndexFunc(r.in, func(m member) bool { return m.Rank == c.Root })
	if i < 0 {
		return
	}
	root, fromRoot := r.in[i], c.Op.Pattern() == trace.PatternOneToAll
	switch {
	case fromRoot:
		r.give(root, arrives)
	case root.transfers():
		r.give(root, awaits)
	default:
		return
	}
	inter := int(c.Comm) < len(r.t.Defs.Comms) && r.t.Defs.Comms[c.Comm].Inter
	for _, m := range r.in {
		if inter && m.second == root.second || !inter && m.Rank == root.Rank {
			continue
		}
		switch {
		case fromRoot && m.transfers():
			r.give(m, awaits)
		case !fromRoot && m.sends():
			r.give(m, arrives)
		}
	}
}
