// Package training has the part of a document that says what a training job, or any program, loses to slow workers.
package training

import (
	"fmt"

	"tracekit/document/field"
)

// A Job says what a training job loses to slow workers (DEFINITIONS 2.19). A job repeats a step on workers, each of which is a
// data-parallel rank and a stage of the pipeline. Times are means over steps of their replays, in ns.
type Job struct {
	Steps      int `json:"steps"`          // that were replayed
	LeftOut    int `json:"steps_left_out"` // they have other operations than the first step
	DPRanks    int `json:"dp_ranks"`
	TPRanks    int `json:"tp_ranks,omitempty"` // ranks that share the computation of a data-parallel rank and stage; absent: one
	Stages     int `json:"stages"`
	Operations int `json:"operations"` // in the steps that were replayed
	Unknown    int `json:"operations_unknown,omitempty"`

	StepNs   int64    `json:"step_ns"`  // with recorded durations
	EqualNs  int64    `json:"equal_ns"` // with equal durations
	Slowdown float64  `json:"slowdown"` // step_ns / equal_ns
	MW       *float64 `json:"m_w"`      // share of the loss that ends when the slowest workers have equal durations; null: no loss
	MS       *float64 `json:"m_s"`      // the same of the last stage

	Slowest  []field.Rank `json:"slowest"`   // the workers of m_w
	MendedNs int64        `json:"mended_ns"` // step_ns if these compute as long as their peers
	ByWorker []Worker     `json:"by_worker"`
	// by which a step is shorter if all workers with a pattern compute as long as their peers; nil: there are not several
	TogetherNs *int64      `json:"together_gain_ns,omitempty"`
	ByDP       []GroupSlow `json:"by_dp_rank"`
	ByTP       []GroupSlow `json:"by_tp_rank,omitempty"`
	ByStage    []GroupSlow `json:"by_stage"`
	ByType     []TypeSlow  `json:"by_type"`
	ByStep     []StepSlow  `json:"by_step"` // in order of their numbers
	Bubbles    []Bubble    `json:"bubbles"` // by stage
	Sequences  *Sequences  `json:"sequences,omitempty"`
	Structure  *Structure  `json:"structure,omitempty"` // nil: the trace lists steps and workers

	// by which a step may seem longer or shorter because clocks of hosts were aligned; absent: they were not
	ClockErrorNs     int64 `json:"clock_error_ns,omitempty"`
	WithinClockError bool  `json:"within_clock_error,omitempty"` // so is step_ns − equal_ns

	Missing []WorkerMissing `json:"workers_missing,omitempty"` // not in the trace; their data-parallel ranks are left out
}

// A WorkerMissing is a worker that is not in the trace.
type WorkerMissing struct {
	DP    int `json:"dp_rank"`
	Stage int `json:"stage"`
}

// A Structure says how steps and workers were found in what a profiler has recorded.
type Structure struct {
	Steps   string          `json:"steps"`
	Groups  []ProcessGroups `json:"groups"`
	LeftOut []field.Rank    `json:"ranks_left_out,omitempty"` // of their data-parallel ranks some stages are not recorded
	Notes   []Unrecorded    `json:"notes"`
}

// An Unrecorded is something that a profiler has not recorded, without which steps are replayed all the same.
type Unrecorded struct {
	Record string `json:"record"`
	Count  int    `json:"count,omitempty"` // of kernels or ranks: without it
	Of     int    `json:"of,omitempty"`
}

// What may not be recorded.
const (
	NoBackward     = "backward_pass" // forward and backward passes are one computation
	NoOptimizer    = "optimizer"     // what follows the last backward computation counts as optimizer
	NoGroups       = "process_groups"
	NoMicroBatches = "micro_batches"
	NoLaunch       = "launches" // of kernels
	NoFiles        = "ranks"
)

// By what steps are known.
const (
	StepsProfiler = "ProfilerStep"
	StepsNamed    = "annotation" // with a number, such as step3
	StepsServed   = "server"     // annotations of a server of models without a number, such as step[DECODE bs=32]
	StepsRepeat   = "repetition" // what the optimizer or the communication repeats
)

// ProcessGroups are process groups for one purpose and of one size.
type ProcessGroups struct {
	Role    string `json:"role"`
	By      string `json:"by"` // how the role is known; "": it is not
	Groups  int    `json:"groups"`
	Ranks   int    `json:"ranks"` // of each
	Example string `json:"example"`
}

// What process groups are for.
const (
	RoleData      = "data"
	RoleTensor    = "tensor"
	RolePipeline  = "pipeline"
	RoleExpert    = "expert"
	RoleContext   = "context"
	RoleEmbedding = "embedding"
	RoleModel     = "model" // tensor and pipeline together
	RoleAll       = "all"
	RoleUnknown   = "unknown"
)

// How the role of a group is known.
const (
	ByName    = "name"
	ByUse     = "use" // what is communicated when
	ByMembers = "members"
)

