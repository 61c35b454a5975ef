package analysis_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/analysis"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestDamagedTraces drops events of random programs, moves their times and exchanges
// their peers. Whatever comes of it, sums must agree, and with decreasing times at least
// the critical path must.
func TestDamagedTraces(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		m, _ := samples.Random(seed)
		disorder := seed%3 == 0
		src := tracetest.Damaged(&m.MemorySource, r, disorder)
		for _, clock := range []merge.ClockMode{merge.ClockNone, merge.ClockCLC} {
			tr, a := analyzed(t, src, clock, analysis.Options{Jobs: 2})
			if !disorder {
				conserved(t, tr, a)
			}
			segmentsJoin(t, a)
			matrixSums(t, tr, a)
			waitsFit(t, tr, a)
			var path int64
			for _, row := range a.CriticalPath.Regions {
				path += row.TimeNs
			}
			if path != a.CriticalPath.LengthNs || path != a.Trace.DurationNs {
				t.Errorf("the critical path sums to %d, its length is %d", path, a.CriticalPath.LengthNs)
			}
			if t.Failed() {
				t.Fatalf("seed %d, clock %v", seed, clock)
			}
		}
	}
}

// TestReplayStuck checks that messages which wait for each other in a circle, as only a
// wrong record can make them, lose the replay's ratios and nothing else.
func TestReplayStuck(t *testing.T) {
	const text = `
location 0 rank0 rank=0
  0 Enter MPI_Recv ; 5 MpiRecv from=1 bytes=8 ; 6 Leave MPI_Recv ; 7 Enter MPI_Send ; 8 MpiSend to=1 bytes=8 ; 9 Leave MPI_Send
location 1 rank1 rank=1
  0 Enter MPI_Recv ; 5 MpiRecv from=0 bytes=8 ; 6 Leave MPI_Recv ; 7 Enter MPI_Send ; 8 MpiSend to=0 bytes=8 ; 9 Leave MPI_Send
`
	src := tracetest.MustParse(t, text)
	tr, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
	conserved(t, tr, a)
	e := a.Efficiency
	if e.TransferEfficiency != nil || e.SerializationEfficiency != nil || e.ZeroCostRuntimeNs != nil || e.ParallelEfficiency == nil {
		t.Errorf("efficiencies are %+v", e.Ratios)
	}
	found := false
	for _, f := range a.Findings {
		found = found || f.Code == string(trace.CodeReplayStuck) && *f.First.Location == 0 && f.First.Seq == 0
	}
	if !found {
		t.Errorf("findings are %+v", a.Findings)
	}
}

// TestRatioAboveOne has a message that is received at 20 and sent at 100: with the sender's
// 100 before the receiver's 80 after it, the ideal run takes 180, the recorded one 101.
func TestRatioAboveOne(t *testing.T) {
	const text = `
location 0 rank0 rank=0
  0 Enter main ; 100 Enter MPI_Send ; 100 MpiSend to=1 bytes=8 ; 101 Leave MPI_Send ; 101 Leave main
location 1 rank1 rank=1
  0 Enter main ; 10 Enter MPI_Recv ; 20 MpiRecv from=0 bytes=8 ; 20 Leave MPI_Recv ; 100 Leave main
`
	src := tracetest.MustParse(t, text)
	tr, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
	conserved(t, tr, a)
	if e := a.Efficiency; *e.ZeroCostRuntimeNs != 180 || *e.TransferEfficiency != 180.0/101 {
		t.Errorf("efficiencies are %+v", e.Ratios)
	}
	for _, f := range a.Findings {
		if f.Code == string(trace.CodeRatioAboveOne) && f.Count == 1 && f.First == nil &&
			strings.HasSuffix(f.Text, "transfer efficiency is 1.782") {
			return
		}
	}
	t.Errorf("findings are %+v", a.Findings)
}

// TestOutsideCalls has messages that are recorded outside any region, in front of the
// first call and where there is none.
func TestOutsideCalls(t *testing.T) {
	const text = `
location 0 rank0 rank=0
  0 MpiSend to=1 tag=1 bytes=8 ; 10 MpiSend to=1 tag=2 bytes=8 ; 20 MpiSend to=2 bytes=8 ; 90 Enter main ; 100 Leave main
location 1 rank1 rank=1
  30 MpiRecv from=0 tag=1 bytes=8 ; 40 Enter MPI_Recv ; 50 MpiRecv from=0 tag=2 bytes=8 ; 60 Leave MPI_Recv
location 2 rank2 rank=2
  5 MpiRecv from=0 bytes=8 ; 70 MpiRecv from=0 bytes=8
`
	src := tracetest.MustParse(t, text)
	tr, a := analyzed(t, src, merge.ClockNone, analysis.Options{})
	conserved(t, tr, a)
	if m := a.Messages; m.Count != 3 || m.UnmatchedReceives != 1 || m.Latency.Min != -15 || m.Latency.BelowZero != 1 ||
		m.Latency.Max != 50 || len(a.CommMatrix) != 2 {
		t.Errorf("messages are %+v, the matrix is %+v", *m, a.CommMatrix)
	}
}

// FuzzAnalyze looks for random programs and faults that break an analysis.
func FuzzAnalyze(f *testing.F) {
	f.Add(uint64(1), uint64(2), false)
	f.Fuzz(func(t *testing.T, program, faults uint64, disorder bool) {
		m, _ := samples.Random(program)
		src := tracetest.Damaged(&m.MemorySource, rand.New(rand.NewPCG(faults, 1)), disorder)
		tr, err := merge.Merge(context.Background(), src, merge.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Store.Close()
		a, err := analysis.Analyze(context.Background(), tr, analysis.Options{})
		if err != nil {
			t.Fatal(err)
		}
		segmentsJoin(t, a)
		matrixSums(t, tr, a)
		waitsFit(t, tr, a)
	})
}

// TestChangedMeanwhile: a trace that loses events between the two times that it is read is
// no basis for efficiencies, and said to be none.
func TestChangedMeanwhile(t *testing.T) {
	m, _ := samples.Random(1)
	tr, err := merge.Merge(t.Context(), m, merge.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	shorter := *m
	shorter.Batches = slices.Clone(m.Batches)
	shorter.Batches[0] = shorter.Batches[0][:len(shorter.Batches[0])-1]
	tr.Source = &shorter
	a, err := analysis.Analyze(t.Context(), tr, analysis.Options{})
	if err != nil {
		t.Fatal(err)
	}
	told := slices.ContainsFunc(a.Findings, func(f document.Finding) bool { return f.Code == string(trace.CodeChangedMeanwhile) })
	if !told || a.Efficiency.SerializationEfficiency != nil {
		t.Errorf("told %t; serialization efficiency %v", told, a.Efficiency.SerializationEfficiency)
	}
}
