package words

import (
	"strings"
	"testing"
)

func TestFormatTime(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 999: "999 ns", 1000: "1.00 µs", 12345: "12.3 µs", 999_600: "1.00 ms",
		-2_500_000: "-2.50 ms", 61e9: "61.0 s", 999_950_000: "1.00 s", 7200e9: "2.00 h",
	} {
		if got := Time(ns); got != want {
			t.Errorf("Time(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestFormatBytesAndCounts(t *testing.T) {
	if got := Bytes(1536); got != "1.50 KiB" {
		t.Errorf("Bytes(1536) = %q", got)
	}
	if got := Count(-1234567); got != "-1,234,567" {
		t.Errorf("Count(-1234567) = %q", got)
	}
	if got := Share(0.0001); got != "<0.1 %" {
		t.Errorf("Share(0.0001) = %q", got)
	}
}

func TestTraceName(t *testing.T) {
	for path, want := range map[string]string{
		"run/traces.otf2": "run", "traces.otf2": "traces.otf2", "/data/run.prv": "run.prv", "run.json": "run.json",
		"job/worker0.json and 7 more": "job, 8 files", "worker0.json and 7 more": "worker0.json and 7 more", "a/salt and pepper": "salt and pepper",
		"jobs/run (3 files)": "run, 3 files", "run (3 files)": "run, 3 files",
	} {
		if got := TraceName(path); got != want {
			t.Errorf("%q is called %q, want %q", path, got, want)
		}
	}
}

// TestBriefBuiltin: a name in brackets alone, as Python gives to built-in functions, keeps what it says.
func TestBriefBuiltin(t *testing.T) {
	const name = "<built-in method run_backward of torch._C._EngineBase object at 0x7f0d>"
	if got := Brief(name); !strings.Contains(got, "run_backward") {
		t.Errorf("Brief(%q) = %q", name, got)
	}
}
