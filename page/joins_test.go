package page

import (
	"context"
	"maps"
	"testing"

	"tracekit/samples"
	"tracekit/trace"
)

// TestJoinsAreTheTrace: where all are drawn, messages and collectives have the arguments of the trace's, each as
// often.
func TestJoinsAreTheTrace(t *testing.T) {
	type message struct {
		from, to, tag uint32
		comm          trace.CommID
		bytes         uint64
	}
	type collective struct {
		comm           trace.CommID
		members, root  uint32
		sent, received uint64
	}
	for _, p := range samples.Programs() {
		tr, a := analyzed(t, samples.Options{Program: p.Name, Ranks: 6, Iterations: 10, Seed: 2})
		tl, err := NewTimeline(context.Background(), tr, a, Limits{Runs: 1 << 20, Messages: 1 << 20, Collectives: 1 << 20}, 2)
		if err != nil {
			t.Fatal(err)
		}
		got, want := map[any]int{}, map[any]int{}
		for _, m := range tl.Messages {
			got[message{tr.Rank[tl.Rows[m.From].Location], tr.Rank[tl.Rows[m.To].Location], m.Tag, m.Comm, m.Bytes}]++
		}
		for l, recvs := range tr.Recvs {
			for i := range recvs.Len() {
				if r := recvs.At(i); r.State == trace.Matched {
					want[message{tr.Rank[r.SendLoc], tr.Rank[l], r.Tag, r.Comm, r.Bytes}]++
				}
			}
		}
		for _, c := range tl.Collectives {
			root := c.Root
			if root != trace.None {
				root = tr.Rank[tl.Rows[root].Location]
			}
			got[collective{c.Comm, c.Members, root, c.Sent, c.Received}]++
		}
		for i := range tr.Collectives.Len() {
			c := tr.Collectives.At(i)
			if c.Count < 2 {
				continue
			}
			x := collective{comm: c.Comm, members: c.Count, root: trace.None}
			for k := range c.Count {
				m := tr.Members.At(int(c.First + k))
				x.sent, x.received = x.sent+m.Sent, x.received+m.Received
				if m.Rank == c.Root {
					x.root = tr.Rank[m.Location]
				}
			}
			want[x]++
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: drawn are %v, the trace has %v", p.Name, got, want)
		}
	}
}
