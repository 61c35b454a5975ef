package report

import (
	"fmt"
	"testing"

	"tracekit/document"
	"tracekit/document/cause"
	"tracekit/document/field"
)

// TestShrunkBlock states that a block that loses items says how many.
func TestShrunkBlock(t *testing.T) {
	b := &block{least: 1, items: [][]string{{"a", "more"}, {"b", "more"}, {"c"}}, ending: func(items int) []string {
		return []string{fmt.Sprintf("%d more", 3-items)}
	}}
	for b.shrink() {
	}
	if len(b.items) != 1 || len(b.items[0]) != 2 || b.tail[0] != "2 more" {
		t.Errorf("%q, %q", b.items, b.tail)
	}
}

// TestFunctionsBesideFiles states that functions are shown unless the run waits for files, or they are what the list of files
// shows anyway.
func TestFunctionsBesideFiles(t *testing.T) {
	a := &document.Analysis{FileIO: &document.FileIO{Calls: 1, TimeNs: 50}, Profile: []document.ProfileRow{{ExclusiveNs: 950, Count: 1}}}
	a.Trace.DurationNs, a.Trace.Processes = 1000, 1
	o := &Overview{Sections: &Sections{Analysis: a}, screen: screen{width: 100}}
	for _, c := range []struct {
		inFiles int64
		shown   bool
	}{{10, true}, {500, false}} {
		a.FileIO.MainNs = c.inFiles
		if shown := o.regions() != nil; shown != c.shown {
			t.Errorf("main threads work on files for %d of 1000 ns: functions are shown: %t", c.inFiles, shown)
		}
	}
	a.FileIO.MainNs, a.Profile[0].Region = 10, "open"
	if a.FileIO.Operations = []document.IOOperation{{Operation: "open"}}; o.regions() != nil {
		t.Error("calls on files are listed twice")
	}
}

// TestWhereOfLaunches: an operator says before what devices idle, the call by which every kernel is launched does not.
func TestWhereOfLaunches(t *testing.T) {
	o := &Overview{Sections: &Sections{Analysis: &document.Analysis{}}}
	for name, want := range map[string]string{"cudaLaunchKernel": "", "hipModuleLaunchKernel": "",
		"cudaMemcpy": "before work launched by cudaMemcpy"} {
		if got := o.where(&cause.Cause{Kind: cause.DeviceIdle, Operation: field.Name(name)}, ""); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
