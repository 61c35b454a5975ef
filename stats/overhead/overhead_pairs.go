package overhead

import (
	"cmp"
	"slices"

	"tracekit/document"
	"tracekit/stats/profile"
	"tracekit/stats/waits"
	"tracekit/trace"
)

// A pairSum adds up the messages of a pair.
type pairSum struct {
	paths                    waits.PathPair
	messages                 uint64
	send, recv               sideSum
	lateSender, lateReceiver int64 // ns of wait
	charged                  bool  // some call of the selection that takes longer than it must has one of its ends
}

func (s *pairSum) merge(o *pairSum) {
	s.messages += o.messages
	s.send.merge(o.send)
	s.recv.merge(o.recv)
	s.lateSender, s.lateReceiver = s.lateSender+o.lateSender, s.lateReceiver+o.lateReceiver
	s.charged = s.charged || o.charged
}

// A sideSum adds up one side of the messages of a pair.
type sideSum struct {
	overhead   int64  // ns
	unreliable int64  // of which beyond thresholds that cannot be trusted
	doubtful   uint64 // messages of paths of which most calls have no other threshold
	foreign    uint64 // messages of paths of which most calls are held to the profile that was given
}

func (s *sideSum) merge(o sideSum) {
	s.overhead, s.unreliable = s.overhead+o.overhead, s.unreliable+o.unreliable
	s.doubtful, s.foreign = s.doubtful+o.doubtful, s.foreign+o.foreign
}

func (s *sideSum) trusted() int64 { return s.overhead - s.unreliable }

// Verdicts about a pair of lines, and why there is none.
const (
	verdictNone         = "none"
	verdictLateSender   = "late sender"
	verdictLateReceiver = "late receiver"
	verdictUndecided    = "undecided"

	reasonUnreliable = "unreliable"   // of one side most calls have thresholds that cannot be trusted
	reasonEqual      = "nearly equal" // no side dominates
)

// dominance is how many times the overhead of the other side a side must have to be called
// the one that dominates. Where necessary time ends is a choice (the quantile) and an estimate,
// and moves the overhead of either side: see docs/internals/OVERHEAD.md for by how much.
const dominance = 2

// chargedPairs returns the sums of the pairs of which a call of the selection has an end, in
// order of paths.
func (o *Finder) chargedPairs() []pairSum {
	out := slices.DeleteFunc(slices.Clone(o.pairs), func(s pairSum) bool { return !s.charged && s.messages == 0 })
	slices.SortFunc(out, func(a, b pairSum) int {
		return cmp.Or(cmp.Compare(a.paths.Send, b.paths.Send), cmp.Compare(a.paths.Recv, b.paths.Recv))
	})
	return out
}

// pairRows joins the pairs of paths by source line, the pair with the most overhead first; of equal ones, which call paths
// are numbered first says nothing, and places decide.
func (o *Finder) pairRows(p *profile.Profiler) []document.OverheadPair {
	type lines struct{ send, recv profile.Site }
	sums := make(map[lines]*pairSum)
	var order []lines
	for _, x := range o.chargedPairs() {
		at := lines{p.EndOf(x.paths.Send), p.EndOf(x.paths.Recv)}
		if sums[at] == nil {
			sums[at] = new(pairSum)
			order = append(order, at)
		}
		o.judge(&x.send, x.paths.Send, x.messages)
		o.judge(&x.recv, x.paths.Recv, x.messages)
		sums[at].merge(&x)
	}
	slices.SortStableFunc(order, func(a, b lines) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare(y.send.overhead+y.recv.overhead, x.send.overhead+x.recv.overhead), cmp.Compare(y.messages, x.messages),
			p.CompareSites(a.send, b.send), p.CompareSites(a.recv, b.recv))
	})
	rows := []document.OverheadPair{}
	for _, at := range order {
		rows = append(rows, sums[at].row(p.PairEnd(at.send), p.PairEnd(at.recv)))
	}
	return rows
}

// judge says of the messages of a side what most calls of its path are held to.
func (o *Finder) judge(s *sideSum, path trace.PathID, messages uint64) {
	if int(path) >= len(o.Paths) {
		return
	}
	calls := &o.Paths[path]
	if 2*calls.unreliable > calls.calls {
		s.doubtful = messages
	}
	if 2*calls.foreign > calls.calls {
		s.foreign = messages
	}
}

func (s *pairSum) row(send, recv document.PairEnd) document.OverheadPair {
	out := document.OverheadPair{Send: send, Receive: recv, Messages: s.messages, SendOverheadNs: s.send.overhead,
		ReceiveOverheadNs: s.recv.overhead,
		LateSenderNs:      s.lateSender, LateReceiverNs: s.lateReceiver,
		Mixed: (2*s.send.foreign > s.messages) != (2*s.recv.foreign > s.messages)}
	sends, receives := s.send.trusted(), s.recv.trusted()
	switch {
	case s.send.overhead+s.recv.overhead == 0:
		out.Verdict = verdictNone
	case 2*max(s.send.doubtful, s.recv.doubtful) <= s.messages && sends+receives > 0:
		out.Verdict, out.Reason = dominant(sends, receives), reasonEqual
		out.Confirmed = out.Verdict == verdictLateSender && s.lateSender > s.lateReceiver ||
			out.Verdict == verdictLateReceiver && s.lateReceiver > s.lateSender
	default:
		out.Verdict, out.Reason = verdictUndecided, reasonUnreliable
		if max(s.lateReceiver, s.lateSender) >= (s.send.overhead+s.recv.overhead)/dominance { // what waits explain
			out.Verdict = dominant(s.lateReceiver, s.lateSender) // late receivers cost senders, late senders receivers
			out.ByWaits = out.Verdict != verdictUndecided
		}
	}
	if out.Verdict != verdictUndecided {
		out.Reason = ""
	}
	return out
}

// dominant says which side is late: the one that costs the other most, undecided if neither dominates or has lost anything.
func dominant(sends, receives int64) string {
	switch {
	case sends == receives:
	case receives/dominance >= sends:
		return verdictLateSender
	case sends/dominance >= receives:
		return verdictLateReceiver
	}
	return verdictUndecided
}
