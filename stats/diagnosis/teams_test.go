package diagnosis_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/stats/analysis"
	"tracekit/stats/diagnosis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// A hybrid is what each iteration of a rank of two threads takes: work of the master alone, then
// forking, then a parallel region in which master and worker work, and meet at its end.
type hybrid struct{ serial, fork, master, worker int }

// run spells 50 iterations of some ranks, each of which ends in a barrier.
func run(ranks ...hybrid) string {
	const init, barrier, iterations = 1000, 10, 50
	longest := 0
	for _, h := range ranks {
		longest = max(longest, h.serial+h.fork+max(h.master, h.worker))
	}
	var b strings.Builder
	b.WriteString("region 0 \"!$omp parallel\" role=5 paradigm=3\nregion 1 \"!$omp implicit barrier\" role=16 paradigm=3\ngroup 0 MPI " +
		"kind=4 paradigm=4 members=")
	for r := range ranks {
		b.WriteString([]string{"", ","}[min(r, 1)] + fmt.Sprint(2*r))
	}
	b.WriteString("\ngroup 1 world kind=5 paradigm=4 members=")
	for r := range ranks {
		b.WriteString([]string{"", ","}[min(r, 1)] + fmt.Sprint(r))
	}
	b.WriteString("\ncomm 0 MPI_COMM_WORLD group=1\n")
	for r := range ranks {
		fmt.Fprintf(&b, "process %d rank%d\n", r, r)
	}
	for r, h := range ranks {
		var master, worker strings.Builder
		for i := range iterations {
			at := init + i*(longest+barrier)
			begin := at + h.serial + h.fork
			end := begin + max(h.master, h.worker)
			fmt.Fprintf(&master, "  %d ThreadFork 3 2 ; %d Enter \"!$omp parallel\" ; %d Enter \"!$omp implicit barrier\" ; %d Leave \"!$omp "+
				"implicit barrier\" ; %d Leave \"!$omp parallel\" ; %d ThreadJoin 3\n",
				at+h.serial, begin, begin+h.master, end, end, end)
			fmt.Fprintf(&master, "  %d Enter MPI_Barrier ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd Barrier root=none ; %d Leave MPI_Barrier\n",
				end, end, at+longest+barrier, at+longest+barrier)
			fmt.Fprintf(&worker, "  %d Enter \"!$omp parallel\" ; %d Enter \"!$omp implicit barrier\" ; %d Leave \"!$omp implicit barrier\" ; "+
				"%d Leave \"!$omp parallel\"\n", begin, begin+h.worker, end, end)
		}
		last := init + iterations*(longest+barrier)
		fmt.Fprintf(&b, "location %d master process=%d kind=1\n  0 Enter main ; 0 Enter MPI_Init ; %d Leave MPI_Init\n%s  %d Leave main\n", 2*r,
			r, init, &master, last)
		fmt.Fprintf(&b, "location %d worker process=%d kind=1\n%s", 2*r+1, r, &worker)
	}
	return b.String()
}

// TestTeams states what threads cost runs of two ranks of two threads: what the run without that
// fault is shorter. What ranks would have waited for others anyway is no gain.
func TestTeams(t *testing.T) {
	for _, c := range []struct {
		name      string
		now, then []hybrid
		kind      cause.Kind
		region    string
		says      string
	}{
		{"serial parts", []hybrid{{200, 0, 300, 300}, {200, 0, 300, 300}}, []hybrid{{100, 0, 300, 300}, {100, 0, 300, 300}}, cause.ThreadIdle,
			"", "One thread per process"},
		{"serial part of one rank", []hybrid{{400, 0, 100, 100}, {0, 0, 360, 360}}, []hybrid{{200, 0, 100, 100}, {0, 0, 360, 360}},
			cause.ThreadIdle, "", "One thread per process"},
		{"forking", []hybrid{{0, 100, 300, 300}, {0, 100, 300, 300}}, []hybrid{{0, 0, 300, 300}, {0, 0, 300, 300}}, cause.ThreadIdle, "",
			"Forking and joining"},
		{"unequal threads", []hybrid{{0, 0, 200, 300}, {0, 0, 300, 200}}, []hybrid{{0, 0, 250, 250}, {0, 0, 250, 250}}, cause.Imbalance,
			"!$omp implicit barrier", "Threads of a team"},
		{"unequal threads of one rank", []hybrid{{0, 0, 200, 400}, {0, 0, 380, 380}}, []hybrid{{0, 0, 300, 300}, {0, 0, 380, 380}},
			cause.Imbalance, "!$omp implicit barrier", "Threads of a team"},
		{"equal threads that never work alone", []hybrid{{0, 0, 300, 300}, {0, 0, 300, 300}}, nil, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			causes, now := hybridCauses(t, run(c.now...))
			if c.then == nil {
				for _, x := range causes {
					if x.Kind != cause.Startup {
						t.Errorf("nothing is wrong but startup: %s", x.Text)
					}
				}
				return
			}
			_, then := hybridCauses(t, run(c.then...))
			want := now - then
			for _, x := range causes {
				if x.Kind == c.kind && string(x.Region) == c.region && strings.HasPrefix(x.Headline, c.says) {
					if x.GainNs == nil || math.Abs(float64(*x.GainNs-want)) > 0.002*float64(want) {
						t.Errorf("want a gain of %d: %s", want, x.Text)
					}
					return
				}
			}
			t.Errorf("no such cause: %+v", causes)
		})
	}
}

