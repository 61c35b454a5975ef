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
//   - A stream is for one goroutine at a time, and so is Finish; Events and Merge may be
//     called by several, after Finish and before Close.
package spool

import (
	"context"
	"sync"
	"sync/atomic"

	"tracekit/engine"
	"tracekit/spill"
	"tracekit/trace"
)

// A Spool takes the events of all locations. See the package's contract.
type Spool struct {
	store   *spill.Store
	own     bool         // the store is nobody else's
	portion int          // words of a stream that are sorted at a time
	added   atomic.Int64 // words
	failed  atomic.Bool  // the store

	mu      sync.Mutex // of what follows, while streams are made and filled
	streams []*Stream
	sorters []*sorter // that nobody uses

	batches sync.Pool // that nobody uses: of many small locations they are most of the garbage
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for int(location) >= len(s.streams) {
		s.streams = append(s.streams, nil)
	}
	if s.streams[location] == nil {
		s.streams[location] = &Stream{spool: s, words: spill.NewTable[uint64](s.store)}
	}
	return s.streams[location]
}

// Streams returns the streams of all locations.
func (s *Spool) Streams() (all []*Stream) {
	for _, st := range s.streams {
		if st != nil {
			all = append(all, st)
		}
	}
	return all
}

// Finish ends the adding of events: that many goroutines sort what is not sorted yet. Its error is
// that of the store or the context.
func (s *Spool) Finish(ctx context.Context, jobs int) error {
	_, err := engine.Map(ctx, jobs, len(s.streams), func(_ context.Context, i int) (struct{}, error) {
		if st := s.streams[i]; st != nil {
			if st.words.Len() == 0 {
				st.observer = nil
			}
			st.flush()
			st.settle()
			st.tail, st.words = nil, st.words.Sealed()
		}
		return struct{}{}, nil
	})
	s.sorters = nil
	if err != nil {
		return err
	}
	return s.store.Err()
}

// sort sorts the records in words [from, to) of a table, and tells where they begin then.
func (s *Spool) sort(words *spill.Table[uint64], from, to int, begin func(at int)) {
	x := new(sorter)
	s.mu.Lock()
	if n := len(s.sorters); n > 0 {
		x, s.sorters = s.sorters[n-1], s.sorters[:n-1]
	}
	s.mu.Unlock()
	x.sort(words, from, to, begin)
	s.mu.Lock()
	s.sorters = append(s.sorters, x)
	s.mu.Unlock()
}

// add appends words to a table. Once the store has failed, which Finish will tell, nothing is
// added any more: it would take memory without bounds.
func (s *Spool) add(t *spill.Table[uint64], words []uint64) {
	if s.failed.Load() {
		return
	}
	t.AppendRows(words)
	n := int64(len(words))
	if sum := s.added.Add(n); (sum-n)/portionWords != sum/portionWords {
		s.failed.Store(s.store.Err() != nil)
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
