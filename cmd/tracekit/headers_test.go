package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tracekit/report"
	"tracekit/stats/studies/headers"
	"tracekit/trace/tracetest"
)

// TestHeadersDependOnTheTraceAlone: neither jobs nor memory change the document or the picture.
func TestHeadersDependOnTheTraceAlone(t *testing.T) {
	dir, archive := t.TempDir(), sampleArchive(t, "zoo-4")
	var document, picture string
	for i, args := range [][]string{{"--jobs", "1"}, {"--jobs", "4"}, {"--memory", "0"}} {
		out := filepath.Join(dir, "views.svg")
		got := succeed(t, dir, append([]string{"headers", "--json", "--force", "-o", out, archive}, args...)...)
		drawn := tracetest.ReadFile(t, out)
		if i == 0 {
			document, picture = got, string(drawn)
		}
		if got != document || string(drawn) != picture {
			t.Errorf("%v changes document or picture", args)
		}
	}
}

// TestHeadersRefuse what cannot be meant.
func TestHeadersRefuse(t *testing.T) {
	archive := sampleArchive(t, "ring-4-plain")
	for _, args := range [][]string{{"--sample", "1"}, {"--sample", "1,1"}, {"--sample", "a,b"}, {"--transfers", "x"}, {"--monitoring", "2s"}, {"--top", "0"}, {"-o", "x.jpg"}} {
		if _, stderr, code := tracekit(t, t.TempDir(), append([]string{"headers", "nowhere"}, args...)...); code != exitUsage {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
	for _, args := range [][]string{{"--sample", "0,9"}, {"--ranks", "9"}} {
		if _, stderr, code := tracekit(t, t.TempDir(), append([]string{"headers", archive}, args...)...); code != exitFailed {
			t.Errorf("%v: exit code %d, %s", args, code, stderr)
		}
	}
}

// TestCallsOfAcceleratorsAreAGroup: they are no computation; runs without them have no such group.
func TestCallsOfAcceleratorsAreAGroup(t *testing.T) {
	share := func(x float64) *float64 { return &x }
	row := func(metric string, x float64) headers.MetricRow {
		return headers.MetricRow{Metric: metric, Share: share(x)}
	}
	p := &headers.Profile{Host: []headers.MetricRow{row(headers.Compute+"solve", 0.5), row("wait", 0.25)}}
	if got := grouped(viewGroups(p), p.Host); !slices.Equal(got, []float64{0.5, 0, 0, 0, 0, 0, 0, 0.25}) {
		t.Errorf("without accelerator %v", got)
	}
	p.Host = append(p.Host, row(headers.Accelerator+"hipMemset", 0.25))
	if got := grouped(viewGroups(p), p.Host); !slices.Equal(got, []float64{0.5, 0.25, 0, 0, 0, 0, 0, 0, 0.25}) {
		t.Errorf("with accelerator %v", got)
	}
}

// TestSamplingOfNothing: a line says so, behind an empty one; the end of a line once came out as an escape.
func TestSamplingOfNothing(t *testing.T) {
	var out strings.Builder
	printSampling(&report.Sections{W: &out, Width: 120}, &headers.Profile{Sampling: &headers.Sampling{Ranks: [2]uint32{0, 7}}})
	if want := "\nSampling by rank 0 and rank 7: no header has come through.\n"; out.String() != want {
		t.Errorf("%q", out.String())
	}
}
