package stats

import (
	"cmp"
	"slices"

	"tracekit/trace"
)

// A pathPair is the path of the call that posts a send and of the one that completes the
// receive.
type pathPair struct{ send, recv trace.PathID }

// A pairSum adds up the messages of a pair.
type pairSum struct {
	pathPair
	messages                 uint64
	sendOverhead             int64 // ns
	recvOverhead             int64
	lateSender, lateReceiver int64 // ns of wait
	charged                  bool  // some call of the selection has one of its ends
}

func (s *pairSum) merge(o *pairSum) {
	s.messages += o.messages
	s.sendOverhead, s.recvOverhead = s.sendOverhead+o.sendOverhead, s.recvOverhead+o.recvOverhead
	s.lateSender, s.lateReceiver = s.lateSender+o.lateSender, s.lateReceiver+o.lateReceiver
	s.charged = s.charged || o.charged
}

// Verdicts about a pair of lines.
const (
	verdictNone         = "none"
	verdictLateSender   = "late sender"
	verdictLateReceiver = "late receiver"
)

// chargedPairs returns the sums of the pairs of which a call of the selection has an end, in
// order of paths.
func (o *overheads) chargedPairs() []pairSum {
	out := slices.DeleteFunc(slices.Clone(o.pairs), func(s pairSum) bool { return !s.charged })
	slices.SortFunc(out, func(a, b pairSum) int {
		return cmp.Or(cmp.Compare(a.send, b.send), cmp.Compare(a.recv, b.recv))
	})
	return out
}

// pairRows joins the pairs of paths by source line, the pair with the most overhead first.
func (o *overheads) pairRows(p *profiler) []OverheadPair {
	type lines struct{ send, recv site }
	sums := make(map[lines]*pairSum)
	var order []lines
	for _, x := range o.chargedPairs() {
		at := lines{p.endOf(x.send), p.endOf(x.recv)}
		if sums[at] == nil {
			sums[at] = new(pairSum)
			order = append(order, at)
		}
		sums[at].merge(&x)
	}
	slices.SortStableFunc(order, func(a, b lines) int {
		x, y := sums[a], sums[b]
		return cmp.Or(cmp.Compare(y.sendOverhead+y.recvOverhead, x.sendOverhead+x.recvOverhead), cmp.Compare(y.messages, x.messages))
	})
	rows := []OverheadPair{}
	for _, at := range order {
		rows = append(rows, sums[at].row(p.pairEnd(at.send), p.pairEnd(at.recv)))
	}
	return rows
}

// endOf returns the site of a path that may be missing.
func (p *profiler) endOf(path trace.PathID) site {
	if int(path) >= len(p.t.Tree.Nodes) {
		return site{trace.None, trace.SourceLine{Region: trace.None, File: trace.None}}
	}
	return p.siteOfPath(path)
}

func (p *profiler) pairEnd(s site) PairEnd {
	return PairEnd{SourceLine: spell(p.t.Defs, s.line), Operation: Name(p.t.Defs.RegionLabel(s.operation))}
}

func (s *pairSum) row(send, recv PairEnd) OverheadPair {
	out := OverheadPair{Send: send, Receive: recv, Messages: s.messages, SendOverheadNs: s.sendOverhead, ReceiveOverheadNs: s.recvOverhead,
		LateSenderNs: s.lateSender, LateReceiverNs: s.lateReceiver, Verdict: verdictNone}
	switch {
	case s.recvOverhead+s.sendOverhead == 0:
	case s.recvOverhead >= s.sendOverhead:
		out.Verdict, out.Confirmed = verdictLateSender, s.lateSender > s.lateReceiver
	default:
		out.Verdict, out.Confirmed = verdictLateReceiver, s.lateReceiver > s.lateSender
	}
	return out
}
