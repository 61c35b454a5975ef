package document

import (
	"slices"
	"strings"

	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/counter"
	"tracekit/document/doubt"
	"tracekit/document/field"
	"tracekit/document/training"
	"tracekit/document/waitstate"
	"tracekit/trace"
)

// Schema names the JSON document that an Analysis is.
const Schema = "tracekit.analysis/1"

// An Analysis is everything that is known about one trace, and the document that
// `tracekit analyze --json` prints.
//
//   - Names ending in _ns are times or instants in integer nanoseconds. Instants lie on the
//     axis of trace.start_ns, whose zero is the clock's global offset.
//   - A nil block was not computed and is absent; a nil ratio is not defined and is null.
//   - Lists are sorted by weight, the heaviest row first; equal weights by name, line, rank.
//   - min_rank is the rank of min_ns, max_rank that of max_ns (of several the lowest).
type Analysis struct {
	Schema       string               `json:"schema"` // always Schema
	Trace        TraceInfo            `json:"trace"`
	Selection    *Selection           `json:"selection,omitempty"` // nil: the whole trace
	Coverage     Coverage             `json:"coverage"`
	Findings     []Finding            `json:"findings"`
	Doubts       []doubt.Sign         `json:"doubts,omitempty"`  // signs that the measurement is disturbed
	Devices      []accelerator.Device `json:"devices,omitempty"` // accelerators
	DevicePath   *accelerator.Path    `json:"device_path,omitempty"`
	FileIO       *FileIO              `json:"file_io,omitempty"`          // nil: no call works on files
	Sampled      []counter.Series     `json:"sampled_counters,omitempty"` // that are sampled beside the program
	Diagnosis    []cause.Cause        `json:"diagnosis,omitzero"`         // nil: not asked for
	Unclassified *Unclassified        `json:"unclassified,omitempty"`     // nil: causes were not asked for, or hardly any
	// nil: the trace is none of a training job, or of a part of the run
	Training     *training.Job          `json:"training,omitempty"`
	Clock        Clock                  `json:"clock"`
	Profile      []ProfileRow           `json:"profile"`
	CallSites    []CallSiteRow          `json:"call_sites"`
	CallPaths    []CallPathRow          `json:"callpaths"`
	Messages     *Messages              `json:"messages,omitempty"`
	CommMatrix   []MatrixCell           `json:"comm_matrix"`
	Collectives  []CollectiveRow        `json:"collectives"`
	WaitStates   *waitstate.States      `json:"wait_states,omitempty"`
	Delays       []waitstate.Delay      `json:"delays"`               // what makes others wait
	DelayTotals  *waitstate.DelayTotals `json:"delay_totals"`         //
	Efficiency   *Efficiency            `json:"efficiency,omitempty"` // nil: nobody calls MPI
	Threads      *Threads               `json:"threads,omitempty"`    // nil: the trace tells nothing of threads that work together
	Phases       *Phases                `json:"phases,omitempty"`     // nil: none are found, or of a part of the run
	Counters     *counter.Useful        `json:"counters,omitempty"`   // nil: none counts up in useful time
	CriticalPath *CriticalPath          `json:"critical_path,omitempty"`
	Overhead     *Overhead              `json:"overhead,omitempty"` // Options.Overhead asks for it
	Lines        []LineRow              `json:"lines,omitempty"`    // the sum of everything per source line
}

// TraceInfo says what was analyzed. Start and end are the first and the last event of any
// location, with corrected times.
type TraceInfo struct {
	Path              string `json:"path"`
	Format            string `json:"format"`
	Creator           string `json:"creator"`
	Processes         int    `json:"processes"`                   // ranks of MPI_COMM_WORLD
	ProcessesMissing  int    `json:"processes_missing,omitempty"` // of them, those without an event in the trace
	Unranked          bool   `json:"unranked,omitempty"`          // nothing says that the processes are ranks of one job
	Locations         int    `json:"locations"`
	Events            uint64 `json:"events"`
	StartNs           int64  `json:"start_ns"`
	EndNs             int64  `json:"end_ns"`
	DurationNs        int64  `json:"duration_ns"`
	ClockResolutionHz uint64 `json:"clock_resolution_hz"`

	Rebuilt *Rebuilt `json:"rebuilt"`           // null: the trace was recorded
	Reduced *Reduced `json:"reduced,omitempty"` // nil: nothing was cut from it
}

