// Package sample has what message sampling would have seen of a run (DEFINITIONS 1.2).
package sample

import (
	"tracekit/document/field"
)

// A Restriction says which messages take part beyond the selection.
type Restriction struct {
	MinBytes uint64     `json:"min_bytes"`
	MaxBytes *uint64    `json:"max_bytes"` // null: any
	Site     field.Name `json:"site"`      // null: any
	CallPath field.Name `json:"call_path"` // null: any
	Skipped  uint64     `json:"skipped"`   // sends that take no part
}

// Settings are the parameters of a configuration.
type Settings struct {
	Strategy    string   `json:"strategy"`  // random, counter or timer
	Threshold   *float64 `json:"threshold"` // random
	Period      *int64   `json:"period"`    // counter: messages; timer: ns
	Variance    *int64   `json:"variance"`  // in the same unit
	Seed        uint64   `json:"seed"`
	Since       string   `json:"since,omitempty"` // timer: send or sample
	Analysis    string   `json:"analysis"`        // STAT, FREQ or WRITE
	Probability *float64 `json:"probability"`     // with which a message is sampled in the long run; null: not known
}

// A Population is what is sampled from.
type Population struct {
	Messages   uint64 `json:"messages"`
	Bytes      uint64 `json:"bytes"`
	Categories int    `json:"categories"`
	Unmatched  uint64 `json:"unmatched"`  // sends that nobody receives: nothing can be learned of them
	Unexpected uint64 `json:"unexpected"` // messages sent before their receives were posted
	Pooled     uint64 `json:"pooled"`     // messages in categories that stand for many, for a rank had too many
}

// Sampled is what was sampled of it.
type Sampled struct {
	Messages   uint64    `json:"messages"`
	Bytes      uint64    `json:"bytes"`
	Categories int       `json:"categories"`
	Unmatched  uint64    `json:"unmatched"`
	Unexpected uint64    `json:"unexpected"`
	Share      *float64  `json:"share"` // of the population's messages
	Ranks      []RankRow `json:"ranks"` // by sender, ascending
}

// A RankRow is what one rank sends and has sampled.
type RankRow struct {
	Rank       field.Rank `json:"rank"`
	Population uint64     `json:"population"`
	Sampled    uint64     `json:"sampled"`
}

// A SiteRow is an operation at a source line.
type SiteRow struct {
	Operation field.Name `json:"operation"`
	field.SourceLine
}

// A CategoryRow is one category. Its id is a hash of the tuple, the same in every run. Shares are
// of all messages; means and errors are of latencies.
type CategoryRow struct {
	ID           string      `json:"id"`
	From         field.Rank  `json:"from"`
	To           field.Rank  `json:"to"`
	Send         *SiteRow    `json:"send"` // null: a category of pooled messages
	Receive      *SiteRow    `json:"receive"`
	Bytes        uint64      `json:"bytes"` // of pooled messages the least
	Population   uint64      `json:"population"`
	Sampled      uint64      `json:"sampled"`
	Share        float64     `json:"share"`
	SampledShare *float64    `json:"sampled_share"` // null: nothing was sampled at all
	MeanNs       int64       `json:"mean_ns"`
	MeanError    *float64    `json:"mean_error"` // of the sampled mean, relative; null: never seen
	Stat         *StatRow    `json:"stat"`       // null: never seen
	Freq         []DecadeRow `json:"freq,omitempty"`
}

// A StatRow is the STAT of a category.
type StatRow struct {
	Count   uint64 `json:"count"`
	TotalNs int64  `json:"total_ns"`
	MinNs   int64  `json:"min_ns"`
	MaxNs   int64  `json:"max_ns"`
}

// A DecadeRow is a class of FREQ: latencies of from_ns and more, below to_ns. Below 0 is one class.
type DecadeRow struct {
	From  *int64 `json:"from_ns"` // null: all below
	To    *int64 `json:"to_ns"`   // null: all above
	Count uint64 `json:"count"`
	True  uint64 `json:"population"`
}

// Coverage says which share of the categories was seen, and of the messages and bytes in the
// population those of seen categories.
type Coverage struct {
	Categories *float64 `json:"categories"`
	Messages   *float64 `json:"messages"`
	Bytes      *float64 `json:"bytes"`
}

