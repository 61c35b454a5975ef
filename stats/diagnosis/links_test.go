package diagnosis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// A ring is 16 ranks, two on each node, that compute 1 ms and exchange a message with each neighbor, 60 times. A message takes 20 µs,
// and delay longer, at a time.
func ring(nodes, atOnce bool, delay func(from, to int, at int64) int64) string {
	const ranks, rounds = 16, 60
	var b strings.Builder
	if nodes {
		for n := range ranks / 2 {
			fmt.Fprintf(&b, "node %d host%d class=node\n", n, n)
		}
		for r := range ranks {
			fmt.Fprintf(&b, "process %d p%d kind=1 node=%d\n", r, r, r/2)
		}
		const all = "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"
		b.WriteString("group 0 all kind=4 paradigm=4 members=" + all + "\ngroup 1 all kind=5 paradigm=4 members=" + all + "\n")
		b.WriteString("comm 0 MPI_COMM_WORLD group=1\n")
	}
	var lines [ranks]strings.Builder
	var now [ranks]int64
	for round := range rounds {
		var sent [ranks]int64
		for r := range ranks {
			now[r] += 1_000_000 + int64((r*37+round*61)%101)*300
			w, right, left := &lines[r], (r+1)%ranks, (r+ranks-1)%ranks
			fmt.Fprintf(w, "  %d Enter MPI_Irecv ; %[1]d MpiIrecvRequest req=1 ; %d Leave MPI_Irecv\n", now[r], now[r]+500)
			fmt.Fprintf(w, "  %d Enter MPI_Irecv ; %[1]d MpiIrecvRequest req=2 ; %d Leave MPI_Irecv\n", now[r]+500, now[r]+1000)
			sent[r] = now[r] + 1000
			fmt.Fprintf(w, "  %d Enter MPI_Isend ; %[1]d MpiIsend to=%d bytes=8 req=3 ; %d Leave MPI_Isend\n", sent[r], right, sent[r]+500)
			fmt.Fprintf(w, "  %d Enter MPI_Isend ; %[1]d MpiIsend to=%d bytes=8 req=4 ; %d Leave MPI_Isend\n", sent[r]+500, left, sent[r]+1000)
		}
		for r := range ranks {
			w, right, left := &lines[r], (r+1)%ranks, (r+ranks-1)%ranks
			enter := sent[r] + 1000
			a := max(enter, sent[left]+20_000+delay(left, r, sent[left]))
			c := max(enter, sent[right]+500+20_000+delay(right, r, sent[right]))
			now[r] = max(enter+500, a, c)
			first, second := fmt.Sprintf("MpiIrecv from=%d bytes=8 req=1", left), fmt.Sprintf("MpiIrecv from=%d bytes=8 req=2", right)
			if atOnce {
				a, c = now[r], now[r]
			} else if c < a {
				a, c, first, second = c, a, second, first
			}
			fmt.Fprintf(w, "  %d Enter MPI_Waitall ; %[1]d MpiIsendComplete req=3 ; %[1]d MpiIsendComplete req=4 ; %d %s ; %d %s ; %d Leave MPI_Waitall\n",
				enter, a, first, c, second, now[r])
		}
	}
	for r := range ranks {
		if nodes {
			fmt.Fprintf(&b, "location %d t process=%d\n", r, r)
		} else {
			fmt.Fprintf(&b, "location %d rank=%d\n", r, r)
		}
		fmt.Fprintf(&b, "  0 Enter main\n%s  %d Leave main\n", lines[r].String(), now[r])
	}
	return b.String()
}

