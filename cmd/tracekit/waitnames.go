package main

import "tracekit/stats"

// A namedWait is one of the wait states with its key in the document and its name for
// people.
type namedWait struct {
	key, name string
	state     *stats.WaitState
}

// waitStates lists the wait states in the order of the document.
func waitStates(s *stats.WaitStates) []namedWait {
	return []namedWait{
		{"late_sender", "late sender", &s.LateSender},
		{"late_sender_wrong_order", "  in wrong order", &s.LateSenderWrongOrder},
		{"late_receiver", "late receiver", &s.LateReceiver},
		{"wait_at_nxn", "wait at N×N", &s.WaitAtNxN},
		{"nxn_completion", "N×N completion", &s.NxNCompletion},
		{"wait_at_barrier", "wait at barrier", &s.WaitAtBarrier},
		{"barrier_completion", "barrier completion", &s.BarrierCompletion},
		{"late_broadcast", "late broadcast", &s.LateBroadcast},
		{"early_reduce", "early reduce", &s.EarlyReduce},
		{"early_scan", "early scan", &s.EarlyScan},
		{"wait_at_nxn_unclassified", "wait at N×N, unclassified", &s.WaitAtNxNUnclassified},
	}
}

func waitStateNamed(s *stats.WaitStates, key string) *stats.WaitState {
	for _, w := range waitStates(s) {
		if w.key == key {
			return w.state
		}
	}
	return &stats.WaitState{}
}
