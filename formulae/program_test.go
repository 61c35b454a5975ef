package formulae_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/formulae"
	"tracekit/formulae/partners"
	"tracekit/formulae/sequence"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// learn learns a trace in text form.
func learn(t *testing.T, text string, opts formulae.Options) (*trace.Defs, *formulae.Program) {
	t.Helper()
	src := tracetest.MustParse(t, text)
	opts.Jobs = 1
	p, err := formulae.Learn(t.Context(), src, opts)
	if err != nil {
		t.Fatal(err)
	}
	for l := range p.Locations {
		if err := p.Locations[l].Tree.Check(); err != nil {
			t.Fatal(err)
		}
		if err := p.Locations[l].Times.Check(p.Locations[l].Tree); err != nil {
			t.Fatal(err)
		}
	}
	return src.Definitions, p
}

// ring is ten steps of four ranks, each of which sends to the right and receives from the left.
func ring() string {
	var b strings.Builder
	for r := range 4 {
		fmt.Fprintf(&b, "location %d rank=%d\n 0 Enter main\n", r, r)
		for i := range 10 {
			fmt.Fprintf(&b, " %d Enter MPI_Send @a.c:12 ; %d MpiSend to=%d tag=3 bytes=64 ; %d Leave MPI_Send\n",
				100*i+10, 100*i+11, (r+1)%4, 100*i+12)
			fmt.Fprintf(&b, " %d Enter MPI_Recv @a.c:14 ; %d MpiRecv from=%d tag=3 bytes=64 ; %d Leave MPI_Recv\n",
				100*i+20, 100*i+25, (r+3)%4, 100*i+30)
		}
		b.WriteString(" 1010 Leave main\n")
	}
	return b.String()
}

// The ranks of a ring differ by their partners alone: they share one call tree, which says all.
func TestRing(t *testing.T) {
	t.Parallel()
	defs, p := learn(t, ring(), formulae.Options{})
	trees := formulae.Annotate(defs, p.Locations)
	if len(trees) != 1 || !slices.Equal(trees[0].Locations, []uint32{0, 1, 2, 3}) {
		t.Fatalf("%d trees, the first of locations %v", len(trees), trees[0].Locations)
	}
	type node struct {
		name, site           string
		parent, depth        int
		visits               uint64
		inclusive, exclusive int64
		sequences            string
	}
	// main: 10 before the first call, 8 between the calls of a step, 80 after each step.
	want := []node{
		{"(location)", "", -1, 0, 1, 1010, 0, "branches  calls: main"},
		{"main", "", 0, 1, 1, 1010, 10 + 10*8 + 10*80,
			"branches  calls: L3 return; iterations L3 L3 = (MPI_Send MPI_Recv), times: 10"},
		{"MPI_Send", "a.c:12", 1, 2, 10, 20, 20,
			"send_receivers MpiSend to: self+1^10 relative; send_tags MpiSend tag: 3^10; sizes MpiSend bytes: 64^10"},
		{"MPI_Recv", "a.c:14", 1, 2, 10, 100, 100,
			"recv_senders MpiRecv from: self-1^10 relative; recv_tags MpiRecv tag: 3^10; sizes MpiRecv bytes: 64^10"},
	}
	for i, n := range trees[0].Nodes {
		got := node{n.Name, n.Site, -1, n.Depth, n.Visits, n.InclusiveNs[0], n.ExclusiveNs[0], ""}
		if n.Parent != nil {
			got.parent = *n.Parent
		}
		var list []string
		for _, s := range n.Sequences {
			if s.Category == "fields" { // distances of unwinding, which calls with a site have
				continue
			}
			text := fmt.Sprintf("%s %s %s: %s", s.Category, s.Of, s.What, s.Formula)
			if s.Relative {
				text += " relative"
			}
			list = append(list, text)
		}
		if got.sequences = strings.Join(list, "; "); i >= len(want) || got != want[i] {
			t.Errorf("node %d is\n%+v, want\n%+v", i, got, want[min(i, len(want)-1)])
		}
		for l := range n.InclusiveNs {
			if n.InclusiveNs[l] != got.inclusive || n.ExclusiveNs[l] != got.exclusive {
				t.Errorf("node %d: times %v and %v differ by location", i, n.InclusiveNs, n.ExclusiveNs)
			}
		}
	}
	if len(trees[0].Nodes) != len(want) {
		t.Errorf("%d nodes, want %d", len(trees[0].Nodes), len(want))
	}

	constructs := map[string]uint64{"send_receivers": 4, "recv_senders": 4, "send_tags": 4, "recv_tags": 4, "branches": 8, "iterations": 4,
		"sizes": 8, "roots": 0, "fields": 8}
	for _, s := range p.Learned.All() {
		if s.Constructs != constructs[s.Name] || s.Learned != s.Constructs || s.Static != 1 || s.Dynamic != 1 {
			t.Errorf("%s: %+v, want %d", s.Name, *s.Share, constructs[s.Name])
		}
	}
	if m := p.Learned.Messages; m != (formulae.OfMessages{Sent: 40, Learned: 40, Share: 1}) {
		t.Errorf("messages %+v", m)
	}
	if n := p.Learned.Paper.Constructs; n != 28 || len(p.Unlearned) > 0 {
		t.Errorf("%d constructs of the paper, %d sequences not learned", n, len(p.Unlearned))
	}
	if r := p.Report; r.WaitedNs != 0 || r.Guessed+r.Disordered+r.DroppedEvents+r.AddedEvents+r.DroppedAttributes != 0 {
		t.Errorf("report %+v", *r)
	}
}

