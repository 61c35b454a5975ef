package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/counter"
	"tracekit/document/field"
	"tracekit/document/waitstate"
)

// TestUsefulMeansOneThing: beside the times of threads, of which some are useful, what processes do outside MPI is not called so; and all
// terms that add up to the efficiency of threads are shown.
func TestUsefulMeansOneThing(t *testing.T) {
	ratio := 0.5
	a := &document.Analysis{Efficiency: &document.Efficiency{Ratios: document.Ratios{RuntimeNs: 10, UsefulMeanNs: 5}},
		Threads: &document.Threads{Threads: 2, Processes: 1, ParallelRegions: 1, Efficiency: document.ThreadEfficiency{Parallel: &ratio,
			Region: &ratio, Serial: &ratio, Master: &ratio}},
		Counters: &counter.Useful{Totals: counter.Totals{Instructions: &ratio}}}
	var out bytes.Buffer
	r := &Sections{W: &out, Width: 120, Top: 10, Analysis: a}
	r.threads()
	r.efficiency()
	r.usefulCounters()
	_, processes, found := strings.Cut(out.String(), "Efficiency of the processes")
	if !found || strings.Contains(strings.ToLower(processes), "useful") || !strings.Contains(processes, "outside MPI, mean") ||
		!strings.Contains(processes, "Counters outside MPI") {
		t.Errorf("of processes it says %s", processes)
	}
	for _, term := range []string{"in parallel regions ", "in serial parts ", "by masters outside regions "} {
		if !strings.Contains(out.String(), term) {
			t.Errorf("%q is not shown:\n%s", term, &out)
		}
	}
}

// TestUnclassifiedLines states what is said of time without a cause: how much, and which records are missing.
func TestUnclassifiedLines(t *testing.T) {
	time, share := int64(520), 0.52
	u := &document.Unclassified{TimeNs: &time, Share: &share, Operation: "MPI_Wait", CriticalPathNs: 520}
	for _, m := range []document.Missing{document.MissingReceive, document.MissingSend, document.MissingMessage, document.MissingGroup,
		document.MissingMember} {
		u.Incomplete = []document.IncompleteCalls{{Operation: "MPI_Wait", Missing: m, Calls: 4, TimeNs: 2080, Share: &share}}
		got := strings.Join(unclassifiedLines(&document.Analysis{Unclassified: u}), " ")
		for _, want := range []string{"Not explained: 520 ns (52.0 %) of the run in communication calls, beyond",
			"Records are missing for 4 calls of MPI_Wait, 2.08 µs " +
				"(52.0 % of rank time): " + missingRecords[m] + ".", "Try: record the communication of all ranks"} {
			if missingRecords[m] == "" || !strings.Contains(got, want) {
				t.Errorf("missing %s: %q lacks %q", m, got, want)
			}
		}
	}
	u.Incomplete = []document.IncompleteCalls{{Operation: "gloo:recv", Missing: document.MissingMessage, Calls: 4, TimeNs: 2080, Share: &share}}
	if got := strings.Join(unclassifiedLines(&document.Analysis{Unclassified: u}), " "); !strings.Contains(got, "record_shapes=True") {
		t.Errorf("of messages of gloo it does not say how they are recorded: %q", got)
	}
}

// TestProcesses: processes are called ranks where something says that they are.
func TestProcesses(t *testing.T) {
	a := &document.Analysis{Trace: document.TraceInfo{Processes: 3, Unranked: true}}
	if got := ranksOf(a); got != "3 processes" {
		t.Errorf("%q", got)
	}
	if a.Trace.Unranked = false; ranksOf(a) != "3 ranks" {
		t.Errorf("%q", ranksOf(a))
	}
}

// TestBlame: a share that is said to be the least is not rounded up.
func TestBlame(t *testing.T) {
	for ns, want := range map[int64]string{996: ", at least 99 % caused by rank 1", 1000: ", all caused by rank 1", 100: " summed over ranks"} {
		a := &document.Analysis{Delays: []waitstate.Delay{{Ranks: []field.RankTime{{Rank: 1, TimeNs: ns}}}}}
		a.Trace.Processes = 4
		if got := (&Overview{Sections: &Sections{Analysis: a}}).blame(1000); got != want {
			t.Errorf("of %d in 1000 it says %q, want %q", ns, got, want)
		}
	}
}

// TestLongStep: of steps of 10 one of 30 stands out, one of 15 does not.
func TestLongStep(t *testing.T) {
	for ns, want := range map[int64]string{30: "  ProfilerStep#3 takes 30 ns, the median of 6 steps 10 ns.", 15: ""} {
		var profile []document.ProfileRow
		for i := range 6 {
			time := int64(10)
			if i == 3 {
				time = ns
			}
			profile = append(profile, document.ProfileRow{Region: fmt.Sprintf("ProfilerStep#%d", i), Count: 1, InclusiveNs: time})
		}
		if got := longStep(profile); got != want {
			t.Errorf("of %d it says %q, want %q", ns, got, want)
		}
	}
}
