package stats_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"tracekit/document/cause"
	"tracekit/merge"
	"tracekit/report"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace/tracetest"
)

// TestHostsLoad: a job without accelerators loads its input for 700 of 1000 ms, of which a function takes 100 ms and the loader's
// annotation shows the rest. The first screen shows that annotation, and the two steps as one.
func TestHostsLoad(t *testing.T) {
	const loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
	src := tracetest.MustParse(t, strings.ReplaceAll(`
clock resolution=1000
process 0 rank0
location 0 master process=0 kind=1
  0 Enter "LOADER" ; 400 Enter aten::randn ; 500 Leave aten::randn ; 700 Leave "LOADER" ; 700 Enter aten::mm ; 800 Leave aten::mm
  800 Enter "ProfilerStep#1" ; 890 Leave "ProfilerStep#1" ; 890 Enter "ProfilerStep#2" ; 1000 Leave "ProfilerStep#2"
region 0 "LOADER" role=31 paradigm=1
region 1 "ProfilerStep#1" role=31 paradigm=1
region 2 "ProfilerStep#2" role=31 paradigm=1
`, "LOADER", loader))
	a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{}), analysis.Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Diagnosis) != 1 || a.Diagnosis[0].Kind != cause.DataLoading || *a.Diagnosis[0].GainNs != 700e6 {
		t.Errorf("causes are %+v, want 700 ms of data loading", a.Diagnosis)
	}
	var out strings.Builder
	(&report.Overview{Sections: &report.Sections{W: &out, Width: 100, Top: 10, Analysis: &a.Analysis}}).Print()
	for _, want := range []string{"60.0 %  1 visit, outside", "ProfilerStep#                        20.0 %  2 visits, outside"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the first screen lacks %q:\n%s", want, out.String())
		}
	}
}

// TestRanksLoad: both ranks load their input for 70 of 100 in each of four steps, which no wait shows. Where only rank 1 does,
// that it is slow there is the one cause.
func TestRanksLoad(t *testing.T) {
	const loader = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
	for name, c := range map[string]struct {
		loads [2]int
		want  []cause.Kind
	}{"both": {[2]int{70, 70}, []cause.Kind{cause.DataLoading}}, "one": {[2]int{5, 70}, []cause.Kind{cause.Imbalance}}} {
		var b strings.Builder
		b.WriteString("process 0 rank0\nprocess 1 rank1\n")
		for r, load := range c.loads {
			fmt.Fprintf(&b, "location %d master process=%d kind=1\n  0 Enter main\n", r, r)
			for i := range 4 {
				at := 100 * i
				fmt.Fprintf(&b, "  %d Enter %q ; %d Leave %q ; %d Enter MPI_Allreduce ; %d MpiCollectiveBegin ; %d MpiCollectiveEnd "+
					"Allreduce root=none sent=8 received=8 ; %d Leave MPI_Allreduce\n", at+1, loader, at+1+load, loader, at+load+20, at+load+20,
					at+95, at+95)
			}
			b.WriteString("  400 Leave main\n")
		}
		b.WriteString("group 0 \"MPI ranks\" kind=4 paradigm=4 members=0,1\ngroup 1 world kind=5 paradigm=4 members=0,1\n" +
			"comm 0 MPI_COMM_WORLD group=1\n")
		src := tracetest.MustParse(t, b.String())
		a, err := stats.Analyze(t.Context(), statstest.Merged(t, src, merge.Options{Clock: merge.ClockNone}), analysis.Options{}, true)
		if err != nil {
			t.Fatal(err)
		}
		var got []cause.Kind
		for _, x := range a.Diagnosis {
			if x.Region == loader {
				got = append(got, x.Kind)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: causes are %+v, want %q", name, a.Diagnosis, c.want)
		}
	}
}
