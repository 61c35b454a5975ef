package oracle

import "tracekit/trace"

// An event is one event of any table, with the fields that the oracle needs.
type event struct {
	seq     uint64
	time    int64
	kind    trace.Kind
	region  trace.RegionID
	peer    uint32
	comm    trace.CommID
	tag     uint32
	bytes   uint64
	request uint64
	op      trace.CollectiveOp
	root    uint32
	sent    uint64
	recvd   uint64
}

// A Call is a call of an MPI function.
type Call struct {
	Location     trace.LocationID
	Rank         uint32
	Index        int // among the location's calls
	Seq          uint64
	Region       trace.RegionID
	Class        trace.CallClass
	Enter, Leave int64
}

// A stream is a location's events and calls.
type stream struct {
	location trace.LocationID
	events   []event
	holder   []*Call // by event: the innermost call that it lies in, nil outside
	calls    []*Call
}

// flatten returns the events of a location in recorded order.
func flatten(batches []*trace.Batch, clock func(int64) int64) []event {
	var out []event
	for _, b := range batches {
		for i := range b.Order {
			seq := b.First + uint64(i)
			for j, s := range b.Flow.Seq {
				if s == seq {
					out = append(out, event{seq: seq, time: clock(b.Flow.Time[j]), kind: b.Flow.Kind[j], region: b.Flow.Region[j]})
				}
			}
			for j, s := range b.P2P.Seq {
				if p := &b.P2P; s == seq {
					out = append(out, event{seq: seq, time: clock(p.Time[j]), kind: p.Kind[j], peer: p.Peer[j], comm: p.Comm[j],
						tag: p.Tag[j], bytes: p.Bytes[j], request: p.Request[j]})
				}
			}
			for j, s := range b.Coll.Seq {
				if c := &b.Coll; s == seq {
					out = append(out, event{seq: seq, time: clock(c.Time[j]), kind: c.Kind[j], op: c.Op[j], comm: c.Comm[j],
						root: c.Root[j], sent: c.Sent[j], recvd: c.Received[j], request: c.Request[j]})
				}
			}
			for j, s := range b.Other.Seq {
				if s == seq {
					out = append(out, event{seq: seq, time: clock(b.Other.Time[j]), kind: b.Other.Kind[j]})
				}
			}
		}
	}
	return out
}

// readStream finds the calls of a location. A region that is never left ends with the
// location; a Leave that fits no open region is ignored.
func readStream(m *trace.MemorySource, l trace.LocationID, rank uint32, clock func(int64) int64) *stream {
	s := &stream{location: l, events: flatten(m.Batches[l], clock)}
	var open []*Call // nil for regions outside MPI
	var regions []trace.RegionID
	for _, e := range s.events {
		switch {
		case e.kind == trace.KindEnter || e.kind == trace.KindCallingContextEnter:
			var c *Call
			if class := classOf(m.Definitions, e.region); class != trace.ClassNone {
				c = &Call{Location: l, Rank: rank, Index: len(s.calls), Seq: e.seq, Region: e.region, Class: class, Enter: e.time,
					Leave: s.events[len(s.events)-1].time}
				s.calls = append(s.calls, c)
			}
			open, regions = append(open, c), append(regions, e.region)
			s.holder = append(s.holder, innermost(open))
		case e.kind == trace.KindLeave || e.kind == trace.KindCallingContextLeave:
			s.holder = append(s.holder, innermost(open))
			for i := len(regions) - 1; i >= 0; i-- {
				if regions[i] != e.region {
					continue
				}
				for _, c := range open[i:] {
					if c != nil {
						c.Leave = e.time
					}
				}
				open, regions = open[:i], regions[:i]
				break
			}
		default:
			s.holder = append(s.holder, innermost(open))
		}
	}
	return s
}

func innermost(open []*Call) *Call {
	for i := len(open) - 1; i >= 0; i-- {
		if open[i] != nil {
			return open[i]
		}
	}
	return nil
}

// classOf is that of the region's name; a region of MPI with another name is some MPI call.
func classOf(d *trace.Defs, r trace.RegionID) trace.CallClass {
	if int(r) >= len(d.Regions) {
		return trace.ClassNone
	}
	f := trace.MPIFunctionOf(d.String(d.Regions[r].Name))
	if f.Class == trace.ClassNone && d.Regions[r].Paradigm == trace.ParadigmMPI {
		return trace.ClassOther
	}
	return f.Class
}

// worldRanks returns the world rank of each member of a communicator as seen by a rank:
// first those that it names by number in point-to-point calls, then its own group.
func worldRanks(d *trace.Defs, c trace.CommID, me uint32) (peers, own []uint32, ok bool) {
	if int(c) >= len(d.Comms) {
		return nil, nil, false
	}
	comm := d.Comms[c]
	group := func(id trace.GroupID) ([]uint32, bool) {
		switch {
		case int(id) >= len(d.Groups):
			return nil, false
		case d.Groups[id].Kind == trace.GroupCommSelf:
			return []uint32{me}, true
		}
		return d.Groups[id].Members, d.Groups[id].Kind == trace.GroupComm
	}
	own, ok = group(comm.Group)
	if !ok || !comm.Inter {
		return own, own, ok
	}
	other, ok := group(comm.Remote)
	for _, r := range other {
		if r == me {
			return own, other, ok
		}
	}
	return other, own, ok
}
