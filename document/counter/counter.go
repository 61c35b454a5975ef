// Package counter has what counters counted: those of the hardware in useful time, and those that are sampled beside a program.
package counter

import "tracekit/document/field"

// A Series is a counter that is sampled beside the program: the power of a device, the energy that it has used. Values are in units
// of Unit. Mean is weighted by time: each value holds until the next one. A counter that accumulates has its growth, and the rate of it,
// from the first to the last sample; its min and max are the least and greatest rate between two samples. What falls more than once, or to
// more than half its value, does not accumulate whatever its definition says.
type Series struct {
	Name        string     `json:"name"`
	Unit        string     `json:"unit"`
	Rank        field.Rank `json:"rank"`
	Place       string     `json:"place"` // the location that records it
	Accumulates bool       `json:"accumulates"`
	Samples     uint64     `json:"samples"`
	FromNs      int64      `json:"from_ns"`
	ToNs        int64      `json:"to_ns"`
	Min         *float64   `json:"min"`
	Mean        *float64   `json:"mean"`
	Max         *float64   `json:"max"`
	Growth      *float64   `json:"growth"` // null: it does not accumulate
	Falls       uint64     `json:"falls"`  // how often it fell although it is said to accumulate
}

// Useful says what the hardware counters counted in useful time: the increments between two
// samples of a thread with nothing but useful time between them. Its totals are those of all
// ranks, their threads together.
type Useful struct {
	Totals
	Ranks []OfRank `json:"ranks"` // ascending; those whose threads have such samples
}

// OfRank has the counters of one rank, its threads together.
type OfRank struct {
	Rank uint32 `json:"rank"`
	Totals
}

// Totals sums counters in useful time. UsefulNs is the part of the useful time in which
// cycles were counted (instructions, if nothing counts cycles), Σ over threads.
type Totals struct {
	UsefulNs     int64    `json:"useful_ns"`
	Instructions *float64 `json:"instructions"` // null: nothing counts them
	Cycles       *float64 `json:"cycles"`
	Rates
	Counters []Sum `json:"counters"` // in order of their definition
}

// Rates are the quotients of counters by which programs are compared (DEFINITIONS 2.6): nil
// where nothing counts the one or the other.
type Rates struct {
	IPC          *float64 `json:"ipc,omitempty"`           // instructions per cycle
	FrequencyGHz *float64 `json:"frequency_ghz,omitempty"` // cycles per ns in which they were counted
}

// A Sum is the sum of one counter in useful time, in units of Unit.
type Sum struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Sum    *float64 `json:"sum"` // null: larger than any number
	TimeNs int64    `json:"time_ns"`
}
