package oracle

import "tracekit/trace"

// collectiveWaits finds the wait states of all blocking instances with several members.
func (a *analysis) collectiveWaits() {
	sized := false
	for _, c := range a.Collectives {
		sized = sized || len(active(c.Members)) > 0
	}
	for _, c := range a.Collectives {
		for _, m := range c.Members {
			m.unsized = !sized
		}
	}
	for _, c := range a.Collectives {
		if c.Size < 2 || !c.Members[0].blocking {
			continue
		}
		inter := a.defs.Comms[c.Comm].Inter
		switch c.Op {
		case trace.CollBarrier:
			a.barrier(c.Members)
		case trace.CollBcast, trace.CollScatter, trace.CollScatterv:
			a.lateBroadcast(c, inter)
		case trace.CollReduce, trace.CollGather, trace.CollGatherv:
			a.earlyReduce(c, inter)
		case trace.CollScan, trace.CollExscan:
			a.earlyScan(c)
		case trace.CollAlltoallv, trace.CollAlltoallw:
			a.waitFor(latest(active(c.Members)), active(c.Members), Unclassified, "")
		case trace.CollAllgather, trace.CollAllgatherv, trace.CollAlltoall, trace.CollAllreduce, trace.CollReduceScatter,
			trace.CollReduceScatterBlock:
			a.allToAll(active(c.Members))
		}
	}
}

// active leaves out the members that neither send nor receive.
func active(all []*Member) []*Member {
	var out []*Member
	for _, m := range all {
		if m.sends() || m.receives() {
			out = append(out, m)
		}
	}
	return out
}

// latest returns the member that begins last, the first of several; nil if there is none.
func latest(members []*Member) *Member {
	var last *Member
	for _, m := range members {
		if last == nil || m.Begin > last.Begin {
			last = m
		}
	}
	return last
}

func (a *analysis) barrier(members []*Member) {
	a.waitFor(latest(members), members, WaitAtBarrier, BarrierCompletion)
}

// waitFor charges each member with its wait for the last one to enter,
// b_last - b where b_last = min(max b, e), and with its completion,
// e - max(min e, b_last), which is not more than the call.
func (a *analysis) waitFor(last *Member, members []*Member, wait, completion WaitKind) {
	if last == nil {
		return
	}
	firstEnd := members[0].End
	for _, m := range members {
		firstEnd = min(firstEnd, m.End)
	}
	for _, m := range members {
		bLast := min(last.Begin, m.End)
		a.addWait(Wait{wait, m.Call, m.Begin, bLast - m.Begin, last.Call})
		if completion != "" {
			a.addWait(Wait{completion, m.Call, max(firstEnd, bLast, m.Begin), m.End - max(firstEnd, bLast, m.Begin), nil})
		}
	}
}

// allToAll: if some member ends no later than the last one begins, only the latest sender
// and the receivers that begin before it take part.
func (a *analysis) allToAll(members []*Member) {
	last := latest(members)
	alone := false
	for _, m := range members {
		alone = alone || m.End <= last.Begin
	}
	if !alone {
		a.waitFor(last, members, WaitAtNxN, NxNCompletion)
		return
	}
	var senders []*Member
	for _, m := range members {
		if m.sends() {
			senders = append(senders, m)
		}
	}
	last = latest(senders)
	var overlap []*Member
	for _, m := range members {
		if last != nil && (m == last || m.receives() && m.Begin < last.Begin) {
			overlap = append(overlap, m)
		}
	}
	a.waitFor(last, overlap, WaitAtNxN, NxNCompletion)
}

// lateBroadcast: max(0, min(b_r, e_i) - b_i) at i != r. On an intercommunicator only the
// group that the root is not in receives.
func (a *analysis) lateBroadcast(c *Collective, inter bool) {
	for _, r := range active(c.Members) {
		if !c.isRoot(r, inter) {
			continue
		}
		for _, m := range active(c.Members) {
			if m != r && m.Root != trace.RootThisGroup {
				a.addWait(Wait{LateBroadcast, m.Call, m.Begin, min(r.Begin, m.End) - m.Begin, r.Call})
			}
		}
	}
}

// earlyReduce: max(0, min(max b_i, e_r) - b_r) over the senders i != r of some bytes.
func (a *analysis) earlyReduce(c *Collective, inter bool) {
	for _, r := range active(c.Members) {
		if !c.isRoot(r, inter) {
			continue
		}
		var senders []*Member
		for _, m := range active(c.Members) {
			if m != r && m.sends() && m.Root != trace.RootThisGroup {
				senders = append(senders, m)
			}
		}
		if last := latest(senders); last != nil {
			a.addWait(Wait{EarlyReduce, r.Call, r.Begin, min(last.Begin, r.End) - r.Begin, last.Call})
		}
	}
}

// earlyScan: max(0, min(max over j <= i of b_j, e_i) - b_i).
func (a *analysis) earlyScan(c *Collective) {
	for _, m := range active(c.Members) {
		var before []*Member
		for _, o := range active(c.Members) {
			if o.Number <= m.Number {
				before = append(before, o)
			}
		}
		last := latest(before)
		a.addWait(Wait{EarlyScan, m.Call, m.Begin, min(last.Begin, m.End) - m.Begin, last.Call})
	}
}
