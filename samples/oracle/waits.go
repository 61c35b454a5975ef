package oracle

import (
	"cmp"
	"slices"

	"tracekit/trace"
)

// A WaitKind is the name of a wait state, as in the JSON document of an analysis.
type WaitKind string

// The wait states of DEFINITIONS 2.1 and 2.2.
const (
	LateSender          WaitKind = "late_sender"
	WrongOrderSame      WaitKind = "wrong_order_same_source"      // also counted as late_sender
	WrongOrderDifferent WaitKind = "wrong_order_different_source" // also counted as late_sender
	LateReceiver        WaitKind = "late_receiver"
	LateReceiverBehind  WaitKind = "late_receiver_behind_late_sender"
	WaitAtNxN           WaitKind = "wait_at_nxn"
	NxNCompletion       WaitKind = "nxn_completion"
	WaitAtBarrier       WaitKind = "wait_at_barrier"
	BarrierCompletion   WaitKind = "barrier_completion"
	LateBroadcast       WaitKind = "late_broadcast"
	EarlyReduce         WaitKind = "early_reduce"
	EarlyScan           WaitKind = "early_scan"
	Unclassified        WaitKind = "wait_at_nxn_unclassified"
)

// A Wait is a call that waits. Cause is the call that ends the wait, nil for completions.
type Wait struct {
	Kind  WaitKind
	Call  *Call
	From  int64
	Time  int64
	Cause *Call
}

func (w *Wait) end() int64 { return w.From + w.Time }

// A Sum adds up waits.
type Sum struct {
	Count uint64
	Time  int64
}

// Sums adds up the waits of each kind.
func (r *Result) Sums() map[WaitKind]Sum {
	sums := make(map[WaitKind]Sum)
	for _, w := range r.Waits {
		s := sums[w.Kind]
		s.Count++
		s.Time += w.Time
		sums[w.Kind] = s
	}
	return sums
}

func (a *analysis) addWait(w Wait) {
	if w.Time > 0 {
		a.Waits = append(a.Waits, w)
	}
}

// messageWaits charges every call with the longest of what it waits for. If that is a
// receiver and the call also waits for a sender, it is charged with the sender, and with
// the rest as late receiver behind a late sender.
func (a *analysis) messageWaits() {
	for _, s := range a.streams {
		var lates []lateInstance
		for _, c := range s.calls {
			sender, message := a.lateSender(c)
			receiver := a.lateReceiver(c)
			coll := a.lateStart(c)
			a.wrongOrder(c, lates)
			lates = slices.DeleteFunc(lates, func(l lateInstance) bool { return l.wrong })
			switch {
			case max(sender.Time, receiver.Time) < coll.Time:
				a.addWait(coll)
			case sender.Time > 0:
				a.addWait(sender)
				a.addWait(Wait{LateReceiverBehind, c, sender.end(), receiver.Time - sender.Time, receiver.Cause})
				lates = append(lates, lateInstance{wait: sender, send: message})
			default:
				a.addWait(receiver)
			}
			if len(lates) > 100 {
				lates = lates[len(lates)-100:]
			}
		}
	}
}

// lateSender: max(0, min(E(S), L(R)) - E(R)) over the messages that the call completes.
func (a *analysis) lateSender(c *Call) (longest Wait, message *Send) {
	if c.Class == trace.ClassTest {
		return
	}
	for _, r := range a.Recvs {
		if r.Done != c && a.probe(r) != c || r.Send == nil || r.Send.Post == nil {
			continue
		}
		w := max(0, min(r.Send.Post.Enter, c.Leave)-c.Enter)
		if w > longest.Time {
			longest, message = Wait{LateSender, c, c.Enter, w, r.Send.Post}, r.Send
		}
	}
	return longest, message
}

// probe returns the blocking probes before a receive: the last call of the class before
// the receive is posted, unless another receive was posted in between.
func (a *analysis) probe(r *Recv) *Call {
	if r.Post == nil {
		return nil
	}
	var probe *Call
	for _, c := range a.Calls[r.Post.Location] {
		if c.Class == trace.ClassProbe && c.Index < r.Post.Index {
			probe = c
		}
	}
	for _, o := range a.Recvs {
		if probe != nil && o.Post != nil && o.Post.Location == r.Post.Location && o.PostSeq > probe.Seq && o.PostSeq < r.PostSeq {
			return nil
		}
	}
	return probe
}

// lateReceiver: 0 if L(S) <= E(R), else max(0, E(R) - E(S)), over the sends that the call
// completes, where E(R) is that of the call that posts the receive.
func (a *analysis) lateReceiver(c *Call) (longest Wait) {
	if c.Class != trace.ClassSend && c.Class != trace.ClassWait {
		return
	}
	for _, s := range a.Sends {
		if s.Done != c || s.Recv == nil || s.Recv.Post == nil {
			continue
		}
		post := s.Recv.Post
		if c.Leave > post.Enter && post.Enter-c.Enter > longest.Time {
			longest = Wait{LateReceiver, c, c.Enter, post.Enter - c.Enter, post}
		}
	}
	return longest
}

// lateStart: max(0, min(max b_i, L(W)) - E(W)) over the non-blocking collectives that a
// Wait completes.
func (a *analysis) lateStart(c *Call) (longest Wait) {
	if c.Class != trace.ClassWait {
		return
	}
	for _, in := range a.Collectives {
		for _, m := range in.Members {
			if m.Done != c || m.blocking || in.Size < 2 {
				continue
			}
			last := in.Members[0].Call
			for _, o := range in.Members {
				if o.Call.Enter > last.Enter {
					last = o.Call
				}
			}
			if w := min(last.Enter, c.Leave) - c.Enter; w > longest.Time {
				longest = Wait{nonBlockingKind(in.Op), c, c.Enter, w, last}
			}
		}
	}
	return longest
}

// nonBlockingKind is ours: nobody has published kinds for non-blocking collectives.
func nonBlockingKind(op trace.CollectiveOp) WaitKind {
	switch op {
	case trace.CollBarrier:
		return WaitAtBarrier
	case trace.CollAlltoallv, trace.CollAlltoallw:
		return Unclassified
	}
	return WaitAtNxN
}

// A lateInstance is an instance of late sender in the window of a receiver.
type lateInstance struct {
	wait  Wait
	send  *Send
	wrong bool // counted already
}

// wrongOrder looks for instances whose message was sent after one that the call receives.
func (a *analysis) wrongOrder(c *Call, lates []lateInstance) {
	var received []*Recv
	for _, r := range a.Recvs {
		if r.Done == c && r.Send != nil && r.Send.Post != nil {
			received = append(received, r)
		}
	}
	slices.SortFunc(received, func(x, y *Recv) int { return cmp.Compare(x.Seq, y.Seq) })
	for _, r := range received {
		for i := range lates {
			l := &lates[i]
			if l.wrong || r.Send.Time >= l.send.Time {
				continue
			}
			l.wrong = true
			kind := WrongOrderDifferent
			if r.Send.From == l.send.From {
				kind = WrongOrderSame
			}
			a.addWait(Wait{kind, l.wait.Call, l.wait.From, l.wait.Time, l.wait.Cause})
		}
	}
}