// Waiting is told from the time that a call needs itself: until when the partner was ready.
func TestWaiting(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		waited     int64
		location   int
		free       uint64 // own ticks before the completion if nobody is waited for
		blocked    uint64 // and if somebody is
	}{
		{"late sender", `
location 0 rank=0
  0 Enter MPI_Send ; 60 MpiSend to=1 bytes=8 ; 61 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 70 MpiRecv from=0 bytes=8 ; 71 Leave MPI_Recv`, 50, 1, 10, 10},
		{"early sender", `
location 0 rank=0
  0 Enter MPI_Send ; 5 MpiSend to=1 bytes=8 ; 61 Leave MPI_Send
location 1 rank=1
  10 Enter MPI_Recv ; 70 MpiRecv from=0 bytes=8 ; 71 Leave MPI_Recv`, 0, 1, 60, 60},
		{"barrier", `
location 0 rank=0
  10 Enter MPI_Barrier ; 10 MpiCollectiveBegin ; 63 MpiCollectiveEnd Barrier ; 64 Leave MPI_Barrier
location 1 rank=1
  50 Enter MPI_Barrier ; 50 MpiCollectiveBegin ; 57 MpiCollectiveEnd Barrier ; 58 Leave MPI_Barrier`, 40, 0, 13, 13},
		{"root of a broadcast", `
location 0 rank=0
  10 Enter MPI_Bcast ; 10 MpiCollectiveBegin ; 63 MpiCollectiveEnd Bcast root=0 ; 64 Leave MPI_Bcast
location 1 rank=1
  50 Enter MPI_Bcast ; 50 MpiCollectiveBegin ; 57 MpiCollectiveEnd Bcast root=0 ; 58 Leave MPI_Bcast`, 0, 0, 53, 53},
		{"late root of a broadcast", `
location 0 rank=0
  10 Enter MPI_Bcast ; 10 MpiCollectiveBegin ; 63 MpiCollectiveEnd Bcast root=1 ; 64 Leave MPI_Bcast
location 1 rank=1
  50 Enter MPI_Bcast ; 50 MpiCollectiveBegin ; 57 MpiCollectiveEnd Bcast root=1 ; 58 Leave MPI_Bcast`, 40, 0, 13, 13},
		{"scan", `
location 0 rank=0
  50 Enter MPI_Scan ; 50 MpiCollectiveBegin ; 57 MpiCollectiveEnd Scan ; 58 Leave MPI_Scan
location 1 rank=1
  10 Enter MPI_Scan ; 10 MpiCollectiveBegin ; 63 MpiCollectiveEnd Scan ; 64 Leave MPI_Scan
location 2 rank=2
  90 Enter MPI_Scan ; 90 MpiCollectiveBegin ; 94 MpiCollectiveEnd Scan ; 95 Leave MPI_Scan`, 40, 1, 13, 13},
		{"a wait for two messages", `
location 0 rank=0
  0 Enter MPI_Isend ; 30 MpiIsend to=1 tag=1 bytes=8 req=1 ; 31 Leave MPI_Isend
  40 Enter MPI_Isend ; 50 MpiIsend to=1 tag=2 bytes=8 req=2 ; 51 Leave MPI_Isend
location 1 rank=1
  1 Enter MPI_Irecv ; 2 MpiIrecvRequest req=1 ; 3 Leave MPI_Irecv
  4 Enter MPI_Irecv ; 5 MpiIrecvRequest req=2 ; 6 Leave MPI_Irecv
  10 Enter MPI_Waitall ; 57 MpiIrecv from=0 tag=1 bytes=8 req=1
  58 MpiIrecv from=0 tag=2 bytes=8 req=2 ; 60 Leave MPI_Waitall`, 40, 1, 7, 7},
	} {
		_, p := learn(t, c.text, formulae.Options{})
		if p.Report.WaitedNs != c.waited {
			t.Errorf("%s: waited %d ns, want %d", c.name, p.Report.WaitedNs, c.waited)
		}
		// The only item that completes something has three means, others have one.
		loc, mean := p.Locations[c.location], 0
		for n := range loc.Tree.Nodes {
			for _, i := range loc.Tree.Nodes[n].Items {
				want := []uint64{c.free * formulae.MeanUnit, c.blocked * formulae.MeanUnit}
				if got := loc.Times.Means[mean:]; partners.Completes(i.Kind) && !slices.Equal(got[:2], want) {
					t.Errorf("%s: means %v of %s, want %v", c.name, got[:2], i.Kind, want)
				}
				mean += partners.Regimes(i.Kind)
			}
		}
	}
}

