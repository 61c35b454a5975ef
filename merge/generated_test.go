package merge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/samples/oracle"
	"tracekit/spill"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func generate(t testing.TB, o samples.Options) (*samples.Memory, *samples.Truth) {
	t.Helper()
	m, truth, err := samples.InMemory(context.Background(), o)
	if err != nil {
		t.Fatalf("%+v: %v", o, err)
	}
	return m, truth
}

// merged merges a trace and checks what every merged trace promises.
func merged(t testing.TB, src trace.Source, o merge.Options) *trace.Trace {
	t.Helper()
	tr, err := merge.Merge(t.Context(), src, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Store.Close() })
	if err := tracetest.CheckTrace(tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// counts is what a trace has of the things that the simulator counts.
type counts struct {
	Events, Messages, Bytes, UnmatchedSends, UnmatchedReceives, Cancelled, Collectives, Members uint64
	First, Last                                                                                 int64
}

func count(t *trace.Trace) (c counts) {
	c.Events, c.Collectives, c.Members = t.Coverage.EventsRead, uint64(t.Collectives.Len()), uint64(t.Members.Len())
	for l := range t.Calls {
		for i := range t.Sends[l].Len() {
			switch s := t.Sends[l].At(i); s.State {
			case trace.Matched:
				c.Messages++
				c.Bytes += s.Bytes
			case trace.Unmatched:
				c.UnmatchedSends++
			}
		}
		for i := range t.Recvs[l].Len() {
			switch t.Recvs[l].At(i).State {
			case trace.Unmatched:
				c.UnmatchedReceives++
			case trace.Cancelled:
				c.Cancelled++
			}
		}
		if s := t.Span[l]; s.Events > 0 {
			if c.First == 0 || s.First < c.First {
				c.First = s.First
			}
			c.Last = max(c.Last, s.Last)
		}
	}
	return c
}

// programs calls f with options for every program, some sizes and some defects.
func programs(f func(name string, o samples.Options)) {
	for _, p := range samples.Programs() {
		for _, ranks := range []int{2, 5, 8} {
			for _, threads := range []int{1, 3} {
				for _, lost := range []int{0, 4} {
					o := samples.Options{Program: p.Name, Ranks: ranks, Iterations: 4, Threads: threads, Seed: 11}
					o.Plant.Lost = lost
					o.Plant.Skew = 3000
					f(fmt.Sprintf("%s, %d ranks, %d threads, %d lost", p.Name, ranks, threads, lost), o)
				}
			}
		}
	}
}

// TestTruth: with right offsets, merging finds what the simulator has counted.
func TestTruth(t *testing.T) {
	programs(func(name string, o samples.Options) {
		m, truth := generate(t, o)
		tr := merged(t, m, merge.Options{})
		want := counts{truth.Events, truth.Messages, truth.Bytes, truth.UnmatchedSends, truth.UnmatchedReceives,
			truth.Cancelled, truth.Collectives, truth.CollectiveMembers, truth.First, truth.Last}
		if d := cmp.Diff(want, count(tr)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
		if c := tr.Clock; c.Method != trace.ClockOffsets || c.Messages.Offsets+c.Collectives.Offsets > 0 {
			t.Errorf("%s: with right offsets the clock is %+v", name, c)
		}
		for _, f := range tr.Findings {
			if f.Code != trace.CodeUnmatchedSend && f.Code != trace.CodeUnmatchedReceive && f.Code != trace.CodeOpenRequest {
				t.Errorf("%s: %+v", name, f)
			}
		}
	})
}

// TestOracle: messages and collectives are those that the definitions' nested loops find.
func TestOracle(t *testing.T) {
	programs(func(name string, o samples.Options) {
		o.Iterations = 2
		m, _ := generate(t, o)
		tr := merged(t, m, merge.Options{Clock: merge.ClockOffsets})
		want := oracle.Analyze(&m.MemorySource, oracle.Options{Offsets: true})
		if d := cmp.Diff(oracleMessages(want), mergedMessages(tr)); d != "" {
			t.Errorf("%s: messages:\n%s", name, d)
		}
		if d := cmp.Diff(oracleParts(want), mergedParts(tr)); d != "" {
			t.Errorf("%s: collectives:\n%s", name, d)
		}
	})
}

// A message as both sides can say it: sequence numbers of its records, -1 for none.
type message struct {
	from, to         uint32
	sent, recvd      int64
	sendTime         int64
	post, completion int64 // sequence numbers of the Enter of the sender's and receiver's calls
}

func (m message) Equal(o message) bool { return m == o }

func oracleMessages(r *oracle.Result) (out []message) {
	for _, s := range r.Sends {
		m := message{from: s.From, to: s.To, sent: int64(s.Seq), recvd: -1, sendTime: s.Time, post: int64(s.Post.Enter), completion: -1}
		if s.Recv != nil {
			m.recvd, m.completion = int64(s.Recv.Seq), s.Recv.Done.Leave
		}
		out = append(out, m)
	}
	return out
}

func mergedMessages(t *trace.Trace) (out []message) {
	for l := range t.Sends {
		for i := range t.Sends[l].Len() {
			s := t.Sends[l].At(i)
			m := message{from: t.Rank[l], to: s.To(t.Rank), sent: int64(s.Seq()), recvd: -1, sendTime: s.Time,
				post: t.Calls[l].At(int(s.Call)).Enter, completion: -1}
			if s.State == trace.Matched {
				r := t.Recvs[s.RecvLoc].At(int(s.Recv))
				m.recvd, m.completion = int64(r.Seq()), t.Calls[s.RecvLoc].At(int(r.Call)).Leave
			}
			out = append(out, m)
		}
	}
	return out
}

// oracleParts returns a line for each part in a collective, as a set: the operation, the
// communicator, the times of the part, and the latest entry of its instance.
func oracleParts(r *oracle.Result) map[string]int {
	out := make(map[string]int)
	for _, c := range r.Collectives {
		latest := int64(0)
		for _, m := range c.Members {
			latest = max(latest, m.Call.Enter)
		}
		for _, m := range c.Members {
			out[fmt.Sprintf("%s on %d of %d: %d enters at %d, leaves at %d, the last at %d", c.Op, c.Comm, c.Size,
				m.Rank, m.Call.Enter, m.Done.Leave, latest)]++
		}
	}
	return out
}

func mergedParts(t *trace.Trace) map[string]int {
	out := make(map[string]int)
	for i := range t.Collectives.Len() {
		c := t.Collectives.At(i)
		latest := int64(0)
		for k := range int(c.Count) {
			m := t.Members.At(int(c.First) + k)
			latest = max(latest, t.Calls[m.Location].At(int(m.Call)).Enter)
		}
		for k := range int(c.Count) {
			m := t.Members.At(int(c.First) + k)
			out[fmt.Sprintf("%s on %d of %d: %d enters at %d, leaves at %d, the last at %d", c.Op, c.Comm, c.Size,
				t.Rank[m.Location], t.Calls[m.Location].At(int(m.Call)).Enter, t.Calls[m.Location].At(int(m.Done)).Leave, latest)]++
		}
	}
	return out
}

// TestSameResultForAnyJobsAndMemory: neither the number of goroutines nor spilling to
// disk changes anything.
func TestSameResultForAnyJobsAndMemory(t *testing.T) {
	for _, p := range samples.Programs() {
		o := samples.Options{Program: p.Name, Ranks: 4, Iterations: 150, Threads: 2, Seed: 5}
		o.Plant = samples.Plant{Lost: 3, Skew: 50_000, Drift: 100, Offsets: samples.OffsetsWrong}
		m, _ := generate(t, o)
		want := list(merged(t, m, merge.Options{Jobs: 1}))
		for _, opts := range []merge.Options{{Jobs: 4}, {Jobs: 3, Store: spill.NewStore(1<<20, t.TempDir())}} {
			if got := list(merged(t, m, opts)); got != want {
				t.Errorf("%s: result with %d jobs differs", p.Name, opts.Jobs)
			}
		}
	}
}

// TestOnePageOfMemory: tables work, slowly, if all but one page must be on disk.
func TestOnePageOfMemory(t *testing.T) {
	m, _ := generate(t, samples.Options{Program: "halo", Ranks: 2, Iterations: 600, Seed: 5})
	tr := merged(t, m, merge.Options{Store: spill.NewStore(1, "")})
	if tr.Store.Spilled() == 0 {
		t.Error("nothing was spilled")
	}
	if got, want := list(tr), list(merged(t, m, merge.Options{})); got != want {
		t.Error("the result differs")
	}
}

// TestDamagedTraces: whatever happens to the events, merging ends, and what it makes is
// sound.
func TestDamagedTraces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range samples.Programs() {
		for range 30 {
			m, _ := generate(t, samples.Options{Program: p.Name, Ranks: 4, Iterations: 3, Seed: 2, Plant: samples.Plant{Skew: 5000}})
			for range 1 + r.IntN(20) {
				damage(r, m)
			}
			for _, mode := range []merge.ClockMode{merge.ClockAuto, merge.ClockCLC} {
				tr := merged(t, m, merge.Options{Clock: mode})
				if c := tr.Coverage; c.EventsSkipped > c.EventsRead {
					t.Errorf("%s: %+v", p.Name, c)
				}
			}
		}
	}
}

// damage changes one field of one event.
func damage(r *rand.Rand, m *samples.Memory) {
	batches := m.Batches[r.IntN(len(m.Batches))]
	b := batches[r.IntN(len(batches))]
	pick := func(n int) int { return r.IntN(max(1, n)) }
	if f := pick(len(b.Flow.Seq)); f < len(b.Flow.Seq) {
		switch r.IntN(3) {
		case 0:
			b.Flow.Kind[f] = trace.KindEnter + trace.Kind(r.IntN(2))
		case 1:
			b.Flow.Time[f] += r.Int64N(1 << 20)
		case 2:
			b.Flow.Region[f] = trace.RegionID(r.Uint32())
		}
	}
	if c := pick(len(b.Coll.Seq)); c < len(b.Coll.Seq) {
		switch r.IntN(4) {
		case 0:
			b.Coll.Comm[c] = trace.CommID(r.IntN(4))
		case 1:
			b.Coll.Kind[c] = []trace.Kind{trace.KindCollectiveBegin, trace.KindCollectiveEnd,
				trace.KindNonBlockingCollectiveRequest, trace.KindNonBlockingCollectiveComplete}[r.IntN(4)]
		case 2:
			b.Coll.Root[c] = r.Uint32()
		case 3:
			b.Coll.Op[c] = trace.CollectiveOp(r.IntN(24))
		}
	}
	if p := pick(len(b.P2P.Seq)); p < len(b.P2P.Seq) {
		switch r.IntN(4) {
		case 0:
			b.P2P.Kind[p] = trace.KindMpiSend + trace.Kind(r.IntN(8))
		case 1:
			b.P2P.Peer[p] = uint32(r.IntN(6))
		case 2:
			b.P2P.Time[p] = r.Int64() - r.Int64()
		case 3:
			b.P2P.Request[p] = uint64(r.IntN(10))
		}
	}
}
