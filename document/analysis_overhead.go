package document

import (
	"tracekit/document/field"
	"tracekit/stats/fit"
)

// Overhead holds the necessary time and the overhead of MPI calls of DEFINITIONS 1.1.
// Every call that communicates, starts or completes a request, synchronises or probes is
// in it, but not MPI_Init and MPI_Finalize, which run once.
//
//	TotalNs = Σ Lines.TotalNs, the total communication time
//	OverheadNs = Σ Lines.OverheadNs = Σ Keys.OverheadNs
type Overhead struct {
	Source     string         `json:"source"` // "trace": self-calibration; "profile": a profile was given
	Profile    *ProfileInfo   `json:"profile,omitempty"`
	Quantile   float64        `json:"quantile"` // of t_max; the profile's, if there is one
	Alpha      float64        `json:"alpha"`
	Keys       []OverheadKey  `json:"keys"`
	Lines      []OverheadLine `json:"lines"`
	Pairs      []OverheadPair `json:"pairs"`
	TotalNs    int64          `json:"total_ns"`
	OverheadNs int64          `json:"overhead_ns"`
}

// ProfileInfo says where a profile was learned.
type ProfileInfo struct {
	Machine   string `json:"machine"`
	Library   string `json:"library"`
	Creator   string `json:"creator"`
	Processes int    `json:"processes"`
}

// An OverheadKey is the law of the durations, without wait states, of the calls of one
// function with the same parameters: role, number of processes (2 for point-to-point, the communicator's size
// for collectives) and bytes. Role is empty if all calls of the function do the same; "root" or
// "leaf" for a collective with a root; "sends", "receives" or "both" for calls that
// complete or start requests, and for MPI_Sendrecv; "root", "leaf" or "collective" for the completion of a collective.
//
// Bytes are those that the caller passed: of the message or, for a call that completes
// several, their sum; of a collective what one rank gives to or gets from another, the mean
// where that differs. A call that posts a receive has those of the message that it gets. If
// sizes were pooled, Bytes is the mean over the calls, rounded down.
//
// Model is null if no model is accepted, or if t_max is that of a profile; the numbers
// that a model does not have are null.
type OverheadKey struct {
	Operation string     `json:"operation"`
	Role      string     `json:"role"`
	Processes uint32     `json:"processes"`
	Bytes     uint64     `json:"bytes"`
	Calls     uint64     `json:"calls"`    // in the sample: whole calls of the selection
	TMinNs    int64      `json:"t_min_ns"` // of the source of t_max
	TMaxNs    int64      `json:"t_max_ns"`
	LeastNs   int64      `json:"least_ns"` // the shortest call of this trace
	Model     field.Name `json:"model"`
	Lambda    *float64   `json:"lambda"` // Poisson: in windows; exponential: per ns
	WindowNs  *int64     `json:"window_ns"`
	Chi2      *float64   `json:"chi2"`
	Dof       *int       `json:"dof"`
	PValue    *float64   `json:"p_value"`
	Accepted  bool       `json:"accepted"`

	// Source is where t_min and t_max come from: "trace" or "profile". From says how: "law",
	// "empirical" (no model accepted), "equal" (one class) or, with a profile,
	// "interpolated" or "extrapolated".
	Source     string  `json:"source"`
	From       string  `json:"from"`
	Parameters []Param `json:"parameters"`
	// sizes that were joined to reach 50 calls; one: a size class of which the sizes are not known
	Pooled []int64 `json:"pooled,omitempty"`
	Few    bool    `json:"few"` // fewer than 50 calls all the same

	// Unreliable says that t_max is more than 100 times t_min, and fewer than 200 calls or no
	// accepted law stand behind it. Such a key enters no verdict.
	Unreliable bool `json:"unreliable"`

	// ThresholdNs is the time that none of this many calls at once should exceed but with
	// probability alpha; null without a law, or if the law's tail is too heavy for one.
	ThresholdNs *int64 `json:"threshold_ns"`

	Over       uint64   `json:"over"`        // calls of the sample above t_max
	OverheadNs int64    `json:"overhead_ns"` // of all calls, waits included
	OverPValue *float64 `json:"over_p_value"`
	Anomalous  bool     `json:"anomalous"` // Over is too many, with the false-discovery rate over all keys at 5 %

	// Fit is the whole fit of the key's sample.
	Fit fit.Result `json:"-"`
}