// Collectives with a root have a sequence of roots, all have the bytes that they send and receive.
func TestRoots(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for r := range 2 {
		fmt.Fprintf(&b, "location %d rank=%d\n", r, r)
		for i := range 6 {
			fmt.Fprintf(&b, " %d Enter MPI_Bcast ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Bcast root=%d ; %d Leave MPI_Bcast\n",
				20*i, 20*i, 20*i+9, i%2, 20*i+9)
			fmt.Fprintf(&b, " %d Enter MPI_Barrier ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Barrier ; %d Leave MPI_Barrier\n",
				20*i+10, 20*i+10, 20*i+19, 20*i+19)
		}
	}
	_, p := learn(t, b.String(), formulae.Options{})
	if s := p.Learned.Roots; s.Constructs != 2 || s.ByKind.Cycle != 2 || s.ValuesByKind.Cycle != 12 {
		t.Errorf("roots %+v", s)
	}
	if s := p.Learned.Sizes; s.Constructs != 8 || s.ByKind.Identity != 8 || p.Learned.Messages.Share != 1 {
		t.Errorf("sizes %+v", s)
	}
}

// What was not learned is found where it is, with its share of the messages: 60 of 80, and
// 1800 of 2000 bytes. Receives are no messages that are sent.
func TestUnlearnedIsLocated(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("location 0 rank=0\n")
	for i := range 60 {
		if i < 20 {
			fmt.Fprintf(&b, " %d Enter regular ; %d Enter MPI_Send @a.c:3 ; %d MpiSend to=1 tag=1 bytes=10 ; %d Leave MPI_Send ; %d Leave regular\n",
				20*i, 20*i, 20*i+1, 20*i+2, 20*i+2)
		}
		fmt.Fprintf(&b, " %d Enter random ; %d Enter MPI_Send @a.c:9 ; %d MpiSend to=%d tag=1 bytes=30 ; %d Leave MPI_Send ; %d Leave random\n",
			20*i+5, 20*i+5, 20*i+6, 1+r.IntN(3), 20*i+7, 20*i+7)
	}
	for l := range 3 {
		fmt.Fprintf(&b, "location %d rank=%d\n 5000 Enter MPI_Recv ; 5001 MpiRecv from=0 tag=1 bytes=999 ; 5002 Leave MPI_Recv\n", l+1, l+1)
	}
	_, p := learn(t, b.String(), formulae.Options{})
	if len(p.Unlearned) != 1 {
		t.Fatalf("not learned: %+v", p.Unlearned)
	}
	u := p.Unlearned[0]
	place := fmt.Sprint(u.Category, u.CallPath, u.Site, u.Locations)
	if want := "send_receivers[random MPI_Send]a.c:9[0]"; place != want {
		t.Errorf("not learned is %s, want %s", place, want)
	}
	if u.Sequences != 1 || u.Values != 60 || u.Described >= 60 || u.Messages != 0.75 || u.Bytes != 0.9 {
		t.Errorf("not learned: %+v", u)
	}
	if m := p.Learned.Messages; m != (formulae.OfMessages{Sent: 80, Learned: 20, Share: 0.25}) || p.Report.Guessed != 60 {
		t.Errorf("messages %+v, %d guessed", m, p.Report.Guessed)
	}
	if s := p.Learned.SendReceivers; s.Constructs != 2 || s.Learned != 1 || s.Dynamic != 0.25 || s.ValuesByKind.Failed != 60 {
		t.Errorf("receivers %+v", s)
	}
	if got := formulae.Approximations(p.Unlearned); len(got) != 1 || !strings.Contains(got[0], "75 %") || !strings.Contains(got[0], "90 %") {
		t.Errorf("approximations %q", got)
	}
}