// Reduced says what was cut from a trace. Where that is much of its time, what needs the time is left out (DEFINITIONS 1.3).
type Reduced struct {
	By        []string    `json:"by"`                  // rules
	CutShare  float64     `json:"cut_share"`           // of the time of the locations that were kept
	LeftOut   []string    `json:"left_out,omitempty"`  // blocks that the trace cannot tell for that, by their paths
	Estimates []*Estimate `json:"estimates,omitempty"` // of the whole run, from sampled messages
}

// Within returns what the estimates that matter stay within in 95 of 100 samples: half of the widest interval, as a share of its estimate.
// It is nil without an interval, also of a nil Reduced.
func (r *Reduced) Within(matters func(key string) bool) (most *float64) {
	if r == nil {
		return nil
	}
	for _, e := range r.Estimates {
		if e.Low != nil && e.High != nil && e.Value > 0 && matters(e.Key) {
			if share := (*e.High - *e.Low) / 2 / e.Value; most == nil || share > *most {
				most = &share
			}
		}
	}
	return most
}

// LeftOut are the blocks of an analysis that need all of the time.
func LeftOut() []string {
	return []string{"critical_path", "delay_totals", "delays", "diagnosis", "efficiency", "threads"}
}

// MostCut is the share of the time that may be cut before what needs all of it is left out.
const MostCut = 0.01

// An Estimate is a sum over the whole run, estimated from sampled messages: each counts for as many as it stands for.
type Estimate struct {
	Key   string   `json:"key"` // path of the sum in this document
	Value float64  `json:"value"`
	Low   *float64 `json:"low"` // with High the 95 % interval; null: not known, since messages were not drawn at random
	High  *float64 `json:"high"`
}

// ReducedOf returns what a trace says of what was cut from it, nil if nothing was.
func ReducedOf(about trace.Info) *Reduced {
	by := about.ReducedBy()
	if by == nil {
		return nil
	}
	r := &Reduced{By: by, CutShare: about.CutShare()}
	if r.CutShare > MostCut {
		r.LeftOut = LeftOut()
	}
	return r
}

// Rebuilt says that the events of a trace were not recorded but rebuilt from statistics
// (DEFINITIONS 1.4). Visits, bytes and time by call path are those of the recorded run;
// times of single events are a model's, and so is what follows from them.
type Rebuilt struct {
	From        string   `json:"from"`        // the file and its formulae
	Approximate []string `json:"approximate"` // what else is not as recorded, with its share
	Modelled    []string `json:"modelled"`    // what of this document is the model's: paths, in rows with []
}

// RebuiltOf returns what a trace says of itself, nil if it was recorded.
func RebuiltOf(about trace.Info) *Rebuilt {
	if !about.Reconstructed() {
		return nil
	}
	r := &Rebuilt{From: about.Properties[trace.PropertyRebuiltFrom], Approximate: about.Approximations(), Modelled: []string{
		"call_sites[].max_ns", "call_sites[].min_ns", "call_sites[].p50_ns", "call_sites[].p99_ns",
		"collectives[].completion_ns", "collectives[].skew_ns", "collectives[].transfer_ns",
		"critical_path", "delay_totals", "delays", "efficiency.ideal_network_runtime_ns", "efficiency.serialization_efficiency",
		"efficiency.transfer_efficiency", "efficiency.zero_cost_runtime_ns",
		"lines[].causes_ns", "lines[].critical_path_ns", "lines[].imbalance_ns", "lines[].late_partner_ns", "lines[].overhead_ns",
		"lines[].own_ns", "lines[].transfer_ns", "lines[].unexplained_ns", "lines[].wait_ns",
		"messages.latencies", "messages.latency_ns", "overhead", "phases", "unclassified", "wait_states",
	}}
	if r.Approximate == nil {
		r.Approximate = []string{}
	}
	return r
}

