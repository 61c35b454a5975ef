// Package doubt has the signs that a measurement was disturbed.
package doubt

// A Sign is a sign that the measurement does not show the program as it runs undisturbed: ranks probably share cores, clocks differ, or
// records of one begin late (DEFINITIONS 2.17).
// Until that is known, other figures are doubtful.
type Sign struct {
	Kind      Kind     `json:"kind"`
	Operation string   `json:"operation,omitempty"` // of slow collectives; of slow data that are no messages
	Instances uint64   `json:"instances"`           // of calls or collectives that were looked at
	SliceNs   int64    `json:"slice_ns,omitempty"`
	Share     *float64 `json:"share,omitempty"` // of calls that last a multiple of it; of the run, how late records begin
	Rank      *uint32  `json:"rank,omitempty"`  // whose records begin late; that receives slow data
	From      *uint32  `json:"from,omitempty"`  // the rank that sends them
	LateNs    int64    `json:"late_ns,omitempty"`
	// of collectives, from the arrival of the last rank until all have left: what one in ten does not exceed, and one in two
	FastNs   int64 `json:"fast_ns,omitempty"` // of slow data: what none is faster than
	MedianNs int64 `json:"median_ns,omitempty"`
}

// A Kind says what the sign is.
type Kind string

// The signs.
const (
	TimeSlices      Kind = "time_slices"      // calls last multiples of the time slice of a scheduler
	SlowCollectives Kind = "slow_collectives" // small collectives take long though all ranks are there
	// small messages, or collectives with a root, never are as fast as a network: clocks may differ
	SlowData    Kind = "slow_data"
	LateRecords Kind = "late_records" // others wait for a rank whose records begin late
)
