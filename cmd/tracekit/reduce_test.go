package main

import (
	"bytes"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tracekit/document"
	"tracekit/document/gate"
	"tracekit/document/outcome"
	"tracekit/reduce"
)

// reductions are rules of each kind.
var reductions = [][]string{
	{"--from", "30%", "--to", "60%"},
	{"--shorter", "1ms", "--busy"},
	{"--ranks", "1-2"},
	{"--keep", "count % 3 == 1"},
	{"--without", "MPI_Finalize,MPI_Init"},
	{"--slowest", "3", "--keep", "bytes > 100"},
}

// reduced runs reduce and returns the document and where the trace was written.
func reduced(t *testing.T, path, as string, flags ...string) (*outcome.Reduce, string) {
	t.Helper()
	dir := t.TempDir()
	args := slices.Concat([]string{"reduce", path, "-o", as, "--json", "-q"}, flags)
	stdout, stderr, code := tracekit(t, dir, args...)
	if code != exitDone && code != exitGate {
		t.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	doc := new(outcome.Reduce)
	decode(t, stdout, doc)
	if doc.Patterns == nil && doc.Model.After.Records != doc.Records.After {
		t.Errorf("%v: the cost model counts %d records, %d are left", args, doc.Model.After.Records, doc.Records.After)
	}
	return doc, filepath.Join(dir, as)
}

// An analyzed is what tests need of the document of analyze.
type analyzed struct {
	Trace    document.TraceInfo `json:"trace"`
	Findings []document.Finding `json:"findings"`
	Messages document.Messages  `json:"messages"`
}

// analysisOf returns the document of analyze.
func analysisOf(t *testing.T, path string) (*analyzed, any) {
	t.Helper()
	stdout := succeed(t, t.TempDir(), "analyze", "--json", "-q", "--top", "1", path)
	a, tree := new(analyzed), any(nil)
	decode(t, stdout, a)
	decode(t, stdout, &tree)
	return a, tree
}

// TestReducedArchives states of real traces, reduced by rules of each kind and written: the
// reference tool reads them without a complaint and finds as many records; their analysis is
// what the certificate says, and its findings are those of the full trace, those that were
// announced, and that the trace is reduced.
func TestReducedArchives(t *testing.T) {
	_, noPrint := exec.LookPath("otf2-print")
	if noPrint != nil {
		t.Log("otf2-print is not installed (Debian: otf2-tools)")
	}
	archives := sampleArchive(t, "")
	for _, sample := range []string{"halo2d-8", "zoo-4", "masterworker-4", "sweep-6"} {
		path := filepath.Join(archives, sample)
		full, _ := analysisOf(t, path)
		for _, flags := range reductions {
			t.Run(sample+strings.Join(flags, " "), func(t *testing.T) {
				doc, out := reduced(t, path, "small", flags...)
				if noPrint == nil {
					cmd := exec.Command("otf2-print", filepath.Join(out, "traces.otf2"))
					var complaints bytes.Buffer
					cmd.Stderr = &complaints
					printed, err := cmd.Output()
					if err != nil || complaints.Len() > 0 {
						t.Errorf("otf2-print: %v %s", err, complaints.String())
					}
					if n := printedRecords(string(printed)); n != doc.Records.After {
						t.Errorf("otf2-print finds %d records, want %d", n, doc.Records.After)
					}
				}
				a, tree := analysisOf(t, out)
				known := map[string]uint64{"reduced": 1, "cut_time": 1, "empty_location": uint64(doc.Ranks.Before - doc.Ranks.After)} // one a rank here
				for _, f := range append(full.Findings, doc.NewFindings...) {
					known[f.Code] = max(known[f.Code], f.Count)
				}
				for _, f := range a.Findings {
					if f.Count > known[f.Code] {
						t.Errorf("a finding that was not announced: %+v", f)
					}
				}
				for _, f := range doc.NewFindings {
					drops := doc.Ranks.After < doc.Ranks.Before
					if announced := f.Code == "reduced" || f.Code == "cut_time" || drops && f.Code == "missing_rank"; !announced {
						t.Errorf("a new finding: %+v", f)
					}
				}
				figures, err := reduce.Certify(tree, tree, gate.NameOf)
				if err != nil {
					t.Fatal(err)
				}
				written := make(map[string]float64)
				for _, f := range figures {
					written[f.Metric] = *f.Full
				}
				said := make(map[string]float64)
				for _, f := range doc.Certificate {
					if f.Reduced != nil {
						said[f.Metric] = *f.Reduced
					}
				}
				if diff := cmp.Diff(said, written); diff != "" {
					t.Errorf("the certificate (-) and the analysis of what was written (+) differ:\n%.2000s", diff)
				}
			})
		}
	}
}

// printedRecords counts the events that otf2-print has printed: lines of a record, a location
// and a time.
func printedRecords(printed string) (n uint64) {
	_, events, _ := strings.Cut(printed, "=== Events ===")
	for line := range strings.Lines(events) {
		var record string
		var location, time uint64
		if got, _ := fmt.Sscan(line, &record, &location, &time); got == 3 && record == strings.ToUpper(record) {
			n++
		}
	}
	return n
}

// TestReduceIsStable states that the document does not depend on threads and memory, nor the
// written trace on the format, as far as it is analyzed.
func TestReduceIsStable(t *testing.T) {
	path := sampleArchive(t, "halo2d-8")
	flags := []string{"--keep", "count % 2 == 1", "--from", "20%", "--overhead=false", "--diagnosis=false"}
	want, out := reduced(t, path, "small", append(flags, "--jobs", "1")...)
	a, _ := analysisOf(t, out)
	for _, more := range [][]string{{"--jobs", "3"}, {"--jobs", "4", "--memory", "1MiB"}} {
		got, _ := reduced(t, path, "small", append(flags, more...)...)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%v (-want +got):\n%s", more, diff)
		}
	}
	for _, as := range []string{"small.json.gz", "small.arrow", "small.prv"} {
		_, out := reduced(t, path, as, flags...)
		b, _ := analysisOf(t, out)
		if a.Trace.Events != b.Trace.Events && as != "small.prv" || a.Messages.Count != b.Messages.Count ||
			a.Messages.Bytes != b.Messages.Bytes {
			t.Errorf("%s: %d events and %d messages, want %d and %d", as, b.Trace.Events, b.Messages.Count, a.Trace.Events,
				a.Messages.Count)
		}
		if !slices.ContainsFunc(b.Findings, func(f document.Finding) bool { return f.Code == "reduced" }) {
			t.Errorf("%s does not say that it was reduced: %+v", as, b.Findings)
		}
	}
}