// A Selection is the part of the trace that was analyzed: calls and regions are clipped
// to [FromNs, ToNs], and only the given ranks count.
//
// Messages are matched and waits found in the whole run, so that a partner outside still
// explains a wait inside; only what lies in the selection is summed. A message counts if
// both its calls overlap the selection; with one of them it is outside_selection. The
// critical path is the run's, cut to the window; what it does on ranks that are not
// selected is charged to "(outside the selection)". The efficiencies are those of the
// window; the ideal replay knows only calls that begin in it.
type Selection struct {
	Ranks  []uint32 `json:"ranks"` // ascending; empty: all
	FromNs int64    `json:"from_ns"`
	ToNs   int64    `json:"to_ns"`
}

// Coverage says how much of what is recorded entered the analysis. Share is
// (events_read - events_skipped) / events_read, null for a trace without events.
type Coverage struct {
	EventsRead         uint64   `json:"events_read"`
	EventsSkipped      uint64   `json:"events_skipped"`
	LocationsTruncated uint32   `json:"locations_truncated"`
	Share              *float64 `json:"share"`
}

// A Finding is a trace.Finding with its severity and text spelled out. Text is the code's
// text, followed by the details of the first occurrence if there are any.
type Finding struct {
	Code     string       `json:"code"`
	Severity string       `json:"severity"` // info, loss or error
	Count    uint64       `json:"count"`
	First    *field.Place `json:"first"` // null: about the trace as a whole
	Text     string       `json:"text"`
}

// Clock says what was done about the clocks and what it did. A violation is a message whose receive record lies strictly before its send
// record. If a least latency is asked for, it is one that takes less.
type Clock struct {
	Method            string          `json:"method"` // none, offsets, collectives, clc, offsets+clc or collectives+clc
	ViolationsRaw     uint64          `json:"violations_raw"`
	ViolationsOffsets uint64          `json:"violations_offsets"`
	ViolationsAfter   uint64          `json:"violations_after"`
	MaxViolationNs    int64           `json:"max_violation_ns"`
	MaxShiftNs        int64           `json:"max_shift_ns"`
	MinLatencyNs      int64           `json:"min_latency_ns"`
	Collectives       ClockViolations `json:"collectives"`
	Alignment         *ClockAlignment `json:"alignment,omitempty"` // nil: clocks were not found by collectives
}

// A ClockAlignment says what was found about the clocks of hosts by what happens together. MaxBoundNs is the error that is left at most:
// a wait between ranks that is shorter may be none.
type ClockAlignment struct {
	Clocks      int     `json:"clocks"`
	Unlinked    int     `json:"clocks_unlinked"` // that have no collective or messages with the others
	MaxOffsetNs int64   `json:"max_offset_ns"`
	MaxDriftPPM float64 `json:"max_drift_ppm"`
	MaxBoundNs  int64   `json:"max_bound_ns"`
	Before      uint64  `json:"violations_before"` // messages, collectives and operations of steps of training that run backwards as recorded
	Violations  uint64  `json:"violations"`        // those that still do, before the logical clock
}

// ClockViolations counts collectives that end for some member before another one, that must
// come first, has begun.
type ClockViolations struct {
	ViolationsRaw     uint64 `json:"violations_raw"`
	ViolationsOffsets uint64 `json:"violations_offsets"`
	ViolationsAfter   uint64 `json:"violations_after"`
}

// A ProfileRow sums the visits of one region over all locations. Inclusive time counts a recursive visit once. Min, max and mean are the
// exclusive time per rank, all threads of the rank together. They are over the selected ranks that visit the region, Ranks in number; if
// only locations outside MPI visit it, the times are 0 and the ranks of min and max null.
type ProfileRow struct {
	Region      string     `json:"region"`
	File        field.Name `json:"file"` // of its definition
	Line        field.Line `json:"line"`
	Paradigm    string     `json:"paradigm"` // annotation: a range that the program names, in which a stream executes nothing itself
	Count       uint64     `json:"count"`
	InclusiveNs int64      `json:"inclusive_ns"`
	ExclusiveNs int64      `json:"exclusive_ns"`
	MinNs       int64      `json:"min_ns"`
	MaxNs       int64      `json:"max_ns"`
	MeanNs      int64      `json:"mean_ns"`
	MinRank     field.Rank `json:"min_rank"`
	MaxRank     field.Rank `json:"max_rank"`
	Ranks       int        `json:"ranks"`
	counter.Rates
	Counters []CounterRow `json:"counters,omitempty"`
}

