package reduce

import "tracekit/trace"

// A Buffer is how a measurement keeps its records in the run: in memory, from which it
// writes them to disk whenever the buffer is full, while the program waits.
type Buffer struct {
	Bytes  int64   `json:"buffer_bytes"` // of the buffer of a location
	Record int64   `json:"record_bytes"` // of a record
	Flush  float64 `json:"flush_s"`      // seconds that a flush of a full buffer takes one location
	Disk   float64 `json:"disk_bytes_s"` // that all locations together write in a second; 0: no bound
	Event  float64 `json:"event_s"`      // seconds that a record takes beside it
}

// DefaultBuffer returns a buffer of 16 MiB with records of 32 bytes, which a process writes
// at 100 MB/s and all together at 1 GB/s; a record takes 0.2 µs.
func DefaultBuffer() Buffer {
	const bytes = 16 << 20
	return Buffer{Bytes: bytes, Record: 32, Flush: bytes / 100e6, Disk: 1e9, Event: 0.2e-6}
}

// after returns how much of the buffer is used after so many records, and how often it was
// flushed.
func (b Buffer) after(records uint64) (used int64, flushes uint64) {
	perBuffer := uint64(max(b.Bytes/max(b.Record, 1), 1))
	flushes = records / perBuffer
	return int64(records%perBuffer) * b.Record, flushes
}

// An Effect is what measuring costs the run. The run is longer at least by the larger of two times: what its busiest location needs, and
// what the disk needs for all.
type Effect struct {
	Records uint64   `json:"records"`
	Bytes   uint64   `json:"bytes"`
	Flushes uint64   `json:"flushes"` // during the run, of the location that has the most
	Ns      int64    `json:"time_ns"` // by which the run is longer
	Share   *float64 `json:"share"`   // of the run time; null: that is 0
}

// Effect returns what records cost, of which each location has so many, in a run of so many
// ns.
func (b Buffer) Effect(records []uint64, ns int64) Effect {
	var e Effect
	most, flushed := 0.0, 0.0
	for _, n := range records {
		_, flushes := b.after(n)
		e.Records += n
		e.Flushes = max(e.Flushes, flushes)
		most = max(most, float64(n)*b.Event+float64(flushes)*b.Flush)
		flushed += float64(flushes) * float64(b.Bytes)
	}
	e.Bytes = e.Records * uint64(max(b.Record, 0))
	if b.Disk > 0 {
		most = max(most, flushed/b.Disk)
	}
	e.Ns = int64(most * 1e9)
	if ns > 0 {
		share := float64(e.Ns) / float64(ns)
		e.Share = &share
	}
	return e
}

// Left returns how many records of each location of a trace are there, and how many are
// left.
func (r *Reduction) Left(t *trace.Trace) (before, after []uint64) {
	for l, s := range t.Span {
		before = append(before, s.Events)
		after = append(after, r.Cuts.Left(trace.LocationID(l), s.Events))
	}
	return before, after
}
