package trace

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"strconv"
	"strings"
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

// Keys in Info.Properties by which a trace says that its times were not recorded but rebuilt
// from statistics. All writers keep them.
const (
	PropertyReconstructed = "TRACEKIT::RECONSTRUCTED"      // "true"
	PropertyRebuiltFrom   = "TRACEKIT::RECONSTRUCTED_FROM" // from what, for people
	PropertyApproximate   = "TRACEKIT::APPROXIMATE"        // what else was not learned, separated by "; "
)

// PropertyReducedBy is the key in Info.Properties by which a trace says that records were cut
// from it: by which rules, separated by "; ". All writers keep it.
const PropertyReducedBy = "TRACEKIT::REDUCED_BY"

// Keys in Info.Properties by which a reduced trace says how much of the run it is not about. All writers keep them.
const (
	// PropertyCutShare is the time that was cut, as a share of the time of the locations that were kept: a decimal fraction. It is the time
	// of calls that communicate, or of whole intervals. In the reduced trace it looks like time of the program.
	PropertyCutShare = "TRACEKIT::CUT_SHARE"

	// PropertySample says which messages a sample is of: the strategy, how many were sampled, and of how many.
	PropertySample = "TRACEKIT::SAMPLE"
)

// PropertyFileClocks is the key in Info.Properties by which a trace says that each of its files has a clock of its own ("true").
const PropertyFileClocks = "TRACEKIT::CLOCK_PER_FILE"

// PropertyCorrected is the key in Info.Properties by which a trace says that its times are corrected ones ("true"): what still runs
// backwards is left as it is unless a correction is asked for. All writers keep it.
const PropertyCorrected = "TRACEKIT::CLOCK_CORRECTED"

// PropertyWorkers is the key in Info.Properties by which a trace says that it has each worker of a job ("true"): ranks that have no
// events are further devices of these, not lost ones. All writers keep it.
const PropertyWorkers = "TRACEKIT::EACH_WORKER"

// Keys in Info.Properties of a trace from which repeating intervals were cut, and of one in which
// they were made again: see package reduce/pattern. All writers keep them.
const (
	PropertyRepeats     = "TRACEKIT::REPEATS"     // how what was cut is made again
	PropertyCut         = "TRACEKIT::CUT"         // when it took place
	PropertyRegenerated = "TRACEKIT::REGENERATED" // when what was made again takes place
)

// OriginProperties returns the keys above: what writers keep that keep no other properties.
func OriginProperties() []string {
	return []string{PropertyReconstructed, PropertyRebuiltFrom, PropertyApproximate, PropertyReducedBy, PropertyCutShare, PropertySample,
		PropertyCorrected, PropertyWorkers,
		PropertyRepeats, PropertyCut, PropertyRegenerated}
}

// ReducedBy returns the rules by which records were cut from the trace, nil if none were.
func (i Info) ReducedBy() []string {
	if by := i.Properties[PropertyReducedBy]; by != "" {
		return strings.Split(by, "; ")
	}
	return nil
}

// CutShare returns the share of time that was cut (PropertyCutShare): 0 if the trace is not reduced, 1 if it is and does not say.
func (i Info) CutShare() float64 {
	if i.ReducedBy() == nil {
		return 0
	}
	share, err := strconv.ParseFloat(i.Properties[PropertyCutShare], 64)
	if err != nil || !(share >= 0 && share <= 1) {
		return 1
	}
	return share
}

// A Sample says how messages were sampled: each counts for Of/Sampled of them.
type Sample struct {
	Strategy    string // random, counter or timer
	Sampled, Of uint64 // messages
}

// Sample returns what PropertySample says; ok is false if it says nothing.
func (i Info) Sample() (s Sample, ok bool) {
	n, err := fmt.Sscanf(i.Properties[PropertySample], "%s %d of %d", &s.Strategy, &s.Sampled, &s.Of)
	return s, err == nil && n == 3 && s.Sampled > 0 && s.Sampled <= s.Of
}

// String is the value of PropertySample.
func (s Sample) String() string { return fmt.Sprintf("%s %d of %d", s.Strategy, s.Sampled, s.Of) }

// Reduced notes in properties by which rules, and how much of the time, was cut from a trace that has these of it already.
func (i Info) Reduced(by []string, cut float64) map[string]string {
	out := maps.Clone(i.Properties)
	if out == nil {
		out = make(map[string]string)
	}
	if by = append(i.ReducedBy(), by...); len(by) > 0 {
		out[PropertyReducedBy] = strings.Join(by, "; ")
		out[PropertyCutShare] = strconv.FormatFloat(min(1, cut+i.CutShare()), 'g', 6, 64)
	}
	return out
}

// Reconstructed reports whether the times were rebuilt from statistics.
func (i Info) Reconstructed() bool { return i.Properties[PropertyReconstructed] == "true" }

// EachWorker reports whether the trace has each worker of a job, by one of its ranks.
func (i Info) EachWorker() bool { return i.Properties[PropertyWorkers] == "true" }

// Approximations returns in what other respects a rebuilt trace is not the recorded one.
func (i Info) Approximations() []string {
	if a := i.Properties[PropertyApproximate]; a != "" && i.Reconstructed() {
		return strings.Split(a, "; ")
	}
	return nil
}

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

// An Outline is what merging needs of the events of a location that does not communicate.
type Outline struct {
	Tree *CallTree // in order of the first events
	Span Span      // not open
}

// An Outliner is a Source that knows outlines of locations without reading their events.
type Outliner interface {
	Source

	// Outline returns that of a location, for the caller to keep; nil: its events must be read.
	Outline(LocationID) *Outline
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

// A ConcurrentSink is a Sink that may say that batches of different locations can be
// written at the same time: what it makes of them does not depend on who comes first.
type ConcurrentSink interface {
	Sink
	Concurrent() bool
}

// ErrNotATrace is wrapped by the error of a reader that was given something else than a
// trace of its format.
var ErrNotATrace = errors.New("not a readable trace")

// ErrNoFile says that a reader was given nothing to read.
var ErrNoFile = fmt.Errorf("%w: no file is given", ErrNotATrace)

// NoRank returns the error of asking for a rank that a trace of so many ranks does not have.
func NoRank(rank, ranks int) error {
	switch ranks {
	case 0:
		return fmt.Errorf("the trace has no rank %d, and no other rank", rank)
	case 1:
		return fmt.Errorf("the trace has no rank %d; its only rank is 0", rank)
	}
	return fmt.Errorf("the trace has no rank %d; it has ranks 0 to %d", rank, ranks-1)
}

// A SyntaxError says where in which file a trace is malformed. Readers return it from
// definitions that they cannot do without; malformed events become findings.
type SyntaxError struct {
	File   string // as the user named it, or below that
	Offset int64  // in bytes, of the record that could not be read; -1: not known
	Line   int    // from 1, in formats that are text; 0 in others
	Record string // the record's name in the format's manual, or ""
	Err    error
}

func (e *SyntaxError) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	switch {
	case e.Line > 0:
		fmt.Fprintf(&b, ":%d", e.Line)
	case e.Offset >= 0:
		fmt.Fprintf(&b, " at byte %d", e.Offset)
	}
	if e.Record != "" {
		fmt.Fprintf(&b, " (%s)", e.Record)
	}
	return b.String() + ": " + e.Err.Error()
}

func (e *SyntaxError) Unwrap() error { return e.Err }
