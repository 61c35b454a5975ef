package doubts_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/document/doubt"
	"tracekit/merge"
	"tracekit/stats/doubts"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// found returns the doubts of two ranks that make calls of MPI.
func found(t *testing.T, ranks ...string) []doubt.Sign {
	t.Helper()
	var members []string
	for r := range ranks {
		members = append(members, fmt.Sprint(r))
	}
	all := strings.Join(members, ",")
	text := fmt.Sprintf("group 0 \"MPI ranks\" kind=4 paradigm=4 members=%s\ngroup 1 world kind=5 paradigm=4 members=%s\ncomm 0 "+
		"MPI_COMM_WORLD group=1\n", all, all)
	for r, events := range ranks {
		text += fmt.Sprintf("process %d rank%d\nlocation %d rank%d process=%d kind=1\n%s", r, r, r, r, r, events)
	}
	found, err := doubts.Find(t.Context(), statstest.Merged(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}), 0)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestTimeSlices states that durations at several multiples of a time slice are a doubt, and that others are none: any, or those of a
// program that works for one slice each time.
func TestTimeSlices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	jitter := func() int { return r.IntN(200_000) - 100_000 }
	calls := func(duration func(i int) int) string {
		var b strings.Builder
		at := 0
		for i := range 200 {
			d := duration(i)
			fmt.Fprintf(&b, "  %d Enter MPI_Wait ; %d Leave MPI_Wait\n", at, at+d)
			at += d + 10_000
		}
		return b.String()
	}
	for _, c := range []struct {
		name     string
		duration func(i int) int
		slice    int64
	}{
		{"250 Hz", func(i int) int { return 4_000_000*(1+i%6) + jitter() }, 4_000_000},
		{"100 Hz", func(i int) int { return 10_000_000*(1+i%5) + jitter() }, 10_000_000},
		{"half of them short", func(i int) int { return (4_000_000*(1+i/2%6) + jitter()) * (i % 2) }, 4_000_000},
		{"any", func(int) int { return 1_000_000 + r.IntN(40_000_000) }, 0},
		{"one slice", func(int) int { return 4_000_000 + jitter() }, 0},
		{"short", func(int) int { return 1000 + r.IntN(1000) }, 0},
	} {
		got := found(t, calls(c.duration), calls(c.duration))
		if c.slice == 0 && len(got) > 0 || c.slice > 0 && (len(got) != 1 || got[0].Kind != doubt.TimeSlices ||
			got[0].SliceNs != c.slice) {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}

// TestSlowCollectives states that small collectives that mostly take milliseconds once all ranks are there are a doubt if some are fast:
// where none is, the network may be slow; and that waiting for the last rank is none.
func TestSlowCollectives(t *testing.T) {
	run := func(arrives, transfer func(i int) int) []doubt.Sign {
		var ranks [2]strings.Builder
		for i := range 60 {
			at := 50_000_000 * i
			left := at + arrives(i) + transfer(i)
			for r, b := range []*strings.Builder{&ranks[0], &ranks[1]} {
				from := at + r*arrives(i)
				fmt.Fprintf(b, "  %d Enter MPI_Allreduce ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Allreduce root=none sent=8 received=8 ; %d "+
					"Leave MPI_Allreduce\n", from, from, left, left)
			}
		}
		return found(t, ranks[0].String(), ranks[1].String())
	}
	at := func(times ...int) func(int) int { return func(i int) int { return times[i%len(times)] } }
	if got := run(at(0), at(20_000, 3_100_000, 5_700_000, 2_300_000)); len(got) != 1 || got[0].Kind != doubt.SlowCollectives ||
		got[0].MedianNs < 2_000_000 {
		t.Errorf("slow collectives among fast ones: %+v", got)
	}
	if got := run(at(0), at(3_100_000, 5_700_000)); len(got) > 0 {
		t.Errorf("all slow: %+v", got)
	}
	if got := run(at(3_100_000, 5_700_000), at(20_000)); len(got) > 0 {
		t.Errorf("late ranks: %+v", got)
	}
}

// TestSlowData states that small messages one way, none of which is as fast as a network, are a doubt: the receiver's clock is 60 ms ahead.
// Receivers need not wait for all of them. That some are fast, that the receiver is not in its call yet, or that it waits once, is none.
func TestSlowData(t *testing.T) {
	run := func(ahead, late func(i int) int) []doubt.Sign {
		var ranks [2]strings.Builder
		for i := range 20 {
			sent, left := 20_000_000*(i+1), 20_000_000*(i+1)+ahead(i)
			fmt.Fprintf(&ranks[0], "  %d Enter MPI_Send ; %d MpiSend to=1 tag=0 bytes=100 ; %d Leave MPI_Send\n", sent, sent, sent)
			fmt.Fprintf(&ranks[1], "  %d Enter MPI_Recv ; %d MpiRecv from=0 tag=0 bytes=100 ; %d Leave MPI_Recv\n", left-late(i), left, left)
		}
		return found(t, ranks[0].String(), ranks[1].String())
	}
	ahead := func(int) int { return 60_000_000 }
	all := func(ns int) func(int) int { return func(int) int { return ns } }
	first := func(n int) func(int) int { return func(i int) int { return 10_000 + 5_000_000*max(0, min(1, n-i)) } }
	if got := run(ahead, all(18_000_000)); len(got) != 1 || got[0].Kind != doubt.SlowData || *got[0].From != 0 || *got[0].Rank != 1 ||
		got[0].FastNs != 60_000_000 || got[0].Instances != 20 {
		t.Errorf("clocks differ: %+v", got)
	}
	if got := run(func(i int) int { return 20_000 + 18_000_000*min(1, i%7) }, all(10_000)); len(got) > 0 {
		t.Errorf("receivers that are late: %+v", got)
	}
	if got := run(all(20_000), all(18_000_000)); len(got) > 0 {
		t.Errorf("late senders: %+v", got)
	}
	if got := run(ahead, first(2)); len(got) != 1 {
		t.Errorf("a receiver that is as fast as its sender: %+v", got)
	}
	if got := run(ahead, first(1)); len(got) > 0 {
		t.Errorf("a first message that takes long: %+v", got)
	}
}

// TestSlowRooted states the same of collectives with a root.
func TestSlowRooted(t *testing.T) {
	run := func(takes, bytes int) []doubt.Sign {
		var ranks [2]strings.Builder
		for i := range 20 {
			at := 50_000_000 * (i + 1)
			for r, b := range []*strings.Builder{&ranks[0], &ranks[1]} {
				left := at + r*takes + 1000
				fmt.Fprintf(b, "  %d Enter MPI_Bcast ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Bcast root=0 sent=%[4]d received=%[4]d ; %[3]d "+
					"Leave MPI_Bcast\n", at, at, left, bytes)
			}
		}
		return found(t, ranks[0].String(), ranks[1].String())
	}
	for _, bytes := range []int{8, 8000, 64000} {
		if got := run(20_000_000, bytes); len(got) != 1 || got[0].Kind != doubt.SlowData || got[0].Operation != "MPI_Bcast" {
			t.Errorf("clocks differ, %d bytes: %+v", bytes, got)
		}
	}
	if got := run(50_000, 8); len(got) > 0 {
		t.Errorf("a fast network: %+v", got)
	}
	if got := run(8_000_000, 64000); len(got) > 0 {
		t.Errorf("a slow network: %+v", got)
	}
}

// TestSlowDataBeside: a message that is complete when another one comes says nothing of the network, nor does an operation that ends when
// its rank looks for it.
func TestSlowDataBeside(t *testing.T) {
	var ranks [3]strings.Builder
	for i := range 20 {
		at, late := 50_000_000*(i+1), 50_000_000*(i+1)+20_000_000
		fmt.Fprintf(&ranks[0], "  %d Enter MPI_Send ; %d MpiSend to=1 tag=0 bytes=8 ; %d Leave MPI_Send\n", at, at, at)
		fmt.Fprintf(&ranks[2], "  %d Enter MPI_Send ; %d MpiSend to=1 tag=0 bytes=8 ; %d Leave MPI_Send\n", late, late, late)
		fmt.Fprintf(&ranks[1], "  %d Enter MPI_Irecv ; %d MpiIrecvRequest req=%d ; %d Leave MPI_Irecv\n", at, at, 2*i+1, at)
		fmt.Fprintf(&ranks[1], "  %d Enter MPI_Irecv ; %d MpiIrecvRequest req=%d ; %d Leave MPI_Irecv\n", at, at, 2*i+2, at)
		fmt.Fprintf(&ranks[1], "  %d Enter MPI_Waitall ; %d MpiIrecv from=0 tag=0 bytes=8 req=%d ; %d MpiIrecv from=2 tag=0 bytes=8 req=%d ; "+
			"%d Leave MPI_Waitall\n", at, late+1000, 2*i+1, late+1000, 2*i+2, late+1000)
		for r := range ranks {
			fmt.Fprintf(&ranks[r], "  %d Enter MPI_Ibcast ; %d NonBlockingCollectiveRequest req=%d ; %d Leave MPI_Ibcast\n", late+2000, late+2000,
				100+i, late+2000)
			fmt.Fprintf(&ranks[r], "  %d Enter MPI_Wait ; %d NonBlockingCollectiveComplete Bcast root=0 sent=8 received=8 req=%d ; %d Leave "+
				"MPI_Wait\n", late+10_000_000, late+10_001_000, 100+i, late+10_001_000)
		}
	}
	if got := found(t, ranks[0].String(), ranks[1].String(), ranks[2].String()); len(got) > 0 {
		t.Errorf("a fast network: %+v", got)
	}
}
