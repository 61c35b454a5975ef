package stats

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tracekit/trace"
)

// A WaitKind is a wait state, in the order of the document.
type WaitKind uint8

// The wait states. Of those that calls are charged with, the first in this order counts
// where a call waits equally long for several reasons. NxNCompletion and BarrierCompletion
// are what follows the wait in the same calls; LateSenderWrongOrder is a part of LateSender.
// LateReceiverBehindLateSender is what a call that waits for a late sender waits longer for a
// receiver.
// WaitAtTeamBarrier is that of the threads of a team, whose share is of the run time of all
// threads. WaitAtStartup is the wait in MPI_Init or MPI_Finalize for the last rank to enter it: it
// counts for the critical path and has delay costs, and is none of WaitStates.
const (
	NoWait WaitKind = iota
	LateSender
	LateSenderWrongOrder
	LateReceiver
	LateReceiverBehindLateSender
	WaitAtNxN
	NxNCompletion
	WaitAtBarrier
	BarrierCompletion
	LateBroadcast
	EarlyReduce
	EarlyScan
	WaitAtNxNUnclassified
	WaitAtTeamBarrier
	WaitAtStartup
	waitKinds // their number
)

// A WaitInfo describes a wait state.
type WaitInfo struct {
	Key        string // in the document; "": it is no wait
	Title      string // for people
	Definition string // the section of docs/DEFINITIONS.md
	Part       bool   // of the wait state before it
	Caused     bool   // calls are charged with it, each for the sake of another call
	Partner    bool   // it is for the partner of a message, not for who takes part in a collective
	Startup    bool   // in MPI_Init or MPI_Finalize: none of WaitStates
}

var waitInfos = [waitKinds]WaitInfo{
	NoWait:                       {Title: "no wait"},
	LateSender:                   {Key: "late_sender", Title: "late sender", Definition: "2.1", Caused: true, Partner: true},
	LateSenderWrongOrder:         {Key: "late_sender_wrong_order", Title: "in wrong order", Definition: "2.1", Part: true, Partner: true},
	LateReceiver:                 {Key: "late_receiver", Title: "late receiver", Definition: "2.1", Caused: true, Partner: true},
	LateReceiverBehindLateSender: {Key: "late_receiver_behind_late_sender", Title: "late receiver behind a late sender", Definition: "2.1", Caused: true, Partner: true},
	WaitAtNxN:                    {Key: "wait_at_nxn", Title: "wait at N×N", Definition: "2.2", Caused: true},
	NxNCompletion:                {Key: "nxn_completion", Title: "N×N completion", Definition: "2.2"},
	WaitAtBarrier:                {Key: "wait_at_barrier", Title: "wait at barrier", Definition: "2.2", Caused: true},
	BarrierCompletion:            {Key: "barrier_completion", Title: "barrier completion", Definition: "2.2"},
	LateBroadcast:                {Key: "late_broadcast", Title: "late broadcast", Definition: "2.2", Caused: true},
	EarlyReduce:                  {Key: "early_reduce", Title: "early reduce", Definition: "2.2", Caused: true},
	EarlyScan:                    {Key: "early_scan", Title: "early scan", Definition: "2.2", Caused: true},
	WaitAtNxNUnclassified:        {Key: "wait_at_nxn_unclassified", Title: "wait at N×N, unclassified", Definition: "2.2", Caused: true},
	WaitAtTeamBarrier:            {Key: "wait_at_team_barrier", Title: "wait at barrier of threads", Definition: "2.10"},
	WaitAtStartup:                {Key: "wait_at_startup", Title: "wait in MPI_Init or MPI_Finalize", Definition: "2.4", Caused: true, Startup: true},
}

// WaitKinds returns the number of kinds of wait; they count from NoWait.
func WaitKinds() WaitKind { return waitKinds }

// Info describes a wait state.
func (k WaitKind) Info() WaitInfo {
	if k < waitKinds {
		return waitInfos[k]
	}
	return WaitInfo{Title: "unknown"}
}

// String returns the kind's name for people.
func (k WaitKind) String() string { return k.Info().Title }

