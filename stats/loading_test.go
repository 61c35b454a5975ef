package stats_test

import (
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
