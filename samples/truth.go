package samples

// Truth is what is true of a generated trace, in ticks, counted by the simulator as it
// ran. All times are those of the true clock: an analysis finds them if the clocks are
// not skewed, or if it uses right offsets.
type Truth struct {
	Events    uint64 // of all locations
	Locations int

	Messages           uint64 // sent and received, both recorded
	Bytes              uint64 // of those
	UnmatchedSends     uint64
	UnmatchedReceives  uint64
	Cancelled          uint64 // receives
	Collectives        uint64 // instances
	CollectiveMembers  uint64
	First, Last        int64   // first and last event of the trace
	Useful             []int64 // time outside MPI of the master thread, by rank
	CriticalPathLength int64   // Last - First

	Waits WaitStates
	Clock []ProcessClock // by rank
}

// WaitStates holds the wait states of DEFINITIONS 2.1 and 2.2 (Scalasca 2.6's patterns).
type WaitStates struct {
	LateSender                   Wait
	WrongOrderSame               Wait // part of LateSender
	WrongOrderDifferent          Wait // part of LateSender
	LateReceiver                 Wait
	LateReceiverBehindLateSender Wait // what the same calls wait beyond LateSender
	WaitAtNxN                    Wait
	NxNCompletion                Wait
	WaitAtBarrier                Wait
	BarrierCompletion            Wait
	LateBroadcast                Wait
	EarlyReduce                  Wait
	EarlyScan                    Wait
	WaitAtNxNUnclassified        Wait
}

// A Wait is one kind of wait state: how many calls waited, and how long together.
type Wait struct {
	Count uint64
	Time  int64
}

// add counts a call that waited.
func (w *Wait) add(time int64) {
	if time > 0 {
		w.Count++
		w.Time += time
	}
}

// A ProcessClock is the error of a process's clock: the local time of the true time t is
// about t + Skew + (t - First)·Drift/1e6.
type ProcessClock struct {
	Skew  int64
	Drift int64 // parts per million
}
