package readers_test

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/merge"
	"tracekit/readers"
	"tracekit/stats"
	"tracekit/stats/analysis"
	"tracekit/stats/statstest"
	"tracekit/trace"
)

// TestRecorders states that one program gives one analysis, whatever has recorded it: testdata/recorders/make.py writes it in the forms
// of several recorders.
func TestRecorders(t *testing.T) {
	want := ""
	for _, files := range []string{"pytorch/*.json", "nsight/*.sqlite", "rocpd/*/*.db", "rocprofv3/*.json", "perfetto/*.pftrace",
		"xplane/*.xplane.pb"} {
		t.Run(filepath.Dir(files), func(t *testing.T) {
			paths, err := filepath.Glob(filepath.Join("testdata", "recorders", filepath.FromSlash(files)))
			if err != nil || len(paths) != 2 {
				t.Fatal(paths, err)
			}
			src, err := readers.OpenAll(t.Context(), paths, readers.OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer src.Close()
			got := analysisOf(t, statstest.Merged(t, src, merge.Options{}))
			if want == "" {
				want = got
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-PyTorch +got):\n%s", diff)
			}
		})
	}
}

// runtimes are the names of what differs by the maker of the device.
var runtimes = regexp.MustCompile(`\bhip([A-Z])|"hip"`)

// analysisOf returns the analysis of a trace without what tells its files and its clock's begin, and with CUDA's names.
func analysisOf(t *testing.T, tr *trace.Trace) string {
	t.Helper()
	a, err := stats.Analyze(t.Context(), tr, analysis.Options{}, true)
	if err != nil {
		t.Fatal(err)
	}
	a.Trace.Path, a.Trace.Format, a.Trace.Creator, a.Trace.StartNs, a.Trace.EndNs = "", "", "", 0, 0
	a.Findings = slices.DeleteFunc(a.Findings, func(f document.Finding) bool {
		return f.Code == string(trace.CodeArgumentsLeftOut) || f.Code == string(trace.CodeUnsorted)
	})
	text, err := json.MarshalIndent(a, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return runtimes.ReplaceAllStringFunc(string(text), func(s string) string { return strings.Replace(s, "hip", "cuda", 1) })
}
