package accelerator

import (
	"tracekit/document/field"
	"tracekit/trace"
)

// A Device is what one accelerator does (DEFINITIONS 2.9): what its streams execute is computing
// (kernels and the setting of memory), communication (kernels of NCCL and its like) or copying.
type Device struct {
	Rank    field.Rank `json:"rank"` // of the process that uses it
	Device  string     `json:"device"`
	StartNs int64      `json:"start_ns"` // of the first thing that it does
	Times
	IdleCauses  IdleCauses   `json:"idle_causes"`
	Gaps        []Gap        `json:"gaps"`        // the longest, at most ten
	IdleBefore  []IdleBefore `json:"idle_before"` // what most of IdleNs is before, at most ten
	Parts       []Part       `json:"parts,omitempty"`
	Streams     []Stream     `json:"streams"`
	Kernels     []Kernel     `json:"kernels"`
	Launches    *Launches    `json:"launches"` // null: the trace does not say what launches what
	Steps       *Steps       `json:"steps,omitempty"`
	Collectives []Collective `json:"collectives,omitempty"`
	Straggler   *Straggler   `json:"straggler,omitempty"`  // nil: it takes part in no collective
	HostWaits   []HostWait   `json:"host_waits,omitempty"` // of its process
}

// Alone reports whether the device belongs to a process that is no rank: of several processes it is not known which devices share one.
func (d *Device) Alone(processes int) bool { return d.Rank == trace.None && processes > 1 }

// Times are times of merged intervals, so that what runs at the same time counts once.
//
//	SpanNs from the first start to the last end = BusyNs + IdleNs
//	BusyNs = ComputeNs + ExposedCommunicationNs + ExposedMemoryNs
type Times struct {
	SpanNs                 int64    `json:"span_ns"`
	BusyNs                 int64    `json:"busy_ns"`
	ComputeNs              int64    `json:"compute_ns"`
	CommunicationNs        int64    `json:"communication_ns"`
	ExposedCommunicationNs int64    `json:"exposed_communication_ns"` // while nothing is computed
	MemoryNs               int64    `json:"memory_ns"`
	ExposedMemoryNs        int64    `json:"exposed_memory_ns"` // while nothing is computed or communicated
	IdleNs                 int64    `json:"idle_ns"`
	Overlap                *float64 `json:"overlap"` // share of communication that is not exposed; null: there is none
}

// IdleCauses says why a device does nothing. The first three are IdleNs.
type IdleCauses struct {
	HostBoundNs      int64 `json:"host_bound_ns"`      // no kernel was launched that had not begun
	KernelGapsNs     int64 `json:"kernel_gaps_ns"`     // one was: it takes time to begin, or waits for another stream or device
	UnknownNs        int64 `json:"unknown_ns"`         // what launched the next kernel is not recorded
	CollectiveWaitNs int64 `json:"collective_wait_ns"` // of ExposedCommunicationNs: until the last rank has come
}

// A Gap is a time in which a device does nothing.
type Gap struct {
	StartNs      int64      `json:"start_ns"`
	TimeNs       int64      `json:"time_ns"`
	HostBoundNs  int64      `json:"host_bound_ns"`
	KernelGapsNs int64      `json:"kernel_gaps_ns"`
	Before       string     `json:"before"`        // what begins then
	LaunchedFrom field.Name `json:"launched_from"` // the operator, else the call; null: not known
}

// IdleBefore sums the times in which a device does nothing until something begins that one
// operator launches by one call. What is neither host-bound nor a kernel gap is of unknown cause.
type IdleBefore struct {
	Operator     field.Name `json:"operator"` // null: none, or the launch is not recorded
	Call         field.Name `json:"call"`     // null: the launch is not recorded
	Count        uint64     `json:"count"`
	TimeNs       int64      `json:"time_ns"`
	HostBoundNs  int64      `json:"host_bound_ns"`
	KernelGapsNs int64      `json:"kernel_gaps_ns"`
}

// A Part has the times of some of what a device executes. Parts: "launched", what has a
// launch in the trace; of that "recompute", what is launched inside the recomputation of
// activations, and "first_pass", the rest. They are listed where they are not everything.
type Part struct {
	Part  string `json:"part"`
	Count uint64 `json:"count"`
	Times
}

// A Stream has the times of one stream.
type Stream struct {
	Stream string `json:"stream"`
	Count  uint64 `json:"count"`
	Times
}

// A Kernel sums what a device executes under one name. Times of single executions are
// added, also of those that run at the same time.
type Kernel struct {
	Name         string       `json:"name"`
	Kind         string       `json:"kind"` // compute, communication or memory
	Count        uint64       `json:"count"`
	TimeNs       int64        `json:"time_ns"`
	MinNs        int64        `json:"min_ns"`
	MeanNs       int64        `json:"mean_ns"`
	MaxNs        int64        `json:"max_ns"`
	LaunchedFrom []LaunchSite `json:"launched_from,omitempty"`
}

// A LaunchSite is the operator, or else the function, that launches kernels, and the call of the
// runtime by which it does.
type LaunchSite struct {
	Operator field.Name `json:"operator"`
	Call     field.Name `json:"call"`
	Count    uint64     `json:"count"`
	TimeNs   int64      `json:"time_ns"` // of the kernels
}

