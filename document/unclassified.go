package document

import "tracekit/document/field"

// Unclassified is time in MPI calls for which there is no evidence of a cause: neither a partner that is waited for nor the network
// explains it (DEFINITIONS 2.12). No cause has it.
type Unclassified struct {
	// TimeNs is by how much the run is longer than with zero-cost MPI, less what an ideal network and mending slow calls would save;
	// without MPI_Init and MPI_Finalize; null of a part of the run, and if it cannot be replayed.
	TimeNs *int64   `json:"time_ns"`
	Share  *float64 `json:"share"` // of the run time

	// The place with most of the critical path in MPI calls.
	field.SourceLine
	Operation      field.Name `json:"operation"`
	CriticalPathNs int64      `json:"critical_path_ns"`

	Incomplete []IncompleteCalls `json:"incomplete"` // the most time first
}

// IncompleteCalls are the calls at a place that may wait for something of which a record is missing.
type IncompleteCalls struct {
	field.SourceLine
	Operation      field.Name `json:"operation"`
	Missing        Missing    `json:"missing"`
	Calls          uint64     `json:"calls"`
	TimeNs         int64      `json:"time_ns"` // beyond their wait states, sum over ranks
	Share          *float64   `json:"share"`   // of all ranks' run time
	CriticalPathNs int64      `json:"critical_path_ns"`
}

// Missing says which record is missing.
type Missing string

// The records that may be missing.
const (
	MissingReceive Missing = "receive" // of a message that the call sends, or whose send it completes
	MissingSend    Missing = "send"    // of a message that it receives
	MissingMessage Missing = "message" // of what it sends, receives or completes
	MissingGroup   Missing = "group"   // of a collective: which ranks take part
	MissingMember  Missing = "member"  // of a collective: some rank's part
)
