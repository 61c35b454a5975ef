package report_test

import (
	"strings"
	"testing"

	"tracekit/document"
	"tracekit/document/accelerator"
	"tracekit/document/cause"
	"tracekit/document/field"
	"tracekit/report"
	"tracekit/trace"
)

// TestShippedWithoutCauses: where no cause is listed, the page says the same as text: why there is none, or whether the run waits for
// files.
func TestShippedWithoutCauses(t *testing.T) {
	files := &document.Analysis{Trace: document.TraceInfo{Processes: 1, DurationNs: 1e9},
		FileIO: &document.FileIO{Calls: 2, TimeNs: 1e6, MainNs: 1e6}}
	if s := report.Ship(files); s.Nothing != "" || !strings.Contains(strings.Join(s.Files, " "), "the run does not wait for files") {
		t.Errorf("a trace of files has %q and %q", s.Nothing, s.Files)
	}
	files.Profile = []document.ProfileRow{{Region: "solve", ExclusiveNs: 95, Count: 1}, {Region: "read", ExclusiveNs: 5, Count: 2}}
	if s := report.Ship(files); s.Files[0] != "Functions with the most time: solve (95.0 %), read (5.0 %)." {
		t.Errorf("a program that hardly works on files: %q", s.Files)
	}
	files.FileIO.MainNs = 5e8
	if s := report.Ship(files); strings.Contains(s.Files[0], "solve") {
		t.Errorf("a program that waits for files: %q", s.Files)
	}
	many := document.TraceInfo{Processes: 48, DurationNs: 1e9} // of which one alone reads half of the time
	one := &document.FileIO{Calls: 2, TimeNs: 5e8, MainNs: 5e8, MainMost: field.Extreme{Rank: 7, TimeNs: 5e8}}
	if s := report.Ship(&document.Analysis{Trace: many, FileIO: one}); !strings.Contains(strings.Join(s.Files, " "),
		"for 500 ms, 1.0 % of their time (that of rank 7 for 50.0 % of the run). ") {
		t.Errorf("one of 48 ranks works on files: %q", s.Files)
	}
	device := &document.Analysis{Devices: []accelerator.Device{{}}, Diagnosis: []cause.Cause{{Kind: cause.Startup}}}
	if s := report.Ship(device); s.Files != nil || !strings.HasPrefix(s.Nothing, "Nothing, startup aside") {
		t.Errorf("a device that only starts up has %q and %q", s.Nothing, s.Files)
	}
	device.Diagnosis = append(device.Diagnosis, cause.Cause{Kind: cause.DeviceIdle})
	if s := report.Ship(device); s.Nothing != "" {
		t.Errorf("a cause is listed beside %q", s.Nothing)
	}
	device.Diagnosis = nil
	if s := report.Ship(device); s.Nothing != "Causes were not sought." {
		t.Errorf("no causes were sought: %q", s.Nothing)
	}
	device.Findings = []document.Finding{{Code: string(trace.CodeCutAnywhere), Severity: "error"}}
	if s := report.Ship(device); s.Nothing != "No causes are given: a file is cut off, and events may be missing anywhere." {
		t.Errorf("a trace with holes: %q", s.Nothing)
	}
}