// A Worker is one worker. Slowdown is an estimate: the least of those of its data-parallel rank, its stage and, if there are several, its
// tensor-parallel rank.
type Worker struct {
	Rank     field.Rank `json:"rank"`
	DP       int        `json:"dp_rank"`
	TP       *int       `json:"tp_rank,omitempty"`
	Stage    int        `json:"stage"`
	Slowdown float64    `json:"slowdown"`
	// by how much longer it computes than its peers, in the mean over steps, as a share of their time
	Excess  float64  `json:"excess"`
	Pattern string   `json:"pattern"`          // always, since, until, at_random; "": it is not slow
	Step    *int64   `json:"step,omitempty"`   // of since and until: the first step after the change
	Slow    int      `json:"slow_steps"`       // steps in which it is slow
	Every   *int64   `json:"every,omitempty"`  // of at_random, if it is always the same: from one slow step to the next
	Odds    *float64 `json:"odds,omitempty"`   // bound of the probability of this finding where workers are equal
	Before  *float64 `json:"before,omitempty"` // excess before the change
	After   *float64 `json:"after,omitempty"`
	// steps in which it computes longest of its peers, of those in which it and one of them at least are not slow; and whether that
	// is more than chance makes
	Longest      int  `json:"-"`
	Compared     int  `json:"-"`
	OftenLongest bool `json:"-"`
	// by which a step is shorter if it computes as long as its peers; of the slowest with a pattern
	GainNs *int64 `json:"gain_ns,omitempty"`

	WithinClockError bool `json:"within_clock_error,omitempty"` // what its slowdown costs a step; excess is by its own clock
}

// The patterns of slow workers.
const (
	SlowAlways   = "always"
	SlowSince    = "since"
	SlowUntil    = "until"
	SlowAtRandom = "at_random"
)

// AtRandom says in which steps a worker is slow that is so at random, or in regular distance.
func (w *Worker) AtRandom() string {
	if w.Every != nil {
		return fmt.Sprintf("slow every %d steps", *w.Every)
	}
	return "slow at random"
}

// A GroupSlow is the slowdown of a data-parallel rank or of a stage: all others have equal durations.
type GroupSlow struct {
	Number           int     `json:"number"`
	Slowdown         float64 `json:"slowdown"`
	WithinClockError bool    `json:"within_clock_error,omitempty"` // what a step is longer by is no more than clock_error_ns
}

// A TypeSlow is the slowdown of a type of operations.
type TypeSlow struct {
	Type       string  `json:"type"`
	Operations int     `json:"operations"`
	EqualNs    int64   `json:"equal_ns"` // duration or transfer of each where all are equal; of sends and receives the receives'
	Slowdown   float64 `json:"slowdown"`

	WithinClockError bool `json:"within_clock_error,omitempty"`
}

// A StepSlow is a step. Rank is the worker that computes longest beyond its peers in it.
type StepSlow struct {
	Step     int64      `json:"step"`
	StepNs   int64      `json:"step_ns"`
	Slowdown float64    `json:"slowdown"`
	Rank     field.Rank `json:"rank"`
	Excess   float64    `json:"excess"`  // of that worker, as a share of the time of its peers
	FromNs   int64      `json:"from_ns"` // as recorded
	ToNs     int64      `json:"to_ns"`
}

// A Bubble is the time of a step in which nothing runs on a stage, a mean over its workers and the steps.
type Bubble struct {
	Stage      int     `json:"stage"`
	Share      float64 `json:"share"`       // of the step
	BubbleNs   int64   `json:"bubble_ns"`   // schedule_ns + rest_ns
	ScheduleNs int64   `json:"schedule_ns"` // it is there with equal durations, too
	WarmUpNs   int64   `json:"warm_up_ns"`  // of schedule_ns, before the first backward computation
	CoolDownNs int64   `json:"cool_down_ns"`
	RestNs     int64   `json:"rest_ns"` // below 0: unequal durations fill the bubble
}

// Sequences says how micro-batches differ: long sequences take longer forward and backward.
type Sequences struct {
	Correlation float64 `json:"correlation"` // of the forward and the backward time of a micro-batch
	Variation   float64 `json:"variation"`   // standard deviation of the time of micro-batches, as a share of their mean
	Varying     bool    `json:"varying"`     // both are large
}

// An Unequal says how much slower a program is because its ranks are unequal (DEFINITIONS 2.19): its replay, and that in which places
// take the mean over ranks, visit by visit.
type Unequal struct {
	RuntimeNs int64        `json:"runtime_ns"`
	EqualNs   int64        `json:"equal_ns"`
	Slowdown  float64      `json:"slowdown"`
	MW        *float64     `json:"m_w"`     // share of the loss that ends when the slowest ranks are as fast as the mean; null: no loss
	Slowest   []field.Rank `json:"slowest"` // the ranks of m_w
	ByRank    []RankSlow   `json:"by_rank"`
	ByPlace   []PlaceSlow  `json:"by_place"`
}

// A RankSlow is the slowdown of a rank: all other ranks take the mean.
type RankSlow struct {
	Rank     field.Rank `json:"rank"`
	Slowdown float64    `json:"slowdown"`
}

// A PlaceSlow is the slowdown of a place: in all other places ranks take the mean.
type PlaceSlow struct {
	Place    string  `json:"place"`
	Slowdown float64 `json:"slowdown"`
}
