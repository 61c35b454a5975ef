package stats_test

import (
	"context"
	"iter"
	"testing"

	"tracekit/merge"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/stragglers"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// A countedSource counts how often locations are read.
type countedSource struct {
	trace.Source
	reads map[trace.LocationID]int
}

func (s *countedSource) Events(ctx context.Context, l trace.LocationID) iter.Seq2[*trace.Batch, error] {
	s.reads[l]++
	return s.Source.Events(ctx, l)
}

// TestPasses states that the events of a profile are read twice: for a third time only if its ranks communicate, as those of a training
// job do.
func TestPasses(t *testing.T) {
	const quiet = "location 0 rank=0\n  0 Enter MPI_Comm_rank\n  10 Leave MPI_Comm_rank\n" +
		"location 1 rank=1\n  0 Enter MPI_Comm_rank\n  20 Leave MPI_Comm_rank\n"
	const talking = "location 0 rank=0\n  0 Enter MPI_Send\n  1 MpiSend to=1 bytes=8\n  10 Leave MPI_Send\n" +
		"location 1 rank=1\n  0 Enter MPI_Recv\n  19 MpiRecv from=0 bytes=8\n  20 Leave MPI_Recv\n"
	for text, want := range map[string]int{quiet: 2, talking: 3} {
		src := &countedSource{tracetest.MustParse(t, text), make(map[trace.LocationID]int)}
		d := src.Defs()
		d.Strings = append(d.Strings, "user_annotation")
		d.Regions[0].Description = trace.StringID(len(d.Strings) - 1)
		if !stragglers.Profiled(d) {
			t.Fatal("the trace is no profile")
		}
		tr, err := merge.Merge(t.Context(), src, merge.Options{Jobs: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stats.Analyze(t.Context(), tr, analysis.Options{Jobs: 1}, true); err != nil {
			t.Fatal(err)
		}
		tr.Store.Close()
		if src.reads[0] != want || src.reads[1] != want {
			t.Errorf("%q: read %v times, want %d", text, src.reads, want)
		}
	}
}
