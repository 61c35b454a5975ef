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
	l.comm, l.trivial = true, false
	l.record()
	if posted, ok, _ := decimal(a.posted, f.digits()); ok && row.Kind == trace.KindMpiIrecv {
		l.stream.AddRequest(posted, trace.KindMpiIrecvRequest, row.Request)
	}
	l.stream.AddP2P(row)
	return true
}

// tau finds the senders of the messages in files of TAU, whose receive records do not
// name them: by the identifier of the flow, or as the first that fits.
type tau struct {
	sent    map[tauMessage][]tauSend
	waiting int
}

// A tauMessage is what the records of both ends say of a message.
type tauMessage struct {
	dst        uint32
	tag, bytes uint64
}

type tauSend struct {
	id  string
	src uint32
}

func newTau() tau { return tau{sent: make(map[tauMessage][]tauSend)} }

// tauLimit bounds the number of messages whose receive has not been seen.
const tauLimit = 1 << 20

// message takes an end of a message of TAU.
func (t *tau) message(f *file, l *track, ev *event, at int64) {
	m := tauMessage{rankNumber(text(member(ev.args, "destNode"))),
		number(text(member(ev.args, "message-tag"))), number(text(member(ev.args, "message-size")))}
	row := trace.P2PRow{Time: ev.time, Kind: trace.KindMpiSend, Peer: m.dst, Tag: uint32(m.tag), Bytes: m.bytes}
	id := string(text(ev.id))
	switch {
	case ev.phase == 's' && t.waiting < tauLimit:
		t.waiting++
		t.sent[m] = append(t.sent[m], tauSend{id, rankNumber(text(ev.pid))})
	case ev.phase == 'f':
		row.Kind, row.Peer = trace.KindMpiRecv, t.sender(m, id)
	}
	if row.Peer == trace.None {
		f.find(trace.CodeBadValue, at, "a message whose other end cannot be found")
		return
	}
	l.comm, l.trivial = true, false
	l.record()
	l.stream.AddP2P(row)
}

// sender returns the sender of the message with that identifier, or else of the first that
// fits, and forgets it; None if there is none.
func (t *tau) sender(m tauMessage, id string) uint32 {
	list := t.sent[m]
	if len(list) == 0 {
		return trace.None
	}
	i := max(0, slices.IndexFunc(list, func(s tauSend) bool { return s.id == id && id != "" }))
	src := list[i].src
	t.waiting--
	if t.sent[m] = slices.Delete(list, i, i+1); len(t.sent[m]) == 0 {
		delete(t.sent, m)
	}
	return src
}