// hybridCauses returns the causes and the run time of a trace.
func hybridCauses(t *testing.T, text string) ([]cause.Cause, int64) {
	t.Helper()
	tr, a := statstest.Analyzed(t, tracetest.MustParse(t, text), merge.Options{Clock: merge.ClockNone}, analysis.Options{})
	causes, err := diagnosis.Find(t.Context(), tr, a, 0)
	if err != nil {
		t.Fatal(err)
	}
	return causes, a.Trace.DurationNs
}

// TestLostOnce: time that masters of one rank lose in forking, or at barriers of their threads, is one cause, which tells whose it is; work
// of one rank's master alone is that of a place as well, of which the cause with the smaller gain says that it is the same.
func TestLostOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		ranks []hybrid
		says  []string // of the causes but startup
	}{
		{"forking", []hybrid{{0, 100, 300, 300}, {0, 300, 300, 300}}, []string{"Forking and joining threads takes long: " +
			"The master thread of a process spends 10.0 µs on it, for 100 parallel regions in all processes. Rank 1 is slow in forking and " +
			"joining " +
			"threads in main"}},
		{"barriers", []hybrid{{0, 0, 200, 400}, {0, 0, 390, 390}}, []string{"Threads of a team"}},
		{"serial parts", []hybrid{{400, 0, 100, 100}, {0, 0, 100, 100}}, []string{"Only rank 0 is in main",
			"It includes the time in main, a cause with a larger saving."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			causes, _ := hybridCauses(t, run(c.ranks...))
			causes = slices.DeleteFunc(causes, func(x cause.Cause) bool { return x.Kind == cause.Startup })
			if len(causes) != len(c.says) {
				t.Errorf("causes are %+v", causes)
			}
			for i, says := range c.says[:min(len(c.says), len(causes))] {
				if said := causes[i].Headline + ": " + causes[i].Text; !strings.Contains(said, says) {
					t.Error(said)
				}
			}
		})
	}
}

// TestUnequalThreadsBehindRegions: where the recorder leaves a parallel region when a thread has done its work, and knows no barriers, a
// master waits outside of the region until its threads have joined. Equal threads save as much there.
func TestUnequalThreadsBehindRegions(t *testing.T) {
	barrier := regexp.MustCompile(`(\d+) Enter "!\$omp implicit barrier" ; \d+ Leave "!\$omp implicit barrier" ; \d+ Leave`)
	plain := func(h hybrid) string { return barrier.ReplaceAllString(run(h, h), "$1 Leave") }
	causes, now := hybridCauses(t, plain(hybrid{0, 0, 50, 350}))
	_, then := hybridCauses(t, plain(hybrid{0, 0, 200, 200}))
	i := slices.IndexFunc(causes, func(c cause.Cause) bool { return strings.HasPrefix(c.Headline, "Threads of a team") })
	if i < 0 || causes[i].GainNs == nil || math.Abs(float64(*causes[i].GainNs-(now-then))) > 0.002*float64(now-then) {
		t.Errorf("want a gain of %d: %+v", now-then, causes)
	}
}