// Launches says how long kernels take to begin.
type Launches struct {
	Count     uint64       `json:"count"`      // of kernels with a launch of their own
	Without   uint64       `json:"without"`    // of those whose launch is not recorded
	Unsure    uint64       `json:"unsure"`     // of those that one of several launches may have launched
	BelowZero uint64       `json:"below_zero"` // begin before their launch: clocks disagree
	Delay     *LaunchDelay `json:"delay_ns"`   // null: none has one
	Queue     *float64     `json:"queue_mean"` // of those that are launched and have not begun, over the span
}

// A LaunchDelay is from the enter of the call that launches a kernel to the kernel's begin.
// Quantiles lie within 1 per cent.
type LaunchDelay struct {
	MinNs  int64 `json:"min"`
	P50Ns  int64 `json:"p50"`
	MeanNs int64 `json:"mean"`
	P90Ns  int64 `json:"p90"`
	P99Ns  int64 `json:"p99"`
	MaxNs  int64 `json:"max"`
}

// Steps are the training steps that the program marks (ProfilerStep#N): their time on the
// host, and what the device does meanwhile. Min, mean and max leave out steps that are cut off.
type Steps struct {
	Count  uint64 `json:"count"`
	Cut    uint64 `json:"cut"`
	MinNs  int64  `json:"min_ns"`
	MeanNs int64  `json:"mean_ns"`
	MaxNs  int64  `json:"max_ns"`
	Rows   []Step `json:"rows"` // in order
}

// A Step is one step. Its span is that of the step on the host.
type Step struct {
	Step    string `json:"step"`
	StartNs int64  `json:"start_ns"`
	Cut     bool   `json:"cut"` // it is not recorded to its end
	Times
}

// A Collective sums the collectives of one operation, size and number of members in which a
// device takes part. Bytes are those of one instance as NCCL's tests count them: of the larger
// buffer. The bus bandwidth is bytes per time and the factor of the operation, so that it can be
// held against that of the links: 2(n-1)/n for an allreduce, (n-1)/n for allgather, reduce-scatter
// and all-to-all, 1 for others. Time is from when the last member has come, if all are recorded;
// else of the whole kernel, waiting included.
type Collective struct {
	Operation    string   `json:"operation"`
	Members      uint32   `json:"members"`
	Bytes        uint64   `json:"bytes"`
	Count        uint64   `json:"count"`
	TimeNs       int64    `json:"time_ns"`
	WithWaiting  bool     `json:"with_waiting"`
	BusBandwidth *float64 `json:"bus_bytes_per_s"` // null: no size is recorded, or no time passes
}

// A Straggler says how a device and others wait for each other in collectives.
type Straggler struct {
	Count      uint64 `json:"count"`        // of collectives with others
	WaitNs     int64  `json:"wait_ns"`      // of this device, until the last one has come
	WaitCount  uint64 `json:"wait_count"`   //
	ComesLast  uint64 `json:"comes_last"`   // how often it is the last one
	CausedNs   int64  `json:"caused_ns"`    // what others then wait for it
	NotAll     uint64 `json:"not_all"`      // collectives of which members are not recorded
	LateMeanNs int64  `json:"late_mean_ns"` // how long after the first one it comes
}

// A Path is the chain of activities of hosts and devices that determines how long the run
// takes (DEFINITIONS 2.9): LengthNs is the sum of its rows.
type Path struct {
	LengthNs   int64      `json:"length_ns"`
	SomeWorkNs int64      `json:"some_device_ns"`   // in which at least one device works
	OneWorksNs int64      `json:"one_device_ns"`    // in which exactly one does
	Loader     field.Name `json:"loader,omitempty"` // that loads data longest

	// of the path's time in communication and copies, what computing on the same device does not hide
	ExposedCommunicationNs int64 `json:"exposed_communication_ns"`
	ExposedMemoryNs        int64 `json:"exposed_memory_ns"`

	// of the functions of hosts in gaps before kernels whose launch is not recorded, the one with the most time
	Meanwhile   field.Name `json:"meanwhile,omitempty"`
	MeanwhileNs int64      `json:"meanwhile_ns,omitempty"`

	AfterWaits []HostWait `json:"after_waits,omitempty"` // host rows from a wait for a device to the first launch after it
	Rows       []PathRow  `json:"rows"`
}

// A PathRow is what the path is made of: kernels by name (compute, communication, memory), functions of hosts (host; loading: in what loads
// data; startup: before the first work of any of its devices; ending: after the last; helpers: when only threads that sleep have records).
// Others are kernels that are launched and do not begin yet though the device is idle (launch); the time between a kernel and the one that
// follows it (gap); what nobody has recorded (unknown).
type PathRow struct {
	Kind    string     `json:"kind"`
	Name    string     `json:"name"`
	Count   uint64     `json:"count"`
	TimeNs  int64      `json:"time_ns"`
	Share   *float64   `json:"share"`
	MaxRank field.Rank `json:"max_rank"` // that has the most of it
	MaxNs   int64      `json:"max_ns"`
}

// A HostWait is a call of the host that does nothing but wait for an accelerator.
type HostWait struct {
	Call   string `json:"call"`
	Count  uint64 `json:"count"`
	TimeNs int64  `json:"time_ns"`
}