// Estimates are what the sample says of the population, beside the truth.
type Estimates struct {
	Method   Method   `json:"method"`
	Messages Estimate `json:"messages"`
	Bytes    Estimate `json:"bytes"`
	Latency  Estimate `json:"latency_total_ns"`

	// Counted is that of random sampling if ranks count their sends, which the layer sees anyway; nil: another strategy.
	Counted *Estimate `json:"latency_total_counted_ns,omitempty"`
}

// An Estimate is null where there is nothing to estimate from; low and high, the bounds of the
// 95 % interval, are null where none is known to hold.
type Estimate struct {
	True     int64    `json:"true"`
	Estimate *float64 `json:"estimate"`
	Low      *float64 `json:"low"`
	High     *float64 `json:"high"`
	Error    *float64 `json:"error"` // relative
}

// Bias says how the sample differs from a random one. The p-value is of the χ² test of its counts
// by category; a sample is biased if it is below 0.001. Shares are of messages.
type Bias struct {
	MaxShareError  *float64   `json:"max_share_error"`  // largest difference of a category's shares
	MeanError      *float64   `json:"mean_error"`       // of the mean latency of all messages, relative
	MeanBytesError *float64   `json:"mean_bytes_error"` // of the mean size
	AfterPause     PauseShare `json:"after_pause"`
	Chi2           *float64   `json:"chi2"`
	DOF            int        `json:"dof"`
	PValue         *float64   `json:"p_value"`
	Biased         *bool      `json:"biased"`     // null: too few samples to tell
	NeverSeen      []string   `json:"never_seen"` // categories, those with the most messages first
}

// A PauseShare compares how many messages follow a pause: they are sent later after the rank's one before than the rank's mean, as the
// first send after a computation is.
type PauseShare struct {
	Population *float64 `json:"population"`
	Sampled    *float64 `json:"sampled"`
}

// A Model is what the sampling would have cost. The latencies are of a small message; run_time_ns is that of this trace, replayed with what
// sampling costs each message. Null: it was not asked for, or the trace cannot be replayed.
type Model struct {
	BaselineUs     float64  `json:"baseline_us"`
	WithSamplingUs float64  `json:"with_sampling_us"`
	RunTime        *int64   `json:"run_time_ns"`
	Slowdown       *float64 `json:"slowdown"`      // of that, over the run time as recorded
	SampledBytes   uint64   `json:"sampled_bytes"` // what it keeps: of a category its sums or counts, of WRITE a record for each message
	PaperUs        *float64 `json:"paper_us"`      // measured in the paper; null: not this configuration
}

// A PaperRow is a latency that the paper measured in its ping-pong, and the model's.
type PaperRow struct {
	Configuration string  `json:"configuration"`
	MeasuredUs    float64 `json:"measured_us"`
	ModelUs       float64 `json:"model_us"`
}

// Analyses are what wait states and overhead would have been from the sample alone.
type Analyses struct {
	LateSender   AnalysisRow       `json:"late_sender"`
	LateReceiver AnalysisRow       `json:"late_receiver"`
	Overhead     []OverheadLineRow `json:"overhead,omitempty"` // the lines with the most overhead first
}

// An AnalysisRow compares the full analysis, which sums over calls, with what all messages, each by
// itself, and the sampled ones say.
type AnalysisRow struct {
	True     int64    `json:"true_ns"`     // of the full analysis
	Messages int64    `json:"messages_ns"` // if all messages were sampled
	Estimate *float64 `json:"estimate_ns"`
	Low      *float64 `json:"low_ns"`
	High     *float64 `json:"high_ns"`
}

// An OverheadLineRow is the overhead of an operation at a source line, of calls that send or
// complete a receive.
type OverheadLineRow struct {
	SiteRow
	True     int64    `json:"true_ns"`
	Messages int64    `json:"messages_ns"`
	Estimate *float64 `json:"estimate_ns"`
}

// A Method says how totals are estimated from a sample.
type Method string

// The methods.
const (
	// HorvitzThompson weighs each sample with one over its probability of inclusion, T.
	HorvitzThompson Method = "horvitz_thompson"

	// Nothing is that of configurations that sample nothing.
	Nothing Method = "none"

	// Counted lets the samples of a rank stand for equal parts of its sends, whose number a
	// counter knows.
	Counted Method = "counted"

	// Naive is Counted for timers, as if every send had been as likely to be sampled.
	Naive Method = "naive"
)
