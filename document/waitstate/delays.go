package waitstate

import (
	"encoding/json"
	"strconv"

	"tracekit/document/field"
)

// A Delay is a place that makes others wait, with what it costs them: the sum over ranks of waiting time that it causes. ShortNs is the
// wait at the end of the synchronisation interval in which the place took longer than on the rank that waits; LongNs are later waits that
// go on from there. TotalNs is their sum, that of By and that of Ranks, which says on which rank the place took longer.
//
// Where the place is none of the call tree, Region is "(outside any region)", "(not recorded)", "(writing the trace)" or "(recording off)".
// Not recorded is what lies before the first event of a rank.
type Delay struct {
	field.SourceLine
	Operation  field.Name       `json:"operation"` // null: outside MPI
	ShortNs    int64            `json:"short_ns"`
	LongNs     int64            `json:"long_ns"`
	TotalNs    int64            `json:"total_ns"`
	By         DelayKinds       `json:"by"` // by the wait state that it ends in
	MostRank   field.Rank       `json:"most_rank"`
	MostRankNs int64            `json:"most_rank_ns"`
	Ranks      []field.RankTime `json:"ranks"` // the one with the most first
	StartupNs  []int64          `json:"-"`     // what Ranks cost waits at startup, in their order
	OutsideNs  []int64          `json:"-"`     // of a training job: what of that are waits that end in none of its steps
	AtOnce     DelayKinds       `json:"-"`     // ShortNs by wait state
	Longest    Delayed          `json:"-"`     // of single waits that it causes at once
}

// A Delayed is where a call waits for a place, in which state, and how long. Operation "": none does at once.
type Delayed struct {
	field.SourceLine
	Operation field.Name
	Kind      Kind
	TimeNs    int64
}

// DelayKinds holds times by wait state. In JSON it is an object with their keys and
// wait_at_startup, for waits in MPI_Init and MPI_Finalize.
type DelayKinds [Kinds]int64

// MarshalJSON implements json.Marshaler.
func (d DelayKinds) MarshalJSON() ([]byte, error) {
	return marshalDelayed(func(k Kind) ([]byte, error) { return strconv.AppendInt(nil, d[k], 10), nil })
}

// DelayTotals says what becomes of all waits, by wait state; in JSON the keys are those of
// DelayKinds.
type DelayTotals [Kinds]DelayTotal

// A DelayTotal says what causes the waits of one kind: ShortNs + LongNs + UnexplainedNs is their time. What no delay explains: waits for
// what is recorded outside any call; what of a wait is longer than all that its cause has done longer, where clocks disagree; and what
// follows from the second wait of a late receiver behind a late sender, in an interval that begins with the first.
type DelayTotal struct {
	ShortNs       int64 `json:"short_ns"`
	LongNs        int64 `json:"long_ns"`
	UnexplainedNs int64 `json:"unexplained_ns"`
}

// MarshalJSON implements json.Marshaler.
func (d *DelayTotals) MarshalJSON() ([]byte, error) {
	return marshalDelayed(func(k Kind) ([]byte, error) { return json.Marshal(d[k]) })
}

// marshalDelayed makes an object of the wait states that have a cause.
func marshalDelayed(value func(Kind) ([]byte, error)) ([]byte, error) {
	out := []byte{'{'}
	for k := range Kinds {
		if !k.Info().Caused {
			continue
		}
		text, err := value(k)
		if err != nil {
			return nil, err
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(strconv.AppendQuote(out, k.Info().Key), ':')
		out = append(out, text...)
	}
	return append(out, '}'), nil
}
