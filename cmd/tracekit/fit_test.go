package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tracekit/stats/fit"
)

// sampleArchive returns the absolute path of a sample archive.
func sampleArchive(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../../samples/archives/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestFitWritesAProfile states that the profile can be read back, says where it comes
// from, and is used without a warning for a trace of the same machine.
func TestFitWritesAProfile(t *testing.T) {
	archive, dir := sampleArchive(t, "sweep-6"), t.TempDir()
	args := []string{"fit", "--quiet", "--stability", "--plots", "plots", "--library", "MPI 1", "-o", "site.json", archive}
	stdout, stderr, code := tracekit(t, dir, args...)
	if code != exitDone || stderr != "" {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if !strings.Contains(stdout, "t_max by number of calls: MPI_Send") {
		t.Errorf("no study of stability in\n%s", stdout)
	}
	text, err := os.ReadFile(filepath.Join(dir, "site.json"))
	if err != nil {
		t.Fatal(err)
	}
	p, err := fit.ReadProfile(bytes.NewReader(text))
	if err != nil || p.Machine != "node0" || p.Library != "MPI 1" || p.Processes != 6 || len(p.Entries) == 0 {
		t.Errorf("profile %+v: %v", p, err)
	}
	for _, name := range []string{"costs.png", "costs.svg", "stability.png", "histograms/MPI_Allreduce-6-48.png"} {
		if s, err := os.Stat(filepath.Join(dir, "plots", name)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	stdout, stderr, code = tracekit(t, dir, "analyze", "--quiet", "--profile", "site.json", archive)
	if code != exitDone || stderr != "" || !strings.Contains(stdout, "learned on node0 with MPI 1") {
		t.Errorf("exit code %d, %q in\n%s", code, stderr, stdout)
	}
	if _, _, code := tracekit(t, dir, args...); code != exitUsage {
		t.Errorf("writing over a profile: exit code %d, want %d", code, exitUsage)
	}
}

// TestFitDependsOnTracesAlone states that jobs and memory do not show, and that two traces
// make one profile.
func TestFitDependsOnTracesAlone(t *testing.T) {
	one, two, dir := sampleArchive(t, "sweep-6"), sampleArchive(t, "ring-4"), t.TempDir()
	want, _, code := tracekit(t, dir, "fit", "--json", "--jobs", "1", one, two)
	if code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	if got, _, _ := tracekit(t, dir, "fit", "--json", "--jobs", "4", "--memory", "0", one, two); got != want {
		t.Error("jobs and memory show")
	}
	var doc struct {
		Keys []struct {
			Processes int
			TMinNs    int64 `json:"t_min_ns"`
			TMaxNs    int64 `json:"t_max_ns"`
		}
	}
	if err := json.Unmarshal([]byte(want), &doc); err != nil {
		t.Fatal(err)
	}
	seen := map[int]bool{}
	for _, k := range doc.Keys {
		seen[k.Processes] = true
		if k.TMaxNs < k.TMinNs {
			t.Errorf("t_max lies below t_min: %+v", k)
		}
	}
	if !seen[2] || !seen[4] || !seen[6] {
		t.Errorf("numbers of processes are %v", seen)
	}
}

// TestReportDrawsOverhead looks for the plots of overhead that analyze -o promises.
func TestReportDrawsOverhead(t *testing.T) {
	dir := t.TempDir()
	if _, stderr, code := tracekit(t, dir, "analyze", "--quiet", "-o", "report", sampleArchive(t, "halo2d-8")); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, name := range []string{"overhead_by_rank.png", "overhead_by_rank.svg", "overhead_2_MPI_Waitall-2-2048.png"} {
		if s, err := os.Stat(filepath.Join(dir, "report", name)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