// A Param is a parameter of a fitted law.
type Param struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// An OverheadLine is the overhead of one operation called from one source line. Overhead
// is late partner + transfer + unexplained, exactly.
type OverheadLine struct {
	field.SourceLine
	Operation     string   `json:"operation"`
	Calls         uint64   `json:"calls"`
	Slow          uint64   `json:"slow"` // calls with overhead
	TotalNs       int64    `json:"total_ns"`
	OverheadNs    int64    `json:"overhead_ns"`
	LatePartnerNs int64    `json:"late_partner_ns"`
	TransferNs    int64    `json:"transfer_ns"`
	UnexplainedNs int64    `json:"unexplained_ns"`
	Share         *float64 `json:"share"` // overhead in TotalNs

	UnreliableCalls uint64 `json:"unreliable_calls"` // held to a t_max that is unreliable (see OverheadKey)
	ProfileCalls    uint64 `json:"profile_calls"`    // held to the t_max of the profile that was given; the others to this trace's

	CriticalPathNs    int64    `json:"critical_path_ns"`
	CriticalPathShare *float64 `json:"critical_path_share"` // of the path's length
}

// An OverheadPair is two lines between which messages flow. What a call waits for a partner is charged to that partner's message. The rest
// of its overhead is divided evenly among the messages that it posts or completes. The verdict is "late sender" if the receiving line has
// at least twice the overhead of the sending line. It is "late receiver" if the sending line has at least twice that of the receiving line,
// "none" if neither has any. Else it is "undecided", for the reason of being "nearly equal". Overhead beyond an unreliable t_max does not
// count. If most calls of a side have no other, wait states decide by the same rule (ByWaits). The larger one must be half of the
// overhead at least. Else the verdict is "undecided" for being "unreliable". A verdict by overhead is confirmed if the wait states of these
// messages say the same.
type OverheadPair struct {
	Send              PairEnd `json:"send"`
	Receive           PairEnd `json:"receive"`
	Messages          uint64  `json:"messages"`
	SendOverheadNs    int64   `json:"send_overhead_ns"`
	ReceiveOverheadNs int64   `json:"receive_overhead_ns"`
	LateSenderNs      int64   `json:"late_sender_ns"`
	LateReceiverNs    int64   `json:"late_receiver_ns"`
	Verdict           string  `json:"verdict"`
	Reason            string  `json:"reason,omitempty"` // why it is undecided
	ByWaits           bool    `json:"by_waits"`         // the verdict is that of the late senders and late receivers of these messages
	Confirmed         bool    `json:"confirmed"`
	Mixed             bool    `json:"mixed"` // most calls of one line are held to the profile that was given, of the other to this trace
}

// A PairEnd is the line that posts a send, or the line that completes a receive.
type PairEnd struct {
	field.SourceLine
	Operation field.Name `json:"operation"` // null: outside any call
}

// A LineRow adds up what the other blocks say of one operation called from one source
// line. Every row of call_sites is here, with the same time, and nothing else: the times
// sum to the time in MPI, waits to the wait states, overheads to that of the overhead block.
//
//	TimeNs = OwnNs + LatePartnerNs + ImbalanceNs + TransferNs + UnexplainedNs
//
// The first three are what the calls need, the waits for the partner of a message, and those for the others of a collective. MPI_Init and
// MPI_Finalize count as collectives. The last two are what calls take beyond what they need and wait: for a large message, and for no
// reason that is known. Both are 0 if the overhead was not computed. CausesNs is what the place costs others (see waitstate.Delay).
type LineRow struct {
	field.SourceLine
	Operation      field.Name `json:"operation"`
	Calls          uint64     `json:"calls"`
	TimeNs         int64      `json:"time_ns"`
	WaitNs         int64      `json:"wait_ns"` // in wait states
	OwnNs          int64      `json:"own_ns"`
	LatePartnerNs  int64      `json:"late_partner_ns"`
	ImbalanceNs    int64      `json:"imbalance_ns"`
	TransferNs     int64      `json:"transfer_ns"`
	UnexplainedNs  int64      `json:"unexplained_ns"`
	CausesNs       int64      `json:"causes_ns"`
	OverheadNs     *int64     `json:"overhead_ns"`         // null: not computed, or the calls do not communicate
	OverheadSource field.Name `json:"overhead_source"`     // of t_max: "trace", "profile" or "both"; null as overhead_ns
	Unreliable     bool       `json:"overhead_unreliable"` // most calls are held to a t_max that is unreliable (see OverheadKey)
	CriticalPathNs int64      `json:"critical_path_ns"`
	Bytes          uint64     `json:"bytes"`
}