// TestRequire states when a certificate is good enough, and how --require says that it is not.
func TestRequire(t *testing.T) {
	dir, path := t.TempDir(), sampleArchive(t, "halo2d-8")
	for condition, want := range map[string]int{
		"trace.duration_ns<0.1%": exitDone, "messages<=0": exitGate, "wait_states<=0": exitGate, "efficiency<2": exitDone,
		"difference<1%": exitGate, "nothing<1%": exitUsage, "difference": exitUsage, "difference<x": exitUsage, "difference<-1%": exitUsage,
	} {
		_, stderr, code := tracekit(t, dir, "reduce", path, "-q", "--ranks", "0-5", "--require", condition)
		if code != want {
			t.Errorf("--require %q: exit %d, want %d: %s", condition, code, want, stderr)
		}
		if code == exitGate && !strings.Contains(stderr, "--require "+condition) {
			t.Errorf("--require %q says %q", condition, stderr)
		}
	}
	if _, stderr, code := tracekit(t, dir, "reduce", path, "-q", "--keep", "True", "--require", "difference<=0"); code != exitDone {
		t.Errorf("what cuts nothing differs: %s", stderr)
	}
}

// TestTargetErrors: the kind that is chosen has the error and the records that the certificate tells.
func TestTargetErrors(t *testing.T) {
	var doc outcome.Reduce
	decode(t, succeed(t, t.TempDir(), "reduce", "--json", "--target", "60KB", sampleArchive(t, "halo2d-8")), &doc)
	least := math.Inf(1)
	var records uint64
	for _, x := range doc.Target.Tries {
		if x.Fits && *x.Error < least {
			least, records = *x.Error, x.Records
		}
	}
	if least != *doc.Error || records != doc.Records.After {
		t.Errorf("%d records with an error of %g, the certificate %d with %g", records, least, doc.Records.After, *doc.Error)
	}
}
