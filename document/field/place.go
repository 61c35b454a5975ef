package field

import (
	"fmt"
	"path"
)

// A Place is where a finding was first met. Location is the index of the location.
type Place struct {
	Location *uint32 `json:"location"` // null: not about one location
	Seq      uint64  `json:"seq"`
	File     Name    `json:"file"`
	Offset   *int64  `json:"offset"` // in bytes; null: not known
}

// A SourceLine is the best source location that is known for a call: its own line where
// the trace records the lines of calls, else the first line of the region that encloses
// it. LineOf says which: "call", or "region", when the call lies somewhere in the region;
// null where no line is known. What is not a call, time in a region outside MPI, has the
// line of its region.
type SourceLine struct {
	Region Name `json:"region"` // the user's region
	File   Name `json:"file"`
	Line   Line `json:"line"`
	LineOf Name `json:"line_of"`
}

// Written returns a place as flags take it: the operation with its line or region, or the region; "" if nothing is known.
func (s SourceLine) Written(operation string) string {
	switch {
	case operation == "":
		return string(s.Region)
	case s.File != "" && s.Line > 0:
		return fmt.Sprintf("%s@%s:%d", operation, path.Base(string(s.File)), s.Line)
	case s.Region != "" && string(s.Region) != operation:
		return operation + "@" + string(s.Region)
	}
	return operation
}

// The values of SourceLine.LineOf.
const (
	LineOfCall   = "call"
	LineOfRegion = "region"
)

// An Extreme is a minimum or maximum over ranks and the rank that has it.
type Extreme struct {
	Rank   Rank  `json:"rank"`
	TimeNs int64 `json:"time_ns"`
}

// A RankTime is a time of one rank.
type RankTime struct {
	Rank   Rank  `json:"rank"`
	TimeNs int64 `json:"ns"`
}

// A Site is where time goes: an operation called from a source line, or a region outside MPI,
// as rows of the document name them.
type Site struct {
	SourceLine
	Operation Name
}

// Names of places that are no region.
const (
	NotRecorded    = "(not recorded)"       // before the first event
	OutsideRegions = "(outside any region)" // where nothing is entered
	BufferFlush    = "(writing the trace)"  // the measurement writes its buffer, wherever
	RecordingOff   = "(recording off)"      // it is switched off, wherever
)