// TestSlowMessages states that slow messages are named by what they have in common: sender, receiver, both, a node's link in one direction
// or in both, or a time; by a few pairs where nodes are not recorded; and that nothing is said where completions are not recorded singly.
func TestSlowMessages(t *testing.T) {
	const slow = 500_000
	on := func(yes bool) int64 {
		if yes {
			return slow
		}
		return 0
	}
	for name, c := range map[string]struct {
		delay         func(from, to int, at int64) int64
		bare, atOnce  bool
		headline, say string
		ranks         []uint32
	}{
		"pair":   {func(from, to int, _ int64) int64 { return on(from == 3 && to == 4) }, false, false, "Messages from rank 3 to rank 4 are slow", "", []uint32{3, 4}},
		"sender": {func(from, _ int, _ int64) int64 { return on(from == 5) }, false, false, "Messages that rank 5 sends are slow", "", []uint32{5}},
		"receiver": {func(_, to int, _ int64) int64 { return on(to == 5) }, false, false, "Messages that rank 5 receives are slow", "",
			[]uint32{5}},
		"out": {func(from, to int, _ int64) int64 { return on(from/2 == 1 && to/2 != 1) }, false, false, "Messages that leave host1 are slow", "",
			[]uint32{2, 3}},
		"in": {func(from, to int, _ int64) int64 { return on(from/2 != 1 && to/2 == 1) }, false, false, "Messages that enter host1 are slow", "",
			[]uint32{2, 3}},
		"both": {func(from, to int, _ int64) int64 { return on((from/2 == 1) != (to/2 == 1)) }, false, false,
			"Messages to and from host1 are slow", "", []uint32{2, 3}},
		"no nodes": {func(from, to int, _ int64) int64 { return on(from/2 == 1 && to/2 != 1) }, true, false,
			"Messages between 2 pairs of ranks are slow", "rank 2 to rank 1 and rank 3 to rank 4", []uint32{1, 2, 3, 4}},
		"time": {func(_, _ int, at int64) int64 { return on(at > 20_000_000 && at < 26_000_000) }, false, false,
			"Messages are slow from 20.9 ms to 26.1 ms", "", nil},
		"at once": {func(from, to int, _ int64) int64 { return on(from == 3 && to == 4) }, false, true,
			"Some MPI_Waitall calls are slower than comparable calls", "which of them is slow is not recorded", nil},
		"each once": {func(from, _ int, at int64) int64 { return on(at/1_000_000%59 == int64(7*from)) }, false, false,
			"Some MPI_Waitall calls are slower than comparable calls", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			src, err := tracetest.Parse(ring(!c.bare, c.atOnce, c.delay))
			if err != nil {
				t.Fatal(err)
			}
			tr, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{Overhead: &overhead.Options{PerCall: true}})
			causes, err := diagnosis.Find(t.Context(), tr, a, 1)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(causes, func(c cause.Cause) bool { return c.Kind == cause.SlowCalls })
			if i != 0 || causes[0].Headline != c.headline || !strings.Contains(causes[0].Text, c.say) ||
				c.ranks != nil && !slices.Equal(causes[0].Ranks, c.ranks) {
				t.Errorf("%+v\nwant %s: %s, ranks %v", causes, c.headline, c.say, c.ranks)
			}
		})
	}
}

// TestSlowNode states that ranks which take longer are named as those of a node, if they are all of it.
func TestSlowNode(t *testing.T) {
	for name, c := range map[string]struct {
		slow []uint32
		say  bool
	}{"all": {[]uint32{2, 3}, true}, "across": {[]uint32{1, 2}, false}, "one": {[]uint32{2}, false}} {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for n := range 4 {
				fmt.Fprintf(&b, "node %d host%[1]d class=node\n", n)
			}
			for r := range 8 {
				fmt.Fprintf(&b, "process %d p kind=1 node=%d\n", r, r/2)
			}
			b.WriteString("group 0 all kind=4 paradigm=4 members=0,1,2,3,4,5,6,7\ngroup 1 all kind=5 paradigm=4 members=0,1,2,3,4,5,6,7\n")
			b.WriteString("comm 0 MPI_COMM_WORLD group=1\n")
			for r := range uint32(8) {
				work := 100
				if slices.Contains(c.slow, r) {
					work = 140
				}
				fmt.Fprintf(&b, "location %d t process=%[1]d\n", r)
				for k := range 20 {
					at := 150 * k
					fmt.Fprintf(&b, "  %d Enter work ; %d Leave work ; %[2]d Enter MPI_Barrier ; %[2]d MpiCollectiveBegin ; %d MpiCollectiveEnd Barrier "+
						"root=none ; %[3]d Leave MPI_Barrier\n", at, at+work, at+150)
				}
			}
			tr, a := statstest.Analyzed(t, tracetest.MustParse(t, b.String()), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
			causes, err := diagnosis.Find(t.Context(), tr, a, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(causes) == 0 || !slices.Equal(causes[0].Ranks, c.slow) ||
				strings.Contains(causes[0].Text, "These are all ranks of host1. ") != c.say {
				t.Errorf("%+v", causes)
			}
		})
	}
}
