package headers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/studies/headers"
	"tracekit/trace/tracetest"
)

// pingPong is the trace of a ping-pong of messages of some sizes. A send copies 8 bytes in a ns
// besides 500; the message is then on the wire for 2000 and a ns for 64 bytes; its receive ends
// 100 later. Between a receive and the next send lie 50.
func pingPong(sizes []int, rounds int) string {
	ranks := [2]strings.Builder{}
	now, waits := 50, [2]int{0, 0} // when the next send is entered, and since when each rank waits
	for _, bytes := range sizes {
		for i := range 2 * rounds {
			from, to := i%2, 1-i%2
			sent := now + 500 + bytes/8
			arrived := sent + 2000 + bytes/64 + 100
			fmt.Fprintf(&ranks[from], "  %d Enter MPI_Send ; %d MpiSend to=%d bytes=%d ; %d Leave MPI_Send\n", now, now, to, bytes, sent)
			fmt.Fprintf(&ranks[to], "  %d Enter MPI_Recv ; %d MpiRecv from=%d bytes=%d ; %d Leave MPI_Recv\n", waits[to], arrived, from, bytes,
				arrived)
			waits[from], now = sent+10, arrived+50
		}
	}
	return "location 0 rank=0\n  0 Enter main\n" + ranks[0].String() + fmt.Sprintf("  %d Leave main\n", now) +
		"location 1 rank=1\n  0 Enter main\n" + ranks[1].String() + fmt.Sprintf("  %d Leave main\n", now)
}

// TestPingPong: the shape of the paper's second figure. A host says that it waits. A message
// says that it is on the wire or, if it is large, that it is being copied.
func TestPingPong(t *testing.T) {
	src := tracetest.MustParse(t, pingPong([]int{8, 64, 512, 4096, 32768, 262144, 2097152}, 10))
	_, _, p := made(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{}, headers.Options{})
	of := func(rows []headers.MetricRow, metric string) float64 {
		for _, r := range rows {
			if r.Metric == metric {
				return *r.Share
			}
		}
		return 0
	}
	if len(p.Sizes) != 7 {
		t.Fatalf("%d classes of sizes, want 7", len(p.Sizes))
	}
	for i, s := range p.Sizes {
		if s.Messages != 20 {
			t.Errorf("%d bytes: %d messages, want 20", s.From, s.Messages)
		}
		if host := of(s.Host, "wait"); host < 0.5 {
			t.Errorf("%d bytes: hosts wait %.3f of their time", s.From, host)
		}
		wire, copied := of(s.Message, "wire"), of(s.Message, "copy")
		if s.From < 4096 && wire < 0.75 || i == 6 && copied < 0.85 || wire+copied < 0.97 {
			t.Errorf("%d bytes: messages are on the wire %.3f, copied %.3f of their time", s.From, wire, copied)
		}
	}
	if c := p.Model.Calls; !slices.ContainsFunc(c, func(r headers.CallRow) bool {
		return r.Side == "send" && r.Accepted && r.PerByteNs > 0.1249 && r.PerByteNs < 0.1251 && r.FloorNs > 499 && r.FloorNs < 501
	}) {
		t.Errorf("copying by sends is 1/8 ns per byte above 500; derived: %+v", c)
	}
	if w := p.Model.Wire; w == nil || w.FloorNs < 2590 || w.FloorNs > 2610 || w.PerByteNs < 0.1405 || w.PerByteNs > 0.1407 {
		t.Errorf("transfers take 2600 and 9/64 ns per byte; derived: %+v", w)
	}
	if *p.Path.ErrorShare > 0.001 {
		t.Errorf("the header is %.4f off", *p.Path.ErrorShare)
	}
}

