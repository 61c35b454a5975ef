package headers_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/studies/headers"
	"tracekit/trace/tracetest"
)

// A plant is a trace of some ranks in text, whose ranks and times can be changed.
type plant struct {
	nodes string // lines that name the nodes
	node  []int  // of each rank; -1: none is recorded
	ranks []strings.Builder
	place []int // where each rank of the text stands in the trace
	scale int
}

func newPlant(nodes string, node ...int) *plant {
	p := &plant{nodes: nodes, node: node, ranks: make([]strings.Builder, len(node)), scale: 1}
	for r := range node {
		p.place = append(p.place, r)
	}
	return p
}

// call writes a call of a rank with a record at its end.
func (p *plant) call(rank, enter, leave int, name, record string) {
	fmt.Fprintf(&p.ranks[rank], "  %d Enter %s ; %d %s ; %d Leave %s\n", p.scale*enter, name, p.scale*leave, record, p.scale*leave, name)
}

func (p *plant) receive(rank, enter, leave, from, bytes int) {
	p.call(rank, enter, leave, "MPI_Recv", fmt.Sprintf("MpiRecv from=%d bytes=%d", p.place[from], bytes))
}

// send writes the call that posts a message, whose record stands at its begin.
func (p *plant) send(rank, enter, leave int, name, record string, to, bytes int) {
	fmt.Fprintf(&p.ranks[rank], "  %d Enter %s ; %d %s ; %d Leave %s\n", p.scale*enter, name, p.scale*enter,
		fmt.Sprintf(record, p.place[to], bytes), p.scale*leave, name)
}

func (p *plant) made(t *testing.T) *headers.Profile {
	t.Helper()
	text := p.nodes
	at := make([]int, len(p.place))
	for r, to := range p.place {
		at[to] = r
	}
	for to, r := range at {
		node := ""
		if p.node[r] >= 0 {
			node = fmt.Sprintf(" node=%d", p.node[r])
		}
		text += fmt.Sprintf("process %d p%d%s\n", to, to, node)
	}
	for to, r := range at {
		text += fmt.Sprintf("location %d process=%d rank=%d\n%s", to, to, to, p.ranks[r].String())
	}
	tr, a, doc := made(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{}, headers.Options{})
	balanced(t, "planted", tr, a, doc, false)
	return doc
}

// parts writes what is above 0 of the excess.
func parts(p *headers.Profile) string {
	var out []string
	for _, x := range p.Beyond.Parts {
		if x.TransfersNs > 0 {
			out = append(out, fmt.Sprintf("%s %d", x.Metric, x.TransfersNs))
		}
		if x.CallsNs > 0 {
			out = append(out, fmt.Sprintf("calls: %s %d", x.Metric, x.CallsNs))
		}
	}
	for _, m := range p.Beyond.Missing {
		out = append(out, fmt.Sprintf("no %s %d", m.Record, m.TimeNs))
	}
	return strings.Join(out, ", ")
}

const (
	oneNode  = "node 0 a class=node\n"
	twoNodes = "node 0 a class=node\nnode 1 b class=node\n"
)

// late plants messages of 1000 bytes that rank 1 waits for, and answers of 8 bytes that rank 0 waits for. The first goes on at once and
// takes 110, an answer takes 20. Of the other messages the sender is in no call of MPI for 500, and they arrive so long after it has left
// the send.
func late(p *plant, messages, arrival int) *plant {
	for k := range messages {
		at := 2000 * k
		outside, arrives := 500, arrival
		if k == 0 {
			outside, arrives = 0, 108
		}
		p.send(0, at+50, at+52, "MPI_Isend", fmt.Sprintf("MpiIsend to=%%d bytes=%%d req=%d", k+1), 1, 1000)
		p.call(0, at+52+outside, at+900, "MPI_Wait", fmt.Sprintf("MpiIsendComplete req=%d", k+1))
		p.receive(1, at, at+52+arrives, 0, 1000)
		p.send(1, at+1000, at+1000, "MPI_Send", "MpiSend to=%d bytes=%d", 0, 8)
		p.receive(0, at+900, at+1020, 1, 8)
	}
	return p
}

