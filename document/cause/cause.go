package cause

import "tracekit/document/field"

// A Cause is something to fix, and what fixing it would gain: the causes with the
// most gain first. GainNs is by how much the calibrated replay of the run (DEFINITIONS 2.11)
// is shorter with Change; null if the run cannot be replayed. Gains do not add up.
type Cause struct {
	Kind Kind `json:"kind"`
	field.SourceLine
	Operation     field.Name         `json:"operation"`         // null: outside MPI
	Callers       []field.Name       `json:"callers,omitempty"` // regions that call it there, null: none does; absent: all that call it
	Ranks         []uint32           `json:"ranks"`             // that it is about, ascending; empty: all
	WaitsCausedNs int64              `json:"waits_caused_ns"`   // sum over ranks
	GainNs        *int64             `json:"gain_ns"`
	GainShare     *float64           `json:"gain_share"` // of the run time
	Headline      string             `json:"headline"`   // what is wrong, at most ten words
	Text          string             `json:"text"`       // what shows it
	Change        string             `json:"change"`     // what GainNs assumes, and the gain; "" if there is none
	Try           string             `json:"try"`        // what to do about it; "" where the evidence does not tell
	Evidence      map[string]float64 `json:"evidence"`   // the numbers of Text
}

// A Kind says what is wrong.
type Kind string

// The kinds of cause.
const (
	Imbalance     Kind = "imbalance"     // some ranks take longer than others at a place
	LateSender    Kind = "late_sender"   // a place takes longer now here, now there: messages are sent late
	LateReceiver  Kind = "late_receiver" // the same: receives are posted late
	Serialization Kind = "serialization" // few ranks work while the others wait
	SlowCalls     Kind = "slow_calls"    // calls are slower than comparable calls
	Transfer      Kind = "transfer"      // the network
	WrongOrder    Kind = "wrong_order"   // messages are received in another order than they are sent
	SlowPhases    Kind = "slow_phases"   // some iterations take longer, on all ranks
	Startup       Kind = "startup"       // MPI_Init and what passes before
	Measurement   Kind = "measurement"   // the measurement itself
	ThreadIdle    Kind = "thread_idle"   // threads have no work
	Inefficient   Kind = "inefficient"   // much is lost, by no single cause
	DataLoading   Kind = "data_loading"  // the program waits for its input
	DeviceIdle    Kind = "device_idle"   // accelerators have no work, or do not begin it
)