// TestRounds: once readings are steady, what they show is masked, and smaller metrics appear.
func TestRounds(t *testing.T) {
	var a, b strings.Builder
	now := 0
	for range 40 { // rank 1 spends 120, 110, … 10 in r0 … r11 between receiving and sending
		fmt.Fprintf(&a, "  %d Enter MPI_Send ; %d MpiSend to=1 bytes=8 ; %d Leave MPI_Send\n", now, now, now)
		fmt.Fprintf(&a, "  %d Enter MPI_Recv ; %d MpiRecv from=1 bytes=8 ; %d Leave MPI_Recv\n", now, now+800, now+800)
		fmt.Fprintf(&b, "  %d Enter MPI_Recv ; %d MpiRecv from=0 bytes=8 ; %d Leave MPI_Recv\n", max(0, now-9), now+10, now+10)
		at := now + 10
		for r := range 12 {
			fmt.Fprintf(&b, "  %d Enter r%d ; %d Leave r%d\n", at, r, at+120-10*r, r)
			at += 120 - 10*r
		}
		fmt.Fprintf(&b, "  %d Enter MPI_Send ; %d MpiSend to=2 bytes=8 ; %d Leave MPI_Send\n", at, at, at)
		fmt.Fprintf(&b, "  %d Enter MPI_Recv ; %d MpiRecv from=2 bytes=8 ; %d Leave MPI_Recv\n", at, at+5, at+5)
		fmt.Fprintf(&b, "  %d Enter MPI_Send ; %d MpiSend to=0 bytes=8 ; %d Leave MPI_Send\n", at+6, at+6, at+6)
		now += 810
	}
	var c strings.Builder
	for i := range 40 {
		at := 810*i + 10 + 780
		fmt.Fprintf(&c, "  %d Enter MPI_Recv ; %d MpiRecv from=1 bytes=8 ; %d Leave MPI_Recv\n", max(0, at-700), at+2, at+2)
		fmt.Fprintf(&c, "  %d Enter MPI_Send ; %d MpiSend to=1 bytes=8 ; %d Leave MPI_Send\n", at+3, at+3, at+3)
	}
	src := tracetest.MustParse(t, "location 0 rank=0\n"+a.String()+"location 1 rank=1\n"+b.String()+"location 2 rank=2\n"+c.String())
	_, _, p := made(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{}, headers.Options{})
	if p.Sampling == nil || len(p.Sampling.Rounds) < 2 {
		t.Fatalf("sampling is %+v", p.Sampling)
	}
	names := func(rows []headers.CounterRow) (out []string) {
		for _, r := range rows {
			out = append(out, r.Metric)
		}
		return out
	}
	first, second := p.Sampling.Rounds[0], p.Sampling.Rounds[1]
	for r := range 8 {
		if name := fmt.Sprintf("compute: r%d", r); !slices.Contains(names(first.Counters), name) || !slices.Contains(second.Masked, name) ||
			slices.Contains(names(second.Counters), name) {
			t.Errorf("%s is to be seen in the first round, masked in the second: %+v, %+v", name, first, second)
		}
	}
	for r := 8; r < 12; r++ {
		if name := fmt.Sprintf("compute: r%d", r); slices.Contains(names(first.Counters), name) ||
			!slices.Contains(names(second.Counters), name) {
			t.Errorf("%s is to be seen in the second round only: %+v, %+v", name, first, second)
		}
	}
}

// TestNodes: pairs of nodes have wires of their own, where enough is known of them.
func TestNodes(t *testing.T) {
	var ranks [3]strings.Builder
	now := 0
	for i := range 60 {
		to, bytes := 1+i%2, 8<<(i%4)
		took := 1000 + bytes
		if to == 2 { // on the other node
			took = 5000 + 2*bytes
		}
		fmt.Fprintf(&ranks[0], "  %d Enter MPI_Send ; %d MpiSend to=%d bytes=%d ; %d Leave MPI_Send\n", now+100, now+100, to, bytes, now+101)
		fmt.Fprintf(&ranks[to], "  %d Enter MPI_Recv ; %d MpiRecv from=0 bytes=%d ; %d Leave MPI_Recv\n", now+1, now+100+took, bytes,
			now+100+took)
		now += 100 + took
	}
	for nodes, pairs := range map[string]int{"node 0 a class=node\nnode 1 b class=node\nnode 2 core class=core parent=1\n": 2,
		"node 0 a class=node\nnode 1 b class=machine\nnode 2 b class=core parent=0\n": 0} {
		text := nodes + "process 0 p0 node=0\nprocess 1 p1 node=0\nprocess 2 p2 node=2\n"
		for r := range ranks {
			text += fmt.Sprintf("location %d process=%d rank=%d\n%s", r, r, r, ranks[r].String())
		}
		_, _, p := made(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{}, headers.Options{})
		if p.Model.Pairs != pairs {
			t.Errorf("%d pairs of nodes have a line of their own, want %d", p.Model.Pairs, pairs)
		}
		beyond := false
		for _, s := range p.Sizes {
			for _, m := range s.Message {
				beyond = beyond || m.Metric == "system"
			}
		}
		if beyond != (pairs == 0) {
			t.Errorf("%d pairs of nodes: some transfer takes longer: %v", pairs, beyond)
		}
	}
}
