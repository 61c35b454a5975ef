package diagnosis_test

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/overhead"
	"tracekit/stats/statstest"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A lossy trace lacks point-to-point records.
type lossy struct {
	trace.Source
	lacks func(trace.Kind) bool
}

func (s *lossy) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	return func(yield func(*trace.Batch, error) bool) {
		for b, err := range s.Source.Events(ctx, l) {
			if err == nil {
				out := *b
				out.P2P.Kind = slices.Clone(b.P2P.Kind)
				for i := range out.P2P.Kind {
					if s.lacks(b.P2P.Kind[i]) {
						out.P2P.Kind[i] = trace.KindMpiRequestTest // which says nothing
					}
				}
				b = &out
			}
			if !yield(b, err) {
				return
			}
		}
	}
}

// TestUnclassified: of a run of 1,000 ns in which 520 pass in completions of which records are missing, and 70 are a planted imbalance,
// that is the only cause; the rest is told apart, with what is missing.
func TestUnclassified(t *testing.T) {
	for _, c := range []struct {
		name           string
		posted, waited string // records of rank r in the call that posts, and in the one that waits
		call           string
		want           document.Missing
	}{
		{"no record", "", "", "MPI_Wait", document.MissingMessage},
		{"no group", "", "", "MPI_Allreduce", document.MissingGroup},
		{"no receive", "200 MpiIsend to=%[2]d tag=7 bytes=8 req=1 ; ", "719 MpiIsendComplete req=1 ; ", "MPI_Wait", document.MissingReceive},
		{"no send", "200 MpiIrecvRequest req=1 ; ", "719 MpiIrecv from=%[2]d tag=7 bytes=8 req=1 ; ", "MPI_Wait", document.MissingSend},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := ""
			for r, work := range []int{60, 60, 60, 130} {
				post, wait := "200 Enter MPI_Isend ; "+c.posted+"200 Leave MPI_Isend ; ", c.waited
				text += fmt.Sprintf(`
location %[1]d rank=%[1]d
  0 Enter main ; 10 Enter work ; %[3]d Leave work
  %[3]d Enter MPI_Barrier ; %[3]d MpiCollectiveBegin ; 150 MpiCollectiveEnd Barrier root=none ; 150 Leave MPI_Barrier
  `+post+`200 Enter `+c.call+` ; `+wait+`720 Leave `+c.call+`
  950 Enter MPI_Barrier ; 950 MpiCollectiveBegin ; 950 MpiCollectiveEnd Barrier root=none ; 950 Leave MPI_Barrier ; 1000 Leave main
`, r, (r+1)%4, 10+work)
			}
			tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone},
				analysis.Options{Overhead: &overhead.Options{PerCall: true}})
			causes, err := diagnosis.Find(t.Context(), tr, a, 0)
			if err != nil {
				t.Fatal(err)
			}
			if len(causes) != 1 || causes[0].Kind != cause.Imbalance || *causes[0].GainNs != 70 || !slices.Equal(causes[0].Ranks, []uint32{3}) {
				t.Errorf("causes are %+v", causes)
			}
			if e := a.Efficiency; e.SerializationEfficiency != nil || e.TransferEfficiency != nil || e.ZeroCostRuntimeNs != nil ||
				e.IncompleteCallsNs != 4*520 {
				t.Errorf("serialization is known though records of half of the run are missing: %+v", e)
			}
			u := a.Unclassified
			if u == nil || *u.TimeNs < 520 || len(u.Incomplete) != 1 {
				t.Fatalf("unclassified is %+v", u)
			}
			if x := u.Incomplete[0]; x.Missing != c.want || string(x.Operation) != c.call || x.Calls != 4 || x.TimeNs != 4*520 ||
				x.CriticalPathNs != 520 {
				t.Errorf("incomplete are %+v", x)
			}
		})
	}
}

// TestLost: where no receive of a program is recorded, that calls take long is no cause, and no call is a lever.
func TestLost(t *testing.T) {
	src := &lossy{statstest.Generated(t, samples.Options{Program: "sweep", Ranks: 8, Iterations: 50, Seed: 1}), func(k trace.Kind) bool {
		return k == trace.KindMpiRecv
	}}
	tr, a := statstest.Analyzed(t, src, merge.Options{Clock: merge.ClockNone}, analysis.Options{Overhead: &overhead.Options{PerCall: true}})
	causes, err := diagnosis.Find(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range causes {
		if c.Kind == cause.Transfer || c.Kind == cause.SlowCalls || c.Operation != "" {
			t.Errorf("a cause is %s", c.Text)
		}
	}
	if u := a.Unclassified; u == nil || u.Incomplete[0].Operation != "MPI_Recv" || u.Incomplete[0].Missing != document.MissingMessage {
		t.Errorf("unclassified is %+v", u)
	}
}

// TestUnbalancedWithoutReceives: where no receive is recorded, the loss is none of many small ones; the rank that computes longest is
// named.
func TestUnbalancedWithoutReceives(t *testing.T) {
	for _, startup := range []int{0, 300} { // a cause of startup does not hide it
		text := ""
		for r, work := range []int{60, 60, 60, 180} {
			text += fmt.Sprintf("\nlocation %[1]d rank=%[1]d\n  0 Enter main ; 0 Enter MPI_Init ; %[2]d Leave MPI_Init\n", r, startup)
			for i := range 5 {
				begin := startup + i*200
				text += fmt.Sprintf("  %[1]d Enter work ; %[2]d Leave work ; %[2]d Enter MPI_Isend ; %[2]d MpiIsend to=%[4]d tag=7 bytes=8 req=%[5]d "+
					"; %[2]d Leave MPI_Isend\n"+
					"  %[2]d Enter MPI_Waitall ; %[3]d Leave MPI_Waitall\n", begin, begin+work, begin+190, (r+1)%4, i+1)
			}
			text += fmt.Sprintf("  %d Leave main\n", startup+1000)
		}
		tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
		causes, err := diagnosis.Find(t.Context(), tr, a, 0)
		if err != nil {
			t.Fatal(err)
		}
		causes = slices.DeleteFunc(causes, func(c cause.Cause) bool { return c.Kind == cause.Startup })
		if len(causes) != 1 || causes[0].Kind != cause.Inefficient || !slices.Equal(causes[0].Ranks, []uint32{3}) ||
			!strings.Contains(causes[0].Headline, "does not record") {
			t.Errorf("after %d ns of startup causes are %+v", startup, causes)
		}
	}
}