// TestLateProgress: messages that never arrive while their sender is in no call of MPI wait for it; the rest of the time is the system's,
// or not known, by what the trace tells of nodes and of enough messages.
func TestLateProgress(t *testing.T) {
	for name, x := range map[string]struct {
		plant *plant
		want  string
	}{
		// 6 messages are waited for and late by 612 + 2 - 110: 500 outside, 4 more
		"late":         {late(newPlant(oneNode, 0, 0), 7, 612), "late progress 3000, system 24"},
		"two nodes":    {late(newPlant(twoNodes, 0, 1), 7, 612), "late progress 3000, network or system 24"},
		"no nodes":     {late(newPlant("", -1, -1), 7, 612), "late progress 3000, unexplained 24, no node 24"},
		"too few":      {late(newPlant(oneNode, 0, 0), 4, 612), "system 12, unexplained 1500, no progress 1500"},
		"they arrive":  {late(newPlant(oneNode, 0, 0), 7, 400), "system 1752"}, // while it is outside: 400 + 2 - 110
		"two of those": {late(newPlant(twoNodes, 0, 1), 7, 400), "network or system 1752"},
	} {
		if got := parts(x.plant.made(t)); got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
}

// unready plants messages of 1000 bytes whose receiver posts early and is then in no call of MPI for 450 while the sender waits. One finds
// it in another call, and one in the call that completes it: both take 100.
func unready(p *plant, last int) *plant {
	tail := 0
	for k := range 8 {
		at, enters := 2000*k, 500
		p.call(1, at, at+1, "MPI_Irecv", fmt.Sprintf("MpiIrecvRequest req=%d", k+1))
		switch k {
		case 0: // it is there when MPI_Wait begins
			p.send(0, at+50, at+150, "MPI_Send", "MpiSend to=%d bytes=%d", 1, 1000)
			p.receive(1, at+40, at+170, 0, 8)
			p.send(0, at+160, at+160, "MPI_Bsend", "MpiSend to=%d bytes=%d", 1, 8)
			enters = 180
			tail = at + 180
		case 1:
			enters = 40
			fallthrough
		default:
			tail = at + max(enters, 50) + 100
			p.send(0, at+50, tail, "MPI_Send", "MpiSend to=%d bytes=%d", 1, 1000)
		}
		p.call(1, at+enters, tail, "MPI_Wait", fmt.Sprintf("MpiIrecv from=%d bytes=1000 req=%d", p.place[0], k+1))
	}
	fmt.Fprintf(&p.ranks[last], "  %d Enter tail ; %d Leave tail\n", p.scale*(tail+10), p.scale*(tail+20))
	return p
}

// TestReceiverOutsideMPI: messages of which a send never ends while their receiver is in no call of MPI wait for it: on the path of the
// sender 6 times for the 450, on that of the receiver for the 100 of the transfer that it could not take before.
func TestReceiverOutsideMPI(t *testing.T) {
	for last, want := range map[int]string{0: "calls: late progress 2700", 1: "calls: late progress 600"} {
		if got := parts(unready(newPlant(oneNode, 0, 0), last).made(t)); got != want {
			t.Errorf("path of rank %d: %s, want %s", last, got, want)
		}
	}
}

// crowd plants two messages of 4000 bytes into one MPI_Waitall of rank 0, behind transfers that show a law of 100 + bytes/4.
func crowd(p *plant, second int) *plant {
	at := 0
	for _, bytes := range []int{4, 4000, 8, 4000} {
		p.send(1, at+50, at+50, "MPI_Send", "MpiSend to=%d bytes=%d", 0, bytes)
		p.receive(0, at, at+50+100+bytes/4, 1, bytes)
		at += 2000
	}
	p.call(0, at, at, "MPI_Irecv", "MpiIrecvRequest req=1")
	p.call(0, at, at, "MPI_Irecv", "MpiIrecvRequest req=2")
	p.send(1, at+50, at+50, "MPI_Send", "MpiSend to=%d bytes=%d", 0, 4000)
	p.send(2, at+60, at+60, "MPI_Send", "MpiSend to=%d bytes=%d", 0, 4000)
	end := at + 60 + second
	fmt.Fprintf(&p.ranks[0], "  %d Enter MPI_Waitall ; %d MpiIrecv from=%d bytes=4000 req=1 ; %d MpiIrecv from=%d bytes=4000 req=2 ; %d "+
		"Leave MPI_Waitall\n", p.scale*at, p.scale*end, p.place[1], p.scale*end, p.place[2], p.scale*end)
	return p
}

// TestQueued: a message stands behind one that was sent 10 before and occupies the way for the 1000 that its bytes need.
func TestQueued(t *testing.T) {
	for second, want := range map[int]string{
		1100: "",           // as fast as the law
		1500: "queued 400", // less than there is to queue for
		// all of it, and 10 more, in which the sender was in no call of MPI: five messages are too few to know
		2100: "queued 990, unexplained 10, no progress 10",
	} {
		if got := parts(crowd(newPlant(oneNode, 0, 0, 0), second).made(t)); got != want {
			t.Errorf("a transfer of %d: %q, want %q", second, got, want)
		}
	}
}

// TestBeyondScalesAndPermutes: with all times three times as long all parts are; with other numbers of ranks they are the same.
func TestBeyondScalesAndPermutes(t *testing.T) {
	for name, x := range map[string]struct {
		of    func(p *plant) *plant
		ranks int
	}{
		"late":  {func(p *plant) *plant { return late(p, 7, 612) }, 2},
		"crowd": {func(p *plant) *plant { return crowd(p, 2100) }, 3},
	} {
		plain := x.of(newPlant(oneNode, make([]int, x.ranks)...)).made(t)
		scaled, moved := newPlant(oneNode, make([]int, x.ranks)...), newPlant(oneNode, make([]int, x.ranks)...)
		scaled.scale = 3
		for r := range moved.place {
			moved.place[r] = (r + 1) % x.ranks
		}
		times := x.of(scaled).made(t).Beyond
		if times.TransfersNs != 3*plain.Beyond.TransfersNs || plain.Beyond.TransfersNs == 0 {
			t.Errorf("%s: %d ns, times three %d", name, plain.Beyond.TransfersNs, times.TransfersNs)
		}
		for k, part := range plain.Beyond.Parts {
			if times.Parts[k].TransfersNs != 3*part.TransfersNs || times.Parts[k].CallsNs != 3*part.CallsNs {
				t.Errorf("%s: %+v, times three %+v", name, part, times.Parts[k])
			}
		}
		if got := x.of(moved).made(t); !reflect.DeepEqual(got.Beyond, plain.Beyond) || !reflect.DeepEqual(got.Model, plain.Model) {
			t.Errorf("%s: with other ranks %+v, want %+v", name, got.Beyond, plain.Beyond)
		}
	}
}

// TestNetworkInTwoPieces: eager and rendezvous are told apart where there are enough sizes, and the break is where it was planted.
func TestNetworkInTwoPieces(t *testing.T) {
	plant := func(sizes []int) *headers.Profile {
		p, at := newPlant(twoNodes, 0, 1), 0
		for _, bytes := range sizes {
			took := 1000 + bytes/4
			if bytes >= 8192 {
				took = 6000 + bytes/8
			}
			p.send(0, at+50, at+50, "MPI_Send", "MpiSend to=%d bytes=%d", 1, bytes)
			p.receive(1, at, at+50+took, 0, bytes)
			at += 100 + took
		}
		return p.made(t)
	}
	sizes := []int{64, 256, 1024, 2048, 4096, 8192, 16384, 32768, 65536}
	m := plant(sizes).Model
	if b := m.Bend; b == nil || !b.Accepted || b.AboveBytes != 4096 || b.FromBytes != 8192 || b.Eager.FloorNs < 999 ||
		b.Eager.FloorNs > 1001 ||
		b.Rendezvous.FloorNs < 5990 || b.Rendezvous.FloorNs > 6010 || b.Rendezvous.PerByteNs < 0.1249 || b.Rendezvous.PerByteNs > 0.1251 {
		t.Errorf("%+v", m.Bend)
	}
	if m := plant(sizes[:5]).Model; m.Bend != nil || m.Sizes != 5 || m.SizesForBend != 6 {
		t.Errorf("of five sizes %+v", m)
	}
}

// TestCompareProfiles: a profile does not differ from itself; changes from A to B are those from B to A, turned round.
func TestCompareProfiles(t *testing.T) {
	a, b := late(newPlant(oneNode, 0, 0), 7, 612).made(t), late(newPlant(twoNodes, 0, 1), 9, 700).made(t)
	for _, x := range headers.Compare(a, a).Message {
		if x.ChangeNs != 0 || x.ANs != x.BNs {
			t.Errorf("with itself: %+v", x)
		}
	}
	there, back := headers.Compare(a, b), headers.Compare(b, a)
	of := make(map[string]int64)
	for _, x := range there.Transfers {
		of[x.Metric] = x.ChangeNs
	}
	for _, x := range back.Transfers {
		if of[x.Metric] != -x.ChangeNs {
			t.Errorf("%s: %d there, %d back", x.Metric, of[x.Metric], x.ChangeNs)
		}
	}
	if of["system"] != -24 || of["late progress"] != 1000 || of["network or system"] != 8*92 {
		t.Errorf("changes are %v", of)
	}
}
