package otf2

import (
	"context"
	"fmt"
	"iter"

	"tracekit/readers/internal/wire"
	"tracekit/trace"
)

// A stream decodes one location's event file into batches.
//
//	0 <= pos <= len(data), data[0] lies at offset base of the file
//	the batch has events events so far; flowRows, p2pRows, and collRows rows of its tables
type stream struct {
	source   *Source
	location trace.LocationID
	chunks   chunks
	ledger   trace.Ledger
	layouts  *recordTable // of events

	data      []byte
	base      int64
	pos       int
	bigEndian bool
	full      bool // the chunk is whole
	done      bool // nothing follows, for whatever reason
	ended     bool // the end-of-file mark was read

	time  int64
	local *localDefs
	// regions and comms give the dense identifier of a local one.
	regions, comms []uint32

	batch    trace.Batch
	limit    int
	events   int
	flowRows int
	p2pRows  int
	collRows int
	order    *[maxBatch]trace.TableID
	flow     *flowColumns
	p2p      *p2pColumns  // nil until the first point-to-point event
	coll     *collColumns // nil until the first collective event
	record   record
}

// Events implements trace.Source. It may be called concurrently for different locations.
func (s *Source) Events(ctx context.Context, location trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		if int(location) >= len(s.defs.Locations) {
			return
		}
		t, file, err := s.openStream(location)
		if err != nil {
			yield(nil, err)
			return
		}
		if file == nil {
			return
		}
		defer s.closeStream(t, file)
		for !t.done {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if err := file.Guard(t.fill); err != nil {
				yield(nil, err)
				return
			}
			if t.batch.Len() > 0 && !yield(&t.batch, nil) {
				return
			}
		}
	}
}

