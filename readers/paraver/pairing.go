package paraver

import (
	"context"
	"errors"
	"iter"

	"tracekit/readers/internal/spool"
	"tracekit/spill"
	"tracekit/trace"
)

// A channel is what sends and receives have in common; from and to are world ranks.
type channel struct{ comm, from, to, tag uint32 }

// A message is one endpoint: of a send, or of a receive.
type message struct {
	channel
	location   trace.LocationID
	begin, end int64
	order      int64 // within the channel
	bytes      uint64
}

// pairing sorts sends and receives by channel and order, so that the partners are found by
// going through both at once, whatever the number of messages.
type pairing struct {
	spool        *spool.Spool
	sends, recvs *spool.Stream
}

const messageKind = trace.Kind(201)

func newPairing(store *spill.Store) *pairing {
	s := spool.New(store)
	return &pairing{spool: s, sends: s.Stream(0), recvs: s.Stream(1)}
}

func (p *pairing) send(m message) { put(p.sends, m) }

func (p *pairing) recv(m message) { put(p.recvs, m) }

// hash spreads channels over all numbers. Two channels of one number are told apart when
// they are paired.
func (c channel) hash() int64 {
	h := uint64(c.comm)<<32 | uint64(c.tag)
	h = (h ^ h>>31) * 0x9E3779B97F4A7C15
	h ^= uint64(c.from)<<32 | uint64(c.to)
	h = (h ^ h>>29) * 0xBF58476D1CE4E5B9
	h = (h ^ h>>32) * 0x94D049BB133111EB
	return int64(h ^ h>>30)
}

func put(s *spool.Stream, m message) {
	s.Tie = m.order
	s.AddOther(m.hash(), messageKind, uint64(m.comm)<<32|uint64(m.tag), uint64(m.from)<<32|uint64(m.to),
		uint64(m.location), uint64(m.begin), uint64(m.end), m.bytes)
}

// An ordered iterates over the messages of a stream.
type ordered struct {
	next  func() (*trace.Batch, error, bool)
	stop  func()
	batch *trace.Batch
	row   int
	hash  int64
	message
	ok  bool
	err error
}

func (p *pairing) walk(ctx context.Context, stream trace.LocationID) *ordered {
	o := &ordered{}
	o.next, o.stop = iter.Pull2(p.spool.Events(ctx, stream))
	o.advance()
	return o
}

func (o *ordered) advance() {
	if o.row++; o.batch == nil || o.row == o.batch.Len() {
		if o.batch, o.err, o.ok = o.next(); !o.ok || o.err != nil {
			o.ok = false
			return
		}
		o.row = 0
	}
	t := &o.batch.Other
	a := t.Args[t.Offset[o.row]:t.Offset[o.row+1]]
	o.hash = t.Time[o.row]
	o.message = message{channel: channel{comm: uint32(a[0] >> 32), tag: uint32(a[0]), from: uint32(a[1] >> 32), to: uint32(a[1])},
		location: trace.LocationID(a[2]), begin: int64(a[3]), end: int64(a[4]), bytes: a[5]}
}

// pair writes the communication lines.
func (w *Writer) pair() error {
	if err := w.messages.spool.Finish(); err != nil {
		return err
	}
	ctx := context.Background()
	s, r := w.messages.walk(ctx, 0), w.messages.walk(ctx, 1)
	defer s.stop()
	defer r.stop()
	for s.ok && r.ok {
		switch {
		case s.hash < r.hash:
			w.alone(s, "sends without a receive")
		case s.hash > r.hash:
			w.alone(r, "receives without a send")
		case s.channel != r.channel:
			w.alone(s, "sends without a receive")
			w.alone(r, "receives without a send")
		default:
			w.communication(s, r)
			s.advance()
			r.advance()
		}
	}
	for s.ok {
		w.alone(s, "sends without a receive")
	}
	for r.ok {
		w.alone(r, "receives without a send")
	}
	return errors.Join(s.err, r.err)
}

func (w *Writer) alone(o *ordered, what string) {
	if w.options.Plain {
		w.lost[what]++
	} else {
		w.lost[what+" (only as events "+typeName(ownMessage)+")"]++
	}
	o.advance()
}

// communication adds a line, which stands where the send ends.
func (w *Writer) communication(s, r *ordered) {
	if s.bytes != r.bytes {
		w.lost["sizes of sends that differ from those received"]++
	}
	if w.options.Plain {
		w.lost["communicators of messages"]++
	}
	t := &w.threads[s.location]
	t.put(s.end, t.key(orderComm, uint64(s.begin)), lineComm, uint64(s.location), uint64(r.location), uint64(s.begin), uint64(s.end),
		uint64(r.begin), uint64(r.end), r.bytes, uint64(s.tag))
}