// A CounterRow is a counter's growth during the exclusive time of a region, for counters
// that accumulate; the others have their mean, minimum and maximum over the samples taken
// in the region. Values are in units of Unit. TimeNs is the time in which a sum was counted:
// from the sample before to each sample.
type CounterRow struct {
	Name    string   `json:"name"`
	Unit    string   `json:"unit"`
	Samples uint64   `json:"samples"`
	TimeNs  int64    `json:"time_ns"`
	Sum     *float64 `json:"sum"`  // accumulating counters; null for others
	Mean    *float64 `json:"mean"` // others; null for accumulating counters
	Min     *float64 `json:"min"`
	Max     *float64 `json:"max"`
}

// A CallSiteRow sums the calls of one MPI function from one source line. Min, mean, max
// and the quantiles are of single calls; the quantiles lie within 1 per cent.
type CallSiteRow struct {
	Operation string `json:"operation"`
	field.SourceLine
	Calls     uint64       `json:"calls"`
	TimeNs    int64        `json:"time_ns"`
	MinNs     int64        `json:"min_ns"`
	MeanNs    int64        `json:"mean_ns"`
	MaxNs     int64        `json:"max_ns"`
	P50Ns     int64        `json:"p50_ns"`
	P99Ns     int64        `json:"p99_ns"`
	Bytes     uint64       `json:"bytes"` // sent; received for roots of N×1; both for Waitall …
	MinRank   field.Rank   `json:"min_rank"`
	MaxRank   field.Rank   `json:"max_rank"`
	CallPaths []field.Path `json:"callpaths"` // ascending
}

// A CallPathRow sums the visits of one call path over all locations. Rows form a tree: the
// path is that of Parent with one more region. A caller has a smaller ID than what it
// calls, and its row is in the list. The rows with the most inclusive time come first, so
// that a caller comes before what it calls wherever times do not run backwards.
type CallPathRow struct {
	ID          field.Path `json:"id"`     // what other rows refer to
	Parent      field.Path `json:"parent"` // null: called by none
	Region      string     `json:"region"` // the innermost
	File        field.Name `json:"file"`   // with Line, where it is called, if the trace records that
	Line        field.Line `json:"line"`
	Count       uint64     `json:"count"`
	InclusiveNs int64      `json:"inclusive_ns"`
	ExclusiveNs int64      `json:"exclusive_ns"`
}

// Messages sums the point-to-point messages. Count and Bytes are of the matched messages
// between selected ranks, as CommMatrix has them.
type Messages struct {
	Count             uint64       `json:"count"`
	Bytes             uint64       `json:"bytes"`
	UnmatchedSends    uint64       `json:"unmatched_sends"`
	UnmatchedReceives uint64       `json:"unmatched_receives"`
	OutsideSelection  uint64       `json:"outside_selection"` // with one end in the selection
	Cancelled         uint64       `json:"cancelled"`
	Latency           *Latency     `json:"latency_ns"` // null: no message has one
	Sizes             []BytesClass `json:"sizes"`
	Latencies         []BytesClass `json:"latencies"`
}

// Latency describes the times from the start of the call that sends to the end of the call
// that completes the receive, in ns. Quantiles lie within 1 per cent. BelowZero counts the
// messages whose receive ends before their send begins: clocks disagree there, and the time
// is below 0 in all that follows.
type Latency struct {
	BelowZero uint64 `json:"below_zero"`
	Min       int64  `json:"min"`
	Mean      int64  `json:"mean"`
	P50       int64  `json:"p50"`
	P99       int64  `json:"p99"`
	Max       int64  `json:"max"`
}

// A BytesClass is a class of a histogram of messages: those whose size (in bytes) or
// latency (in ns) lies in [From, To). The latencies below 0 are one class.
type BytesClass struct {
	From  int64  `json:"from"`
	To    int64  `json:"to"`
	Count uint64 `json:"count"`
	Bytes uint64 `json:"bytes"`
}

