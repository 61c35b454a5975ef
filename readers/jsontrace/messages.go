package jsontrace

import (
	"slices"

	"tracekit/trace"
)

// messageCategory is the category of the flow events that are messages: s at the sender,
// f at the receiver, with the arguments of the communication. This is tracekit's
// convention, which any writer may use.
const messageCategory = "mpi.msg"

// A messageArgs holds the arguments of a message, raw.
type messageArgs struct {
	src, dst, tag, comm, bytes, req, posted []byte
}

func readMessageArgs(args []byte) (a messageArgs) {
	members(args, func(key, value []byte) bool {
		switch string(key) {
		case "src":
			a.src = text(value)
		case "dst":
			a.dst = text(value)
		case "tag":
			a.tag = text(value)
		case "comm":
			a.comm = text(value)
		case "bytes":
			a.bytes = text(value)
		case "req":
			a.req = text(value)
		case "posted_ts":
			a.posted = text(value)
		}
		return true
	})
	return a
}

// row makes an event of the arguments: blocking without req, else non-blocking.
func (a *messageArgs) row(ev *event, comm uint32) (trace.P2PRow, bool) {
	row := trace.P2PRow{Time: ev.time, Comm: trace.CommID(comm), Tag: uint32(number(a.tag)),
		Bytes: number(a.bytes), Request: number(a.req)}
	peer := a.dst
	row.Kind = trace.KindMpiSend
	if a.req != nil {
		row.Kind = trace.KindMpiIsend
	}
	if ev.phase == 'f' {
		peer = a.src
		row.Kind = trace.KindMpiRecv
		if a.req != nil {
			row.Kind = trace.KindMpiIrecv
		}
	}
	row.Peer = rankNumber(peer)
	return row, row.Peer != trace.None && ev.phase != 't'
}

// message takes an end of a message in tracekit's convention; it returns false if it
// does not say whom the message goes to or comes from.
func (f *file) message(l *track, ev *event, at int64) bool {
	a := readMessageArgs(ev.args)
	row, ok := a.row(ev, f.commByName(a.comm))
	if !ok {
		f.find(trace.CodeBadValue, at, "a message without the rank of its other end")
		return false
	}
	l.Comm, l.trivial = true, false
	l.Moment()
	if posted, ok, _ := decimal(a.posted, f.digits()); ok && row.Kind == trace.KindMpiIrecv {
		l.Stream.AddRequest(posted, trace.KindMpiIrecvRequest, row.Request)
	}
	l.Stream.AddP2P(row)
	return true
}

// tau finds the senders of the messages in files of TAU, whose receive records do not
// name them: by the identifier of the flow, or as the first that fits.
type tau struct {
	sent    map[tauMessage]*tauSends
	waiting int
}

// A tauMessage is what the records of both ends say of a message.
type tauMessage struct {
	dst        uint32
	tag, bytes uint64
}

// tauSends are the sends of one kind of message whose receive has not been seen: in the order
// of the file, from the one that may be the first on, and by the hash of their identifier.
type tauSends struct {
	list  []*tauSend
	named map[uint64][]*tauSend
	left  int // that are not received
}

type tauSend struct {
	src      uint32
	received bool
}

func newTau() tau { return tau{sent: make(map[tauMessage]*tauSends)} }

// tauLimit bounds the number of messages whose receive has not been seen.
const tauLimit = 1 << 20

// message takes an end of a message of TAU.
func (t *tau) message(f *file, l *track, ev *event, at int64) {
	m := tauMessage{rankNumber(text(member(ev.args, "destNode"))),
		number(text(member(ev.args, "message-tag"))), number(text(member(ev.args, "message-size")))}
	row := trace.P2PRow{Time: ev.time, Kind: trace.KindMpiSend, Peer: m.dst, Tag: uint32(m.tag), Bytes: m.bytes}
	id := text(ev.id)
	switch {
	case ev.phase == 's' && t.waiting < tauLimit:
		t.waiting++
		t.send(m, id, rankNumber(text(ev.pid)))
	case ev.phase == 's':
		f.find(trace.CodeLimitExceeded, at, "too many messages on their way at once; the receiver of this one will not find its sender")
	case ev.phase == 'f':
		row.Kind, row.Peer = trace.KindMpiRecv, t.sender(m, id)
	}
	if row.Peer == trace.None {
		f.find(trace.CodeBadValue, at, "a message whose other end cannot be found")
		return
	}
	l.Comm, l.trivial = true, false
	l.Moment()
	l.Stream.AddP2P(row)
}

// send keeps the sender of a message.
func (t *tau) send(m tauMessage, id []byte, src uint32) {
	sends := t.sent[m]
	if sends == nil {
		sends = &tauSends{named: make(map[uint64][]*tauSend)}
		t.sent[m] = sends
	}
	x := &tauSend{src: src}
	sends.left++
	sends.list = append(sends.list, x)
	if len(id) > 0 {
		h := hash(id)
		sends.named[h] = append(sends.named[h], x)
	}
}

// sender returns the sender of the message with that identifier, or else of the first that
// fits, and forgets it; None if there is none.
func (t *tau) sender(m tauMessage, id []byte) uint32 {
	sends := t.sent[m]
	if sends == nil {
		return trace.None
	}
	var x *tauSend
	h := hash(id)
	if len(id) > 0 {
		x, sends.named[h] = firstSend(sends.named[h])
	}
	if len(sends.named[h]) == 0 {
		delete(sends.named, h)
	}
	if x == nil {
		x, sends.list = firstSend(sends.list)
	}
	x.received = true
	t.waiting--
	if sends.left--; sends.left == 0 {
		delete(t.sent, m)
	} else if len(sends.list) > 2*sends.left+1024 {
		sends.list = slices.DeleteFunc(sends.list, func(x *tauSend) bool { return x.received })
	}
	return x.src
}

// firstSend returns the first send that is not received, nil if there is none, and those
// behind it.
func firstSend(list []*tauSend) (*tauSend, []*tauSend) {
	for i, x := range list {
		if !x.received {
			return x, list[i+1:]
		}
	}
	return nil, nil
}