// waitAt returns the wait state of a pattern of collectives.
func waitAt(p trace.Pattern) WaitKind {
	return [...]WaitKind{trace.PatternBarrier: WaitAtBarrier, trace.PatternAllToAll: WaitAtNxN, trace.PatternSparse: WaitAtNxNUnclassified,
		trace.PatternOneToAll: LateBroadcast, trace.PatternAllToOne: EarlyReduce, trace.PatternScan: EarlyScan}[p]
}

// WaitStates holds the wait states of DEFINITIONS 2.1, 2.2 and 2.10 by kind; in JSON it is an object
// with their keys. Waits at N×N and at barriers contain our extension (2.2 item 6): the wait,
// in the call that completes a non-blocking collective, for the last rank to post it.
type WaitStates [waitKinds]WaitState

// All iterates over the wait states of the document, in its order.
func (w *WaitStates) All(yield func(WaitKind, *WaitState) bool) {
	for k := range w {
		if info := &waitInfos[k]; info.Key != "" && !info.Startup && !yield(WaitKind(k), &w[k]) {
			return
		}
	}
}

// MarshalJSON implements json.Marshaler.
func (w *WaitStates) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	for k, state := range w.All {
		text, err := json.Marshal(state)
		if err != nil {
			return nil, err
		}
		before := ","
		if out.Len() == 0 {
			before = "{"
		}
		fmt.Fprintf(&out, "%s%q:%s", before, k.Info().Key, text)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// A WaitState sums one kind of wait. Count is the number of calls that wait longer than 0;
// Share is of the sum over ranks (or threads) of the run time, null for a run of length 0.
type WaitState struct {
	Count             uint64       `json:"count"`
	TimeNs            int64        `json:"time_ns"`
	Share             *float64     `json:"share"`
	SameSourceNs      *int64       `json:"same_source_ns,omitempty"`      // wrong order only
	DifferentSourceNs *int64       `json:"different_source_ns,omitempty"` // wrong order only
	*WaitCauses                    // of those that are caused by others
	Top               []WaitingRow `json:"top"` // the longest waits
}

// WaitCauses divides the time of a wait state (DEFINITIONS 2.3): Direct is caused by what others
// do, Indirect by their own waits; Propagating makes others wait in turn, Terminal does not.
// Each pair sums to the time.
type WaitCauses struct {
	DirectNs      int64 `json:"direct_ns"`
	IndirectNs    int64 `json:"indirect_ns"`
	PropagatingNs int64 `json:"propagating_ns"`
	TerminalNs    int64 `json:"terminal_ns"`
}

// A WaitingRow is one call that waits. StartNs is when it begins to wait.
type WaitingRow struct {
	Operation string `json:"operation"`
	SourceLine
	CallPath Path  `json:"callpath"`
	Rank     Rank  `json:"rank"`
	StartNs  int64 `json:"start_ns"`
	TimeNs   int64 `json:"time_ns"`
}

// waitRows makes the block of wait states; share is what all ranks run together, team what all
// threads do.
func waitRows(w *waiting, d *delays, share, team int64) *WaitStates {
	defs, x := w.t.Defs, newAxis(w.t)
	out := new(WaitStates)
	for k, row := range out.All {
		s := &w.sums[k]
		*row = WaitState{Count: s.count, TimeNs: x.ns(s.time), Share: ratio(s.time, share), Top: []WaitingRow{}}
		if k.Info().Caused {
			row.WaitCauses = d.total[k].causes(x.rate, row.TimeNs)
		}
		if k == WaitAtTeamBarrier {
			row.Share = ratio(s.time, team)
		}
		for _, i := range s.top.sorted() {
			row.Top = append(row.Top, WaitingRow{Operation: defs.RegionLabel(i.region), SourceLine: spell(defs, w.t.Tree.SourceLine(defs, i.path)),
				CallPath: Path(i.path), Rank: Rank(w.t.Rank[i.location]), StartNs: x.instant(i.start), TimeNs: x.ns(i.time)})
		}
	}
	split := splitter{rate: x.rate}
	same, different := split.ns(w.same), split.ns(w.different)
	out[LateSenderWrongOrder].SameSourceNs, out[LateSenderWrongOrder].DifferentSourceNs = &same, &different
	return out
}
