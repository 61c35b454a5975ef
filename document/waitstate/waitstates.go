package waitstate

import (
	"bytes"
	"encoding/json"
	"fmt"

	"tracekit/document/field"
)

// A Kind is a wait state, in the order of the document.
type Kind uint8

// The wait states. Of those that calls are charged with, the first in this order counts
// where a call waits equally long for several reasons. NxNCompletion and BarrierCompletion
// are what follows the wait in the same calls; LateSenderWrongOrder is a part of LateSender.
// LateReceiverBehindLateSender is what a call that waits for a late sender waits longer for a
// receiver. LateProgress is a wait for a partner that has begun a message and left MPI, without which it does not go on.
// AtTeamBarrier is that of the threads of a team, whose share is of the run time of all
// threads. AtStartup is the wait in MPI_Init or MPI_Finalize for the last rank to enter it: it
// counts for the critical path and has delay costs, and is none of States.
const (
	None Kind = iota
	LateSender
	LateSenderWrongOrder
	LateReceiver
	LateReceiverBehindLateSender
	LateProgress
	AtNxN
	NxNCompletion
	AtBarrier
	BarrierCompletion
	LateBroadcast
	EarlyReduce
	EarlyScan
	AtNxNUnclassified
	AtTeamBarrier
	AtStartup
	Kinds // their number
)

// An Info describes a wait state.
type Info struct {
	Key        string // in the document; "": it is no wait
	Title      string // for people
	Definition string // the section of docs/DEFINITIONS.md
	Part       bool   // of the wait state before it
	Caused     bool   // calls are charged with it, each for the sake of another call
	Partner    bool   // it is for the partner of a message, not for who takes part in a collective
	Startup    bool   // in MPI_Init or MPI_Finalize: none of States
}

var infos = [Kinds]Info{
	None:                 {Title: "no wait"},
	LateSender:           {Key: "late_sender", Title: "late sender", Definition: "2.1", Caused: true, Partner: true},
	LateSenderWrongOrder: {Key: "late_sender_wrong_order", Title: "in wrong order", Definition: "2.1", Part: true, Partner: true},
	LateReceiver:         {Key: "late_receiver", Title: "late receiver", Definition: "2.1", Caused: true, Partner: true},
	LateReceiverBehindLateSender: {Key: "late_receiver_behind_late_sender", Title: "late receiver behind a late sender", Definition: "2.1",
		Caused: true, Partner: true},
	LateProgress:      {Key: "late_progress", Title: "late progress", Definition: "2.1", Caused: true, Partner: true},
	AtNxN:             {Key: "wait_at_nxn", Title: "wait at N×N", Definition: "2.2", Caused: true},
	NxNCompletion:     {Key: "nxn_completion", Title: "N×N completion", Definition: "2.2"},
	AtBarrier:         {Key: "wait_at_barrier", Title: "wait at barrier", Definition: "2.2", Caused: true},
	BarrierCompletion: {Key: "barrier_completion", Title: "barrier completion", Definition: "2.2"},
	LateBroadcast:     {Key: "late_broadcast", Title: "late broadcast", Definition: "2.2", Caused: true},
	EarlyReduce:       {Key: "early_reduce", Title: "early reduce", Definition: "2.2", Caused: true},
	EarlyScan:         {Key: "early_scan", Title: "early scan", Definition: "2.2", Caused: true},
	AtNxNUnclassified: {Key: "wait_at_nxn_unclassified", Title: "wait at N×N, unclassified", Definition: "2.2", Caused: true},
	AtTeamBarrier:     {Key: "wait_at_team_barrier", Title: "wait at barrier of threads", Definition: "2.10"},
	AtStartup: {Key: "wait_at_startup", Title: "wait in MPI_Init or MPI_Finalize", Definition: "2.4", Caused: true,
		Startup: true},
}

// Info describes a wait state.
func (k Kind) Info() Info {
	if k < Kinds {
		return infos[k]
	}
	return Info{Title: "unknown"}
}

// String returns the kind's name for people.
func (k Kind) String() string { return k.Info().Title }

// ShownTitle returns the kind's name in a list: that of a part is indented.
func (k Kind) ShownTitle() string {
	if k.Info().Part {
		return "  " + k.String()
	}
	return k.String()
}

// States holds the wait states of DEFINITIONS 2.1, 2.2 and 2.10 by kind; in JSON it is an object
// with their keys. Waits at N×N and at barriers contain our extension (2.2 item 6): the wait,
// in the call that completes a non-blocking collective, for the last rank to post it.
type States [Kinds]State

// All iterates over the wait states of the document, in its order.
func (w *States) All(yield func(Kind, *State) bool) {
	for k := range w {
		if info := &infos[k]; info.Key != "" && !info.Startup && !yield(Kind(k), &w[k]) {
			return
		}
	}
}

// MarshalJSON implements json.Marshaler.
func (w *States) MarshalJSON() ([]byte, error) {
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

// A State sums one kind of wait. Count is the number of calls that wait longer than 0;
// Share is of the sum over ranks (or threads) of the run time, null for a run of length 0.
type State struct {
	Count             uint64   `json:"count"`
	TimeNs            int64    `json:"time_ns"`
	Share             *float64 `json:"share"`
	SameSourceNs      *int64   `json:"same_source_ns,omitempty"`      // wrong order only
	DifferentSourceNs *int64   `json:"different_source_ns,omitempty"` // wrong order only
	ClockError        bool     `json:"within_clock_error,omitempty"`  // no wait is longer than what clocks of two hosts may differ by (2.7)
	*Causes                    // of those that are caused by others
	Top               []Row    `json:"top"` // the longest waits
}

// Causes divides the time of a wait state (DEFINITIONS 2.3): Direct is caused by what others
// do, Indirect by their own waits; Propagating makes others wait, Terminal does not.
// Each pair sums to the time.
type Causes struct {
	DirectNs      int64 `json:"direct_ns"`
	IndirectNs    int64 `json:"indirect_ns"`
	PropagatingNs int64 `json:"propagating_ns"`
	TerminalNs    int64 `json:"terminal_ns"`
}

// A Row is one call that waits. StartNs is when it begins to wait.
type Row struct {
	Operation string `json:"operation"`
	field.SourceLine
	CallPath field.Path `json:"callpath"`
	Rank     field.Rank `json:"rank"`
	StartNs  int64      `json:"start_ns"`
	TimeNs   int64      `json:"time_ns"`
}
