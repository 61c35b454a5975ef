package oracle_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/samples"
	"tracekit/samples/oracle"
)

func generate(t *testing.T, o samples.Options) (*samples.Memory, *samples.Truth) {
	t.Helper()
	m, truth, err := samples.InMemory(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return m, truth
}

// truthOf puts the oracle's sums into the form of the simulator's.
func truthOf(r *oracle.Result) samples.WaitStates {
	sums := r.Sums()
	w := func(k oracle.WaitKind) samples.Wait { return samples.Wait(sums[k]) }
	return samples.WaitStates{LateSender: w(oracle.LateSender), WrongOrderSame: w(oracle.WrongOrderSame),
		WrongOrderDifferent: w(oracle.WrongOrderDifferent), LateReceiver: w(oracle.LateReceiver),
		LateReceiverBehindLateSender: w(oracle.LateReceiverBehind), WaitAtNxN: w(oracle.WaitAtNxN),
		NxNCompletion: w(oracle.NxNCompletion), WaitAtBarrier: w(oracle.WaitAtBarrier), BarrierCompletion: w(oracle.BarrierCompletion),
		LateBroadcast: w(oracle.LateBroadcast), EarlyReduce: w(oracle.EarlyReduce), EarlyScan: w(oracle.EarlyScan),
		WaitAtNxNUnclassified: w(oracle.Unclassified)}
}

// everyPlant plants one of each kind.
var everyPlant = samples.Plant{LateSender: 7000, LateReceiver: 9000, WrongOrder: 11000, EarlyReduce: 13000,
	LateBroadcast: 15000, Imbalance: 3000, CriticalPath: 21000, Lost: 3, Skew: 5_000_000, Drift: 500}

// TestOracleFindsTheTruth: the simulator knows who waited for whom because it let them
// wait; the oracle only sees the events.
func TestOracleFindsTheTruth(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, ranks := range []int{2, 3, 4, 6} {
			for _, plant := range []samples.Plant{{}, everyPlant} {
				for _, bytes := range []int64{100, 20_000} {
					if ranks < 3 {
						plant.WrongOrder = 0
					}
					o := samples.Options{Program: p.Name, Ranks: ranks, Iterations: 2, Threads: 2, Seed: 5, Bytes: bytes, Plant: plant}
					m, truth := generate(t, o)
					compare(t, fmt.Sprintf("%+v", o), oracle.Analyze(&m.MemorySource, oracle.Options{Offsets: true}), truth)
				}
			}
		}
	}
}

func compare(t *testing.T, name string, r *oracle.Result, truth *samples.Truth) {
	t.Helper()
	if d := cmp.Diff(truth.Waits, truthOf(r)); d != "" {
		t.Errorf("%s: waits (-truth +oracle):\n%s", name, d)
	}
	var matched, sends, recvs, size, members uint64
	for _, s := range r.Sends {
		if s.Recv == nil {
			sends++
			continue
		}
		matched++
		size += s.Bytes
	}
	for _, x := range r.Recvs {
		if x.Send == nil {
			recvs++
		}
	}
	for _, c := range r.Collectives {
		members += uint64(len(c.Members))
		if len(c.Members) != c.Size {
			t.Errorf("%s: %d of %d members", name, len(c.Members), c.Size)
		}
	}
	got := [...]uint64{matched, size, sends, recvs, uint64(len(r.Collectives)), members}
	want := [...]uint64{truth.Messages, truth.Bytes, truth.UnmatchedSends, truth.UnmatchedReceives, truth.Collectives,
		truth.CollectiveMembers}
	if got != want {
		t.Errorf("%s: messages, bytes, lost sends and receives, collectives, members = %v, truth is %v", name, got, want)
	}
	if d := cmp.Diff(truth.Useful, r.Efficiency.Useful); d != "" {
		t.Errorf("%s: useful time:\n%s", name, d)
	}
	if r.First != truth.First || r.Last != truth.Last {
		t.Errorf("%s: from %d to %d, truth is %d to %d", name, r.First, r.Last, truth.First, truth.Last)
	}
	checkSums(t, name, r)
}

// checkSums checks what must add up in every result.
func checkSums(t *testing.T, name string, r *oracle.Result) {
	t.Helper()
	path := r.Path.NotRecorded + r.Path.Outside
	for _, v := range r.Path.Regions {
		path += v
	}
	if path != r.Last-r.First {
		t.Errorf("%s: the critical path is %d long, the run %d", name, path, r.Last-r.First)
	}
	if e := r.Efficiency; e.Stuck || e.Ideal > e.Runtime {
		t.Errorf("%s: ideal time %d of %d, stuck %v", name, e.Ideal, e.Runtime, e.Stuck)
	}
	for _, w := range r.Waits {
		if w.Time > w.Call.Leave-w.Call.Enter {
			t.Errorf("%s: %s of %d in a call of %d", name, w.Kind, w.Time, w.Call.Leave-w.Call.Enter)
		}
	}
}

func TestOracleFindsTheTruthOfRandomPrograms(t *testing.T) {
	seen := make(map[oracle.WaitKind]bool)
	for seed := range uint64(500) {
		m, truth := samples.Random(seed)
		if err := m.Definitions.Check(); err != nil {
			t.Fatal(err)
		}
		r := oracle.Analyze(&m.MemorySource, oracle.Options{})
		compare(t, fmt.Sprintf("random program %d", seed), r, truth)
		if t.Failed() {
			return
		}
		for _, w := range r.Waits {
			seen[w.Kind] = true
		}
	}
	// Barriers are left by all at once, so their completion takes no time.
	if len(seen) != 12 {
		t.Errorf("the programs wait only in these ways: %v", seen)
	}
}
