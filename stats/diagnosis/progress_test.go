package diagnosis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/document/waitstate"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// ring makes a program of ranks that begin to send to the next rank and to receive from the one before, compute, and complete both. Rank 2
// computes so many ticks longer. If messages need both ranks in MPI, a call that completes them ends when both partners are there.
func ring(ranks, steps int, more int64, held bool) string {
	text, at := make([]strings.Builder, ranks), make([]int64, ranks)
	for r := range text {
		fmt.Fprintf(&text[r], "location %d rank=%d\n", r, r)
	}
	for step := range steps {
		posted, entered := slices.Clone(at), slices.Clone(at)
		for r := range text {
			fmt.Fprintf(&text[r], "  %d Enter MPI_Irecv ; %[1]d MpiIrecvRequest req=%d ; %[1]d Leave MPI_Irecv\n", at[r], 2*step)
			fmt.Fprintf(&text[r], "  %d Enter MPI_Isend ; %[1]d MpiIsend to=%d tag=0 bytes=65536 req=%d ; %d Leave MPI_Isend\n",
				at[r]+10, (r+1)%ranks, 2*step+1, at[r]+20)
			entered[r] = at[r] + 10_000 + int64(7*(r*step%5))
			if r == 2 {
				entered[r] += more
			}
			fmt.Fprintf(&text[r], "  %d Enter work ; %d Leave work\n", at[r]+20, entered[r])
		}
		for r := range text {
			before, after := (r+ranks-1)%ranks, (r+1)%ranks
			at[r] = max(entered[r], posted[before]+10)
			if held {
				at[r] = max(entered[r], entered[before], entered[after])
			}
			at[r] += 100
			fmt.Fprintf(&text[r], "  %d Enter MPI_Waitall ; %d MpiIrecv from=%d tag=0 bytes=65536 req=%d ; %[2]d MpiIsendComplete req=%[5]d ; "+
				"%[2]d Leave MPI_Waitall\n", entered[r], at[r], before, 2*step, 2*step+1)
			at[r] += 5
		}
	}
	var all strings.Builder
	for r := range text {
		all.WriteString(text[r].String())
	}
	return all.String()
}

// TestLateProgress states that a rank that computes longer than others is named with what that costs where its partners wait in MPI until
// it comes back to MPI, since messages do not go on without it. Those are its two partners, to whom the fourth rank's waits are late
// senders. Where messages go on, only those wait to which it sends later and later.
func TestLateProgress(t *testing.T) {
	const ranks, steps, more = 4, 40, 9000
	for _, held := range []bool{false, true} {
		tr, a := statstest.Analyzed(t, tracetest.MustParse(t, ring(ranks, steps, more, held)), merge.Options{Clock: merge.ClockNone},
			analysis.Options{})
		waited := a.WaitStates[waitstate.LateProgress].TimeNs
		if want := int64(2 * steps * more); held && math.Abs(float64(waited-want)) > 0.02*float64(want) || !held && waited > 0 {
			t.Errorf("messages need partners: %v, late progress: %d ns", held, waited)
		}
		causes, err := Find(t.Context(), tr, a, 1)
		if err != nil || len(causes) == 0 {
			t.Fatal(causes, err)
		}
		c := causes[0]
		if c.Kind != cause.Imbalance || !slices.Equal(c.Ranks, []uint32{2}) || c.Region != "work" {
			t.Errorf("messages need partners: %v, the cause is %q, ranks %v", held, c.Headline, c.Ranks)
		}
		if gain := gainOf(c); math.Abs(float64(gain)-steps*more) > 0.05*steps*more {
			t.Errorf("messages need partners: %v, it gains %d ns of %d", held, gain, steps*more)
		}
	}
}

// TestHalfWork states that work that only half of the ranks have is what to fix, though nobody of those is slower than the others.
func TestHalfWork(t *testing.T) {
	const steps, work, less = 40, 5000, 2000
	text := [4]strings.Builder{}
	for r := range text {
		fmt.Fprintf(&text[r], "location %d rank=%[1]d\n", r)
	}
	for step := range steps {
		for r := range text {
			at := step * (work + 110)
			if r%2 == 0 {
				fmt.Fprintf(&text[r], "  %d Enter produce ; %d Leave produce ; %[2]d Enter MPI_Ssend ; %[2]d MpiSend to=%d tag=0 bytes=8 ; "+
					"%d Leave MPI_Ssend\n", at, at+less, r+1, at+work+100)
			} else {
				fmt.Fprintf(&text[r], "  %d Enter consume ; %d Leave consume ; %[2]d Enter MPI_Recv ; %d MpiRecv from=%d tag=0 bytes=8 ; "+
					"%[3]d Leave MPI_Recv\n", at, at+work, at+work+100, r-1)
			}
		}
	}
	all := ""
	for r := range text {
		all += text[r].String()
	}
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, all), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	causes, err := Find(t.Context(), tr, a, 1)
	if err != nil || len(causes) == 0 || causes[0].Region != "consume" || !slices.Equal(causes[0].Ranks, []uint32{1, 3}) ||
		causes[0].Headline != "Only some ranks at a time work in consume" {
		t.Errorf("causes are %+v, %v", causes, err)
	}
}