// openStream prepares the decoding of a location's events; file is nil if it has none.
func (s *Source) openStream(location trace.LocationID) (*stream, *wire.File, error) {
	path := s.localPath(location, ".evt")
	if err := s.unchanged(location); err != nil {
		return nil, nil, err
	}
	file, err := wire.Open(path)
	if isMissing(err) {
		var l trace.Ledger
		l.Add(trace.CodeEmptyLocation, trace.Place{Location: location, File: path, Offset: -1}, "")
		s.note(location, progress{done: true, findings: l.Findings()})
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	local := new(localDefs)
	if s.members[location].maps {
		var seen trace.Ledger // Open has noted what is wrong with them
		if local, err = s.readLocal(location, &seen); err == nil && local == nil {
			err = fmt.Errorf("reading %s: %w", s.localPath(location, ".def"), wire.ErrFileChanged)
		}
		if err != nil {
			file.Close()
			return nil, nil, err
		}
	}
	t, _ := s.pool.Get().(*stream)
	if t == nil {
		t = &stream{flow: new(flowColumns), order: new([maxBatch]trace.TableID)}
	}
	*t = stream{source: s, location: location, layouts: eventRecords(), local: local, limit: min(s.batch, maxBatch),
		chunks: chunks{file: file, size: int64(s.anchor.eventChunk)},
		batch:  t.batch, order: t.order, flow: t.flow, p2p: t.p2p, coll: t.coll, record: t.record}
	t.regions, t.comms = t.denseTable(spaceRegion), t.denseTable(spaceComm)
	t.batch.Reset(location, 0)
	t.batch.Order = nil
	return t, file, nil
}

// unchanged returns an error if a location's events are fewer bytes than when the archive was
// opened, or its definitions not as many: what was said of the one does not hold of the other.
// Events that are still being written are read as far as they are there.
func (s *Source) unchanged(location trace.LocationID) error {
	events, definitions := s.localPath(location, ".evt"), s.localPath(location, ".def")
	switch was := s.members[location]; {
	case fileSize(events) < was.evt:
		return fmt.Errorf("reading %s: %w", events, wire.ErrFileChanged)
	case fileSize(definitions) != was.def:
		return fmt.Errorf("reading %s: %w", definitions, wire.ErrFileChanged)
	}
	return nil
}

// closeStream ends an iteration: it keeps the findings and the memory.
func (s *Source) closeStream(t *stream, file *wire.File) {
	t.data, t.chunks, t.local, t.regions, t.comms = nil, chunks{}, nil, nil, nil
	s.note(t.location, progress{events: t.batch.First + uint64(t.batch.Len()), done: t.done, findings: t.ledger.Findings()})
	s.pool.Put(t)
	file.Close() // it was only read: what was delivered is sound
}

// denseTable returns the dense identifier of every local identifier that is not large.
func (t *stream) denseTable(s space) []uint32 {
	global := &t.source.ids[s]
	m := t.local.maps[s]
	if m == nil {
		return global.dense
	}
	table := make([]uint32, max(len(global.dense), len(m.dense)))
	for i := range table {
		table[i] = global.get(m.get(uint64(i)))
	}
	return table
}

// fill decodes the next batch.
func (t *stream) fill() {
	t.batch.Reset(t.location, t.batch.First+uint64(t.batch.Len()))
	t.events, t.flowRows, t.p2pRows, t.collRows = 0, 0, 0, 0
	clear(t.order[:])
	t.publish()
	for t.events < t.limit && !t.done {
		if !t.source.slow {
			t.run()
		}
		if t.events < t.limit {
			t.careful()
		}
	}
	t.publish()
	if t.done {
		t.finish()
	}
}

// publish makes the batch's slices as long as the rows that were decoded.
func (t *stream) publish() {
	b, n, c := &t.batch, t.flowRows, t.flow
	b.Order = t.order[:t.events]
	b.Flow.Seq, b.Flow.Time, b.Flow.Kind, b.Flow.Region = c.seq[:n], c.time[:n], c.kind[:n], c.region[:n]
	for len(b.Flow.Context) > 0 && len(b.Flow.Context) < n {
		b.Flow.Context = append(b.Flow.Context, trace.None)
		b.Flow.Unwind = append(b.Flow.Unwind, 0)
	}
	if n, c := t.p2pRows, t.p2p; c != nil {
		b.P2P = trace.P2P{Seq: c.seq[:n], Time: c.time[:n], Kind: c.kind[:n], Peer: c.peer[:n],
			Comm: c.comm[:n], Tag: c.tag[:n], Bytes: c.bytes[:n], Request: c.request[:n]}
	}
	if n, c := t.collRows, t.coll; c != nil {
		b.Coll = trace.Coll{Seq: c.seq[:n], Time: c.time[:n], Kind: c.kind[:n], Op: c.op[:n], Comm: c.comm[:n],
			Root: c.root[:n], Sent: c.sent[:n], Received: c.received[:n], Request: c.request[:n]}
	}
}

// finish notes what is known once the location was read to its end.
func (t *stream) finish() {
	b := &t.batch
	total := b.First + uint64(b.Len())
	for n := len(b.Attrs.Seq); n > 0 && b.Attrs.Seq[n-1] >= total; n-- { // of an event that is missing
		b.Attrs = trace.Attrs{Seq: b.Attrs.Seq[:n-1], Attribute: b.Attrs.Attribute[:n-1],
			Type: b.Attrs.Type[:n-1], Value: b.Attrs.Value[:n-1]}
	}
	if total == 0 && t.ended {
		t.note(trace.CodeEmptyLocation, -1, "")
	}
	announced := t.source.defs.Locations[t.location].Events
	if t.ended && announced > 0 && announced != total {
		code := trace.CodeCountMismatch
		if total > announced {
			code = trace.CodeExtraRecords
		}
		t.note(code, -1, fmt.Sprintf("%d events are announced, there are %d", announced, total))
	}
}

// note adds a finding about the event that is decoded; offset is in the file.
func (t *stream) note(code trace.Code, offset int64, text string) {
	t.ledger.Add(code, trace.Place{Location: t.location, Seq: t.batch.First + uint64(t.events),
		File: t.chunks.file.Name(), Offset: offset}, text)
}

// decreases notes a timestamp record at pos that is earlier than the one before.
func (t *stream) decreases(pos int) {
	t.note(trace.CodeTimeDecreases, t.base+int64(pos), "")
}

// stop ends the location at damage.
func (t *stream) stop(d *damage) {
	t.done = true
	t.note(d.code, d.offset, d.text())
}

// nextChunk goes on with the next chunk, or ends the location at the end of the file.
func (t *stream) nextChunk() {
	var c chunk
	var d *damage
	if t.data == nil || t.full {
		if c, d = t.chunks.read(); d != nil {
			t.stop(d)
			return
		}
	}
	if c.data == nil {
		t.done = true
		t.note(trace.CodeUnfinalised, t.chunks.file.Size(), "the file has no end mark")
		return
	}
	t.data, t.base, t.full, t.bigEndian = c.data, c.base, c.full, c.bigEndian
	t.pos = headerSize
}
