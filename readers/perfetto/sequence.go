package perfetto

import (
	"tracekit/readers/internal/protobuf"
	"tracekit/trace"
)

// A sequence is the state of the packets of one writer.
type sequence struct {
	number     uint32
	known      bool // a packet of it was seen
	valid      bool // what is interned is complete
	lost       bool // since packets were dropped; else since the trace begins behind them
	names      table
	categories table
	arguments  table
	clock      uint64         // of packets that name none; 0: that of the trace
	track      uint64         // of events that name none
	extras     []uint64       // the tracks of extra counters, likewise
	sums       map[*track]sum // of incremental counters
	last       *track
	lastUUID   uint64
}

// A sum is that of the values of an incremental counter, of integers and of others.
type sum struct {
	integer int64
	double  float64
}

// An interned name. What it means together with a category is looked up once for each category that follows another one.
type interned struct {
	text     uint32 // number of the text in the file
	set      bool
	argument argument
	category uint64
	region   trace.RegionID
	resolved bool
}

// A table is what identifiers stand for: most are small.
type table struct {
	dense []interned
	rest  map[uint64]*interned
}

const denseLimit = 1 << 12

// get returns what an identifier stands for, nil if that is not known.
func (t *table) get(id uint64) *interned {
	if id < uint64(len(t.dense)) {
		if e := &t.dense[id]; e.set {
			return e
		}
		return nil
	}
	return t.rest[id]
}

// put makes place for an identifier.
func (t *table) put(id uint64) *interned {
	if id < denseLimit {
		for uint64(len(t.dense)) <= id {
			t.dense = append(t.dense, interned{})
		}
		return &t.dense[id]
	}
	if t.rest == nil {
		t.rest = make(map[uint64]*interned)
	}
	e := t.rest[id]
	if e == nil {
		e = &interned{}
		t.rest[id] = e
	}
	return e
}

// size returns how many identifiers the table has room for.
func (t *table) size() int { return len(t.dense) + len(t.rest) }

func (t *table) clear() {
	clear(t.dense)
	t.dense, t.rest = t.dense[:0], nil
}

// clear forgets all that the sequence has said so far.
func (s *sequence) clear() {
	s.names.clear()
	s.categories.clear()
	s.arguments.clear()
	s.clock, s.track, s.extras = 0, 0, s.extras[:0]
	s.sums = nil
	s.valid, s.lost = true, false
}

const (
	sequenceLimit = 1 << 18
	internLimit   = 1 << 21 // identifiers of all sequences
)

// sequence returns the state of a sequence, nil if there are too many.
func (r *reader) sequence(number uint32) *sequence {
	if r.last != nil && r.last.number == number {
		return r.last
	}
	s := r.sequences[number]
	if s == nil {
		if len(r.sequences) >= sequenceLimit {
			r.limited("sequences of packets; the last ones are left out")
			return nil
		}
		s = &sequence{number: number}
		r.sequences[number] = s
	}
	r.last = s
	return s
}

// state brings the state of a sequence up to a packet; it returns false if the packet needs what is not known.
func (r *reader) state(s *sequence, p *packet) bool {
	if p.flags&flagCleared != 0 {
		r.interned -= s.size()
		s.clear()
	} else if p.dropped && s.known {
		s.valid, s.lost = false, true
	}
	s.known = true
	if p.flags&flagNeeded != 0 && !s.valid {
		if s.lost {
			r.afterLoss++
		} else {
			r.withoutState++
		}
		return false
	}
	return (p.rare.defaults == nil || r.defaults(s, p.rare.defaults)) && (p.rare.interned == nil || r.intern(s, p.rare.interned))
}

func (s *sequence) size() int { return s.names.size() + s.categories.size() + s.arguments.size() }

// defaults takes what events of the sequence need not say from now on.
func (r *reader) defaults(s *sequence, data []byte) bool {
	s.clock, s.track, s.extras = 0, 0, s.extras[:0]
	m := protobuf.Of(data)
	for m.Next() {
		switch m.Number {
		case fieldClock:
			s.clock = m.Value
		case fieldEvent:
			event := protobuf.Of(m.Data)
			for event.Next() {
				switch {
				case event.Number == eventTrack:
					s.track = event.Value
				case event.Number == eventExtraTracks && len(s.extras) < listLimit:
					s.extras = event.Numbers(s.extras)
				}
			}
			if event.Broken {
				return r.broken()
			}
		}
	}
	return !m.Broken || r.broken()
}

// The fields of InternedData that are read.
const (
	internedCategories = 1
	internedNames      = 2
	internedArguments  = 3
)

// intern takes names.
func (r *reader) intern(s *sequence, data []byte) bool {
	m := protobuf.Of(data)
	for m.Next() {
		var in *table
		switch m.Number {
		case internedCategories:
			in = &s.categories
		case internedNames:
			in = &s.names
		case internedArguments:
			in = &s.arguments
		default:
			continue
		}
		id, name, ok := protobuf.Entry(m.Data)
		if !ok {
			return r.broken()
		}
		if id == 0 || r.interned >= internLimit {
			if id != 0 {
				r.limited("interned names; the last ones are not known")
			}
			continue
		}
		before := in.size()
		e := in.put(id)
		r.interned += in.size() - before
		*e = interned{text: r.text(name), set: true, argument: argumentOf(name)}
	}
	return !m.Broken || r.broken()
}