// TestNoLateProgress states that messages that take long on their way need nobody in MPI: not even where, each time, a partner comes back
// to MPI just before one arrives.
func TestNoLateProgress(t *testing.T) {
	for _, latency := range []int64{1500, 10_000, 20_000, 25_000} {
		for _, more := range []int64{0, 10_000, 20_000} {
			src := statstest.Generated(t, samples.Options{Program: "halo", Ranks: 8, Iterations: 60, Threads: 1, Seed: 1,
				Network: &samples.Network{Latency: latency, BytesPerTick: 4}, Plant: samples.Plant{Imbalance: more}})
			_, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{})
			if waited := a.WaitStates[waitstate.LateProgress].TimeNs; waited > 0 {
				t.Errorf("latency %d ns, one rank %d ns longer: late progress %d ns", latency, more, waited)
			}
		}
	}
}

// TestSlowIterations states that iterations in which all ranks compute longer are what to fix, though nobody waits, however much longer
// they are; where one rank is late that is said, and nothing of iterations.
func TestSlowIterations(t *testing.T) {
	const ranks, steps, work, more = 4, 60, 1000, 6000
	for _, all := range []bool{true, false} {
		text := [ranks]strings.Builder{}
		for r := range text {
			fmt.Fprintf(&text[r], "location %d rank=%[1]d\n", r)
		}
		at := 0
		for step := range steps {
			end := at + work + 20
			for r := range text {
				busy := work - 10*r
				if step%10 == 7 && (all || r == 2) {
					busy, end = busy+more, at+work+more+20
				}
				fmt.Fprintf(&text[r], "  %d Enter work ; %d Leave work ; %[2]d Enter MPI_Barrier ; %[2]d MpiCollectiveBegin ; ", at, at+busy)
			}
			for r := range text {
				fmt.Fprintf(&text[r], "%d MpiCollectiveEnd Barrier root=none ; %[1]d Leave MPI_Barrier\n", end)
			}
			at = end
		}
		program := ""
		for r := range text {
			program += text[r].String()
		}
		tr, a := statstest.Analyzed(t, tracetest.MustParse(t, program), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
		causes, err := Find(t.Context(), tr, a, 1)
		if err != nil || len(causes) != 1 {
			t.Fatalf("all ranks: %v, causes are %+v, %v", all, causes, err)
		}
		c, want := causes[0], "6 of 59 iterations are slow on all ranks"
		if !all {
			want = "Rank 2 is late 6 times in work"
		}
		if gain := gainOf(c); c.Headline != want || c.Region != "work" || gain < 6*more*95/100 || gain > 6*more*105/100 {
			t.Errorf("all ranks: %v, %q in %s gains %d", all, c.Headline, c.Region, gain)
		}
		if all && !strings.Contains(c.Text, "One comes every 10 iterations.") {
			t.Errorf("the text is %q", c.Text)
		}
	}
}

// TestProgressBehindSender: what a call waits for a send before it waits for the sender to come back to MPI is charged to the message.
func TestProgressBehindSender(t *testing.T) {
	var text [2]strings.Builder
	for r := range text {
		fmt.Fprintf(&text[r], "location %d rank=%[1]d\n", r)
	}
	const steps, late = 30, 1000
	for step := range steps {
		at := 100_000 * step
		posted, back, waits := at+30, at+40, at+20
		switch step % 3 {
		case 0: // the sender is in MPI
			waits = back + 5
		case 1: // it has left MPI
			back = at + 9000
		case 2: // it sends late, too
			posted, back = waits+late, at+30_000
		}
		fmt.Fprintf(&text[0], "  %d Enter MPI_Isend ; %[1]d MpiIsend to=1 tag=0 bytes=65536 req=%d ; %d Leave MPI_Isend ; %d Enter MPI_Wait ; "+
			"%d MpiIsendComplete req=%[2]d ; %[5]d Leave MPI_Wait\n", posted, 2*step, posted+5, back, back+20)
		fmt.Fprintf(&text[1], "  %d Enter MPI_Irecv ; %[1]d MpiIrecvRequest req=%d ; %d Leave MPI_Irecv ; %d Enter MPI_Wait ; "+
			"%d MpiIrecv from=0 tag=0 bytes=65536 req=%[2]d ; %[5]d Leave MPI_Wait\n", at, 2*step+1, at+10, waits, back+20)
	}
	_, a := statstest.Analyzed(t, tracetest.MustParse(t, text[0].String()+text[1].String()), merge.Options{Clock: merge.ClockNone},
		analysis.Options{Overhead: &overhead.Options{}})
	charged := int64(0)
	for _, pair := range a.Overhead.Pairs {
		charged += pair.LateSenderNs
	}
	waited, progress := a.WaitStates[waitstate.LateSender].TimeNs, a.WaitStates[waitstate.LateProgress].TimeNs
	if waited < steps/3*late || progress < steps/3*20_000 || charged != waited {
		t.Errorf("late senders: %d ns charged of %d; late progress %d", charged, waited, progress)
	}
}
