package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/readers"
	"tracekit/stats/fit"
	"tracekit/trace/tracetest"
)

// sampleArchive returns the absolute path of a sample archive.
func sampleArchive(t *testing.T, name string) string {
	t.Helper()
	return absolute(t, "../../samples/archives/"+name)
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
	text := tracetest.ReadFile(t, filepath.Join(dir, "site.json"))
	p, err := fit.ReadProfile(bytes.NewReader(text))
	if err != nil || p.Machine != "node0" || p.Library != "MPI 1" || p.Processes != 6 || len(p.Entries) == 0 {
		t.Errorf("profile %+v: %v", p, err)
	}
	for _, name := range []string{"costs.png", "costs.svg", "stability.png", "stability_chi2.png", "calls.png", "calls.svg",
		"histograms/MPI_Allreduce-6-8.png"} {
		if s, err := os.Stat(filepath.Join(dir, "plots", name)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	stdout, stderr, code = tracekit(t, dir, "analyze", "--quiet", "--section", "fits", "--profile", "site.json", archive)
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
	decode(t, want, &doc)
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
	succeed(t, dir, "analyze", "--quiet", "-o", "report", sampleArchive(t, "halo2d-8"))
	for _, name := range []string{"overhead_by_rank.png", "overhead_by_rank.svg", "overhead_2_MPI_Waitall-both-2-2048.png"} {
		if s, err := os.Stat(filepath.Join(dir, "report", name)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// exponentialTrace writes a trace of sends whose durations are an exponential sample, its quantiles in mixed
// order.
func exponentialTrace(t *testing.T, dir string) string {
	t.Helper()
	var send, recv strings.Builder
	for i := range 2000 {
		u := math.Mod(0.5+float64(i)*math.Phi, 1)
		at, d := 1000+100_000*i, 2000-int(500*math.Log(1-u))
		fmt.Fprintf(&send, "  %d Enter MPI_Send ; %d MpiSend to=1 bytes=100 ; %d Leave MPI_Send\n", at, at+1, at+d)
		fmt.Fprintf(&recv, "  %d Enter MPI_Recv ; %d MpiRecv from=0 bytes=100 ; %d Leave MPI_Recv\n", at+50_000, at+50_999, at+51_000)
	}
	src := tracetest.MustParse(t, "location 0 rank0 rank=0\n"+send.String()+"location 1 rank1 rank=1\n"+recv.String())
	path := filepath.Join(dir, "exponential.json")
	w, err := readers.Create(path, src.Info(), src.Defs(), readers.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tracetest.Copy(t, src, w)
	return path
}

// TestPaperIsThePaper: fit --paper tries two families, finds an exponential sample exponential, and says λ, χ²,
// ν and p of all three estimates, in the table and in the document; --families chooses others.
func TestPaperIsThePaper(t *testing.T) {
	dir := t.TempDir()
	path := exponentialTrace(t, dir)
	type estimate struct {
		By         string
		Parameters []struct {
			Name  string
			Value float64
		}
		Chi2 float64
		Dof  int
	}
	var doc struct {
		Families []string
		Keys     []struct {
			Operation, Model, By string
			Tried                []struct {
				Family    string
				Estimates []estimate
			}
		}
	}
	stdout := succeed(t, dir, "fit", "--quiet", "--paper", "--json", path)
	decode(t, stdout, &doc)
	if want := []string{"exponential", "poisson", "located-poisson"}; !slices.Equal(doc.Families, want) {
		t.Errorf("families %v", doc.Families)
	}
	for _, k := range doc.Keys {
		if k.Operation != "MPI_Send" {
			continue
		}
		if k.Model != "exponential" || len(k.Tried) != 3 {
			t.Errorf("model %s of %+v", k.Model, k.Tried)
		}
		for _, m := range k.Tried {
			var ways []string
			for _, e := range m.Estimates {
				ways = append(ways, e.By)
				if e.Parameters[0].Value <= 0 || m.Family == "exponential" && math.Abs(e.Parameters[0].Value*500-1) > 0.1 {
					t.Errorf("%s by %s: %+v", m.Family, e.By, e)
				}
			}
			if want := []string{"likelihood", "absolute", "chi-square"}; !slices.Equal(ways, want) {
				t.Errorf("%s is estimated by %v", m.Family, ways)
			}
		}
	}
	stdout, _, _ = tracekit(t, dir, "fit", "--quiet", "--paper", path)
	for _, want := range []string{"equation 10", "chi-square", "likelihood", "absolute", "poisson", "exponential"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	stdout, _, _ = tracekit(t, dir, "fit", "--quiet", "--paper", "--families", "gamma,lognormal", "--json", path)
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || !slices.Equal(doc.Families, []string{"gamma", "lognormal"}) {
		t.Errorf("%v, families %v", err, doc.Families)
	}
	if _, stderr, code := tracekit(t, dir, "fit", "--families", "cauchy", path); code != exitUsage || !strings.Contains(stderr, "weibull") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
