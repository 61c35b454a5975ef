package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tracekit/document/outcome"
	"tracekit/stats/compare"
	"tracekit/trace/tracetest"
)

// halo writes a generated trace and returns its path; the seed varies the times alone.
func halo(t *testing.T, dir, seed string) string {
	t.Helper()
	path := filepath.Join(dir, "seed"+seed)
	succeed(t, dir, "generate", "halo", "--ranks", "4", "--iterations", "10", "--seed", seed, "-o", path)
	return path
}

// compared runs compare and returns its document.
func compared(t *testing.T, dir string, args ...string) (doc outcome.Compare) {
	t.Helper()
	stdout := succeed(t, dir, append([]string{"compare", "--json"}, args...)...)
	decode(t, stdout, &doc)
	return doc
}

// TestQuality states what quality factors are: the spread of the repeated run divided by
// that of B, each against A; none if B has no spread.
func TestQuality(t *testing.T) {
	dir := t.TempDir()
	a, b, c := halo(t, dir, "1"), halo(t, dir, "2"), halo(t, dir, "3")
	ofB, ofC := compared(t, dir, "--records", a, b), compared(t, dir, "--records", a, c)
	if ofB.Quality != nil {
		t.Error("quality factors without a repeated run")
	}
	if ofB.Position.Spread == 0 || ofB.Block.Spread == 0 {
		t.Fatal("runs of different seeds have the same times")
	}
	for _, x := range []struct {
		b, repeat       string
		position, block *float64
		spread          float64
	}{
		{b, c, ratio(ofC.Position.Spread, ofB.Position.Spread), ratio(ofC.Block.Spread, ofB.Block.Spread), ofC.Position.Spread},
		{b, b, ratio(1, 1), ratio(1, 1), ofB.Position.Spread},
		{b, a, ratio(0, 1), ratio(0, 1), 0},
		{a, c, nil, nil, ofC.Position.Spread},
	} {
		q := compared(t, dir, a, x.b, "--repeat", x.repeat).Quality
		if q == nil || q.Repeat != x.repeat || !near(q.PositionFactor, x.position) || !near(q.BlockFactor, x.block) ||
			q.PositionSpread != x.spread {
			t.Errorf("%s against %s: %+v, want %+v", x.b, x.repeat, q, x)
		}
	}
}

func ratio(x, y float64) *float64 { x /= y; return &x }

func near(x, y *float64) bool {
	return x == nil && y == nil || x != nil && y != nil && math.Abs(*x-*y) <= 1e-12*math.Abs(*y)
}

// TestComparisonDirectory states that -o writes the document that is printed, and the
// pictures.
func TestComparisonDirectory(t *testing.T) {
	dir := t.TempDir()
	a, b := halo(t, dir, "1"), halo(t, dir, "2")
	want := compared(t, dir, a, b, "--records", "-o", "out")
	text := tracetest.ReadFile(t, filepath.Join(dir, "out", "compare.json"))
	var got outcome.Compare
	decode(t, text, &got)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(outcome.Records{}, "Differences"),
		cmpopts.IgnoreUnexported(compare.Change{})); diff != "" {
		t.Errorf("compare.json (-printed +written):\n%s", diff)
	}
	for _, name := range []string{"changes.png", "changes.svg", "differences.png", "differences.svg"} {
		if s, err := os.Stat(filepath.Join(dir, "out", name)); err != nil || s.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, code := tracekit(t, dir, "compare", a, b, "-o", "out"); code != exitUsage {
		t.Errorf("writing over a comparison: exit code %d, want %d", code, exitUsage)
	}
}
