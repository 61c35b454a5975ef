package reduce

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

func merged(t testing.TB, src trace.Source) *trace.Trace {
	t.Helper()
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	if err := tracetest.CheckTrace(tr); err != nil {
		t.Fatal(err)
	}
	return tr
}

// randomCuts cuts calls at random, one in so many, but for the outermost ones.
func randomCuts(t testing.TB, tr *trace.Trace, rng *rand.Rand, one int) *Cuts {
	t.Helper()
	cuts := NewCuts(tr.Store, len(tr.Defs.Locations))
	for l := range tr.Defs.Locations {
		var stack []uint64
		for b := range tracetest.Batches(t, tr.Source, trace.LocationID(l)) {
			for i, seq := range b.Flow.Seq {
				if b.Flow.Kind[i].Enters() {
					stack = append(stack, seq)
					continue
				}
				if rng.IntN(one) == 0 && len(stack) > 1 {
					cuts.Add(trace.LocationID(l), stack[len(stack)-1], seq+1)
				}
				stack = stack[:len(stack)-1]
			}
		}
	}
	return cuts
}

func codes(findings []trace.Finding) map[trace.Code]uint64 {
	out := make(map[trace.Code]uint64)
	for _, f := range findings {
		out[f.Code] += f.Count
	}
	return out
}

// TestConsistent states of random programs, cut at random, what Consistent promises: what is
// left has whole calls, whole messages, whole collectives and whole requests, so that merging
// it finds nothing that it did not find before, and what nothing ties to a kept call is cut.
func TestConsistent(t *testing.T) {
	for seed := range uint64(400) {
		m, _ := samples.Random(seed)
		rng := rand.New(rand.NewPCG(seed, 2))
		full := merged(t, m)
		before := codes(full.Findings)
		one := 1 + rng.IntN(6)
		cuts := randomCuts(t, full, rng, one)
		drops := seed%4 == 0
		if drops {
			last := uint32(len(full.World) - 1)
			cuts.DropRanks(full, func(rank uint32) bool { return rank == last })
		}
		out, kept, err := cuts.Consistent(t.Context(), full, 2)
		if err != nil {
			t.Fatal(err)
		}
		if one == 1 && kept.Calls > 0 {
			t.Errorf("seed %d: %d calls are kept of which nothing else is", seed, kept.Calls)
		}
		src := out.Source(m, m.Info())
		left := merged(t, src)
		for code, n := range codes(left.Findings) {
			announced := drops && (code == trace.CodeMissingRank || code == trace.CodeEmptyLocation)
			if n > before[code] && !announced {
				t.Errorf("seed %d: %d findings %s, %d before: %+v", seed, n, code, before[code], left.Findings)
			}
		}
		var messages, severed int
		for l := range full.Sends {
			for _, rows := range full.Sends[l].Rows {
				for _, s := range rows {
					if s.State != trace.Matched {
						continue
					}
					r := full.Recvs[s.RecvLoc].At(int(s.Recv))
					sent, received := !out.holds(trace.LocationID(l), s.Seq()), !out.holds(s.RecvLoc, r.Seq())
					if sent != received {
						t.Errorf("seed %d: of message %d:%d to %d:%d one end is cut", seed, l, s.Seq(), s.RecvLoc, r.Seq())
					}
					if sent {
						messages++
					}
					if out.dropped[l] != out.dropped[s.RecvLoc] {
						severed++
					}
				}
			}
		}
		got := 0
		for l := range left.Sends {
			for _, rows := range left.Sends[l].Rows {
				got += len(slices.DeleteFunc(slices.Clone(rows), func(s trace.Send) bool { return s.State != trace.Matched }))
			}
		}
		if got != messages || int(kept.Messages) != severed {
			t.Errorf("seed %d: %d messages are left, want %d; %d lose both ends, want %d", seed, got, messages, kept.Messages, severed)
		}
	}
}

// TestNothingCut states that without cuts a trace stays as it is.
func TestNothingCut(t *testing.T) {
	m, _ := samples.Random(7)
	full := merged(t, m)
	out, kept, err := NewCuts(full.Store, len(full.Calls)).Consistent(t.Context(), full, 1)
	if err != nil || kept != (Kept{}) {
		t.Fatal(kept, err)
	}
	if got := merged(t, out.Source(m, m.Info())); got.Coverage != full.Coverage {
		t.Errorf("%+v, want %+v", got.Coverage, full.Coverage)
	}
}

// applied reduces a trace.
func applied(t testing.TB, tr *trace.Trace, rules []Rule, o Options) *Reduction {
	t.Helper()
	r, err := Apply(t.Context(), tr, rules, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A bytesJudge tells of each call what it sends.
type bytesJudge map[uint64]uint64

func (j bytesJudge) Cut(c *Call) (bool, error) {
	j[c.First] = c.Bytes
	return false, nil
}

// TestTooDeep: inside as many regions as there may be, a call ends where the next one begins: what it sent
// is then its caller's, and if it is kept, the next one need not be.
func TestTooDeep(t *testing.T) {
	const outer = trace.MaxDepth - 1
	src := tracetest.Inside(tracetest.MustParse(t, `
region 0 main
location 0 rank=0
  10 Enter MPI_Send ; 20 MpiSend to=1 bytes=5 ; 30 Enter work ; 40 Leave work ; 50 Enter work ; 60 Leave work ; 70 Leave main
location 1 rank=1
  10 Enter MPI_Recv ; 40 MpiRecv from=0 bytes=5 ; 50 Leave MPI_Recv
`), outer)
	tr := statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone})
	sent := make(bytesJudge)
	if err := walk(newFacts(tr), 0, src.Events(t.Context(), 0), []Judge{sent}, []*Cuts{nil}); err != nil {
		t.Fatal(err)
	}
	if len(sent) != 3 || sent[outer+2] != 0 || sent[outer+4] != 0 || sent[outer-1] != 5 {
		t.Errorf("sent in calls: %v", sent)
	}
	cuts := NewCuts(tr.Store, 2)
	cuts.Add(0, outer, outer+6)
	out, kept, err := cuts.Consistent(t.Context(), tr, 1)
	if err != nil {
		t.Fatal(err)
	}
	var spans []Span
	for s := range out.Spans(0) {
		spans = append(spans, s)
	}
	if want := []Span{{outer + 2, outer + 6}}; !slices.Equal(spans, want) || kept.Calls != 1 || kept.Records != 2 {
		t.Errorf("%v are cut, want %v; %+v are kept", spans, want, kept)
	}
}
