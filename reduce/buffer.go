package reduce

// A Buffer is how a measurement keeps its records in the run: it writes them to disk
// whenever the buffer is full.
type Buffer struct {
	Bytes  int64   // of the buffer of a location
	Record int64   // bytes of a record
	Flush  float64 // seconds that a flush of a full buffer takes
	Event  float64 // seconds that a record takes beside it
}

// DefaultBuffer returns a buffer of 16 MiB with records of 32 bytes, which a disk of 100 MB/s
// for each process takes; a record costs 0.2 µs.
func DefaultBuffer() Buffer {
	const bytes = 16 << 20
	return Buffer{Bytes: bytes, Record: 32, Flush: bytes / 100e6, Event: 0.2e-6}
}

// after returns how much of the buffer is used after so many records, and how often it was
// flushed.
func (b Buffer) after(records uint64) (used int64, flushes uint64) {
	perBuffer := uint64(max(b.Bytes/max(b.Record, 1), 1))
	flushes = records / perBuffer
	return int64(records%perBuffer) * b.Record, flushes
}
