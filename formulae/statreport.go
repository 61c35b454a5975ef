package formulae

import "tracekit/trace"

// addTrees adds what the call trees tell.
func (r *Report) addTrees(trees []*callTree, clock trace.ClockProperties, kept Durations) {
	s := &StatReport{}
	s.Durations.Kept = kept.String()
	var calls, time, waited uint64
	for _, t := range trees {
		s.DroppedEvents += t.dropped
		s.DroppedAttributes += t.droppedAttrs
		waited += t.waited
		for _, n := range t.nodes {
			s.node(n)
			for _, i := range n.items {
				for _, spell := range i.spells {
					calls += spell.count
					time += spell.time
				}
			}
		}
		for _, l := range t.laws {
			share := &s.Durations.Fitted
			if l.family == empirical {
				share = &s.Durations.Sampled
			}
			share.Calls += float64(l.calls)
			share.Time += float64(l.time)
		}
	}
	for _, share := range []*OfCalls{&s.Durations.Fitted, &s.Durations.Sampled} {
		share.Calls /= float64(max(calls, 1))
		share.Time /= float64(max(time, 1))
	}
	s.WaitedNs = clock.Nanoseconds(int64(waited))
	s.Fields.finish()
	r.Statistics = s
}

// node counts the fields of a node's items, and what was not learned of them.
func (s *StatReport) node(n *treeNode) {
	var events, ordered uint64
	for _, i := range n.items {
		events += i.count()
		for _, v := range i.values {
			s.Fields.add(v)
		}
		if i.kind.Table() == trace.TableP2P && (i.peer.Formula().Kind == Failed || i.tag.Formula().Kind == Failed) {
			s.Guessed += i.count()
		}
	}
	f := n.branch.Formula()
	if f.Kind != Failed {
		return
	}
	counts := make(map[uint32]*generator)
	for item := range f.Values() {
		ordered += n.eventsOf(uint32(item), counts)
	}
	s.Disordered += events - min(events, ordered)
}

// eventsOf returns how many events an item stands for, loops with their next numbers of
// iterations.
func (n *treeNode) eventsOf(item uint32, counts map[uint32]*generator) (events uint64) {
	i := n.items[item]
	if i.body == nil {
		return 1
	}
	if counts[item] == nil {
		f := i.times.Formula()
		counts[item] = f.generate()
	}
	iterations, _ := counts[item].next()
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