// A MatrixCell sums the matched messages from one world rank to another: TimeNs their latencies (see Latency). WaitNs is what calls of both
// ranks wait for one of them: the receiver for late senders, the sender for late receivers.
type MatrixCell struct {
	From  uint32 `json:"from"`
	To    uint32 `json:"to"`
	Count uint64 `json:"count"`
	Bytes uint64 `json:"bytes"`

	TimeNs int64 `json:"time_ns"`
	WaitNs int64 `json:"wait_ns"`
}

// A CollectiveRow sums the blocking instances of one operation. TimeNs, the time in the calls summed over members, is SkewNs + TransferNs +
// CompletionNs: until the last member arrives, until the first leaves, the rest. Each is clamped to the member's own call.
type CollectiveRow struct {
	Operation     string `json:"operation"`
	Count         uint64 `json:"count"`
	Members       uint64 `json:"members"` // summed over instances
	BytesSent     uint64 `json:"bytes_sent"`
	BytesReceived uint64 `json:"bytes_received"`
	TimeNs        int64  `json:"time_ns"`
	SkewNs        int64  `json:"skew_ns"`
	TransferNs    int64  `json:"transfer_ns"`
	CompletionNs  int64  `json:"completion_ns"`
}

// Efficiency holds the POP efficiencies of the run, and again without MPI_Init and MPI_Finalize. The latter are null if no rank has left
// the one and entered the other in that order.
type Efficiency struct {
	Ratios
	// where calls keep their own time (2.11); nil: not asked for
	IdealNetworkNs      *int64         `json:"ideal_network_runtime_ns,omitempty"`
	WithoutInitFinalize *Ratios        `json:"without_init_finalize"`
	Offload             *Offload       `json:"offload,omitempty"`        // nil: no master thread waits for an accelerator
	WorkerThreads       *WorkerThreads `json:"worker_threads,omitempty"` // nil: there are none

	// IncompleteCallsNs is what main threads are in calls of which a record is missing, known waits left out. Above 1 % of the ranks' time
	// serialization and transfer are not known; else it is 0.
	IncompleteCallsNs int64 `json:"incomplete_calls_ns,omitempty"`

	// UnselectedWaitNs is what main threads wait for ranks that are not selected, by the same rule.
	UnselectedWaitNs int64 `json:"unselected_wait_ns,omitempty"`
}

// StartsUp reports whether an operation begins or ends MPI.
func StartsUp(operation string) bool {
	return strings.HasPrefix(operation, "MPI_Init") || operation == "MPI_Finalize"
}

// OnlyStartup reports whether ranks make no other calls than those that begin or end MPI, and are never between these. Then efficiency
// tells nothing of the program.
func (a *Analysis) OnlyStartup() bool {
	if a.Efficiency == nil || a.Efficiency.WithoutInitFinalize != nil || len(a.CallSites) == 0 {
		return false
	}
	return !slices.ContainsFunc(a.CallSites, func(c CallSiteRow) bool { return !StartsUp(c.Operation) && c.TimeNs > 0 })
}

// Ratios is the tree of DEFINITIONS 2.6: fractions, above 1 only where the
// replay with zero-cost MPI is slower than the run. Serialization and transfer are null if the replay could
// not order the messages or records are missing (IncompleteCallsNs, UnselectedWaitNs). All are null where waits of worker threads hide them
// (WorkerThreads).
//
//	parallel = load balance · communication; communication = serialization · transfer
type Ratios struct {
	ParallelEfficiency      *float64 `json:"parallel_efficiency"`
	LoadBalance             *float64 `json:"load_balance"`
	CommunicationEfficiency *float64 `json:"communication_efficiency"`
	SerializationEfficiency *float64 `json:"serialization_efficiency"`
	TransferEfficiency      *float64 `json:"transfer_efficiency"`
	// per rank: time of the master thread outside MPI, buffer flushes and recording off
	UsefulNs          []int64       `json:"useful_ns"`
	RuntimeNs         int64         `json:"runtime_ns"`
	ZeroCostRuntimeNs *int64        `json:"zero_cost_runtime_ns"` // with zero-cost MPI: calls take no time, and only wait
	ReplayedNs        *int64        `json:"-"`                    // the same, also if records are missing: it takes at least as long
	UsefulMin         field.Extreme `json:"useful_min"`
	UsefulMax         field.Extreme `json:"useful_max"`
	UsefulMeanNs      int64         `json:"useful_mean_ns"`
	EndEarly          []EarlyRank   `json:"end_early,omitempty"` // not among the ranks above
}

