package phases_test

import (
	"context"
	"slices"
	"testing"

	"tracekit/merge"
	"tracekit/samples"
	"tracekit/stats/phases"
	"tracekit/trace"
)

// TestPlanted states that the iterations of programs of any kind are found, one less than there
// are, since the last one has no end.
func TestPlanted(t *testing.T) {
	for _, program := range []string{"ring", "halo", "collectives"} {
		for _, iterations := range []int{12, 50} {
			var m *samples.Memory
			_, err := samples.Generate(context.Background(), samples.Options{Program: program, Ranks: 6, Iterations: iterations}, func(i trace.Info, d *trace.Defs) (trace.Sink, error) {
				m = samples.NewMemory(i, d)
				return m, nil
			})
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

// TestOutliers states which durations are far from others.
func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		durations []int64
		want      []bool
	}{
		{[]int64{100, 101, 99, 100, 200}, []bool{false, false, false, false, true}},
		{[]int64{100, 105, 95, 109, 100}, []bool{false, false, false, false, false}}, // within a tenth
		{[]int64{10, 20, 30, 40, 50}, []bool{false, false, false, false, false}},
		{nil, []bool{}},
	} {
		if got := phases.Outliers(c.durations); !slices.Equal(got, c.want) {
			t.Errorf("outliers of %v are %v, want %v", c.durations, got, c.want)
		}
	}
}
