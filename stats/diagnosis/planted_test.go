package diagnosis_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// A planted program is what each of its ranks has recorded, and when it is done, in ns.
type planted struct {
	events []strings.Builder
	now    []int
}

func plant(ranks int) *planted { return &planted{make([]strings.Builder, ranks), make([]int, ranks)} }

func (p *planted) work(rank, ns int) {
	fmt.Fprintf(&p.events[rank], "  %d Enter work ; %d Leave work\n", p.now[rank], p.now[rank]+ns)
	p.now[rank] += ns
}

// send returns when the message is sent.
func (p *planted) send(from, to int) (at int) {
	at = p.now[from]
	fmt.Fprintf(&p.events[from], "  %d Enter MPI_Send ; %[1]d MpiSend to=%d tag=0 bytes=8 ; %d Leave MPI_Send\n", at, to, at+1)
	p.now[from]++
	return at
}

// receive takes a message that is sent at an instant.
func (p *planted) receive(to, from, sent int) {
	at := p.now[to]
	p.now[to] = max(at, sent) + 1
	fmt.Fprintf(&p.events[to], "  %d Enter MPI_Recv ; %d MpiRecv from=%d tag=0 bytes=8 ; %[2]d Leave MPI_Recv\n", at, p.now[to], from)
}

// barrier lets all ranks wait for each other.
func (p *planted) barrier() {
	end := slices.Max(p.now) + 10
	for r := range p.events {
		fmt.Fprintf(&p.events[r], "  %d Enter MPI_Barrier ; %[1]d MpiCollectiveBegin ; %d MpiCollectiveEnd Barrier root=none ; %[2]d Leave "+
			"MPI_Barrier\n", p.now[r], end)
		p.now[r] = end
	}
}

// causes returns the causes of the program.
func (p *planted) causes(t *testing.T) []cause.Cause {
	t.Helper()
	text := ""
	for r := range p.events {
		text += fmt.Sprintf("location %d rank=%[1]d\n%s", r, &p.events[r])
	}
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	causes, err := diagnosis.Find(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range causes {
		causes[i].Advise(false)
	}
	return causes
}

// TestUnequalWork: work that grows from rank to rank is uneven, and the ranks above the mean have too much of it; of work of random length
// a different rank is slow each time, and no rank is named. Ranks that are late once each are named. Saved is what the longest of each
// round takes beyond the mean, or beyond those that are not late.
func TestUnequalWork(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		name, headline string
		work           func(rank, round int) int
		ranks          []uint32
		try            string
		late           bool
	}{
		{"grows", "Work in work is uneven", func(r, _ int) int { return 1000 + 200*r }, []uint32{4, 5, 6, 7},
			"move work from these ranks", false},
		{"random", "A different rank is slow in work each time", func(int, int) int { return 300 + random.IntN(2400) }, []uint32{},
			"look for noise", false},
		{"late once each", "Ranks 1 and 6 are late 2 times in work", func(r, k int) int {
			if (r == 1 || r == 6) && k == 10*r {
				return 11000
			}
			return 1000
		}, []uint32{1, 6}, "look for what these ranks did then", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, lost := plant(8), 0
			for round := range 70 {
				sum, longest := 0, 0
				for r := range 8 {
					work := c.work(r, round)
					sum, longest = sum+work, max(longest, work)
					p.work(r, work)
				}
				if lost += longest - sum/8; c.late {
					lost += sum/8 - 1000
				}
				p.barrier()
			}
			causes := p.causes(t)
			if len(causes) != 1 || causes[0].Headline != c.headline || !slices.Equal(causes[0].Ranks, c.ranks) ||
				!strings.HasPrefix(causes[0].Try, c.try) {
				t.Fatalf("causes are %+v", causes)
			}
			if gain := int(*causes[0].GainNs); max(gain-lost, lost-gain) > 60 { // a mean is rounded
				t.Errorf("the gain is %d, want %d", gain, lost)
			}
		})
	}
}

