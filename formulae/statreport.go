package formulae

import (
	"math"

	"tracekit/formulae/sequence"
	"tracekit/trace"
)

// A StatReport holds what stat mode kept and what it lost.
type StatReport struct {
	Durations DurationShares `json:"durations"`
	WaitedNs  int64          `json:"waited_ns"` // blocked on partners: made again when events are rebuilt

	// Arguments and Attributes of events, unwind distances among the former: sequences that
	// were learned are kept.
	Fields Share `json:"fields"`

	// Guessed counts the sends and receives of constructs whose partners or tags were not
	// learned. On their communicators receivers do not wait when events are rebuilt.
	Guessed uint64 `json:"guessed_messages"`

	// Disordered counts events that come back in an order that is made up, because the
	// branches of their call path were not learned.
	Disordered uint64 `json:"disordered_events"`

	DroppedEvents     uint64 `json:"dropped_events"`     // leaves of what was not entered, and what has no place: see mostNodes
	AddedEvents       uint64 `json:"added_events"`       // leaves of what ended, but was never left
	DroppedAttributes uint64 `json:"dropped_attributes"` // those of leaves
}

// DurationShares says of which share of the calls and of the time (waiting left out) the
// file has a law: one of a family that the test accepts, or the quantiles of a sample. The
// rest has means.
type DurationShares struct {
	Kept    string  `json:"kept"` // mean or law
	Fitted  OfCalls `json:"fitted"`
	Sampled OfCalls `json:"sampled"`
}

// OfCalls is a share of the durations by number and by time.
type OfCalls struct {
	Calls float64 `json:"calls"`
	Time  float64 `json:"time"`
}

// A statPart is what the call tree of one location adds to the report.
type statPart struct {
	StatReport          // shares of durations are sums
	calls, time, waited uint64
}

// part returns what the tree adds to the report.
func (t *CallTree) part() (s statPart) {
	s.DroppedEvents, s.AddedEvents, s.DroppedAttributes, s.waited = t.dropped, t.added, t.droppedAttrs, t.waited
	for _, n := range t.nodes {
		s.node(n)
		for _, i := range n.items {
			for _, x := range i.intervals {
				s.calls += x.count
				s.time += x.time
			}
		}
	}
	for _, l := range t.laws {
		share := &s.Durations.Fitted
		if l.Family == empirical {
			share = &s.Durations.Sampled
		}
		share.add(OfCalls{float64(l.calls), float64(l.time)})
	}
	return s
}

// reportOf sums up the parts of the call trees.
func reportOf(parts []learned, clock trace.ClockProperties, kept Durations) *StatReport {
	s := &statPart{}
	for i := range parts {
		p := &parts[i].part
		s.DroppedEvents += p.DroppedEvents
		s.AddedEvents += p.AddedEvents
		s.DroppedAttributes += p.DroppedAttributes
		s.Guessed += p.Guessed
		s.Disordered += p.Disordered
		s.Fields.ByKind.merge(&p.Fields.ByKind)
		s.Fields.ValuesByKind.merge(&p.Fields.ValuesByKind)
		s.Durations.Fitted.add(p.Durations.Fitted)
		s.Durations.Sampled.add(p.Durations.Sampled)
		s.calls, s.time, s.waited = s.calls+p.calls, s.time+p.time, s.waited+p.waited
	}
	for _, share := range []*OfCalls{&s.Durations.Fitted, &s.Durations.Sampled} {
		share.Calls /= float64(max(s.calls, 1))
		share.Time /= float64(max(s.time, 1))
	}
	s.Durations.Kept = kept.String()
	s.WaitedNs = clock.Nanoseconds(int64(min(s.waited, math.MaxInt64)))
	s.Fields.finish()
	return &s.StatReport
}

func (o *OfCalls) add(p OfCalls) { o.Calls, o.Time = o.Calls+p.Calls, o.Time+p.Time }

// node counts the fields of a node's items, and what was not learned of them.
func (s *StatReport) node(n *treeNode) {
	var events, ordered uint64
	for _, i := range n.items {
		events += i.count()
		for _, v := range i.values {
			f := v.Formula()
			s.Fields.add(&f)
		}
		if i.kind.Table() == trace.TableP2P && (i.peer.Formula().Kind == sequence.Failed || i.tag.Formula().Kind == sequence.Failed) {
			s.Guessed += i.count()
		}
	}
	f := n.branch.Formula()
	if f.Kind != sequence.Failed {
		return
	}
	counts := make(map[uint32]*sequence.Generator)
	for item := range f.Values() {
		ordered += n.eventsOf(uint32(item), counts)
	}
	s.Disordered += events - min(events, ordered)
}

// eventsOf returns how many events an item stands for, loops with their next numbers of
// iterations.
func (n *treeNode) eventsOf(item uint32, counts map[uint32]*sequence.Generator) (events uint64) {
	i := n.items[item]
	if i.body == nil {
		return 1
	}
	if counts[item] == nil {
		f := i.times.Formula()
		counts[item] = f.Generate()
	}
	iterations, _ := counts[item].Next()
	var loops []uint32
	for _, b := range i.body {
		if n.items[b].body != nil {
			loops = append(loops, b)
		}
	}
	events = iterations * uint64(len(i.body)-len(loops))
	if len(loops) > 0 {
		for range iterations {
			for _, b := range loops {
				events += n.eventsOf(b, counts)
			}
		}
	}
	return events
}