// An EarlyRank is a rank of which nothing is recorded from some time on (docs/internals/DECISIONS.md): no mean and no ratio is of it.
type EarlyRank struct {
	Rank       field.Rank `json:"rank"`
	RecordedNs int64      `json:"recorded_ns"` // of the time that the ratios are of
	UsefulNs   int64      `json:"useful_ns"`   // of that
}

// WorkerThreads sums what the threads that are not a rank's master do: their useful time
// and the time between their first and last events.
type WorkerThreads struct {
	Threads  int           `json:"threads"`
	UsefulNs int64         `json:"useful_ns"`
	SpanNs   int64         `json:"span_ns"`
	Min      field.Extreme `json:"useful_min"` // over ranks: the rank's workers together
	Max      field.Extreme `json:"useful_max"`

	// WaitNs is what they wait in calls for other ranks. Without teams no record says when their masters wait for them. Then no ratio of
	// masters is known, if it is more than 1 % of the ranks' time, together with IncompleteCallsNs.
	WaitNs int64 `json:"wait_ns,omitempty"`

	// IncompleteCallsNs is how long they are in calls of which the trace lacks a record, so that for whom they wait is unknown.
	IncompleteCallsNs int64 `json:"incomplete_calls_ns,omitempty"`
}

// Hidden reports whether waits of worker threads hide the ratios.
func (e *Efficiency) Hidden() bool {
	return e.ParallelEfficiency == nil && e.WorkerThreads != nil && e.WorkerThreads.WaitNs+e.WorkerThreads.IncompleteCallsNs > 0
}

// A CriticalPath is the chain of activities that determines the length of the run.
// The times of Regions sum to LengthNs exactly.
type CriticalPath struct {
	LengthNs int64         `json:"length_ns"`
	Regions  []CriticalRow `json:"regions"`

	// OvertakenNs is the path's time in receives directly behind one from the same call path
	// that waits for a message sent later. What follows each until the next call counts too.
	OvertakenNs int64 `json:"-"`

	// ShortestNs is the shortest visit to any region.
	ShortestNs int64 `json:"-"`
}

// A CriticalRow is the path's time in one operation of one source line, or in one region
// outside MPI. Region is "(not recorded)" for time before the path's first event.
// ImbalanceNs is the path's time above the mean over ranks of the time, without waits,
// spent there.
type CriticalRow struct {
	field.SourceLine
	Operation   field.Name `json:"operation"` // null: outside MPI
	TimeNs      int64      `json:"time_ns"`
	Share       *float64   `json:"share"`
	ImbalanceNs int64      `json:"imbalance_ns"`

	// UnequalNs is the path's time above what as many visits take in the mean. Visits are those
	// to its call paths on all ranks, VisitNs what one of them takes itself in the mean.
	UnequalNs int64   `json:"-"`
	Visits    uint64  `json:"-"`
	VisitNs   float64 `json:"-"`
}

// A CriticalSegment is a piece of the critical path: location Location from FromNs to
// ToNs. Segments join each other without gaps.
type CriticalSegment struct {
	Location uint32
	Rank     field.Rank
	FromNs   int64
	ToNs     int64
}

// Offload says how much of the time outside MPI master threads only wait for accelerators (DEFINITIONS 2.6): Efficiency is the share of
// that time in which they do not. ParallelEfficiency is that of the processes with it: Σ (useful − waiting) / (ranks · run time).
type Offload struct {
	Efficiency         *float64 `json:"efficiency"`
	ParallelEfficiency *float64 `json:"parallel_efficiency"`
	WaitNs             []int64  `json:"wait_ns"` // per rank
}
