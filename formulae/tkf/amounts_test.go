package tkf_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tracekit/formulae"
	"tracekit/formulae/sequence"
	"tracekit/formulae/tkf"
	"tracekit/trace"
)

// irregular is a trace of two ranks: rank 0 sends n messages from a call path of its own for
// each list of sizes, rank 1 receives them, and both take part in as many reductions. Between
// two sends it does something as often as a number without a rule says.
func irregular(n int) *trace.MemorySource {
	src := &trace.MemorySource{Definitions: worldDefs(2, "work", "MPI_Send", "MPI_Recv", "MPI_Allreduce", "step")}
	r := rand.New(rand.NewPCG(7, 9))
	b := []*trace.Batch{{}, {}}
	time := int64(0)
	call := func(l int, region trace.RegionID, inside func(b *trace.Batch)) {
		time += 10
		b[l].AddFlow(time, trace.KindEnter, region)
		time += 5
		inside(b[l])
		time += 5
		b[l].AddFlow(time, trace.KindLeave, region)
	}
	for l := range b {
		b[l].Reset(trace.LocationID(l), 0)
	}
	for range n {
		size := 1 + r.Uint64N(100_000)
		call(0, 0, func(*trace.Batch) {
			for range 1 + r.IntN(9) {
				call(0, 4, func(*trace.Batch) {})
			}
		})
		call(0, 1, func(b *trace.Batch) {
			b.AddP2P(trace.P2PRow{Time: time, Kind: trace.KindMpiSend, Peer: 1, Tag: 3, Bytes: size})
		})
		call(1, 2, func(b *trace.Batch) {
			b.AddP2P(trace.P2PRow{Time: time, Kind: trace.KindMpiRecv, Peer: 0, Tag: 3, Bytes: size})
		})
		for l := range b {
			call(l, 3, func(b *trace.Batch) {
				b.AddColl(trace.CollRow{Time: time, Kind: trace.KindCollectiveEnd, Op: trace.CollAllreduce, Root: trace.RootNone, Sent: size / 2,
					Received: size / 3})
			})
		}
	}
	for l := range b {
		src.Batches = append(src.Batches, []*trace.Batch{b[l]})
	}
	return src
}

// Sizes and iterations that follow no rule are not invented: what is rebuilt has the bytes
// and the calls of the recorded run to the last one. What was not learned is listed with what
// it is about, the rebuilt trace says so, and what was learned is not listed.
func TestSizesAreNotInvented(t *testing.T) {
	for _, terms := range []int{2, 18, 64} {
		src := irregular(500)
		name, report := compress(t, src, tkf.Options{Mode: tkf.Statistics, Form: sequence.Form{Terms: terms}})
		rebuilt := openTKF(t, name)
		for l := range src.Batches {
			want, got := src.Batches[l][0], events(t, rebuilt, trace.LocationID(l))
			if w, g := sum(want.P2P.Bytes), sum(got.P2P.Bytes); w != g {
				t.Errorf("%d terms: location %d: messages of %d bytes instead of %d", terms, l, g, w)
			}
			if w, g := sum(want.Coll.Sent)+sum(want.Coll.Received), sum(got.Coll.Sent)+sum(got.Coll.Received); w != g {
				t.Errorf("%d terms: location %d: collectives of %d bytes instead of %d", terms, l, g, w)
			}
			if w, g := len(want.Flow.Kind), len(got.Flow.Kind); w != g {
				t.Errorf("%d terms: location %d: %d enters and leaves instead of %d", terms, l, g, w)
			}
		}
		sizes := map[string]formulae.Unlearned{}
		for _, u := range report.Unlearned {
			sizes[u.Category+" "+strings.Join(u.CallPath, "/")] = u
		}
		for key, sequences := range map[string]uint64{"sizes MPI_Send": 1, "sizes MPI_Recv": 1, "sizes MPI_Allreduce": 4} {
			if u := sizes[key]; u.Sequences != sequences || u.Values != 500*sequences || u.Messages != 1 || u.Bytes != 1 {
				t.Errorf("%d terms: %s: %+v", terms, key, u)
			}
		}
		if s := report.Learned.Sizes; s.Constructs != 6 || s.Learned != 0 || report.Learned.SendTags.Static != 1 {
			t.Errorf("%d terms: sizes learned: %+v", terms, s)
		}
		if m := report.Learned.Messages; m.Sent != 500 || m.Learned != 0 {
			t.Errorf("%d terms: messages learned: %+v", terms, m)
		}
		if a := strings.Join(rebuilt.Info().Approximations(), "; "); !strings.Contains(a,
			"sizes (6 not learned: 100 % of the messages, 100 % of their bytes)") || strings.Contains(a, "tags") {
			t.Errorf("%d terms: the rebuilt trace says: %q", terms, a)
		}
	}
}

// What is learned is in no list, and the rebuilt trace is approximate in nothing.
func TestLearnedTraceIsNotApproximate(t *testing.T) {
	name, report := compress(t, openTrace(t, "../../samples/archives/ring-4/traces.otf2"), tkf.Options{Mode: tkf.Statistics})
	if a := openTKF(t, name).Info().Approximations(); len(report.Unlearned) > 0 || len(a) > 0 {
		t.Errorf("not learned: %+v; %q", report.Unlearned, a)
	}
}

func sum(list []uint64) (n uint64) {
	for _, v := range list {
		n += v
	}
	return n
}
