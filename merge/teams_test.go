package merge_test

import (
	"testing"

	"tracekit/merge"
	"tracekit/trace"
	"tracekit/trace/tracetest"
)

// TestTeamsAreNoCommunicators: EZTrace writes a communicator of each team of OpenMP threads, whose members are all of one process. Nothing
// is wrong with that; a communicator of MPI that lists a rank twice is wrong.
func TestTeamsAreNoCommunicators(t *testing.T) {
	for paradigm, want := range map[string]bool{"3": false, "4": true} {
		tr := merged(t, tracetest.MustParse(t, `
group 0 MPI kind=4 paradigm=4 members=0
group 1 "OpenMP Thread Team" kind=4 paradigm=`+paradigm+` members=0,1
comm 0 team group=1
process 0 rank0
location 0 master process=0 kind=1
  0 Enter main ; 10 Leave main
location 1 worker process=0 kind=1
  0 Enter main ; 10 Leave main
`), merge.Options{})
		got := false
		for _, f := range tr.Findings {
			got = got || f.Code == trace.CodeBadDefinition
		}
		if got != want {
			t.Errorf("paradigm %s: a finding %v, want %v", paradigm, got, want)
		}
	}
}
