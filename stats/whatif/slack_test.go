package whatif

import (
	"context"
	"fmt"
	"testing"

	"tracekit/samples"
)

// TestSlack: a call that is entered later by its slack leaves the length of the run, and by a
// tick more makes it a tick longer.
func TestSlack(t *testing.T) {
	for _, p := range samples.Programs() {
		for _, bytes := range []int64{1024, 20_000} {
			t.Run(fmt.Sprintf("%s/bytes=%d", p.Name, bytes), func(t *testing.T) {
				m := run(t, samples.Options{Program: p.Name, Ranks: 4, Iterations: 3, Seed: 5, Bytes: bytes,
					Plant: samples.Plant{LateSender: 700, Imbalance: 900}})
				if critical := slackHolds(t, m); critical == 0 {
					t.Error("no call is critical")
				}
			})
		}
	}
}

// slackHolds checks the slack of each call, and returns how many have none.
func slackHolds(t *testing.T, m *Model) (critical int) {
	t.Helper()
	s, err := m.Slack(context.Background(), 3)
	if err != nil {
		t.Fatal(err)
	}
	length := predicted(t, m)
	for l, calls := range m.t.Calls {
		for i := range calls.Len() {
			slack := s.Calls[l].At(i)
			if slack == 0 {
				critical++
			}
			for _, more := range []int64{0, 1} {
				if got := delayed(t, m, l, i, slack+more); got != length+more {
					t.Fatalf("call %d of location %d has slack %d: entered %d later, the run takes %d, not %d", i, l, slack, slack+more, got, length+more)
				}
			}
		}
	}
	for i, n := range s.Next {
		if s.Calls[n.Location].At(int(n.Call)) != n.Slack || n.Slack <= 0 || i > 0 && n.Slack <= s.Next[i-1].Slack {
			t.Errorf("next paths are %v", s.Next)
		}
	}
	return critical
}

// delayed returns the run time if a call is entered later.
func delayed(t *testing.T, m *Model, l, call int, by int64) int64 {
	in, err := m.change(context.Background(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	defer in.release()
	for i := call; i < in.clocks[l].Len(); i++ {
		*in.clocks[l].Ptr(i) += by
	}
	in.ends[l] += by
	r, err := m.run(context.Background(), in, false)
	if err != nil {
		t.Fatal(err)
	}
	p := m.result(r)
	return p.RunTime
}
