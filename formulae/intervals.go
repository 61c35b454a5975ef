package formulae

import "tracekit/formulae/partners"

// intervals are the times before an item in one regime.
type intervals struct {
	count  uint64
	time   uint64 // sum, in ticks
	sample *reservoir
}

// charge charges the time since the last event to an item of a node, but for the time that
// the call waits: replaying makes that again.
func (t *CallTree) charge(n *treeNode, i *treeItem, time int64) {
	if t.clock != nil {
		time = t.clock.At(time)
	}
	if !t.begun {
		t.first, t.last, t.begun = time, time, true
	}
	time = max(time, t.last)
	n.spent += uint64(time - t.last)
	from, r := t.last, partners.Free
	if partners.Completes(i.kind) {
		if ready := min(t.release, time); ready > from {
			t.waited += uint64(ready - from)
			if !t.completing {
				i.waited += uint64(ready - from)
			}
			from, r = ready, partners.Blocked
		}
		if t.completing {
			r = partners.Further
		}
		t.completing = true
	} else {
		t.completing = false
	}
	s, d := &i.intervals[r], uint64(time-from)
	t.outliers.offer(s, t.seq, d)
	s.count++
	s.time += d
	if t.sampling {
		s.keep(d)
	}
	t.last = time
}

// sums returns the sums of the intervals before an item in each regime.
func (i *treeItem) sums() (out []Sum) {
	for r := range partners.Regimes(i.kind) {
		out = append(out, Sum{i.intervals[r].count, i.intervals[r].time})
	}
	return out
}

// completion returns the mean time before an item that completes communication, waiting
// included, but for completions behind another one in the same call; 0 for other items.
func (i *treeItem) completion() uint64 {
	if !partners.Completes(i.kind) {
		return 0
	}
	free, blocked := &i.intervals[partners.Free], &i.intervals[partners.Blocked]
	return Mean(i.waited+free.time+blocked.time, free.count+blocked.count)
}