// What has no place in a call tree is counted.
func TestReportOfLosses(t *testing.T) {
	t.Parallel()
	type losses struct{ disordered, dropped, added, attributes uint64 }
	const one = "location 0 rank=0\n "
	for _, c := range []struct {
		name, text string
		form       sequence.Form
		want       losses
	}{
		{"all has its place", one + "0 Enter f ; 1 Leave f", sequence.Form{}, losses{}},
		{"a leave of what was not entered", "region g\n" + one + "0 Enter f ; 1 Leave g ; 2 Leave f", sequence.Form{}, losses{dropped: 1}},
		{"two regions that were not left", one + "0 Enter f ; 1 Enter g ; 2 Enter h ; 3 Leave f", sequence.Form{}, losses{added: 2}},
		{"an attribute of a leave", "attribute 0 x type=4\n" + one + "0 Enter f attr=0:uint64:7 ; 1 Leave f attr=0:uint64:8",
			sequence.Form{}, losses{attributes: 1}},
		// Two terms are d and the loop L: e and the return of main come back in any order.
		{"order beyond the memory",
			one + "0 Enter main\n" + calls(1, "d"+strings.Repeat(strings.Repeat("ab", 10)+"c", 5)+"e") + " 999 Leave main",
			sequence.Form{Terms: 2, Paper: true}, losses{disordered: 2}},
		{"order that needs three terms", one + "0 Enter main\n" + calls(1, "d"+strings.Repeat("abc", 5)) + " 999 Leave main",
			sequence.Form{Terms: 3, Paper: true}, losses{}},
	} {
		_, p := learn(t, c.text, formulae.Options{Form: c.form})
		r := p.Report
		if got := (losses{r.Disordered, r.DroppedEvents, r.AddedEvents, r.DroppedAttributes}); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// calls are calls of regions of one letter, one in each tick.
func calls(at int, names string) string {
	var b strings.Builder
	for i, n := range names {
		fmt.Fprintf(&b, " %d Enter %c ; %d Leave %c\n", at+i, n, at+i, n)
	}
	return b.String()
}

// Attributes and metrics belong to the events that carry them.
func TestFieldsAndMetrics(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("attribute 0 step type=4\nmember 0 count\nmember 1 level\nmetric 0 members=0,1\n")
	b.WriteString("location 0 rank=0\n 0 Metric 0 uint64:100 double:0.5\n")
	for i := range 20 {
		fmt.Fprintf(&b, " %d Enter f attr=0:uint64:%d ; %d Metric 0 uint64:%d double:%g ; %d Leave f\n",
			10*i+1, 5+2*i, 10*i+2, 108+8*i, -float64(i), 10*i+3)
	}
	defs, p := learn(t, b.String(), formulae.Options{})
	var fields []formulae.AnnotatedSequence
	for _, n := range formulae.Annotate(defs, p.Locations)[0].Nodes {
		for _, s := range n.Sequences {
			if s.Category == "fields" {
				fields = append(fields, s)
			}
		}
	}
	if len(fields) != 1 || fields[0].Of != "f" || fields[0].What != "attribute step" || fields[0].Formula != "(5, 7, …, 43)" {
		t.Errorf("fields %+v", fields)
	}
	// What is read outside f begins; each reading in f has grown by 8.
	meters := formulae.NewMeters(&p.Locations[0].Times)
	growth := p.Locations[0].Times.Counters
	if len(growth) != 4 || growth[2] != 8*formulae.MeanUnit {
		t.Fatalf("growth %v", growth)
	}
	meters.Read(0, 0, trace.TypeUint64, growth[0])
	meters.Read(0, 1, trace.TypeDouble, growth[1])
	for i := range 20 {
		if v := meters.Read(0, 0, trace.TypeUint64, growth[2]); v != uint64(108+8*i) {
			t.Fatalf("reading %d is %d, want %d", i, v, 108+8*i)
		}
	}
}

// Only durations that vary have a law. 200 of the 402 intervals do: 101000 of 102000 ticks.
func TestLawsOfDurations(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("location 0 rank=0\n 0 Enter main\n")
	at := 0
	for i := range 200 {
		d := []int{10, 1000}[i%2]
		fmt.Fprintf(&b, " %d Enter f ; %d Leave f\n", at+5, at+5+d)
		at += 5 + d
	}
	fmt.Fprintf(&b, " %d Leave main\n", at)
	_, p := learn(t, b.String(), formulae.Options{Durations: formulae.Laws})
	d := p.Report.Durations
	if got, want := d.Fitted.Calls+d.Sampled.Calls, 200./402; got != want {
		t.Errorf("%v of the durations have a law, want %v", got, want)
	}
	if got, want := d.Fitted.Time+d.Sampled.Time, 101./102; got != want {
		t.Errorf("%v of the time has a law, want %v", got, want)
	}
	// The quantiles of two values are these.
	laws, sum := p.Locations[0].Times.Laws, uint64(0)
	if len(laws) != 1 {
		t.Fatalf("laws %+v", laws)
	}
	for i, level := range formulae.LawLevels() {
		sum += laws[0].Quantiles[i]
		if level < formulae.LevelUnit/2 && sum != 10 || level > formulae.LevelUnit/2 && sum != 1000 {
			t.Errorf("the quantile %d/%d is %d", level, formulae.LevelUnit, sum)
		}
	}
	if _, p = learn(t, b.String(), formulae.Options{}); len(p.Locations[0].Times.Laws) > 0 || p.Report.Durations.Sampled.Calls > 0 {
		t.Error("laws that nobody asked for")
	}
}
