package phases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/phases"
	"tracekit/trace/tracetest"
)

// TestPlanted states that the iterations of programs of any kind are found, one less than there
// are, since the last one has no end.
func TestPlanted(t *testing.T) {
	for _, program := range []string{"ring", "halo", "collectives"} {
		for _, iterations := range []int{12, 50} {
			m, _, err := samples.InMemory(context.Background(), samples.Options{Program: program, Ranks: 6, Iterations: iterations})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := merge.Merge(context.Background(), m, merge.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer tr.Store.Close()
			found, err := phases.Find(context.Background(), tr, 2)
			if err != nil {
				t.Fatal(err)
			}
			if found == nil || found.Count() < iterations-2 || found.Count() > iterations {
				t.Errorf("%s of %d iterations: phases are %+v", program, iterations, found)
			}
		}
	}
}

// TestNoCallSites states that iterations are found by what is done in them, where all calls have one
// path: nested loops of messages between two ranks, which differ in tags alone. Each takes a random
// time, so that no inner iteration is as equal as the outer ones.
func TestNoCallSites(t *testing.T) {
	const outer, inner = 12, 5
	r := rand.New(rand.NewPCG(1, 2))
	var ranks [2]strings.Builder
	at, begins := 0, []int{}
	message := func(tag int) {
		at += 50 + r.IntN(100)
		for k := range ranks {
			fmt.Fprintf(&ranks[k], "  %d Enter MPI_Sendrecv ; %d MpiSend to=%d tag=%d bytes=8 ; %d MpiRecv from=%d tag=%d bytes=8 ; %d Leave "+
				"MPI_Sendrecv\n",
				at, at, 1-k, tag, at+5, 1-k, tag, at+5)
		}
	}
	for range 7 {
		message(9) // before the loop
	}
	for range outer {
		begins = append(begins, at)
		for range inner {
			message(1)
			message(2)
		}
		message(1)
		message(3)
	}
	src := tracetest.MustParse(t, "location 0 a rank=0\n"+ranks[0].String()+"location 1 b rank=1\n"+ranks[1].String())
	tr, err := merge.Merge(context.Background(), src, merge.Options{Clock: merge.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	for _, jobs := range []int{1, 4} {
		found, err := phases.Find(context.Background(), tr, jobs)
		if err != nil {
			t.Fatal(err)
		}
		if found == nil || found.Count() != outer-1 || found.Stride != 2*inner+2 {
			t.Fatalf("phases are %+v, want %d of %d calls", found, outer-1, 2*inner+2)
		}
		for _, l := range found.Ranks {
			k := 0
			for row, c := range found.Begins(tr.Calls[l]) {
				if *c != tr.Calls[l].At(row) || k > 0 && c.Enter <= int64(begins[k]) || k+1 < outer && c.Enter > int64(begins[k+1])+150 {
					t.Errorf("location %d: phase %d begins at %d, its iteration at %d", l, k, c.Enter, begins[k])
				}
				k++
			}
			if k != outer {
				t.Errorf("location %d begins %d phases, want %d", l, k, outer)
			}
		}
	}
}

// TestNothingRepeats states that a run without a loop has no phases.
func TestNothingRepeats(t *testing.T) {
	var text strings.Builder
	for i, r := 0, rand.New(rand.NewPCG(3, 4)); i < 60; i++ {
		fmt.Fprintf(&text, "  %d Enter MPI_Send ; %d MpiSend to=0 tag=%d bytes=8 ; %d Leave MPI_Send\n", i*i*i, i*i*i, r.IntN(1000), i*i*i+1)
	}
	tr, err := merge.Merge(context.Background(), tracetest.MustParse(t, "location 0 a rank=0\n"+text.String()),
		merge.Options{Clock: merge.ClockNone})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Store.Close()
	if found, err := phases.Find(context.Background(), tr, 1); found != nil || err != nil {
		t.Errorf("phases are %+v, %v", found, err)
	}
}

// TestOutliers states which durations are far from others. The last are those of Rosner's own example
// (1983; table 2), of which his procedure finds three of 54 at 5 %, in thousandths above 10.
func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		durations []int64
		want      []int
	}{
		{[]int64{100, 101, 99, 100, 200}, []int{4}},
		{[]int64{100, 105, 95, 109, 100}, nil}, // within a tenth
		{[]int64{10, 20, 30, 40, 50}, nil},
		{[]int64{816, 902, 950, 1030, 1060, 1290, 1330}, nil},
		{[]int64{100, 100, 100, 100}, nil},
		{[]int64{1000, 1001, 999, 1002, 998, 1000, 1003, 500}, []int{7}},
		{[]int64{1, 1000}, nil},
		{nil, nil},
		{rosner(), []int{51, 52, 53}},
	} {
		var got []int
		for i, far := range phases.Outliers(c.durations) {
			if far {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("outliers of %v are %v, want %v", c.durations, got, c.want)
		}
	}
}

func rosner() (out []int64) {
	for _, x := range []float64{-0.25, 0.68, 0.94, 1.15, 1.20, 1.26, 1.26, 1.34, 1.38, 1.43, 1.49, 1.49, 1.55, 1.56, 1.58, 1.65, 1.69, 1.70,
		1.76, 1.77, 1.81, 1.91, 1.94, 1.96, 1.99, 2.06, 2.09,
		2.10, 2.14, 2.15, 2.23, 2.24, 2.26, 2.35, 2.37, 2.40, 2.47, 2.54, 2.62, 2.64, 2.90, 2.92, 2.92, 2.93, 3.21, 3.26, 3.30, 3.59, 3.68,
		4.30, 4.64, 5.34, 5.42, 6.01} {
		out = append(out, int64(1000*(x+10)))
	}
	return out
}

// TestFalseOutliers states how often one is found where all durations follow one normal law: hardly
// more often than in 5 % of runs, however few phases there are.
func TestFalseOutliers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{3, 4, 5, 7, 10, 20, 50} {
		const runs = 2000
		alarms := 0
		for range runs {
			durations := make([]int64, n)
			for i := range durations {
				durations[i] = int64(1_000_000 + 300_000*r.NormFloat64())
			}
			if slices.Contains(phases.Outliers(durations), true) {
				alarms++
			}
		}
		if share := float64(alarms) / runs; share > 0.08 {
			t.Errorf("of %d phases: %.3f of runs have an outlier", n, share)
		}
	}
}
