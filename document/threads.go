package document

import "tracekit/document/field"

// Threads says what the threads of processes do (DEFINITIONS 2.10). Times are sums; those
// of Rows are of one thread each and sum to the run time.
type Threads struct {
	Threads    int              `json:"threads"`
	Processes  int              `json:"processes"`
	UsefulNs   int64            `json:"useful_ns"` // sum over threads
	IdleNs     int64            `json:"idle_ns"`   // idle threads: time of masters outside parallel regions × (threads − 1)
	Efficiency ThreadEfficiency `json:"efficiency"`

	ParallelRegions  uint64 `json:"parallel_regions"`  // times that one is entered
	ParallelNs       int64  `json:"parallel_ns"`       // time of masters in them
	UnpairedBarriers uint64 `json:"unpaired_barriers"` // that not all threads of a team pass

	Rows []ThreadRow `json:"rows"` // by rank, the master first
}

// ThreadEfficiency holds the efficiencies of threads, fractions of one. Parallel is the mean over all threads of useful time / run time,
// and the product of Process and Thread. Process is efficiency.parallel_efficiency (1 where nobody calls MPI). LoadBalance is the mean over
// processes of the mean / the most useful time of a thread. Region, Serial and Master are means over processes too. They are 1 less what is
// lost in parallel regions, in serial parts, and by masters that do something else outside regions; null: no process has a parallel region.
//
//	parallel = region + serial + master - 2, if all processes have parallel regions and as many threads
type ThreadEfficiency struct {
	Parallel    *float64 `json:"parallel"`
	Process     *float64 `json:"process"`
	Thread      *float64 `json:"thread"`
	LoadBalance *float64 `json:"load_balance"`
	Region      *float64 `json:"region"`
	Serial      *float64 `json:"serial"`
	Master      *float64 `json:"master"`
}

// A ThreadRow is the time of one thread by what it does; the last two are parts of others.
type ThreadRow struct {
	Rank            uint32     `json:"rank"`
	Thread          int        `json:"thread"` // of its process; 0: the master
	Location        uint32     `json:"location"`
	Name            field.Name `json:"name"`
	UsefulNs        int64      `json:"useful_ns"`
	CommunicationNs int64      `json:"communication_ns"` // in MPI
	BarrierNs       int64      `json:"barrier_ns"`       // in barriers of its team
	WaitingNs       int64      `json:"waiting_ns"`       // for locks, tasks and other threads
	SchedulingNs    int64      `json:"scheduling_ns"`    // fork and join, creating threads and tasks
	MeasurementNs   int64      `json:"measurement_ns"`   // buffer flushes, and recording off
	IdleNs          int64      `json:"idle_ns"`          // no work, not yet or no longer there
	SerialNs        int64      `json:"serial_ns"`        // of what is useful: outside parallel regions; of a master, else 0
	LockDelayNs     int64      `json:"lock_delay_ns"`    // by which parallel regions end later since threads wait; of a master, else 0
	TeamWaitNs      int64      `json:"team_wait_ns"`     // at barriers, for the last one of its team
}
