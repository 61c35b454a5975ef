package otf2

import (
	"errors"
	"fmt"
	"io/fs"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// thumbnailChunk is the chunk size of thumbnails, whatever the anchor file says.
const thumbnailChunk = 1 << 20

// extras is the result of ExtraCounts, which is computed once.
type extras struct {
	counts map[string]uint64
	ledger trace.Ledger
}

// ExtraCounts reads over what an archive holds besides definitions and events, and
// returns the number of records by kind: "Snapshot.MpiSend", "Marker.DefMarker" and
// "Thumbnail.Sample". Records that are not known count as "Marker.record 9". Damage is a
// finding from then on.
func (s *Source) ExtraCounts() map[string]uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.extras == nil {
		s.extras = &extras{counts: make(map[string]uint64)}
		s.countExtras(s.extras)
	}
	return s.extras.counts
}

func (s *Source) countExtras(x *extras) {
	a := s.anchor
	for i := range s.defs.Locations {
		id := trace.LocationID(i)
		s.countRecords(x, s.localPath(id, ".snap"), extraFile{"Snapshot", snapshotRecords(), a.eventChunk, true, id})
	}
	s.countRecords(x, s.stem+".marker", extraFile{"Marker", markerRecords(), a.defChunk, false, trace.None})
	for n := range a.thumbnails {
		path := fmt.Sprintf("%s.%d.thumb", s.stem, n)
		if !s.countRecords(x, path, extraFile{"Thumbnail", thumbnailRecords(), thumbnailChunk, false, trace.None}) {
			x.ledger.AddN(trace.CodeMissingFile, uint64(a.thumbnails-n), trace.Place{Location: trace.None, File: path, Offset: -1}, "a thumbnail")
			return // the number in the file is not believed any further
		}
	}
}

// An extraFile says how a kind of file is read.
type extraFile struct {
	prefix    string
	records   *recordTable
	chunkSize uint64
	timed     bool
	location  trace.LocationID
}

// countRecords counts the records of a file by kind; found is false if there is no such
// file, which is usual.
func (s *Source) countRecords(x *extras, path string, kind extraFile) (found bool) {
	f, err := wire.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	at := trace.Place{Location: kind.location, File: path, Offset: -1}
	if err == nil {
		defer f.Close()
		err = f.Guard(func() { x.count(f, kind) })
	}
	if err != nil {
		x.ledger.Add(trace.CodeMissingFile, at, err.Error())
	}
	return true
}

func (x *extras) count(f *wire.File, kind extraFile) {
	fr := newRawRecords(f, int64(kind.chunkSize), kind.timed)
	for rec, ok := fr.next(); ok; rec, ok = fr.next() {
		x.counts[kind.prefix+"."+kind.records.recordName(rec.id)]++
	}
	noteEnd(&x.ledger, fr, kind.location, f.Name())
}
