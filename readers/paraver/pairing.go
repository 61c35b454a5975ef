package paraver

import (
	"context"
	"slices"

	"tracekit/engine"
	"tracekit/readers/internal/spool"
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

// endpoints are the sends of a location, or its receives, sorted by channel and order: so the
// partners are found by going through those of all locations at once, whatever their number.
type endpoints struct{ *spool.Stream }

const messageKind = trace.Kind(201)

// endpoints returns those of the location's sends (0) or receives (1).
func (t *threadWriter) endpoints(side int) endpoints {
	e := &t.messages[side]
	if e.Stream == nil {
		e.Stream = t.w.messages.Stream(2*t.location + trace.LocationID(side))
	}
	return *e
}

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

func (e endpoints) put(m message) {
	e.Tie = m.order
	e.AddOther(m.hash(), messageKind, uint64(m.comm)<<32|uint64(m.tag), uint64(m.from)<<32|uint64(m.to),
		uint64(m.location), uint64(m.begin), uint64(m.end), m.bytes)
}

// An ordered goes through endpoints.
type ordered struct {
	records *spool.Merger
	hash    int64
	message
	ok bool
}

func (o *ordered) advance() {
	r := o.records.Next()
	if o.ok = r != nil; !o.ok {
		return
	}
	a := r.Args()
	o.hash = r.Time()
	o.message = message{channel: channel{comm: uint32(a[0] >> 32), tag: uint32(a[0]), from: uint32(a[1] >> 32), to: uint32(a[1])},
		location: trace.LocationID(a[2]), begin: int64(a[3]), end: int64(a[4]), bytes: a[5]}
}

// shares is about the number of parts in which messages are paired at the same time.
const shares = 64

// pair writes the communication lines: those of each share of the channels to a stream of
// their own.
func (w *Writer) pair() error {
	if err := w.messages.Finish(w.options.Context, w.options.Jobs); err != nil {
		return err
	}
	var sides [2][]*spool.Stream
	words := 0
	for i := range w.threads {
		for side, e := range w.threads[i].messages {
			if e.Stream != nil {
				sides[side] = append(sides[side], e.Stream)
				words += e.Words()
			}
		}
	}
	parts := spool.Parts(slices.Concat(sides[0], sides[1]), max(partWords, words/shares))
	for i := range parts {
		w.lines.Stream(w.share(i))
	}
	_, err := engine.Map(w.options.Context, w.options.Jobs, len(parts), func(_ context.Context, i int) (struct{}, error) {
		s, r := &ordered{records: spool.Merge(sides[0], parts[i])}, &ordered{records: spool.Merge(sides[1], parts[i])}
		w.pairShare(s, r, w.lines.Stream(w.share(i)))
		return struct{}{}, nil
	})
	return err
}

// share returns the number of the stream of a share's lines, behind those of the locations.
func (w *Writer) share(i int) trace.LocationID { return trace.LocationID(len(w.threads) + i) }

func (w *Writer) pairShare(s, r *ordered, lines *spool.Stream) {
	s.advance()
	r.advance()
	for s.ok || r.ok {
		switch {
		case !r.ok || s.ok && s.hash < r.hash:
			w.alone(s, "sends without a receive")
		case !s.ok || s.hash > r.hash:
			w.alone(r, "receives without a send")
		case s.channel != r.channel:
			w.alone(s, "sends without a receive")
			w.alone(r, "receives without a send")
		default:
			w.communication(s, r, lines)
			s.advance()
			r.advance()
		}
	}
}

func (w *Writer) alone(o *ordered, what string) {
	if w.options.Plain {
		w.lose(what, 1)
	} else {
		w.lose(what+" (only as events "+typeName(ownMessage)+")", 1)
	}
	o.advance()
}

// communication adds a line, which stands where the send ends.
func (w *Writer) communication(s, r *ordered, lines *spool.Stream) {
	if s.bytes != r.bytes {
		w.lose("sizes of sends that differ from those received", 1)
	}
	if w.options.Plain {
		w.lose("communicators of messages", 1)
	}
	lines.Tie = w.threads[s.location].key(orderComm, uint64(s.begin))
	lines.AddOther(s.end, lineComm, uint64(s.location), uint64(r.location), uint64(s.begin), uint64(s.end),
		uint64(r.begin), uint64(r.end), r.bytes, uint64(s.tag))
}
