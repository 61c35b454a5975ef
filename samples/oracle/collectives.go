package oracle

import "tracekit/trace"

// A Collective is one instance of a collective operation.
type Collective struct {
	Op      trace.CollectiveOp
	Comm    trace.CommID
	Members []*Member // in order of world rank
	Size    int       // of the communicator
}

// A Member is one rank's part.
type Member struct {
	Rank           uint32 // world
	Number         int    // rank in the communicator's group
	Root           uint32 // as recorded
	Sent, Received uint64
	Call           *Call // of a non-blocking operation: that starts it
	Done           *Call // that completes it
	Begin, End     int64 // of the records; Begin of a non-blocking operation: Enter of Call
	blocking       bool
	comm           trace.CommID
	op             trace.CollectiveOp
	ordinal        int  // on the communicator
	unsized        bool // no size is recorded of any collective
}

func (m *Member) sends() bool    { return m.Sent > 0 || m.unsized }
func (m *Member) receives() bool { return m.Received > 0 || m.unsized }

// findCollectives lists all parts, and makes instances of those with equal ordinals.
func (a *analysis) findCollectives() {
	var parts []*Member
	for _, s := range a.streams {
		for i, e := range s.events {
			begin := i
			switch e.kind {
			case trace.KindCollectiveEnd:
				for begin >= 0 && s.events[begin].kind != trace.KindCollectiveBegin {
					begin--
				}
			case trace.KindNonBlockingCollectiveComplete:
				begin = s.preceding(i, e.request, trace.KindNonBlockingCollectiveRequest)
			default:
				continue
			}
			if begin < 0 || s.holder[begin] == nil {
				continue
			}
			m := &Member{Rank: a.rank[s.location], Root: e.root, Sent: e.sent, Received: e.recvd, Call: s.holder[begin],
				Done: s.holder[i], blocking: e.kind == trace.KindCollectiveEnd, comm: e.comm, op: e.op,
				Begin: s.events[begin].time, End: e.time}
			if !m.blocking {
				m.Begin = m.Call.Enter
			}
			for _, o := range parts {
				if o.comm == m.comm && o.Rank == m.Rank {
					// Ordinals follow the beginnings; one that began earlier ends the other's count.
					if o.Call.Index < m.Call.Index {
						m.ordinal++
					} else {
						o.ordinal++
					}
				}
			}
			_, own, _ := worldRanks(a.defs, m.comm, m.Rank)
			for n, w := range own {
				if w == m.Rank {
					m.Number = n
				}
			}
			parts = append(parts, m)
		}
	}
	a.groupParts(parts)
}

// groupParts puts parts with one ordinal on one communicator together. On communicators of
// one member, each rank has instances of its own.
func (a *analysis) groupParts(parts []*Member) {
	for _, m := range parts {
		var in *Collective
		for _, c := range a.Collectives {
			o := c.Members[0]
			if o.comm == m.comm && o.ordinal == m.ordinal && (c.Size > 1 || o.Rank == m.Rank) {
				in = c
			}
		}
		if in == nil {
			in = &Collective{Op: m.op, Comm: m.comm}
			peers, own, _ := worldRanks(a.defs, m.comm, m.Rank)
			if in.Size = len(own); a.defs.Comms[m.comm].Inter {
				in.Size += len(peers)
			}
			a.Collectives = append(a.Collectives, in)
		}
		at := 0
		for at < len(in.Members) && in.Members[at].Rank < m.Rank {
			at++
		}
		in.Members = append(in.Members[:at], append([]*Member{m}, in.Members[at:]...)...)
	}
}

// isRoot reports whether a member is the root.
func (c *Collective) isRoot(m *Member, inter bool) bool {
	if inter {
		return m.Root == trace.RootSelf
	}
	return uint32(m.Number) == m.Root
}