// TestChain: in a pipeline that is filled and drained again and again ranks work one after another, though all work as long.
func TestChain(t *testing.T) {
	const ranks, sweeps, blocks, work = 4, 10, 4, 1000
	p := plant(ranks)
	for range sweeps {
		var sent [blocks]int
		for r := range ranks {
			for b := range blocks {
				if r > 0 {
					p.receive(r, r-1, sent[b])
				}
				p.work(r, work)
				if r+1 < ranks {
					sent[b] = p.send(r, r+1)
				}
			}
		}
		p.barrier()
	}
	causes := p.causes(t)
	if len(causes) != 1 || causes[0].Kind != cause.Inefficient || causes[0].Region != "work" ||
		!strings.HasSuffix(causes[0].Text, "The place to shorten first is work. On average 2.29 of 4 ranks work there at a time; the others "+
			"wait for messages.") ||
		!strings.HasPrefix(causes[0].Try, "send the data in smaller pieces") {
		t.Fatalf("causes are %+v", causes)
	}
}

// TestSlowOutside: a rank that takes longer outside of any region, of which no visits are known, is slow there.
func TestSlowOutside(t *testing.T) {
	p := plant(4)
	for range 50 {
		for r := range 4 {
			p.now[r] += 100 + 80*(r/3)
		}
		p.barrier()
	}
	if causes := p.causes(t); len(causes) != 1 || causes[0].Headline != "Rank 3 is slow in code outside recorded functions" {
		t.Errorf("causes are %+v", causes)
	}
}

// TestReceivedInOrder: rank 0 takes the message of rank 1 first, which comes last, and works on each message. If it took them as they come,
// it could work on the two others meanwhile.
func TestReceivedInOrder(t *testing.T) {
	const iterations, merging = 20, 40
	p := plant(4)
	for range iterations {
		var sent [4]int
		for r, work := range []int{1: 700, 200, 100} {
			if r > 0 {
				p.work(r, work)
				sent[r] = p.send(r, 0)
			}
		}
		for r := 1; r < 4; r++ {
			p.receive(0, r, sent[r])
			p.work(0, merging)
		}
		p.barrier()
	}
	for _, c := range p.causes(t) {
		if c.Kind != cause.WrongOrder {
			continue
		}
		if want := int64(iterations * 2 * (merging + 1)); *c.GainNs < want*97/100 || *c.GainNs > want {
			t.Errorf("the gain is %d, want %d", *c.GainNs, want)
		}
		return
	}
	t.Error("the order of receives is no cause")
}

// TestGrowing: of a rank that takes longer and longer it is said how much longer it is at the beginning and at the end; of one that takes
// longer all the time, that it is slow.
func TestGrowing(t *testing.T) {
	for _, c := range []struct {
		name   string
		more   func(round int) int
		text   string
		prefix string
	}{
		{"grows", func(k int) int { return 50 * k }, "The excess grows: 1.48 times in the first quarter of the visits, 4.5 times in the last. ",
			"look for what grows on rank 2"},
		{"ends", func(k int) int { return 2000 * (1 - k/56) }, "The excess shrinks: 3.0 times in the first quarter of the visits, 1.00 times in " +
			"the last. ", "move work from rank 2"},
		{"always", func(int) int { return 2000 }, "", "move work from rank 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plant(4)
			for round := range 80 {
				for r := range 4 {
					p.work(r, 1000+c.more(round)*(r/2)*(1-r%2))
				}
				p.barrier()
			}
			causes := p.causes(t)
			if len(causes) != 1 || causes[0].Headline != "Rank 2 is slow in work" || !strings.Contains(causes[0].Text, c.text) ||
				strings.Contains(causes[0].Text, "The excess") != (c.text != "") || !strings.HasPrefix(causes[0].Try, c.prefix) {
				t.Errorf("causes are %+v", causes)
			}
		})
	}
}
