package profile_test

import (
	"testing"

	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestAnnotations: the range that a program names says in its row that it is no code.
func TestAnnotations(t *testing.T) {
	_, a := statstest.Analyzed(t, tracetest.MustParse(t, `
process 0 host0
process 1 gpu0 kind=2 creator=0
region 0 step role=31 paradigm=1
region 1 k role=40 paradigm=5
location 0 thread0 process=0 kind=1
  0 Enter main ; 100 Leave main
location 1 stream0 process=1 kind=2
  10 Enter step ; 20 Enter k ; 50 Leave k ; 90 Leave step
group 0 "MPI ranks" kind=4 paradigm=4 members=0
`), merge.Options{}, analysis.Options{})
	got := make(map[string]string)
	for _, r := range a.Profile {
		got[r.Region] = r.Paradigm
	}
	if got["step"] != "annotation" || got["k"] != "cuda" || got["main"] != "user" {
		t.Errorf("paradigms %v", got)
	}
}
