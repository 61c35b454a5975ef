package sampling

import "tracekit/trace"

// amounts returns what the sampled analyses learn of one message, by itself:
//
//   - late sender: how long the call that completes the receive has been there when the sending
//     call is entered; late receiver: the same of a blocking send, or of the MPI_Wait… that
//     completes it, and the posting of the receive (DEFINITIONS 2.1);
//   - overhead of the call that sends and of the call that completes the receive, each in equal
//     parts for all messages of the call.
//
// A call that completes several messages waits for the longest of these waits; each of the messages
// has its own. So all messages together have more than their calls.
func (r *run) amounts(x *sending) (a amounts) {
	l, to, row, recv := x.location, x.row.RecvLoc, x.row, x.recv
	sent := row.Time
	if x.call != nil {
		sent = x.call.Enter
	}
	if x.taker != nil && x.taker.Class != trace.ClassTest {
		a.lateSender = max(0, min(sent, x.leave)-x.enter)
	}
	if done := r.blocked(x); done != nil {
		posted := recv.Time
		if recv.Post != trace.None {
			posted = r.t.Calls[to].Ptr(int(recv.Post)).Enter
		}
		if posted > done.Enter && posted < done.Leave {
			a.lateReceiver = posted - done.Enter
		}
	}
	if o := r.opts.Analysis; o.Overhead != nil {
		if row.Call != trace.None {
			ns, _ := o.CallOverhead.At(l, int(row.Call))
			a.sendOverhead = max(ns, 0) / r.messagesOf(l, int(row.Call))
		}
		if recv.Call != trace.None {
			ns, _ := o.CallOverhead.At(to, int(recv.Call))
			a.receiveOverhead = max(ns, 0) / r.messagesOf(to, int(recv.Call))
		}
	}
	return a
}

// blocked returns the call in which a sender may wait for the receive to be posted, nil if there is
// none.
func (r *run) blocked(x *sending) *trace.Call {
	if x.row.Done == trace.None {
		return nil
	}
	done := r.t.Calls[x.location].Ptr(int(x.row.Done))
	if x.row.Done == x.row.Call && done.Class == trace.ClassSend || x.row.Done != x.row.Call && done.Class == trace.ClassWait {
		return done
	}
	return nil
}

// messagesOf returns the number of messages that a call posts or completes the receives of, at
// least 1.
func (r *run) messagesOf(l trace.LocationID, call int) int64 {
	calls := r.t.Calls[l]
	c := calls.Ptr(call)
	sends, recvs := r.t.Sends[l].Len(), r.t.Recvs[l].Len()
	if call+1 < calls.Len() {
		next := calls.Ptr(call + 1)
		sends, recvs = int(next.FirstSend), int(next.FirstRecv)
	}
	return max(1, int64(sends-int(c.FirstSend)+recvs-int(c.FirstRecv)))
}
