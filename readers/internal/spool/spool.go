// Package spool sorts the events of a file whose locations are interleaved into locations,
// in tables of a store, which bounds their memory: events go in one by one for any location,
// in any order; after Finish they come out as batches, location by location, in order of
// time, as often as wanted and for several locations at once.
//
// # Contract
//
//   - Events of a location come out in order of (time, tie, order of adding), with
//     sequence numbers from 0. Tie is a number of the caller's choice, 0 unless Stream.Tie
//     is set; it decides what comes first at equal times.
//   - A location whose events were added in that order costs no sorting. Otherwise portions
//     of it are sorted where they lie, and are merged while reading.
//   - The kinds are not interpreted but for their table (trace.Kind.Table), so a reader
//     may store records of its own as kinds that belong to trace.TableOther.
//   - Adding and Finish are for one goroutine; Events may be called by several, after
//     Finish and before Close.
package spool

import (
	"tracekit/spill"
	"tracekit/trace"
)

// A Spool takes the events of all locations. See the package's contract.
type Spool struct {
	store   *spill.Store
	own     bool // the store is nobody else's
	streams []*Stream
	portion int // words of a stream that are sorted at a time
	sorter  sorter
	added   int   // words since the store was asked whether it has failed
	err     error // of the store
}

// portionWords is the usual size of a portion: sorting takes three times as much memory.
const portionWords = 1 << 20

// New returns a spool whose events lie in a store; nil: in one of its own.
func New(store *spill.Store) *Spool {
	s := &Spool{store: store, portion: portionWords}
	if store == nil {
		s.store, s.own = spill.NewStore(spill.DefaultBudget(), ""), true
	}
	return s
}

// Store returns the store in which the events lie.
func (s *Spool) Store() *spill.Store { return s.store }

// Stream returns the stream of a location, which is made if it is new. Locations should
// be numbered from 0 without large gaps.
func (s *Spool) Stream(location trace.LocationID) *Stream {
	for int(location) >= len(s.streams) {
		s.streams = append(s.streams, nil)
	}
	if s.streams[location] == nil {
		s.streams[location] = &Stream{spool: s, words: spill.NewTable[uint64](s.store)}
	}
	return s.streams[location]
}

// Finish ends the adding of events. Its error is that of the store.
func (s *Spool) Finish() error {
	for _, st := range s.streams {
		if st != nil {
			st.flush()
			st.settle()
			st.tail = nil
		}
	}
	s.sorter = sorter{}
	return s.store.Err()
}

// add appends words to a table. Once the store has failed, which Finish will tell, nothing is
// added any more: it would take memory without bounds.
func (s *Spool) add(t *spill.Table[uint64], words []uint64) {
	if s.err != nil {
		return
	}
	t.AppendRows(words)
	if s.added += len(words); s.added >= portionWords {
		s.err, s.added = s.store.Err(), 0
	}
}

// Close lets the events go.
func (s *Spool) Close() error {
	for _, st := range s.streams {
		if st != nil {
			st.words.Release()
		}
	}
	s.streams = nil
	if s.own {
		return s.store.Close()
	}
	return nil
}

// A Sheet holds streams of its own in memory, to be appended to those of a spool: so several
// goroutines can add events, each to a sheet, and one goroutine brings the sheets together in
// whatever order it chooses. Its methods, and those of its streams, are for one goroutine at
// a time.
type Sheet struct {
	streams []*Stream // streams[:used] are those that were given out since Reset
	used    int
}

// keptWords bounds the memory of a sheet that Reset keeps.
const keptWords = 128 << 10

// Stream returns an empty stream. It is valid until Reset.
func (s *Sheet) Stream() *Stream {
	if s.used == len(s.streams) {
		s.streams = append(s.streams, &Stream{})
	}
	st := s.streams[s.used]
	s.used++
	return st
}

// Reset empties the sheet and keeps its memory, unless that is unusually much.
func (s *Sheet) Reset() {
	kept := 0
	for _, st := range s.streams {
		if kept += cap(st.tail); kept > keptWords {
			st.tail = nil
		}
		*st = Stream{tail: st.tail[:0], attrs: st.attrs[:0]}
	}
	s.used = 0
}
