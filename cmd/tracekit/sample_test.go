package main

import (
	"path/filepath"
	"slices"
	"testing"

	"tracekit/document"
	"tracekit/stats/studies/sampling"
	"tracekit/trace/tracetest"
)

// sampled runs sample and returns its document.
func sampled(t *testing.T, dir string, args ...string) *sampling.Document {
	t.Helper()
	out := succeed(t, dir, append([]string{"sample", "--json"}, args...)...)
	d := new(sampling.Document)
	decode(t, out, d)
	return d
}

// TestSampleDependsOnTheTraceAlone: neither jobs nor memory change the document, the pictures, the
// tables or the trace.
func TestSampleDependsOnTheTraceAlone(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "zoo-4")
	var document string
	files := make(map[string]string)
	for i, args := range [][]string{{"--jobs", "1"}, {"--jobs", "4"}, {"--memory", "0"}} {
		got, stderr, code := tracekit(t, dir, append([]string{"sample", "--json", "--force", "-o", filepath.Join(dir, "out"),
			"--write-trace", filepath.Join(dir, "trace.json"),
			"--config", "P-0.3-WRITE", "--config", "C-2-V1-FREQ", "--config", "T-0.0001-WRITE", "--analyses", "--plan", "error<5%", archive},
			args...)...)
		if code != exitDone {
			t.Fatal(stderr)
		}
		if i == 0 {
			document = got
		}
		if got != document {
			t.Errorf("%v changes the document", args)
		}
		for _, name := range []string{"trace.json", "out/sample.json", "out/ranks.svg", "out/categories.svg", "out/space.svg",
			"out/space-C-2-V1-FREQ.png", "out/tables/P-0.3-WRITE.parquet", "out/tables/T-0.0001-WRITE.parquet"} {
			text := tracetest.ReadFile(t, filepath.Join(dir, filepath.FromSlash(name)))
			if i == 0 {
				files[name] = string(text)
			}
			if string(text) != files[name] {
				t.Errorf("%v changes %s", args, name)
			}
		}
	}
}

// TestSampledTraceIsRead: the trace of sampled messages, in each format, has these and no others,
// with the same latencies.
func TestSampledTraceIsRead(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "halo2d-8")
	for _, name := range []string{"out.otf2", "out.prv", "out.json.gz", "out.parquet"} {
		path := filepath.Join(dir, name)
		d := sampled(t, dir, "--config", "P-0.25-WRITE", "--write-trace", path, archive)
		if d.Sampled.Messages == 0 {
			t.Fatal("nothing was sampled")
		}
		again := sampled(t, dir, "--threshold", "1", path)
		if again.Population.Messages != d.Sampled.Messages || again.Population.Bytes != d.Sampled.Bytes || again.Population.Unmatched != 0 {
			t.Errorf("%s: %d messages with %d bytes, %d unmatched; sampled were %d with %d", name, again.Population.Messages,
				again.Population.Bytes,
				again.Population.Unmatched, d.Sampled.Messages, d.Sampled.Bytes)
		}
		if !slices.ContainsFunc(again.Findings, func(f document.Finding) bool { return f.Code == "reduced" }) {
			t.Errorf("%s does not say that messages were left out: %v", name, again.Findings)
		}
	}
}

// TestBenchmarksGiveCosts: a ping-pong's trace takes the place of the paper's latency.
func TestBenchmarksGiveCosts(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "ring-4-plain")
	given := sampled(t, dir, archive)
	measured := sampled(t, dir, "--benchmark", "baseline="+archive, "--benchmark", "layer="+archive, "--measurement", "sample=1us", archive)
	if given.Costs.Baseline != 37_200 || measured.Costs.Baseline == given.Costs.Baseline || measured.Costs.Layer != 0 ||
		measured.Costs.Sample != 1000 {
		t.Errorf("%+v, then %+v", given.Costs, measured.Costs)
	}
}

// TestSampleRefuses what cannot be meant.
func TestSampleRefuses(t *testing.T) {
	archive := sampleArchive(t, "ring-4-plain")
	for _, args := range [][]string{{"--strategy", "x"}, {"--threshold", "0"}, {"--threshold", "2"},
		{"--strategy", "counter", "--period", "1ms"},
		{"--strategy", "timer", "--period", "3"}, {"--analysis", "mean"}, {"--since", "x"}, {"--config", "C-8-V9-STAT"}, {"--plan",
			"error>5%"},
		{"--min-bytes", "x"}, {"--min-bytes", "9", "--max-bytes", "8"}, {"--benchmark", "x"}, {"--benchmark", "twice=x"}, {"--measurement",
			"layer=-1s"}, {"--measurement", "scorep"}, {"--sweep", "--variance", "3"}, {"--sweep", "--analysis", "off"},
		{"--write-trace", "x.otf2"}, {"--config", "P-1-WRITE", "-o", "x", "--write-trace", "x.otf2"}, {"--config", "C-1-STAT", "--config",
			"C-1-STAT"}, {"--config", "P-1-WRITE", "--write-trace", "x.png"}, {"-o", "x.png"}, {"--top", "0"}} {
		if _, stderr, code := tracekit(t, t.TempDir(), append([]string{"sample", "nowhere"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	for _, flag := range []string{"--site", "--call-path"} {
		if _, stderr, code := tracekit(t, t.TempDir(), "sample", flag, "nowhere", archive); code != exitFailed {
			t.Errorf("%s nowhere: exit code %d, %s", flag, code, stderr)
		}
	}
}
