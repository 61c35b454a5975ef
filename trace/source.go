package trace

import (
	"context"
	"iter"
)

// Info describes a trace as a whole.
type Info struct {
	Path        string            // as the user named it
	Format      string            // otf2, paraver, json, arrow, parquet …
	Version     string            // of the format, as the file says
	Creator     string            // the program that wrote it
	Machine     string            // where it was recorded
	Description string            //
	Properties  map[string]string // further statements of the writer
	TraceID     uint64            // 0: none
	Bytes       int64             // size of all files
}

// PropertyReconstructed is the key in Info.Properties that says, if its value is "true", that
// the times were not recorded but rebuilt from statistics.
const PropertyReconstructed = "TRACEKIT::RECONSTRUCTED"

// Reconstructed reports whether the times were rebuilt from statistics.
func (i Info) Reconstructed() bool { return i.Properties[PropertyReconstructed] == "true" }

// A Source is an open trace: its definitions, and its events location by location.
type Source interface {
	Info() Info

	// Defs returns the definitions, complete and never changed.
	Defs() *Defs

	// Events iterates over one location's events in recorded order. A batch is valid
	// until the next one. Different locations may be read concurrently, one location as
	// often as wanted. An error ends the iteration; damage of the file is no error but a
	// finding, and what is sound before it is delivered.
	Events(ctx context.Context, location LocationID) iter.Seq2[*Batch, error]

	// Findings returns what was noticed while opening and while reading the locations
	// that were read so far; reading a location again does not count it twice.
	Findings() []Finding

	// Close gives back files and memory.
	Close() error
}

// A MemorySource is a trace that is held in memory: Batches[l] are the batches of
// location l.
type MemorySource struct {
	About       Info
	Definitions *Defs
	Batches     [][]*Batch
	Noticed     []Finding
}

// Info implements Source.
func (m *MemorySource) Info() Info { return m.About }

// Defs implements Source.
func (m *MemorySource) Defs() *Defs { return m.Definitions }

// Events implements Source.
func (m *MemorySource) Events(ctx context.Context, location LocationID) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if int(location) >= len(m.Batches) {
			return
		}
		for _, b := range m.Batches[location] {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// Findings implements Source.
func (m *MemorySource) Findings() []Finding { return m.Noticed }

// Close implements Source.
func (m *MemorySource) Close() error { return nil }

// A Sink takes a trace: the writer of a format, made with the definitions. Batches may
// come in any order of locations; those of one location come in recorded order.
type Sink interface {
	// Write adds the events of a batch and keeps nothing of it.
	Write(b *Batch) error

	// Close completes the trace; without it, nothing is left behind.
	Close() error
}
